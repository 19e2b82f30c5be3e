//! Several jobs at the same time, each with its own beginning and end.

use std::io;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

use stiction_core::{Job, StartOrder};

use crate::clock::{Calibration, Clock};
use crate::data::Ledger;
use crate::draw::Draw;
use crate::gate::{Gate, Latch};
use crate::log::EndedBy;
use crate::run::{Ending, Run, join};
use crate::task::{WORKERS_MAX, shared_stamps};
use crate::thread::ignore_file_size_signal;
use crate::{EngineError, Outcome, Progress, StopFlag, Target};

/// The stream of a job's seed that delays are drawn from; workers have the lower ones.
const DELAY_STREAM: u64 = u64::MAX;
/// How often somebody who waits for his turn looks whether he is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// One of several jobs that run together.
///
/// Parts are known to each other by their place in what [`run_together`] is given.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// What is done.
    pub job: &'a Job,
    /// Where it goes; the job's numbers of targets are places in this.
    pub targets: &'a [Target],
    /// What is known of stamped blocks, as for [`run_checked`](crate::run_checked).
    pub ledger: Option<&'a Ledger>,
    /// Ends this job early; jobs may share one.
    pub stop: &'a StopFlag,
    /// How far this job is.
    pub progress: &'a Progress,
    /// Least and most that each worker waits before it begins, ns after the common
    /// start. Each draws its own delay from the job's seed; files are opened after the
    /// least.
    pub delay_ns: (u64, u64),
    /// Parts that must have ended before this one begins, in whatever way.
    pub after: &'a [usize],
    /// Parts that are ended when this one has ended.
    pub ends: &'a [usize],
    /// Parts that are ended when this one fails.
    pub failure_ends: &'a [usize],
}

impl<'a> Part<'a> {
    /// A part that begins at once and leaves the others alone.
    #[must_use]
    pub fn new(
        job: &'a Job,
        targets: &'a [Target],
        stop: &'a StopFlag,
        progress: &'a Progress,
    ) -> Self {
        Self {
            job,
            targets,
            ledger: None,
            stop,
            progress,
            delay_ns: (0, 0),
            after: &[],
            ends: &[],
            failure_ends: &[],
        }
    }

    /// How long worker `worker` waits, ns.
    fn drawn_delay_ns(&self, worker: u32) -> u64 {
        let (least, most) = self.delay_ns;
        let seed = self.job.seed.stream(DELAY_STREAM).stream(worker.into());
        match (most - least).checked_add(1) {
            Some(choices) => least + Draw::new(seed).below(choices),
            None => Draw::new(seed).bits(),
        }
    }

    fn begins_at_once(&self) -> bool {
        self.delay_ns.0 == 0 && self.after.is_empty()
    }
}

/// Runs several jobs at the same time, and returns when the workers of all have
/// ended: what became of each, in the order of `parts`.
///
/// All parts that wait for nothing begin at one moment, the common start, when all of
/// them are ready. The others are made ready when their time has come. Each job has its
/// own end, counted from its own beginning, and one that fails stops only those it is
/// said to. A part that could not be made ready in its turn is an error in its place.
///
/// # Errors
/// As [`run`](crate::run()), when none of the jobs did anything; jobs whose workers
/// start one after another cannot be run together with others, and parts cannot wait
/// for each other in a circle.
pub fn run_together(parts: &[Part<'_>]) -> Result<Vec<Result<Outcome, EngineError>>, EngineError> {
    let runs: Vec<Run<'_>> = parts
        .iter()
        .map(|part| {
            Run::new(
                part.job,
                part.targets,
                part.ledger,
                part.stop,
                part.progress,
            )
        })
        .collect();
    for (number, part) in parts.iter().enumerate() {
        if let Some(reason) = problem(parts, number) {
            let job = part.job.name.clone();
            return Err(EngineError::Job { job, reason });
        }
    }
    runs.iter().try_for_each(Run::check)?;
    let jobs: Vec<(&Job, &[Target])> = (parts.iter())
        .map(|part| (part.job, part.targets))
        .collect();
    if let Some(reason) = shared_stamps(&jobs) {
        let job = parts[0].job.name.clone();
        return Err(EngineError::Job { job, reason });
    }
    ignore_file_size_signal();
    let calibration = runs
        .first()
        .map_or_else(Calibration::begin, Run::calibration);
    let stage = Stage::new(parts, &runs);
    let (origin, courses) = stage.play(&calibration)?;
    let ready_ns = origin.ready_ns(&calibration);
    let clock = origin.clock.describe(&calibration);
    Ok(runs
        .iter()
        .zip(courses)
        .map(|(run, came)| {
            let came = came?;
            run.outcome(came.endings, came.began_ns, ready_ns, clock.clone())
        })
        .collect())
}

/// Runs one job, all its workers at once.
pub(crate) fn run_alone(run: &Run<'_>, calibration: &Calibration) -> Result<Outcome, EngineError> {
    let part = run.as_part();
    let stage = Stage::new(std::slice::from_ref(&part), std::slice::from_ref(run));
    let (origin, courses) = stage.play(calibration)?;
    let [came] = <[_; 1]>::try_from(courses).unwrap_or_else(|_| unreachable!("one part"));
    let came = came?;
    let (ready_ns, clock) = (
        origin.ready_ns(calibration),
        origin.clock.describe(calibration),
    );
    run.outcome(came.endings, came.began_ns, ready_ns, clock)
}

/// What is wrong with part `number`, beside its job.
fn problem(parts: &[Part<'_>], number: usize) -> Option<String> {
    let part = &parts[number];
    let workers: usize = parts.iter().map(|part| part.job.workers()).sum();
    if part.job.start == StartOrder::OneAfterAnother {
        return Some("its workers start one after another, so it runs alone".to_owned());
    }
    if workers > WORKERS_MAX {
        return Some(format!(
            "it and the jobs beside it have {workers} workers; {WORKERS_MAX} are possible"
        ));
    }
    let (least, most) = part.delay_ns;
    if least > most {
        return Some(format!(
            "it waits {least} ns at least and {most} ns at most: give the least first"
        ));
    }
    let named = [part.after, part.ends, part.failure_ends].into_iter();
    if let Some(missing) = named.flatten().find(|&&other| other >= parts.len()) {
        return Some(format!(
            "it names part {missing} of the parts beside it, and there are {}",
            parts.len()
        ));
    }
    waits_for_itself(parts, number).then(|| {
        "it waits for the end of a part that waits for it: nobody would ever begin".to_owned()
    })
}

/// Whether a chain of parts that wait for each other leads from `number` back to it.
fn waits_for_itself(parts: &[Part<'_>], number: usize) -> bool {
    let mut seen = vec![false; parts.len()];
    let mut open: Vec<usize> = parts[number].after.to_vec();
    while let Some(before) = open.pop() {
        if before == number {
            return true;
        }
        if before < parts.len() && !std::mem::replace(&mut seen[before], true) {
            open.extend(parts[before].after);
        }
    }
    false
}

/// What became of a part.
struct Came {
    began_ns: Option<u64>,
    endings: Vec<Ending>,
}

/// All parts, and which of them have ended.
struct Stage<'a> {
    parts: &'a [Part<'a>],
    runs: &'a [Run<'a>],
    /// Workers of each part that have not ended.
    active: Vec<AtomicU32>,
    /// Opened when the part has ended.
    ended: Vec<Latch>,
}

/// The common start.
#[derive(Clone, Copy)]
struct Origin {
    clock: Clock,
    ticks: u64,
}

impl Origin {
    /// From the call until then, ns.
    fn ready_ns(self, calibration: &Calibration) -> u64 {
        self.clock.ns(calibration.age_ticks(self.ticks))
    }
}

impl<'a> Stage<'a> {
    fn new(parts: &'a [Part<'a>], runs: &'a [Run<'a>]) -> Self {
        let active = |part: &Part<'_>| AtomicU32::new(part.job.workers() as u32);
        Self {
            parts,
            runs,
            active: parts.iter().map(active).collect(),
            ended: parts.iter().map(|_| Latch::default()).collect(),
        }
    }

    /// Starts all parts in their time, and waits for the end of all.
    ///
    /// # Errors
    /// When none has begun.
    fn play(
        &self,
        calibration: &Calibration,
    ) -> Result<(Origin, Vec<Result<Came, EngineError>>), EngineError> {
        let (first, later): (Vec<usize>, Vec<usize>) =
            (0..self.parts.len()).partition(|&number| self.parts[number].begins_at_once());
        let workers = first.iter().map(|&number| self.workers(number)).sum();
        let gate = Gate::new(workers);
        std::thread::scope(|scope| {
            let mut threads = Vec::with_capacity(first.len());
            let mut refusal = None;
            for &number in &first {
                let (own, refused) = self.spawn(scope, number, &gate);
                let is_whole = own.len() as u32 == self.workers(number);
                threads.push(own);
                if !is_whole {
                    refusal = refused;
                    break;
                }
            }
            let started = threads.iter().map(Vec::len).sum::<usize>() as u32;
            if started == workers {
                gate.wait_for_all();
            }
            let clock = calibration.finish();
            if started < workers || self.runs.iter().any(|run| run.signals.failed()) {
                gate.abandon();
                first.iter().for_each(|&number| self.ended[number].open());
                let endings = threads.into_iter().flatten().map(join);
                // A worker that failed has the better reason.
                let reasons: Vec<EngineError> = endings.filter_map(Result::err).collect();
                let reason = reasons.into_iter().next().or(refusal);
                return Err(reason.expect("a worker or a thread is missing for a reason"));
            }
            let origin = Origin {
                clock,
                ticks: gate.open(clock, None).ticks,
            };
            let waiting: Vec<_> = later
                .iter()
                .map(|&number| {
                    let thread = Builder::new();
                    thread.spawn_scoped(scope, move || self.begin_later(number, origin))
                })
                .collect();
            let mut courses: Vec<(usize, Result<Came, EngineError>)> = Vec::new();
            for (&number, own) in first.iter().zip(threads) {
                let came = Came {
                    began_ns: Some(0),
                    endings: own.into_iter().map(join).collect(),
                };
                courses.push((number, Ok(came)));
            }
            for (&number, thread) in later.iter().zip(waiting) {
                let came = match thread {
                    Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                    Err(error) => Err(self.runs[number].too_few_threads(0, &error)),
                };
                courses.push((number, came));
            }
            courses.sort_by_key(|(number, _)| *number);
            Ok((origin, courses.into_iter().map(|(_, came)| came).collect()))
        })
    }

    /// Waits for the time of part `number`, makes it ready and starts it.
    fn begin_later(&self, number: usize, origin: Origin) -> Result<Came, EngineError> {
        let came = self.await_turn(number, origin).then(|| {
            let gate = Gate::new(self.workers(number));
            std::thread::scope(|scope| {
                let (own, refusal) = self.spawn(scope, number, &gate);
                let is_whole = own.len() as u32 == self.workers(number);
                if is_whole {
                    gate.wait_for_all();
                }
                let began_ns = if is_whole && !self.runs[number].signals.failed() {
                    let start = gate.open(origin.clock, None);
                    Some(origin.clock.ns(start.ticks - origin.ticks))
                } else {
                    gate.abandon();
                    self.ended[number].open();
                    None
                };
                let endings: Vec<Ending> = own.into_iter().map(join).collect();
                match refusal {
                    Some(error) if endings.iter().all(Result::is_ok) => Err(error),
                    _ => Ok(Came { began_ns, endings }),
                }
            })
        });
        if !matches!(
            &came,
            Some(Ok(Came {
                began_ns: Some(_),
                ..
            }))
        ) {
            self.part_ended(number);
        }
        came.unwrap_or(Ok(Came {
            began_ns: None,
            endings: Vec::new(),
        }))
    }

    /// Waits until part `number` may begin; false when it was ended before.
    fn await_turn(&self, number: usize, origin: Origin) -> bool {
        let part = &self.parts[number];
        let is_over = || self.runs[number].signals.is_over();
        for &before in part.after {
            while !is_over() && !self.ended[before].wait_for(LOOK) {}
        }
        let Origin { clock, ticks } = origin;
        let begin = ticks.saturating_add(clock.ticks(part.delay_ns.0));
        loop {
            let left_ns = clock.ns(begin.saturating_sub(clock.now()));
            if left_ns == 0 || is_over() {
                return !is_over();
            }
            std::thread::sleep(LOOK.min(Duration::from_nanos(left_ns)));
        }
    }

    /// Starts the workers of part `number`, and says why there are fewer if there are
    /// and no worker says it.
    fn spawn<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        number: usize,
        gate: &'scope Gate,
    ) -> (Vec<ScopedJoinHandle<'scope, Ending>>, Option<EngineError>) {
        let (part, run) = (&self.parts[number], &self.runs[number]);
        let mut own = Vec::with_capacity(part.job.workers());
        if let Err(error) = self.watch(scope, number) {
            return (own, Some(run.too_few_threads(0, &error)));
        }
        while (own.len() as u32) < self.workers(number) && !run.signals.failed() {
            let worker = own.len() as u32;
            let delay_ns = part.drawn_delay_ns(worker) - part.delay_ns.0;
            let at_end = move || self.worker_ended(number);
            match run.spawn(scope, worker, gate, delay_ns, at_end) {
                Ok(thread) => own.push(thread),
                Err(error) => {
                    let refusal = run.too_few_threads(own.len(), &error);
                    return (own, Some(refusal));
                }
            }
        }
        (own, None)
    }

    /// Starts somebody who ends part `number` when its rate is steady, if that is wanted.
    fn watch<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        number: usize,
    ) -> io::Result<()> {
        let signals = &self.runs[number].signals;
        let Some(rounds) = &signals.rounds else {
            return Ok(());
        };
        let watch = move || {
            let mut known = Vec::new();
            while !self.ended[number].wait_for(LOOK) {
                if rounds.look(&mut known) {
                    signals.is_steady();
                    return;
                }
            }
        };
        Builder::new().spawn_scoped(scope, watch).map(|_| ())
    }

    fn workers(&self, number: usize) -> u32 {
        self.parts[number].job.workers() as u32
    }

    fn worker_ended(&self, number: usize) {
        if self.active[number].fetch_sub(1, Ordering::AcqRel) == 1 {
            self.part_ended(number);
        }
    }

    /// Ends those that end with part `number`, and lets those begin that wait for it.
    fn part_ended(&self, number: usize) {
        let part = &self.parts[number];
        let failed = self.runs[number].signals.failed();
        let because = |failed| EndedBy {
            job: part.job.name.clone(),
            failed,
        };
        if failed {
            for &other in part.failure_ends {
                self.runs[other].signals.end(because(true));
            }
        }
        for &other in part.ends {
            self.runs[other].signals.end(because(false));
        }
        self.ended[number].open();
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::Seed;

    use super::*;

    fn delays(seed: u64, delay_ns: (u64, u64)) -> Vec<u64> {
        let job = Job {
            seed: Seed(seed),
            ..Job::default()
        };
        let (stop, progress) = (StopFlag::new(), Progress::new(0));
        let part = Part {
            delay_ns,
            ..Part::new(&job, &[], &stop, &progress)
        };
        (0..4000)
            .map(|worker| part.drawn_delay_ns(worker))
            .collect()
    }

    /// Mean and standard deviation of even draws between a and b are (a + b) / 2 and
    /// (b - a) / sqrt(12); the mean of 4000 is within five of its own deviations.
    #[test]
    fn delays_are_even_draws_from_the_seed() {
        let drawn = delays(1, (1_000_000, 3_000_000));
        assert!(
            drawn
                .iter()
                .all(|delay| (1_000_000..=3_000_000).contains(delay))
        );
        let mean = drawn.iter().sum::<u64>() as f64 / 4000.0;
        let deviation = 2e6 / 12f64.sqrt() / 4000f64.sqrt();
        assert!((mean - 2e6).abs() < 5.0 * deviation, "{mean}");
        assert_eq!(drawn, delays(1, (1_000_000, 3_000_000)));
        assert_ne!(drawn, delays(2, (1_000_000, 3_000_000)));
        assert_eq!(delays(1, (7, 7)), [7; 4000]);
        assert_eq!(delays(1, (0, u64::MAX)).len(), 4000);
    }
}
