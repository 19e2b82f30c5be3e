//! What numbers are said to be about, on devices of which that is known.

use std::path::Path;

use stiction_analysis::doubt::{Finding, examine_in_cell};
use stiction_core::{Phase, PhaseKind, PhaseOutcome, Seed, Session, Subject, Tool, Unit};
use stiction_engine::StopFlag;
use stiction_host::FactOptions;
use stiction_journal::JournalDirectory;
use stiction_runner::{RunEvent, RunSettings, run_session};
use stiction_suite::tiobench::{FileSize, TiobenchMode};
use stiction_suite::{Place, Quick, QuickOptions, Tiobench, TiobenchOptions, Workload};
use testkit::{LoopFilesystem, LoopKind, Throttle, ThrottleLimits, TmpfsMount};

const MIB: u64 = 1 << 20;

/// What `workload` measures in `directory`.
fn run(workload: &dyn Workload, directory: &Path) -> Session {
    let state = tempfile::tempdir().expect("a directory for the journal");
    let settings = RunSettings {
        journals: JournalDirectory::create(&state.path().join("journals")).expect("journals"),
        undo_directory: state.path().join("undo"),
        facts: FactOptions::default(),
        tool: Tool::default(),
        label: None,
        command: Vec::new(),
        invocation: None,
        seed: Seed(1),
        witness: stiction_core::WitnessLevel::default(),
        started: "2002-11-30T10:59:12Z".parse().expect("a time"),
        zone: jiff::tz::TimeZone::UTC,
        id_random: 1,
    };
    let places = [Place::Directory(directory.to_owned())];
    let mut silent = |_: RunEvent<'_>| {};
    let ran = run_session(workload, &places, &settings, &StopFlag::new(), &mut silent);
    ran.expect("a session").session
}

/// The measured phases of a session, and what they are about.
fn findings(session: Session) -> Vec<(Phase, Finding)> {
    let environment = session.header.environment;
    let mut found = Vec::new();
    for trial in session.trials {
        let phases = trial.phases.into_iter();
        for phase in phases.filter(|phase| phase.kind == PhaseKind::Measure) {
            let finding = examine_in_cell(&phase, &trial.cell, &environment);
            assert_eq!(phase.outcome, PhaseOutcome::Completed, "{}", phase.name);
            found.push((phase, finding));
        }
    }
    assert!(!found.is_empty());
    found
}

fn finding<'a>(found: &'a [(Phase, Finding)], name: &str) -> &'a Finding {
    let named = found.iter().find(|(phase, _)| phase.name == name);
    &named.unwrap_or_else(|| panic!("no phase {name}")).1
}

fn quick(seconds: u32) -> Quick {
    let options = QuickOptions {
        seconds,
        ..QuickOptions::default()
    };
    Quick { options }
}

/// A file of 32 MiB that is written and read back without a word to the cache.
fn classic_tiobench() -> Tiobench {
    let options = TiobenchOptions {
        mode: TiobenchMode::Classic { as_was: false },
        sizes: vec![FileSize::Total(32 * MIB)],
        threads: vec![1],
        ..TiobenchOptions::default()
    };
    Tiobench { options }
}

#[test]
fn root_a_device_that_does_the_work_is_the_disk_or_the_cpu_before_it() {
    testkit::require_root!();
    for kind in [LoopKind::Ext4, LoopKind::Xfs, LoopKind::Btrfs] {
        let filesystem = LoopFilesystem::new(kind, 1 << 30);
        for (phase, finding) in findings(run(&quick(8), filesystem.path())) {
            // One worker on a fast device may well use its CPU up.
            let expected = matches!(finding.subject, Subject::Disk | Subject::Cpu);
            assert!(expected, "{} on {kind:?}: {finding:?}", phase.name);
        }
    }
}

#[test]
fn root_a_cached_read_is_the_cache() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 1 << 30);
    let found = findings(run(&classic_tiobench(), filesystem.path()));
    for name in ["read", "random_read"] {
        let finding = finding(&found, name);
        assert_eq!(finding.subject, Subject::Cache, "{name}: {finding:?}");
        assert!(
            finding.reasons[0].contains("read 0 B of"),
            "{:?}",
            finding.reasons
        );
    }
    // The writes end with fsync, inside their time.
    let (_, write) = &found[0];
    assert!(
        matches!(write.subject, Subject::Disk | Subject::Cpu),
        "{write:?}"
    );
}

#[test]
fn root_memory_is_the_cache() {
    testkit::require_root!();
    let tmpfs = TmpfsMount::new(256 * MIB);
    for (phase, finding) in findings(run(&quick(3), tmpfs.path())) {
        assert_eq!(
            finding.subject,
            Subject::Cache,
            "{}: {finding:?}",
            phase.name
        );
    }
}

#[test]
fn root_a_throttled_device_is_the_limiter_with_its_ceiling() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 1 << 30);
    let limit = 10_000_000;
    let limits = ThrottleLimits {
        read_bytes_per_s: limit,
        write_bytes_per_s: limit,
        ..ThrottleLimits::default()
    };
    let throttle = match Throttle::new(filesystem.device().device_number(), limits) {
        Ok(throttle) => throttle,
        Err(reason) => testkit::skip!("no throttle: {reason}"),
    };
    let found = findings(run(&quick(15), filesystem.path()));
    drop(throttle);
    for name in ["sequential_write", "sequential_read", "random_read_deep"] {
        let finding = finding(&found, name);
        assert_eq!(finding.subject, Subject::Limiter, "{name}: {finding:?}");
        let ceiling = finding.ceiling.as_ref().expect("a limiter has a ceiling");
        assert_eq!(
            (ceiling.value, ceiling.unit),
            (limit as f64, Unit::BytesPerSecond)
        );
        assert!(ceiling.source.contains("blkio.throttle") || ceiling.source.contains("io.max"));
    }
}
