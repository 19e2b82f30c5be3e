//! Whole reports of each version.

use stiction_core::CaveatCode;

use super::*;

#[test]
fn the_report_of_0_3_3() {
    let session = session(V0_3_3);
    assert_eq!(session.layout, "tiobench-0.3.3");
    assert_eq!(session.trials.len(), 2);
    assert_eq!(session.caveats, []);
    let one = trial(
        &session,
        "block_size_bytes=4096 file_size_bytes=264241152 kernel=2.5.62 threads=1",
    );
    assert_close(
        &four(one.phase("read").unwrap()),
        &[40.0, 0.097, 20.0, 200.0],
    );
    let ten = trial(
        &session,
        "block_size_bytes=4096 file_size_bytes=264241152 kernel=2.5.62 threads=10",
    );
    assert_close(
        &four(ten.phase("read").unwrap()),
        &[7.93, 4.146, 4.271, 186.0],
    );
    let write = ten.phase("random_write").unwrap();
    assert_close(&four(write), &[0.93, 0.438, 34.27, 3.0]);
    assert_eq!(value(write, &metrics::LATENCY_OVER_2S), 0.025);
    assert_eq!(value(write, &metrics::LATENCY_MAX), 2841.36 * 1e6);
    // 34.2757 and 34.2799 are both cut to `34.27`.
    let share = write.measurement(&metrics::CPU_PERCENT).unwrap();
    assert!(share.digits_cut);
    assert!(ten.phases.iter().all(|phase| phase.caveats.is_empty()));
}

/// New Perl looks the head up under another name and prints none.
#[test]
fn the_same_report_without_its_heads() {
    let headless: String = V0_3_3
        .lines()
        .filter(|line| !line.contains("Avg") && !line.contains("Identifier"))
        .filter(|line| !line.starts_with("-----"))
        .map(|line| format!("{line}\n"))
        .collect();
    let (whole, mut without) = (session(V0_3_3), session(&headless));
    for (trial, whole) in without.trials.iter_mut().zip(&whole.trials) {
        for (phase, whole) in trial.phases.iter_mut().zip(&whole.phases) {
            phase.notes.clone_from(&whole.notes);
        }
    }
    assert_eq!(without, whole);
}

/// Old Perl repeats the head after 57 rows of one section.
#[test]
fn a_head_in_the_middle_of_a_section() {
    let head = &V0_3_3[V0_3_3.find("     File").unwrap()..V0_3_3.find("2.5.62").unwrap()];
    let row = "2.5.62                        252   4096   10    7.93 4.271%    4.146     2841.36   \
               0.00000  0.00000   186\n";
    let text = format!(
        "Sequential Reads\n{head}{}{head}{}",
        row.repeat(57),
        row.repeat(3)
    );
    let session = session(&text);
    assert_eq!(session.trials.len(), 60);
    assert_eq!(session.trials[59].repetition, 59);
}

const V0_4: &str = "\
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
foo                           1024   4096    2         32.39 34.27%     0.237   340597.62   0.04287  0.01765      95
foo                           1024   4096    2         32.39 34.27%     0.237   340597.62   0.04287  0.01765      95
";

#[test]
fn the_report_of_0_4_and_repeated_rows() {
    let session = session(V0_4);
    assert_eq!(session.layout, "tiobench-0.4");
    assert_eq!(session.trials.len(), 2);
    assert_eq!(session.trials[1].repetition, 1);
    assert_eq!(
        session.trials[0].cell.to_string(),
        "block_size_bytes=4096 configuration=foo file_size_bytes=1073741824 threads=2"
    );
    assert_close(
        &four(&session.trials[1].phases[0]),
        &[32.39, 0.237, 34.27, 95.0],
    );
}

/// 1048576 has seven digits and the column six.
#[test]
fn a_block_size_that_its_column_cut() {
    let cut = V0_4.replace("  4096    2 ", "104857    2 ");
    let of = |text: &str| {
        let session = session(text);
        let trial = &session.trials[0];
        let codes: Vec<_> = trial.phases[0].caveats.iter().map(|c| c.code).collect();
        (
            trial.cell.get("block_size_bytes").unwrap().to_string(),
            codes,
        )
    };
    assert_eq!(
        of(&cut),
        ("104857?".to_owned(), vec![CaveatCode::DigitsLost])
    );
    let command = format!("tiobench --size 1024 --block 1048576 --threads 2\n{cut}");
    assert_eq!(
        of(&command),
        ("1048576".to_owned(), vec![CaveatCode::DigitsLost])
    );
}

#[test]
fn reports_of_both_versions_in_one_text() {
    let session = session(&format!("{V0_4}\n{V0_3_3}"));
    assert_eq!(session.layout, "tiobench-0.4, tiobench-0.3.3");
}

/// Random rates of 0.4 before 2023: the whole file counted for 4000 operations.
#[test]
fn an_inflated_random_rate_is_deflated_when_the_command_is_known() {
    // One thread, 2000 MB, 4 KiB: 512000 blocks for 4000 operations, 128 times. An
    // operation takes 5 ms, so 0.78 MB/s are printed as 100.
    let report = V0_4.replace("Sequential Reads", "Random Reads").replace(
        "foo                           1024   4096    2         32.39 34.27%     0.237   340597.62   0.04287  0.01765      95\n",
        "foo                           2000   4096    1        100.00 34.27%     5.000   340597.62   0.04287  0.01765     292\n",
    );
    let rate = |text: &str| {
        let session = session(text);
        let phase = &session.trials[0].phases[0];
        let has_doubt = phase
            .caveats
            .iter()
            .any(|c| c.code == CaveatCode::Inconsistent);
        (value(phase, &metrics::RATE) / MIB, has_doubt)
    };
    assert_eq!(rate(&report), (100.0, true));
    let command = format!("./tiobench.pl --size 2000 --threads 1\n{report}");
    assert_eq!(rate(&command), (0.78125, true));
}

#[test]
fn the_summary_of_several_logs() {
    let text = "
File size in megabytes, Blk Size in bytes.
Read, write, and seek rates in MB/sec.
Latency in milliseconds.
Percent of requests that took longer than 2 and 10 seconds.

Sequential Reads
                              File  Blk   Num                    Avg       Maximum     Lat%     Lat%    CPU
Kernel                        Size  Size  Thr   Rate  (CPU%)   Latency     Latency      >2s     >10s    Eff
---------------------------- ------ ----- ---  ------------------------------------------------------------
2.4.19-pre5                   8192  4096    8   32.39 34.28%     0.964    20597.62  0.04287  0.01765     94
2.4.19-pre5aa1                8192  4096    8   35.28 105.90%     0.885    18950.56  0.01010  0.00000     33
";
    let session = session(text);
    assert_eq!(session.layout, "tiosum");
    let aa = trial(
        &session,
        "block_size_bytes=4096 file_size_bytes=8589934592 kernel=2.4.19-pre5aa1 threads=8",
    );
    assert_close(&four(&aa.phases[0]), &[35.28, 0.885, 105.9, 33.0]);
    assert!(
        !aa.phases[0]
            .measurement(&metrics::CPU_PERCENT)
            .unwrap()
            .digits_cut
    );
}

/// Tables made for mail: threads in a column, groups with blank lines between, and
/// one of 2002 with a single column of slow requests.
#[test]
fn posted_tables() {
    let text = "\
8 GB files, 4k block size

Sequential Writes ext3
                                       Avg       Maximum    Lat%     Lat%    CPU
Kernel           Thr   Rate  (CPU%)   Latency    Latency     &2s     >10s    Eff
---------------  ---  ------------------------------------------------------------
2.5.51-mm1         1   28.13 46.02%     0.012     3117.21  0.00000  0.00000     61
2.4.20aa1          1   27.81 48.11%     0.012     2817.11  0.00000  0.00000     58

2.5.51-mm1         8   22.50 40.02%     0.912    13117.21  0.01000  0.00000     56

Random Reads ext3
                                  Avg       Maximum     Lat%    CPU
Kernel           Thr   Rate (CPU%)   Latency    Latency    >10s    Eff
---------------  ---  --------------------------------------------------
2.5.51-mm1         8    0.53 1.02%    58.958      517.21  0.00000     52
";
    let session = session(text);
    assert_eq!(session.layout, "tiobench-posted");
    let eight = trial(
        &session,
        "block_size_bytes=4096 file_size_bytes=8589934592 filesystem=ext3 kernel=2.5.51-mm1 threads=8",
    );
    let (write, read) = (
        eight.phase("write").unwrap(),
        eight.phase("random_read").unwrap(),
    );
    assert_close(&four(write), &[22.5, 0.912, 40.02, 56.0]);
    assert_eq!(value(write, &metrics::LATENCY_OVER_2S), 0.01);
    assert_close(&four(read), &[0.53, 58.958, 1.02, 52.0]);
    assert_eq!(read.value(&metrics::LATENCY_OVER_2S), None);
    assert_eq!(value(read, &metrics::LATENCY_OVER_10S), 0.0);
}

/// A row from a report of 0.3.3 by ten threads: 12.438 ms x 7.93 MB/s are 2.5 runs.
#[test]
fn sums_over_runs_are_divided() {
    let text = V0_3_3.replace("    4.146     2841.36", "   12.438     2841.36").replace(
        "2.5.62                        252   4096    1   40.00 20.00%     0.097      241.36   0.00000  0.00000   200\n",
        "",
    );
    let mean = |text: &str| {
        let session = session(text);
        let phase = session.trials[0].phase("read").unwrap().clone();
        (value(&phase, &metrics::LATENCY_MEAN) / 1e6, phase)
    };
    let (at_least_three, phase) = mean(&text);
    assert_close(&[at_least_three], &[12.438 / 3.0]);
    assert_eq!(phase.caveats[0].code, CaveatCode::SummedOverRuns);
    let printed = phase.measurement(&metrics::LATENCY_MEAN).unwrap();
    assert_eq!(printed.printed.as_deref(), Some("12.438"));
    // A command that says five is believed, one that says two is contradicted.
    let (five, _) = mean(&format!("./tiobench.pl --numruns 5 --size 252\n{text}"));
    assert_close(&[five], &[12.438 / 5.0]);
    let two = session(&format!("./tiobench.pl --numruns 2 --size 252\n{text}"));
    assert_eq!(two.caveats[0].code, CaveatCode::Inconsistent);
    assert_close(
        &[value(two.trials[0].phase("read").unwrap(), &metrics::LATENCY_MEAN) / 1e6],
        &[12.438],
    );
}

#[test]
fn a_text_that_cannot_tell_its_runs_says_so() {
    let rows = V0_3_3.lines().filter(|line| !line.contains("   40.00 "));
    let text: String = rows
        .map(|line| format!("{line}\n"))
        .collect::<String>()
        .replace("    4.146 ", "    0.146 ");
    let session = session(&text);
    assert_eq!(session.caveats[0].code, CaveatCode::SummedOverRuns);
    assert!(
        session.caveats[0]
            .detail
            .contains("nothing in the text tells")
    );
}

/// Logs of several invocations in one file: each tells of its own runs.
#[test]
fn reports_one_after_the_other_are_told_apart() {
    let once = V0_3_3;
    // One thread reads for 2.97 times the length of a run: three runs.
    let thrice = V0_3_3
        .replace("2.5.62 ", "2.5.63 ")
        .replace("     0.097      241.36", "     0.290      741.36");
    let imported = read(&format!("{once}\n{thrice}"));
    assert_eq!(imported.unread, []);
    let session = &imported.sessions[0];
    let mean = |kernel: &str| {
        let cell =
            format!("block_size_bytes=4096 file_size_bytes=264241152 kernel={kernel} threads=1");
        let read = trial(session, &cell).phase("read").unwrap();
        value(read, &metrics::LATENCY_MEAN) / 1e6
    };
    assert_close(&[mean("2.5.62"), mean("2.5.63")], &[0.097, 0.290 / 3.0]);
}

/// A table of 2002 with units in its first row and maxima in seconds.
#[test]
fn a_compact_table() {
    let text = "\
4K blocksize, 2048 MB files

Sequential Reads ext2
              Thr   MB/sec   CPU%   avg lat     max latency
2.5.41-mm3      8   12.34    5.6%     2.340 ms     1.230 sec
2.5.41         16   11.50    5.1%     5.100        4.250
";
    let session = session(text);
    assert_eq!(session.layout, "tiobench-posted");
    let of = |kernel: &str, threads: u32| {
        let cell = format!(
            "block_size_bytes=4096 file_size_bytes=2147483648 filesystem=ext2 kernel={kernel} \
             threads={threads}"
        );
        let read = trial(&session, &cell).phase("read").unwrap();
        [&metrics::LATENCY_MEAN, &metrics::LATENCY_MAX].map(|metric| value(read, metric) / 1e9)
    };
    assert_close(&of("2.5.41-mm3", 8), &[0.00234, 1.23]);
    assert_close(&of("2.5.41", 16), &[0.0051, 4.25]);
}

#[test]
fn what_was_assumed_is_said() {
    let text = V0_3_3.replace(
        "2.5.62                        252   4096   10    7.93",
        "2.5.62-mm1-with-a-long-suffi  252   4096   10    7.93",
    );
    let said = read(&text).messages.join("\n");
    assert!(
        said.contains("`2.5.62-mm1-with-a-long-suffi` fills its column"),
        "{said}"
    );
    let said = read(V0_4).messages.join("\n");
    assert!(said.contains("repetitions: 1 of 2 trials"), "{said}");
    let posted = "./tiobench.pl --size 252 --block 4096 --threads 10\n\nRandom Reads\n\
                  Kernel Rate (CPU%) Latency Latency >2s >10s Eff\n\
                  2.5.62 7.93 4.271% 4.146 2841.36 0.00000 0.00000 186\n";
    let said = read(posted).messages.join("\n");
    assert!(
        said.contains("block_size_bytes is 4096 by the command"),
        "{said}"
    );
}
