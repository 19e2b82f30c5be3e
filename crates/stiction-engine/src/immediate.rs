//! The timed loop of operations that are done one at a time, with nothing to do in
//! between: the end of one is the beginning of the next.
//!
//! It does what [`drive`](crate::drive::drive) does for them, and no more. There are no
//! slots, and what does not happen each time stands outside the inner loop, which then
//! fits the registers: after a system call, memory is far away.

use rustix::io::Errno;

use crate::backend::{Backend, complete_rest};
use crate::data::Payload;
use crate::drive::Done;
use crate::failure::{Fault, Operation};
use crate::log::Log;
use crate::request::{Request, Requests, Way};
use crate::task::Task;

/// An operation after which there is more to do than to record it.
struct Ended {
    request: Request,
    result: Result<i32, Errno>,
    begun: u64,
    now: u64,
}

/// Does the operations of `task` until the worker has to end, on a backend that is
/// [immediate](Backend::is_immediate).
pub(crate) fn drive_immediate<B: Backend, R: Requests>(
    task: &Task<'_>,
    backend: &mut B,
    requests: &mut R,
    payload: &mut Payload,
    log: &mut Log<'_>,
) -> Done {
    debug_assert!(payload.is_idle() && !task.turns_files_over() && !log.times_submission());
    let mut done = Done::nothing(log.now());
    // Operations that may still begin: in all, and before the next sync.
    let mut budget = task.operations;
    let mut until_sync = task.writes_to_sync();
    loop {
        let mut begun = done.last;
        let (mut operations, mut bytes) = (0, 0);
        // An operation is recorded when the next one has ended, while the processor is
        // busy with reading its counter.
        let mut unrecorded: Option<(Request, u64, u64)> = None;
        let interruption = loop {
            if budget == 0 {
                break None;
            }
            let Some(request) = requests.next() else {
                break None;
            };
            budget -= 1;
            until_sync -= u64::from(request.way == Way::Write);
            let result = backend.perform(&request);
            let now = log.now();
            if let Some((request, begun, end)) = unrecorded.take() {
                log.data(request, begun, end);
            }
            if log.is_due(now) || result != Ok(request.whole_result()) || until_sync == 0 {
                break Some(Ended {
                    request,
                    result,
                    begun,
                    now,
                });
            }
            unrecorded = Some((request, begun, now));
            requests.ended(request, true);
            operations += 1;
            bytes += u64::from(request.length_bytes);
            begun = now;
        };
        if let Some((request, begun, end)) = unrecorded {
            log.data(request, begun, end);
        }
        done.operations += operations;
        done.bytes += bytes;
        done.last = begun;
        let Some(ended) = interruption else {
            return done;
        };
        if log.is_due(ended.now) && log.attend(ended.now, done.operations, done.bytes) {
            budget = 0;
        }
        if !done.take(&ended, backend, requests, log) {
            return done;
        }
        if until_sync == 0 {
            if !done.sync(backend, task, payload, log) {
                return done;
            }
            until_sync = task.writes_to_sync();
            if log.is_over() {
                budget = 0;
            }
        }
    }
}

impl Done {
    /// Takes in an operation, continued first if it is not whole; false when it failed.
    #[cold]
    #[inline(never)]
    fn take(
        &mut self,
        ended: &Ended,
        backend: &mut impl Backend,
        requests: &mut impl Requests,
        log: &mut Log<'_>,
    ) -> bool {
        let &Ended {
            request,
            result,
            begun,
            mut now,
        } = ended;
        if result != Ok(request.whole_result()) {
            let completed = match result {
                Ok(result) => complete_rest(backend, 0, request, result),
                Err(errno) => Err(Fault::new(Operation::Submit, errno)),
            };
            if let Err(fault) = completed {
                requests.ended(request, false);
                self.fault = Some(fault);
                return false;
            }
            self.continued += 1;
            now = log.now();
        }
        log.data(request, begun, now);
        requests.ended(request, true);
        self.operations += 1;
        self.bytes += u64::from(request.length_bytes);
        if request.way == Way::Write {
            self.last_write = (begun, request);
        }
        // What was done besides must not count for the next operation.
        self.last = log.now();
        true
    }
}
