//! The driver's layouts, byte for byte. Expected lines are those that the programs
//! printed, or that were posted; no expectation comes from this crate.

mod build;

use build::{Counted, cell, session, trial};
use stiction_core::{
    Access, Action, Job, Phase, PhaseKind, PhaseOutcome, Region, Session, SkipCode, SkipReason,
};
use stiction_report::tiobench::{
    ClassicOptions, Heads, Latencies, classic_0_3_3, classic_0_4, classic_old,
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
    let report = classic_0_3_3(&session, &options);
    assert_eq!(
        rows(&report),
        [
            "abcdefghijklmnopqrstuvwxyz01 200000 13107 102  ######    99% ######### ###########  ######## 99.50000  1247"
        ]
    );
    assert!(
        report.ends_with(
            "\n\n###### is a rate of 1000 MB/s or more: this layout has no room for it.\n\
             File Size 200000 is 2000000: this layout has no room for it.\n\
             Blk Size 13107 is 131072: this layout has no room for it.\n\
             Num Thr 102 is 1024: this layout has no room for it.\n"
        ),
        "{report}"
    );
    // 0.4 has wider fields for rate and block.
    let remarks = classic_0_4(&session, &options);
    assert_eq!(remarks.matches("no room").count(), 2, "{remarks}");
}

/// The driver gives each thread a whole megabyte at least.
#[test]
fn files_of_another_size_than_the_row_has_are_told() {
    let mut session = one_read(Counted::rate(7.93, 4.271));
    session.trials[0].cell = cell(100, 4096, 64);
    let region = |target| Region {
        target,
        offset_bytes: 0,
        length_bytes: 1 << 20,
    };
    session.trials[0].phases[0].job = Some(Job {
        regions: (0..100).map(region).collect(),
        ..build::job(Action::Read, Access::Sequential, 4096, 1)
    });
    let told = |session: &Session| {
        let report = classic_0_3_3(session, &ClassicOptions::default());
        report.ends_with("\n\nFile Size 64, Num Thr 100: the files had 100 MB in all.\n")
    };
    assert!(told(&session));
    session.trials[0].cell = cell(100, 4096, 100);
    assert!(!told(&session));
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

Each row stands for itself; tiobench up to 0.3.2 counted the rows before it too.
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
        .take(2)
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
        "Not measured: 10 threads, 4 KiB blocks, 252 MiB in all, run 1: write skipped: 1\n\
         GiB is free\n"
    );
}
