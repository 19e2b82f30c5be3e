//! What it takes to run both sides of a change again, next to each other.

use crate::compare::Difference;

/// A setting of the running machine that both sides had, each its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The fact that says it, as in a comparison of environments.
    pub key: String,
    /// The file that it is set by.
    pub path: String,
    /// What it was before the change.
    pub before: String,
    /// What it was after the change.
    pub after: String,
}

/// How both sides of a change can be had again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rerun {
    /// By settings of the running machine, and in places, that can be had at once.
    Here(Vec<Setting>),
    /// Only by starting another system, or on another machine: these facts differ.
    Elsewhere(Vec<Difference>),
    /// Not at all: nothing that was observed differs.
    Unknown,
}

/// How the two sides that differ in these facts can be had again on the machine.
#[must_use]
pub fn rerun(differs: &[Difference]) -> Rerun {
    let mut settings = Vec::new();
    let mut elsewhere = Vec::new();
    let mut has_places = false;
    for difference in differs {
        if is_place(&difference.key) {
            has_places = true;
        } else if let Some(path) = file_of(&difference.key) {
            settings.push(Setting {
                key: difference.key.clone(),
                path,
                before: difference.a.clone(),
                after: difference.b.clone(),
            });
        } else {
            elsewhere.push(difference.clone());
        }
    }
    if !elsewhere.is_empty() {
        Rerun::Elsewhere(elsewhere)
    } else if settings.is_empty() && !has_places {
        Rerun::Unknown
    } else {
        Rerun::Here(settings)
    }
}

/// Whether a fact only says in which directory it was, and by which names devices went.
fn is_place(key: &str) -> bool {
    key.starts_with("target") && (key.ends_with(".path") || key.ends_with(".devices"))
}

/// Settings of `queue/` that may be written (Documentation/ABI/stable/sysfs-block).
const QUEUE: &[&str] = &[
    "read_ahead_kb",
    "nr_requests",
    "nomerges",
    "rq_affinity",
    "wbt_lat_usec",
    "max_sectors_kb",
    "add_random",
    "iostats",
    "rotational",
    "write_cache",
];

/// Settings of `/proc/sys/vm` that may be written (Documentation/admin-guide/sysctl/vm.rst).
/// The `_bytes` of a pair are set by the `_ratio`.
const VM: &[&str] = &[
    "dirty_background_ratio",
    "dirty_expire_centisecs",
    "dirty_ratio",
    "dirty_writeback_centisecs",
    "laptop_mode",
    "swappiness",
    "vfs_cache_pressure",
];

/// The file that a fact is set by on a running machine, if it can be.
fn file_of(key: &str) -> Option<String> {
    if let Some((device, setting)) = key.rsplit_once(".queue.") {
        let device = device.rsplit('.').next()?;
        return QUEUE
            .contains(&setting)
            .then(|| format!("/sys/block/{device}/queue/{setting}"));
    }
    if key.starts_with("target.") && key.ends_with(".scheduler") {
        let device = key.rsplit('.').nth(1)?;
        return Some(format!("/sys/block/{device}/queue/scheduler"));
    }
    let setting = key.strip_prefix("memory.")?;
    if setting == "transparent_huge_pages" {
        return Some("/sys/kernel/mm/transparent_hugepage/enabled".to_owned());
    }
    VM.contains(&setting)
        .then(|| format!("/proc/sys/vm/{setting}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differs(keys: &[&str]) -> Vec<Difference> {
        let difference = |key: &&str| Difference {
            key: (*key).to_owned(),
            a: "1".to_owned(),
            b: "2".to_owned(),
            named: false,
            allowed: false,
        };
        keys.iter().map(difference).collect()
    }

    fn paths(keys: &[&str]) -> Vec<String> {
        match rerun(&differs(keys)) {
            Rerun::Here(settings) => settings.into_iter().map(|one| one.path).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn settings_have_their_files() {
        for (key, path) in [
            (
                "target.vda.queue.read_ahead_kb",
                "/sys/block/vda/queue/read_ahead_kb",
            ),
            (
                "target.0.loop3.backing.vda.queue.nr_requests",
                "/sys/block/vda/queue/nr_requests",
            ),
            (
                "target.nvme0n1.scheduler",
                "/sys/block/nvme0n1/queue/scheduler",
            ),
            ("memory.dirty_ratio", "/proc/sys/vm/dirty_ratio"),
            (
                "memory.transparent_huge_pages",
                "/sys/kernel/mm/transparent_hugepage/enabled",
            ),
        ] {
            assert_eq!(paths(&[key]), [path]);
        }
    }

    #[test]
    fn another_directory_needs_no_setting() {
        assert!(paths(&["target.path", "target.devices"]).is_empty());
    }

    #[test]
    fn a_kernel_is_not_set_and_says_so_whatever_else_can_be() {
        let found = rerun(&differs(&["memory.swappiness", "kernel.release"]));
        assert_eq!(found, Rerun::Elsewhere(differs(&["kernel.release"])));
        let read_only = [
            "target.vda.queue.hw_sector_size",
            "memory.total",
            "cpu.model",
        ];
        for key in read_only {
            assert!(
                matches!(rerun(&differs(&[key])), Rerun::Elsewhere(_)),
                "{key}"
            );
        }
    }

    #[test]
    fn without_a_difference_there_is_nothing_to_rerun() {
        assert_eq!(rerun(&[]), Rerun::Unknown);
    }
}
