//! bonnie on real files.

use std::collections::BTreeSet;

use crate::stage::{Played, assert_empty, play, play_and, value};
use stiction_core::{CaveatCode, Direction, Phase, PhaseOutcome, Recording, TrialOutcome, metrics};
use stiction_engine::StopFlag;
use stiction_suite::Bonnie;
use stiction_suite::bonnie::{
    BonnieMode, BonnieOptions, BonniePhase, BonnieProgram, FileAmount, FileKind,
};

const MIB: u64 = 1 << 20;
const PER_CHAR_BYTES: u64 = 20_000;
const CLASSIC: [BonnieProgram; 5] = [
    BonnieProgram::Bonnie,
    BonnieProgram::Bonnie64,
    BonnieProgram::PlusPlus103,
    BonnieProgram::PlusPlus196,
    BonnieProgram::PlusPlus200,
];

fn files(count: u64) -> FileAmount {
    FileAmount {
        count,
        kind: FileKind::Regular {
            bytes_min: 0,
            bytes_max: 0,
        },
        directories: 1,
        piece_bytes: None,
    }
}

/// A megabyte and a hundred files.
fn small(mode: BonnieMode) -> BonnieOptions {
    BonnieOptions {
        mode,
        quick: true,
        size_bytes: Some(MIB),
        per_char_bytes: Some(PER_CHAR_BYTES),
        seeks: Some(500),
        files: Some(files(100)),
        ..BonnieOptions::default()
    }
}

fn run(options: BonnieOptions) -> Played {
    let folder = testkit::scratch_folder();
    let played = play(&Bonnie { options }, &[folder.path()]);
    for phase in played.only() {
        assert_eq!(phase.outcome, PhaseOutcome::Completed, "{phase:#?}");
    }
    assert_empty(folder.path());
    played
}

fn recorded(phase: &Phase, direction: Direction) -> (u64, u64) {
    let mut recordings = phase.recordings.iter();
    recordings
        .find(|recording| recording.direction == direction)
        .map_or((0, 0), |found: &Recording| {
            (found.operations(), found.bytes())
        })
}

fn operations(phase: &Phase, direction: Direction) -> u64 {
    recorded(phase, direction).0
}

#[test]
fn twelve_phases_and_nothing_is_left() {
    let played = run(small(BonnieMode::Default));
    let names: Vec<&str> = played
        .only()
        .iter()
        .map(|phase| phase.name.as_str())
        .collect();
    assert_eq!(names, BonniePhase::ALL.map(BonniePhase::name));
    for phase in played.only() {
        assert!(value(phase, &metrics::OPERATION_RATE) > 0.0);
        assert!(value(phase, &metrics::LATENCY_MAX) > 0.0);
    }
}

/// 1 MiB is 128 chunks of 8 KiB; seeks and files are counted as asked.
#[test]
fn each_phase_does_what_it_is_to_do() {
    for program in CLASSIC {
        let played = run(small(BonnieMode::Classic(program)));
        let chunks = if program == BonnieProgram::Bonnie64 {
            64
        } else {
            128
        };
        let put = played.phase("put_block");
        assert_eq!(recorded(put, Direction::Write), (chunks, MIB));
        assert_eq!(
            recorded(played.phase("get_block"), Direction::Read),
            (chunks, MIB)
        );
        let by_bytes = [("putc", Direction::Write), ("getc", Direction::Read)];
        for (name, direction) in by_bytes {
            assert_eq!(recorded(played.phase(name), direction).1, PER_CHAR_BYTES);
        }
        let rewrite = played.phase("rewrite");
        for direction in [Direction::Read, Direction::Write, Direction::Whole] {
            assert_eq!(recorded(rewrite, direction), (chunks, MIB), "{direction:?}");
        }
        let rate = value(rewrite, &metrics::RATE);
        let from_size = MIB as f64 / (rewrite.elapsed_ns as f64 / 1e9);
        assert!(
            (rate / from_size - 1.0).abs() < 1e-9,
            "each chunk counts once"
        );

        let seeks = played.phase("seeks");
        assert_eq!(operations(seeks, Direction::Whole), 500);
        assert_eq!(operations(seeks, Direction::Read), 500);
        if !program.is_since_1_90() {
            // Every tenth of each seeker's 167, 167 and 166, from its first on.
            assert_eq!(operations(seeks, Direction::Write), 51);
        }
        let syncs = [put, rewrite].map(|phase| operations(phase, Direction::Sync));
        let expected = match program {
            BonnieProgram::Bonnie | BonnieProgram::PlusPlus103 => [0, 0],
            _ => [1, 1],
        };
        assert_eq!(syncs, expected, "{program:?}");
    }
}

#[test]
fn file_phases_make_look_at_and_remove_every_file() {
    let options = BonnieOptions {
        size_bytes: Some(0),
        files: Some(FileAmount {
            kind: FileKind::Regular {
                bytes_min: 100,
                bytes_max: 20_000,
            },
            directories: 7,
            ..files(100)
        }),
        ..small(BonnieMode::Classic(BonnieProgram::PlusPlus200))
    };
    let played = run(options);
    for set in ["sequential", "random"] {
        let of = |what: &str| played.phase(&format!("{what}_{set}"));
        let created = of("create");
        assert_eq!(operations(created, Direction::Create), 100);
        assert_eq!(operations(created, Direction::Whole), 100);
        // floor(100 / 7) + 1 files a directory fill seven, and the worker's own.
        assert_eq!(operations(created, Direction::MakeDirectory), 8);
        let (_, written) = recorded(created, Direction::Write);
        assert!((10_000..=2_000_000).contains(&written));
        let looked_at = of("stat");
        assert_eq!(operations(looked_at, Direction::Stat), 100);
        assert_eq!(operations(looked_at, Direction::Open), 100);
        assert_eq!(recorded(looked_at, Direction::Read).1, written);
        let removed = of("delete");
        assert_eq!(operations(removed, Direction::Unlink), 100);
        assert_eq!(operations(removed, Direction::RemoveDirectory), 8);
        for phase in [created, removed] {
            assert_eq!(operations(phase, Direction::Sync), 1, "one sync at the end");
        }
    }
}

#[test]
fn links_are_links_and_syncs_are_for_each() {
    for kind in [FileKind::HardLink, FileKind::SymbolicLink] {
        let options = BonnieOptions {
            size_bytes: Some(0),
            files: Some(FileAmount { kind, ..files(50) }),
            sync_each: true,
            ..small(BonnieMode::Classic(BonnieProgram::PlusPlus103))
        };
        let played = run(options);
        let created = played.phase("create_sequential");
        assert_eq!(operations(created, Direction::Link), 50);
        assert_eq!(operations(created, Direction::Create), 0);
        assert_eq!(operations(created, Direction::Sync), 50);
        assert_eq!(
            operations(played.phase("delete_random"), Direction::Sync),
            50
        );
    }
}

#[test]
fn workers_share_the_size_the_files_and_the_seeks() {
    let options = BonnieOptions {
        concurrency: Some(4),
        seekers: Some(3),
        ..small(BonnieMode::Default)
    };
    let played = run(options);
    for name in [
        "putc",
        "put_block",
        "rewrite",
        "getc",
        "get_block",
        "create_random",
    ] {
        assert_eq!(played.phase(name).workers.len(), 4, "{name}");
    }
    assert_eq!(recorded(played.phase("put_block"), Direction::Write).1, MIB);
    assert_eq!(recorded(played.phase("rewrite"), Direction::Whole).1, MIB);
    assert_eq!(played.phase("seeks").workers.len(), 3);
    let by_worker: Vec<u64> = played
        .phase("stat_sequential")
        .workers
        .iter()
        .map(|worker| worker.operations)
        .collect();
    assert_eq!(by_worker, [25; 4]);
}

/// What is left out before must not leave holes to be read.
#[test]
fn a_file_that_no_phase_writes_is_laid_down() {
    let options = BonnieOptions {
        skip: BTreeSet::from([
            BonniePhase::Putc,
            BonniePhase::PutBlock,
            BonniePhase::Rewrite,
        ]),
        files: Some(files(0)),
        ..small(BonnieMode::Default)
    };
    let played = run(options);
    let names: Vec<&str> = played
        .only()
        .iter()
        .map(|phase| phase.name.as_str())
        .collect();
    assert_eq!(names, ["lay_down", "getc", "get_block", "seeks"]);
    assert_eq!(played.phase("get_block").witnesses.unwritten_bytes, Some(0));
}

#[test]
fn a_stop_keeps_what_is_finished_and_cleans_up() {
    for at in ["rewrite", "seeks", "create_sequential", "delete_random"] {
        let folder = testkit::scratch_folder();
        let bonnie = Bonnie {
            options: BonnieOptions {
                files: Some(FileAmount {
                    directories: 5,
                    ..files(100)
                }),
                ..small(BonnieMode::Default)
            },
        };
        let played = play_and(&bonnie, folder.path(), at, StopFlag::raise);
        assert_eq!(played.outcome(), &TrialOutcome::Interrupted, "{at}");
        let last = played.trials[0].2.last().unwrap();
        assert_eq!(last.name, at);
        assert!(
            last.caveats
                .iter()
                .any(|c| c.code == CaveatCode::Interrupted)
        );
        assert_empty(folder.path());
    }
}
