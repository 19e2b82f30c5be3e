//! The loop of a job with a set pace: every operation has a moment at which it is to
//! begin, whatever became of those before it.

use std::time::Duration;

use rustix::thread::{NanosleepRelativeResult, nanosleep};
use rustix::time::Timespec;
use stiction_core::{LoopKind, Pace};

use crate::backend::Backend;
use crate::data::Payload;
use crate::drive::{Done, Slots, hand_over, reap};
use crate::failure::{Fault, Operation};
use crate::log::Log;
use crate::request::{Request, Requests, Way};
use crate::schedule::Schedule;
use crate::task::Task;

/// A sleeper is woken up late by about as much, so the rest is waited for awake, ns.
const AWAKE_NS: u64 = 60_000;

/// An operation that is ready and not yet due.
struct Ready {
    slot: u32,
    request: Request,
    /// When it is to begin, ticks.
    due: u64,
}

/// Does the operations of `task` at `pace` until the worker has to end. What they
/// need of data is made before they are due.
pub(crate) fn drive_paced<B: Backend>(
    task: &Task<'_>,
    pace: Pace,
    (requests, schedule): (&mut impl Requests, &mut Schedule),
    backend: &mut B,
    payload: &mut Payload,
    slots: &mut Slots,
    log: &mut Log<'_>,
) -> Done {
    let mut done = Done::nothing(log.now());
    let mut budget = task.operations;
    let mut until_sync = task.writes_to_sync();
    let mut next: Option<Ready> = None;
    loop {
        let now = log.now();
        let mut queued = 0;
        loop {
            if next.is_none() && budget > 0 && until_sync > 0 {
                next = ready(requests, schedule, backend, payload, slots, log);
                match &next {
                    Some(ready) => {
                        budget -= 1;
                        until_sync -= u64::from(ready.request.way == Way::Write);
                    }
                    None if slots.in_flight() < task.depth => budget = 0,
                    None => {}
                }
            }
            let Some(Ready { slot, request, due }) = next.take_if(|ready| ready.due <= now) else {
                break;
            };
            log.late(due, now);
            slots.set(
                slot,
                request,
                if pace.kind == LoopKind::Open {
                    due
                } else {
                    now
                },
            );
            backend.queue(slot, request);
            queued += 1;
        }

        let in_flight = slots.in_flight() - u32::from(next.is_some());
        if in_flight == 0 {
            let Some(ready) = &next else {
                if until_sync > 0 || !done.sync(backend, task, payload, log) {
                    let is_cut_off = log.is_over();
                    let overdue = if is_cut_off {
                        schedule.overdue(log.now_ns())
                    } else {
                        0
                    };
                    done.asked = done.operations + overdue;
                    return done;
                }
                until_sync = task.writes_to_sync();
                budget = if log.is_over() { 0 } else { budget };
                continue;
            };
            wait(log, ready.due.min(log.next_event()));
        } else {
            let timeout_ns = next.as_ref().map(|ready| log.ns_until(ready.due));
            if let Err(errno) = hand_over(backend, log, now, queued, |backend| match timeout_ns {
                Some(timeout_ns) => backend.commit_for(timeout_ns.saturating_sub(AWAKE_NS)),
                None => backend.commit(1),
            }) {
                done.fault = done.fault.or(Some(Fault::new(Operation::Submit, errno)));
                return done;
            }
        }
        let now = log.now();
        let mut is_over = log.is_due(now) && log.attend(now, done.operations, done.bytes);
        is_over |= !reap(backend, payload, slots, log, &mut done, now);
        if is_over {
            budget = 0;
            if let Some(dropped) = next.take() {
                slots.give_back(dropped.slot);
                schedule.take_back();
            }
        }
        done.last = if in_flight > 0 { now } else { done.last };
    }
}

/// The next operation with its data; `None` when no slot is free or there are no more.
fn ready(
    requests: &mut impl Requests,
    schedule: &mut Schedule,
    backend: &mut impl Backend,
    payload: &mut Payload,
    slots: &mut Slots,
    log: &Log<'_>,
) -> Option<Ready> {
    let slot = slots.take()?;
    let Some(request) = requests.next() else {
        slots.give_back(slot);
        return None;
    };
    payload.before(slot, request, || backend.buffer(slot));
    let due = log.ticks_at(schedule.next(request.length_bytes));
    Some(Ready { slot, request, due })
}

/// Waits until `until`, asleep as long as that is safe.
pub(crate) fn wait(log: &Log<'_>, until: u64) {
    let left_ns = log.ns_until(until);
    if left_ns > AWAKE_NS {
        let asleep = Duration::from_nanos(left_ns - AWAKE_NS);
        let asleep = Timespec {
            tv_sec: asleep.as_secs() as _,
            tv_nsec: asleep.subsec_nanos().into(),
        };
        // A signal ends the sleep: the loop looks at the time again.
        if !matches!(nanosleep(&asleep), NanosleepRelativeResult::Ok) {
            return;
        }
    }
    while log.now() < until {
        std::hint::spin_loop();
    }
}
