//! The layout in which results were posted, byte for byte.

mod build;

use build::{Counted, cell, session_on, trial};
use stiction_core::Session;
use stiction_report::tiobench::{ClassicOptions, posted};

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
