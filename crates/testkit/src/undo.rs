//! The undo journal of the tests: what a killed test leaves, the next one undoes.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use stiction_core::SessionId;
use stiction_host::{Liveness, UndoJournal};

/// A new undo journal. The first call of a process also undoes what tests that
/// were killed have left behind.
///
/// # Panics
/// When the temporary directory cannot be written.
#[must_use]
pub fn journal() -> UndoJournal {
    static SWEPT: OnceLock<()> = OnceLock::new();
    SWEPT.get_or_init(sweep);
    let session = SessionId::new(jiff::Timestamp::now(), u64::from(std::process::id()));
    UndoJournal::open(&folder().join("undo"), &session).expect("an undo journal")
}

/// A new folder for a test's own files, removed on drop.
///
/// # Panics
/// When the temporary directory cannot be written.
#[must_use]
pub fn scratch_folder() -> tempfile::TempDir {
    std::fs::create_dir_all(folder()).expect("a folder for the tests");
    tempfile::Builder::new()
        .prefix(&format!("{}-", std::process::id()))
        .tempdir_in(folder())
        .expect("a temporary folder")
}

/// On a disk file system rather than in memory, so that loop devices over files
/// in it can do direct I/O.
fn folder() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    Path::new("/var/tmp").join(format!("stiction-testkit-{user}"))
}

fn sweep() {
    let folder = folder();
    let restored = stiction_host::restore(&folder.join("undo")).expect("readable undo journals");
    for change in restored.changes {
        if let Err(error) = change.result {
            tell(&format!("a killed test left something: {error}"));
        }
    }
    crate::fault_fs::unmount_leftovers();
    // Folders whose test is gone, and whose loop devices and mounts were undone above.
    let live = stiction_host::pending(&folder.join("undo")).expect("readable undo journals");
    let is_live = |pid: u32| {
        live.pending
            .iter()
            .any(|one| one.owner.pid == pid && one.liveness != Liveness::Dead)
            || Path::new(&format!("/proc/{pid}")).exists()
    };
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.split_once('-')?.0.parse::<u32>().ok());
        if pid.is_some_and(|pid| !is_live(pid)) && !is_mount_point_inside(&entry.path()) {
            // Another test may sweep at the same time: then it is gone already.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether anything is mounted in the folder: its files are not the test's then.
fn is_mount_point_inside(folder: &Path) -> bool {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    mounts
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .any(|mount_point| Path::new(mount_point).starts_with(folder))
}

#[expect(
    clippy::print_stderr,
    reason = "what a killed test left is for the person who runs the tests"
)]
fn tell(text: &str) {
    eprintln!("{text}");
}
