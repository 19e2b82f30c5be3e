//! tree-move on real directories and between real filesystems.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use stiction_core::{PhaseKind, SkipCode, TrialOutcome, metrics};
use stiction_suite::tree_move::Generated;
use stiction_suite::{TreeMove, TreeMoveOptions};
use testkit::scratch_folder;

use crate::stage::{Played, assert_empty, play, value};

fn small() -> TreeMoveOptions {
    TreeMoveOptions {
        generated: Some(Generated {
            files: 60,
            directories: 7,
            bytes: 300_000,
        }),
        same_filesystem: true,
        runs: Some(1),
        ..TreeMoveOptions::default()
    }
}

fn moved(options: TreeMoveOptions, places: &[&Path]) -> Played {
    play(&TreeMove { options }, places)
}

fn names(played: &Played) -> Vec<&str> {
    let phases = played.only().iter();
    phases.map(|phase| phase.name.as_str()).collect()
}

#[test]
fn a_round_copies_deletes_and_syncs_each_way() {
    let (from, to) = (scratch_folder(), scratch_folder());
    let played = moved(small(), &[from.path(), to.path()]);
    assert_eq!(
        names(&played),
        [
            "lay_down",
            "copy_out",
            "delete_out",
            "sync_out",
            "copy_back",
            "delete_back",
            "sync_back",
            "verify"
        ]
    );
    for name in ["copy_out", "copy_back"] {
        let phase = played.phase(name);
        assert_eq!(value(phase, &metrics::OPERATIONS), 60.0);
        assert_eq!(value(phase, &metrics::BYTES), 300_000.0);
    }
    assert_eq!(
        value(played.phase("delete_out"), &metrics::OPERATIONS),
        60.0
    );
    assert_eq!(played.phase("sync_out").workers[0].operations, 2);
    assert_eq!(played.phase("verify").kind, PhaseKind::Verify);
    assert_empty(from.path());
    assert_empty(to.path());
}

#[test]
fn the_classic_rounds_follow_each_other_and_sync_at_the_end() {
    let (from, to) = (scratch_folder(), scratch_folder());
    let options = TreeMoveOptions {
        classic: true,
        rounds: Some(2),
        ..small()
    };
    let played = moved(options, &[from.path(), to.path()]);
    let round = ["copy_out", "delete_out", "copy_back", "delete_back"];
    let expected: Vec<&str> = std::iter::once("lay_down")
        .chain(round)
        .chain(round)
        .chain(["sync", "verify"])
        .collect();
    assert_eq!(names(&played), expected);
}

/// On one filesystem mv renames, and that is not what is measured.
#[test]
fn one_filesystem_is_refused_unless_asked_for() {
    let (from, to) = (scratch_folder(), scratch_folder());
    let options = TreeMoveOptions {
        same_filesystem: false,
        ..small()
    };
    let played = moved(options, &[from.path(), to.path()]);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{:?}", played.outcome());
    };
    assert_eq!(reason.code, SkipCode::UnsafeTarget);
    assert!(reason.detail.contains("same filesystem"));
    assert_empty(from.path());
}

#[test]
fn a_tree_of_the_users_is_copied_and_left_alone() {
    let (from, to, theirs) = (scratch_folder(), scratch_folder(), scratch_folder());
    let tree = theirs.path().join("tree");
    fs::create_dir_all(tree.join("a/b")).unwrap();
    fs::write(tree.join("a/one"), vec![1; 200_000]).unwrap();
    fs::write(tree.join("a/b/empty"), "").unwrap();
    symlink("../a/one", tree.join("a/link")).unwrap();
    let options = TreeMoveOptions {
        copies_tree: true,
        generated: None,
        ..small()
    };
    let played = moved(options, &[from.path(), to.path(), &tree]);
    let phase = played.phase("copy_out");
    assert_eq!(
        value(phase, &metrics::OPERATIONS),
        3.0,
        "two files and a link"
    );
    assert_eq!(value(phase, &metrics::BYTES), 200_000.0);
    assert_eq!(fs::read(tree.join("a/one")).unwrap(), vec![1; 200_000]);
    assert_eq!(
        fs::read_link(tree.join("a/link")).unwrap(),
        Path::new("../a/one")
    );
    assert_empty(from.path());
}

/// A pipe would be waited for; a device might do anything.
#[test]
fn a_tree_with_other_things_in_it_fails_and_names_them() {
    let (from, to, theirs) = (scratch_folder(), scratch_folder(), scratch_folder());
    let pipe = theirs.path().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let options = TreeMoveOptions {
        copies_tree: true,
        generated: None,
        ..small()
    };
    let played = moved(options, &[from.path(), to.path(), theirs.path()]);
    let TrialOutcome::Failed { message } = played.outcome() else {
        panic!("{:?}", played.outcome());
    };
    assert!(message.contains("pipe"), "{message}");
    assert_empty(from.path());
    assert!(pipe.exists());
}

#[test]
fn root_between_two_filesystems_every_file_comes_back() {
    testkit::require_root!();
    let ext4 = testkit::LoopFilesystem::new(testkit::LoopKind::Ext4, 64 << 20);
    let ext2 = testkit::LoopFilesystem::new(testkit::LoopKind::Ext2, 64 << 20);
    let options = TreeMoveOptions {
        same_filesystem: false,
        ..small()
    };
    let played = moved(options, &[ext4.path(), ext2.path()]);
    assert_eq!(names(&played).last(), Some(&"verify"));
    assert_empty(ext4.path());
    assert_empty(ext2.path());
}

#[test]
fn a_tree_is_not_copied_into_itself_and_may_be_named_by_a_link() {
    let (tree, from, to) = (scratch_folder(), scratch_folder(), scratch_folder());
    let inner = tree.path().join("inner");
    fs::create_dir(&inner).unwrap();
    fs::write(inner.join("file"), "kept").unwrap();
    let options = || TreeMoveOptions {
        generated: None,
        copies_tree: true,
        ..small()
    };
    for places in [[tree.path(), to.path()], [from.path(), inner.as_path()]] {
        let played = moved(options(), &[places[0], places[1], tree.path()]);
        let TrialOutcome::Skipped(reason) = played.outcome() else {
            panic!("{:?}", played.outcome());
        };
        assert_eq!(reason.code, SkipCode::UnsafeTarget);
        assert!(reason.detail.contains("into itself"), "{}", reason.detail);
    }
    let link = from.path().join("link");
    symlink(tree.path(), &link).unwrap();
    let played = moved(options(), &[from.path(), to.path(), &link]);
    assert_eq!(played.outcome(), &TrialOutcome::Completed);
    assert_eq!(fs::read_to_string(inner.join("file")).unwrap(), "kept");
}
