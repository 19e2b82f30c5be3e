//! How much memory this process and what it starts may use, with the page cache that they
//! fill, and on which CPUs they may run: limits of control groups.

use std::path::{Path, PathBuf};

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use stiction_core::{Applied, Setting, parse_size_bytes};

use super::affinity::{listed, parse};
use crate::cgroup::{ControlGroups, Version};
use crate::undo::UndoJournal;
use crate::{ControlGroup, HostError, Roots};

/// Least memory that may be set. Below, the kernel would end this process for its own
/// needs.
const LEAST_BYTES: u64 = 32 << 20;

/// Control groups with limits, inside our own: one in each hierarchy that has a
/// controller for one of them. This process is in them until they are dropped; what it
/// has used before counts where it was.
#[derive(Debug)]
pub struct GroupLimits {
    // The latest made goes first.
    groups: Vec<ControlGroup>,
    /// The CPUs before: the kernel gives a process that moves those of its new group.
    cpus: CpuSet,
}

/// What is limited.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// Memory: a size such as `256MiB`, 32 MiB at least.
    pub memory: Option<&'a Setting>,
    /// CPUs such as `0,2-3`.
    pub cpuset: Option<&'a Setting>,
}

/// A group that is going to be made, and the files in it that are written before this
/// process enters.
#[derive(Debug, PartialEq, Eq)]
struct GroupPlan {
    parent: PathBuf,
    files: Vec<(&'static str, String)>,
}

impl GroupLimits {
    /// Limits this process.
    ///
    /// # Errors
    /// When a level is none, there is no controller that we may use, or the kernel
    /// refuses.
    pub fn enter(
        limits: Limits<'_>,
        undo: &UndoJournal,
    ) -> Result<(Self, Vec<Applied>), HostError> {
        let plans = plan(limits, &Roots::live()).map_err(unavailable)?;
        let cpus = sched_getaffinity(None).map_err(|errno| unavailable(errno.to_string()))?;
        let mut entered = Self {
            groups: Vec::new(),
            cpus,
        };
        let name = format!("stiction-{}", std::process::id());
        for GroupPlan { parent, files } in &plans {
            let group = ControlGroup::create(parent, &name, undo)?;
            for (file, value) in files {
                group.set(file, value)?;
            }
            group.enter()?;
            entered.groups.insert(0, group);
        }
        let mut applied = Vec::new();
        if let Some(setting) = limits.memory {
            let found = entered.memory_in_force(&setting.level);
            applied.push(as_found(setting, found));
        }
        if let Some(setting) = limits.cpuset {
            applied.push(as_found(setting, cpus_in_force(&setting.level)));
        }
        Ok((entered, applied))
    }

    fn memory_in_force(&self, level: &str) -> Option<String> {
        let files = ["memory.limit_in_bytes", "memory.max"];
        let mut files = self
            .groups
            .iter()
            .flat_map(|group| files.map(|file| group.path().join(file)));
        let found = files.find_map(|file| Roots::live().number_if_any(file))?;
        let page = rustix::param::page_size() as u64;
        let asked = parse_size_bytes(level).ok()?;
        Some(if found == asked / page * page {
            level.to_owned()
        } else {
            format!("{found} bytes")
        })
    }

    /// Leaves the groups and removes them.
    ///
    /// # Errors
    /// The first refusal of the kernel; what is left stays in the undo journal.
    pub fn leave(mut self) -> Result<(), HostError> {
        let groups = std::mem::take(&mut self.groups);
        let results: Vec<_> = groups.into_iter().map(ControlGroup::remove).collect();
        results.into_iter().collect()
    }
}

impl Drop for GroupLimits {
    fn drop(&mut self) {
        self.groups.drain(..).for_each(drop);
        // These CPUs were allowed before; where they no longer are, the kernel has
        // chosen others for us.
        if sched_getaffinity(None) != Ok(self.cpus) {
            let _ = sched_setaffinity(None, &self.cpus);
        }
    }
}

fn as_found(asked: &Setting, found: Option<String>) -> Applied {
    Applied {
        asked: asked.clone(),
        found,
        also_changed: Vec::new(),
    }
}

/// The CPUs that this thread may really run on.
fn cpus_in_force(level: &str) -> Option<String> {
    let found = sched_getaffinity(None).ok()?;
    Some(match parse(level) {
        Ok(asked) if asked == found => level.to_owned(),
        _ => listed(&found),
    })
}

/// Which groups are made, and where: one for all limits where one hierarchy has the
/// controllers of all, as version 2 has, since a process is in one group of each.
fn plan(limits: Limits<'_>, roots: &Roots) -> Result<Vec<GroupPlan>, String> {
    let mut plans: Vec<GroupPlan> = Vec::new();
    let mut add = |parent: PathBuf, mut files: Vec<(&'static str, String)>| {
        let known = plans.iter_mut().find(|plan| plan.parent == parent);
        match known {
            Some(plan) => plan.files.append(&mut files),
            None => plans.push(GroupPlan { parent, files }),
        }
    };
    if let Some(setting) = limits.memory {
        let bytes = parse_size_bytes(&setting.level).map_err(|error| error.to_string())?;
        if bytes < LEAST_BYTES {
            return Err(format!(
                "{} is less than the 32 MiB that this program needs itself",
                setting.level
            ));
        }
        let (parent, version) = place("memory", roots)?;
        let file = match version {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        };
        add(parent, vec![(file, bytes.to_string())]);
    }
    if let Some(setting) = limits.cpuset {
        parse(&setting.level)?;
        let (parent, version) = place("cpuset", roots)?;
        let mut files = vec![("cpuset.cpus", setting.level.clone())];
        if version == Version::One {
            // A group of version 1 begins without nodes, and nobody may enter it so.
            let file = parent.join("cpuset.mems");
            let nodes = roots.text_if_any(&file);
            let nodes = nodes.ok_or_else(|| format!("{} cannot be read", file.display()))?;
            files.push(("cpuset.mems", nodes));
        }
        add(parent, files);
    }
    Ok(plans)
}

/// The folder in which a group with this controller can be made.
fn place(controller: &str, roots: &Roots) -> Result<(PathBuf, Version), String> {
    let groups = ControlGroups::read(roots).of(controller).ok_or_else(|| {
        format!("no control group of this process has the controller {controller}")
    })?;
    let own = groups.folders.into_iter().next();
    let own = own.ok_or("the folder of our control group cannot be seen")?;
    if groups.version == Version::Two && !hands_on(roots, &own, controller) {
        return Err(format!(
            "{}/cgroup.subtree_control does not hand on `{controller}`",
            own.display()
        ));
    }
    Ok((own, groups.version))
}

fn hands_on(roots: &Roots, group: &Path, controller: &str) -> bool {
    let text = roots.text_if_any(group.join("cgroup.subtree_control"));
    text.is_some_and(|text| text.split_ascii_whitespace().any(|name| name == controller))
}

fn unavailable(reason: String) -> HostError {
    HostError::Unavailable {
        what: "this limit of a control group",
        reason,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A machine on which this process is in `groups`, as `/proc/self/cgroup` says, and
    /// `mounts` are mounted.
    fn machine(groups: &str, mounts: &[&str]) -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        let proc = top.path().join("proc/self");
        fs::create_dir_all(&proc).unwrap();
        fs::write(proc.join("cgroup"), groups).unwrap();
        fs::write(proc.join("mountinfo"), mounts.join("\n")).unwrap();
        top
    }

    fn put(top: &tempfile::TempDir, path: &str, text: &str) {
        let path = top.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The files as `Documentation/admin-guide/cgroup-v2.rst` has them.
    #[test]
    fn version_2_has_one_group_for_both() {
        let mount = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";
        let top = machine("0::/own\n", &[mount]);
        let roots = Roots::at(top.path());
        let (memory, cpuset) = (
            Setting::new("memory", "64MiB"),
            Setting::new("cpuset", "0-1"),
        );
        let limits = Limits {
            memory: Some(&memory),
            cpuset: Some(&cpuset),
        };
        let error = plan(limits, &roots).unwrap_err();
        assert_eq!(
            error,
            "/sys/fs/cgroup/own/cgroup.subtree_control does not hand on `memory`"
        );
        let control = "sys/fs/cgroup/own/cgroup.subtree_control";
        put(&top, control, "cpuset cpu memory\n");
        let expected = GroupPlan {
            parent: "/sys/fs/cgroup/own".into(),
            files: vec![
                ("memory.max", "67108864".to_owned()),
                ("cpuset.cpus", "0-1".to_owned()),
            ],
        };
        assert_eq!(plan(limits, &roots), Ok(vec![expected]));
        put(&top, control, "memory\n");
        let alone = Limits {
            memory: None,
            ..limits
        };
        let error = plan(alone, &roots).unwrap_err();
        assert!(error.contains("does not hand on `cpuset`"), "{error}");
    }

    /// The files as `Documentation/admin-guide/cgroup-v1/cpusets.rst` has them.
    #[test]
    fn version_1_has_a_group_for_each_and_hands_its_nodes_on() {
        let mounts = [
            "31 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
            "32 23 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset",
        ];
        let top = machine("4:memory:/a\n3:cpuset:/\n", &mounts);
        put(&top, "sys/fs/cgroup/cpuset/cpuset.mems", "0-1\n");
        let (memory, cpuset) = (Setting::new("memory", "64MiB"), Setting::new("cpuset", "1"));
        let limits = Limits {
            memory: Some(&memory),
            cpuset: Some(&cpuset),
        };
        let group = |parent: &str, files: &[(&'static str, &str)]| GroupPlan {
            parent: parent.into(),
            files: files
                .iter()
                .map(|(file, value)| (*file, (*value).to_owned()))
                .collect(),
        };
        let expected = vec![
            group(
                "/sys/fs/cgroup/memory/a",
                &[("memory.limit_in_bytes", "67108864")],
            ),
            group(
                "/sys/fs/cgroup/cpuset",
                &[("cpuset.cpus", "1"), ("cpuset.mems", "0-1")],
            ),
        ];
        assert_eq!(plan(limits, &Roots::at(top.path())), Ok(expected));
    }

    #[test]
    fn levels_that_are_none_are_refused() {
        let top = machine("", &[]);
        let roots = Roots::at(top.path());
        for (memory, cpuset, expected) in [
            (Some("1MiB"), None, "1MiB is less than the 32 MiB"),
            (Some("64MiB"), None, "no control group of this process"),
            (None, Some("x"), "`x` is no list of CPUs"),
            (None, Some("0"), "has the controller cpuset"),
        ] {
            let memory = memory.map(|level| Setting::new("memory", level));
            let cpuset = cpuset.map(|level| Setting::new("cpuset", level));
            let limits = Limits {
                memory: memory.as_ref(),
                cpuset: cpuset.as_ref(),
            };
            let error = plan(limits, &roots).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
