//! Programs and kernel threads whose work would be in the way.

use stiction_core::{Spoiler, SpoilerKind, TargetStack};

use crate::Roots;

/// Programs that walk or rewrite whole filesystems, by name; all of them end.
const MAINTENANCE: [&str; 14] = [
    "fstrim",
    "e2scrub",
    "xfs_scrub",
    "xfs_fsr",
    "e4defrag",
    "e2fsck",
    "fsck.ext4",
    "updatedb",
    "updatedb.mlocat",
    "updatedb.plocat",
    "apt-get",
    "dpkg",
    "dnf",
    "zypper",
];
/// What `btrfs` is told to do for long.
const OF_BTRFS: [&str; 3] = ["scrub", "balance", "filesystem"];
/// Names of the daemon that runs jobs by the clock.
const CRON: [&str; 3] = ["cron", "crond", "fcron"];

/// The programs that were seen, by their first names.
#[derive(Debug, Default)]
pub(super) struct Programs {
    maintenance: Vec<String>,
    lazy_init: bool,
    cron: bool,
}

/// Looks at all processes.
pub(super) fn running(roots: &Roots) -> Programs {
    let mut programs = Programs::default();
    let names = roots.names("/proc");
    let numbers = names
        .iter()
        .filter(|name| name.bytes().all(|b| b.is_ascii_digit()));
    for number in numbers {
        // It may have ended meanwhile.
        let Some(name) = roots.text_if_any(format!("/proc/{number}/comm")) else {
            continue;
        };
        let name = name.as_str();
        programs.lazy_init |= name == "ext4lazyinit";
        programs.cron |= CRON.contains(&name);
        if MAINTENANCE.contains(&name) {
            programs.maintenance.push(name.to_owned());
        } else if name == "btrfs" {
            let line = roots.text_if_any(format!("/proc/{number}/cmdline"));
            programs
                .maintenance
                .extend(line.as_deref().and_then(long_work_of_btrfs));
        }
    }
    programs
}

/// `btrfs scrub`, where the words of a process's command line are that; `filesystem` of
/// many meanings counts when it defragments.
fn long_work_of_btrfs(line: &str) -> Option<String> {
    let mut words = line.split('\0').skip(1);
    let work = words.next().filter(|word| OF_BTRFS.contains(word))?;
    let is_long = work != "filesystem" || words.next()?.starts_with("defrag");
    is_long.then(|| format!("btrfs {work}"))
}

impl Programs {
    /// Whether a daemon runs that obeys crontabs.
    pub(super) fn cron_runs(&self) -> bool {
        self.cron
    }

    /// The kernel's thread that writes inode tables, where a target is such a filesystem.
    pub(super) fn lazy_init(&self, stacks: &[TargetStack]) -> Option<Spoiler> {
        let mut filesystems = stacks.iter().filter_map(|stack| stack.filesystem.as_ref());
        let is_ext = filesystems.any(|filesystem| filesystem.kind.starts_with("ext"));
        (self.lazy_init && is_ext).then(|| Spoiler {
            kind: SpoilerKind::LazyInit,
            detail: "ext4lazyinit still writes the inode tables of a filesystem".to_owned(),
        })
    }

    /// Programs that maintain the system.
    pub(super) fn maintenance(&self) -> Option<Spoiler> {
        let mut names = self.maintenance.clone();
        names.sort();
        names.dedup();
        (!names.is_empty()).then(|| Spoiler {
            kind: SpoilerKind::Maintenance,
            detail: format!("{} is running", names.join(", ")),
        })
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::Filesystem;
    use testkit::machine::lay_out;

    use super::*;

    fn on(kind: &str) -> [TargetStack; 1] {
        [TargetStack {
            path: "/mnt".to_owned(),
            filesystem: Some(Filesystem {
                kind: kind.to_owned(),
                ..Filesystem::default()
            }),
            layers: Vec::new(),
            missing: Vec::new(),
        }]
    }

    #[test]
    fn programs_are_known_by_name() {
        let text = "/proc/1/comm: init\n/proc/20/comm: ext4lazyinit\n/proc/31/comm: fstrim\n\
                    /proc/32/comm: btrfs\n/proc/32/cmdline: btrfs\\x00scrub\\x00start\\x00/\\x00\n\
                    /proc/33/comm: btrfs\n/proc/33/cmdline: btrfs\\x00filesystem\\x00df\\x00/\n\
                    /proc/self/comm: fstrim\n/proc/40/comm: cron\n";
        let top = lay_out(text);
        let programs = running(&Roots::at(top.path()));
        let found = programs.maintenance().unwrap();
        assert_eq!(found.detail, "btrfs scrub, fstrim is running");
        assert!(programs.cron_runs());
        assert!(programs.lazy_init(&on("ext4")).is_some());
        assert!(programs.lazy_init(&on("xfs")).is_none());
    }

    #[test]
    fn where_nothing_runs_there_is_nothing() {
        let top = lay_out("/proc/1/comm: init\n");
        let programs = running(&Roots::at(top.path()));
        assert_eq!(programs.maintenance(), None);
        assert!(!programs.cron_runs());
    }
}
