//! Waiting for a moment.

use std::time::Duration;

use rustix::thread::{NanosleepRelativeResult, nanosleep};
use rustix::time::Timespec;

use crate::log::Log;

/// A sleeper is woken up late by about as much, so the rest is waited for awake, ns.
pub(crate) const AWAKE_NS: u64 = 60_000;

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
