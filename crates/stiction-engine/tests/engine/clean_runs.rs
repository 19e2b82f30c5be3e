//! A million operations that are checked and raise no alarm.

use stiction_core::{
    Access, Action, BackendKind, Create, Data, FileChoice, FileOrder, Job, Seed, Skew, SkewShape,
    SyncEvery, SyncKind,
};
use stiction_engine::{Ended, Ledger, Outcome, Progress, StopFlag, Target, run_checked};
use testkit::scratch_folder;

use crate::jobs::{files, region, write_job};

const WORKERS: u32 = 4;
const FILES_EACH: u32 = 3;

/// One way to mix reads and writes.
struct Mix {
    backend: BackendKind,
    depth: u32,
    block_bytes: u64,
    blocks: u64,
    operations_per_worker: u64,
    access: Access,
    skew: Option<SkewShape>,
    choice: FileChoice,
    open_files_max: Option<u32>,
    sync_every: Option<u64>,
}

impl Mix {
    fn job(self, number: u64) -> Job {
        let targets = 0..WORKERS * FILES_EACH;
        let skew = |shape| Skew {
            shape,
            scattered: true,
        };
        Job {
            action: Action::Mixed { reads_percent: 60 },
            access: self.access,
            skew: self.skew.map(skew),
            block_size_bytes: self.block_bytes,
            regions: targets
                .map(|target| region(target, 0, self.blocks * self.block_bytes))
                .collect(),
            regions_per_worker: FILES_EACH,
            file_order: FileOrder {
                choice: self.choice,
                run_operations: 5,
            },
            open_files_max: self.open_files_max,
            sync_every: self.sync_every.map(|writes| SyncEvery {
                writes,
                kind: SyncKind::Fdatasync,
            }),
            backend: self.backend,
            depth: self.depth,
            data: Data::Stamped,
            create: Create::Sparse,
            verify: true,
            once: false,
            operations_per_worker: Some(self.operations_per_worker),
            seed: Seed(number),
            ..write_job(1)
        }
    }
}

fn checked(job: &Job, targets: &[Target], ledger: &Ledger) -> Outcome {
    let progress = Progress::new(job.workers());
    let outcome = run_checked(job, targets, ledger, &StopFlag::new(), &progress).unwrap();
    assert_eq!(outcome.ended, Ended::Planned);
    assert_eq!(outcome.mismatch_count(), 0, "{:?}", outcome.caveats);
    outcome
}

/// Of several backends, depths, block sizes, skews, orders of files and workers: each
/// read is checked among the writes, and each file from its first block to its last.
#[test]
fn a_million_operations_raise_no_alarm() {
    let zipf = SkewShape::Zipf {
        exponent_ppm: 1_100_000,
    };
    let normal = SkewShape::Normal {
        deviation_ppm: 100_000,
    };
    let mixes = [
        Mix {
            backend: BackendKind::Psync,
            depth: 1,
            block_bytes: 64,
            blocks: 500,
            operations_per_worker: 120_000,
            access: Access::RandomIndependent,
            skew: Some(zipf),
            choice: FileChoice::Random,
            open_files_max: None,
            sync_every: None,
        },
        Mix {
            backend: BackendKind::Mmap,
            depth: 1,
            block_bytes: 128,
            blocks: 300,
            operations_per_worker: 70_000,
            access: Access::RandomPermutation,
            skew: None,
            choice: FileChoice::InTurn,
            open_files_max: Some(2),
            sync_every: None,
        },
        Mix {
            backend: BackendKind::IoUring,
            depth: 32,
            block_bytes: 512,
            blocks: 100,
            operations_per_worker: 50_000,
            access: Access::RandomIndependent,
            skew: Some(normal),
            choice: FileChoice::InTurn,
            open_files_max: Some(1),
            sync_every: None,
        },
        Mix {
            backend: BackendKind::Libaio,
            depth: 8,
            block_bytes: 4096,
            blocks: 20,
            operations_per_worker: 10_000,
            access: Access::Sequential,
            skew: None,
            choice: FileChoice::OneByOne,
            open_files_max: None,
            sync_every: Some(500),
        },
    ];
    let directory = scratch_folder();
    let targets = files(directory.path(), WORKERS * FILES_EACH);
    let mut operations = 0;
    for (number, mix) in (0..).zip(mixes) {
        // Blocks of another size would have to be told from those before.
        let ledger = Ledger::new(Seed(1000 + number));
        let job = mix.job(number);
        operations += checked(&job, &targets, &ledger).operations();
        let all = Job {
            action: Action::Read,
            access: Access::Sequential,
            skew: None,
            create: Create::Open,
            sync_every: None,
            once: true,
            operations_per_worker: None,
            ..job
        };
        let outcome = checked(&all, &targets, &ledger);
        let seen = outcome.checked();
        assert_eq!(seen.last + seen.unwritten, outcome.operations(), "{seen:?}");
        assert!(seen.last > seen.unwritten, "{seen:?}");
    }
    assert!(operations >= 1_000_000, "{operations}");
}
