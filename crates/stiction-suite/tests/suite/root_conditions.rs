//! Files and data as they were asked for, on filesystems of which it is known what they do.

use stiction_core::{Applied, Conditions, Job, Phase, Seed, Setting, SkipCode, metrics};
use stiction_suite::conditions::{laid_down, obstacle};
use stiction_suite::tiobench::{FileSize, RandomAmount, TiobenchOptions, TiobenchPhase};
use stiction_suite::{Metadata, Place, Quick, Tiobench, Workload};
use testkit::{LoopFilesystem, LoopKind};

use crate::stage::{Played, environment, play_under, value};

const MIB: u64 = 1 << 20;

fn conditions(settings: &[(&str, &str)]) -> Conditions {
    let settings: Vec<Setting> = settings
        .iter()
        .map(|(factor, level)| Setting::new(*factor, *level))
        .collect();
    let (conditions, others) = Conditions::read(&settings).unwrap();
    assert!(others.is_empty());
    conditions
}

fn tiobench(skip: &[TiobenchPhase]) -> Tiobench {
    Tiobench {
        options: TiobenchOptions {
            sizes: vec![FileSize::Total(8 * MIB)],
            threads: vec![2],
            random: Some(RandomAmount::Total(100)),
            runs: Some(1),
            skip: skip.iter().copied().collect(),
            ..TiobenchOptions::default()
        },
    }
}

fn found(conditions: &Conditions, played: &Played) -> Vec<Applied> {
    let phases = played.only();
    let jobs: Vec<&Job> = phases
        .iter()
        .filter_map(|phase| phase.job.as_ref())
        .collect();
    conditions.applied(jobs, laid_down(phases).as_ref())
}

/// What a phase finds: bytes of its files that were never written.
fn unwritten(phase: &Phase) -> u64 {
    phase.witnesses.unwritten_bytes.unwrap()
}

#[test]
fn root_files_are_found_in_the_state_that_was_asked_for() {
    testkit::require_root!();
    for kind in [LoopKind::Ext4, LoopKind::Xfs, LoopKind::Btrfs] {
        testkit::require_program!(kind.mkfs());
        let filesystem = LoopFilesystem::new(kind, 320 * MIB);
        for (state, expected) in [
            ("overwritten", 0),
            ("preallocated", 8 * MIB),
            ("holes", 8 * MIB),
        ] {
            let conditions = conditions(&[("file_state", state)]);
            // The first phase writes, and finds the files; all are whole after it.
            let played = play_under(&tiobench(&[]), filesystem.path(), &conditions);
            let applied = found(&conditions, &played);
            assert!(applied[0].is_in_force(), "{kind:?} {applied:?}");
            assert_eq!(
                unwritten(played.phase("write")),
                expected,
                "{kind:?} {state}"
            );
            assert_eq!(
                value(played.phase("write"), &metrics::BYTES),
                (8 * MIB) as f64
            );
            assert_eq!(unwritten(played.phase("read")), 0, "{kind:?} {state}");
            // Nothing is written at all, and reads find what was laid down.
            let reads = tiobench(&[TiobenchPhase::Write, TiobenchPhase::RandomWrite]);
            let played = play_under(&reads, filesystem.path(), &conditions);
            assert_eq!(
                unwritten(played.phase("read")),
                expected,
                "{kind:?} {state}"
            );
        }
    }
}

#[test]
fn root_data_are_as_compressible_as_was_asked_for() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 64 * MIB);
    let conditions = conditions(&[("compressibility", "25%")]);
    let played = play_under(&tiobench(&[]), filesystem.path(), &conditions);
    let applied = found(&conditions, &played);
    assert!(applied[0].is_in_force(), "{applied:?}");
    let write = played.phase("write").job.as_ref().unwrap();
    assert_eq!(
        write.reducible_data().as_deref(),
        Some("to 25 % compressible")
    );
}

#[test]
fn root_what_a_workload_or_filesystem_cannot_do_is_refused() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext2, 32 * MIB);
    let refused = |workload: &dyn Workload, setting: (&str, &str)| {
        let environment = environment(&[filesystem.path()]);
        let plan = workload.plan(Seed(1), &environment).unwrap();
        let places = [Place::Directory(filesystem.path().to_owned())];
        obstacle(workload, &plan, &conditions(&[setting]), &places)
    };
    let says = |reason: Option<stiction_core::SkipReason>, text: &str| {
        let reason = reason.unwrap();
        assert_eq!(reason.code, SkipCode::NotSupported);
        assert!(reason.detail.contains(text), "{reason:?}");
    };
    // The ext2 of Linux, and its successor in its stead, cannot reserve blocks of files
    // that are mapped block by block.
    let preallocated = ("file_state", "preallocated");
    says(refused(&tiobench(&[]), preallocated), "EOPNOTSUPP");
    assert_eq!(refused(&tiobench(&[]), ("file_state", "holes")), None);
    let metadata = Metadata::default();
    says(
        refused(&metadata, ("compressibility", "50")),
        "compressibility: metadata makes files and data in its own way",
    );
    let quick = Quick::default();
    says(
        refused(&quick, ("file_state", "holes")),
        "file_state: this workload makes its files as it needs them",
    );
    assert_eq!(refused(&quick, ("compressibility", "50")), None);
}
