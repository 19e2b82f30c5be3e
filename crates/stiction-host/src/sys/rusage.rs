//! getrusage(2).

use std::io;

/// User and system time, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SplitTime {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

/// Of the whole process.
pub(crate) fn of_process() -> io::Result<SplitTime> {
    // SAFETY: an all-zero rusage is a valid one: it holds integers alone.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage that the kernel fills.
    let returned = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    super::checked(returned)?;
    let ns = |time: libc::timeval| {
        u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
            + u64::try_from(time.tv_usec).unwrap_or(0) * 1_000
    };
    Ok(SplitTime {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
    })
}
