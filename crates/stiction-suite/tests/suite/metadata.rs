//! metadata on real directories.

use stiction_core::{Direction, Phase, Recording, TrialOutcome, metrics};
use stiction_suite::metadata::SyncStyle;
use stiction_suite::{Metadata, MetadataOptions};
use testkit::scratch_folder;

use crate::stage::{Played, assert_empty, play, value};

fn played(options: MetadataOptions) -> Played {
    let folder = scratch_folder();
    let played = play(&Metadata { options }, &[folder.path()]);
    assert_eq!(played.outcome(), &TrialOutcome::Completed);
    assert_empty(folder.path());
    played
}

/// Two workers of 7 files each, in trees of 7 directories.
fn small() -> MetadataOptions {
    MetadataOptions {
        files: Some(14),
        workers: Some(2),
        depth: Some(2),
        branch: Some(2),
        ..MetadataOptions::default()
    }
}

fn done(played: &Played) -> Vec<(&str, f64)> {
    let phases = played.only().iter();
    phases
        .map(|phase| (phase.name.as_str(), value(phase, &metrics::OPERATIONS)))
        .collect()
}

fn calls(phase: &Phase, direction: Direction) -> u64 {
    phase.recording(direction).map_or(0, Recording::operations)
}

#[test]
fn every_call_is_made_for_every_file_and_directory() {
    let expected = |trees: f64| {
        [
            ("make_directories", 7.0 * trees),
            ("create", 14.0),
            ("stat", 14.0),
            ("open", 14.0),
            ("list", 14.0),
            ("link", 14.0),
            ("rename", 14.0),
            // Both names.
            ("unlink", 28.0),
            ("remove_directories", 7.0 * trees),
        ]
    };
    assert_eq!(done(&played(small())), expected(2.0));
    let shared = MetadataOptions {
        shared: true,
        shift: 1,
        ..small()
    };
    assert_eq!(done(&played(shared)), expected(1.0));
    let shifted = MetadataOptions {
        shift: 1,
        file_bytes: Some(5000),
        ..small()
    };
    let played = played(shifted);
    assert_eq!(value(played.phase("create"), &metrics::BYTES), 70_000.0);
}

#[test]
fn files_may_be_in_the_lowest_directories_alone() {
    let leaves = MetadataOptions {
        leaves: true,
        ..small()
    };
    // Four of seven directories have files; each worker lists its own.
    assert_eq!(
        value(played(leaves).phase("list"), &metrics::OPERATIONS),
        8.0
    );
}

/// By fs_mark's manual: how many files are synced by the maker, how often a filesystem,
/// and how many files afterwards.
#[test]
fn styles_of_sync_are_those_of_fs_mark() {
    let expected = [
        (0, 0, 0),
        (14, 0, 0),
        (0, 1, 2),
        (0, 0, 14),
        (0, 1, 14),
        (0, 0, 14),
        (0, 1, 14),
    ];
    for (sync, expected) in SyncStyle::ALL.into_iter().zip(expected) {
        let played = played(MetadataOptions { sync, ..small() });
        let of = |name: &str| {
            let mut phases = played.only().iter();
            let phase = phases.find(|phase| phase.name == name);
            phase.map_or(0, |phase| calls(phase, Direction::Sync))
        };
        let seen = (of("create"), of("sync_filesystem"), of("sync_files"));
        assert_eq!(seen, expected, "style {}", sync.number());
    }
}
