//! What goes wrong is told, ends the cell alone, and leaves nothing behind.

use std::process::Command;

use crate::stage::{self, Played, assert_empty, play, value};
use stiction_core::{SkipCode, TrialOutcome, metrics};
use stiction_suite::quick::QuickOptions;
use stiction_suite::tiobench::{FileSize, RandomAmount, TiobenchOptions};
use stiction_suite::{Quick, Tiobench};

const MIB: u64 = 1 << 20;

pub(crate) fn tiobench(mib: u64) -> Tiobench {
    Tiobench {
        options: TiobenchOptions {
            sizes: vec![FileSize::Total(mib * MIB)],
            threads: vec![2],
            random: Some(RandomAmount::Total(100)),
            runs: Some(1),
            ..TiobenchOptions::default()
        },
    }
}

pub(crate) fn quick() -> Quick {
    Quick {
        options: QuickOptions {
            seconds: 5,
            size_bytes: Some(8 * MIB),
            ..QuickOptions::default()
        },
    }
}

/// The message of a trial that failed.
pub(crate) fn failure(played: &Played) -> &str {
    match played.outcome() {
        TrialOutcome::Failed { message } => message,
        other => panic!("{other:?}: {:#?}", played.trials[0].2),
    }
}

/// quick goes on with what it could write.
/// The same where the device's sector is not known beforehand: the engine's refusal.
#[test]
fn thousands_of_threads_run() {
    let folder = testkit::scratch_folder();
    let mut workload = tiobench(16);
    workload.options.threads = vec![4096];
    let played = play(&workload, &[folder.path()]);
    let write = played.phase("write");
    assert_eq!(write.workers.len(), 4096);
    assert_eq!(value(write, &metrics::BYTES), (16 * MIB) as f64);
    assert_empty(folder.path());
}

#[test]
fn buffers_beyond_the_memory_are_refused() {
    let folder = testkit::scratch_folder();
    let mut workload = tiobench(1 << 20);
    workload.options.threads = vec![1000];
    workload.options.block_sizes_bytes = vec![1 << 30];
    let played = play(&workload, &[folder.path()]);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{played:?}");
    };
    assert_eq!(reason.code, SkipCode::LimitTooLow);
}

/// Where a limit of the file size is seen, the cell is refused; where it is not, the
/// write fails with EFBIG and says what to raise. The limit is of a whole process, so
/// the inner half of this test runs in one of its own.
#[test]
fn a_limit_of_the_file_size_is_told() {
    const INNER: &str = "STICTION_TEST_FILE_SIZE_LIMITED";
    if std::env::var_os(INNER).is_some() {
        return limited();
    }
    let this = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .arg("-c")
        .arg("ulimit -f 1024; exec \"$0\" --exact trouble::a_limit_of_the_file_size_is_told --nocapture")
        .arg(this)
        .env(INNER, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}

fn limited() {
    let folder = testkit::scratch_folder();
    let played = play(&tiobench(8), &[folder.path()]);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{played:?}");
    };
    assert_eq!(reason.code, SkipCode::LimitTooLow);
    assert!(reason.detail.contains("ulimit -f"), "{}", reason.detail);

    let mut environment = stage::environment(&[folder.path()]);
    environment.limits.file_size_bytes = None;
    let places = [stiction_suite::Place::Directory(folder.path().to_owned())];
    let stop = stiction_engine::StopFlag::new();
    let played = stage::play_on(&tiobench(8), &places, &environment, &stop);
    let message = failure(&played);
    assert!(
        message.contains("os error 27") && message.contains("ulimit -f"),
        "{message}"
    );
    assert_empty(folder.path());
}
