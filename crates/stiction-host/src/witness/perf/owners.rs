//! Whose process it is that did something: ours, the kernel's or another's.

use std::collections::HashMap;

use crate::Roots;

/// Parent of all threads of the kernel.
const KTHREADD: u32 = 2;
/// Longer ancestries than this are cut off.
const GENERATIONS: usize = 64;

/// Whose a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whose {
    /// This process, or one that it started, however far down.
    Ours,
    /// A thread of the kernel; or an interrupt while nothing ran.
    Kernel,
    /// Anybody else's.
    Other,
}

/// Name of a program, in the room that the kernel has for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProgramName([u8; 16]);

impl ProgramName {
    /// What of the name has room.
    pub(super) fn new(text: &[u8]) -> Self {
        let mut name = [0; 16];
        let length = text.len().min(name.len());
        name[..length].copy_from_slice(&text[..length]);
        Self(name)
    }

    /// Up to its first zero.
    pub(super) fn text(&self) -> &[u8] {
        let end = self.0.iter().position(|byte| *byte == 0);
        &self.0[..end.unwrap_or(self.0.len())]
    }
}

/// A process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) whose: Whose,
    pub(super) name: String,
}

/// Processes by number, looked up once each.
#[derive(Debug)]
pub(super) struct Owners {
    roots: Roots,
    own: u32,
    known: HashMap<u32, Owner>,
    thread_names: HashMap<u32, String>,
}

impl Owners {
    pub(super) fn new(roots: Roots, own: u32) -> Self {
        Self {
            roots,
            own,
            known: HashMap::new(),
            thread_names: HashMap::new(),
        }
    }

    /// Whose the process is. `hint` is its name where it may be gone.
    pub(super) fn of(&mut self, pid: u32, hint: &[u8]) -> &Owner {
        if !self.known.contains_key(&pid) {
            let owner = self.looked_up(pid, hint);
            self.known.insert(pid, owner);
        }
        &self.known[&pid]
    }

    /// Name of a thread; empty when it is gone.
    pub(super) fn thread_name(&mut self, tid: u32) -> &str {
        let roots = &self.roots;
        self.thread_names.entry(tid).or_insert_with(|| {
            let comm = roots.text(format!("/proc/{tid}/comm"));
            short(&comm.unwrap_or_default())
        })
    }

    /// A process was made: it is whose its parent is, unless it is a program that
    /// starts anew under another's.
    pub(super) fn forked(&mut self, pid: u32, parent: u32) {
        let owner = self.of(parent, b"").clone();
        self.known.insert(pid, owner);
    }

    /// A process has another name now.
    pub(super) fn named(&mut self, pid: u32, name: &[u8]) {
        if let Some(owner) = self.known.get_mut(&pid) {
            owner.name = short(&String::from_utf8_lossy(name));
        }
    }

    /// A process is gone, and its number free.
    pub(super) fn exited(&mut self, pid: u32) {
        self.known.remove(&pid);
        self.thread_names.remove(&pid);
    }

    fn looked_up(&self, pid: u32, hint: &[u8]) -> Owner {
        let hint = String::from_utf8_lossy(hint);
        if pid == 0 {
            return Owner {
                whose: Whose::Kernel,
                name: "interrupt".to_owned(),
            };
        }
        let status = self.status(pid);
        let name = status.as_ref().map_or(&*hint, |(name, _)| name);
        Owner {
            whose: self.whose(pid),
            name: match name {
                "" => format!("process {pid}"),
                name => short(name),
            },
        }
    }

    fn whose(&self, pid: u32) -> Whose {
        let mut pid = pid;
        for _ in 0..GENERATIONS {
            if pid == self.own {
                return Whose::Ours;
            }
            if pid == KTHREADD {
                return Whose::Kernel;
            }
            match self.status(pid) {
                Some((_, parent)) if parent > 0 => pid = parent,
                _ => return Whose::Other,
            }
        }
        Whose::Other
    }

    /// Name and parent, from `/proc/PID/stat` (proc_pid_stat(5)): the name is in
    /// brackets and may hold some itself.
    fn status(&self, pid: u32) -> Option<(String, u32)> {
        let text = self.roots.text(format!("/proc/{pid}/stat")).ok()?;
        let (front, back) = text.rsplit_once(") ")?;
        let (_, name) = front.split_once(" (")?;
        let parent = back.split(' ').nth(1)?.parse().ok()?;
        Some((name.to_owned(), parent))
    }
}

/// Threads of the kernel's pools by the pool's name alone.
fn short(name: &str) -> String {
    match name.split_once('/') {
        Some((pool @ ("kworker" | "ksoftirqd" | "migration" | "cpuhp"), _)) => pool.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MACHINE: &str = "\
/proc/1/stat: 1 (init) S 0 1 1 0
/proc/2/stat: 2 (kthreadd) S 0 0 0 0
/proc/77/stat: 77 (kworker/u4:2-flush-7:0) I 2 0 0 0
/proc/78/stat: 78 (jbd2/vda-8) S 2 0 0 0
/proc/100/stat: 100 (stiction) S 1 100 1 0
/proc/101/stat: 101 (sh (x) y) S 100 100 1 0
/proc/102/stat: 102 (dd) R 101 100 1 0
/proc/200/stat: 200 (backup) R 1 200 1 0
/proc/205/comm: worker-3
";

    #[test]
    fn ancestors_tell_whose_it_is() {
        let top = testkit::machine::lay_out(MACHINE);
        let mut owners = Owners::new(Roots::at(top.path()), 100);
        let mut of = |pid, hint: &[u8]| {
            let owner = owners.of(pid, hint).clone();
            (owner.whose, owner.name)
        };
        let named = |whose, name: &str| (whose, name.to_owned());
        assert_eq!(of(100, b""), named(Whose::Ours, "stiction"));
        assert_eq!(of(101, b""), named(Whose::Ours, "sh (x) y"));
        assert_eq!(of(102, b""), named(Whose::Ours, "dd"));
        assert_eq!(of(77, b""), named(Whose::Kernel, "kworker"));
        assert_eq!(of(78, b""), named(Whose::Kernel, "jbd2/vda-8"));
        assert_eq!(of(0, b""), named(Whose::Kernel, "interrupt"));
        assert_eq!(of(200, b""), named(Whose::Other, "backup"));
        assert_eq!(of(300, b"gone"), named(Whose::Other, "gone"));
        assert_eq!(of(301, b""), named(Whose::Other, "process 301"));
        assert_eq!(owners.thread_name(205), "worker-3");
        assert_eq!(owners.thread_name(206), "");
    }

    #[test]
    fn what_is_gone_before_it_is_looked_up_is_known_by_its_birth() {
        let top = testkit::machine::lay_out(MACHINE);
        let mut owners = Owners::new(Roots::at(top.path()), 100);
        owners.forked(400, 101);
        owners.named(400, b"cp");
        assert_eq!(owners.of(400, b"").whose, Whose::Ours);
        assert_eq!(owners.of(400, b"").name, "cp");
        owners.exited(400);
        assert_eq!(
            owners.of(400, b"").whose,
            Whose::Other,
            "its number is another's"
        );
        owners.forked(401, 200);
        assert_eq!(owners.of(401, b"").whose, Whose::Other);
    }
}
