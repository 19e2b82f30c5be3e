//! Every figure of every row.

use stiction_core::{CaveatCode, Metric, metrics};

use super::*;

/// Asserts the text and the value of a figure.
#[track_caller]
fn assert_figure(phase: &Phase, metric: &Metric, printed: &str, wanted: f64) {
    let found = measurement(phase, metric);
    assert_eq!(found.printed.as_deref(), Some(printed), "{}", metric.name);
    assert_close(found.value, wanted);
}

/// The number that a figure of the table begins with.
fn number(text: &str) -> f64 {
    text.trim_end_matches('%')
        .parse()
        .expect("a figure of the table")
}

const MIB: f64 = 1_048_576.0;

#[test]
fn tiobench_on_ext3() {
    let session = session(TIOBENCH);
    assert_eq!(session.layout, "tiobench-posted");
    assert_eq!(session.stated["machine"], "Quad P3 Xeon (4GB ram)");
    assert_eq!(session.trials.len(), 3);
    // Kernel, phase, rate, CPU%, mean, maximum, >2s, >10s, Eff: as posted.
    let rows = "
        2.4.20aa1   write 11.85 72.77% 11.814   21802.73 0.05036 0.00000  16
        2.5.59      write  3.42 17.36% 83.976 3109518.52 0.11253 0.05088  20
        2.5.59-mm2  write 32.39 34.28%  7.742  340597.62 0.04287 0.01765  94
        2.4.20aa1   read   8.24  7.21% 28.587  449134.11 0.10395 0.07086 114
        2.5.59      read   9.50  5.50% 36.703    4310.62 0.00000 0.00000 173
        2.5.59-mm2  read  35.28 17.69% 10.173   18950.56 0.01010 0.00000 199";
    for row in rows.trim().lines() {
        let words: Vec<&str> = row.split_whitespace().collect();
        let number = |nth: usize| number(words[nth]);
        let levels = [
            ("kernel", words[0]),
            ("filesystem", "ext3"),
            ("threads", "32"),
            ("block_size_bytes", "4096"),
            ("file_size_bytes", "8589934592"),
        ];
        let phase = phase(&session, &levels, words[1]);
        assert_figure(phase, &metrics::RATE, words[2], number(2) * MIB);
        assert_figure(phase, &metrics::CPU_PERCENT, words[3], number(3));
        assert_figure(phase, &metrics::CPU_EFFICIENCY, words[8], number(8) * MIB);
        // Latencies were added up over three runs.
        assert_figure(
            phase,
            &metrics::LATENCY_MEAN,
            words[4],
            number(4) * 1e6 / 3.0,
        );
        assert_figure(
            phase,
            &metrics::LATENCY_MAX,
            words[5],
            number(5) * 1e6 / 3.0,
        );
        assert_figure(phase, &metrics::LATENCY_OVER_2S, words[6], number(6) / 3.0);
        assert_figure(phase, &metrics::LATENCY_OVER_10S, words[7], number(7) / 3.0);
        let codes: Vec<_> = phase.caveats.iter().map(|caveat| caveat.code).collect();
        assert_eq!(codes, [CaveatCode::SummedOverRuns]);
    }
}

#[test]
fn contest_tables() {
    let session = session(CONTEST_TABLES);
    assert_eq!(session.layout, "contest-table-0.34");
    assert_eq!(session.trials.len(), 8);
    for (load, filesystem, seconds, share) in [
        ("no_load", "ext2", "259.47", "99%"),
        ("no_load", "ext3", "267.66", "97%"),
        ("process_load", "ext2", "318.91", "80%"),
        ("process_load", "ext3", "324.44", "79%"),
        ("io_halfmem", "ext2", "306.82", "87%"),
        ("io_halfmem", "ext3", "461.74", "57%"),
        ("io_fullmem", "ext2", "325.39", "82%"),
        ("io_fullmem", "ext3", "411.47", "64%"),
    ] {
        let levels = [
            ("kernel", "2.4.20-pre7-rmap14a-xfs-uml-custom12d"),
            ("load", load),
            ("filesystem", filesystem),
        ];
        let phase = phase(&session, &levels, "job");
        assert_figure(phase, &metrics::ELAPSED, seconds, number(seconds));
        assert_figure(phase, &metrics::CPU_PERCENT, share, number(share));
        assert!(measurement(phase, &metrics::CPU_PERCENT).digits_cut);
    }
}

/// Load, time, CPU, major and minor faults.
type LogRow = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);
/// Load, number of the file that was being written, its size in Mb, seconds.
type LoadRow = (&'static str, u32, u32, u32);

const LOG_EXT2: [LogRow; 5] = [
    ("no_load", "259.47", "99%", "770937", "1173705"),
    ("process_load", "318.91", "80%", "742261", "1169516"),
    ("io_halfmem", "306.82", "87%", "742000", "1169497"),
    ("io_fullmem", "325.39", "82%", "742000", "1169494"),
    ("mem_load", "340.32", "79%", "743307", "1170011"),
];
const LOADS_EXT2: [LoadRow; 2] = [("io_halfmem", 33, 257, 307), ("io_fullmem", 16, 514, 337)];
const LOG_EXT3: [LogRow; 5] = [
    ("no_load", "267.66", "97%", "771111", "1173722"),
    ("process_load", "324.44", "79%", "742261", "1169518"),
    ("io_halfmem", "461.74", "57%", "742000", "1169496"),
    ("io_fullmem", "411.47", "64%", "742000", "1169494"),
    ("mem_load", "333.99", "81%", "743320", "1170021"),
];
const LOADS_EXT3: [LoadRow; 2] = [("io_halfmem", 34, 257, 465), ("io_fullmem", 15, 514, 425)];

fn check_log(text: &str, rows: [LogRow; 5], loads: [LoadRow; 2]) {
    let session = session(text);
    assert_eq!(session.layout, "contest-log");
    assert_eq!(session.trials.len(), rows.len());
    for (load, time, share, major, minor) in rows {
        let phase = phase(&session, &[("load", load)], "job");
        assert_figure(phase, &metrics::ELAPSED, time, number(time));
        assert_figure(phase, &metrics::CPU_PERCENT, share, number(share));
        assert_figure(phase, &metrics::MAJOR_FAULTS, major, number(major));
        assert_figure(phase, &metrics::MINOR_FAULTS, minor, number(minor));
        let wrote = loads.iter().find(|(of, ..)| *of == load);
        assert_eq!(
            phase.measurement(&metrics::LOAD_FILES).is_some(),
            wrote.is_some()
        );
        let Some(&(_, number, size, seconds)) = wrote else {
            continue;
        };
        let files = f64::from(number) - 1.0;
        assert_figure(phase, &metrics::LOAD_FILES, &number.to_string(), files);
        let bytes = f64::from(size) * 1_024_000.0;
        assert_figure(phase, &metrics::LOAD_FILE_SIZE, &format!("{size}Mb"), bytes);
        let elapsed = f64::from(seconds);
        assert_figure(phase, &metrics::LOAD_ELAPSED, &seconds.to_string(), elapsed);
        let rate = value(phase, &metrics::LOAD_RATE);
        assert_close(rate, (files + 0.5) * bytes / elapsed);
    }
}

#[test]
fn contest_logs() {
    check_log(CONTEST_LOG_EXT2, LOG_EXT2, LOADS_EXT2);
    check_log(CONTEST_LOG_EXT3, LOG_EXT3, LOADS_EXT3);
    check_log(CONTEST_LOG_EXT3_QUOTED, LOG_EXT3, LOADS_EXT3);
}

/// Quote marks and broken lines change nothing but the lines' numbers.
#[test]
fn a_quoted_and_broken_log_is_the_log() {
    let without_lines = |text: &str| {
        let mut session = session(text);
        for trial in &mut session.trials {
            trial
                .phases
                .iter_mut()
                .for_each(|phase| phase.notes.clear());
        }
        session
    };
    assert_eq!(
        without_lines(CONTEST_LOG_EXT3_QUOTED),
        without_lines(CONTEST_LOG_EXT3)
    );
}

const WRITE: &str = "for i in hde5 hdg5 hdi5 hdk5 do write-and-fsync -m 4000 -f /mnt/$i/foo & done";
const READ: &str =
    "for i in hde5 hdg5 hdi5 hdk5 do time time-read -b 8192 -h 8192 /mnt/$i/foo & done";

#[test]
fn time_lines_of_four_disks() {
    let session = session(FOUR_DISKS);
    assert_eq!(session.layout, "time-zsh");
    assert_eq!(session.trials.len(), 7);
    for (command, kernel, user, system, share, elapsed, elapsed_s) in [
        (
            WRITE,
            "2.4.19-rc1+block_highmem",
            "0.06",
            "106.75",
            "53%",
            "3:20.94",
            200.94,
        ),
        (WRITE, "2.5.25", "0.03", "78.37", "40%", "3:14.82", 194.82),
        (
            WRITE,
            "2.5.25+some stuff",
            "0.05",
            "77.91",
            "41%",
            "3:07.70",
            187.70,
        ),
        (
            WRITE,
            "2.5.25+O_DIRECT",
            "0.00",
            "6.84",
            "3%",
            "2:53.21",
            173.21,
        ),
        (READ, "2.5.25", "0.43", "42.74", "31%", "2:17.87", 137.87),
        (
            READ,
            "2.4.19-rc1+block-highmem",
            "0.37",
            "54.48",
            "40%",
            "2:16.17",
            136.17,
        ),
        (
            READ,
            "2.4.19-rc1",
            "0.63",
            "129.21",
            "76%",
            "2:49.66",
            169.66,
        ),
    ] {
        let phase = phase(
            &session,
            &[("command", command), ("kernel", kernel)],
            "command",
        );
        assert_figure(phase, &metrics::CPU_USER, user, number(user));
        assert_figure(phase, &metrics::CPU_SYSTEM, system, number(system));
        assert_figure(phase, &metrics::CPU_PERCENT, share, number(share));
        assert_figure(phase, &metrics::ELAPSED, elapsed, elapsed_s);
        assert_eq!(phase.caveats, []);
        assert!(phase.notes[1].starts_with("4 jobs ran at once"));
    }
    let messages = read(FOUR_DISKS).messages;
    assert!(
        messages.iter().any(|said| said.contains("punctuation")),
        "block_highmem and block-highmem: {messages:?}"
    );
}

#[test]
fn percent_from_baseline() {
    let session = session(OSDL);
    assert_eq!(session.layout, "percent-from-baseline");
    assert_eq!(session.trials.len(), 9);
    assert_eq!(
        session.stated["command"],
        "/usr/bin/time -o tiobench.jfs.times ./tiobenchx.pl --size 2643 --block 4096 --block \
         131072 --numruns 5 --dir /mnt/sdc"
    );
    for (nth, (kernel, options, repetition, low, high, average)) in [
        (
            "linux-2.6.0-test7",
            "elevator=deadline",
            0,
            "0.00(1)",
            "0.00(1)",
            "0.00",
        ),
        (
            "linux-2.6.0-test7",
            "none",
            0,
            "-67.07(8)",
            "24.42(1)",
            "-33.23",
        ),
        (
            "linux-2.6.0-test8",
            "profile=2",
            0,
            "-66.28(8)",
            "30.62(1)",
            "-31.13",
        ),
        (
            "2.6.0-test8-mm1",
            "profile=2",
            0,
            "3.23(8)",
            "170.62(1)",
            "64.77",
        ),
        (
            "linux-2.6.0-test9",
            "profile=2",
            0,
            "-66.34(8)",
            "48.14(1)",
            "-27.66",
        ),
        (
            "linux-2.6.0-test9",
            "profile=2",
            1,
            "-66.46(8)",
            "22.12(1)",
            "-33.65",
        ),
        (
            "linux-2.4.18",
            "profile=2",
            0,
            "93.48(8)",
            "211.68(1)",
            "156.81",
        ),
        (
            "linux-2.4.19",
            "profile=2",
            0,
            "109.39(8)",
            "216.11(1)",
            "162.67",
        ),
        (
            "linux-2.4.20",
            "none",
            0,
            "111.40(8)",
            "215.40(1)",
            "163.98",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let trial = &session.trials[nth];
        assert_eq!(
            trial.cell,
            Cell::new()
                .with("kernel", kernel)
                .with("options", options)
                .with("block_size_bytes", 131_072u32)
                .with("file_size_bytes", 2_771_386_368u64)
        );
        assert_eq!(trial.repetition, repetition);
        let phase = trial.phase("random_read").unwrap();
        let number = |text: &str| number(text.split('(').next().unwrap());
        assert_figure(phase, &metrics::CHANGE_LOWEST, low, number(low));
        assert_figure(phase, &metrics::CHANGE_HIGHEST, high, number(high));
        assert_figure(phase, &metrics::CHANGE_AVERAGE, average, number(average));
        assert_eq!(phase.caveats, []);
        let threads = if nth == 0 { 1 } else { 8 };
        assert_eq!(
            phase.notes[1],
            format!("threads: {threads} at the lowest, 1 at the highest")
        );
    }
}

#[test]
fn tree_moves_and_bonnie() {
    let session = session(TREE_MOVE);
    assert_eq!(session.layout, "time-bash, bonnie");
    assert_eq!(session.trials.len(), 8);
    for (kernel, real, elapsed_s, user, user_s, system, system_s) in [
        (
            "2.5.7.virgin",
            "10m42.697s",
            642.697,
            "0m5.110s",
            5.11,
            "1m16.240s",
            76.24,
        ),
        (
            "2.5.7.aa",
            "51m17.577s",
            3077.577,
            "0m5.680s",
            5.68,
            "1m15.320s",
            75.32,
        ),
        (
            "2.4.6.virgin",
            "12m12.384s",
            732.384,
            "0m5.280s",
            5.28,
            "0m54.110s",
            54.11,
        ),
        (
            "2.4.6.flushto",
            "9m5.801s",
            545.801,
            "0m5.060s",
            5.06,
            "0m59.310s",
            59.31,
        ),
    ] {
        let levels = [("kernel", kernel), ("command", "testo")];
        let phase = phase(&session, &levels, "command");
        assert_figure(phase, &metrics::ELAPSED, real, elapsed_s);
        assert_figure(phase, &metrics::CPU_USER, user, user_s);
        assert_figure(phase, &metrics::CPU_SYSTEM, system, system_s);
    }
    // MB, then K/sec and %CPU of putc, block write, rewrite, getc, block read, and
    // seeks: as posted.
    let rows = "
        2.5.7.virgin  1000  7197 27.4  8557 12.0  4273  7.3  8049 40.6  9049  8.0 111.5  1.3
        2.5.7.aa      1000  5184 19.6  5965  8.9  3081  4.4  8936 45.5  9049  8.1  98.2  1.0
        2.4.6.virgin  1000  8377 31.3 10560 12.3  3236  5.2  7289 36.1  8974  6.7 113.3  1.0
        2.4.6.flushto 1000 10553 37.6 11785 13.5  4174  6.5  6785 33.7  8964  6.9 115.7  1.2";
    for row in rows.trim().lines() {
        let words: Vec<&str> = row.split_whitespace().collect();
        let levels = [("kernel", words[0]), ("file_size_bytes", "1048576000")];
        let names = ["putc", "put_block", "rewrite", "getc", "get_block", "seeks"];
        for (name, pair) in names.iter().zip(words[2..].chunks(2)) {
            let phase = phase(&session, &levels, name);
            let rate = number(pair[0]);
            if *name == "seeks" {
                assert_figure(phase, &metrics::OPERATION_RATE, pair[0], rate);
            } else {
                assert_figure(phase, &metrics::RATE, pair[0], rate * 1024.0);
            }
            assert_figure(phase, &metrics::CPU_PERCENT, pair[1], number(pair[1]));
        }
    }
}
