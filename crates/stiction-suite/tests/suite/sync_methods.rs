//! sync-methods on real files.

use stiction_core::{Direction, Recording, TrialOutcome};
use stiction_suite::sync_methods::{SyncMethod, SyncTest};
use stiction_suite::{SyncMethods, SyncMethodsOptions};
use testkit::scratch_folder;

use crate::stage::{assert_empty, play};

/// Each operation is its writes and, where a call makes them durable, one sync.
#[test]
fn an_operation_is_its_writes_and_a_sync() {
    let folder = scratch_folder();
    let options = SyncMethodsOptions {
        test_ns: Some(10_000_000),
        ..SyncMethodsOptions::default()
    };
    let played = play(&SyncMethods { options }, &[folder.path()]);
    assert_eq!(played.outcome(), &TrialOutcome::Completed);
    let measured = played.only().iter().filter(|phase| phase.has_numbers());
    let mut seen = 0;
    for phase in measured.filter(|phase| phase.name != "lay_down") {
        let test = SyncTest::named(&phase.name).unwrap();
        let count = |direction| phase.recording(direction).map_or(0, Recording::operations);
        let operations = count(Direction::Whole);
        assert!(operations > 0, "{}", phase.name);
        assert_eq!(count(Direction::Write), operations * u64::from(test.writes));
        use SyncMethod as M;
        let syncs = match test.method {
            M::Unsynced | M::OpenDatasync | M::OpenSync | M::RwfDsync | M::RwfSync => 0,
            _ => operations,
        };
        assert_eq!(count(Direction::Sync), syncs, "{}", phase.name);
        let opens = match test.method {
            M::SyncBeforeClose | M::SyncByAnother => 2 * operations,
            _ => 0,
        };
        assert_eq!(count(Direction::Open), opens, "{}", phase.name);
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
    assert_empty(folder.path());
}

/// pg_test_fsync has four calls for one and two writes on Linux, five sizes, two orders of
/// closing, and one write without.
#[test]
fn the_classic_tests_are_those_of_pg_test_fsync() {
    assert_eq!(SyncTest::all(true).len(), 4 + 4 + 5 + 2 + 1);
    let sixteen = SyncTest::all(true).into_iter().skip(8).take(5);
    for test in sixteen {
        assert_eq!(u64::from(test.writes) * test.write_bytes, 16 << 10);
        assert_eq!(test.method, SyncMethod::OpenSync);
    }
}
