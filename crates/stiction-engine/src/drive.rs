//! The timed loop.
//!
//! It allocates nothing, takes no lock, logs nothing and shares no cache line. It
//! is compiled once for each backend, source of operations and way of timing, so that
//! what a job does not want costs it nothing.

use rustix::io::Errno;
use stiction_core::{Depths, SyncKind};

use crate::backend::{Backend, complete_rest};
use crate::data::Payload;
use crate::failure::{Fault, Operation};
use crate::log::{Alike, Log};
use crate::request::{Completions, Request, Requests, Way};
use crate::slots::Slots;
use crate::steered::Steered;
use crate::task::Task;
use crate::turnover::Turnover;

/// What the loop did.
#[derive(Debug)]
pub(crate) struct Done {
    /// Operations completed, syncs not counted.
    pub(crate) operations: u64,
    /// Bytes that they moved or trimmed.
    pub(crate) bytes: u64,
    /// Transfers that took more than one call.
    pub(crate) continued: u64,
    /// Operations that were to begin, at a set pace.
    pub(crate) asked: u64,
    /// How many operations were in flight, for jobs that keep more than one there.
    pub(crate) depths: Depths,
    /// When the first operation began, ticks.
    pub(crate) first: u64,
    /// When the last operation or sync ended, ticks.
    pub(crate) last: u64,
    /// When the last operation ended, ticks, where a sync at the end followed.
    pub(crate) data_last: Option<u64>,
    /// When the last write began, ticks, and what it was.
    pub(crate) last_write: (u64, Request),
    /// Whether it ended because there was no room left, as planned.
    pub(crate) filled: bool,
    /// The first operation that failed and ended the worker.
    pub(crate) fault: Option<Fault>,
    /// What the loop of a steered job found besides.
    pub(crate) steered: Steered,
}

/// Does the operations of `task` until the worker has to end.
///
/// With `EXACT` the clock is read before each submission and after it, otherwise
/// once in each round: that is for jobs with nothing else to do in between.
pub(crate) fn drive<B: Backend, R: Requests, const EXACT: bool>(
    task: &Task<'_>,
    backend: &mut B,
    requests: &mut R,
    payload: &mut Payload,
    mut slots: B::Slots,
    log: &mut Log<'_>,
) -> Done {
    debug_assert!(EXACT || payload.is_idle() && !task.turns_files_over());
    let mut done = Done::nothing(log.now());
    // Operations that may still begin: in all, and before the next sync.
    let mut budget = task.operations;
    let mut until_sync = task.writes_to_sync();
    loop {
        let in_flight_before = slots.in_flight();
        while budget > 0
            && until_sync > 0
            && let Some(slot) = slots.take()
        {
            let Some(request) = requests.next() else {
                slots.give_back(slot);
                budget = if requests.waits() { budget } else { 0 };
                break;
            };
            if !done.open_wanted(task, requests.turnover(), backend) {
                slots.give_back(slot);
                budget = 0;
                break;
            }
            budget -= 1;
            until_sync -= u64::from(request.way == Way::Write);
            slots.set(slot, request);
            if EXACT {
                payload.before(slot, request, || backend.buffer(slot));
            }
            backend.queue(slot, request);
        }
        let in_flight = slots.in_flight();
        if in_flight == 0 {
            if until_sync > 0 || !done.sync(backend, task, payload, log) {
                return done;
            }
            until_sync = task.writes_to_sync();
            let is_well = done.close_leaving(task, &slots, requests.turnover(), backend, payload);
            budget = if is_well && !log.is_over() { budget } else { 0 };
            continue;
        }

        let begun = if EXACT { log.now() } else { done.last };
        let queued = in_flight - in_flight_before;
        slots.begin_last(queued, begun);
        if slots.is_deep() && queued > 0 {
            done.depths.hand_over(queued as usize, in_flight);
        }
        let wait_for = in_flight.min(task.batch);
        let handed_over = hand_over(backend, log, begun, queued as usize, |b| b.commit(wait_for));
        if let Err(errno) = handed_over {
            done.fault = done.fault.or(Some(Fault::new(Operation::Submit, errno)));
            return done;
        }
        let now = log.now();
        let attended = log.is_due(now);
        if attended && log.attend(now, done.operations, done.bytes) {
            budget = 0;
        }
        if !reap(
            backend,
            payload,
            &mut slots,
            log,
            &mut done,
            now,
            &mut Plainly,
            requests,
        ) {
            budget = 0;
        }
        if until_sync > 0
            && !done.close_leaving(task, &slots, requests.turnover(), backend, payload)
        {
            budget = 0;
        }
        // What was done besides must not count for the next operation.
        done.last = if attended { log.now() } else { now };
    }
}

/// What a loop makes of operations as they end.
pub(crate) trait Attention {
    /// Whether one more completion is taken in.
    #[inline(always)]
    fn takes_more(&mut self) -> bool {
        true
    }

    /// Looks at an operation that is done, from `begun` to `end`, ticks.
    ///
    /// # Errors
    /// When it is one that ends the worker.
    #[inline(always)]
    fn done(&mut self, request: Request, begun: u64, end: u64) -> Result<(), Fault> {
        let _nothing_to_look_for = (request, begun, end);
        Ok(())
    }

    /// Whether the worker goes on after an operation that failed.
    #[inline(always)]
    fn goes_on_after(&mut self, request: Request, fault: Fault) -> bool {
        let _whatever_it_was = (request, fault);
        false
    }
}

/// Nothing is looked for, and every failure is the end.
pub(crate) struct Plainly;

impl Attention for Plainly {}

/// Takes in what is complete at `now`; false when any of it ends the worker.
#[inline(always)]
#[allow(
    clippy::too_many_arguments,
    reason = "parts of the worker that borrow each other's neighbours"
)]
pub(crate) fn reap<B: Backend>(
    backend: &mut B,
    payload: &mut Payload,
    slots: &mut B::Slots,
    log: &mut Log<'_>,
    done: &mut Done,
    now: u64,
    attention: &mut impl Attention,
    completions: &mut impl Completions,
) -> bool {
    let mut is_well = true;
    let operations_before = done.operations;
    let mut alike = Alike::default();
    while attention.takes_more()
        && let Some((slot, result)) = backend.reap()
    {
        let (request, begun) = slots.get(slot);
        slots.give_back(slot);
        let mut end = now;
        if result != request.whole_result() {
            if let Err(fault) = complete_rest(backend, slot, request, result) {
                completions.ended(request, false);
                if !attention.goes_on_after(request, fault) {
                    done.fault = done.fault.or(Some(fault));
                    is_well = false;
                }
                continue;
            }
            done.continued += 1;
            end = log.now();
            log.data(request, begun, end);
        } else if !alike.add(request, begun) {
            log.alike(&alike, now);
            alike = Alike::of(request, begun);
        }
        payload.after(slot, request, || backend.buffer(slot));
        completions.ended(request, true);
        done.operations += 1;
        done.bytes += u64::from(request.length_bytes);
        if request.way == Way::Write {
            done.last_write = (begun, request);
        }
        if let Err(fault) = attention.done(request, begun, end) {
            done.fault = done.fault.or(Some(fault));
            is_well = false;
        }
    }
    log.alike(&alike, now);
    let found = done.operations - operations_before;
    if slots.is_deep() && found > 0 {
        done.depths.take_back(found);
    }
    is_well
}

/// Hands over the `queued` operations that began at `begun`, and waits as `commit`
/// does; in two calls when the first is to be timed.
#[inline(always)]
pub(crate) fn hand_over<B: Backend>(
    backend: &mut B,
    log: &mut Log<'_>,
    begun: u64,
    queued: usize,
    commit: impl FnOnce(&mut B) -> Result<(), Errno>,
) -> Result<(), Errno> {
    if queued > 0 && log.times_submission() {
        backend.submit()?;
        log.submitted(queued, begun);
    }
    commit(backend)
}

impl Done {
    pub(crate) fn nothing(now: u64) -> Self {
        Self {
            operations: 0,
            bytes: 0,
            asked: 0,
            continued: 0,
            depths: Depths::default(),
            first: now,
            last: now,
            data_last: None,
            last_write: (now, Request::NONE),
            filled: false,
            fault: None,
            steered: Steered::default(),
        }
    }

    /// Opens the file of the next operation where it is closed; false when that failed.
    #[inline(always)]
    pub(crate) fn open_wanted(
        &mut self,
        task: &Task<'_>,
        turnover: Option<&mut Turnover>,
        backend: &mut impl Backend,
    ) -> bool {
        match turnover {
            None => true,
            Some(turnover) => self.is_well(turnover.open_wanted(task, backend)),
        }
    }

    /// Closes the files that are no longer needed; false when one could not be synced.
    #[inline(always)]
    pub(crate) fn close_leaving(
        &mut self,
        task: &Task<'_>,
        slots: &impl Slots,
        turnover: Option<&mut Turnover>,
        backend: &mut impl Backend,
        payload: &mut Payload,
    ) -> bool {
        match turnover {
            None => true,
            Some(turnover) => self.is_well(turnover.close_leaving(task, slots, backend, payload)),
        }
    }

    /// Keeps the first fault.
    fn is_well(&mut self, result: Result<(), Fault>) -> bool {
        self.fault = self.fault.or(result.err());
        result.is_ok()
    }

    /// Makes durable the file that was written to at last, if there is no reason
    /// against it; false when there is.
    pub(crate) fn sync(
        &mut self,
        backend: &mut impl Backend,
        task: &Task<'_>,
        payload: &mut Payload,
        log: &mut Log<'_>,
    ) -> bool {
        let (begun, write) = self.last_write;
        if let Some(every) = task.job.writeback_every {
            return self.timed(log, || backend.write_back(write.file, every));
        }
        let Some(every) = task.job.sync_every else {
            return false;
        };
        if !self.sync_now(write.file, every.kind, backend, payload, log) {
            return false;
        }
        log.commit(write.length_bytes, begun, self.last);
        true
    }

    /// Syncs a file and records how long it took; false when it failed or was not to be.
    pub(crate) fn sync_now(
        &mut self,
        file: u32,
        kind: SyncKind,
        backend: &mut impl Backend,
        payload: &mut Payload,
        log: &mut Log<'_>,
    ) -> bool {
        let is_synced = self.timed(log, || backend.sync(file, kind));
        if is_synced {
            payload.synced(file);
        }
        is_synced
    }

    /// Records how long `sync` took; false when it failed or was not to be.
    fn timed(&mut self, log: &mut Log<'_>, sync: impl FnOnce() -> Result<(), Fault>) -> bool {
        if self.fault.is_some() || log.was_stopped() {
            return false;
        }
        let begun = log.now();
        if let Err(fault) = sync() {
            self.fault = Some(fault);
            return false;
        }
        self.last = log.now();
        if log.is_due(self.last) {
            log.attend(self.last, self.operations, self.bytes);
        }
        log.sync(begun, self.last);
        true
    }
}
