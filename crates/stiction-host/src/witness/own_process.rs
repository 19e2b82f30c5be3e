//! What the kernel booked on our own process.

use stiction_core::{Delay, ProcessActivity, ProcessIo, TaskDelays, Witnesses};

use super::taskstats::Taskstats;
use crate::Roots;
use crate::sys::rusage;

const DELAY_SWITCH: &str = "/proc/sys/kernel/task_delayacct";

/// Readings of our process before a phase.
#[derive(Debug)]
pub(super) struct OwnProcess {
    io: Option<ProcessIo>,
    activity: Option<ProcessActivity>,
    delays: Result<Delays, String>,
}

/// The service that counts delays, what it had counted, and whether it counts all.
#[derive(Debug)]
struct Delays {
    service: Taskstats,
    before: TaskDelays,
    counts_all: bool,
}

impl OwnProcess {
    pub(super) fn begin(roots: &Roots) -> Self {
        Self {
            delays: Delays::begin(roots),
            activity: activity(),
            io: process_io(roots),
        }
    }

    /// Takes the readings after the phase into `seen`.
    pub(super) fn finish(self, roots: &Roots, seen: &mut Witnesses) {
        let io = process_io(roots);
        let activity = activity();
        let delays = self.delays.and_then(Delays::finish);
        seen.process_io = io
            .zip(self.io)
            .map(|(after, before)| io_since(after, before));
        if seen.process_io.is_none() {
            let reason = "I/O of this process: /proc/self/io cannot be read";
            seen.unexplained.push(reason.to_owned());
        }
        seen.process_activity = activity
            .zip(self.activity)
            .map(|(after, before)| activity_since(after, before));
        match delays {
            Ok((delays, remark)) => {
                seen.delays = Some(delays);
                seen.unexplained.extend(remark);
            }
            Err(reason) => seen.unexplained.push(reason),
        }
    }
}

impl Delays {
    fn begin(roots: &Roots) -> Result<Self, String> {
        let refused = |error: std::io::Error| {
            let advice = if error.raw_os_error() == Some(libc::EPERM) {
                "; CAP_NET_ADMIN would give it"
            } else {
                ""
            };
            format!("delays of this process: taskstats: {error}{advice}")
        };
        let mut service = Taskstats::open().map_err(refused)?;
        let before = service.of_process(std::process::id()).map_err(refused)?;
        // Before Linux 5.14 there was no switch, and all was counted.
        let counts_all = roots.text_if_any(DELAY_SWITCH).as_deref() != Some("0");
        Ok(Self {
            service,
            before,
            counts_all,
        })
    }

    /// What was waited, and what of it could not be counted.
    fn finish(mut self) -> Result<(TaskDelays, Option<String>), String> {
        let after = self
            .service
            .of_process(std::process::id())
            .map_err(|error| format!("delays of this process: taskstats: {error}"))?;
        let delays = delays_since(after, self.before, self.counts_all);
        let remark = (!self.counts_all).then(|| {
            "waits of this process for devices and memory: kernel.task_delayacct is 0, and \
             the kernel counts them for threads that begin while it is 1"
                .to_owned()
        });
        Ok((delays, remark))
    }
}

fn delays_since(after: TaskDelays, before: TaskDelays, counts_all: bool) -> TaskDelays {
    let between = |after: Delay, before: Delay| Delay {
        count: after.count.saturating_sub(before.count),
        ns: after.ns.saturating_sub(before.ns),
    };
    let counted = |after: Option<Delay>, before: Option<Delay>| {
        let (after, before) = after.zip(before).filter(|_| counts_all)?;
        Some(between(after, before))
    };
    TaskDelays {
        version: after.version,
        cpu: between(after.cpu, before.cpu),
        block_io: counted(after.block_io, before.block_io),
        swap_in: counted(after.swap_in, before.swap_in),
        reclaim: counted(after.reclaim, before.reclaim),
        thrashing: counted(after.thrashing, before.thrashing),
        compaction: counted(after.compaction, before.compaction),
        copy_on_write: counted(after.copy_on_write, before.copy_on_write),
    }
}

/// `None` where the file cannot be read or has another form.
fn process_io(roots: &Roots) -> Option<ProcessIo> {
    parse_io(&roots.text("/proc/self/io").ok()?)
}

/// Lines `NAME: NUMBER` (proc_pid_io(5)).
fn parse_io(text: &str) -> Option<ProcessIo> {
    let number = |wanted: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(": "));
        let (_, number) = lines.find(|(name, _)| *name == wanted)?;
        number.trim().parse().ok()
    };
    Some(ProcessIo {
        read_call_bytes: number("rchar")?,
        write_call_bytes: number("wchar")?,
        read_calls: number("syscr")?,
        write_calls: number("syscw")?,
        read_bytes: number("read_bytes")?,
        written_bytes: number("write_bytes")?,
        cancelled_bytes: number("cancelled_write_bytes")?,
    })
}

fn io_since(after: ProcessIo, before: ProcessIo) -> ProcessIo {
    let between = |of: fn(ProcessIo) -> u64| of(after).saturating_sub(of(before));
    ProcessIo {
        read_call_bytes: between(|io| io.read_call_bytes),
        write_call_bytes: between(|io| io.write_call_bytes),
        read_calls: between(|io| io.read_calls),
        write_calls: between(|io| io.write_calls),
        read_bytes: between(|io| io.read_bytes),
        written_bytes: between(|io| io.written_bytes),
        cancelled_bytes: between(|io| io.cancelled_bytes),
    }
}

fn activity() -> Option<ProcessActivity> {
    rusage::activity_of_process().ok()
}

fn activity_since(after: ProcessActivity, before: ProcessActivity) -> ProcessActivity {
    let between = |of: fn(ProcessActivity) -> u64| of(after).saturating_sub(of(before));
    ProcessActivity {
        switches_voluntary: between(|seen| seen.switches_voluntary),
        switches_involuntary: between(|seen| seen.switches_involuntary),
        faults_minor: between(|seen| seen.faults_minor),
        faults_major: between(|seen| seen.faults_major),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    /// The example of proc_pid_io(5).
    #[test]
    fn io_of_the_manual_page() {
        let text = "rchar: 323934931\nwchar: 323929600\nsyscr: 632687\nsyscw: 632675\n\
                    read_bytes: 0\nwrite_bytes: 323932160\ncancelled_write_bytes: 0\n";
        let io = parse_io(text).unwrap();
        assert_eq!(io.read_call_bytes, 323_934_931);
        assert_eq!((io.read_calls, io.write_calls), (632_687, 632_675));
        assert_eq!((io.read_bytes, io.written_bytes), (0, 323_932_160));
        assert_eq!(parse_io("rchar: 1\n"), None);
    }

    /// 64 writes of 4 KiB into a file: calls and bytes are counted, and the file's removal
    /// cancels what was not written back.
    #[test]
    fn our_writes_are_counted() {
        let roots = Roots::live();
        let before = OwnProcess::begin(&roots);
        let mut file = tempfile::tempfile().unwrap();
        for _ in 0..64 {
            file.write_all(&[7; 4096]).unwrap();
        }
        let mut seen = Witnesses::default();
        before.finish(&roots, &mut seen);
        let io = seen.process_io.unwrap();
        assert!(
            io.write_calls >= 64 && io.write_call_bytes >= 64 * 4096,
            "{io:?}"
        );
        assert!(seen.process_activity.is_some());
    }

    #[test]
    fn what_is_not_counted_is_no_zero() {
        let delay = Delay { count: 3, ns: 9 };
        let after = TaskDelays {
            cpu: delay,
            block_io: Some(delay),
            ..TaskDelays::default()
        };
        let nothing = TaskDelays {
            block_io: Some(Delay::default()),
            ..TaskDelays::default()
        };
        assert_eq!(delays_since(after, nothing, false).block_io, None);
        assert_eq!(delays_since(after, nothing, false).cpu, delay);
        assert_eq!(delays_since(after, nothing, true).block_io, Some(delay));
        // The kernel has no such counter.
        assert_eq!(delays_since(after, nothing, true).thrashing, None);
    }

    /// The kernel's switch, on until this is dropped.
    struct SwitchedOn(String);

    impl SwitchedOn {
        fn new() -> Self {
            let before = std::fs::read_to_string(DELAY_SWITCH).unwrap();
            std::fs::write(DELAY_SWITCH, "1").unwrap();
            Self(before)
        }
    }

    impl Drop for SwitchedOn {
        fn drop(&mut self) {
            std::fs::write(DELAY_SWITCH, &self.0).unwrap();
        }
    }

    /// 64 reads past the cache, by a thread that begins while waits are counted: it slept
    /// for most of them, and each sleep is booked.
    #[test]
    fn root_waits_for_a_device_are_booked_where_they_are_counted() {
        use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

        testkit::require_root!();
        let device = testkit::ScratchLoop::new(16 << 20);
        let roots = Roots::live();
        let seen_of = |work: &(dyn Fn() + Sync)| {
            let before = OwnProcess::begin(&roots);
            std::thread::scope(|scope| scope.spawn(work).join().unwrap());
            let mut seen = Witnesses::default();
            before.finish(&roots, &mut seen);
            seen
        };
        let read = || {
            let mut options = std::fs::OpenOptions::new();
            let file = options.read(true).custom_flags(libc::O_DIRECT);
            let file = file.open(device.path()).unwrap();
            let mut room = vec![0; 8192];
            let start = room.as_ptr().align_offset(4096);
            for block in 0..64 {
                file.read_exact_at(&mut room[start..start + 4096], block * 4096)
                    .unwrap();
            }
        };
        let on = SwitchedOn::new();
        let delays = seen_of(&read).delays.unwrap();
        let waits = delays.block_io.unwrap();
        assert!(waits.count > 32 && waits.ns > 0, "{delays:?}");
        drop(on);
        if std::fs::read_to_string(DELAY_SWITCH).unwrap().trim() == "0" {
            let seen = seen_of(&read);
            assert_eq!(seen.delays.unwrap().block_io, None);
            assert!(seen.unexplained[0].contains("task_delayacct"), "{seen:?}");
        }
    }
}
