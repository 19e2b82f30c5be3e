//! Filesystems that are full, read-only, failing, or larger than any disk.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use rustix::io::Errno;
use testkit::{FaultFs, Faults, LoopFilesystem, LoopKind};

use crate::counters::{asked_bytes, phase, phases};
use crate::lab::{Lab, assert_empty, assert_says, squeezed, words};

const MIB: u64 = 1 << 20;

fn tiobench<'a>(directory: &'a Path, options: &'a [&'a str]) -> Vec<&'a std::ffi::OsStr> {
    let typed = [
        "tiobench",
        "--size=2",
        "--threads=2",
        "--random=100",
        "--runs=1",
    ];
    let typed = typed.into_iter().chain(options.iter().copied());
    let place = ["-d".as_ref(), directory.as_os_str()];
    typed.map(AsRef::as_ref).chain(place).collect()
}

/// Fills what is left, and gives the file that does.
fn fill(directory: &Path) -> std::path::PathBuf {
    let path = directory.join("fill");
    let mut file = File::create(&path).expect("a file");
    let block = vec![0xa5; 64 << 10];
    let error = loop {
        if let Err(error) = file.write_all(&block).and_then(|()| file.sync_data()) {
            break error;
        }
    };
    assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    path
}

#[test]
fn root_a_full_filesystem_is_not_written_to() {
    testkit::require_root!();
    let lab = Lab::new();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 32 * MIB);
    let directory = filesystem.path();
    let fill = fill(directory);
    let talk = lab.talk(words([&"quick", &"--seconds=1", &directory]), 4);
    assert_says(&talk, &["0 B may be used here", "free some space"]);
    for mode in [&[][..], &["--direct"], &["--classic"]] {
        let text = squeezed(&lab.output(tiobench(directory, mode), 4));
        assert_says(
            &text,
            &["2 MiB are wanted", "0 B may be written", "free some space"],
        );
    }
    // Nor to its last byte, where there is none.
    let talk = lab.talk(words([&"quick", &"--may-fill", &directory]), 4);
    assert_says(&talk, &["free some space"]);
    std::fs::remove_file(fill).expect("the file that filled it");
    assert_empty(directory);
}

/// Every 300th operation fails: for tiobench within the 512 of the first write.
fn failing(errno: Errno) -> FaultFs {
    let faults = Faults {
        error_every: Some((300, errno.raw_os_error())),
        ..Faults::default()
    };
    FaultFs::mount(faults).expect("a FUSE file system")
}

fn quick_on(fault: &FaultFs) -> [std::ffi::OsString; 4] {
    words([&"quick", &"--seconds=2", &"--size=4M", &fault.path()])
}

#[test]
fn root_a_device_error_fails_the_trial_and_names_the_place() {
    testkit::require_root!();
    let lab = Lab::new();
    let fault = failing(Errno::IO);
    let said = [
        "Input/output error (os error 5)",
        "write",
        "offset",
        "data.",
    ];
    for mode in [&[][..], &["--classic"]] {
        let text = squeezed(&lab.output(tiobench(fault.path(), mode), 2));
        assert_says(&text, &said);
        assert!(text.matches(said[0]).count() == 1, "{text}");
        assert_empty(fault.path());
    }
    let text = squeezed(&lab.output(quick_on(&fault), 2));
    assert_says(&text, &said[..1]);
    assert_empty(fault.path());
    assert!(fault.counts().errors >= 3);
}

/// The space is there when it is looked at, and gone when it is written to. tiobench's
/// trial is about files of a size and fails; quick takes what it got, and says so.
#[test]
fn root_space_that_runs_out_is_told_with_the_place() {
    testkit::require_root!();
    let lab = Lab::new();
    let fault = failing(Errno::NOSPC);
    let said = [
        "No space left on device (os error 28)",
        "write",
        "offset",
        "data.",
    ];
    for mode in [&[][..], &["--classic"]] {
        let text = squeezed(&lab.output(tiobench(fault.path(), mode), 2));
        assert_says(&text, &said);
        assert_empty(fault.path());
    }
    lab.output(quick_on(&fault), 0);
    assert_empty(fault.path());
    let report = lab.json(["show"], 0);
    let cut_off: Vec<_> = phases(&report)
        .into_iter()
        .filter(|phase| phase["outcome"] == "ended_early")
        .collect();
    assert!(!cut_off.is_empty(), "{report:#}");
    for phase in cut_off {
        let caveats = phase["caveats"].as_array().expect("caveats");
        let told = |caveat: &serde_json::Value| {
            caveat["code"] == "ended-early" && caveat["detail"].to_string().contains(said[0])
        };
        assert!(caveats.iter().any(told), "{phase:#}");
    }
}

#[test]
fn root_a_read_only_filesystem_is_refused() {
    testkit::require_root!();
    let lab = Lab::new();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 32 * MIB).read_only();
    let directory = filesystem.path();
    let text = squeezed(&lab.output(words([&"quick", &"--seconds=1", &directory]), 4));
    assert_says(&text, &["Nothing was measured", "mounted read-only"]);
    for mode in [&[][..], &["--classic"]] {
        let text = squeezed(&lab.output(tiobench(directory, mode), 4));
        assert_says(&text, &["mounted read-only", "choose another directory"]);
    }
    assert_empty(directory);
}

/// 2 TiB would take an hour; the file is as large as the time allows, and all that is
/// said is about what was written.
#[test]
fn root_2_tib_where_there_is_room_is_cut_to_the_time() {
    testkit::require_root!();
    testkit::require_program!(LoopKind::Btrfs.mkfs());
    let lab = Lab::new();
    let filesystem = LoopFilesystem::new(LoopKind::Btrfs, 3 << 40);
    let directory = filesystem.path();
    let report = lab.json(
        words([&"quick", &"--seconds=4", &"--size=2T", &directory]),
        0,
    );
    assert_eq!(phases(&report).len(), 7);
    let written = asked_bytes(&report, &["sequential_write"]);
    assert!((MIB..2 << 40).contains(&written), "{written}");
    let read = &phase(&report, "sequential_read")["witnesses"];
    assert_eq!(read["unwritten_bytes"], 0, "{read:#}");
    assert_empty(directory);
}
