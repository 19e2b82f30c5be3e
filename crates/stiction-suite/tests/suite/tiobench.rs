//! tiobench on real files.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;

use crate::stage::{self, assert_empty, phase, play, play_and, value};
use stiction_core::{
    CaveatCode, Direction, PhaseKind, PhaseOutcome, Plan, Seed, SkipCode, TrialOutcome, WriteSync,
    metrics,
};
use stiction_engine::StopFlag;
use stiction_suite::tiobench::{
    DirectoryUse, FileSize, RandomAmount, TiobenchMode, TiobenchOptions, TiobenchPhase,
};
use stiction_suite::{Place, Tiobench, Workload as _};

const MIB: u64 = 1 << 20;

/// 6 MiB on two threads, 100 random operations over both.
fn small() -> TiobenchOptions {
    TiobenchOptions {
        sizes: vec![FileSize::Total(6 * MIB)],
        threads: vec![2],
        random: Some(RandomAmount::Total(100)),
        runs: Some(1),
        ..TiobenchOptions::default()
    }
}

fn classic() -> TiobenchOptions {
    TiobenchOptions {
        mode: TiobenchMode::Classic { as_was: false },
        ..small()
    }
}

fn tiobench(options: TiobenchOptions) -> Tiobench {
    Tiobench { options }
}

#[test]
fn a_classic_run_does_what_the_driver_asks_for() {
    let folder = testkit::scratch_folder();
    let options = TiobenchOptions {
        sizes: vec![FileSize::Total(7 * MIB)],
        threads: vec![3],
        ..classic()
    };
    let played = play(&tiobench(options), &[folder.path()]);
    let names: Vec<&str> = played
        .only()
        .iter()
        .map(|phase| phase.name.as_str())
        .collect();
    assert_eq!(names, ["write", "random_write", "read", "random_read"]);
    // floor(7 / 3) MiB a thread, floor(100 / 3) random operations a thread.
    for (name, bytes) in [
        ("write", 3 * 2 * MIB),
        ("random_write", 3 * 33 * 4096),
        ("read", 3 * 2 * MIB),
        ("random_read", 3 * 33 * 4096),
    ] {
        let phase = played.phase(name);
        assert_eq!(phase.outcome, PhaseOutcome::Completed);
        assert_eq!(phase.kind, PhaseKind::Measure);
        assert_eq!(value(phase, &metrics::BYTES), bytes as f64, "{name}");
        assert_eq!(
            value(phase, &metrics::OPERATIONS),
            (bytes / 4096) as f64,
            "{name}"
        );
        assert_eq!(phase.workers.len(), 3);
        for metric in [
            metrics::ELAPSED,
            metrics::RATE,
            metrics::CPU_USER,
            metrics::CPU_SYSTEM,
            metrics::LATENCY_MEAN,
            metrics::LATENCY_MAX,
            metrics::LATENCY_OVER_2S,
            metrics::LATENCY_OVER_10S,
            metrics::FAIRNESS,
        ] {
            value(phase, &metric);
        }
    }
    assert_empty(folder.path());
}

/// The final fsync of every file is timed apart from the writes.
#[test]
fn syncs_stand_apart_from_writes() {
    let folder = testkit::scratch_folder();
    let played = play(&tiobench(classic()), &[folder.path()]);
    let count = |name, direction| -> u64 {
        let recordings = played.phase(name).recordings.iter();
        recordings
            .filter(|recording| recording.direction == direction)
            .map(stiction_core::Recording::operations)
            .sum()
    };
    assert_eq!(count("write", Direction::Sync), 2);
    assert_eq!(count("write", Direction::Write), 6 * MIB / 4096);
    assert_eq!(count("random_write", Direction::Sync), 2);
    assert_eq!(count("read", Direction::Sync), 0);
}

/// The default mode reads from the device, not from the cache that the writes left.
#[test]
fn the_default_mode_empties_the_cache_before_each_phase() {
    let folder = testkit::scratch_folder();
    let played = play(&tiobench(small()), &[folder.path()]);
    for name in ["random_write", "read", "random_read"] {
        let phase = played.phase(name);
        let before = phase.witnesses.residency_before.expect("residency");
        assert_eq!(before.cached_bytes, 0, "{name}");
        assert_eq!(before.file_bytes, 6 * MIB, "{name}");
        assert_eq!(phase.caveats, [], "{name}");
    }
    assert_empty(folder.path());
}

#[test]
fn the_classic_mode_leaves_the_cache_alone_unless_asked() {
    let folder = testkit::scratch_folder();
    let played = play(&tiobench(classic()), &[folder.path()]);
    let cached = |played: &stage::Played| {
        let before = played.phase("read").witnesses.residency_before;
        before.expect("residency").cached_bytes
    };
    assert_eq!(cached(&played), 6 * MIB);
    let options = TiobenchOptions {
        flush_caches: true,
        ..classic()
    };
    let played = play(&tiobench(options), &[folder.path()]);
    assert_eq!(cached(&played), 0);
}

#[test]
fn every_combination_is_a_trial() {
    let folder = testkit::scratch_folder();
    let options = TiobenchOptions {
        sizes: vec![FileSize::PerThread(MIB)],
        threads: vec![1, 2],
        block_sizes_bytes: vec![4096, 65_536],
        runs: Some(2),
        ..small()
    };
    let played = play(&tiobench(options), &[folder.path()]);
    assert_eq!(played.trials.len(), 8);
    for (trial, report, phases) in &played.trials {
        assert_eq!(report.outcome, TrialOutcome::Completed);
        let threads = trial.cell.integer("threads").unwrap();
        let block = trial.cell.integer("block_size_bytes").unwrap();
        let write = phase(phases, "write");
        assert_eq!(value(write, &metrics::BYTES), (threads << 20) as f64);
        assert_eq!(
            value(write, &metrics::OPERATIONS),
            ((threads << 20) / block) as f64
        );
    }
    assert_empty(folder.path());
}

#[test]
fn directories_are_used_in_turn_or_all_at_once() {
    let (one, other) = (testkit::scratch_folder(), testkit::scratch_folder());
    let paths = [one.path(), other.path()];
    let played = play(&tiobench(small()), &paths);
    assert_eq!(played.trials.len(), 2);
    let directory = |index: usize| {
        let (trial, ..): &(stiction_core::PlannedTrial, _, _) = &played.trials[index];
        trial.cell.get("directory").map(ToString::to_string)
    };
    assert_ne!(directory(0), directory(1));
    let options = TiobenchOptions {
        directory_use: DirectoryUse::Spread,
        threads: vec![3],
        ..small()
    };
    let played = play(&tiobench(options), &paths);
    assert_eq!(played.only().len(), 4);
    assert_eq!(
        played
            .phase("write")
            .witnesses
            .residency_after
            .unwrap()
            .file_bytes,
        6 * MIB
    );
    assert_empty(one.path());
    assert_empty(other.path());
}

/// The old program read holes when its write phase was left out.
#[test]
fn without_a_write_phase_the_files_are_laid_down_first() {
    let folder = testkit::scratch_folder();
    let options = TiobenchOptions {
        skip: [TiobenchPhase::Write, TiobenchPhase::RandomWrite].into(),
        ..classic()
    };
    let played = play(&tiobench(options), &[folder.path()]);
    let names: Vec<&str> = played
        .only()
        .iter()
        .map(|phase| phase.name.as_str())
        .collect();
    assert_eq!(names, ["lay_down", "read", "random_read"]);
    assert_eq!(played.phase("lay_down").kind, PhaseKind::LayDown);
    assert_eq!(played.phase("read").witnesses.unwritten_bytes, Some(0));
}

#[test]
fn one_writer_at_a_time_means_one_after_another() {
    let folder = testkit::scratch_folder();
    let options = TiobenchOptions {
        threads: vec![3],
        one_writer_at_a_time: true,
        ..classic()
    };
    let played = play(&tiobench(options), &[folder.path()]);
    let workers = &played.phase("write").workers;
    assert_eq!(workers.len(), 3);
    assert!(
        workers
            .windows(2)
            .all(|pair| pair[0].last_ns <= pair[1].first_ns),
        "{workers:?}"
    );
}

#[test]
fn everything_read_can_be_checked() {
    let folder = testkit::scratch_folder();
    for options in [classic(), small()] {
        let options = TiobenchOptions {
            verify: true,
            ..options
        };
        let played = play(&tiobench(options), &[folder.path()]);
        for name in ["read", "random_read"] {
            assert!(played.phase(name).job.as_ref().unwrap().verify);
        }
    }
    assert_empty(folder.path());
}

/// The check of the old program's later versions found nothing, ever.
#[test]
fn what_was_changed_behind_its_back_is_found() {
    let folder = testkit::scratch_folder();
    let flip: &dyn Fn(&mut Vec<u8>) = &|file| file[5000] ^= 1;
    let misplace: &dyn Fn(&mut Vec<u8>) = &|file| file.copy_within(0..4096, 8192);
    for (change, word, block) in [(flip, "flipped", 4096), (misplace, "misplaced", 8192)] {
        let workload = tiobench(TiobenchOptions {
            verify: true,
            ..small()
        });
        let played = play_and(&workload, folder.path(), "read", |_| {
            let own = stage::entries(folder.path()).pop().expect("a directory");
            let path = own.join("data.1");
            let mut file = fs::read(&path).unwrap();
            change(&mut file);
            fs::write(&path, file).unwrap();
        });
        let TrialOutcome::Failed { message } = played.outcome() else {
            panic!("{played:?}");
        };
        assert!(
            message.contains(word) && message.contains(&format!("offset {block}")),
            "{message}"
        );
        let read = played.trials[0].2.last().unwrap();
        assert_eq!(read.caveats[0].code, CaveatCode::DataMismatch);
        assert_empty(folder.path());
    }
}

#[test]
fn files_can_be_mapped_and_writes_can_wait() {
    let folder = testkit::scratch_folder();
    let mapped = TiobenchOptions {
        mmap: true,
        ..classic()
    };
    let waiting = TiobenchOptions {
        write_sync: WriteSync::Sync,
        sizes: vec![FileSize::Total(2 * MIB)],
        block_sizes_bytes: vec![65_536],
        ..classic()
    };
    for options in [mapped, waiting] {
        let played = play(&tiobench(options.clone()), &[folder.path()]);
        let FileSize::Total(bytes) = options.sizes[0] else {
            unreachable!("these sizes are totals")
        };
        assert_eq!(value(played.phase("write"), &metrics::BYTES), bytes as f64);
        assert_eq!(value(played.phase("read"), &metrics::BYTES), bytes as f64);
    }
    assert_empty(folder.path());
}

#[test]
fn a_folder_name_of_blanks_and_odd_bytes_is_as_good_as_any() {
    let folder = testkit::scratch_folder();
    let name = OsString::from_vec(b"two  blanks \xff\xfe'\"\n".to_vec());
    let odd = folder.path().join(name);
    fs::create_dir(&odd).unwrap();
    let played = play(&tiobench(small()), &[&odd]);
    assert_eq!(played.only().len(), 4);
    assert_empty(&odd);
}

/// 2 TiB are refused before anything is written, and the reason has the figures.
#[test]
fn what_does_not_fit_is_a_skipped_cell() {
    let folder = testkit::scratch_folder();
    let options = TiobenchOptions {
        sizes: vec![FileSize::Total(2 << 40), FileSize::Total(2 * MIB)],
        ..classic()
    };
    let played = play(&tiobench(options), &[folder.path()]);
    let (_, report, phases) = &played.trials[0];
    let TrialOutcome::Skipped(reason) = &report.outcome else {
        panic!("{report:?}");
    };
    assert_eq!(reason.code, SkipCode::NoSpace);
    assert!(reason.detail.contains("2 TiB"), "{}", reason.detail);
    assert!(phases.is_empty());
    assert_eq!(played.trials[1].1.outcome, TrialOutcome::Completed);
    assert_empty(folder.path());
}

#[test]
fn a_block_larger_than_a_file_is_a_skipped_cell() {
    let folder = testkit::scratch_folder();
    let options = TiobenchOptions {
        block_sizes_bytes: vec![4096, 4 * MIB],
        ..small()
    };
    let played = play(&tiobench(options), &[folder.path()]);
    let mut outcomes: Vec<_> = played
        .trials
        .iter()
        .map(|(trial, report, _)| (trial.cell.integer("block_size_bytes"), &report.outcome))
        .collect();
    outcomes.sort_by_key(|(block, _)| *block);
    assert_eq!(outcomes[0].1, &TrialOutcome::Completed);
    let TrialOutcome::Skipped(reason) = outcomes[1].1 else {
        panic!("{outcomes:?}");
    };
    assert!(reason.detail.contains("4 MiB"), "{}", reason.detail);
}

#[test]
fn no_cell_begins_after_the_timeout() {
    let folder = testkit::scratch_folder();
    let options = TiobenchOptions {
        timeout_ns: Some(1),
        ..small()
    };
    let played = play(&tiobench(options), &[folder.path()]);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{played:?}");
    };
    assert_eq!(reason.code, SkipCode::OutOfTime);
}

#[test]
fn a_random_phase_takes_the_time_it_is_given() {
    let folder = testkit::scratch_folder();
    let options = TiobenchOptions {
        random: Some(RandomAmount::Duration(200_000_000)),
        skip: [TiobenchPhase::Read, TiobenchPhase::RandomRead].into(),
        ..small()
    };
    let played = play(&tiobench(options), &[folder.path()]);
    let random = played.phase("random_write");
    assert!(random.elapsed_ns >= 200_000_000, "{}", random.elapsed_ns);
    let syncs = random.value(&metrics::SYNC_LATENCY_MEAN);
    assert!(
        syncs.is_some(),
        "buffered random writes are synced on their way"
    );
}

#[test]
fn a_missing_directory_is_a_skipped_trial_that_says_so() {
    let folder = testkit::scratch_folder();
    let environment = stage::environment(&[folder.path()]);
    let places = [Place::Directory(folder.path().join("not there"))];
    let stop = StopFlag::new();
    let played = stage::play_on(&tiobench(small()), &places, &environment, &stop);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{played:?}");
    };
    assert!(reason.detail.contains("not there"), "{}", reason.detail);
}

#[test]
fn a_raised_stop_leaves_the_remaining_cells_out() {
    let folder = testkit::scratch_folder();
    let environment = stage::environment(&[folder.path()]);
    let places = [Place::Directory(folder.path().to_owned())];
    let stop = StopFlag::new();
    stop.raise();
    let played = stage::play_on(&tiobench(small()), &places, &environment, &stop);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{played:?}");
    };
    assert_eq!(reason.code, SkipCode::Interrupted);
    assert_empty(folder.path());
}

/// A plan from a file gives the same run: the workload's own options do not matter.
#[test]
fn a_stored_plan_replays_by_itself() {
    let folder = testkit::scratch_folder();
    let environment = stage::environment(&[folder.path()]);
    let plan = tiobench(classic())
        .plan(stiction_core::Seed(1), &environment)
        .unwrap();
    let text = serde_json::to_string(&plan).unwrap();
    let read: stiction_core::Plan = serde_json::from_str(&text).unwrap();
    let places = [Place::Directory(folder.path().to_owned())];
    let played = stage::perform(
        &Tiobench::default(),
        &read,
        &places,
        &environment,
        &StopFlag::new(),
    );
    assert_eq!(played.plan, plan);
    assert_eq!(
        value(played.phase("write"), &metrics::BYTES),
        (6 * MIB) as f64
    );
}

#[test]
fn a_quick_one_is_small_and_once_and_what_is_asked_for_stands() {
    let folder = testkit::scratch_folder();
    let machine = stage::environment(&[folder.path()]);
    let planned = |options| tiobench(options).plan(Seed(1), &machine);
    let quick = TiobenchOptions {
        quick: true,
        ..TiobenchOptions::default()
    };
    let plan = planned(quick.clone()).unwrap();
    let levels = |plan: &Plan, factor: &str| -> Vec<i64> {
        let cells = plan.trials.iter().map(|trial| &trial.cell);
        let mut levels: Vec<i64> = cells.map(|cell| cell.integer(factor).unwrap()).collect();
        levels.sort_unstable();
        levels
    };
    assert_eq!(levels(&plan, "threads"), [1, 4]);
    assert!(levels(&plan, "file_size_bytes")[0] <= 256 * MIB as i64);
    assert_eq!(plan.parameters["random"]["duration_ns"], 1_000_000_000);
    let asked = TiobenchOptions {
        threads: vec![2],
        sizes: vec![FileSize::Total(512 * MIB)],
        runs: Some(2),
        ..quick.clone()
    };
    let plan = planned(asked).unwrap();
    assert_eq!(levels(&plan, "threads"), [2, 2]);
    assert_eq!(levels(&plan, "file_size_bytes")[0], 512 * MIB as i64);
    let classic = TiobenchOptions {
        mode: TiobenchMode::Classic { as_was: false },
        ..quick
    };
    let error = planned(classic).unwrap_err();
    assert!(error.to_string().starts_with("quick: "), "{error}");
}
