//! What is done before trials, carried out and recorded.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use stiction_core::{
    CacheState, Canary, CaveatCode, Cell, Environment, Phase, PhaseKind, Plan, PlannedTrial,
    Precondition, Preparation, Residency, Seed, Session, SkipCode, SpoilerPolicy, Tool,
    TrialOutcome,
};
use stiction_engine::{ScratchDevice, StopFlag};
use stiction_host::{Alterations, FactOptions};
use stiction_journal::JournalDirectory;
use stiction_runner::blocks::EveryBlock;
use stiction_runner::{RunEvent, RunSettings, Study, estimate_preparation, plan_study, run_study};
use stiction_suite::{Context, Ioping, IopingOptions, Place, SuiteError, TrialReport, Workload};
use testkit::{LoopFilesystem, LoopKind, ScratchLoop};

const MIB: u64 = 1 << 20;

/// A workload of some trials that do nothing.
struct Idle(u32);

impl Workload for Idle {
    fn name(&self) -> &'static str {
        "idle"
    }

    fn plan(&self, seed: Seed, _environment: &Environment) -> Result<Plan, SuiteError> {
        Ok(Plan {
            workload: "idle".to_owned(),
            parameters: Default::default(),
            seed,
            preparation: Preparation::default(),
            trials: (0..self.0)
                .map(|number| PlannedTrial::new(Cell::new(), number))
                .collect(),
        })
    }

    fn requires(&self, _: &Plan, _: &Environment) -> Vec<stiction_core::SkipReason> {
        Vec::new()
    }

    fn run(
        &self,
        _: &Plan,
        _: &PlannedTrial,
        _: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        Ok(TrialReport::new(TrialOutcome::Completed))
    }
}

fn settings(state: &Path) -> RunSettings {
    RunSettings {
        journals: JournalDirectory::create(&state.join("journals")).unwrap(),
        undo_directory: state.join("undo"),
        facts: FactOptions::default(),
        tool: Tool::default(),
        label: None,
        command: Vec::new(),
        invocation: None,
        seed: Seed(4711),
        witness: stiction_core::WitnessLevel::default(),
        started: "2002-11-30T10:59:12Z".parse().unwrap(),
        zone: jiff::tz::TimeZone::UTC,
        id_random: 0,
    }
}

/// Runs `trials` trials in `directory`, which must be as before afterwards.
fn run(
    directory: &Path,
    trials: u32,
    preparation: Preparation,
    alterations: Option<&Alterations>,
) -> Session {
    let before = entries(directory);
    let place = Place::Directory(directory.to_owned());
    let session = run_on(place, &Idle(trials), preparation, alterations);
    assert_eq!(entries(directory), before);
    session
}

fn run_on(
    place: Place,
    workload: &dyn Workload,
    preparation: Preparation,
    alterations: Option<&Alterations>,
) -> Session {
    let state = tempfile::tempdir().unwrap();
    let places = [place];
    let mut study = Study::of_one(workload, &places);
    study.preparation = preparation;
    study.configurations[0].alterations = alterations;
    let ran = run_study(
        &study,
        &settings(state.path()),
        &StopFlag::new(),
        &mut EveryBlock,
        &mut |_: RunEvent<'_>| {},
    )
    .unwrap();
    assert!(ran.left_behind.is_empty(), "{:?}", ran.left_behind);
    let plan = ran.session.header.plan.as_ref().unwrap();
    assert_eq!(plan.preparation, study.preparation);
    ran.session
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn names(session: &Session, trial: usize) -> Vec<&str> {
    let phases = session.trials[trial].phases.iter();
    phases.map(|phase| phase.name.as_str()).collect()
}

fn bytes(phase: &Phase) -> u64 {
    phase.workers.iter().map(|worker| worker.bytes).sum()
}

fn short(overwritten_bytes_max: u64) -> Precondition {
    Precondition {
        range_bytes: Some(8 * MIB),
        round_ns: 20_000_000,
        // A rate may do what it likes: steady as soon as there are rounds enough.
        tolerance_ppm: 100_000_000,
        duration_ns_max: 60_000_000_000,
        overwritten_bytes_max: Some(overwritten_bytes_max),
        ..Precondition::default()
    }
}

/// Two fills of 8 MiB are 16 MiB, in the first trial and not again.
#[test]
fn a_place_that_lasts_is_preconditioned_once() {
    let folder = testkit::scratch_folder();
    let preparation = Preparation {
        precondition: Some(short(8 << 30)),
        ..Preparation::default()
    };
    let session = run(folder.path(), 2, preparation, None);
    assert_eq!(names(&session, 0), ["precondition_fill", "precondition"]);
    assert!(names(&session, 1).is_empty());
    let [fill, overwrite] = &session.trials[0].phases[..] else {
        panic!("two phases");
    };
    assert_eq!(fill.kind, PhaseKind::Prepare);
    assert_eq!(bytes(fill), 16 * MIB);
    // Ten rounds, which is when the half-window rule may first say so.
    assert!(overwrite.elapsed_ns >= 10 * 20_000_000);
    let notes = overwrite.notes.join("\n");
    assert!(notes.contains("steady after 200 ms"), "{notes}");
    assert!(notes.contains("SNIA's rule"), "{notes}");
    assert_eq!(session.trials[0].outcome, TrialOutcome::Completed);
}

/// 256 overwrites of 4 KiB are 1 MiB; some more are in flight when it is reached.
#[test]
fn its_wear_is_bounded() {
    let folder = testkit::scratch_folder();
    let preparation = Preparation {
        precondition: Some(short(MIB)),
        ..Preparation::default()
    };
    let session = run(folder.path(), 1, preparation, None);
    let overwrite = session.trials[0].phase("precondition").unwrap();
    let in_flight = 32 * 4096;
    assert!((MIB..=MIB + in_flight).contains(&bytes(overwrite)));
    let codes: Vec<CaveatCode> = overwrite.caveats.iter().map(|one| one.code).collect();
    assert!(codes.contains(&CaveatCode::NotSteady), "{codes:?}");
    assert_eq!(session.trials[0].outcome, TrialOutcome::Completed);
}

#[test]
fn what_does_not_fit_is_not_begun() {
    let folder = testkit::scratch_folder();
    let preparation = Preparation {
        precondition: Some(Precondition {
            range_bytes: Some(1 << 60),
            ..Precondition::default()
        }),
        ..Preparation::default()
    };
    let session = run(folder.path(), 1, preparation, None);
    let TrialOutcome::Skipped(reason) = &session.trials[0].outcome else {
        panic!("{:?}", session.trials[0].outcome);
    };
    assert_eq!(reason.code, SkipCode::NoSpace);
}

#[test]
fn a_directory_of_the_user_s_is_not_trimmed() {
    let folder = testkit::scratch_folder();
    let preparation = Preparation {
        purge: true,
        ..Preparation::default()
    };
    let session = run(folder.path(), 1, preparation, None);
    let TrialOutcome::Skipped(reason) = &session.trials[0].outcome else {
        panic!("{:?}", session.trials[0].outcome);
    };
    assert_eq!(reason.code, SkipCode::UnsafeTarget);
    assert!(reason.detail.contains("is yours"), "{}", reason.detail);
}

#[test]
fn settling_is_told_with_what_was_seen() {
    let folder = testkit::scratch_folder();
    let preparation = Preparation {
        // One look, whatever this machine is busy with.
        settle_ns_max: Some(1),
        ..Preparation::default()
    };
    let session = run(folder.path(), 1, preparation, None);
    let phase = session.trials[0].phase("settle").unwrap();
    assert_eq!(phase.kind, PhaseKind::Settle);
    assert!(
        phase.notes[0].contains("requests in flight"),
        "{:?}",
        phase.notes
    );
    let caveats = &session.trials[0].caveats;
    assert_eq!(caveats[0].code, CaveatCode::NotQuiet);
}

#[test]
fn canaries_run_first_and_last_and_leave_nothing() {
    let folder = testkit::scratch_folder();
    let preparation = Preparation {
        canary: Some(Canary { every: 10 }),
        ..Preparation::default()
    };
    let session = run(folder.path(), 3, preparation, None);
    let run = ["canary_cpu", "canary_memory", "canary_device"];
    let first: Vec<&str> = ["canary_lay_down"].into_iter().chain(run).collect();
    assert_eq!(names(&session, 0), first);
    assert!(names(&session, 1).is_empty());
    assert_eq!(names(&session, 2), run);
    for phase in &session.trials[2].phases {
        assert_eq!(phase.kind, PhaseKind::Prepare);
        let operations: u64 = phase.workers.iter().map(|worker| worker.operations).sum();
        assert!(operations > 0, "{}", phase.name);
    }
}

/// Reads of a file of 1 MiB that was written just before, a request each of its blocks
/// but one.
fn residency_before(cache: CacheState) -> Residency {
    let folder = testkit::scratch_folder();
    let workload = Ioping {
        options: IopingOptions {
            requests: Some(10),
            file_bytes: Some(MIB),
            interval_ns: Some(0),
            cached: true,
            ..IopingOptions::default()
        },
    };
    let preparation = Preparation {
        cache,
        ..Preparation::default()
    };
    let place = Place::Directory(folder.path().to_owned());
    let session = run_on(place, &workload, preparation, None);
    let trial = &session.trials[0];
    assert_eq!(trial.outcome, TrialOutcome::Completed);
    let measured = trial
        .phases
        .iter()
        .find(|one| one.kind == PhaseKind::Measure);
    let measured = measured.unwrap();
    let codes: Vec<CaveatCode> = measured.caveats.iter().map(|one| one.code).collect();
    assert!(!codes.contains(&CaveatCode::CacheNotDropped), "{codes:?}");
    assert!(!codes.contains(&CaveatCode::CacheNotFilled), "{codes:?}");
    measured.witnesses.residency_before.unwrap()
}

#[test]
fn files_are_cold_or_warm_when_a_measured_phase_begins() {
    let cold = residency_before(CacheState::Cold);
    assert_eq!((cold.cached_bytes, cold.file_bytes), (0, MIB));
    let warm = residency_before(CacheState::Warm);
    assert_eq!((warm.cached_bytes, warm.file_bytes), (MIB, MIB));
}

/// A loop device gives discarded blocks back as holes, which read as zeros.
#[test]
fn root_a_granted_device_is_purged_whole() {
    testkit::require_root!();
    const DEVICE_BYTES: u64 = 64 * MIB + 8192;
    let device = ScratchLoop::new(DEVICE_BYTES);
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).custom_flags(libc::O_EXCL);
    let file = options.open(device.path()).unwrap();
    for offset in [0, 32 * MIB, DEVICE_BYTES - 4096] {
        file.write_all_at(&[7; 4096], offset).unwrap();
    }
    file.sync_all().unwrap();
    let path = device.path().to_owned();
    let held = ScratchDevice::from_held(Arc::new(file.into()), DEVICE_BYTES, path);
    let preparation = Preparation {
        purge: true,
        ..Preparation::default()
    };
    let session = run_on(Place::Device(held), &Idle(1), preparation, None);
    assert_eq!(names(&session, 0), ["purge", "purge"]);
    let purged: u64 = session.trials[0].phases.iter().map(bytes).sum();
    assert_eq!(purged, DEVICE_BYTES);
    let left = fs::read(device.backing_file()).unwrap();
    assert!(left.iter().all(|&byte| byte == 0));
}

#[test]
fn what_preparing_takes_is_known_before() {
    let folder = testkit::scratch_folder();
    let places = [Place::Directory(folder.path().to_owned())];
    let workload = Idle(3);
    let mut study = Study::of_one(&workload, &places);
    study.preparation.precondition = Some(short(MIB));
    let plan = plan_study(&study, Tool::default(), FactOptions::default(), Seed(1)).unwrap();
    let estimate = estimate_preparation(&study, &plan).unwrap();
    // Two fills of 8 MiB and 1 MiB of overwrites, once.
    assert_eq!(estimate.written_bytes_max, 17 * MIB);
    assert_eq!(estimate.duration_ns_max, 60_000_000_000);
}

/// Scratch space is made for each trial, so each of them is purged and preconditioned:
/// of a new 128 MiB ext4 more than half is free blocks.
#[test]
fn root_scratch_space_is_prepared_for_each_trial() {
    testkit::require_root!();
    let folder = testkit::scratch_folder();
    let settings = [stiction_core::Setting::new("filesystem", "ext4")];
    let alterations = Alterations::read(&settings, 128 * MIB, None).unwrap();
    let preparation = Preparation {
        purge: true,
        precondition: Some(short(MIB)),
        ..Preparation::default()
    };
    let session = run(folder.path(), 2, preparation, Some(&alterations));
    for trial in [0, 1] {
        let expected = ["purge", "precondition_fill", "precondition"];
        assert_eq!(
            names(&session, trial),
            expected,
            "{:?}",
            session.trials[trial]
        );
        let note = &session.trials[trial].phases[0].notes[0];
        let freed = note.split(" MiB").next().unwrap();
        assert!(freed.parse::<f64>().unwrap() > 64.0, "{note}");
    }
}

/// A trial on a filesystem to which somebody else writes, 256 KiB at a time past the
/// cache, as fast as the device takes it; and that device.
fn beside_others(spoilers: SpoilerPolicy) -> (Session, String) {
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 64 * MIB);
    let path = filesystem.path().join("others");
    let begun = AtomicBool::new(false);
    let is_over = AtomicBool::new(false);
    let preparation = Preparation {
        spoilers,
        ..Preparation::default()
    };
    let session = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut options = OpenOptions::new();
            let options = options.write(true).create(true).custom_flags(libc::O_SYNC);
            let file = options.open(&path).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                file.write_all_at(&[7; 256 << 10], 0).unwrap();
                begun.store(true, Ordering::Relaxed);
            }
        });
        while !begun.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        let session = run(filesystem.path(), 1, preparation, None);
        is_over.store(true, Ordering::Relaxed);
        session
    });
    (session, filesystem.device().name())
}

#[test]
fn root_a_trial_may_refuse_to_run_beside_others_io() {
    testkit::require_root!();
    let (session, device) = beside_others(SpoilerPolicy::Refuse);
    let TrialOutcome::Skipped(reason) = &session.trials[0].outcome else {
        panic!("{:?}", session.trials[0].outcome);
    };
    assert_eq!(reason.code, SkipCode::NotQuiet);
    let moved = format!("other-io: {device} moved");
    assert!(reason.detail.contains(&moved), "{}", reason.detail);
}

#[test]
fn root_it_may_run_with_a_doubt() {
    testkit::require_root!();
    let (session, device) = beside_others(SpoilerPolicy::Warn);
    assert_eq!(session.trials[0].outcome, TrialOutcome::Completed);
    let mut caveats = session.trials[0].caveats.iter();
    let doubt = caveats.find(|one| one.code == CaveatCode::OtherIo).unwrap();
    let moved = format!("before the trial: {device} moved");
    assert!(doubt.detail.starts_with(&moved), "{}", doubt.detail);
}
