//! Stores that cannot be written to, and runs side by side.

use testkit::{LoopFilesystem, LoopKind, TmpfsMount};

use crate::lab::{Lab, assert_empty, assert_says, entries, seed, words};
use crate::running::Running;

const MIB: u64 = 1 << 20;

#[test]
fn two_runs_at_once_share_directory_and_store() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let quick = || words([&"quick", &"--seconds=2", &"--size=8M", &directory.path()]);
    let runs = [(); 2].map(|()| Running::start(lab.process(quick())));
    for run in runs {
        let ended = run.end();
        assert_eq!(ended.status.code(), Some(0), "{ended:?}");
        assert_says(&ended.output, &["Saved as "]);
    }
    assert_says(&lab.output(["list"], 0), &["2 sessions"]);
    assert_empty(directory.path());
}

#[test]
fn root_a_read_only_store_runs_nothing() {
    testkit::require_root!();
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 32 * MIB);
    let store = filesystem.path().join("store");
    let table = seed("tiobench-ext3-32-threads.txt");
    lab.output(words([&"import", &"--store", &store, &table]), 0);
    let filesystem = filesystem.read_only();

    // It can still be read.
    let listed = lab.output(words([&"list", &"--store", &store]), 0);
    assert!(!listed.contains("No sessions"), "{listed}");
    let talk = lab.talk(words([&"show", &"latest", &"--store", &store]), 0);
    assert_says(&talk, &["cannot be written to", "read from their journals"]);

    let elsewhere = filesystem.path().join("new");
    let quick = words([&"quick", &"--seconds=1", &directory.path()]);
    for (place, arguments) in [
        (&store, &quick[..]),
        (&elsewhere, &quick),
        (&elsewhere, &words([&"list"])),
    ] {
        let arguments = [arguments, &words([&"--store", place])].concat();
        let talk = lab.talk(arguments, 2);
        assert_says(&talk, &[&*place.to_string_lossy(), "--store"]);
    }
    assert_empty(directory.path());
}

/// The run is not lost for the disk under the store: it is printed, and what could be
/// kept is kept.
#[test]
fn root_a_store_on_a_full_disk_is_told() {
    testkit::require_root!();
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let tmpfs = TmpfsMount::new(MIB);
    let store = tmpfs.path().join("store");
    let quick = words([
        &"quick",
        &"--seconds=1",
        &"--size=4M",
        &directory.path(),
        &"--store",
        &store,
    ]);
    lab.output(words([&"list", &"--store", &store]), 0);
    // Room for the database to be opened and not for a session, which is about 40 KiB.
    let fill = tmpfs.path().join("fill");
    let free = rustix::fs::statvfs(tmpfs.path()).expect("a filesystem");
    let left = free.f_bavail * free.f_frsize;
    std::fs::write(&fill, vec![0; (left - 56 * 1024) as usize]).expect("a file");

    let assert = lab.stiction(&quick).assert().code(2);
    let text = |bytes: &[u8]| crate::lab::squeezed(&String::from_utf8_lossy(bytes));
    let output = assert.get_output();
    assert_says(&text(&output.stdout), &["sequential write", "commit"]);
    assert_says(&text(&output.stderr), &["space"]);
    assert_empty(directory.path());

    std::fs::remove_file(fill).expect("the file that filled it");
    lab.output(&quick, 0);
    let list = lab.output(words([&"list", &"--store", &store]), 0);
    assert_says(&list, &["completed"]);
    assert!(!entries(&store).is_empty());
}
