//! Which devices are watched, and what they moved.

use stiction_core::{TargetStack, Witnesses};

use super::diskstats::{self, Counters};
use super::group_io::GroupIo;
use crate::Roots;
use crate::stack::{disk_of, name_of_number};

/// A device under the target.
#[derive(Debug)]
struct Watched {
    name: String,
    number: (u32, u32),
    /// `None` when `/proc/diskstats` does not show it.
    before: Option<Counters>,
}

/// The devices whose bytes compare with the bytes asked, and what they had moved
/// before a phase.
#[derive(Debug)]
pub(crate) struct Traffic {
    devices: Vec<Watched>,
    /// A target stands on a device that cannot be named from here, as the root of a
    /// container does: then everything that our control group moves counts.
    has_hidden: bool,
    group: Option<GroupIo>,
}

impl Traffic {
    /// Reads the counters before a phase. The devices are those that are mounted, or
    /// the raw device itself: what lies below them may write more (parity, mirrors)
    /// or less (compression).
    pub(crate) fn begin(roots: &Roots, stacks: &[TargetStack]) -> Self {
        let mut devices: Vec<Watched> = Vec::new();
        for stack in stacks {
            for (name, number) in own_devices(stack) {
                if devices.iter().all(|device| device.name != name) {
                    devices.push(Watched {
                        name,
                        number,
                        before: None,
                    });
                }
            }
        }
        let has_hidden = stacks.iter().any(is_on_a_hidden_device);
        let text = roots.text("/proc/diskstats").unwrap_or_default();
        for device in &mut devices {
            device.before = diskstats::counters(&text, &device.name)
                .filter(|_| is_counted(roots, &device.name));
        }
        let wants_group = has_hidden || devices.iter().any(|device| device.before.is_none());
        Self {
            devices,
            has_hidden,
            group: wants_group.then(|| GroupIo::read(roots)).flatten(),
        }
    }

    /// Reads the counters after the phase, into `seen`.
    pub(crate) fn finish(self, roots: &Roots, seen: &mut Witnesses) {
        let text = roots.text("/proc/diskstats").unwrap_or_default();
        let group = self
            .group
            .as_ref()
            .and_then(|before| Some((before, GroupIo::read(roots)?)));
        if self.devices.is_empty() && !self.has_hidden {
            let reason = "device traffic: the target stands on no block device that is known";
            seen.missing.push(reason.to_owned());
        }
        for device in &self.devices {
            let name = &device.name;
            let by_group = || {
                let (before, after) = group.as_ref()?;
                after.traffic_since(before, device.number, name)
            };
            let traffic = match &device.before {
                Some(before) => diskstats::counters(&text, name)
                    .and_then(|after| diskstats::traffic(name, before, &after)),
                None => by_group(),
            };
            match traffic {
                Some(traffic) => seen.devices.push(traffic),
                None => seen.missing.push(format!(
                    "device traffic of {name}: {}",
                    reason(roots, device)
                )),
            }
        }
        if self.has_hidden {
            let Some((before, after)) = &group else {
                let reason = "device traffic: the device under the target cannot be seen, and no \
                              control group counts what we move";
                seen.missing.push(reason.to_owned());
                return;
            };
            for number in top_devices(roots, after) {
                let (major, minor) = number;
                let name =
                    name_of_number(roots, number).unwrap_or_else(|| format!("{major}:{minor}"));
                if self.devices.iter().all(|device| device.name != name) {
                    seen.devices
                        .extend(after.traffic_since(before, number, &name));
                }
            }
        }
    }
}

/// Kernel names and numbers of the devices that a target stands on directly.
pub(crate) fn own_devices(stack: &TargetStack) -> Vec<(String, (u32, u32))> {
    let names: Vec<&String> = match &stack.filesystem {
        Some(filesystem) => filesystem.devices.iter().collect(),
        None => stack
            .layers
            .first()
            .map(|layer| &layer.name)
            .into_iter()
            .collect(),
    };
    let layer = |name: &String| stack.layers.iter().find(|layer| layer.name == *name);
    names
        .into_iter()
        .map(|name| {
            let number = layer(name).map_or((0, 0), |layer| layer.device_number);
            (name.clone(), number)
        })
        .collect()
}

/// An overlay that writes somewhere, while that somewhere cannot be seen.
fn is_on_a_hidden_device(stack: &TargetStack) -> bool {
    let filesystem = stack.filesystem.as_ref();
    filesystem
        .is_some_and(|filesystem| filesystem.kind == "overlay" && filesystem.devices.is_empty())
}

/// The kernel counts for a disk only while its `queue/iostats` is 1.
fn is_counted(roots: &Roots, name: &str) -> bool {
    let disk = disk_of(roots, name);
    let setting = roots.text_if_any(format!("/sys/class/block/{disk}/queue/iostats"));
    setting.as_deref() != Some("0")
}

fn reason(roots: &Roots, device: &Watched) -> &'static str {
    if !is_counted(roots, &device.name) {
        "the kernel does not count it: its queue/iostats is 0"
    } else if device.before.is_none() {
        "it is not in /proc/diskstats, and no control group counts what we move on it"
    } else {
        "its counters ran backwards: it was replaced"
    }
}

/// A group counts the same bytes for a stacked device and for the one below; only
/// those on which none of the others stands are kept.
fn top_devices(roots: &Roots, group: &GroupIo) -> Vec<(u32, u32)> {
    let counted: Vec<((u32, u32), Option<String>)> = group
        .devices()
        .map(|number| (number, name_of_number(roots, number)))
        .collect();
    let is_below = |name: &Option<String>| {
        let Some(name) = name else { return false };
        let holders = roots.names(format!("/sys/class/block/{name}/holders"));
        let counts = |holder: &String| {
            counted
                .iter()
                .any(|(_, other)| other.as_ref() == Some(holder))
        };
        holders.iter().any(counts)
    };
    counted
        .iter()
        .filter(|(_, name)| !is_below(name))
        .map(|(number, _)| *number)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use testkit::machine::lay_out;

    use super::*;
    use crate::{FactOptions, observe_target_in};

    fn seen(machine: &str, target: &str, change: impl FnOnce(&Path)) -> Witnesses {
        let top = lay_out(machine);
        let roots = Roots::at(top.path());
        let target = Path::new(target);
        let stack = observe_target_in(&roots, target, FactOptions::default()).unwrap();
        let before = Traffic::begin(&roots, &[stack]);
        change(top.path());
        let mut seen = Witnesses::default();
        before.finish(&roots, &mut seen);
        seen
    }

    const CONTAINER: &str = include_str!("../../tests/machines/docker.tree");

    /// The disk under the device-mapper device carries the same bytes, once.
    #[test]
    fn a_container_s_root_is_watched_through_its_control_group() {
        let seen = seen(CONTAINER, "/work", |top| {
            let stat = "259:0 rbytes=1459200 wbytes=314777600 rios=192 wios=354\n\
                        253:0 rbytes=1459200 wbytes=314777600 rios=192 wios=354\n";
            std::fs::write(top.join("sys/fs/cgroup/io.stat"), stat).unwrap();
        });
        let [device] = &seen.devices[..] else {
            panic!("{:?}", seen.devices);
        };
        assert_eq!(device.device, "dm-0");
        assert_eq!((device.writes, device.written_bytes), (1, 4096));
        assert_eq!(device.source, "/sys/fs/cgroup/io.stat");
        assert!(seen.missing.is_empty(), "{:?}", seen.missing);
    }

    /// The volume's partition is not in the group's counters, which are by disk.
    #[test]
    fn a_device_that_nobody_counts_is_missing() {
        let seen = seen(CONTAINER, "/data", |_| {});
        assert!(seen.devices.is_empty());
        assert!(
            seen.missing[0].contains("nvme0n1p1: it is not in /proc/diskstats"),
            "{:?}",
            seen.missing
        );
    }

    const LINE: &str = "/proc/diskstats: 254 0 vda 1 0 8 0 1 0 8 0 0 0 0\n";

    #[test]
    fn a_disk_whose_counters_are_off_is_missing() {
        let machine = include_str!("../../tests/machines/virtio-microvm.tree");
        let off = "/sys/devices/pci0000:00/0000:00:01.0/virtio0/block/vda/queue/iostats: 0\n";
        let seen = seen(&format!("{machine}{LINE}{off}"), "/", |_| {});
        assert!(seen.devices.is_empty());
        assert!(seen.missing[0].contains("iostats"), "{:?}", seen.missing);
    }

    #[test]
    fn the_device_that_is_mounted_is_watched() {
        let machine = include_str!("../../tests/machines/virtio-microvm.tree");
        let seen = seen(&format!("{machine}{LINE}"), "/", |top| {
            let line = "254 0 vda 1 0 8 0 3 0 24 0 0 0 0\n";
            std::fs::write(top.join("proc/diskstats"), line).unwrap();
        });
        assert_eq!(seen.devices[0].source, "/proc/diskstats vda");
        assert_eq!(seen.devices[0].written_bytes, 16 * 512);
        assert_eq!(seen.devices[0].writes, 2);
    }

    #[test]
    fn memory_has_no_traffic() {
        let machine = include_str!("../../tests/machines/tmpfs-and-nfs.tree");
        let seen = seen(machine, "/tmp", |_| {});
        assert!(
            seen.missing[0].contains("no block device"),
            "{:?}",
            seen.missing
        );
    }
}
