//! What goes wrong is told, ends the cell alone, and leaves nothing behind.

mod stage;

use std::process::Command;

use stage::{Played, assert_empty, play, play_and, value};
use stiction_core::{CaveatCode, PhaseOutcome, SkipCode, TrialOutcome, metrics};
use stiction_suite::quick::QuickOptions;
use stiction_suite::tiobench::{FileSize, RandomAmount, TiobenchOptions};
use stiction_suite::{Quick, Tiobench, Workload as _};
use testkit::{FaultFs, Faults, LoopFilesystem, LoopKind, TmpfsMount};

const MIB: u64 = 1 << 20;

fn tiobench(mib: u64) -> Tiobench {
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

fn quick() -> Quick {
    Quick {
        options: QuickOptions {
            seconds: 5,
            size_bytes: Some(8 * MIB),
            ..QuickOptions::default()
        },
    }
}

/// The message of a trial that failed.
fn failure(played: &Played) -> &str {
    match played.outcome() {
        TrialOutcome::Failed { message } => message,
        other => panic!("{other:?}: {:#?}", played.trials[0].2),
    }
}

fn mounted(faults: Faults) -> FaultFs {
    FaultFs::mount(faults).expect("a FUSE file system")
}

#[test]
fn a_full_file_system_fails_the_cell() {
    testkit::require_root!();
    let fault = mounted(Faults::default());
    let played = play_and(&tiobench(8), fault.path(), "write", |_| {
        fault.set(Faults {
            space_bytes: Some(4 * MIB),
            ..Faults::default()
        });
    });
    let message = failure(&played);
    assert!(
        message.contains("write") && message.contains("os error 28"),
        "{message}"
    );
    let phases = &played.trials[0].2;
    assert_eq!(
        phases.len(),
        1,
        "nothing follows a write that did not finish"
    );
    assert_empty(fault.path());
}

/// quick goes on with what it could write.
#[test]
fn quick_takes_the_file_that_fits() {
    testkit::require_root!();
    let fault = mounted(Faults::default());
    let played = play_and(&quick(), fault.path(), "sequential_write", |_| {
        fault.set(Faults {
            space_bytes: Some(6 * MIB),
            ..Faults::default()
        });
    });
    assert_eq!(played.only().len(), 7);
    let write = played.phase("sequential_write");
    assert_eq!(write.outcome, PhaseOutcome::EndedEarly);
    assert!(
        write
            .caveats
            .iter()
            .any(|caveat| caveat.code == CaveatCode::EndedEarly),
        "{:?}",
        write.caveats
    );
    let bytes = value(write, &metrics::BYTES) as u64;
    assert!((4 * MIB..=6 * MIB).contains(&bytes), "{bytes}");
    let later: Vec<_> = played.only()[1..]
        .iter()
        .filter_map(|phase| phase.job.as_ref())
        .collect();
    assert!(!later.is_empty(), "{:#?}", played.only());
    let regions = later.iter().flat_map(|job| &job.regions);
    let reach = regions.map(|region| region.offset_bytes + region.length_bytes);
    assert!(reach.max().unwrap() <= bytes);
    assert_empty(fault.path());
}

#[test]
fn a_device_error_fails_the_phase_and_names_the_place() {
    testkit::require_root!();
    let fault = mounted(Faults {
        error_every: Some((300, libc::EIO)),
        ..Faults::default()
    });
    let played = play(&tiobench(8), &[fault.path()]);
    let message = failure(&played);
    assert!(
        message.contains("offset") && message.contains("os error 5"),
        "{message}"
    );
    let failed = &played.trials[0].2[0];
    assert!(
        matches!(failed.outcome, PhaseOutcome::Failed { .. }),
        "{failed:#?}"
    );
    assert!(
        failed.measurements.is_empty(),
        "a phase that failed has no numbers"
    );
    assert_empty(fault.path());
}

#[test]
fn a_failing_sync_is_a_failing_phase() {
    testkit::require_root!();
    let fault = mounted(Faults::default());
    let played = play_and(&tiobench(2), fault.path(), "write", |_| {
        fault.set(Faults {
            sync_error: Some(libc::EIO),
            ..Faults::default()
        });
    });
    let message = failure(&played);
    assert!(
        message.contains("sync") && message.contains("os error 5"),
        "{message}"
    );
    assert_empty(fault.path());
}

#[test]
fn short_reads_and_writes_are_completed() {
    testkit::require_root!();
    let fault = mounted(Faults {
        short_bytes: Some(1000),
        ..Faults::default()
    });
    let mut workload = tiobench(1);
    workload.options.verify = true;
    let played = play(&workload, &[fault.path()]);
    assert_eq!(value(played.phase("read"), &metrics::BYTES), MIB as f64);
}

#[test]
fn a_read_only_mount_is_refused_from_what_the_mount_says_and_from_what_it_does() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 32 * MIB).read_only();
    let environment = stage::environment(&[filesystem.path()]);
    let workload = tiobench(2);
    let plan = workload.plan(stiction_core::Seed(1), &environment).unwrap();
    let reasons = workload.requires(&plan, &environment);
    assert_eq!(reasons.len(), 1);
    assert_eq!(reasons[0].code, SkipCode::NotWritable);
    let played = play(&workload, &[filesystem.path()]);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{played:?}");
    };
    assert_eq!(reason.code, SkipCode::NotWritable);
    assert!(reason.detail.contains("os error 30"), "{}", reason.detail);
}

#[test]
fn a_tmpfs_too_small_is_a_skipped_cell() {
    testkit::require_root!();
    let tmpfs = TmpfsMount::new(4 * MIB);
    let played = play(&tiobench(4), &[tmpfs.path()]);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{played:?}");
    };
    assert_eq!(reason.code, SkipCode::NoSpace);
    assert_empty(tmpfs.path());
}

#[test]
fn a_block_that_no_sector_divides_is_refused_with_the_sector() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 32 * MIB);
    let mut workload = tiobench(2);
    workload.options.direct = true;
    workload.options.block_sizes_bytes = vec![4096 + 100];
    let played = play(&workload, &[filesystem.path()]);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{played:?}");
    };
    assert!(reason.detail.contains("512"), "{}", reason.detail);
    assert_empty(filesystem.path());
}

/// The same where the device's sector is not known beforehand: the engine's refusal.
#[test]
fn a_block_that_direct_io_does_not_take_fails_clearly() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 32 * MIB);
    let mut workload = tiobench(2);
    workload.options.direct = true;
    workload.options.block_sizes_bytes = vec![4096 + 100];
    let mut environment = stage::environment(&[filesystem.path()]);
    environment.targets[0].layers.clear();
    let places = [stiction_suite::Place::Directory(
        filesystem.path().to_owned(),
    )];
    let stop = stiction_engine::StopFlag::new();
    let played = stage::play_on(&workload, &places, &environment, &stop);
    let message = failure(&played);
    assert!(
        message.contains("multiple") && message.contains("512"),
        "{message}"
    );
    assert_empty(filesystem.path());
}

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
        .arg("ulimit -f 1024; exec \"$0\" --exact a_limit_of_the_file_size_is_told --nocapture")
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
