//! A filesystem that is frozen while it is written to: the writes wait, and are told.

use std::time::{Duration, Instant};

use testkit::{LoopFilesystem, LoopKind};

use super::{doubt, figure, fio};
use crate::counters::{Counters, phase};
use crate::lab::{Lab, PATIENCE};

const FROZEN: Duration = Duration::from_millis(2500);

/// Freezes it for [`FROZEN`] once the device is written to.
fn freeze_when_written(filesystem: &LoopFilesystem) {
    let name = filesystem.device().name();
    let before = Counters::of(&name);
    let deadline = Instant::now() + PATIENCE;
    // The job writes 16 MiB over and over.
    while Counters::of(&name).since(before).written_bytes < 20 << 20 {
        assert!(Instant::now() < deadline, "nothing is written to {name}");
        std::thread::yield_now();
    }
    testkit::freeze_for(filesystem.path(), FROZEN);
}

fn is_told(kind: LoopKind) {
    let lab = Lab::new();
    let filesystem = LoopFilesystem::new(kind, 320 << 20);
    let options = "--rw=write --bs=64k --direct=1 --size=16m --time_based --runtime=4";
    let report = std::thread::scope(|scope| {
        scope.spawn(|| freeze_when_written(&filesystem));
        fio(&lab, options, filesystem.path())
    });
    let job = phase(&report, "job");
    let max_ns = figure(job, "latency_ns_max");
    assert!(max_ns >= FROZEN.as_nanos() as f64, "{kind:?}: {max_ns}");
    assert!(figure(job, "latency_over_2s_percent") > 0.0, "{kind:?}");
    let said = doubt(job, "long-stall");
    assert!(said.starts_with("a write took 2."), "{kind:?}: {said}");
}

/// The three at the same time: each has a device of its own.
#[test]
fn root_writes_to_a_frozen_filesystem_are_seen_to_hang() {
    testkit::require_root!();
    testkit::require_program!("fsfreeze");
    std::thread::scope(|scope| {
        for kind in [LoopKind::Ext4, LoopKind::Xfs, LoopKind::Btrfs] {
            scope.spawn(move || is_told(kind));
        }
    });
}
