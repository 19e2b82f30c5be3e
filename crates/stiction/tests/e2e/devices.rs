//! Raw devices: written to when they are handed over by name and serial, and in every
//! other case left as they are.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Command;

use testkit::{LoopFilesystem, LoopKind, ScratchLoop};

use crate::counters::{Counters, asked_bytes, assert_agree, witnessed};
use crate::lab::{Lab, assert_says};

const MIB: u64 = 1 << 20;

/// `tiobench` on the device with a grant for `serial`; a loop device's is the path of
/// its file.
fn tiobench(device: &ScratchLoop, serial: &OsStr, options: &str) -> Vec<OsString> {
    let mut grant = OsString::from("--scratch=");
    grant.push(device.path());
    grant.push("=");
    grant.push(serial);
    let typed = "tiobench --direct --size=32 --threads=2 --block=64K --random=200 --runs=1";
    let typed = typed.split(' ').chain(options.split_whitespace());
    typed.map(OsString::from).chain([grant]).collect()
}

fn serial(device: &ScratchLoop) -> &OsStr {
    device.backing_file().as_os_str()
}

/// Refused with these words, and not a byte written.
#[track_caller]
fn refused(device: &ScratchLoop, arguments: &[OsString], reasons: &[&str]) {
    let before = Counters::of(&device.name());
    let lab = Lab::new();
    let talk = lab.talk(arguments, 2);
    assert_says(&talk, &[&*device.path().to_string_lossy()]);
    assert_says(&talk, reasons);
    let moved = Counters::of(&device.name()).since(before);
    assert_eq!(moved.written_bytes, 0, "{talk}");
    assert!(lab.output(["list"], 0).contains("No sessions"));
}

#[test]
fn root_a_device_that_is_handed_over_moves_what_is_reported() {
    testkit::require_root!();
    let lab = Lab::new();
    let device = ScratchLoop::new(64 * MIB);
    for options in ["", "-c"] {
        let before = Counters::of(&device.name());
        let report = lab.json(tiobench(&device, serial(&device), options), 0);
        let moved = Counters::of(&device.name()).since(before);
        let writes = asked_bytes(&report, &["write", "random_write"]);
        assert_eq!(asked_bytes(&report, &["write"]), 32 * MIB);
        assert_agree("writes", moved.written_bytes, writes);
        // Before it is taken, the places where signatures stand are read too.
        let reads = asked_bytes(&report, &["read", "random_read"]);
        assert!(moved.read_bytes >= reads);
        assert_agree("reads", witnessed(&report).read_bytes, reads);
        // The serial that was typed is not kept.
        let kept = lab.output(["export", "latest"], 0);
        assert!(!kept.contains(&*device.backing_file().to_string_lossy()));
    }
}

#[test]
fn root_a_device_is_refused_without_a_grant_for_it() {
    testkit::require_root!();
    let device = ScratchLoop::new(64 * MIB);
    let path = device.path().as_os_str();
    for typed in [
        "tiobench --size=1 --dir",
        "tiobench --raw --size=1 --dir",
        "quick",
    ] {
        let arguments = typed.split(' ').map(OsString::from);
        let arguments: Vec<_> = arguments.chain([path.to_owned()]).collect();
        let before = Counters::of(&device.name());
        assert_says(&Lab::new().talk(&arguments, 2), &["--scratch"]);
        assert_eq!(Counters::of(&device.name()).since(before).written_bytes, 0);
    }
    let wrong = tiobench(&device, OsStr::new("S4EWNX0R"), "");
    refused(&device, &wrong, &["another serial number", "`S4EWNX0R`"]);
    let talk = Lab::new().talk(&wrong, 2);
    assert!(
        !talk.contains(&*device.backing_file().to_string_lossy()),
        "{talk}"
    );
}

#[test]
fn root_a_device_that_is_in_use_is_refused() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 64 * MIB);
    let device = filesystem.device();
    for options in ["", "--wipe-signature=ext4"] {
        let typed = tiobench(device, serial(device), options);
        refused(device, &typed, &["os error 16", "mounted"]);
    }

    let device = ScratchLoop::new(64 * MIB);
    let held = std::fs::File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::EXCL.bits() as i32)
        .open(device.path())
        .expect("a device to ourselves");
    refused(
        &device,
        &tiobench(&device, serial(&device), ""),
        &["os error 16", "holds it"],
    );
    drop(held);
    Lab::new().output(tiobench(&device, serial(&device), ""), 0);
}

#[test]
fn root_swap_space_is_refused() {
    testkit::require_root!();
    testkit::require_program!("mkswap");
    testkit::require_program!("swapon");
    let device = ScratchLoop::prepared(64 * MIB, |file| {
        testkit::run(Command::new("mkswap").arg(file));
    });
    refused(
        &device,
        &tiobench(&device, serial(&device), ""),
        &["holds swap", "--wipe-signature swap"],
    );
    let swap = Swap::on(&device);
    for options in ["", "--wipe-signature=swap"] {
        let typed = tiobench(&device, serial(&device), options);
        refused(&device, &typed, &["os error 16", "swap space"]);
    }
    drop(swap);
    Lab::new().output(
        tiobench(&device, serial(&device), "--wipe-signature=swap"),
        0,
    );
}

/// Swap space in use, until it is dropped.
struct Swap<'a>(&'a ScratchLoop);

impl<'a> Swap<'a> {
    fn on(device: &'a ScratchLoop) -> Self {
        testkit::run(Command::new("swapon").arg(device.path()));
        Self(device)
    }
}

impl Drop for Swap<'_> {
    fn drop(&mut self) {
        testkit::run(Command::new("swapoff").arg(self.0.path()));
    }
}

#[test]
fn root_what_a_device_holds_is_destroyed_by_name_alone() {
    testkit::require_root!();
    let device = ScratchLoop::prepared(64 * MIB, |file| LoopKind::Ext4.make(file));
    let typed = |options: &str| tiobench(&device, serial(&device), options);
    refused(
        &device,
        &typed(""),
        &["holds ext4", "--wipe-signature ext4"],
    );
    refused(
        &device,
        &typed("--wipe-signature=xfs"),
        &["holds ext4, not the xfs"],
    );
    let lab = Lab::new();
    lab.output(typed("--wipe-signature=ext4"), 0);
    // It is gone now, so that the grant to destroy it is for another device.
    refused(
        &device,
        &typed("--wipe-signature=ext4"),
        &["nothing that is known"],
    );
    lab.output(typed(""), 0);
}
