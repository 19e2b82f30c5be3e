//! System calls that have no safe wrapper elsewhere: the only unsafe code of this crate.
#![allow(unsafe_code)]

pub(crate) mod block;
pub(crate) mod cachestat;
pub(crate) mod cpuid;
pub(crate) mod fiemap;
pub(crate) mod fsmap;
pub(crate) mod loop_control;
pub(crate) mod mincore;
pub(crate) mod netlink;
pub(crate) mod perf;
pub(crate) mod rusage;

use std::io;

/// What a system call returned, with a negative value turned into its errno.
fn checked(returned: impl Into<i64>) -> io::Result<i64> {
    match returned.into() {
        negative if negative < 0 => Err(io::Error::last_os_error()),
        value => Ok(value),
    }
}
