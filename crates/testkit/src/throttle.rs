//! A ceiling on a device for this process, set by a control group.

use std::path::{Path, PathBuf};

use stiction_host::ControlGroup;

use crate::undo;

/// What is allowed per second; 0 for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ThrottleLimits {
    /// Bytes read.
    pub read_bytes_per_s: u64,
    /// Bytes written.
    pub write_bytes_per_s: u64,
    /// Read requests.
    pub read_operations_per_s: u64,
    /// Write requests.
    pub write_operations_per_s: u64,
}

/// The ceiling; lifted on drop.
///
/// It holds for this process, its threads and what it starts. The kernel doles out
/// in slices of about 100 ms, so it is a truth for rates over a second or more, not
/// for latencies. Buffered writes escape it under version 1 until they are synced
/// by the process itself.
#[derive(Debug)]
pub struct Throttle {
    group: ControlGroup,
}

/// Where control groups that can limit I/O are made.
enum Hierarchy {
    /// `blkio` of version 1.
    One(PathBuf),
    /// `io` of version 2.
    Two(PathBuf),
}

impl Throttle {
    /// Puts this process under `limits` on the device, or says why that cannot be.
    ///
    /// # Errors
    /// Where no hierarchy with the controller is mounted, or it is not ours to
    /// write: a reason to skip the test.
    pub fn new((major, minor): (u32, u32), limits: ThrottleLimits) -> Result<Self, String> {
        let undo = undo::journal();
        let name = format!("stiction-testkit-{}", std::process::id());
        let group = match hierarchy()? {
            Hierarchy::One(folder) => {
                let group = create(&folder, &name, &undo)?;
                let settings = [
                    ("read_bps", limits.read_bytes_per_s),
                    ("write_bps", limits.write_bytes_per_s),
                    ("read_iops", limits.read_operations_per_s),
                    ("write_iops", limits.write_operations_per_s),
                ];
                for (setting, value) in settings.into_iter().filter(|(_, value)| *value > 0) {
                    let file = format!("blkio.throttle.{setting}_device");
                    set(&group, &file, &format!("{major}:{minor} {value}"))?;
                }
                group
            }
            Hierarchy::Two(folder) => {
                let control = folder.join("cgroup.subtree_control");
                std::fs::write(&control, "+io")
                    .map_err(|error| format!("{}: {error}", control.display()))?;
                let group = create(&folder, &name, &undo)?;
                let value = |limit: u64| match limit {
                    0 => "max".to_owned(),
                    limit => limit.to_string(),
                };
                let line = format!(
                    "{major}:{minor} rbps={} wbps={} riops={} wiops={}",
                    value(limits.read_bytes_per_s),
                    value(limits.write_bytes_per_s),
                    value(limits.read_operations_per_s),
                    value(limits.write_operations_per_s),
                );
                set(&group, "io.max", &line)?;
                group
            }
        };
        group.enter().map_err(|error| error.to_string())?;
        Ok(Self { group })
    }

    /// The folder of the group.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.group.path()
    }
}

fn create(
    folder: &Path,
    name: &str,
    undo: &stiction_host::UndoJournal,
) -> Result<ControlGroup, String> {
    ControlGroup::create(folder, name, undo).map_err(|error| error.to_string())
}

fn set(group: &ControlGroup, file: &str, value: &str) -> Result<(), String> {
    group.set(file, value).map_err(|error| error.to_string())
}

fn hierarchy() -> Result<Hierarchy, String> {
    let mounts =
        std::fs::read_to_string("/proc/self/mountinfo").map_err(|error| error.to_string())?;
    for line in mounts.lines() {
        let Some((front, back)) = line.split_once(" - ") else {
            continue;
        };
        let Some(folder) = front.split(' ').nth(4).map(PathBuf::from) else {
            continue;
        };
        let back: Vec<&str> = back.split(' ').collect();
        match back[..] {
            ["cgroup", _, options, ..] if options.split(',').any(|option| option == "blkio") => {
                return Ok(Hierarchy::One(folder));
            }
            ["cgroup2", ..] => {
                let controllers = std::fs::read_to_string(folder.join("cgroup.controllers"));
                if controllers.is_ok_and(|names| names.split_whitespace().any(|name| name == "io"))
                {
                    return Ok(Hierarchy::Two(folder));
                }
            }
            _ => {}
        }
    }
    Err("no control group hierarchy with a controller for block I/O is mounted".to_owned())
}
