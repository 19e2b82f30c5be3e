//! The loop of a job that does more than go on as fast as it can: a set pace, pauses,
//! batches, limits that end it, a search for a depth, failures that do not.
//!
//! At a set pace every operation has a moment at which it is to begin, whatever became
//! of those before it.

mod problem;

use rustix::io::Errno;
use stiction_core::{Batches, Job, LoopKind};

use crate::backend::{Backend, has_queue};
use crate::data::Payload;
use crate::drive::{Attention, Done, hand_over, reap};
use crate::failure::{Cause, Fault, Operation};
use crate::floor::FloorWatch;
use crate::log::Log;
use crate::pauses::Pauses;
use crate::request::{Request, Way};
use crate::search::{DepthFound, Search};
use crate::slots::Slots;
use crate::streams::Streams;
use crate::task::Task;
use crate::tolerance::{Leniency, Tolerated};
use crate::waiting::wait;

pub(crate) use problem::problem;

/// Whether `job` needs this loop.
pub(crate) fn is_steered(job: &Job) -> bool {
    job.pace.is_some()
        || job.think.is_some()
        || job.batches.is_some()
        || job.floor.is_some()
        || job.latency_ns_max.is_some()
        || job.depth_search.is_some()
        || job.tolerance != stiction_core::Tolerance::default()
}

/// What the loop found beside what it did.
#[derive(Debug, Default)]
pub(crate) struct Steered {
    pub(crate) tolerated: Vec<Tolerated>,
    pub(crate) depth_found: Option<DepthFound>,
    /// Pauses, and their time together, ns.
    pub(crate) pauses: (u64, u64),
}

/// An operation that is ready and has not begun.
struct Ready {
    slot: u32,
    request: Request,
    due: Option<u64>,
}

/// What is made of operations as they end.
struct Watch<'a> {
    clock: crate::clock::Clock,
    leniency: Leniency<'a>,
    /// The longest that an operation may take, ticks.
    latency_max: u64,
    latency_ns_max: u64,
    floor: Option<FloorWatch>,
    search: Option<Search>,
    pauses: Pauses,
    /// Completions that may be taken in this round.
    take: u32,
}

impl Attention for Watch<'_> {
    #[inline]
    fn takes_more(&mut self) -> bool {
        let more = self.take > 0;
        self.take = self.take.saturating_sub(1);
        more
    }

    #[inline]
    fn done(&mut self, request: Request, begun: u64, end: u64) -> Result<(), Fault> {
        self.pauses.completed(1);
        if let Some(floor) = &mut self.floor {
            floor.count(request.way, request.length_bytes, end);
        }
        if let Some(search) = &mut self.search {
            search.count(begun, end);
        }
        let latency = end.saturating_sub(begun);
        if latency <= self.latency_max {
            return Ok(());
        }
        let cause = Cause::TooLong {
            latency_ns: self.clock.ns(latency),
            most_ns: self.latency_ns_max,
        };
        let fault = Fault::new(request.way.operation(), cause).at(request.offset_bytes);
        Err(fault.in_file(request.file))
    }

    fn goes_on_after(&mut self, request: Request, fault: Fault) -> bool {
        self.pauses.completed(1);
        self.leniency.goes_on_after(request.way, fault)
    }
}

impl<'a> Watch<'a> {
    fn new(task: &Task<'a>, log: &Log<'_>) -> Self {
        let job = task.job;
        let ticks = |ns| log.clock.ticks(ns);
        let search = |search| Search::new(search, task.depth, log.clock, log.now());
        Self {
            clock: log.clock,
            leniency: Leniency::new(&job.tolerance),
            latency_max: job.latency_ns_max.map_or(u64::MAX, ticks),
            latency_ns_max: job.latency_ns_max.unwrap_or(u64::MAX),
            floor: job
                .floor
                .map(|floor| FloorWatch::new(floor, job.ramp_ns, log)),
            search: job.depth_search.map(search),
            pauses: Pauses::new(job.think, log),
            take: 0,
        }
    }

    /// What is known at `now` that ends the worker: a fault, or the end of a search.
    fn look(&mut self, now: u64, log: &Log<'_>) -> Option<Option<Fault>> {
        let short = self.floor.as_mut().and_then(|floor| floor.look(now, log));
        let is_found = self.search.as_mut().is_some_and(|one| one.look(now));
        short.map(Some).or(is_found.then_some(None))
    }

    fn finish(self) -> Steered {
        Steered {
            tolerated: self.leniency.into_kinds(),
            depth_found: self.search.map(|search| search.found()),
            pauses: (self.pauses.count, self.pauses.total_ns),
        }
    }
}

/// How operations are handed over and taken back.
struct Flow {
    batches: Batches,
    refill_below: u32,
    has_queue: bool,
    /// Whether operations may begin, or the depth was reached and not left again.
    is_filling: bool,
}

impl Flow {
    fn new(task: &Task<'_>) -> Self {
        let batches = task.job.batches.unwrap_or(Batches {
            submit: u32::MAX,
            complete_min: 1,
            complete_max: u32::MAX,
            refill_below: None,
        });
        Self {
            batches,
            refill_below: batches.refill_below.unwrap_or(u32::MAX),
            has_queue: has_queue(task.job.backend),
            is_filling: true,
        }
    }

    /// How many of `in_flight` operations may become more, to `depth` at most.
    fn room(&mut self, in_flight: u32, depth: u32) -> u32 {
        if in_flight >= depth {
            self.is_filling = false;
        }
        if in_flight <= self.refill_below.min(depth - 1) {
            self.is_filling = true;
        }
        if self.is_filling {
            depth.saturating_sub(in_flight)
        } else {
            0
        }
    }

    /// Waits as batches have it, `timeout_ns` at most if there is one.
    fn commit<B: Backend>(
        &self,
        backend: &mut B,
        in_flight: u32,
        timeout_ns: Option<u64>,
    ) -> Result<(), Errno> {
        match timeout_ns {
            Some(timeout_ns) => backend.commit_for(timeout_ns),
            None if self.batches.complete_min == 0 => backend.commit_for(0),
            None => backend.commit(self.batches.complete_min.min(in_flight)),
        }
    }
}

/// Does the operations of `task` from `streams` until the worker has to end. What they
/// need of data is made before they are due.
pub(crate) fn drive_steered<B: Backend>(
    task: &Task<'_>,
    streams: &mut Streams,
    backend: &mut B,
    payload: &mut Payload,
    mut slots: B::Slots,
    log: &mut Log<'_>,
) -> Done {
    let mut done = Done::nothing(log.now());
    let mut watch = Watch::new(task, log);
    let mut flow = Flow::new(task);
    let is_open = task
        .job
        .pace
        .is_some_and(|pace| pace.kind == LoopKind::Open);
    let mut budget = task.operations;
    let mut until_sync = task.writes_to_sync();
    let mut next: Option<Ready> = None;
    // Slots of the operations that are queued and count from when they are handed over.
    let mut fresh: Vec<u32> = Vec::with_capacity(task.depth as usize);
    loop {
        let now = log.now();
        let waiting = |next: &Option<Ready>| u32::from(next.is_some());
        let depth = watch.search.map_or(task.depth, |search| search.depth());
        let room = flow.room(slots.in_flight() - waiting(&next), depth);
        let room = u64::from(room).min(watch.pauses.room(now));
        let mut queued = 0;
        while queued < room.min(flow.batches.submit.into()) {
            if next.is_none() && budget > 0 && until_sync > 0 {
                next = ready(streams, backend, payload, &mut slots, log);
                if !done.open_wanted(task, streams.turnover(), backend) {
                    budget = 0;
                    streams.close();
                    if let Some(dropped) = next.take() {
                        slots.give_back(dropped.slot);
                    }
                }
                match &next {
                    Some(ready) => {
                        budget -= 1;
                        until_sync -= u64::from(ready.request.way == Way::Write);
                    }
                    None if streams.waits() => {}
                    None => budget = 0,
                }
            }
            let is_due = |ready: &mut Ready| ready.due.is_none_or(|due| due <= now);
            let Some(Ready { slot, request, due }) = next.take_if(is_due) else {
                break;
            };
            if let Some(due) = due {
                log.late(due, now);
                streams.begun();
            }
            slots.begin_at(slot, due.unwrap_or(now));
            if due.is_none() || !is_open {
                fresh.push(slot);
            }
            backend.queue(slot, request);
            queued += 1;
        }
        watch.pauses.issued(queued);

        let in_flight = slots.in_flight() - waiting(&next);
        if in_flight == 0 {
            let is_paused = watch.pauses.room(log.now()) == 0;
            if is_paused && !log.is_over() && (next.is_some() || budget > 0) {
                let (ns, ticks) = watch.pauses.pause(log, (done.operations, done.bytes));
                if task.job.think.is_some_and(|think| think.pace_waits) {
                    streams.shift(ns, ticks);
                    if let Some(due) = next.as_mut().and_then(|ready| ready.due.as_mut()) {
                        *due = due.saturating_add(ticks);
                    }
                }
            } else if let Some(Ready { due, .. }) = &next {
                wait(log, due.unwrap_or(now).min(log.next_event()));
            } else {
                if until_sync > 0 || !done.sync(backend, task, payload, log) {
                    let cut_off = log.is_over() && task.job.pace.is_some();
                    let overdue = cut_off.then(|| streams.overdue(log.now_ns()));
                    done.asked = done.operations + overdue.unwrap_or(0);
                    done.steered = watch.finish();
                    return done;
                }
                until_sync = task.writes_to_sync();
                let turnover = streams.turnover();
                let is_well = done.close_leaving(task, &slots, turnover, backend, payload);
                budget = if is_well && !log.is_over() { budget } else { 0 };
                continue;
            }
        } else {
            let begun = if fresh.is_empty() { now } else { log.now() };
            fresh.drain(..).for_each(|slot| slots.begin_at(slot, begun));
            if slots.is_deep() && queued > 0 {
                done.depths.hand_over(queued as usize, in_flight);
            }
            let more = room > queued && queued == u64::from(flow.batches.submit);
            let handed_over = if more && flow.has_queue {
                hand_over(backend, log, begun, queued as usize, B::submit)
            } else {
                let due = next.as_ref().and_then(|ready| ready.due);
                let awake_ns = log.clock.awake_ns();
                let due = due.map(|due| log.ns_until(due).saturating_sub(awake_ns));
                hand_over(backend, log, begun, queued as usize, |backend| {
                    flow.commit(backend, in_flight, due)
                })
            };
            if let Err(errno) = handed_over {
                done.fault = done.fault.or(Some(Fault::new(Operation::Submit, errno)));
                done.steered = watch.finish();
                return done;
            }
        }
        let now = log.now();
        let attended = log.is_due(now) && log.attend(now, done.operations, done.bytes);
        let mut is_over = attended || log.is_over();
        watch.take = flow.batches.complete_max;
        is_over |= !reap(
            backend, payload, &mut slots, log, &mut done, now, &mut watch, streams,
        );
        if until_sync > 0 {
            let turnover = streams.turnover();
            is_over |= !done.close_leaving(task, &slots, turnover, backend, payload);
        }
        if let Some(reason) = watch.look(now, log) {
            done.fault = done.fault.or(reason);
            is_over = true;
        }
        if is_over {
            budget = 0;
            streams.close();
            if let Some(dropped) = next.take() {
                slots.give_back(dropped.slot);
            }
        }
        done.last = if in_flight > 0 { now } else { done.last };
    }
}

/// The next operation with its data; `None` when there are no more.
fn ready(
    streams: &mut Streams,
    backend: &mut impl Backend,
    payload: &mut Payload,
    slots: &mut impl Slots,
    log: &Log<'_>,
) -> Option<Ready> {
    let slot = slots.take()?;
    let Some(next) = streams.next(log) else {
        slots.give_back(slot);
        return None;
    };
    payload.before(slot, next.request, || backend.buffer(slot));
    // Its file is in use from now on.
    slots.set(slot, next.request);
    Some(Ready {
        slot,
        request: next.request,
        due: next.due,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(refill_below: Option<u32>) -> Flow {
        Flow {
            batches: Batches {
                submit: 8,
                complete_min: 1,
                complete_max: 8,
                refill_below,
            },
            refill_below: refill_below.unwrap_or(u32::MAX),
            has_queue: true,
            is_filling: true,
        }
    }

    #[test]
    fn the_queue_is_left_to_run_low_before_it_is_filled_again() {
        let mut flow = flow(Some(4));
        let rooms = [0, 8, 16, 15, 5, 4, 8, 16, 3].map(|in_flight| flow.room(in_flight, 16));
        assert_eq!(rooms, [16, 8, 0, 0, 0, 12, 8, 0, 13]);
    }

    #[test]
    fn without_a_lower_mark_there_is_room_at_once() {
        let mut flow = flow(None);
        let rooms = [0, 16, 15, 16].map(|in_flight| flow.room(in_flight, 16));
        assert_eq!(rooms, [16, 0, 1, 0]);
    }

    /// A search may lower the depth below what is in flight.
    #[test]
    fn a_lower_depth_is_waited_for() {
        let mut flow = flow(None);
        assert_eq!(
            (flow.room(16, 16), flow.room(16, 5), flow.room(4, 5)),
            (0, 0, 1)
        );
        assert_eq!((flow.room(1, 1), flow.room(0, 1)), (0, 1));
    }
}
