//! Child processes: watched through a descriptor, so that no other process can be taken
//! for them, and ended with all that they started.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::HostError;
use crate::sys::rusage;

/// What a child used, with all descendants that were waited for (wait4(2)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU time in user mode, ns.
    pub user_ns: u64,
    /// CPU time in kernel mode, ns.
    pub system_ns: u64,
    /// Page faults that needed I/O.
    pub faults_major: u64,
    /// Page faults that needed none.
    pub faults_minor: u64,
    /// Times that a process gave up the CPU to wait.
    pub switches_voluntary: u64,
    /// Times that the CPU was taken from a process.
    pub switches_involuntary: u64,
    /// Most memory that any one of them had resident at once, bytes; `None` where it was
    /// no more than what this process has had, which the kernel counts as the child's
    /// until that has its own (exec_mmap in fs/exec.c).
    pub resident_bytes_max: Option<u64>,
}

impl ProcessUsage {
    /// User and system time together, ns.
    #[must_use]
    pub fn cpu_ns(self) -> u64 {
        self.user_ns + self.system_ns
    }
}

/// A child that leads a process group of its own. On drop the whole group is killed and
/// the child taken away.
#[derive(Debug)]
pub struct ProcessGroup {
    pid: Pid,
    handle: OwnedFd,
    reaped: bool,
}

impl ProcessGroup {
    /// Watches `child`, which was started with `process_group(0)` and has not been
    /// waited for.
    ///
    /// # Errors
    /// When the kernel has no descriptors for processes (before 5.3), or none to spare.
    pub fn watch(child: &Child) -> Result<Self, HostError> {
        let pid = Pid::from_child(child);
        let handle = pidfd_open(pid, PidfdFlags::empty())
            .map_err(|errno| HostError::refused("watch", &path(pid), errno))?;
        Ok(Self {
            pid,
            handle,
            reaped: false,
        })
    }

    /// Number of the child's process.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Whether the child has ended, waiting up to `patience` for it.
    ///
    /// # Errors
    /// When the kernel cannot wait.
    pub fn has_ended_within(&self, patience: Duration) -> Result<bool, HostError> {
        let wait = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(patience.subsec_nanos()),
        };
        let mut watched = [PollFd::new(&self.handle, PollFlags::IN)];
        match poll(&mut watched, Some(&wait)) {
            Ok(ready) => Ok(ready > 0),
            Err(Errno::INTR) => Ok(false),
            Err(errno) => Err(HostError::refused("wait for", &path(self.pid), errno)),
        }
    }

    /// Kills the child and all of its group that is left. None being left is no error.
    pub fn kill(&self) {
        // ESRCH: they have ended. There is no other way to fail for a group of ours.
        let _ = kill_process_group(self.pid, Signal::KILL);
    }

    /// Waits for the child, takes it away, and kills what is left of its group.
    ///
    /// # Errors
    /// When it was taken away by somebody else.
    pub fn reap(mut self) -> Result<(ExitStatus, ProcessUsage), HostError> {
        self.take_away()
    }

    fn take_away(&mut self) -> Result<(ExitStatus, ProcessUsage), HostError> {
        // The group's number stays ours until the leader is taken away.
        while !self.has_ended_within(Duration::from_secs(60))? {}
        self.kill();
        self.reaped = true;
        let (status, used) = rusage::wait(self.pid.as_raw_nonzero().get())
            .map_err(|error| HostError::refused("wait for", &path(self.pid), error))?;
        let ours = rusage::resident_bytes_max()
            .map_err(|error| HostError::refused("look at", Path::new("/proc/self"), error))?;
        let usage = ProcessUsage {
            user_ns: used.time.user_ns,
            system_ns: used.time.system_ns,
            faults_major: used.faults_major,
            faults_minor: used.faults_minor,
            switches_voluntary: used.switches_voluntary,
            switches_involuntary: used.switches_involuntary,
            resident_bytes_max: Some(used.resident_bytes_max).filter(|&bytes| bytes > ours),
        };
        Ok((status, usage))
    }
}

impl AsFd for ProcessGroup {
    /// Becomes readable when the child ends (pidfd_open(2)).
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.reaped {
            self.kill();
            // Killed, it ends; that somebody else took it away is as well.
            let _ = self.take_away();
        }
    }
}

/// CPU time of the main thread of a running process from the scheduler's clock, ns;
/// `None` when it has ended.
#[must_use]
pub fn running_cpu_ns(id: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{id}/schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

fn path(pid: Pid) -> PathBuf {
    format!("/proc/{}", pid.as_raw_nonzero()).into()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::zombie_processes, reason = "the group waits for its child")]

    use super::*;
    use std::io::Read as _;
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::process::{Command, Stdio};

    #[test]
    fn the_code_and_the_use_of_a_child_are_told() {
        let child = Command::new("sh")
            .args(["-c", "head -c 100000 /dev/zero | cksum >/dev/null; exit 3"])
            .process_group(0)
            .spawn()
            .unwrap();
        let group = ProcessGroup::watch(&child).unwrap();
        let (status, usage) = group.reap().unwrap();
        assert_eq!(status.code(), Some(3));
        assert!(usage.faults_minor > 0 && usage.switches_voluntary > 0);
    }

    /// The grandchild holds the pipe: it ends when the whole group is killed.
    #[test]
    fn a_group_that_is_dropped_is_gone() {
        let mut child = Command::new("sh")
            .args(["-c", "sleep 1000 & sleep 1000"])
            .process_group(0)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdout.take().unwrap();
        let group = ProcessGroup::watch(&child).unwrap();
        assert!(!group.has_ended_within(Duration::ZERO).unwrap());
        drop(group);
        let mut all = Vec::new();
        pipe.read_to_end(&mut all).unwrap();
        assert!(all.is_empty());
    }

    #[test]
    fn a_killed_child_says_so() {
        let child = Command::new("sleep")
            .arg("1000")
            .process_group(0)
            .spawn()
            .unwrap();
        let group = ProcessGroup::watch(&child).unwrap();
        group.kill();
        assert_eq!(group.reap().unwrap().0.signal(), Some(9));
    }
}
