//! One worker's record of the time: what happened when, and whether to go on.
//!
//! The time stamp that every operation is recorded with anyway also tells when an
//! interval has ended, when to look at the stop flag and when the time is up: one
//! comparison for each operation, and the rest about fifty times a second.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use stiction_core::{Direction, Job};

use crate::clock::Clock;
use crate::gate::Start;
use crate::memory::NoMemory;
use crate::recorder::{Series, Track};
use crate::request::{Request, Way};
use crate::rounds::Rounds;
use crate::{Progress, StopFlag};

/// How often a worker looks at the stop flag and publishes how far it is, ns.
const LOOK_NS: u64 = 20_000_000;
/// Memory for packed intervals, all workers together, bytes.
const PACKED_BYTES: usize = 1 << 29;
/// Of that, what one worker has at least and at most in each direction.
const PACKED_BYTES_MIN: usize = 1 << 16;
const PACKED_BYTES_MAX: usize = 1 << 23;

/// What all workers of a job look at.
#[derive(Debug)]
pub(crate) struct Signals<'a> {
    pub(crate) stop: &'a StopFlag,
    pub(crate) progress: &'a Progress,
    /// Raised when a worker fails, for the others to end too.
    failed: AtomicBool,
    /// Set once by a job beside this one that ends it.
    ended_by: OnceLock<EndedBy>,
    /// Whether that is set: what workers look at.
    ended: AtomicBool,
    /// What workers did by round, if the job is to end when that is steady.
    pub(crate) rounds: Option<Rounds>,
    /// Whether it is.
    steady: AtomicBool,
}

/// Which job beside this one ended it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EndedBy {
    pub(crate) job: String,
    /// Whether it did because it failed.
    pub(crate) failed: bool,
}

impl<'a> Signals<'a> {
    pub(crate) fn new(stop: &'a StopFlag, progress: &'a Progress) -> Self {
        Self {
            stop,
            progress,
            failed: AtomicBool::new(false),
            ended_by: OnceLock::new(),
            ended: AtomicBool::new(false),
            rounds: None,
            steady: AtomicBool::new(false),
        }
    }

    /// Ends the job, as the first that does says why.
    pub(crate) fn end(&self, by: EndedBy) {
        self.ended_by.get_or_init(|| by);
        self.ended.store(true, Ordering::Release);
    }

    /// Which job ended this one, if one did.
    pub(crate) fn ended_by(&self) -> Option<EndedBy> {
        self.ended_by.get().cloned()
    }

    /// Says that the rate is steady, and the job at its end.
    pub(crate) fn is_steady(&self) {
        self.steady.store(true, Ordering::Relaxed);
    }

    /// Whether a job beside this one has ended it.
    fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Whether the job is to end, from outside or because a worker failed.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.is_raised()
            || self.failed()
            || self.is_ended()
            || self.steady.load(Ordering::Relaxed)
    }

    /// Says that a worker failed.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Whether a worker failed.
    pub(crate) fn failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }
}

/// The tracks of one worker, made before the start.
#[derive(Debug)]
pub(crate) struct Tracks {
    /// By way.
    ways: [Option<Track>; Way::COUNT],
    sync: Option<Track>,
    commit: Option<Track>,
    submit: Option<Track>,
    late: Option<Track>,
}

impl Tracks {
    /// Tracks for all that `job` records.
    ///
    /// # Errors
    /// When there is no address space to be had.
    pub(crate) fn new(job: &Job) -> Result<Self, NoMemory> {
        let packed = PACKED_BYTES / job.workers().max(1);
        let packed = packed.clamp(PACKED_BYTES_MIN, PACKED_BYTES_MAX);
        let track =
            |wanted: bool, direction| wanted.then(|| Track::new(direction, packed)).transpose();
        let syncs =
            job.sync_every.is_some() || job.writeback_every.is_some() || job.sync_at_end.is_some();
        Ok(Self {
            ways: [
                track(job.reads(), Direction::Read)?,
                track(job.action.writes(), Direction::Write)?,
                track(job.action.trims(), Direction::Trim)?,
            ],
            sync: track(syncs, Direction::Sync)?,
            commit: track(commits(job), Direction::Commit)?,
            submit: track(job.time_submission, Direction::Submit)?,
            late: track(job.pace.is_some(), Direction::Lateness)?,
        })
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Track> {
        let Self {
            ways,
            sync,
            commit,
            submit,
            late,
        } = self;
        ways.iter_mut()
            .chain([sync, commit, submit, late])
            .flatten()
    }
}

/// Whether each write of `job` is followed by a sync.
pub(crate) fn commits(job: &Job) -> bool {
    job.sync_every.is_some_and(|every| every.writes == 1)
}

/// Operations of one way that began at one time and are found complete at another: all
/// that were handed over and taken back together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alike {
    way: Way,
    begun: u64,
    count: u64,
    bytes: u64,
}

impl Default for Alike {
    fn default() -> Self {
        Self {
            way: Way::Read,
            begun: 0,
            count: 0,
            bytes: 0,
        }
    }
}

impl Alike {
    /// One operation.
    #[inline(always)]
    pub(crate) fn of(request: Request, begun: u64) -> Self {
        Self {
            way: request.way,
            begun,
            count: 1,
            bytes: request.length_bytes.into(),
        }
    }

    /// Adds another one; false when it is not like those that are in.
    #[inline(always)]
    pub(crate) fn add(&mut self, request: Request, begun: u64) -> bool {
        let is_alike = self.begun == begun && self.way == request.way;
        if is_alike {
            self.count += 1;
            self.bytes += u64::from(request.length_bytes);
        }
        is_alike
    }
}

/// Where a worker is in the rounds.
#[derive(Debug)]
struct Course {
    /// Number of the present round; `None` before the first.
    index: Option<u64>,
    /// When it ends, ticks.
    end: u64,
    /// Length of a round, ticks.
    ticks: u64,
    /// Operations and bytes before it.
    before: (u64, u64),
}

impl Course {
    fn new(rounds: Option<&Rounds>, clock: Clock, released: u64) -> Self {
        let measure = rounds.map(Rounds::measure_ns);
        Self {
            index: None,
            end: measure.map_or(u64::MAX, |(_, ramp_ns)| {
                released.saturating_add(clock.ticks(ramp_ns))
            }),
            ticks: measure.map_or(u64::MAX, |(round_ns, _)| clock.ticks(round_ns)),
            before: (0, 0),
        }
    }
}

/// A worker's tracks while it runs.
#[derive(Debug)]
pub(crate) struct Log<'a> {
    pub(crate) clock: Clock,
    start: u64,
    released: u64,
    tracks: Tracks,
    /// Number of the interval that is being recorded.
    interval: u64,
    interval_ns: u64,
    /// The earliest of the three moments after it, ticks.
    next_event: u64,
    interval_end: u64,
    next_look: u64,
    deadline: u64,
    round: Course,
    signals: &'a Signals<'a>,
    worker: usize,
    stopped: bool,
    /// Whether a job beside this one ended it.
    cut: bool,
    over: bool,
}

impl<'a> Log<'a> {
    pub(crate) fn new(
        job: &Job,
        worker: u32,
        start: Start,
        tracks: Tracks,
        signals: &'a Signals<'a>,
    ) -> Self {
        let Start {
            clock,
            ticks,
            released,
        } = start;
        let after = |ns| ticks.saturating_add(clock.ticks(ns));
        let mut log = Self {
            clock,
            start: ticks,
            released,
            tracks,
            interval: 0,
            interval_ns: job.interval_ns,
            next_event: 0,
            interval_end: after(job.interval_ns),
            next_look: ticks,
            deadline: job
                .duration_ns
                .map_or(u64::MAX, |ns| released.saturating_add(clock.ticks(ns))),
            round: Course::new(signals.rounds.as_ref(), clock, released),
            signals,
            worker: worker as usize,
            stopped: false,
            cut: false,
            over: false,
        };
        log.choose_next_event();
        log
    }

    /// The time now, ticks.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// `ticks` in ns after the start of the job.
    pub(crate) fn since_start_ns(&self, ticks: u64) -> u64 {
        self.clock.ns(ticks.saturating_sub(self.start))
    }

    /// Whether anything is due at `now` that [`attend`](Self::attend) does.
    #[inline(always)]
    pub(crate) fn is_due(&self, now: u64) -> bool {
        now >= self.next_event
    }

    /// Ends intervals, publishes that `operations` are done and `bytes` moved, looks at the flags and
    /// the time. Returns whether the worker has to end.
    #[cold]
    #[inline(never)]
    pub(crate) fn attend(&mut self, now: u64, operations: u64, bytes: u64) -> bool {
        if now >= self.interval_end {
            self.end_interval(now);
        }
        if now >= self.round.end {
            self.end_rounds(now, operations, bytes);
        }
        if now >= self.next_look {
            self.next_look = now.saturating_add(self.clock.ticks(LOOK_NS));
            self.publish(operations, bytes);
        }
        self.choose_next_event();
        self.stopped |= self.signals.stop.is_raised();
        self.cut |= !self.over && self.signals.is_ended();
        self.over |= self.stopped || now >= self.deadline || self.signals.is_over();
        self.over
    }

    fn end_interval(&mut self, now: u64) {
        let ended = self.interval;
        self.interval = self.since_start_ns(now) / self.interval_ns;
        let end_ns = (self.interval + 1).saturating_mul(self.interval_ns);
        self.interval_end = self.start.saturating_add(self.clock.ticks(end_ns));
        for track in self.tracks.all() {
            track.cut(ended, self.interval);
        }
    }

    /// Closes the rounds that are over at `now`. What was done since the last look at
    /// the time counts for the first of them.
    fn end_rounds(&mut self, now: u64, operations: u64, bytes: u64) {
        let Some(rounds) = &self.signals.rounds else {
            return;
        };
        let round = &mut self.round;
        while now >= round.end {
            if let Some(index) = round.index {
                let (operations_before, bytes_before) = round.before;
                rounds.close(index, operations - operations_before, bytes - bytes_before);
            }
            round.before = (operations, bytes);
            round.index = Some(round.index.map_or(0, |index| index + 1));
            round.end = round.end.saturating_add(round.ticks);
        }
    }

    fn choose_next_event(&mut self) {
        let soon = self.interval_end.min(self.next_look);
        self.next_event = soon.min(self.deadline).min(self.round.end);
    }

    fn publish(&self, operations: u64, bytes: u64) {
        self.signals
            .progress
            .publish(self.worker, operations, bytes);
    }

    /// Records operations that end `now`.
    #[inline(always)]
    pub(crate) fn alike(&mut self, alike: &Alike, now: u64) {
        if alike.count == 0 {
            return;
        }
        let latency_ns = self.clock.ns(now.saturating_sub(alike.begun));
        if let Some(track) = &mut self.tracks.ways[alike.way as usize] {
            track.record_alike(latency_ns, alike.count, alike.bytes);
        }
    }

    /// Records an operation from `begin` to `end`.
    #[inline(always)]
    pub(crate) fn data(&mut self, request: Request, begin: u64, end: u64) {
        let latency_ns = self.clock.ns(end.saturating_sub(begin));
        if let Some(track) = &mut self.tracks.ways[request.way as usize] {
            track.record(latency_ns, request.length_bytes.into());
        }
    }

    /// Records a sync from `begin` to `end`.
    pub(crate) fn sync(&mut self, begin: u64, end: u64) {
        let latency_ns = self.clock.ns(end.saturating_sub(begin));
        if let Some(sync) = &mut self.tracks.sync {
            sync.record(latency_ns, 0);
        }
    }

    /// Records a write of `bytes` from `begin` on together with the sync that ended at `end`,
    /// if the job has a sync for each write.
    pub(crate) fn commit(&mut self, bytes: u32, begin: u64, end: u64) {
        let latency_ns = self.clock.ns(end.saturating_sub(begin));
        if let Some(commit) = &mut self.tracks.commit {
            commit.record(latency_ns, bytes.into());
        }
    }

    /// Whether the time of handing operations over is recorded.
    #[inline(always)]
    pub(crate) fn times_submission(&self) -> bool {
        self.tracks.submit.is_some()
    }

    /// Records for each of so many operations the time of the call that handed them
    /// over, from `begin` until now.
    pub(crate) fn submitted(&mut self, operations: usize, begin: u64) {
        let latency_ns = self.clock.ns(self.now().saturating_sub(begin));
        if let Some(submit) = &mut self.tracks.submit {
            (0..operations).for_each(|_| submit.record(latency_ns, 0));
        }
    }

    /// Records that an operation begins `now` that was to begin at `due`.
    pub(crate) fn late(&mut self, due: u64, now: u64) {
        let late_ns = self.clock.ns(now.saturating_sub(due));
        if let Some(late) = &mut self.tracks.late {
            late.record(late_ns, 0);
        }
    }

    /// The moment `ns` after this worker was let go, ticks.
    pub(crate) fn ticks_at(&self, ns: u64) -> u64 {
        self.released.saturating_add(self.clock.ticks(ns))
    }

    /// When this worker is let go, ticks.
    pub(crate) fn released(&self) -> u64 {
        self.released
    }

    /// Whether this worker is not let go.
    pub(crate) fn is_early(&self) -> bool {
        self.now() < self.released
    }

    /// The time since this worker was let go, ns.
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.ns(self.now().saturating_sub(self.released))
    }

    /// From now to `until`, ns; 0 when it is past.
    pub(crate) fn ns_until(&self, until: u64) -> u64 {
        self.clock.ns(until.saturating_sub(self.now()))
    }

    /// When [`attend`](Self::attend) is due next, ticks.
    pub(crate) fn next_event(&self) -> u64 {
        self.next_event
    }

    /// Whether the worker has to end.
    pub(crate) fn is_over(&self) -> bool {
        self.over
    }

    /// Whether the stop flag was seen.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether a job beside this one ended it.
    pub(crate) fn was_cut(&self) -> bool {
        self.cut
    }

    /// Publishes the last figures and ends all tracks.
    pub(crate) fn finish(self, operations: u64, bytes: u64) -> Vec<Series> {
        self.publish(operations, bytes);
        let Tracks {
            ways,
            sync,
            commit,
            submit,
            late,
        } = self.tracks;
        ways.into_iter()
            .chain([sync, commit, submit, late])
            .flatten()
            .map(|track| track.finish(self.interval))
            .collect()
    }
}
