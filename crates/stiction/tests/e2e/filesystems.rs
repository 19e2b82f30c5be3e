//! quick and tiobench on real filesystems: the bytes that they say they moved against
//! what the device itself counted.

use std::path::Path;

use serde_json::Value;
use testkit::{LoopFilesystem, LoopKind, TmpfsMount};

use crate::counters::{Counters, asked_bytes, assert_agree, phase, phases, witnessed};
use crate::lab::{Lab, assert_empty, assert_says, words};

const GIB: u64 = 1 << 30;
const QUICK_READS: [&str; 3] = ["sequential_read", "random_read_depth_1", "random_read_deep"];
const QUICK_WRITES: [&str; 4] = [
    "sequential_write",
    "random_write_depth_1",
    "random_write_deep",
    "commit",
];

#[test]
fn root_ext4_moves_what_is_reported() {
    on_a_device(LoopKind::Ext4, &["write", "random_write"]);
}

#[test]
fn root_xfs_moves_what_is_reported() {
    on_a_device(LoopKind::Xfs, &["write", "random_write"]);
}

/// btrfs places blocks anew and writes trees for that, so a random write is more on
/// the device than was asked for. It is left out here.
#[test]
fn root_btrfs_moves_what_is_reported() {
    on_a_device(LoopKind::Btrfs, &["write"]);
}

fn on_a_device(kind: LoopKind, writes: &[&str]) {
    testkit::require_root!();
    testkit::require_program!(kind.mkfs());
    let lab = Lab::new();
    let filesystem = LoopFilesystem::new(kind, GIB);
    let name = filesystem.device().name();
    quick(&lab, filesystem.path(), &name);
    direct_tiobench(&lab, filesystem.path(), &name, writes);
    buffered_tiobench(&lab, filesystem.path());

    let (backing, mount_point) = (
        filesystem.device().backing_file().to_owned(),
        filesystem.path().to_owned(),
    );
    drop(filesystem);
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    assert!(
        !mounts.contains(&*mount_point.to_string_lossy()),
        "{mounts}"
    );
    let attached = std::fs::read_to_string(format!("/sys/block/{name}/loop/backing_file"));
    assert!(!attached.is_ok_and(|file| file.trim() == backing.to_string_lossy()));
}

fn quick(lab: &Lab, directory: &Path, device: &str) {
    let before = Counters::of(device);
    let arguments = words([&"quick", &"--seconds", &"6", &"--size", &"128M", &directory]);
    let report = lab.json(arguments, 0);
    let moved = Counters::of(device).since(before);
    assert_empty(directory);

    assert_eq!(phases(&report).len(), 7);
    assert_eq!(asked_bytes(&report, &["sequential_write"]), 128 << 20);
    for name in QUICK_READS {
        assert_eq!(phase(&report, name)["witnesses"]["direct_granted"], true);
    }
    assert_agree(
        "reads",
        moved.read_bytes,
        asked_bytes(&report, &QUICK_READS),
    );
    // A commit makes the filesystem write its journal or its trees: more than was
    // asked, and all of it in the witnesses.
    assert!(moved.written_bytes >= asked_bytes(&report, &QUICK_WRITES));
    assert_agree(
        "writes",
        moved.written_bytes,
        witnessed(&report).written_bytes,
    );
}

fn direct_tiobench(lab: &Lab, directory: &Path, device: &str, writes: &[&str]) {
    let skipped = if writes.contains(&"random_write") {
        ""
    } else {
        "--skip=random-write"
    };
    let typed = "tiobench --direct --size 256 --threads 2 --block 64K --random 2000 --runs 1";
    let arguments = typed
        .split(' ')
        .chain((!skipped.is_empty()).then_some(skipped));
    let before = Counters::of(device);
    let report = lab.json(in_directory(arguments, directory), 0);
    let moved = Counters::of(device).since(before);
    assert_empty(directory);

    assert_eq!(asked_bytes(&report, &["write"]), 256 << 20);
    assert_eq!(asked_bytes(&report, &["random_read"]), 2000 * (64 << 10));
    let reads = asked_bytes(&report, &["read", "random_read"]);
    assert_agree("reads", moved.read_bytes, reads);
    assert_agree("writes", moved.written_bytes, asked_bytes(&report, writes));
}

fn buffered_tiobench(lab: &Lab, directory: &Path) {
    let typed = "tiobench --size 16 --threads 1,2 --random 200 --runs 1";
    let text = lab.output(in_directory(typed.split(' '), directory), 0);
    assert_says(
        &text,
        &["Sequential writes", "Random reads", "Best: write "],
    );
    assert_empty(directory);

    let typed = "tiobench --classic --size 16 --threads 1,2 --random 200";
    let text = lab.output(in_directory(typed.split(' '), directory), 0);
    assert_says(&text, &["Unit information", "Sequential Reads", "CPU Eff"]);
    assert_empty(directory);
    // Read back what was written a moment before, without a word to the cache.
    let classic = lab.json(["show", "latest"], 0);
    for read in ["read", "random_read"] {
        assert_eq!(phase(&classic, read)["subject"], "cache");
    }
}

fn in_directory<'a>(
    arguments: impl Iterator<Item = &'a str>,
    directory: &Path,
) -> Vec<std::ffi::OsString> {
    arguments
        .map(Into::into)
        .chain(words([&"--dir", &directory]))
        .collect()
}

/// There is no device under it, and nothing that a number could be about but memory.
#[test]
fn root_tmpfs_is_memory_and_says_so() {
    testkit::require_root!();
    let lab = Lab::new();
    let tmpfs = TmpfsMount::new(256 << 20);
    let directory = tmpfs.path();
    let report: Value = lab.json(
        words([&"quick", &"--seconds", &"3", &"--size", &"32M", &directory]),
        0,
    );
    assert_eq!(phases(&report).len(), 7);
    for phase in phases(&report) {
        assert_eq!(phase["subject"], "cache", "{phase:#}");
        assert_eq!(
            phase["witnesses"]["devices"].as_array().map(Vec::len),
            Some(0)
        );
    }
    buffered_tiobench(&lab, directory);
    let typed = "tiobench --direct --size 16 --threads 2 --random 200 --runs 1";
    lab.output(in_directory(typed.split(' '), directory), 0);
    assert_empty(directory);
}
