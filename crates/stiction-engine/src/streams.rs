//! Which operation is to begin next, and when, where each direction may have a pace of
//! its own.

use stiction_core::{Action, Job, Pace, Rate, Seed};

use crate::log::Log;
use crate::request::{Completions, Request, Requests, Way};
use crate::schedule::Schedule;
use crate::task::Task;
use crate::turnover::Turnover;
use crate::varied::Varied;

/// The operation that is to begin next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Next {
    pub(crate) request: Request,
    /// When it is to begin, ticks; `None` for now.
    pub(crate) due: Option<u64>,
}

/// The operations of one worker, as one stream or one for each direction.
#[derive(Debug)]
pub(crate) struct Streams {
    requests: Varied,
    streams: Box<[Stream]>,
}

/// Operations that share a pace.
#[derive(Debug)]
struct Stream {
    /// `None` for whatever comes.
    way: Option<Way>,
    /// `None` for as fast as there is room.
    schedule: Option<Schedule>,
    /// Its next operation, if that is known, and when it is due.
    waiting: Option<(Request, u64)>,
    /// Whether it was given the operation that has not begun.
    is_next: bool,
    /// Whether there are no more.
    ended: bool,
}

impl Streams {
    /// What `task` does; places are drawn from `seed`, moments from `arrivals`.
    pub(crate) fn new(task: &Task<'_>, seed: Seed, arrivals: Seed) -> Self {
        let job = task.job;
        let stream = |way: Option<Way>| {
            let moments = arrivals.stream(way.map_or(0, |way| way as u64));
            let rate = |pace: Pace| rate_of(pace, way).map(|rate| (rate, pace.arrivals));
            Stream {
                way,
                schedule: job.pace.and_then(rate).map(|(rate, arrivals)| {
                    Schedule::new(rate, arrivals, task.worker, job.workers(), moments)
                }),
                waiting: None,
                is_next: false,
                ended: false,
            }
        };
        Self {
            requests: Varied::new(task, seed),
            streams: ways(job).into_iter().map(stream).collect(),
        }
    }

    /// The operation that comes first; `None` when there are no more.
    #[inline]
    pub(crate) fn next(&mut self, log: &Log<'_>) -> Option<Next> {
        let requests = &mut self.requests;
        if let [only] = &mut *self.streams {
            let request = requests.next()?;
            let due = only.schedule.as_mut().map(|schedule| {
                only.is_next = true;
                log.ticks_at(schedule.next(request.length_bytes))
            });
            return Some(Next { request, due });
        }
        self.streams
            .iter_mut()
            .for_each(|one| one.draw(requests, log));
        let now = log.now();
        let (first, due) = (self.streams.iter().enumerate())
            .filter_map(|(place, one)| Some((place, one.waiting?.1)))
            .min_by_key(|(_, due)| *due)
            .map_or((None, u64::MAX), |(place, due)| (Some(place), due));
        if due > now
            && let Some(request) = self.at_once()
        {
            return Some(Next { request, due: None });
        }
        let first = &mut self.streams[first?];
        let (request, due) = first.waiting.take()?;
        first.is_next = true;
        let due = Some(due);
        Some(Next { request, due })
    }

    /// An operation of a stream that has no pace.
    fn at_once(&mut self) -> Option<Request> {
        let unpaced = |one: &&mut Stream| one.schedule.is_none() && !one.ended;
        let stream = self.streams.iter_mut().find(unpaced)?;
        let request = stream.way.and_then(|way| self.requests.next_of(way));
        stream.ended = request.is_none();
        request
    }

    /// As [`Requests::turnover`].
    pub(crate) fn turnover(&mut self) -> Option<&mut Turnover> {
        self.requests.turnover()
    }

    /// As [`Requests::waits`].
    pub(crate) fn waits(&self) -> bool {
        self.requests.waits()
    }

    /// As [`Requests::written`].
    pub(crate) fn written(&self) -> Vec<u32> {
        self.requests.written()
    }

    /// The last operation that was given out has begun.
    pub(crate) fn begun(&mut self) {
        self.streams.iter_mut().for_each(|one| one.is_next = false);
    }

    /// Nothing more is to begin.
    pub(crate) fn close(&mut self) {
        for stream in &mut self.streams {
            let has_one = stream.waiting.take().is_some() || stream.is_next;
            if let Some(schedule) = stream.schedule.as_mut().filter(|_| has_one) {
                schedule.take_back();
            }
            (stream.is_next, stream.ended) = (false, true);
        }
    }

    /// How many operations more were to begin by `now_ns` after the start.
    pub(crate) fn overdue(&self, now_ns: u64) -> u64 {
        let schedules = self.streams.iter().filter_map(|one| one.schedule.as_ref());
        schedules.map(|one| one.overdue(now_ns)).sum()
    }

    /// Moves all moments to come by `ns`, of which there are `ticks`.
    pub(crate) fn shift(&mut self, ns: u64, ticks: u64) {
        for stream in &mut self.streams {
            if let Some(schedule) = &mut stream.schedule {
                schedule.shift(ns);
            }
            if let Some((_, due)) = &mut stream.waiting {
                *due = due.saturating_add(ticks);
            }
        }
    }
}

impl Completions for Streams {
    #[inline]
    fn ended(&mut self, request: Request, is_done: bool) {
        self.requests.ended(request, is_done);
    }
}

impl Stream {
    /// Makes the next operation known, if it has a moment.
    fn draw(&mut self, requests: &mut Varied, log: &Log<'_>) {
        let (Some(schedule), Some(way)) = (&mut self.schedule, self.way) else {
            return;
        };
        if self.waiting.is_some() || self.ended {
            return;
        }
        self.waiting = requests.next_of(way).map(|request| {
            let due = log.ticks_at(schedule.next(request.length_bytes));
            (request, due)
        });
        self.ended = self.waiting.is_none();
    }
}

/// The directions that have streams of their own; one `None` for all in one.
fn ways(job: &Job) -> Vec<Option<Way>> {
    let has_own = job.pace.is_some_and(|pace| pace.by_way.is_some());
    match job.action {
        _ if !has_own => vec![None],
        Action::Mixed { .. } => vec![Some(Way::Read), Some(Way::Write)],
        Action::Read => vec![Some(Way::Read)],
        Action::Write => vec![Some(Way::Write)],
        Action::Trim | Action::TrimWrite => vec![Some(Way::Trim)],
    }
}

/// The rate at `pace` of operations that go `way`.
fn rate_of(pace: Pace, way: Option<Way>) -> Option<Rate> {
    match (pace.by_way, way) {
        (Some(rates), Some(Way::Read)) => rates.read,
        (Some(rates), Some(Way::Write)) => rates.write,
        (Some(rates), Some(Way::Trim)) => rates.trim,
        (None, _) | (_, None) => Some(pace.rate),
    }
}
