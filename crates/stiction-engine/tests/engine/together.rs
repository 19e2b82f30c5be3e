//! Several jobs that run at the same time.

use std::time::{Duration, Instant};

use stiction_core::{Access, BackendKind, CaveatCode, Create, Direction, Job, StartOrder};
use stiction_engine::{
    Ended, EngineError, Outcome, Part, Progress, StopFlag, Target, run_together,
};
use testkit::{FaultFs, Faults, scratch_folder};

use crate::jobs::{content, file, read_job, region, run, with_workers, write_job};

fn run_all(jobs: &[(Job, Vec<Target>)]) -> Result<Vec<Outcome>, EngineError> {
    let stop = StopFlag::new();
    let progress: Vec<Progress> = jobs
        .iter()
        .map(|(job, _)| Progress::new(job.regions.len()))
        .collect();
    let parts: Vec<Part<'_>> = jobs
        .iter()
        .zip(&progress)
        .map(|((job, targets), progress)| Part::new(job, targets, &stop, progress))
        .collect();
    let outcomes: Vec<Outcome> = run_together(&parts)?
        .into_iter()
        .collect::<Result<_, _>>()?;
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

/// What a part does that nobody else ends: it writes for 100 ms or a little more.
fn endless(name: &str) -> Job {
    Job {
        name: name.to_owned(),
        backend: BackendKind::Null,
        access: Access::RandomIndependent,
        once: false,
        ..write_job(64)
    }
}

fn lasting(name: &str, duration_ms: u64) -> Job {
    Job {
        duration_ns: Some(duration_ms * MS),
        ..endless(name)
    }
}

const MS: u64 = 1_000_000;

/// Runs jobs without I/O as parts that `shape` gives their course.
fn play<'a>(
    jobs: &'a [Job],
    stops: &'a [StopFlag],
    progress: &'a [Progress],
    shape: impl Fn(usize, &mut Part<'a>),
) -> Result<Vec<Outcome>, EngineError> {
    let parts: Vec<Part<'_>> = (0..jobs.len())
        .map(|number| {
            let mut part = Part::new(&jobs[number], &[], &stops[number], &progress[number]);
            shape(number, &mut part);
            part
        })
        .collect();
    run_together(&parts)?.into_iter().collect()
}

fn played(jobs: &[Job], shape: impl Fn(usize, &mut Part<'_>)) -> Result<Vec<Outcome>, EngineError> {
    let stops: Vec<StopFlag> = jobs.iter().map(|_| StopFlag::new()).collect();
    let progress = |job: &Job| Progress::new(job.regions.len());
    let progress: Vec<Progress> = jobs.iter().map(progress).collect();
    play(jobs, &stops, &progress, shape)
}

/// End of a part, ns after the common start.
fn end_ns(outcome: &Outcome) -> u64 {
    outcome.began_ns.unwrap() + outcome.elapsed_ns
}

#[test]
fn a_delayed_part_has_its_own_time() {
    let jobs = [lasting("now", 50), lasting("later", 30)];
    let begin = Instant::now();
    let outcomes = played(&jobs, |number, part| {
        part.delay_ns = [(0, 0), (70 * MS, 70 * MS)][number];
    })
    .unwrap();
    assert_eq!(outcomes[0].began_ns, Some(0));
    assert!(outcomes[1].began_ns.unwrap() >= 70 * MS, "{outcomes:?}");
    assert!(outcomes[1].elapsed_ns >= 30 * MS);
    // Its own times leave out what it waited.
    let all_ns = begin.elapsed().as_nanos() as u64;
    assert!(all_ns >= outcomes[1].elapsed_ns + 70 * MS, "{outcomes:?}");
    let last = outcomes[1].recordings[0].intervals.last().unwrap();
    assert_eq!(last.start_ns + last.length_ns, outcomes[1].elapsed_ns);
    assert_eq!(outcomes[1].ended, Ended::Planned);
}

/// The part begins at the least delay, and its workers wait for what they drew beyond it.
#[test]
fn each_worker_waits_for_its_own_delay() {
    let job = with_workers(lasting("spread", 5), 16, 64);
    let outcomes = played(&[job], |_, part| part.delay_ns = (10 * MS, 60 * MS)).unwrap();
    let firsts = outcomes[0].workers.iter().map(|one| one.summary.first_ns);
    // The chance that none of 16 draws is in the upper half is 1 in 65536.
    assert!(firsts.max().unwrap() >= 25 * MS, "{outcomes:?}");
    assert!(outcomes[0].began_ns.unwrap() >= 10 * MS);
}

#[test]
fn a_part_waits_for_the_end_of_others() {
    let directory = scratch_folder();
    let path = directory.path().join("f");
    // The file that it reads is there when the others have written it, and not before.
    let jobs = [
        (read_job(64), file(&path)),
        (write_job(64), file(&path)),
        (lasting("beside", 60), Vec::new()),
    ];
    let stop = StopFlag::new();
    let progress: [Progress; 3] = std::array::from_fn(|_| Progress::new(1));
    let mut parts: Vec<Part<'_>> = (jobs.iter().zip(&progress))
        .map(|((job, targets), progress)| Part::new(job, targets, &stop, progress))
        .collect();
    parts[0].after = &[1, 2];
    let outcomes: Vec<Outcome> = run_together(&parts)
        .unwrap()
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert_eq!(
        (outcomes[0].operations(), outcomes[1].operations()),
        (64, 64)
    );
    let began = outcomes[0].began_ns.unwrap();
    assert!(began >= end_ns(&outcomes[1]) && began >= end_ns(&outcomes[2]));
}

#[test]
fn a_part_that_cannot_be_made_ready_in_its_turn_is_one_failure() {
    let directory = scratch_folder();
    let jobs = [write_job(8), read_job(8)];
    let targets = [
        file(directory.path().join("f")),
        file(directory.path().join("missing")),
    ];
    let stop = StopFlag::new();
    let progress = [Progress::new(1), Progress::new(1)];
    let mut parts = [0, 1].map(|n| Part::new(&jobs[n], &targets[n], &stop, &progress[n]));
    parts[1].after = &[0];
    let outcomes = run_together(&parts).unwrap();
    assert_eq!(outcomes[0].as_ref().unwrap().operations(), 8);
    let error = outcomes[1].as_ref().unwrap_err().to_string();
    assert!(error.contains("missing"), "{error}");
}

#[test]
fn an_end_ends_others_as_planned() {
    let jobs = [lasting("short", 40), endless("long"), endless("longer")];
    let outcomes = played(&jobs, |number, part| match number {
        0 => part.ends = &[1],
        1 => part.ends = &[2],
        _ => {}
    })
    .unwrap();
    for (outcome, by) in outcomes[1..].iter().zip(["short", "long"]) {
        assert_eq!(outcome.ended, Ended::Planned);
        assert_eq!(outcome.caveats, []);
        let note = format!("it was ended when `{by}` ended");
        assert!(outcome.notes.contains(&note), "{:?}", outcome.notes);
    }
    let note = |outcome: &Outcome| outcome.notes.iter().any(|note| note.contains("was ended"));
    assert!(!note(&outcomes[0]));
    assert!(outcomes[0].elapsed_ns >= 40 * MS);
}

#[test]
fn a_failure_ends_others_that_are_then_incomplete() {
    let directory = scratch_folder();
    let path = directory.path().join("short");
    run(&write_job(3), &file(&path));
    let jobs = [read_job(20), endless("long"), endless("never")];
    let targets = file(&path);
    let stop = StopFlag::new();
    let progress: [Progress; 3] = std::array::from_fn(|_| Progress::new(1));
    let mut parts = [0, 1, 2].map(|n| {
        let targets: &[Target] = if n == 0 { &targets } else { &[] };
        Part::new(&jobs[n], targets, &stop, &progress[n])
    });
    parts[0].failure_ends = &[1, 2];
    parts[2].after = &[1];
    let outcomes = run_together(&parts).unwrap();
    let outcomes: Vec<Outcome> = outcomes.into_iter().map(Result::unwrap).collect();
    assert!(matches!(outcomes[0].ended, Ended::Failed(_)));
    for outcome in &outcomes[1..] {
        assert_eq!(outcome.ended, Ended::Stopped);
        let codes: Vec<_> = outcome.caveats.iter().map(|caveat| caveat.code).collect();
        assert_eq!(codes, [CaveatCode::Interrupted]);
    }
    assert_eq!((outcomes[2].began_ns, outcomes[2].operations()), (None, 0));
    let note = "it did not begin, as `test` failed before".to_owned();
    assert!(outcomes[2].notes.contains(&note), "{:?}", outcomes[2].notes);
}

#[test]
fn who_waits_is_stopped_too() {
    let jobs = [endless("first"), endless("second")];
    let stop = StopFlag::new();
    let progress = [Progress::new(1), Progress::new(1)];
    let mut parts = [0, 1].map(|n| Part::new(&jobs[n], &[], &stop, &progress[n]));
    parts[1].after = &[0];
    let outcomes = std::thread::scope(|scope| {
        let running = scope.spawn(|| run_together(&parts).unwrap());
        while progress[0].operations() == 0 {
            std::thread::yield_now();
        }
        stop.raise();
        running.join().unwrap()
    });
    let second = outcomes[1].as_ref().unwrap();
    assert_eq!((&second.ended, second.began_ns), (&Ended::Stopped, None));
    assert_eq!(progress[1].operations(), 0);
}

#[test]
fn courses_that_cannot_be_are_refused() {
    let jobs = [endless("a"), endless("b"), endless("c")];
    let refusal = |shape: fn(usize, &mut Part<'_>)| played(&jobs, shape).unwrap_err().to_string();
    let circle = refusal(|number, part| part.after = [&[2][..], &[0], &[1]][number]);
    assert!(circle.contains("nobody would ever begin"), "{circle}");
    let itself = refusal(|number, part| part.after = [&[][..], &[1], &[]][number]);
    assert!(
        itself.contains("`b`") && itself.contains("nobody"),
        "{itself}"
    );
    let missing = refusal(|number, part| part.ends = [&[][..], &[], &[3]][number]);
    assert!(missing.contains("names part 3"), "{missing}");
    let order = refusal(|_, part| part.delay_ns = (2, 1));
    assert!(order.contains("give the least first"), "{order}");
}
