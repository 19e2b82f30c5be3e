//! The model of a disk of 2003: its rates are those of arithmetic, at any depth.

use testkit::{Counts, Disk, Faults, ScratchLoop};

use super::{figure, fio};
use crate::counters::phase;
use crate::lab::Lab;
use stiction_core::Seed;

const GIB: u64 = 1 << 30;

fn disk(size_bytes: u64) -> ScratchLoop {
    let device = ScratchLoop::on_fault_fs(size_bytes, |_| {});
    device.served().set(Faults {
        disk: Some(Disk::of_2003(Seed(2003))),
        ..Faults::default()
    });
    device
}

/// Reads and the time that the disk worked, from one count to the other.
fn worked(before: Counts, after: Counts) -> (f64, f64) {
    let reads = after.reads - before.reads;
    (reads as f64, (after.disk_ns - before.disk_ns) as f64 / 1e9)
}

/// One head serves one request at a time: four that wait for it come no sooner. By the
/// arithmetic of the model's own test, 87.2 random reads come in a second; of 100 that are
/// drawn the mean is off by 3.1 % (one standard deviation), so that 13 % are four of them.
#[test]
fn root_random_reads_come_at_the_rate_of_the_arm_at_any_depth() {
    testkit::require_root!();
    let lab = Lab::new();
    let device = disk(8 * GIB);
    let path = device.path();
    for depth in ["--ioengine=psync", "--ioengine=io_uring --iodepth=4"] {
        let options = format!(
            "--rw=randread --bs=4k --direct=1 --number_ios=100 --filename={} {depth}",
            path.display()
        );
        let before = device.served().counts();
        let report = fio(&lab, &options, lab.store());
        let (reads, disk_s) = worked(before, device.served().counts());
        let job = phase(&report, "job");
        assert_eq!(figure(job, "operations_count"), 100.0);
        assert!((100.0..110.0).contains(&reads), "{reads} reads arrived");
        let model = reads / disk_s;
        assert!((model / 87.2 - 1.0).abs() < 0.13, "{depth}: {model:.1} /s");
        // Not faster than the disk, and what a busy machine adds to 11.5 ms is little.
        let rate = figure(job, "operations_per_s");
        let share = rate / model;
        assert!(
            (0.8..1.02).contains(&share),
            "{depth}: {rate:.1} of {model:.1} /s"
        );
    }
}

/// Blocks in order cost their transfer alone, 3.3 ms each: 40 MB/s, less what the machine
/// takes between two of them. Were the platter waited for, they came at 11 MB/s.
#[test]
fn root_sequential_reads_come_at_the_rate_of_the_platter() {
    testkit::require_root!();
    let lab = Lab::new();
    let device = disk(GIB);
    let options = format!(
        "--rw=read --bs=128k --direct=1 --size=32m --filename={}",
        device.path().display()
    );
    let report = fio(&lab, &options, lab.store());
    let rate = figure(phase(&report, "job"), "rate_bytes_per_s");
    assert!((20e6..40.4e6).contains(&rate), "{rate} bytes/s");
}
