//! Filesystems that are aged for a trial.

use stiction_core::{Applied, Seed};
use testkit::scratch_folder;

use crate::{MIB, alterations, assert_clean, journal, made, of};

/// What aging came to: a figure before and after.
fn moved(applied: &Applied, name: &str) -> Option<(u64, u64)> {
    let moved = applied.also_changed.iter().find(|one| one.name == name)?;
    Some((moved.before.parse().unwrap(), moved.after.parse().unwrap()))
}

#[test]
fn root_an_aged_filesystem_is_full_and_its_free_space_in_pieces() {
    testkit::require_root!();
    testkit::require_program!("mkfs.xfs");
    testkit::require_program!("mkfs.btrfs");
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    for (filesystem, size) in [("ext2", 16), ("ext4", 32), ("xfs", 300), ("btrfs", 256)] {
        let settings = [("filesystem", filesystem), ("file_age", "70%x0.5")];
        let altered = alterations(&settings, size * MIB).make(top.path(), Seed(1), &undo);
        let altered = altered.unwrap();
        let applied = of(&altered, "file_age");
        assert!(applied.is_in_force(), "{filesystem}: {applied:?}");
        let full = rustix::fs::statvfs(altered.directory().unwrap()).unwrap();
        let used = 1.0 - full.f_bfree as f64 / full.f_blocks as f64;
        assert!((used - 0.7).abs() < 0.02, "{filesystem}: {used}");
        if filesystem != "btrfs" {
            let (before, after) = moved(applied, "free_runs").unwrap();
            assert!(after > 5 * before, "{filesystem}: {applied:?}");
            let (before, after) = moved(applied, "free_run_bytes_largest").unwrap();
            assert!(after < before / 2, "{filesystem}: {applied:?}");
        }
        altered.undo().unwrap();
        assert!(undo.open_changes().is_empty());
    }
    let none = [("file_age", "none")];
    let altered = made(&none, top.path(), &undo);
    assert!(of(&altered, "file_age").is_in_force());
    altered.undo().unwrap();
    let in_memory = [("filesystem", "tmpfs"), ("file_age", "50%")];
    let error = alterations(&in_memory, 64 * MIB)
        .make(top.path(), Seed(1), &undo)
        .unwrap_err();
    assert!(error.skip_reason().is_some(), "{error}");
    drop(undo);
    assert_clean(top.path());
}

/// The same seed has the same files laid, and on ext4 in the same places.
#[test]
fn root_age_follows_from_the_seed() {
    testkit::require_root!();
    let top = scratch_folder();
    let undo = journal(&top.path().join("state"));
    let aged = |seed| {
        let settings = [("filesystem", "ext4"), ("file_age", "60%x0.5")];
        let altered = alterations(&settings, 128 * MIB).make(top.path(), Seed(seed), &undo);
        let altered = altered.unwrap();
        let applied = of(&altered, "file_age").clone();
        altered.undo().unwrap();
        applied
    };
    let one = aged(1);
    assert_eq!(one, aged(1));
    assert_ne!(one, aged(2));
}
