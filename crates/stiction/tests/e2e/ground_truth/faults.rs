//! Errors are counted as they came, and a sync that failed is never passed over.

use std::fs;

use testkit::{FaultFs, Faults, LoopFilesystem, LoopKind};

use super::{doubt, figure, words};
use crate::counters::phase;
use crate::lab::{Lab, assert_says};

/// Of 200 reads in a row every tenth fails: 20, wherever the count stands.
#[test]
fn root_errors_are_counted_exactly() {
    testkit::require_root!();
    let lab = Lab::new();
    let fault = FaultFs::mount(Faults::default()).expect("a FUSE file system");
    fs::write(fault.path().join("old"), vec![7; 200 * 4096]).expect("a file");
    fault.set(Faults {
        error_every: Some((10, rustix::io::Errno::IO.raw_os_error())),
        ..Faults::default()
    });
    let options = "--rw=read --bs=4k --filename=old --continue_on_error=read";
    let before = fault.counts();
    let report = lab.json(words(options, fault.path()), 2);
    let after = fault.counts();
    assert_eq!(after.reads - before.reads, 200);
    assert_eq!(after.errors - before.errors, 20);
    let job = phase(&report, "job");
    assert_eq!(figure(job, "operations_count"), 180.0);
    let said = doubt(job, "operations-failed");
    assert!(said.contains("20"), "{said}");
}

/// A device of 64 MiB over a tmpfs that holds 8: the writes are taken by the cache, and the
/// sync has to say what became of them.
#[test]
fn root_what_is_lost_between_write_and_sync_is_an_error() {
    testkit::require_root!();
    testkit::require_program!(LoopKind::Ext2.mkfs());
    let lab = Lab::new();
    let filesystem = LoopFilesystem::overcommitted(LoopKind::Ext2, 64 << 20, 8 << 20);
    let options = "--rw=write --bs=64k --size=24m --end_fsync=1";
    let said = lab.talk(words(options, filesystem.path()), 2);
    let report = lab.json(["show"], 0);
    let job = phase(&report, "job");
    assert_eq!(job["outcome"], "failed", "{said} {job:#}");
    assert_eq!(
        job["figures"],
        serde_json::json!({}),
        "a rate of what is lost"
    );
    let message = job["message"].as_str().expect("a message");
    // EIO, or why the device could not take it.
    assert_says(message, &["fsync of", "os error"]);
}
