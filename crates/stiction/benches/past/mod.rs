//! A store with a long past, and how long the program takes over it.

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use stiction_core::Session;
use stiction_journal::JournalDirectory;
use stiction_store::Archive;
use tempfile::TempDir;

/// Times that a command is run.
const ROUNDS: usize = 7;

/// A store of these sessions, in memory: what is measured is the program, not the disk.
pub(crate) fn store(sessions: impl Iterator<Item = Session>) -> TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    };
    let place = place.expect("a temporary directory");
    let path = Archive::journals_path(place.path());
    let journals = JournalDirectory::create(&path).expect("a directory of journals");
    for session in sessions {
        journals.save(session).expect("a journal");
    }
    Archive::open(place.path()).expect("a store");
    place
}

/// Runs `stiction` on the store, says how long it took, and fails where the median is above
/// the limit.
pub(crate) fn time(store: &Path, what: &str, arguments: &[&str], limit_ms: f64) -> ExitCode {
    let run = || {
        let start = Instant::now();
        let status = Command::new(env!("CARGO_BIN_EXE_stiction"))
            .env("STICTION_STORE", store)
            .args(arguments)
            .stdout(Stdio::null())
            .status()
            .expect("stiction runs");
        assert!(status.success(), "{arguments:?}: {status}");
        start.elapsed().as_secs_f64() * 1e3
    };
    let mut times_ms: Vec<f64> = (0..ROUNDS).map(|_| run()).collect();
    times_ms.sort_by(f64::total_cmp);
    let (best, median) = (times_ms[0], times_ms[ROUNDS / 2]);
    println!(
        "{what}, stiction {}: {best:.0} ms at best, {median:.0} ms in the median of {ROUNDS}; \
         the limit is {limit_ms:.0} ms",
        arguments.join(" ")
    );
    if median > limit_ms {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
