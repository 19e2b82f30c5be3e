//! How much memory this process may use, with the page cache that it fills.

use std::path::{Path, PathBuf};

use stiction_core::{Applied, Setting, parse_size_bytes};

use crate::cgroup::{ControlGroups, Version};
use crate::undo::UndoJournal;
use crate::{ControlGroup, HostError, Roots};

/// Least that may be set. Below, the kernel would end this process for its own needs.
const LEAST_BYTES: u64 = 32 << 20;

/// A control group with a limit, inside our own. This process is in it until it is
/// dropped; what it has used before counts where it was.
#[derive(Debug)]
pub struct MemoryLimit {
    group: ControlGroup,
}

impl MemoryLimit {
    /// Limits this process to a size such as `256MiB`, 32 MiB at least.
    ///
    /// # Errors
    /// When the level is no such size, there is no memory controller that we may use, or
    /// the kernel refuses.
    pub fn enter(setting: Setting, undo: &UndoJournal) -> Result<(Self, Applied), HostError> {
        let unavailable = |reason: String| HostError::Unavailable {
            what: "a limit of memory",
            reason,
        };
        let bytes = parse_size_bytes(&setting.level).map_err(|e| unavailable(e.to_string()))?;
        if bytes < LEAST_BYTES {
            return Err(unavailable(format!(
                "{} is less than the 32 MiB that this program needs itself",
                setting.level
            )));
        }
        let (parent, file) = place().map_err(unavailable)?;
        let name = format!("stiction-{}", std::process::id());
        let group = ControlGroup::create(&parent, &name, undo)?;
        group.set(file, &bytes.to_string())?;
        let found = Roots::live().number_if_any(group.path().join(file));
        group.enter()?;
        let page = rustix::param::page_size() as u64;
        let found = found.map(|found| {
            if found == bytes / page * page {
                setting.level.clone()
            } else {
                format!("{found} bytes")
            }
        });
        let applied = Applied {
            asked: setting,
            found,
            also_changed: Vec::new(),
        };
        Ok((Self { group }, applied))
    }

    /// Leaves the group and removes it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn leave(self) -> Result<(), HostError> {
        self.group.remove()
    }
}

/// The folder in which a group can be made, and the file of the limit.
fn place() -> Result<(PathBuf, &'static str), String> {
    let roots = Roots::live();
    let groups = ControlGroups::read(&roots)
        .of("memory")
        .ok_or("no control group of this process has a memory controller")?;
    let own = groups.folders.into_iter().next();
    let own = own.ok_or("the folder of our control group cannot be seen")?;
    match groups.version {
        Version::One => Ok((own, "memory.limit_in_bytes")),
        Version::Two if hands_on(&roots, &own) => Ok((own, "memory.max")),
        Version::Two => Err(format!(
            "{}/cgroup.subtree_control does not hand on `memory`",
            own.display()
        )),
    }
}

fn hands_on(roots: &Roots, group: &Path) -> bool {
    let text = roots.text_if_any(group.join("cgroup.subtree_control"));
    text.is_some_and(|text| text.split_ascii_whitespace().any(|name| name == "memory"))
}
