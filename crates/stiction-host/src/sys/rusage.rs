//! getrusage(2) and wait4(2).

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use stiction_core::ProcessActivity;

/// User and system time, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SplitTime {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
}

/// Of the whole process.
pub(crate) fn of_process() -> io::Result<SplitTime> {
    let usage = own()?;
    Ok(SplitTime {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
    })
}

/// Context switches and page faults of the whole process.
pub(crate) fn activity_of_process() -> io::Result<ProcessActivity> {
    let usage = own()?;
    Ok(ProcessActivity {
        switches_voluntary: count(usage.ru_nvcsw),
        switches_involuntary: count(usage.ru_nivcsw),
        faults_minor: count(usage.ru_minflt),
        faults_major: count(usage.ru_majflt),
    })
}

/// Most memory that this process had resident at once, bytes.
pub(crate) fn resident_bytes_max() -> io::Result<u64> {
    Ok(count(own()?.ru_maxrss) << 10)
}

fn own() -> io::Result<libc::rusage> {
    // SAFETY: an all-zero rusage is a valid one: it holds integers alone.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live rusage that the kernel fills.
    let returned = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) };
    super::checked(returned)?;
    Ok(usage)
}

/// What a child used, with all that it had waited for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChildUsage {
    pub(crate) time: SplitTime,
    pub(crate) faults_major: u64,
    pub(crate) faults_minor: u64,
    pub(crate) switches_voluntary: u64,
    pub(crate) switches_involuntary: u64,
    pub(crate) resident_bytes_max: u64,
}

/// Waits for the child `pid` to end and takes it away.
pub(crate) fn wait(pid: i32) -> io::Result<(ExitStatus, ChildUsage)> {
    loop {
        // SAFETY: an all-zero rusage is a valid one: it holds integers alone.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        let mut status = 0;
        // SAFETY: both pointers are to live values that the kernel fills.
        let returned = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        match super::checked(returned) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            Ok(_) => {
                let used = ChildUsage {
                    time: SplitTime {
                        user_ns: ns(usage.ru_utime),
                        system_ns: ns(usage.ru_stime),
                    },
                    faults_major: count(usage.ru_majflt),
                    faults_minor: count(usage.ru_minflt),
                    switches_voluntary: count(usage.ru_nvcsw),
                    switches_involuntary: count(usage.ru_nivcsw),
                    // In KiB on Linux, of the largest of them (getrusage(2)).
                    resident_bytes_max: count(usage.ru_maxrss) << 10,
                };
                return Ok((ExitStatus::from_raw(status), used));
            }
        }
    }
}

fn count(number: libc::c_long) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

fn ns(time: libc::timeval) -> u64 {
    u64::try_from(time.tv_sec).unwrap_or(0) * 1_000_000_000
        + u64::try_from(time.tv_usec).unwrap_or(0) * 1_000
}
