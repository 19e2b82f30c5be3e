//! write-and-fsync, time-read and their relatives on real files.

use std::fs;
use std::path::Path;

use stiction_core::{Access, Data, Direction, Phase, SyncKind, metrics};
use stiction_engine::StopFlag;
use stiction_suite::parallel::{Targets, Ways};
use stiction_suite::time_read::CacheState;
use stiction_suite::write_and_fsync::{Before, SyncPolicy, WriteAmount};
use stiction_suite::{
    Ladder, LadderOptions, Pagecache, PagecacheOptions, Parallel, ParallelOptions, Place, TimeRead,
    TimeReadOptions, WriteAndFsync, WriteAndFsyncOptions,
};
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

fn parallel(targets: Targets, ways: Option<Ways>) -> Parallel {
    Parallel {
        options: ParallelOptions {
            classic: false,
            targets,
            ways,
            size_bytes: Some(2 * MIB),
            block_size_bytes: Some(64 << 10),
            access: Access::Sequential,
            depth: 1,
            direct: false,
            duration_ns: None,
            runs: Some(1),
            quick: false,
            may_fill: false,
        },
    }
}

#[test]
fn parallel_gives_each_target_a_worker() {
    let folders = [scratch_folder(), scratch_folder(), scratch_folder()];
    let [one, two, three] = &folders;
    let paths = [one.path(), two.path(), three.path()];
    let played = play(&parallel(Targets::Directories, None), &paths);
    for name in ["write", "read"] {
        let phase = played.phase(name);
        let moved: Vec<u64> = phase.workers.iter().map(|worker| worker.bytes).collect();
        assert_eq!(moved, [2 * MIB; 3], "{name}");
    }
    let cached = played.phase("read").witnesses.residency_before.unwrap();
    assert_eq!(cached.cached_bytes, 0);
    let alone = play(&parallel(Targets::Directories, Some(Ways::Read)), &paths);
    let names: Vec<_> = alone.only().iter().map(|phase| &*phase.name).collect();
    assert_eq!(names, ["lay_down", "read"]);
    paths.into_iter().for_each(assert_empty);
}

#[test]
fn parallel_reads_files_of_the_users_to_their_ends() {
    let folder = scratch_folder();
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    fs::write(&paths[0], vec![1; 1 << 20]).unwrap();
    fs::write(&paths[1], vec![2; 300 << 10]).unwrap();
    let targets = Targets::Existing(vec![1 << 20, 300 << 10]);
    let places = paths.clone().map(Place::File);
    let environment = environment(&[&paths[0], &paths[1]]);
    let played = play_on(
        &parallel(targets, None),
        &places,
        &environment,
        &StopFlag::new(),
    );
    let moved: Vec<u64> = played
        .phase("read")
        .workers
        .iter()
        .map(|worker| worker.bytes)
        .collect();
    assert_eq!(moved, [1 << 20, 256 << 10]);
}

#[test]
fn pagecache_finds_its_files_in_memory_in_every_phase() {
    let folder = scratch_folder();
    let options = PagecacheOptions {
        size_bytes: Some(2 * MIB),
        phase_ns: Some(20_000_000),
        ..PagecacheOptions::default()
    };
    let played = play(&Pagecache { options }, &[folder.path()]);
    let names: Vec<_> = played.only().iter().map(|phase| &*phase.name).collect();
    assert_eq!(
        names,
        [
            "lay_down",
            "prime",
            "empty_loop",
            "sequential_read",
            "sequential_peek",
            "sequential_splice",
            "sequential_touch",
            "random_read",
            "random_peek",
            "random_splice",
            "random_touch",
        ]
    );
    for phase in &played.only()[2..] {
        let before = phase.witnesses.residency_before.unwrap();
        assert_eq!(before.fraction(), 1.0, "{}", phase.name);
        let operations = value(phase, &metrics::OPERATIONS);
        let each = if phase.name.ends_with("peek") {
            64.0
        } else {
            4096.0
        };
        assert_eq!(
            value(phase, &metrics::BYTES),
            operations * each,
            "{}",
            phase.name
        );
    }
    assert_empty(folder.path());
}

#[test]
fn the_pagecache_test_of_2002_reads_ten_times() {
    let folder = scratch_folder();
    let options = PagecacheOptions {
        classic: true,
        workers: Some(2),
        size_bytes: Some(MIB),
        ..PagecacheOptions::default()
    };
    let played = play(&Pagecache { options }, &[folder.path()]);
    let phase = played.phase("random_read");
    assert_eq!(value(phase, &metrics::BYTES), (20 * MIB) as f64);
}

#[test]
fn the_ladder_reads_the_same_at_each_rung() {
    let folder = scratch_folder();
    for access in [Access::Sequential, Access::RandomPermutation] {
        let options = LadderOptions {
            size_bytes: Some(2 * MIB),
            access,
            runs: Some(1),
            ..LadderOptions::default()
        };
        let played = play(&Ladder { options }, &[folder.path()]);
        for rung in ["cached", "uncached", "mmap", "direct", "io_uring"] {
            let phase = played.phase(rung);
            assert_eq!(value(phase, &metrics::BYTES), (2 * MIB) as f64, "{rung}");
            let cached = phase.witnesses.residency_before.unwrap().fraction();
            assert_eq!(cached, if rung == "cached" { 1.0 } else { 0.0 }, "{rung}");
        }
    }
    assert_empty(folder.path());
}
