//! Trouble that takes root to make: faulty, full and read-only filesystems.

use crate::stage::{self, assert_empty, play, play_and, value};
use crate::trouble::{failure, quick, tiobench};
use stiction_core::{CaveatCode, PhaseOutcome, SkipCode, TrialOutcome, metrics};
use stiction_suite::Workload as _;
use testkit::{FaultFs, Faults, LoopFilesystem, LoopKind, TmpfsMount};

const MIB: u64 = 1 << 20;

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
