//! Workers that run code of the caller: for work that is no stream of blocks.
//!
//! The caller's code makes its calls and times each by a [`Stopwatch`]; start, clock,
//! recorder, stop flag and first failure are those of jobs. What holds in the timed
//! loop holds for the stopwatch too: it allocates nothing and takes no lock.

use std::io;
use std::thread::{Builder, ScopedJoinHandle};
use std::time::Duration;

use stiction_core::{CpuTime, Direction, Recording, WorkerSummary};

use crate::clock::{Calibration, Clock};
use crate::gate::{Gate, Start};
use crate::log::Signals;
use crate::memory::NoMemory;
use crate::recorder::{Series, Track, merge};
use crate::thread::{Usage, ignore_file_size_signal};
use crate::{Ended, EngineError, IoFailure, Progress, StopFlag};

/// How often a worker looks at the stop flag and publishes how far it is, ns.
const LOOK_NS: u64 = 20_000_000;
/// Memory for the packed intervals of one direction of one worker, bytes.
const PACKED_BYTES: usize = 1 << 20;

/// What one worker does, from the start to its end.
pub type Routine<'a> = Box<dyn FnOnce(&mut Stopwatch<'_>) -> Result<(), IoFailure> + Send + 'a>;

/// What is recorded of routines, and when they are to end.
#[derive(Clone, Copy, Debug)]
pub struct Timetable<'a> {
    /// The directions whose recordings are the workers' operations.
    pub counted: &'a [Direction],
    /// What else is recorded.
    pub also: &'a [Direction],
    /// Length of the intervals in which operations are recorded, ns.
    pub interval_ns: u64,
    /// Time after which [`Stopwatch::is_over`] says so, ns; `None` for no such limit.
    pub duration_ns: Option<u64>,
}

/// A moment on a [`Stopwatch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

/// One worker's record of the time.
#[derive(Debug)]
pub struct Stopwatch<'a> {
    clock: Clock,
    start: u64,
    counted: &'a [Direction],
    tracks: Vec<(Direction, Track)>,
    operations: u64,
    bytes: u64,
    first: Option<u64>,
    last: u64,
    /// When the last counted operation ended, if a sync came after it, ticks.
    before_sync: Option<u64>,
    counted_last: u64,
    interval: u64,
    interval_ns: u64,
    interval_end: u64,
    next_look: u64,
    deadline: u64,
    worker: usize,
    signals: &'a Signals<'a>,
    stopped: bool,
    over: bool,
}

impl<'a> Stopwatch<'a> {
    fn new(
        timetable: Timetable<'a>,
        worker: usize,
        start: Start,
        tracks: Vec<(Direction, Track)>,
        signals: &'a Signals<'a>,
    ) -> Self {
        let Start { clock, ticks, .. } = start;
        let after = |ns| ticks.saturating_add(clock.ticks(ns));
        Self {
            clock,
            start: ticks,
            counted: timetable.counted,
            tracks,
            operations: 0,
            bytes: 0,
            first: None,
            last: ticks,
            before_sync: None,
            counted_last: ticks,
            interval: 0,
            interval_ns: timetable.interval_ns,
            interval_end: after(timetable.interval_ns),
            next_look: ticks,
            deadline: timetable.duration_ns.map_or(u64::MAX, after),
            worker,
            signals,
            stopped: false,
            over: false,
        }
    }

    /// The moment now.
    #[inline]
    #[must_use]
    pub fn now(&self) -> Moment {
        Moment(self.clock.now())
    }

    /// The moment `after_start_ns` after the start that all workers share.
    #[must_use]
    pub fn at(&self, after_start_ns: u64) -> Moment {
        Moment(self.start.saturating_add(self.clock.ticks(after_start_ns)))
    }

    /// Waits for a moment, asleep as long as that is safe. Returns whether it came: the
    /// worker may have to end before, as [`is_over`](Self::is_over) then says.
    pub fn wait_until(&mut self, moment: Moment) -> bool {
        loop {
            let now = self.clock.now();
            if now >= moment.0 {
                return true;
            }
            if now >= self.next_look || now >= self.deadline {
                self.last = now;
                if self.is_over() {
                    return false;
                }
            }
            let until = moment.0.min(self.next_look).min(self.deadline);
            let left_ns = self.clock.ns(until.saturating_sub(now));
            match left_ns.checked_sub(self.clock.awake_ns()) {
                Some(asleep_ns) if asleep_ns > 0 => {
                    std::thread::sleep(Duration::from_nanos(asleep_ns));
                }
                _ => std::hint::spin_loop(),
            }
        }
    }

    /// Records by how much an operation that was to begin at `intended` began later.
    ///
    /// # Panics
    /// When the timetable has no [`Direction::Lateness`].
    pub fn record_lateness(&mut self, intended: Moment, begun: Moment) {
        let late_ns = self.clock.ns(begun.0.saturating_sub(intended.0));
        if begun.0 >= self.interval_end {
            self.end_interval(begun.0);
        }
        self.track(Direction::Lateness).record(late_ns, 0);
    }

    fn track(&mut self, direction: Direction) -> &mut Track {
        let mut tracks = self.tracks.iter_mut();
        let (_, track) = tracks
            .find(|(of, _)| *of == direction)
            .expect("the timetable names every direction that is recorded");
        track
    }

    /// Records an operation of `direction` that began at `since`, ends now and moved
    /// `bytes`; returns when it ended.
    ///
    /// # Panics
    /// When the timetable has no such direction.
    #[inline]
    pub fn record(&mut self, direction: Direction, since: Moment, bytes: u64) -> Moment {
        let now = self.clock.now();
        if now >= self.interval_end {
            self.end_interval(now);
        }
        let latency_ns = self.clock.ns(now.saturating_sub(since.0));
        self.track(direction).record(latency_ns, bytes);
        if self.counted.contains(&direction) {
            self.operations += 1;
            self.bytes += bytes;
            self.counted_last = now;
        }
        self.before_sync = (direction == Direction::Sync).then_some(self.counted_last);
        self.first.get_or_insert(since.0);
        self.last = now;
        Moment(now)
    }

    /// Whether the worker has to end: its time is up, it is to stop, or another one
    /// failed. To be asked after every operation.
    #[inline]
    pub fn is_over(&mut self) -> bool {
        if self.last >= self.next_look || self.last >= self.deadline {
            self.look();
        }
        self.over
    }

    /// Whether the stop flag was seen.
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        self.stopped
    }

    #[cold]
    fn look(&mut self) {
        self.next_look = self.last.saturating_add(self.clock.ticks(LOOK_NS));
        self.publish();
        self.stopped |= self.signals.stop.is_raised();
        self.over |= self.stopped || self.last >= self.deadline || self.signals.failed();
    }

    #[cold]
    fn end_interval(&mut self, now: u64) {
        let ended = self.interval;
        self.interval = self.since_start_ns(now) / self.interval_ns;
        let end_ns = (self.interval + 1).saturating_mul(self.interval_ns);
        self.interval_end = self.start.saturating_add(self.clock.ticks(end_ns));
        for (_, track) in &mut self.tracks {
            track.cut(ended, self.interval);
        }
    }

    fn since_start_ns(&self, ticks: u64) -> u64 {
        self.clock.ns(ticks.saturating_sub(self.start))
    }

    fn publish(&self) {
        self.signals
            .progress
            .publish(self.worker, self.operations, self.bytes);
    }

    fn finish(self, used: Usage, failure: Option<IoFailure>) -> Report {
        self.publish();
        let end_ns = self.since_start_ns(self.clock.now());
        Report {
            summary: WorkerSummary {
                operations: self.operations,
                bytes: self.bytes,
                first_ns: self.since_start_ns(self.first.unwrap_or(self.start)),
                last_ns: self.since_start_ns(self.last),
                data_last_ns: self.before_sync.map_or(0, |at| self.since_start_ns(at)),
                cpu_ns: used.cpu.total_ns,
                cpu_system_ns: used.cpu.system_ns,
                switches_voluntary: used.switches_voluntary,
                switches_involuntary: used.switches_involuntary,
                faults_minor: used.faults_minor,
                faults_major: used.faults_major,
                run_delay_ns: used.run_delay_ns,
            },
            cpu: used.cpu,
            failure,
            stopped: self.stopped,
            end_ns,
            series: self
                .tracks
                .into_iter()
                .map(|(_, track)| track.finish(self.interval))
                .collect(),
        }
    }
}

/// What a worker hands back.
struct Report {
    summary: WorkerSummary,
    cpu: CpuTime,
    failure: Option<IoFailure>,
    stopped: bool,
    end_ns: u64,
    series: Vec<Series>,
}

/// What routines did.
#[derive(Clone, Debug)]
pub struct Performed {
    /// Everything that was timed, by direction and interval, all workers together.
    pub recordings: Vec<Recording>,
    /// Each worker, in the order of the routines.
    pub workers: Vec<WorkerSummary>,
    /// CPU time of the workers' threads during the measured time.
    pub cpu: CpuTime,
    /// From the start to the end of the last worker, ns.
    pub elapsed_ns: u64,
    /// How it ended.
    pub ended: Ended,
    /// The clock that was used.
    pub notes: Vec<String>,
}

/// Runs `routines` at the same time, each in a thread of its own, from one start;
/// returns when all have ended. `progress` needs room for as many workers.
///
/// As with [`run`](crate::run()), `SIGXFSZ` is ignored from then on.
///
/// # Errors
/// [`EngineError::Threads`] and [`EngineError::Memory`], when none of them began.
/// A routine's own failure is in [`Performed::ended`]; it ends the others.
pub fn run_routines(
    timetable: Timetable<'_>,
    routines: Vec<Routine<'_>>,
    stop: &StopFlag,
    progress: &Progress,
) -> Result<Performed, EngineError> {
    ignore_file_size_signal();
    let calibration = Calibration::begin();
    let wanted = routines.len();
    let signals = &Signals::new(stop, progress);
    let gate = &Gate::new(u32::try_from(wanted).unwrap_or(u32::MAX));
    let tracks: Vec<_> = (0..wanted)
        .map(|_| tracks(timetable))
        .collect::<Result<_, _>>()
        .map_err(|none: NoMemory| none.of("latencies", "ask for fewer workers"))?;
    let (clock, reports) = std::thread::scope(|scope| {
        let mut handles = Vec::with_capacity(wanted);
        for (worker, (routine, tracks)) in routines.into_iter().zip(tracks).enumerate() {
            let body = move || work(timetable, worker, routine, tracks, gate, signals);
            match Builder::new().spawn_scoped(scope, body) {
                Ok(handle) => handles.push(handle),
                Err(cause) => {
                    gate.abandon();
                    return Err(threads(wanted, worker, &cause));
                }
            }
        }
        gate.wait_for_all();
        let clock = calibration.finish();
        gate.open(clock, None);
        let ended = handles.into_iter().map(ScopedJoinHandle::join);
        let reports: Vec<Report> = ended
            .filter_map(|ended| match ended {
                Ok(report) => report,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect();
        Ok((clock, reports))
    })?;
    Ok(performed(timetable, &reports, clock.describe(&calibration)))
}

fn threads(wanted: usize, started: usize, cause: &io::Error) -> EngineError {
    EngineError::Threads {
        wanted,
        started,
        cause: cause.to_string(),
    }
}

fn tracks(timetable: Timetable<'_>) -> Result<Vec<(Direction, Track)>, NoMemory> {
    let directions = timetable.counted.iter().chain(timetable.also);
    directions
        .map(|&direction| Ok((direction, Track::new(direction, PACKED_BYTES)?)))
        .collect()
}

/// One worker; `None` when there was no start.
fn work(
    timetable: Timetable<'_>,
    worker: usize,
    routine: Routine<'_>,
    tracks: Vec<(Direction, Track)>,
    gate: &Gate,
    signals: &Signals<'_>,
) -> Option<Report> {
    drop(gate.arrival());
    let start = gate.wait()?;
    let before = Usage::of_this_thread();
    let mut stopwatch = Stopwatch::new(timetable, worker, start, tracks, signals);
    let failure = routine(&mut stopwatch).err();
    if failure.is_some() {
        signals.fail();
    }
    Some(stopwatch.finish(Usage::since(before), failure))
}

fn performed(timetable: Timetable<'_>, reports: &[Report], clock: String) -> Performed {
    let elapsed_ns = reports
        .iter()
        .map(|report| report.end_ns)
        .max()
        .unwrap_or(0);
    let series: Vec<&Series> = reports.iter().flat_map(|report| &report.series).collect();
    let failed = reports.iter().filter(|report| report.failure.is_some());
    let first = failed.min_by_key(|report| report.end_ns);
    let ended = match first.and_then(|report| report.failure.clone()) {
        Some(failure) => Ended::Failed(failure),
        None if reports.iter().any(|report| report.stopped) => Ended::Stopped,
        None => Ended::Planned,
    };
    Performed {
        recordings: merge(&series, timetable.interval_ns, elapsed_ns).recordings,
        workers: reports.iter().map(|report| report.summary).collect(),
        cpu: reports.iter().map(|report| report.cpu).sum(),
        elapsed_ns,
        ended,
        notes: vec![clock],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cause, Operation};

    const TIMETABLE: Timetable<'static> = Timetable {
        counted: &[Direction::Whole],
        also: &[Direction::Stat],
        interval_ns: 1_000_000,
        duration_ns: None,
    };

    fn stats(count: u64) -> Routine<'static> {
        Box::new(move |stopwatch| {
            for _ in 0..count {
                let begun = stopwatch.now();
                stopwatch.record(Direction::Stat, begun, 0);
                stopwatch.record(Direction::Whole, begun, 10);
                if stopwatch.is_over() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn operations(performed: &Performed, direction: Direction) -> u64 {
        let mut recordings = performed.recordings.iter();
        recordings
            .find(|recording| recording.direction == direction)
            .map_or(0, Recording::operations)
    }

    #[test]
    fn everything_that_is_timed_is_counted_once() {
        let progress = Progress::new(2);
        let routines = vec![stats(1000), stats(234)];
        let performed = run_routines(TIMETABLE, routines, &StopFlag::new(), &progress).unwrap();
        assert_eq!(performed.ended, Ended::Planned);
        assert_eq!(operations(&performed, Direction::Whole), 1234);
        assert_eq!(operations(&performed, Direction::Stat), 1234);
        let by_worker: Vec<(u64, u64)> = performed
            .workers
            .iter()
            .map(|worker| (worker.operations, worker.bytes))
            .collect();
        assert_eq!(by_worker, [(1000, 10_000), (234, 2340)]);
        assert_eq!((progress.operations(), progress.bytes()), (1234, 12_340));
        assert!(
            performed
                .workers
                .iter()
                .all(|w| w.last_ns <= performed.elapsed_ns)
        );
    }

    /// Moments are waited for, the time between counts as lateness, and the end of the
    /// time comes before a moment behind it.
    #[test]
    fn moments_are_waited_for_and_the_end_is_not_overslept() {
        let timetable = Timetable {
            counted: &[Direction::Read, Direction::Write],
            also: &[Direction::Lateness],
            interval_ns: 1_000_000,
            duration_ns: Some(5_000_000),
        };
        let routine: Routine<'_> = Box::new(|stopwatch| {
            for (at_ns, way) in [(1_000_000, Direction::Read), (3_000_000, Direction::Write)] {
                let intended = stopwatch.at(at_ns);
                assert!(stopwatch.wait_until(intended));
                let begun = stopwatch.now();
                assert!(begun >= intended);
                stopwatch.record_lateness(intended, begun);
                stopwatch.record(way, intended, 7);
            }
            let too_late = stopwatch.at(60_000_000_000);
            assert!(!stopwatch.wait_until(too_late));
            assert!(stopwatch.is_over());
            Ok(())
        });
        let progress = Progress::new(1);
        let done = run_routines(timetable, vec![routine], &StopFlag::new(), &progress).unwrap();
        assert_eq!(done.ended, Ended::Planned);
        assert_eq!((done.workers[0].operations, done.workers[0].bytes), (2, 14));
        assert_eq!(operations(&done, Direction::Lateness), 2);
        assert!(done.workers[0].first_ns >= 1_000_000);
        assert!((5_000_000..60_000_000_000).contains(&done.elapsed_ns));
    }

    #[test]
    fn a_failure_ends_the_others_and_is_told() {
        let failure = IoFailure {
            worker: 1,
            operation: Operation::Unlink,
            path: "/gone".into(),
            offset_bytes: None,
            cause: Cause::Errno(2),
        };
        let told = failure.clone();
        let routines = vec![
            stats(u64::MAX),
            Box::new(move |_: &mut Stopwatch<'_>| Err(told)),
        ];
        let performed =
            run_routines(TIMETABLE, routines, &StopFlag::new(), &Progress::new(2)).unwrap();
        assert_eq!(performed.ended, Ended::Failed(failure));
    }

    #[test]
    fn the_stop_flag_and_the_time_end_a_routine() {
        let stop = StopFlag::new();
        stop.raise();
        let progress = Progress::new(1);
        let performed = run_routines(TIMETABLE, vec![stats(u64::MAX)], &stop, &progress).unwrap();
        assert_eq!(performed.ended, Ended::Stopped);

        let timed = Timetable {
            duration_ns: Some(3_000_000),
            ..TIMETABLE
        };
        let routines = vec![stats(u64::MAX)];
        let performed = run_routines(timed, routines, &StopFlag::new(), &progress).unwrap();
        assert_eq!(performed.ended, Ended::Planned);
        assert!(performed.elapsed_ns >= 3_000_000);
    }
}
