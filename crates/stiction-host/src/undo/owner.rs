//! Who made a change, and whether that process is still there to undo it.

use std::fs::File;
use std::io;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use stiction_core::{Digest, SessionId};

use crate::Roots;

/// A process, told apart from every later one with the same number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// The session that the process ran.
    pub session: SessionId,
    /// Its process id.
    pub pid: u32,
    /// When it started, clock ticks after boot (`/proc/PID/stat`, field 22).
    pub start_ticks: u64,
    /// The boot that it ran in (`/proc/sys/kernel/random/boot_id`).
    pub boot_id: String,
    /// Digest of the machine's id; `None` on machines without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Digest>,
}

/// Whether an [`Owner`] can still undo its own changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// It runs; what it made is in use.
    Alive,
    /// It is gone for good.
    Dead,
    /// It ran on another machine that shares this filesystem; only that machine can tell.
    OtherMachine,
}

impl Owner {
    /// This process, for `session`.
    ///
    /// # Errors
    /// When `/proc` does not tell.
    pub(crate) fn this_process(session: &SessionId) -> io::Result<Self> {
        let roots = Roots::live();
        let pid = std::process::id();
        // Not the errno alone: it would be read as that of the file for the owner.
        let stat = roots.text("/proc/self/stat").map_err(|error| {
            io::Error::other(format!(
                "/proc/self/stat cannot be read ({error}); mount /proc"
            ))
        })?;
        let start_ticks = start_ticks(&stat)
            .ok_or_else(|| io::Error::other("/proc/self/stat has no start time"))?;
        Ok(Self {
            session: session.clone(),
            pid,
            start_ticks,
            boot_id: boot_id(&roots)?,
            machine: machine(&roots),
        })
    }

    /// Whether the owner lives, where `lock` is the file that it holds locked as
    /// long as it does.
    ///
    /// The lock tells across containers, where process ids mean nothing; the
    /// identity tells where locks are not supported. Dead means that both say so,
    /// as far as they can.
    pub(crate) fn liveness(&self, lock: &File) -> io::Result<Liveness> {
        let lock_is_free = match flock(lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => true,
            Err(Errno::WOULDBLOCK) => return Ok(Liveness::Alive),
            Err(error) if locks_are_unsupported(error) => false,
            Err(error) => return Err(error.into()),
        };
        let roots = Roots::live();
        let is_this_machine = self.machine == machine(&roots);
        if self.boot_id == boot_id(&roots)? {
            return Ok(if self.runs(&roots) {
                Liveness::Alive
            } else if lock_is_free || is_this_machine {
                Liveness::Dead
            } else {
                // A container of this kernel, whose processes cannot be seen.
                Liveness::OtherMachine
            });
        }
        // Another boot: an earlier one of this kernel, or another machine's that
        // shares the filesystem.
        Ok(if is_this_machine || !is_shared(lock)? {
            Liveness::Dead
        } else {
            Liveness::OtherMachine
        })
    }

    /// Whether it ran in the boot that runs now.
    #[must_use]
    pub fn is_of_this_boot(&self) -> bool {
        boot_id(&Roots::live()).is_ok_and(|id| id == self.boot_id)
    }

    fn runs(&self, roots: &Roots) -> bool {
        let stat = roots.text(format!("/proc/{}/stat", self.pid));
        stat.is_ok_and(|stat| start_ticks(&stat) == Some(self.start_ticks))
    }
}

/// Whether other machines may have the filesystem of `file` mounted too.
fn is_shared(file: &File) -> io::Result<bool> {
    /// NFS, SMB, CIFS, SMB2, Ceph, AFS, 9p, FUSE (sshfs, virtiofs and others),
    /// OCFS2, GFS2 (`linux/magic.h`), Lustre and GPFS.
    const SHARED: [u32; 12] = [
        0x0000_6969,
        0x0000_517b,
        0xff53_4d42,
        0xfe53_4d42,
        0x00c3_6400,
        0x5346_414f,
        0x0102_1997,
        0x6573_5546,
        0x7461_636f,
        0x0116_1970,
        0x0bd0_0bd0,
        0x4750_4653,
    ];
    let kind = rustix::fs::fstatfs(file)?.f_type as u32;
    Ok(SHARED.contains(&kind))
}

/// Takes the lock by which others see that this process lives. Where the
/// filesystem has no locks, the identity has to do.
pub(crate) fn hold_lock(file: &File) -> io::Result<()> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(error) if !locks_are_unsupported(error) => Err(error.into()),
        _ => Ok(()),
    }
}

fn locks_are_unsupported(error: Errno) -> bool {
    [Errno::NOLCK, Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL].contains(&error)
}

/// Field 22 of `/proc/PID/stat`. The second field is a name in parentheses that
/// may itself hold spaces and parentheses, so fields are counted from the last one.
fn start_ticks(stat: &str) -> Option<u64> {
    let after_name = &stat[stat.rfind(')')? + 1..];
    after_name.split_ascii_whitespace().nth(19)?.parse().ok()
}

fn boot_id(roots: &Roots) -> io::Result<String> {
    roots.text("/proc/sys/kernel/random/boot_id")
}

/// A digest, since the id itself is confidential by machine-id(5).
fn machine(roots: &Roots) -> Option<Digest> {
    let id = roots.text_if_any("/etc/machine-id")?;
    Some(Digest::of(format!("stiction undo journal {id}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_time_is_counted_from_the_last_parenthesis() {
        let stat = "42 (a) b) S 1 42 42 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 999 1";
        assert_eq!(start_ticks(stat), Some(12345));
        assert_eq!(start_ticks("42 (cut"), None);
        assert_eq!(start_ticks("42 (cut) S 1 2"), None);
    }

    #[test]
    fn an_owner_is_alive_while_it_holds_its_lock_or_runs() {
        let session = SessionId::new(jiff::Timestamp::UNIX_EPOCH, 1);
        let me = Owner::this_process(&session).unwrap();
        let path = tempfile::NamedTempFile::new().unwrap();
        let open = || File::open(path.path()).unwrap();

        let held = open();
        hold_lock(&held).unwrap();
        assert_eq!(me.liveness(&open()).unwrap(), Liveness::Alive);
        drop(held);

        let init = Owner {
            pid: 1,
            start_ticks: start_ticks(&std::fs::read_to_string("/proc/1/stat").unwrap()).unwrap(),
            ..me.clone()
        };
        assert_eq!(init.liveness(&open()).unwrap(), Liveness::Alive);
        let earlier = Owner {
            start_ticks: init.start_ticks + 1,
            ..init.clone()
        };
        assert_eq!(earlier.liveness(&open()).unwrap(), Liveness::Dead);
        let before_boot = Owner {
            boot_id: "another".to_owned(),
            ..init.clone()
        };
        assert_eq!(before_boot.liveness(&open()).unwrap(), Liveness::Dead);
        // The temporary directory is this machine's own, so another boot's lock on it
        // can be nobody's.
        let elsewhere = Owner {
            machine: Some(Digest::of(b"elsewhere")),
            ..before_boot
        };
        assert_eq!(elsewhere.liveness(&open()).unwrap(), Liveness::Dead);
    }

    #[test]
    fn a_disk_is_not_shared() {
        let file = tempfile::tempfile_in("/var/tmp").unwrap();
        assert!(!is_shared(&file).unwrap());
    }
}
