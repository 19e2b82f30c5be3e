//! What a worker's thread asks of the kernel about itself.
#![allow(unsafe_code)]

use std::sync::Once;

use rustix::time::{ClockId, clock_gettime};
use stiction_core::CpuTime;

/// What a thread has used of the CPU.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Usage {
    pub(crate) cpu: CpuTime,
    /// Times that it gave up the CPU to wait.
    pub(crate) switches_voluntary: u64,
    /// Times that the CPU was taken from it.
    pub(crate) switches_involuntary: u64,
    /// Page faults that needed no I/O.
    pub(crate) faults_minor: u64,
    /// Page faults that needed I/O.
    pub(crate) faults_major: u64,
    /// Time in which it could have run and had no CPU, ns.
    pub(crate) run_delay_ns: Option<u64>,
}

impl Usage {
    /// Of the calling thread so far. The total is exact; how it divides into user and
    /// system is sampled by tick on many kernels.
    ///
    /// The clock is read first: that brings the kernel's books on a running thread up to
    /// now, and getrusage(2) alone gives what they said at the last tick, up to 10 ms ago.
    pub(crate) fn of_this_thread() -> Self {
        let total = clock_gettime(ClockId::ThreadCPUTime);
        // SAFETY: all zeros is a valid rusage, which is plain numbers.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a rusage of ours that outlives the call.
        let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        debug_assert_eq!(result, 0, "RUSAGE_THREAD is as old as Linux 2.6.26");
        let ns =
            |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Self {
            cpu: CpuTime {
                total_ns: total.tv_sec as u64 * 1_000_000_000 + total.tv_nsec as u64,
                user_ns: ns(usage.ru_utime),
                system_ns: ns(usage.ru_stime),
            },
            switches_voluntary: usage.ru_nvcsw.cast_unsigned(),
            switches_involuntary: usage.ru_nivcsw.cast_unsigned(),
            faults_minor: usage.ru_minflt.cast_unsigned(),
            faults_major: usage.ru_majflt.cast_unsigned(),
            run_delay_ns: run_delay_ns(),
        }
    }

    /// What was used from `before` to now.
    pub(crate) fn since(before: Self) -> Self {
        let now = Self::of_this_thread();
        Self {
            cpu: CpuTime {
                total_ns: now.cpu.total_ns.saturating_sub(before.cpu.total_ns),
                user_ns: now.cpu.user_ns.saturating_sub(before.cpu.user_ns),
                system_ns: now.cpu.system_ns.saturating_sub(before.cpu.system_ns),
            },
            switches_voluntary: now.switches_voluntary - before.switches_voluntary,
            switches_involuntary: now.switches_involuntary - before.switches_involuntary,
            faults_minor: now.faults_minor - before.faults_minor,
            faults_major: now.faults_major - before.faults_major,
            run_delay_ns: now
                .run_delay_ns
                .zip(before.run_delay_ns)
                .map(|(now, before)| now.saturating_sub(before)),
        }
    }
}

/// Time that the calling thread has waited for a CPU, ns: the second number of its
/// `schedstat` (`Documentation/scheduler/sched-stats.rst`). `None` without `/proc` and on
/// kernels that do not count it.
fn run_delay_ns() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Gives the calling thread a table of open files of its own, empty but for the
/// three standard ones.
///
/// The kernel then looks up a descriptor without counting references, which saves
/// 50 ns a call, each worker may open as many files as a whole process, and none
/// keeps open what others close. Where the call is unknown (before Linux 5.9) or
/// forbidden, the thread goes on with the shared table.
///
/// What the thread opens afterwards, it has to close itself.
pub(crate) fn own_file_table() {
    const CLOSE_RANGE_UNSHARE: libc::c_uint = 1 << 1;
    // SAFETY: the descriptors vanish from this thread's new table only. A worker
    // uses none that was open before: it opens its own, and a granted device
    // through /proc/self/fd, which is the table of the process's first thread.
    let _shared_then = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3,
            libc::c_uint::MAX,
            CLOSE_RANGE_UNSHARE,
        )
    };
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
        let before = Usage::of_this_thread();
        let mut number = 1u64;
        while Usage::since(before).cpu.total_ns < 20_000_000 {
            number = std::hint::black_box(number.wrapping_mul(3));
        }
        let other = std::thread::spawn(|| Usage::of_this_thread().cpu.total_ns);
        assert!(other.join().unwrap() < 20_000_000);
    }

    #[test]
    fn user_and_system_are_as_new_as_the_total() {
        let mut number = 1u64;
        for _ in 0..50 {
            // No clock is read meanwhile, as in a worker whose blocks are in memory.
            for _ in 0..1_000_000 {
                number = std::hint::black_box(number.wrapping_mul(3));
            }
            let time = Usage::of_this_thread().cpu;
            let behind_ns = time.total_ns.saturating_sub(time.user_ns + time.system_ns);
            assert!(behind_ns < 500_000, "{time:?}");
        }
    }

    /// Both are ready at the same time and may run on one CPU alone.
    #[test]
    fn who_shares_a_cpu_waits_for_it() {
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        let cpu = (0..rustix::thread::CpuSet::MAX_CPU)
            .find(|&cpu| allowed.is_set(cpu))
            .unwrap();
        let barrier = std::sync::Barrier::new(2);
        let spin = || {
            let mut own = rustix::thread::CpuSet::new();
            own.set(cpu);
            rustix::thread::sched_setaffinity(None, &own).unwrap();
            let before = Usage::of_this_thread();
            barrier.wait();
            let mut number = 1u64;
            while Usage::since(before).cpu.total_ns < 30_000_000 {
                number = std::hint::black_box(number.wrapping_mul(3));
            }
            Usage::since(before).run_delay_ns.unwrap()
        };
        let both = std::thread::scope(|scope| {
            [scope.spawn(spin), scope.spawn(spin)].map(|handle| handle.join().unwrap())
        });
        assert!(both.iter().any(|&ns| ns > 0), "{both:?}");
    }

    #[test]
    fn a_table_of_its_own_shares_nothing() {
        use std::os::fd::AsRawFd as _;

        let is_open = |fd: i32| std::fs::exists(format!("/proc/thread-self/fd/{fd}")).unwrap();
        let ours = tempfile::tempfile().unwrap();
        let ours_fd = ours.as_raw_fd();
        std::thread::scope(|scope| {
            let (to_us, from_worker) = std::sync::mpsc::channel();
            let (to_worker, from_us) = std::sync::mpsc::channel::<()>();
            scope.spawn(move || {
                own_file_table();
                assert!(is_open(2) && !is_open(ours_fd));
                let theirs = tempfile::tempfile().unwrap();
                assert_eq!(theirs.as_raw_fd(), 3, "the first free one");
                to_us.send(()).unwrap();
                from_us.recv().unwrap();
            });
            from_worker.recv().unwrap();
            assert!(is_open(ours_fd));
            to_worker.send(()).unwrap();
        });
    }
}
