//! On which CPUs this thread and what it starts may run.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use stiction_core::{Applied, Setting};

use crate::HostError;

/// The CPUs of the calling thread, and of all threads and processes that it starts from
/// then on; as they were again on drop, which must be in the same thread. It ends with
/// the process, so the undo journal has no part in it.
#[derive(Debug)]
pub struct Affinity {
    before: CpuSet,
}

impl Affinity {
    /// Restricts this thread to CPUs such as `0`, `0-3` or `0,2-3`.
    ///
    /// # Errors
    /// When the level is no list of CPUs, or none of them may be used.
    pub fn set(setting: Setting) -> Result<(Self, Applied), HostError> {
        let unavailable = |reason: String| HostError::Unavailable {
            what: "these CPUs",
            reason,
        };
        let wanted = parse(&setting.level).map_err(unavailable)?;
        let refused =
            |errno: rustix::io::Errno| unavailable(std::io::Error::from(errno).to_string());
        let before = sched_getaffinity(None).map_err(refused)?;
        sched_setaffinity(None, &wanted).map_err(refused)?;
        let affinity = Self { before };
        let found = sched_getaffinity(None).map_err(refused)?;
        let found = if found == wanted {
            setting.level.clone()
        } else {
            listed(&found)
        };
        let applied = Applied {
            asked: setting,
            found: Some(found),
            also_changed: Vec::new(),
        };
        Ok((affinity, applied))
    }
}

impl Drop for Affinity {
    fn drop(&mut self) {
        // These CPUs were allowed before; where they no longer are, the kernel has
        // chosen others for us.
        let _ = sched_setaffinity(None, &self.before);
    }
}

pub(super) fn parse(text: &str) -> Result<CpuSet, String> {
    let wrong = || format!("`{text}` is no list of CPUs such as 0,2-3");
    let mut set = CpuSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let first: usize = first.trim().parse().map_err(|_| wrong())?;
        let last: usize = last.trim().parse().map_err(|_| wrong())?;
        if first > last || last >= CpuSet::MAX_CPU {
            return Err(wrong());
        }
        (first..=last).for_each(|cpu| set.set(cpu));
    }
    Ok(set)
}

pub(super) fn listed(set: &CpuSet) -> String {
    let cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    let cpus: Vec<String> = cpus.map(|cpu| cpu.to_string()).collect();
    cpus.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_read() {
        assert_eq!(listed(&parse("0,2-4").unwrap()), "0,2,3,4");
        assert_eq!(listed(&parse("7").unwrap()), "7");
        for wrong in ["", "a", "3-1", "0,", "100000", "-1"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn threads_inherit_it_and_it_is_put_back() {
        let before = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU)
            .find(|&cpu| before.is_set(cpu))
            .unwrap();
        let level = first.to_string();
        let (affinity, applied) = Affinity::set(Setting::new("cpus", level.clone())).unwrap();
        assert!(applied.is_in_force(), "{applied:?}");
        let inherited = std::thread::spawn(|| sched_getaffinity(None).unwrap());
        assert_eq!(listed(&inherited.join().unwrap()), level);
        drop(affinity);
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }
}
