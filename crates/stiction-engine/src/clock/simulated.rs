//! Time that goes by only when somebody waits: each thread has its own, from 0.

use std::cell::Cell;

thread_local! {
    static NOW_NS: Cell<u64> = const { Cell::new(0) };
}

/// The time of this thread, ns.
pub(crate) fn now_ns() -> u64 {
    NOW_NS.get()
}

/// Lets the time of this thread go by until `ns`; it never goes back.
pub(crate) fn advance_to(ns: u64) {
    NOW_NS.set(now_ns().max(ns));
}
