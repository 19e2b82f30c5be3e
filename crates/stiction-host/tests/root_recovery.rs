//! What a kill leaves behind is undone; what cannot be done is said clearly.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use stiction_core::{SessionId, SkipCode};
use stiction_host::{
    ControlGroup, HostError, LoopDevice, MountedFilesystem, OwnDirectory, Reserve, UndoJournal,
    Undone, drop_file_cache, leftovers, pending, residency, restore,
};
use testkit::{LoopFilesystem, LoopKind, TmpfsMount, scratch_folder};

const MIB: u64 = 1 << 20;
/// Where this is set, a test is its own child: it does the work and waits.
const CHILD: &str = "STICTION_TEST_CHILD";

fn journal(state: &Path) -> UndoJournal {
    let session = SessionId::new("2002-11-30T10:59:12Z".parse().unwrap(), 7);
    UndoJournal::open(state, &session).unwrap()
}

/// The folder that the parent gave to the child that this is.
fn as_child() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}

/// Starts the test `name` once more as a child.
fn child(name: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

fn say_ready() {
    std::io::stdout().write_all(b"\nready\n").unwrap();
}

/// Says that the work is done, and waits to be killed.
fn wait_to_be_killed() {
    say_ready();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
}

fn kill_when_ready(mut child: Child) {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let is_ready = lines.map_while(Result::ok).any(|line| line == "ready");
    assert!(is_ready, "the child ended: {:?}", child.wait());
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn root_a_killed_run_s_directory_is_restored_or_cleaned() {
    if let Some(folder) = as_child() {
        let undo = journal(&folder.join("state"));
        let own = OwnDirectory::create(&folder.join("user"), &undo).unwrap();
        fs::create_dir(own.path().join("inner")).unwrap();
        fs::write(own.path().join("inner/file"), "text").unwrap();
        wait_to_be_killed();
        return;
    }
    testkit::require_root!();
    let top = scratch_folder();
    let user = top.path().join("user");
    fs::create_dir(&user).unwrap();
    fs::write(user.join("precious"), "text").unwrap();
    let state = top.path().join("state");
    let run = || {
        let name = "root_a_killed_run_s_directory_is_restored_or_cleaned";
        kill_when_ready(child(name, top.path()).spawn().unwrap());
        assert_eq!(fs::read_dir(&user).unwrap().count(), 2);
    };

    run();
    let mut restoration = restore(&state).unwrap();
    let undone = restoration.changes.remove(0);
    assert_eq!(undone.owner.session.as_str(), "20021130-105912-7000");
    assert_eq!(undone.result.unwrap(), Undone::Removed);
    assert_eq!(fs::read_dir(&user).unwrap().count(), 1);
    assert!(pending(&state).unwrap().pending.is_empty());

    // Without the journal, by the marker.
    run();
    fs::remove_dir_all(&state).unwrap();
    for leftover in leftovers(&user).unwrap().found {
        leftover.remove().unwrap();
    }
    let left: Vec<_> = fs::read_dir(&user)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["precious"]);
}

#[test]
fn root_a_killed_run_s_devices_mounts_and_groups_are_undone() {
    if let Some(folder) = as_child() {
        let undo = journal(&folder.join("state"));
        let device = LoopDevice::attach(&folder.join("image"), 512, false, &undo).unwrap();
        let mounted = MountedFilesystem::mount(
            device.path(),
            &folder.join("mount point"),
            "ext4",
            "",
            &undo,
        )
        .unwrap();
        let blkio = Path::new("/sys/fs/cgroup/blkio");
        let name = format!("stiction-test-{}", std::process::id());
        let group = blkio
            .is_dir()
            .then(|| ControlGroup::create(blkio, &name, &undo).unwrap());
        group.iter().for_each(|group| group.enter().unwrap());
        let own = OwnDirectory::create(mounted.mount_point(), &undo).unwrap();
        fs::write(own.path().join("file"), "text").unwrap();
        wait_to_be_killed();
        return;
    }
    testkit::require_root!();
    let top = scratch_folder();
    let image = top.path().join("image");
    fs::File::create(&image).unwrap().set_len(16 * MIB).unwrap();
    LoopKind::Ext4.make(&image);
    fs::create_dir(top.path().join("mount point")).unwrap();
    let name = "root_a_killed_run_s_devices_mounts_and_groups_are_undone";
    kill_when_ready(child(name, top.path()).spawn().unwrap());

    let restoration = restore(&top.path().join("state")).unwrap();
    let results: Vec<_> = restoration
        .changes
        .iter()
        .map(|change| (change.change.path(), change.result.as_ref().unwrap()))
        .collect();
    assert!(results.len() >= 3, "{results:?}");
    assert!(
        results[0].0.starts_with(top.path().join("mount point")),
        "newest first: {results:?}"
    );
    // The kernel detaches the loop device by itself when the mount goes.
    let still_mounted = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!still_mounted.contains(top.path().to_str().unwrap()));
    for device in fs::read_dir("/sys/block").unwrap() {
        let backing = device.unwrap().path().join("loop/backing_file");
        let file = fs::read_to_string(backing).unwrap_or_default();
        assert_ne!(Path::new(file.trim()), image, "still attached");
    }
    let is_group = |path: &Path| path.starts_with("/sys/fs/cgroup");
    let mut groups = results.iter().filter(|(path, _)| is_group(path));
    assert!(groups.all(|(path, _)| !path.exists()));
    let left = pending(&top.path().join("state")).unwrap();
    assert!(left.pending.is_empty() && left.unreadable.is_empty());
}

/// A mount inside is not crossed: what is on it belongs to somebody.
#[test]
fn root_a_file_system_mounted_inside_is_left_alone() {
    testkit::require_root!();
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let own = OwnDirectory::create(top.path(), &undo).unwrap();
    let path = own.path().to_owned();
    let inner = path.join("inner");
    fs::create_dir(&inner).unwrap();
    let mounted = MountedFilesystem::mount(Path::new("tmpfs"), &inner, "tmpfs", "", &undo).unwrap();
    fs::write(inner.join("precious"), "text").unwrap();
    let error = own.close().unwrap_err();
    assert_eq!(error.errno(), Some(libc::EXDEV), "{error}");
    assert!(error.to_string().contains("inner"), "{error}");
    assert_eq!(fs::read(inner.join("precious")).unwrap(), b"text");
    mounted.unmount().unwrap();
    // Its own entry is still open, and is undone once this process lets go of it.
    let open = undo.open_changes();
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0].path(), path);
}

fn refusal(parent: &Path) -> HostError {
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let error = OwnDirectory::create(parent, &undo).unwrap_err();
    assert!(undo.open_changes().is_empty());
    error
}

#[test]
fn root_a_read_only_file_system_is_refused_with_advice() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 64 * MIB).read_only();
    let error = refusal(filesystem.path());
    assert_eq!(error.errno(), Some(libc::EROFS));
    assert!(
        error.to_string().contains("choose another directory"),
        "{error}"
    );
}

#[test]
fn root_a_full_file_system_is_refused_and_left_as_it_was() {
    testkit::require_root!();
    let tmpfs = TmpfsMount::new(MIB);
    let fill = tmpfs.path().join("fill");
    let error = fs::write(&fill, vec![0; 2 << 20]).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
    let error = refusal(tmpfs.path());
    assert_eq!(error.errno(), Some(libc::ENOSPC));
    assert!(error.to_string().contains("free some space"), "{error}");
    let names: Vec<_> = fs::read_dir(tmpfs.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["fill"]);
}

/// Everything that a user without rights needs, done by one.
#[test]
fn root_a_plain_user_can_do_all_that_needs_no_right() {
    const NOBODY: u32 = 65534;
    if let Some(folder) = as_child() {
        assert!(!testkit::skip::is_root());
        let undo = journal(&folder.join("state"));
        let own = OwnDirectory::create(&folder, &undo).unwrap();
        let file = own.path().join("file");
        fs::write(&file, vec![1; 1 << 20]).unwrap();
        let files = [file];
        assert_eq!(residency(&files).unwrap().cached_bytes, MIB);
        assert!(drop_file_cache(&files).unwrap().is_complete());
        let error = OwnDirectory::create(Path::new("/"), &undo).unwrap_err();
        assert_eq!(error.errno(), Some(libc::EACCES), "{error}");
        assert!(
            error.to_string().contains("that you may write to"),
            "{error}"
        );
        let error = LoopDevice::attach(&files[0], 512, true, &undo).unwrap_err();
        assert_eq!(error.errno(), Some(libc::EACCES), "{error}");
        own.close().unwrap();
        say_ready();
        return;
    }
    testkit::require_root!();
    let top = tempfile::tempdir_in("/var/tmp").unwrap();
    std::os::unix::fs::chown(top.path(), Some(NOBODY), Some(NOBODY)).unwrap();
    let name = "root_a_plain_user_can_do_all_that_needs_no_right";
    // Under a name that a plain user may come to: the build folder may be private.
    let program = top.path().join("test");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let output = Command::new(&program)
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, top.path())
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir(top.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("\nready"),
        "{text}{errors}"
    );
}

/// By the figures of df(1), which counts used and available blocks.
#[test]
fn root_a_file_system_is_never_filled_beyond_the_reserve() {
    testkit::require_root!();
    testkit::require_program!("df");
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 256 * MIB);
    let output = Command::new("df")
        .args(["-B1", "--output=used,avail"])
        .arg(filesystem.path())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let figures: Vec<u64> = text
        .lines()
        .last()
        .unwrap()
        .split_whitespace()
        .map(|figure| figure.parse().unwrap())
        .collect();
    let (used, available) = (figures[0], figures[1]);
    let usable = available - (used + available) * 5 / 100;
    let admit = |bytes| stiction_host::admit_bytes(filesystem.path(), bytes, Reserve::default());
    assert_eq!(admit(usable), Ok(()));
    assert_eq!(admit(usable + 1).unwrap_err().code, SkipCode::NoSpace);
    let told = stiction_host::admit_bytes(filesystem.path(), available, Reserve::NONE);
    assert_eq!(told, Ok(()));
}
