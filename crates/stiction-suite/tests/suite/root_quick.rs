//! quick on filesystems that take root to make: in memory, tiny, without room.

use crate::quick::{PHASES, has, names, quick};
use crate::stage::{self, assert_empty, play, value};
use stiction_core::{CaveatCode, SkipCode, metrics};
use stiction_suite::quick::QuickOptions;
use stiction_suite::{Quick, SuiteError, Workload as _};
use testkit::{LoopFilesystem, LoopKind, TmpfsMount};

const MIB: u64 = 1 << 20;

#[test]
fn on_tmpfs_every_read_says_that_the_cache_stayed() {
    testkit::require_root!();
    let tmpfs = TmpfsMount::new(64 * MIB);
    let played = play(&quick(), &[tmpfs.path()]);
    assert_eq!(names(&played), PHASES);
    for name in ["sequential_read", "random_read_depth_1", "random_read_deep"] {
        let phase = played.phase(name);
        assert!(
            has(&phase.caveats, CaveatCode::CacheNotDropped),
            "{phase:#?}"
        );
        assert!(!phase.job.as_ref().unwrap().direct);
        let before = phase.witnesses.residency_before.unwrap();
        assert_eq!(before.cached_bytes, before.file_bytes);
    }
    assert_empty(tmpfs.path());
}

#[test]
fn a_file_system_of_a_few_mebibytes_is_enough() {
    testkit::require_root!();
    testkit::require_program!("mkfs.ext2");
    let small = LoopFilesystem::new(LoopKind::Ext2, 4 * MIB);
    let quick = Quick {
        options: QuickOptions {
            seconds: 3,
            ..QuickOptions::default()
        },
    };
    let played = play(&quick, &[small.path()]);
    assert_eq!(names(&played), PHASES);
    let bytes = value(played.phase("sequential_write"), &metrics::BYTES);
    assert!((1e6..2e6).contains(&bytes), "{bytes}");
    assert_empty(small.path());
}

#[test]
fn no_room_is_refused_before_anything_is_made() {
    testkit::require_root!();
    let tmpfs = TmpfsMount::new(128 << 10);
    let environment = stage::environment(&[tmpfs.path()]);
    let quick = Quick::default();
    match quick.plan(stiction_core::Seed(1), &environment) {
        Err(SuiteError::Refused(reason)) => {
            assert_eq!(reason.code, SkipCode::NoSpace);
            assert!(reason.detail.contains("256 KiB"), "{}", reason.detail);
        }
        other => panic!("{other:?}"),
    }
    assert_empty(tmpfs.path());
}

/// ext4 takes O_DIRECT and goes through the page cache all the same when it journals
/// data.
#[test]
fn where_direct_io_is_a_word_alone_reads_follow_an_emptied_cache() {
    testkit::require_root!();
    let options = "data=journal";
    let filesystem = LoopFilesystem::with_options(LoopKind::Ext4, 256 * MIB, options);
    let played = play(&quick(), &[filesystem.path()]);
    assert_eq!(names(&played), PHASES);
    for name in ["sequential_read", "random_read_depth_1", "random_read_deep"] {
        let phase = played.phase(name);
        assert!(!phase.job.as_ref().unwrap().direct);
        assert!(
            has(&phase.caveats, CaveatCode::DirectNotEffective),
            "{phase:#?}"
        );
        assert_eq!(phase.witnesses.residency_before.unwrap().cached_bytes, 0);
    }
    assert_empty(filesystem.path());
}
