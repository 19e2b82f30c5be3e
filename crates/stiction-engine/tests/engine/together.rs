//! Several jobs that run at the same time.

use std::time::Duration;

use stiction_core::{Access, Create, Direction, Job, StartOrder};
use stiction_engine::{
    Ended, EngineError, Outcome, Part, Progress, StopFlag, Target, run_together,
};
use testkit::{FaultFs, Faults, scratch_folder};

use crate::jobs::{content, file, read_job, region, run, write_job};

fn run_all(jobs: &[(Job, Vec<Target>)]) -> Result<Vec<Outcome>, EngineError> {
    let stop = StopFlag::new();
    let progress: Vec<Progress> = jobs
        .iter()
        .map(|(job, _)| Progress::new(job.regions.len()))
        .collect();
    let parts: Vec<Part<'_>> = jobs
        .iter()
        .zip(&progress)
        .map(|((job, targets), progress)| Part {
            job,
            targets,
            ledger: None,
            stop: &stop,
            progress,
        })
        .collect();
    let outcomes = run_together(&parts)?;
    for (outcome, progress) in outcomes.iter().zip(&progress) {
        assert_eq!(outcome.operations(), progress.operations());
    }
    Ok(outcomes)
}

#[test]
fn each_job_has_its_own_outcome() {
    let directory = scratch_folder();
    let (read, write) = (
        directory.path().join("read"),
        directory.path().join("write"),
    );
    run(&write_job(200), &file(&read));
    let two = Job {
        regions: vec![region(0, 0, 50 * 4096), region(0, 50 * 4096, 50 * 4096)],
        ..write_job(1)
    };
    let jobs = [(read_job(200), file(&read)), (two, file(&write))];
    let [reads, writes] = run_all(&jobs).unwrap().try_into().unwrap();
    assert_eq!((reads.operations(), writes.operations()), (200, 100));
    assert_eq!((reads.workers.len(), writes.workers.len()), (1, 2));
    assert_eq!(reads.recordings.len(), 1);
    assert_eq!(reads.recordings[0].direction, Direction::Read);
    assert_eq!(writes.recordings[0].direction, Direction::Write);
    assert_eq!(content(&write).len(), 100 * 4096);
}

/// The slow reads take 5 ms each, 20 of them 100 ms at least; the writes beside them go
/// on to another file and are not held up.
#[test]
fn root_jobs_start_together_and_end_apart() {
    testkit::require_root!();
    let target = FaultFs::mount(Faults::default()).unwrap();
    let slow = target.path().join("f");
    run(&write_job(20), &file(&slow));
    target.set(Faults {
        delay: Duration::from_millis(5),
        ..Faults::default()
    });
    let directory = scratch_folder();
    let endless = Job {
        access: Access::RandomIndependent,
        once: false,
        duration_ns: Some(100_000_000),
        ..write_job(64)
    };
    let jobs = [
        (read_job(20), file(&slow)),
        (endless, file(directory.path().join("g"))),
    ];
    let [reads, writes] = run_all(&jobs).unwrap().try_into().unwrap();
    assert!(reads.elapsed_ns >= 100_000_000);
    assert_eq!(reads.operations(), 20);
    assert!(writes.operations() > 20, "{}", writes.operations());
    // One start for both: the first operations of both overlap.
    assert!(writes.workers[0].summary.first_ns < reads.workers[0].summary.last_ns);
}

#[test]
fn a_job_that_fails_does_not_stop_the_others() {
    let directory = scratch_folder();
    let path = directory.path().join("short");
    run(&write_job(10), &file(&path));
    let other = directory.path().join("other");
    // Reads on beyond the end of its file.
    let jobs = [(read_job(20), file(&path)), (write_job(500), file(&other))];
    let [short, whole] = run_all(&jobs).unwrap().try_into().unwrap();
    assert!(matches!(short.ended, Ended::Failed(_)), "{:?}", short.ended);
    assert_eq!(short.operations(), 10);
    assert_eq!((whole.operations(), whole.ended), (500, Ended::Planned));
}

#[test]
fn nothing_is_done_when_one_cannot_be_made_ready() {
    let directory = scratch_folder();
    let missing = (read_job(10), file(directory.path().join("missing")));
    let path = directory.path().join("f");
    std::fs::write(&path, b"untouched").unwrap();
    let mut write = write_job(500);
    write.create = Create::Open;
    let error = run_all(&[(write, file(&path)), missing]).unwrap_err();
    assert!(error.to_string().contains("missing"), "{error}");
    assert_eq!(content(&path), b"untouched");
}

#[test]
fn workers_one_after_another_run_alone() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    let job = Job {
        start: StartOrder::OneAfterAnother,
        ..write_job(1)
    };
    let error = run_all(&[(job, file(&path))]).unwrap_err().to_string();
    assert!(error.contains("so it runs alone"), "{error}");
    assert!(!path.exists());
}
