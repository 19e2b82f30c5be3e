//! Waiting for a moment.

use std::time::Duration;

use rustix::thread::{NanosleepRelativeResult, nanosleep};
use rustix::time::Timespec;

use crate::log::Log;

/// Waits until `until`, asleep as long as that is safe.
pub(crate) fn wait(log: &Log<'_>, until: u64) {
    if log.clock.advance_to(until) {
        return;
    }
    let (left_ns, awake_ns) = (log.ns_until(until), log.clock.awake_ns());
    if left_ns > awake_ns {
        let asleep = Duration::from_nanos(left_ns - awake_ns);
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
