//! What a worker's thread asks of the kernel about itself.
#![allow(unsafe_code)]

use std::sync::Once;

use rustix::thread::{UnshareFlags, unshare_unsafe};
use rustix::time::{ClockId, clock_gettime};
use stiction_core::CpuTime;

/// CPU time of the calling thread so far. The total is exact; how it divides
/// into user and system is sampled by tick on many kernels.
pub(crate) fn cpu_time() -> CpuTime {
    // SAFETY: all zeros is a valid rusage, which is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a rusage of ours that outlives the call.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    debug_assert_eq!(result, 0, "RUSAGE_THREAD is as old as Linux 2.6.26");
    let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    let total = clock_gettime(ClockId::ThreadCPUTime);
    CpuTime {
        total_ns: total.tv_sec as u64 * 1_000_000_000 + total.tv_nsec as u64,
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
    }
}

/// CPU time from `before` to `after`.
pub(crate) fn cpu_between(before: CpuTime, after: CpuTime) -> CpuTime {
    CpuTime {
        total_ns: after.total_ns.saturating_sub(before.total_ns),
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
    }
}

/// Gives the calling thread a table of open files of its own: the kernel then
/// looks up a descriptor without counting references, which saves 50 ns a call,
/// and each worker may open as many files as a whole process. Where a sandbox
/// forbids it, the thread goes on with the shared table.
///
/// What the thread opens afterwards, it has to close itself.
pub(crate) fn own_file_table() {
    // SAFETY: descriptors that were open before stay open under the same numbers
    // in both tables. Those opened or closed from here on are this thread's alone:
    // workers open and close their own and pass none to other threads.
    let _shared_then = unsafe { unshare_unsafe(UnshareFlags::FILES) };
}

/// Lets a write beyond the file size limit fail with `EFBIG` instead of ending
/// the process: `SIGXFSZ` is ignored from the first job on, unless the program
/// has already decided otherwise.
pub(crate) fn ignore_file_size_signal() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: ignoring a signal runs no handler; the disposition that was
        // there is put back if it was not the default.
        unsafe {
            let before = libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            if before != libc::SIG_DFL && before != libc::SIG_ERR {
                libc::signal(libc::SIGXFSZ, before);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_counts_this_thread_only() {
        let before = cpu_time();
        let mut number = 1u64;
        while cpu_between(before, cpu_time()).total_ns < 20_000_000 {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        let other = std::thread::spawn(|| cpu_time().total_ns);
        assert!(other.join().unwrap() < 20_000_000);
    }

    #[test]
    fn a_table_of_its_own_keeps_what_was_open_and_hides_what_is_new() {
        use std::os::fd::AsRawFd as _;

        let open = tempfile::tempfile().unwrap();
        let link = |fd: i32| std::fs::read_link(format!("/proc/thread-self/fd/{fd}"));
        std::thread::scope(|scope| {
            let (to_main, from_worker) = std::sync::mpsc::channel();
            let (to_worker, from_main) = std::sync::mpsc::channel::<()>();
            let kept = open.as_raw_fd();
            scope.spawn(move || {
                own_file_table();
                assert!(link(kept).is_ok());
                let new = tempfile::tempfile().unwrap();
                to_main.send(new.as_raw_fd()).unwrap();
                from_main.recv().unwrap();
            });
            let new = from_worker.recv().unwrap();
            assert!(
                link(new).is_err(),
                "the new descriptor is the worker's alone"
            );
            to_worker.send(()).unwrap();
        });
    }
}
