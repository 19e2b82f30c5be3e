//! write-and-fsync and time-read on real files.

use std::fs;
use std::path::Path;

use stiction_core::{Data, Direction, Phase, SyncKind, metrics};
use stiction_engine::StopFlag;
use stiction_suite::time_read::CacheState;
use stiction_suite::write_and_fsync::{Before, SyncPolicy, WriteAmount};
use stiction_suite::{Place, TimeRead, TimeReadOptions, WriteAndFsync, WriteAndFsyncOptions};
use testkit::scratch_folder;

use crate::stage::{Played, assert_empty, environment, play, play_on, value};

const MIB: u64 = 1 << 20;

fn operations(phase: &Phase, direction: Direction) -> u64 {
    let of = phase
        .recordings
        .iter()
        .find(|one| one.direction == direction);
    of.map_or(0, stiction_core::Recording::operations)
}

fn write(options: WriteAndFsyncOptions, directories: &[&Path]) -> Played {
    play(&WriteAndFsync { options }, directories)
}

fn sized(bytes: u64) -> WriteAndFsyncOptions {
    WriteAndFsyncOptions {
        amount: Some(WriteAmount::Bytes(bytes)),
        runs: Some(1),
        ..WriteAndFsyncOptions::default()
    }
}

#[test]
fn each_directory_has_a_file_and_a_worker_of_its_own() {
    let (one, other) = (scratch_folder(), scratch_folder());
    let played = write(sized(3 * MIB), &[one.path(), other.path()]);
    let phase = played.phase("write");
    assert_eq!(value(phase, &metrics::BYTES), (6 * MIB) as f64);
    assert_eq!(phase.workers.len(), 2);
    assert_eq!(operations(phase, Direction::Write), 6);
    assert_eq!(operations(phase, Direction::Sync), 2, "an fsync each");
    let written_s = value(phase, &metrics::UNTIL_WRITTEN);
    assert!(written_s > 0.0 && written_s < value(phase, &metrics::ELAPSED));
    assert_empty(one.path());
    assert_empty(other.path());
}

/// 2 MiB in pieces of 768 KiB, as the old program cuts them: 768, 256, 768, 256.
#[test]
fn the_old_program_writes_zeros_and_syncs_nothing() {
    let folder = scratch_folder();
    let options = WriteAndFsyncOptions {
        classic: true,
        chunk_bytes: Some(768 * 1024),
        ..sized(2 * MIB)
    };
    let played = write(options, &[folder.path()]);
    let phase = played.phase("write");
    assert_eq!(operations(phase, Direction::Write), 4);
    assert_eq!(value(phase, &metrics::BYTES), (2 * MIB) as f64);
    assert_eq!(operations(phase, Direction::Sync), 0);
    assert_eq!(phase.value(&metrics::UNTIL_WRITTEN), None);
    assert_eq!(phase.job.as_ref().unwrap().data, Data::Zeros);
}

#[test]
fn syncs_on_the_way_and_overwrites_are_counted() {
    let folder = scratch_folder();
    let options = WriteAndFsyncOptions {
        amount: Some(WriteAmount::Writes(10)),
        chunk_bytes: Some(4096),
        sync: Some(SyncPolicy::Every {
            writes: 4,
            kind: SyncKind::Fdatasync,
        }),
        before: Before::Written,
        files: Some(3),
        ..sized(0)
    };
    let played = write(options, &[folder.path()]);
    let names: Vec<_> = played.only().iter().map(|phase| &*phase.name).collect();
    assert_eq!(names, ["lay_down", "write"]);
    let phase = played.phase("write");
    assert_eq!(operations(phase, Direction::Write), 30);
    assert_eq!(operations(phase, Direction::Sync), 9, "after 4, 8 and 10");
    assert_empty(folder.path());
}

fn read_existing(options: TimeReadOptions, path: &Path) -> Played {
    let bytes = fs::metadata(path).unwrap().len();
    let options = TimeReadOptions {
        existing_bytes: Some(bytes),
        runs: Some(1),
        ..options
    };
    let places = [Place::File(path.to_owned())];
    let environment = environment(&[path]);
    play_on(
        &TimeRead { options },
        &places,
        &environment,
        &StopFlag::new(),
    )
}

/// 100 KiB and a bit: 24 whole overlapping reads of 8 KiB every 4 KiB, 12 apart.
#[test]
fn a_file_of_the_users_is_read_and_left_alone() {
    let folder = scratch_folder();
    let path = folder.path().join("theirs");
    let content = vec![7; 100 * 1024 + 5];
    fs::write(&path, &content).unwrap();
    let reads = |options| {
        let played = read_existing(options, &path);
        operations(played.phase("read"), Direction::Read)
    };
    let classic = TimeReadOptions {
        classic: true,
        ..TimeReadOptions::default()
    };
    assert_eq!(reads(classic), 24);
    assert_eq!(reads(TimeReadOptions::default()), 12);
    let strided = TimeReadOptions {
        hop_bytes: Some(50 * 1024),
        ..TimeReadOptions::default()
    };
    assert_eq!(reads(strided), 2);
    let touched = TimeReadOptions {
        mmap: true,
        cache: Some(CacheState::Warm),
        passes: Some(3),
        ..TimeReadOptions::default()
    };
    assert_eq!(reads(touched), 75);
    assert_eq!(fs::read(&path).unwrap(), content);
}

#[test]
fn the_cache_is_as_asked() {
    let folder = scratch_folder();
    for (cache, share) in [(CacheState::Cold, 0.0), (CacheState::Warm, 1.0)] {
        let options = TimeReadOptions {
            size_bytes: Some(4 * MIB),
            buffer_offsets_bytes: vec![24],
            cache: Some(cache),
            runs: Some(1),
            ..TimeReadOptions::default()
        };
        let played = play(&TimeRead { options }, &[folder.path()]);
        let phase = played.phase("read");
        assert_eq!(value(phase, &metrics::BYTES), (4 * MIB) as f64);
        let before = phase.witnesses.residency_before.unwrap();
        assert_eq!(before.fraction(), share, "{cache:?}");
    }
    assert_empty(folder.path());
}
