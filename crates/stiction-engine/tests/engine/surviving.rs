//! What is left after the writer was killed or the power was cut is checked against
//! what was promised, and against nothing more.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use rustix::process::{Signal, getpid, kill_process};
use stiction_core::{Access, Action, BackendKind, Create, Data, Job, Seed, SyncEvery, SyncKind};
use stiction_engine::{
    Checked, Ended, EngineError, Ledger, MismatchKind, Outcome, Progress, StopFlag, Survived,
    remove_ledger, run_checked,
};
use testkit::{FaultFs, Faults, TmpfsMount, scratch_folder};

use crate::jobs::{file, region, write_job};

const BLOCKS: u64 = 4096;
const WORKERS: u32 = 4;

fn checked_run(job: &Job, path: &Path, ledger: &Ledger) -> Outcome {
    let progress = Progress::new(job.regions.len());
    let outcome = run_checked(job, &file(path), ledger, &StopFlag::new(), &progress).unwrap();
    assert_eq!(outcome.ended, Ended::Planned);
    outcome
}

/// Writes without end, in random order, a quarter of the file by each worker.
fn endless(backend: BackendKind, depth: u32) -> Job {
    let part = BLOCKS / u64::from(WORKERS) * 4096;
    let part_of = |worker: u64| region(0, worker * part, part);
    Job {
        backend,
        depth,
        access: Access::RandomIndependent,
        data: Data::Stamped,
        create: Create::Sparse,
        once: false,
        regions: (0..WORKERS.into()).map(part_of).collect(),
        ..write_job(BLOCKS)
    }
}

/// Reads the whole file once, by one worker.
fn check_all() -> Job {
    Job {
        action: Action::Read,
        data: Data::Stamped,
        verify: true,
        create: Create::Open,
        block_size_bytes: 4096,
        ..write_job(BLOCKS)
    }
}

/// In this process's environment, the test starts itself as the one to be killed.
const VICTIM: &str = "STICTION_TEST_VICTIM";

/// Writes until it has done some thousand operations, and is killed in the middle.
fn be_killed(folder: &Path) {
    let ledger = folder.join("ledger");
    let ledger = if ledger.exists() {
        Ledger::reopen(&ledger, Survived::Acknowledged).unwrap()
    } else {
        Ledger::create(&ledger, Seed(9)).unwrap()
    };
    let progress = Progress::new(WORKERS as usize);
    let path = folder.join("f");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while progress.operations() < 2000 {
                std::thread::yield_now();
            }
            kill_process(getpid(), Signal::KILL).unwrap();
        });
        let job = Job {
            seed: Seed(std::process::id().into()),
            ..endless(BackendKind::IoUring, 8)
        };
        run_checked(&job, &file(&path), &ledger, &StopFlag::new(), &progress).unwrap();
    });
}

#[test]
fn a_killed_writer_leaves_all_that_was_acknowledged() {
    if let Some(folder) = std::env::var_os(VICTIM) {
        return be_killed(Path::new(&folder));
    }
    let folder = scratch_folder();
    let path = folder.path().join("f");
    let ledger = folder.path().join("ledger");
    let mut touched = 0;
    for _ in 0..3 {
        let status = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "surviving::a_killed_writer_leaves_all_that_was_acknowledged",
            ])
            .env(VICTIM, folder.path())
            .status()
            .unwrap();
        assert_eq!(status.signal(), Some(Signal::KILL.as_raw()), "{status}");

        let ledger = Ledger::reopen(&ledger, Survived::Acknowledged).unwrap();
        let outcome = checked_run(&check_all(), &path, &ledger);
        assert_eq!(outcome.mismatch_count(), 0, "{:?}", outcome.caveats);
        let Checked {
            last,
            earlier,
            partial,
            unwritten,
            uncounted,
        } = outcome.checked();
        assert_eq!(last + earlier + partial + unwritten, BLOCKS);
        assert_eq!(uncounted, 0);
        // Only what was in flight at some kill can be missing.
        assert!(earlier + partial <= 3 * u64::from(WORKERS) * 8);
        let now = last + earlier + partial;
        // 500 of 1024 blocks of each worker at random: 39 % are hit at least.
        // A writer may be killed late, and then there is no block left to add.
        let is_more = now > touched || now == BLOCKS;
        assert!(is_more && now > BLOCKS / 4, "{now} after {touched}");
        touched = now;
    }

    // And damage is still told for what it is.
    let opened = Ledger::reopen(&ledger, Survived::Acknowledged).unwrap();
    let again = Job {
        access: Access::Sequential,
        once: true,
        ..endless(BackendKind::Psync, 1)
    };
    checked_run(&again, &path, &opened);
    let data = File::options().read(true).write(true).open(&path).unwrap();
    let mut before = [[0; 4096]; 3];
    for (block, bytes) in before.iter_mut().enumerate() {
        data.read_exact_at(bytes, block as u64 * 4096).unwrap();
    }
    checked_run(&again, &path, &opened);
    drop(opened);
    data.write_all_at(&before[0], 0).unwrap();
    data.write_all_at(&before[1][..2048], 4096).unwrap();
    data.write_all_at(&[0; 4096], 2 * 4096).unwrap();
    let mut elsewhere = [0; 4096];
    data.read_exact_at(&mut elsewhere, 7 * 4096).unwrap();
    data.write_all_at(&elsewhere, 3 * 4096).unwrap();

    let opened = Ledger::reopen(&ledger, Survived::Acknowledged).unwrap();
    let outcome = checked_run(&check_all(), &path, &opened);
    assert_eq!(outcome.mismatch_count(), 4);
    let kinds = outcome.workers[0].mismatches.iter().map(|found| found.kind);
    let [stale, torn, lost, misplaced] = kinds.collect::<Vec<_>>()[..] else {
        unreachable!("there are four");
    };
    assert!(matches!(stale, MismatchKind::Stale { .. }), "{stale:?}");
    assert_eq!(torn, MismatchKind::Torn { from_byte: 2048 });
    assert!(matches!(lost, MismatchKind::Lost { .. }), "{lost:?}");
    let belongs_at_bytes = 7 * 4096;
    assert_eq!(misplaced, MismatchKind::Misplaced { belongs_at_bytes });
    drop(opened);
    remove_ledger(&ledger).unwrap();
}

/// A disk, a ledger that stays when the power of the disk goes, and a job that syncs.
struct Powered {
    disk: FaultFs,
    folder: tempfile::TempDir,
}

impl Powered {
    fn new() -> Result<Self, String> {
        let powered = Self {
            disk: FaultFs::mount(Faults::default())?,
            folder: scratch_folder(),
        };
        Ledger::create(&powered.folder.path().join("ledger"), Seed(3)).unwrap();
        Ok(powered)
    }

    fn run(&self, job: &Job, survived: Survived) -> Outcome {
        let ledger = self.folder.path().join("ledger");
        let ledger = Ledger::reopen(&ledger, survived).unwrap();
        checked_run(job, &self.disk.path().join("f"), &ledger)
    }

    /// Syncs after every 16 writes, and not after the last few.
    fn write(&self, backend: BackendKind, depth: u32, seed: u64) {
        let job = Job {
            sync_every: Some(SyncEvery {
                writes: 16,
                kind: SyncKind::Fdatasync,
            }),
            operations_per_worker: Some(16 * 20 + 7),
            seed: Seed(seed),
            ..endless(backend, depth)
        };
        self.run(&job, Survived::Acknowledged);
    }

    fn check(&self) -> Outcome {
        self.run(&check_all(), Survived::Synced)
    }
}

#[test]
fn a_power_cut_takes_only_what_was_not_synced() {
    let powered = match Powered::new() {
        Ok(powered) => powered,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let unsynced = 7 * u64::from(WORKERS);
    let backends = [(BackendKind::Psync, 1), (BackendKind::IoUring, 16)];
    for (round, (survive_percent, (backend, depth))) in [0, 50, 100]
        .into_iter()
        .flat_map(|percent| backends.map(|backend| (percent, backend)))
        .enumerate()
    {
        powered.write(backend, depth, round as u64);
        powered.disk.cut_power(survive_percent, Seed(round as u64));
        let outcome = powered.check();
        assert_eq!(outcome.mismatch_count(), 0, "{:?}", outcome.caveats);
        let checked = outcome.checked();
        let missing = checked.earlier + checked.partial;
        let all = checked.last + missing + checked.unwritten;
        assert_eq!(all, BLOCKS);
        match survive_percent {
            0 => assert!(missing > 0 && checked.partial == 0),
            50 => assert!(checked.partial > 0 && checked.partial <= unsynced),
            _ => {}
        }
        // Blocks that were lost in an earlier round may not have been written since.
        assert!(missing <= unsynced * (round as u64 + 1), "{checked:?}");
    }
}

/// A disk that says that it has synced, and has not, is found out.
#[test]
fn a_disk_that_lies_is_found_out() {
    let powered = match Powered::new() {
        Ok(powered) => powered,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let lies = Faults {
        sync_ignored: true,
        ..Faults::default()
    };
    let kinds = |outcome: &Outcome| {
        let found = outcome.workers[0].mismatches.iter();
        let kinds: Vec<MismatchKind> = found.map(|found| found.kind).collect();
        assert!(!kinds.is_empty());
        kinds
    };
    powered.disk.set(lies);
    powered.write(BackendKind::Psync, 1, 1);
    powered.disk.cut_power(0, Seed(1));
    let outcome = powered.check();
    assert!(outcome.mismatch_count() > 500);
    let lost = |kind: &MismatchKind| matches!(kind, MismatchKind::Lost { .. });
    assert!(kinds(&outcome).iter().all(lost));

    let whole = Job {
        access: Access::Sequential,
        once: true,
        sync_at_end: Some(SyncKind::Fsync),
        ..endless(BackendKind::Psync, 1)
    };
    powered.disk.set(Faults::default());
    powered.run(&whole, Survived::Acknowledged);
    powered.disk.cut_power(0, Seed(2));
    let outcome = powered.check();
    assert_eq!(
        outcome.checked().last,
        BLOCKS,
        "an honest disk keeps its word"
    );

    powered.disk.set(lies);
    powered.run(&whole, Survived::Acknowledged);
    powered.disk.cut_power(0, Seed(3));
    let outcome = powered.check();
    assert_eq!(outcome.mismatch_count(), BLOCKS);
    let stale = |kind: &MismatchKind| matches!(kind, MismatchKind::Stale { .. });
    assert!(kinds(&outcome).iter().all(stale));

    powered.run(&whole, Survived::Acknowledged);
    powered.disk.cut_power(50, Seed(4));
    // Of 8 sectors at even chances, all are new or all are old once in 128 times.
    let torn = |kind: &&MismatchKind| matches!(kind, MismatchKind::Torn { .. });
    assert!(kinds(&powered.check()).iter().filter(torn).count() > 10);
}

/// Millions of operations of all kinds raise no alarm.
#[test]
fn root_clean_runs_raise_no_alarm() {
    testkit::require_root!();
    let tmpfs = TmpfsMount::new(64 << 20);
    let path = tmpfs.path().join("f");
    let folder = scratch_folder();
    let ledger = Ledger::create(&folder.path().join("ledger"), Seed(1)).unwrap();
    let block_size_bytes = 512;
    let part = BLOCKS / u64::from(WORKERS) * block_size_bytes;
    let regions = |parts: u64| {
        let part = part * u64::from(WORKERS) / parts;
        (0..parts)
            .map(|index| region(0, index * part, part))
            .collect()
    };
    let base = Job {
        block_size_bytes,
        regions: regions(u64::from(WORKERS)),
        ..endless(BackendKind::Psync, 1)
    };
    let writing = |backend, depth, operations: u64, seed| Job {
        backend,
        depth,
        operations_per_worker: Some(operations),
        seed: Seed(seed),
        ..base.clone()
    };
    let check = |parts| Job {
        action: Action::Read,
        create: Create::Open,
        verify: true,
        once: true,
        regions: regions(parts),
        ..base.clone()
    };
    let mut operations = 0;
    for seed in 0..4 {
        let mut jobs = vec![
            writing(BackendKind::Psync, 1, 60_000, seed),
            writing(BackendKind::Mmap, 1, 60_000, seed),
            writing(BackendKind::IoUring, 64, 5_000, seed),
        ];
        jobs.push(Job {
            action: Action::Mixed { reads_percent: 30 },
            create: Create::Open,
            ..writing(BackendKind::IoUring, 16, 5_000, seed)
        });
        jobs.push(Job {
            access: Access::RandomPermutation,
            regions: regions(2),
            ..writing(BackendKind::Psync, 1, 120_000, seed)
        });
        // Emptied, and written in part.
        jobs.push(Job {
            create: Create::Truncate,
            ..writing(BackendKind::Psync, 1, 600, seed)
        });
        jobs.push(Job {
            create: Create::Sparse,
            ..writing(BackendKind::Psync, 1, 1, seed)
        });
        jobs.push(Job {
            action: Action::Trim,
            create: Create::Open,
            ..writing(BackendKind::Psync, 1, 100, seed)
        });
        // Over blocks of another size, and over data of another kind.
        jobs.push(Job {
            block_size_bytes: 1024,
            regions: vec![region(0, 512, part)],
            ..writing(BackendKind::Psync, 1, 100, seed)
        });
        jobs.push(Job {
            data: Data::Unique,
            ..writing(BackendKind::Psync, 1, 100, seed)
        });
        for job in &jobs {
            let written = checked_run(job, &path, &ledger);
            // Where it is empty now, there are zeros at least to be read.
            let data = File::options().write(true).open(&path).unwrap();
            data.set_len(BLOCKS * block_size_bytes).unwrap();
            let outcome = checked_run(&check(1 << seed), &path, &ledger);
            let doubts = &outcome.caveats;
            assert_eq!(outcome.mismatch_count(), 0, "after {job:?}: {doubts:?}");
            operations += written.operations() + outcome.operations();
        }
    }
    assert!(operations > 2_000_000, "{operations}");
}

#[test]
fn workers_must_not_share_stamped_blocks() {
    let folder = scratch_folder();
    let path = folder.path().join("f");
    let mut job = endless(BackendKind::Psync, 1);
    job.operations_per_worker = Some(1);
    job.regions[1].offset_bytes -= 4096;
    let progress = Progress::new(job.regions.len());
    let result = stiction_engine::run(&job, &file(&path), &StopFlag::new(), &progress);
    let Err(EngineError::Job { reason, .. }) = result else {
        panic!("{result:?}");
    };
    assert!(reason.contains("the same stamped blocks"), "{reason}");
    job.data = Data::Unique;
    stiction_engine::run(&job, &file(&path), &StopFlag::new(), &progress).unwrap();
}
