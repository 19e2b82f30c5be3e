//! The control groups that this process is in (cgroups(7)), both versions.

use std::path::{Path, PathBuf};

use crate::Roots;
use crate::stack::mountinfo::{self, Mount};

/// Version of a hierarchy: the names and forms of its files depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    One,
    Two,
}

/// Where a controller of our group and its parents can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) version: Version,
    /// Our own group's folder first, then its parents up to the top that is visible.
    pub(crate) folders: Vec<PathBuf>,
}

/// What the kernel says about our groups.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControlGroups {
    mounts: Vec<Mount>,
    /// Controllers and path, from `/proc/self/cgroup`; no controllers for version 2.
    own: Vec<(Vec<String>, PathBuf)>,
}

impl ControlGroups {
    /// Without `/proc` there is nothing to find.
    pub(crate) fn read(roots: &Roots) -> Self {
        let text = roots.text("/proc/self/cgroup").unwrap_or_default();
        let own = text
            .lines()
            .filter_map(|line| {
                let mut fields = line.splitn(3, ':').skip(1);
                let controllers = fields.next()?.split(',').filter(|name| !name.is_empty());
                let controllers = controllers.map(str::to_owned).collect();
                Some((controllers, PathBuf::from(fields.next()?)))
            })
            .collect();
        Self {
            mounts: mountinfo::read(roots).unwrap_or_default(),
            own,
        }
    }

    /// The paths of our groups, for signs of a container.
    pub(crate) fn own_paths(&self) -> impl Iterator<Item = &Path> {
        self.own.iter().map(|(_, path)| path.as_path())
    }

    /// The groups in which `controller` governs us.
    pub(crate) fn of(&self, controller: &str) -> Option<Groups> {
        self.version_one(controller).or_else(|| self.version_two())
    }

    /// Our groups in the version 2 hierarchy, which has a group for every process
    /// even where it has no controllers.
    pub(crate) fn version_two(&self) -> Option<Groups> {
        let (_, path) = self.own.iter().find(|(names, _)| names.is_empty())?;
        let mount = self.mounts.iter().find(|mount| mount.kind == "cgroup2")?;
        Some(Groups {
            version: Version::Two,
            folders: folders(mount, path),
        })
    }

    fn version_one(&self, controller: &str) -> Option<Groups> {
        let has = |names: &[String]| names.iter().any(|name| name == controller);
        let (_, path) = self.own.iter().find(|(names, _)| has(names))?;
        let mount = self
            .mounts
            .iter()
            .find(|mount| mount.kind == "cgroup" && has(&mount.filesystem_options))?;
        Some(Groups {
            version: Version::One,
            folders: folders(mount, path),
        })
    }
}

/// Whether a group of version 2 is the top of the hierarchy, which has all processes of
/// the machine in it: it is the only one without a type
/// (`Documentation/admin-guide/cgroup-v2.rst`). What a container sees as the top is not.
pub(crate) fn is_top(roots: &Roots, folder: &Path) -> bool {
    !roots.has(folder.join("cgroup.type"))
}

/// From the group at `path` of the hierarchy up to the folder that is mounted. In a
/// container the mount shows a part of the hierarchy, whose name `root` carries;
/// a path outside of it is only visible from its top down.
fn folders(mount: &Mount, path: &Path) -> Vec<PathBuf> {
    let inside = path.strip_prefix(&mount.root).unwrap_or(Path::new(""));
    let is_outside = inside
        .components()
        .any(|part| part == std::path::Component::ParentDir);
    let inside = if is_outside { Path::new("") } else { inside };
    inside
        .ancestors()
        .map(|group| {
            let folder = mount.mount_point.join(group);
            // `join` of an empty path leaves a slash at the end.
            folder.components().collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(root: &str) -> Mount {
        let line = format!("31 23 0:28 {root} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory");
        mountinfo::parse(line.as_bytes()).remove(0)
    }

    fn names(mount: &Mount, path: &str) -> Vec<String> {
        folders(mount, Path::new(path))
            .iter()
            .map(|folder| folder.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn parents_follow_up_to_what_is_mounted() {
        let top = "/sys/fs/cgroup/memory";
        assert_eq!(names(&mount("/"), "/"), [top]);
        let expected = [format!("{top}/a/b"), format!("{top}/a"), top.to_owned()];
        assert_eq!(names(&mount("/"), "/a/b"), expected);
        assert_eq!(names(&mount("/docker/1"), "/docker/1"), [top]);
        let expected = [format!("{top}/x"), top.to_owned()];
        assert_eq!(names(&mount("/docker/1"), "/docker/1/x"), expected);
    }

    #[test]
    fn a_group_outside_the_namespace_is_seen_from_its_top() {
        assert_eq!(names(&mount("/"), "/../../b"), ["/sys/fs/cgroup/memory"]);
        assert_eq!(
            names(&mount("/docker/1"), "/other"),
            ["/sys/fs/cgroup/memory"]
        );
    }
}
