//! What a right reading of the posted tables says, by arithmetic on the sessions.

use stiction_core::metrics;

use super::*;

/// Bytes in contest's Mb.
const MB: f64 = 1_024_000.0;

/// Seconds of CPU and seconds of waiting of a timed job, from its CPU share.
fn cpu_and_wait_s(phase: &Phase) -> (f64, f64) {
    let elapsed = value(phase, &metrics::ELAPSED);
    // GNU time cuts the share: the middle of 87% is 87.5 %.
    let (low, high) = measurement(phase, &metrics::CPU_PERCENT).printed_range();
    let cpu = elapsed * (low + high) / 200.0;
    (cpu, elapsed - cpu)
}

#[test]
fn ext3_waits_and_its_background_writer_is_slower_too() {
    let (ext2, ext3) = (session(CONTEST_LOG_EXT2), session(CONTEST_LOG_EXT3));
    let ext2 = phase(&ext2, &[("load", "io_halfmem")], "job");
    let ext3 = phase(&ext3, &[("load", "io_halfmem")], "job");
    let ((cpu2, wait2), (cpu3, wait3)) = (cpu_and_wait_s(ext2), cpu_and_wait_s(ext3));
    assert!((cpu3 / cpu2 - 1.0).abs() < 0.02, "the CPU time is the same");
    assert_eq!((wait2.round(), wait3.round()), (38.0, 196.0));
    let rate = |phase| value(phase, &metrics::LOAD_RATE) / MB;
    assert_eq!(format!("{:.0} {:.1}", rate(ext2), rate(ext3)), "27 18.5");
}

#[test]
fn mm2_writes_9_5_and_reads_3_7_times_as_fast() {
    let session = session(TIOBENCH);
    let of = |kernel, name, metric| value(phase(&session, &[("kernel", kernel)], name), metric);
    let ratio = |name| of("2.5.59-mm2", name, &metrics::RATE) / of("2.5.59", name, &metrics::RATE);
    assert_eq!(
        format!("{:.1} {:.1}", ratio("write"), ratio("read")),
        "9.5 3.7"
    );
    // CPU Eff from rate and share: 16 20 94, 114 173 199.
    let efficiency = |kernel, name| {
        let rate = of(kernel, name, &metrics::RATE) / 1_048_576.0;
        rate / of(kernel, name, &metrics::CPU_PERCENT) * 100.0
    };
    for (name, expected) in [
        ("write", [16.0, 20.0, 94.0]),
        ("read", [114.0, 173.0, 199.0]),
    ] {
        let found = ["2.4.20aa1", "2.5.59", "2.5.59-mm2"].map(|kernel| efficiency(kernel, name));
        assert_eq!(found.map(f64::round), expected);
    }
}

#[test]
fn true_average_latencies_are_a_third() {
    let session = session(TIOBENCH);
    let write = phase(&session, &[("kernel", "2.5.59-mm2")], "write");
    let mean = measurement(write, &metrics::LATENCY_MEAN);
    assert_eq!(format!("{:.2}", mean.value / 1e6), "2.58");
    assert_eq!(
        mean.printed.as_deref(),
        Some("7.742"),
        "the raw figure stays"
    );
    assert!(mean.corrected.as_ref().unwrap().contains("divided by 3"));
    assert!(write.caveats[0].detail.contains("2.87 times"));
}

#[test]
fn the_slow_tree_move_waits() {
    let session = session(TREE_MOVE);
    let of = |kernel, metric| {
        let levels = [("kernel", kernel), ("command", "testo")];
        value(phase(&session, &levels, "command"), metric)
    };
    let cpu = |kernel| of(kernel, &metrics::CPU_USER) + of(kernel, &metrics::CPU_SYSTEM);
    let elapsed = of("2.5.7.aa", &metrics::ELAPSED) / of("2.5.7.virgin", &metrics::ELAPSED);
    assert_eq!(format!("{elapsed:.1}"), "4.8");
    assert!((cpu("2.5.7.aa") / cpu("2.5.7.virgin") - 1.0).abs() < 0.01);
}

#[test]
fn the_percent_table_holds_its_own_noise() {
    let session = session(OSDL);
    let twice = trials(&session, &[("kernel", "linux-2.6.0-test9")]);
    assert_eq!(twice.len(), 2);
    assert_eq!(twice[0].cell, twice[1].cell);
    let difference = |metric: &Metric| {
        let of = |nth: usize| value(&twice[nth].phases[0], metric);
        (of(0) - of(1)).abs()
    };
    assert_eq!(difference(&metrics::CHANGE_HIGHEST).round(), 26.0);
    assert_eq!(difference(&metrics::CHANGE_AVERAGE).round(), 6.0);
}

#[test]
fn four_disks_take_a_quarter_less_cpu_and_a_tenth_with_o_direct() {
    let session = session(FOUR_DISKS);
    let writes: Vec<(String, f64)> = session
        .trials
        .iter()
        .filter(|trial| trial.cell.to_string().contains("write-and-fsync"))
        .map(|trial| {
            let phase = &trial.phases[0];
            let cpu = value(phase, &metrics::CPU_USER) + value(phase, &metrics::CPU_SYSTEM);
            (trial.cell.get("kernel").unwrap().to_string(), cpu)
        })
        .collect();
    let less = |nth: usize| 100.0 * (1.0 - writes[nth].1 / writes[0].1);
    assert_eq!(writes[1].0, "2.5.25");
    assert_eq!(format!("{:.1} {:.1}", less(1), less(2)), "26.6 27.0");
    let share = writes[3].1 / writes[1].1;
    assert_eq!(format!("{share:.2}"), "0.09");
}
