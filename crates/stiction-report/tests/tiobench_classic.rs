//! The classic layouts, byte for byte. Expected lines are those that the programs
//! printed, or that were posted; no expectation comes from this crate.

mod build;

use build::{Counted, cell, session, session_on, trial};
use stiction_core::{Phase, PhaseKind, PhaseOutcome, Session, SkipCode, SkipReason};
use stiction_report::tiobench::{
    ClassicOptions, Heads, Latencies, TiotestOptions, classic_0_3_3, classic_0_4, classic_old,
    posted, tiotest_terse, tiotest_verbose,
};

fn one_read(counted: Counted) -> Session {
    let mut session = session();
    session.trials = vec![trial(cell(10, 4096, 252), 0, vec![counted.phase("read")])];
    session
}

/// Lines of the report of a session that read only, below its head.
fn rows(report: &str) -> Vec<&str> {
    report
        .lines()
        .skip_while(|line| !line.starts_with("----"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .collect()
}

#[test]
fn the_0_3_3_report_is_as_printed() {
    let read = Counted::rate(7.93, 4.271).latency(12.438, 2841.36, 0.0, 0.0);
    let mut session = one_read(read);
    let random_read = Counted::rate(0.69, 0.889).latency(140.4, 300.0, 0.0, 0.0);
    let write = Counted::rate(11.85, 72.77).latency(11.814, 21_802.73, 0.050_36, 0.0);
    let random_write = Counted::rate(0.66, 0.25).latency(0.023, 14.5, 0.0, 0.0);
    session.trials[0].phases.extend([
        random_read.phase("random_read"),
        write.phase("write"),
        random_write.phase("random_write"),
    ]);
    let expected = "
Unit information
================
File size = megabytes
Blk Size  = bytes
Rate      = megabytes per second
CPU%      = percentage of CPU used during the test
Latency   = milliseconds
Lat%      = percent of requests that took longer than X seconds
CPU Eff   = Rate divided by CPU% - throughput per cpu load

Sequential Reads
                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU
Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff
---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----
2.5.62                        252   4096   10    7.93 4.271%    12.438     2841.36   0.00000  0.00000   186

Random Reads
                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU
Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff
---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----
2.5.62                        252   4096   10    0.69 0.889%   140.400      300.00   0.00000  0.00000    78

Sequential Writes
                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU
Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff
---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----
2.5.62                        252   4096   10   11.85 72.77%    11.814    21802.73   0.05036  0.00000    16

Random Writes
                              File  Blk   Num                   Avg      Maximum      Lat%     Lat%    CPU
Identifier                    Size  Size  Thr   Rate  (CPU%)  Latency    Latency      >2s      >10s    Eff
---------------------------- ------ ----- ---  ------ ------ --------- -----------  -------- -------- -----
2.5.62                        252   4096   10    0.66  0.25%     0.023       14.50   0.00000  0.00000   264
";
    assert_eq!(
        classic_0_3_3(&session, &ClassicOptions::default()),
        expected
    );

    let newer_perl = ClassicOptions {
        heads: Heads::Missing,
        ..ClassicOptions::default()
    };
    let without_heads: String = expected
        .split_inclusive('\n')
        .filter(|line| {
            !["          ", "Identifier", "------"]
                .iter()
                .any(|head| line.starts_with(head))
        })
        .collect();
    assert_eq!(classic_0_3_3(&session, &newer_perl), without_heads);
}

/// CPU shares are text cut to five characters.
#[test]
fn cpu_shares_are_cut_and_not_rounded() {
    for (percent, row) in [
        (
            34.2757,
            "2.5.62                        252   4096   10    7.93 34.27%     0.000        0.00   0.00000  0.00000    23",
        ),
        (
            0.0271,
            "2.5.62                        252   4096   10    7.93 0.027%     0.000        0.00   0.00000  0.00000 29262",
        ),
        (
            110.0,
            "2.5.62                        252   4096   10    7.93   110%     0.000        0.00   0.00000  0.00000     7",
        ),
        (
            20.0,
            "2.5.62                        252   4096   10    7.93    20%     0.000        0.00   0.00000  0.00000    40",
        ),
        (
            0.000_012,
            "2.5.62                        252   4096   10    7.93 1.2e-%     0.000        0.00   0.00000  0.00000 #####",
        ),
    ] {
        let report = classic_0_3_3(
            &one_read(Counted::rate(7.93, percent)),
            &ClassicOptions::default(),
        );
        assert_eq!(rows(&report), [row], "{percent}");
    }
}

#[test]
fn fields_that_overflow_are_filled_and_texts_are_cut() {
    let counted = Counted::rate(1234.5, 99.0).latency(123_456.7, 123_456_789.0, 100.0, 99.5);
    let mut session = one_read(counted);
    session.trials[0].cell = cell(1024, 131_072, 2_000_000);
    let options = ClassicOptions {
        identifier: Some("abcdefghijklmnopqrstuvwxyz0123".to_owned()),
        ..ClassicOptions::default()
    };
    assert_eq!(
        rows(&classic_0_3_3(&session, &options)),
        [
            "abcdefghijklmnopqrstuvwxyz01 200000 13107 102  ######    99% ######### ###########  ######## 99.50000  1247"
        ]
    );
}

/// A page has 60 lines, so 57 rows under each head.
#[test]
fn the_head_is_repeated_after_57_rows() {
    let mut session = session();
    for threads in 1..=58 {
        let phases = vec![Counted::rate(10.0, 10.0).phase("read")];
        session
            .trials
            .push(trial(cell(threads, 4096, 100), 0, phases));
    }
    let report = classic_0_3_3(&session, &ClassicOptions::default());
    let heads: Vec<usize> = report
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("Identifier"))
        .map(|(number, _)| number)
        .collect();
    assert_eq!(heads.len(), 2);
    assert_eq!(heads[1] - heads[0], 60);
    assert!(!report.contains('\u{c}'));
}

/// Three kernels of a post of 2003: the efficiencies follow from the unrounded
/// rates and CPU shares.
#[test]
fn cpu_efficiencies_of_the_2003_post() {
    for (rate, cpu_percent, efficiency) in [
        (11.85, 72.77, "16"),
        (3.42, 17.36, "20"),
        (32.39, 34.28, "94"),
        (8.24, 7.21, "114"),
        (9.50, 5.50, "173"),
        (35.28, 17.69, "199"),
    ] {
        let session = one_read(Counted::rate(rate, cpu_percent));
        for report in [
            classic_0_3_3(&session, &ClassicOptions::default()),
            classic_0_4(&session, &ClassicOptions::default()),
        ] {
            let last = rows(&report)[0]
                .split_whitespace()
                .last()
                .unwrap()
                .to_owned();
            assert_eq!(last, efficiency, "{rate} MiB/s with {cpu_percent} %");
        }
    }
}

#[test]
fn the_0_4_report_is_as_printed() {
    let read = Counted::rate(32.39, 34.2757).latency(7.742, 340_597.62, 0.042_87, 0.017_65);
    let mut session = session();
    session.trials = vec![trial(cell(2, 4096, 1024), 0, vec![read.phase("read")])];
    let options = ClassicOptions {
        identifier: Some("foo".to_owned()),
        ..ClassicOptions::default()
    };
    let expected = "
Unit information
================
File size = megabytes (2^20 bytes, 1,048,576 bytes)
Blk Size  = bytes
Rate      = megabytes per second
CPU%      = percentage of CPU used during the test
Latency   = milliseconds
Lat%      = percent of requests that took longer than X seconds
CPU Eff   = Rate divided by CPU% - throughput per cpu load

Sequential Reads
================
                              File   Blk   Num                         Avg      Maximum      Lat%     Lat%     CPU
Identifier                    Size   Size  Thr      Rate     (CPU%)  Latency    Latency      >2s      >10s     Eff
---------------------------- ------ ------ ---  ------------ ------ --------- -----------  -------- -------- -------
foo                           1024   4096    2         32.39 34.27%     7.742   340597.62   0.04287  0.01765      94
";
    assert_eq!(classic_0_4(&session, &options), expected);
    session.trials[0].cell = cell(1024, 1_048_576, 1024);
    assert_eq!(
        rows(&classic_0_4(&session, &options)),
        [
            "foo                           1024  104857 102         32.39 34.27%     7.742   340597.62   0.04287  0.01765      94"
        ]
    );
}

#[test]
fn the_old_report_is_as_printed() {
    let mut session = session();
    let phases = vec![
        Counted::rate(58.8749, 54.987).phase("read"),
        Counted::rate(5.6159, 5.0349).phase("random_read"),
        Counted::rate(44.4099, 44.289).phase("write"),
        Counted::rate(4.5347, 8.4189).phase("random_write"),
    ];
    session.trials = vec![trial(cell(1, 4096, 2000), 0, phases)];
    let phases = vec![
        Counted::rate(1352.7, 105.3).phase("read"),
        Counted::rate(2.5, 20.0).phase("write"),
    ];
    session
        .trials
        .push(trial(cell(16, 131_072, 2000), 0, phases));
    let expected = "\
Size is MB, BlkSz is Bytes, Read, Write, and Seeks are MB/sec

         File   Block  Num  Seq Read    Rand Read   Seq Write  Rand Write
  Dir    Size   Size   Thr Rate (CPU%) Rate (CPU%) Rate (CPU%) Rate (CPU%)
------- ------ ------- --- ----------- ----------- ----------- -----------
   .     2000   4096    1  58.87 54.9% 5.615 5.03% 44.40 44.2% 4.534 8.41%
   .     2000  131072  16  1352. 105.% ##### ####%   2.5   20% ##### ####%
";
    assert_eq!(classic_old(&session, &ClassicOptions::default()), expected);
}

/// The old driver never reset its totals: 10.0 and then 2.5 printed as 10 and 4.
#[test]
fn rows_of_the_old_report_stand_for_themselves() {
    let mut session = session();
    for (threads, rate) in [(1, 10.0), (2, 2.5)] {
        let phases = vec![Counted::rate(rate, 1.0).phase("write")];
        session
            .trials
            .push(trial(cell(threads, 4096, 100), 0, phases));
    }
    let report = classic_old(&session, &ClassicOptions::default());
    let rates: Vec<&str> = report
        .lines()
        .skip(5)
        .map(|row| row.split_whitespace().nth(8).unwrap())
        .collect();
    assert_eq!(rates, ["10", "2.5"]);
}

/// Three runs of different speed. Rate and CPU share are ratios of sums; latencies
/// are means over operations, and sums only where they are asked for as they were.
#[test]
fn runs_are_averaged_and_summed_only_on_request() {
    let runs = [
        (10.0, 10.0, 2.0, 30.0),
        (20.0, 20.0, 4.0, 50.0),
        (30.0, 30.0, 9.0, 40.0),
    ];
    let mut session = session();
    for (repetition, (time_s, cpu_s, mean_ms, max_ms)) in (0..).zip(runs) {
        let counted = Counted {
            amount_mib: 300.0,
            time_s,
            user_s: cpu_s / 4.0,
            system_s: cpu_s / 4.0,
            operations: 100.0,
            mean_ms,
            max_ms,
            over_2s_percent: 1.0,
            over_10s_percent: 0.5,
        };
        session.trials.push(trial(
            cell(4, 4096, 300),
            repetition,
            vec![counted.phase("read")],
        ));
    }
    // 900 MiB in 60 s with 30 s of CPU: 15 MiB/s, 50 %, 30 MiB/s a CPU.
    let averaged = classic_0_3_3(&session, &ClassicOptions::default());
    assert_eq!(
        rows(&averaged),
        [
            "2.5.62                        300   4096    4   15.00    50%     5.000       50.00   1.00000  0.50000    30"
        ]
    );
    assert!(
        averaged.ends_with(
            "\n\nLatency and Lat% are means over 3 runs; tiobench 0.3.3 printed sums.\n"
        )
    );
    let as_was = ClassicOptions {
        latencies: Latencies::SummedAsWas,
        ..ClassicOptions::default()
    };
    let summed = classic_0_3_3(&session, &as_was);
    assert_eq!(
        rows(&summed),
        [
            "2.5.62                        300   4096    4   15.00    50%    15.000      120.00   3.00000  1.50000    30"
        ]
    );
    assert!(summed.starts_with(
        "Latency and Lat% are SUMS over 3 runs, as tiobench 0.3.3 printed them.\n\nUnit information\n"
    ));
}

#[test]
fn directories_are_told_apart_in_the_first_column() {
    let two = |first: &str, second: &str| {
        let mut session = session();
        for (directory, rate) in [(first, 10.0), (second, 20.0)] {
            let cell = cell(4, 4096, 300).with("directory", directory);
            session.trials.push(trial(
                cell,
                0,
                vec![Counted::rate(rate, 50.0).phase("read")],
            ));
        }
        classic_0_3_3(&session, &ClassicOptions::default())
    };
    assert_eq!(
        rows(&two("/mnt/a", "/mnt/b")),
        [
            "2.5.62:/mnt/a                 300   4096    4   10.00    50%     0.000        0.00   0.00000  0.00000    20",
            "2.5.62:/mnt/b                 300   4096    4   20.00    50%     0.000        0.00   0.00000  0.00000    40",
        ]
    );
    let report = two("/mnt/a name with blanks", "/mnt/and/another/that/is/long");
    assert!(report.starts_with(
        "Directory 1 = /mnt/a name with blanks\n\
         Directory 2 = /mnt/and/another/that/is/long\n\nUnit information\n"
    ));
    assert_eq!(
        rows(&report),
        [
            "2.5.62:1                      300   4096    4   10.00    50%     0.000        0.00   0.00000  0.00000    20",
            "2.5.62:2                      300   4096    4   20.00    50%     0.000        0.00   0.00000  0.00000    40",
        ]
    );
}

/// The driver died by a division by zero, and took the session's results along.
#[test]
fn no_cpu_time_and_failed_phases_do_not_end_the_report() {
    let mut session = one_read(Counted::rate(7.93, 0.0));
    session.trials[0].phases.push(Phase {
        outcome: PhaseOutcome::Skipped(SkipReason::new(SkipCode::NoSpace, "1 GiB is free")),
        ..Phase::new("write", PhaseKind::Measure)
    });
    let report = classic_0_3_3(&session, &ClassicOptions::default());
    assert_eq!(
        rows(&report),
        [
            "2.5.62                        252   4096   10    7.93     0%     0.000        0.00   0.00000  0.00000 #####"
        ]
    );
    assert!(!report.contains("Sequential Writes"));
    let (_, remark) = report.rsplit_once("\n\n").unwrap();
    assert_eq!(
        remark,
        "Not measured: block_size_bytes=4096 file_size_bytes=264241152 threads=10, run 1:\n\
         write skipped: 1 GiB is free\n"
    );
}

/// The run that is shown in the reference of tiotest's layouts.
fn tiotest_run() -> Session {
    let item = |amount_mib, rate, usr, sys, mean_ms, max_ms| {
        let time_s: f64 = amount_mib / rate;
        Counted {
            amount_mib,
            time_s,
            user_s: usr / 100.0 * time_s,
            system_s: sys / 100.0 * time_s,
            operations: amount_mib * 256.0,
            mean_ms,
            max_ms,
            over_2s_percent: 0.0,
            over_10s_percent: 0.0,
        }
    };
    let mut session = session();
    let phases = vec![
        item(32.0, 206.951, 0.0, 99.1, 0.030, 16.042).phase("write"),
        item(8.0, 268.961, 0.0, 51.3, 0.006, 5.897).phase("random_write"),
        item(32.0, 2926.651, 7.7, 177.8, 0.002, 4.061).phase("read"),
        item(8.0, 1899.465, 6.6, 112.2, 0.002, 2.021).phase("random_read"),
    ];
    session.trials = vec![trial(cell(2, 4096, 32), 0, phases)];
    session
}

#[test]
fn tiotests_tables_are_as_printed() {
    let expected = "\
Tiotest results for 2 concurrent io threads:
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
| Write          32 MBs |    0.2 s | 206.951 MB/s |   0.0 %  |  99.1 % |
| Random Write    8 MBs |    0.0 s | 268.961 MB/s |   0.0 %  |  51.3 % |
| Read           32 MBs |    0.0 s | 2926.651 MB/s |   7.7 %  | 177.8 % |
| Random Read     8 MBs |    0.0 s | 1899.465 MB/s |   6.6 %  | 112.2 % |
`----------------------------------------------------------------------'
Tiotest latency results:
,-------------------------------------------------------------------------.
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
+--------------+-----------------+-----------------+----------+-----------+
| Write        |        0.030 ms |       16.042 ms |  0.00000 |   0.00000 |
| Random Write |        0.006 ms |        5.897 ms |  0.00000 |   0.00000 |
| Read         |        0.002 ms |        4.061 ms |  0.00000 |   0.00000 |
| Random Read  |        0.002 ms |        2.021 ms |  0.00000 |   0.00000 |
|--------------+-----------------+-----------------+----------+-----------|
| Total        |        0.014 ms |       16.042 ms |  0.00000 |   0.00000 |
`--------------+-----------------+-----------------+----------+-----------'

";
    assert_eq!(
        tiotest_verbose(&tiotest_run(), TiotestOptions::default()),
        expected
    );
    let first_frame: String = expected.split_inclusive('\n').take(9).collect();
    assert_eq!(
        tiotest_verbose(&tiotest_run(), TiotestOptions { latency: false }),
        first_frame
    );
}

/// Eight threads on a striped pool, as posted: the fields grow and break the frame.
#[test]
fn tiotests_fields_grow() {
    let mut session = session();
    let write = Counted {
        user_s: 0.374 * 1600.0 / 502.596,
        system_s: 12.901 * 1600.0 / 502.596,
        time_s: 1600.0 / 502.596,
        ..Counted {
            amount_mib: 1600.0,
            ..Counted::rate(1.0, 0.0)
        }
    };
    session.trials = vec![trial(cell(8, 4096, 1600), 0, vec![write.phase("write")])];
    let text = tiotest_verbose(&session, TiotestOptions::default());
    assert!(
        text.contains(
            "\n| Write        1600 MBs |    3.2 s | 502.596 MB/s |  37.4 %  | 1290.1 % |\n"
        )
    );
    assert!(
        !text.contains("| Read"),
        "a phase that did nothing has no row"
    );
    assert!(text.contains("\n| Total        |"));
}

#[test]
fn terse_lines_are_comma_separated_with_five_decimals() {
    let mut session = session();
    let write = Counted {
        amount_mib: 32.0,
        time_s: 0.15625,
        user_s: 0.0,
        system_s: 0.154,
        operations: 8192.0,
        mean_ms: 0.030_25,
        max_ms: 16.042,
        over_2s_percent: 0.012_207_031_25,
        over_10s_percent: 0.0,
    };
    let read = Counted {
        time_s: 0.01,
        mean_ms: 0.002,
        max_ms: 4.061,
        over_2s_percent: 0.0,
        ..write
    };
    let phases = vec![write.phase("write"), read.phase("read")];
    session.trials = vec![trial(cell(2, 4096, 32), 0, phases)];
    assert_eq!(
        tiotest_terse(&session),
        "\
write:32.00000,0.15625,0.00000,0.15400,0.03025,16.04200,0.01221,0.00000
rwrite:0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000
read:32.00000,0.01000,0.00000,0.15400,0.00200,4.06100,0.00000,0.00000
rread:0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000
total:0.01613,16.04200,0.00610,0.00000
"
    );
}

/// C prints halves to even on the binary value: 0.5 as 0, 1.5 as 2, 2.5 as 2.
#[test]
fn amounts_are_rounded_as_c_rounds() {
    for (amount_mib, text) in [(0.5, "   0"), (1.5, "   2"), (2.5, "   2"), (31.25, "  31")] {
        let counted = Counted {
            amount_mib,
            ..Counted::rate(1.0, 0.0)
        };
        let mut session = session();
        let phases = vec![counted.phase("random_write")];
        session.trials = vec![trial(cell(2, 4096, 32), 0, phases)];
        let table = tiotest_verbose(&session, TiotestOptions::default());
        assert!(
            table.contains(&format!("| Random Write {text} MBs |")),
            "{amount_mib}"
        );
    }
}

/// The tables of the post of 2003, with latencies as they stood in it.
#[test]
fn the_posted_layout_is_the_one_of_2003() {
    let kernels = [
        (
            "2.4.20aa1",
            Counted::rate(11.85, 72.77).latency(11.814, 21_802.73, 0.050_36, 0.0),
            Counted::rate(8.24, 7.21).latency(28.587, 449_134.11, 0.103_95, 0.070_86),
        ),
        (
            "2.5.59",
            Counted::rate(3.42, 17.36).latency(83.976, 3_109_518.52, 0.112_53, 0.050_88),
            Counted::rate(9.50, 5.50).latency(36.703, 4310.62, 0.0, 0.0),
        ),
        (
            "2.5.59-mm2",
            Counted::rate(32.39, 34.28).latency(7.742, 340_597.62, 0.042_87, 0.017_65),
            Counted::rate(35.28, 17.69).latency(10.173, 18_950.56, 0.010_10, 0.0),
        ),
    ];
    let sessions: Vec<Session> = kernels
        .iter()
        .map(|(kernel, write, read)| {
            let mut session = session_on(kernel, "ext3");
            let phases = vec![write.phase("write"), read.phase("read")];
            session.trials = vec![trial(cell(32, 4096, 8192), 0, phases)];
            session
        })
        .collect();
    let sessions: Vec<&Session> = sessions.iter().collect();
    let expected = "\
8 GB files  4K blocksize  32 threads
Rate = MB/sec  latency in milliseconds

Sequential Writes ext3
                                 Avg       Maximum    Lat%     Lat%    CPU
Kernel        Rate  (CPU%)   Latency       Latency     >2s     >10s    Eff
---------- ------------------------------------------------------------
2.4.20aa1    11.85  72.77%    11.814      21802.73  0.05036  0.00000    16
2.5.59        3.42  17.36%    83.976    3109518.52  0.11253  0.05088    20
2.5.59-mm2   32.39  34.28%     7.742     340597.62  0.04287  0.01765    94

Sequential Reads ext3
                                 Avg       Maximum    Lat%     Lat%    CPU
Kernel        Rate  (CPU%)   Latency       Latency     >2s     >10s    Eff
---------- ------------------------------------------------------------
2.4.20aa1     8.24   7.21%    28.587     449134.11  0.10395  0.07086   114
2.5.59        9.50   5.50%    36.703       4310.62  0.00000  0.00000   173
2.5.59-mm2   35.28  17.69%    10.173      18950.56  0.01010  0.00000   199
";
    assert_eq!(posted(&sessions, &ClassicOptions::default()), expected);
}

#[test]
fn the_posted_layout_has_a_column_for_threads_when_they_vary() {
    let mut session = session_on("2.5.62", "ext2");
    for threads in [1, 8] {
        let phases = vec![Counted::rate(25.0, 105.904).phase("read")];
        session
            .trials
            .push(trial(cell(threads, 4096, 100), 0, phases));
    }
    let expected = "\
100 MB files  4K blocksize
Rate = MB/sec  latency in milliseconds

Sequential Reads ext2
                                      Avg       Maximum    Lat%     Lat%    CPU
Kernel      Thr    Rate  (CPU%)   Latency       Latency     >2s     >10s    Eff
----------  --- ------------------------------------------------------------
2.5.62        1   25.00  105.9%     0.000          0.00  0.00000  0.00000    24

2.5.62        8   25.00  105.9%     0.000          0.00  0.00000  0.00000    24
";
    assert_eq!(posted(&[&session], &ClassicOptions::default()), expected);
}
