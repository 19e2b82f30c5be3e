//! Operations that take as long as we say.

use std::fs;
use std::time::Duration;

use testkit::{FaultFs, Faults};

use super::{doubt, figure, fio};
use crate::counters::phase;
use crate::lab::{Lab, squeezed, words};

fn mounted() -> FaultFs {
    FaultFs::mount(Faults::default()).expect("a FUSE file system")
}

/// The median is the delay at least, and above it by a quarter of it at most, beyond what
/// the file system takes without any delay.
#[test]
fn root_a_delay_is_the_median_latency() {
    testkit::require_root!();
    let lab = Lab::new();
    let fault = mounted();
    fs::write(fault.path().join("old"), vec![7; 1 << 20]).expect("a file");
    let median_ns = |delay_us: u64, reads: u64| {
        fault.set(Faults {
            delay: Duration::from_micros(delay_us),
            ..Faults::default()
        });
        let options = format!("--rw=randread --bs=4k --filename=old --number_ios={reads}");
        let report = fio(&lab, &options, fault.path());
        figure(phase(&report, "job"), "latency_ns_p50")
    };
    let without = median_ns(0, 250);
    for (delay_us, reads) in [(100, 250), (1000, 250), (5000, 100)] {
        let delay = 1000.0 * delay_us as f64;
        let median = median_ns(delay_us, reads);
        assert!(median >= delay, "{median} ns for {delay}");
        let most = 1.25 * delay + without;
        assert!(
            median <= most,
            "{median} ns for {delay}, and {without} without"
        );
    }
}

/// 1024 reads and writes in four phases, of which the 640th hangs: it is one of the 256
/// sequential reads.
#[test]
fn root_a_stall_is_in_the_column_beyond_2_s_and_told_with_its_time() {
    testkit::require_root!();
    let lab = Lab::new();
    let fault = mounted();
    let stall = Duration::from_millis(2100);
    fault.set(Faults {
        stall_every: Some((640, stall)),
        ..Faults::default()
    });
    let typed = "tiobench --classic --size=1 --threads=1 --block=4096 --random=256 --runs=1";
    let place = [fault.path().as_os_str().to_owned()];
    let typed = typed.split_whitespace().map(Into::into);
    let typed = typed.chain(["-d".into()]).chain(place);
    let text = lab.output(typed.collect::<Vec<std::ffi::OsString>>(), 0);
    // One of 256: 0.390625 %.
    assert!(squeezed(&text).contains("0.39062"), "{text}");

    let report = lab.json(words([&"show", &"latest"]), 0);
    let stalled_ns = stall.as_nanos() as f64;
    for name in ["write", "random_write", "read", "random_read"] {
        let phase = phase(&report, name);
        let max_ns = figure(phase, "latency_ns_max");
        let over = figure(phase, "latency_over_2s_percent");
        if name == "read" {
            assert!(
                max_ns >= stalled_ns && max_ns < 1.25 * stalled_ns,
                "{max_ns}"
            );
            assert!((over - 100.0 / 256.0).abs() < 1e-9, "{over}");
            let said = doubt(phase, "long-stall");
            assert!(said.starts_with("a read took 2.1"), "{said}");
            let ended_s = said.split("it ended ").nth(1).expect("a time");
            let ended_s: Vec<f64> = ended_s
                .split(' ')
                .filter_map(|word| word.parse().ok())
                .collect();
            // It hangs for 2.1 s after 127 reads, and 128 follow: within the phase.
            let elapsed_s = phase["elapsed_ns"].as_f64().expect("a time") / 1e9;
            assert!(ended_s[1] >= 2.1, "{said}");
            assert!(ended_s[0] <= elapsed_s, "{said} of {elapsed_s}");
        } else {
            assert!(over == 0.0 && max_ns < 2e9, "{name}: {max_ns}");
        }
    }
}
