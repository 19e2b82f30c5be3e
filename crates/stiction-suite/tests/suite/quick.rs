//! quick on real files.

use std::path::Path;

use crate::stage::{self, Played, assert_empty, play, play_and, value};
use stiction_core::{Caveat, CaveatCode, Direction, PhaseOutcome, TrialOutcome, metrics};
use stiction_engine::StopFlag;
use stiction_suite::quick::QuickOptions;
use stiction_suite::{Quick, SuiteError, Workload as _};

const MIB: u64 = 1 << 20;
pub(crate) const PHASES: [&str; 7] = [
    "sequential_write",
    "sequential_read",
    "random_read_depth_1",
    "random_read_deep",
    "random_write_depth_1",
    "random_write_deep",
    "commit",
];

/// A few seconds and a little file.
pub(crate) fn quick() -> Quick {
    Quick {
        options: QuickOptions {
            seconds: 4,
            size_bytes: Some(16 * MIB),
            ..QuickOptions::default()
        },
    }
}

pub(crate) fn has(caveats: &[Caveat], code: CaveatCode) -> bool {
    caveats.iter().any(|caveat| caveat.code == code)
}

pub(crate) fn names(played: &Played) -> Vec<&str> {
    played
        .only()
        .iter()
        .map(|phase| phase.name.as_str())
        .collect()
}

#[test]
fn seven_phases_on_one_file_and_nothing_is_left() {
    let folder = testkit::scratch_folder();
    let played = play(&quick(), &[folder.path()]);
    assert_eq!(names(&played), PHASES);
    for phase in played.only() {
        assert_eq!(phase.outcome, PhaseOutcome::Completed, "{phase:#?}");
        assert!(value(phase, &metrics::RATE) > 0.0);
        assert!(value(phase, &metrics::LATENCY_MAX) > 0.0);
    }
    // On a slow disk the time for writing may run out before the file has its size.
    let written = value(played.phase("sequential_write"), &metrics::BYTES) as u64;
    assert!((MIB..=16 * MIB).contains(&written), "{written}");
    for phase in &played.only()[1..] {
        let job = phase.job.as_ref().unwrap();
        let reach = job
            .regions
            .iter()
            .map(|region| region.offset_bytes + region.length_bytes);
        let reach = reach.max().unwrap();
        assert!(
            reach <= written && reach + 32 * 4096 > written,
            "{}: {reach} of {written}",
            phase.name
        );
        assert_eq!(phase.witnesses.unwritten_bytes, Some(0), "{}", phase.name);
    }
    assert_empty(folder.path());
}

#[test]
fn a_commit_is_a_write_and_a_sync_each() {
    let folder = testkit::scratch_folder();
    let played = play(&quick(), &[folder.path()]);
    let commit = played.phase("commit");
    let count = |direction| -> u64 {
        let recordings = commit.recordings.iter();
        recordings
            .filter(|recording| recording.direction == direction)
            .map(stiction_core::Recording::operations)
            .sum()
    };
    assert!(count(Direction::Commit) > 0);
    assert_eq!(count(Direction::Commit), count(Direction::Write));
    assert_eq!(count(Direction::Commit), count(Direction::Sync));
    let pair = value(commit, &metrics::LATENCY_MEAN);
    assert!(pair > value(commit, &metrics::SYNC_LATENCY_MEAN));
}

/// Memory cannot be read past the cache: the phases say so, and go on.
/// No time limit is given to a test here; the phases' own times are added up.
#[test]
fn phases_keep_to_the_time() {
    let folder = testkit::scratch_folder();
    let played = play(&quick(), &[folder.path()]);
    let last = played.only().last().unwrap();
    let asked_ns: u64 = played
        .only()
        .iter()
        .filter_map(|phase| phase.job.as_ref()?.duration_ns)
        .sum();
    assert!(asked_ns <= 4_000_000_000, "{asked_ns}");
    assert!(last.start_ns > 0);
}

#[test]
fn a_stop_keeps_what_is_finished_and_cleans_up() {
    let folder = testkit::scratch_folder();
    let played = play_and(&quick(), folder.path(), "random_read_deep", StopFlag::raise);
    assert_eq!(played.outcome(), &TrialOutcome::Interrupted);
    let phases = &played.trials[0].2;
    assert_eq!(phases.len(), 4);
    assert_eq!(phases[2].outcome, PhaseOutcome::Completed);
    assert!(
        has(&phases[3].caveats, CaveatCode::Interrupted),
        "{:#?}",
        phases[3]
    );
    assert_empty(folder.path());
}

#[test]
fn seconds_out_of_range_are_refused() {
    let environment = stage::environment(&[Path::new("/var/tmp")]);
    for seconds in [0, 3601] {
        let quick = Quick {
            options: QuickOptions {
                seconds,
                ..QuickOptions::default()
            },
        };
        let plan = quick.plan(stiction_core::Seed(1), &environment);
        assert!(
            matches!(
                plan,
                Err(SuiteError::Option {
                    option: "seconds",
                    ..
                })
            ),
            "{plan:?}"
        );
    }
}
