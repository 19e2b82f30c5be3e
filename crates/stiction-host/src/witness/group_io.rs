//! What our control group moved on each device, by the group's own counters.

use std::collections::BTreeMap;
use std::path::Path;

use stiction_core::DeviceTraffic;

use crate::Roots;
use crate::cgroup::{ControlGroups, Groups, Version};
use crate::stack::device_number;

/// Counters of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    reads: u64,
    read_bytes: u64,
    writes: u64,
    written_bytes: u64,
}

/// A reading of the counters of our group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupIo {
    source: String,
    devices: BTreeMap<(u32, u32), Counters>,
}

impl GroupIo {
    /// `None` where no controller counts for us.
    pub(super) fn read(roots: &Roots) -> Option<Self> {
        let groups = ControlGroups::read(roots);
        let of_own = |groups: Groups| Some((groups.version, groups.folders.first()?.clone()));
        let one = groups.of("blkio").and_then(of_own);
        if let Some((Version::One, folder)) = one {
            return Self::version_one(roots, &folder);
        }
        let (_, folder) = groups.version_two().and_then(of_own)?;
        Self::version_two(roots, &folder)
    }

    /// `io.stat`: `8:16 rbytes=1459200 wbytes=314773504 rios=192 wios=353 dbytes=0 dios=0`
    fn version_two(roots: &Roots, folder: &Path) -> Option<Self> {
        let path = folder.join("io.stat");
        let text = roots.text(&path).ok()?;
        let line = |line: &str| {
            let mut fields = line.split_ascii_whitespace();
            let device = device_number(fields.next()?)?;
            let values: BTreeMap<&str, u64> = fields
                .filter_map(|field| {
                    let (key, value) = field.split_once('=')?;
                    Some((key, value.parse().ok()?))
                })
                .collect();
            let value = |key: &str| values.get(key).copied().unwrap_or(0);
            let counters = Counters {
                reads: value("rios"),
                read_bytes: value("rbytes"),
                writes: value("wios"),
                written_bytes: value("wbytes"),
            };
            Some((device, counters))
        };
        Some(Self {
            source: path.display().to_string(),
            devices: text.lines().filter_map(line).collect(),
        })
    }

    /// `blkio.throttle.io_service_bytes` and `io_serviced`: `8:16 Read 4096`, a line
    /// for each device and kind.
    fn version_one(roots: &Roots, folder: &Path) -> Option<Self> {
        let path = folder.join("blkio.throttle.io_service_bytes");
        let bytes = roots.text(&path).ok()?;
        let operations = roots.text(folder.join("blkio.throttle.io_serviced")).ok()?;
        let mut devices: BTreeMap<(u32, u32), Counters> = BTreeMap::new();
        for (device, kind, value) in bytes.lines().filter_map(service_line) {
            let counters = devices.entry(device).or_default();
            match kind {
                "Read" => counters.read_bytes = value,
                "Write" => counters.written_bytes = value,
                _ => {}
            }
        }
        for (device, kind, value) in operations.lines().filter_map(service_line) {
            let counters = devices.entry(device).or_default();
            match kind {
                "Read" => counters.reads = value,
                "Write" => counters.writes = value,
                _ => {}
            }
        }
        Some(Self {
            source: path.display().to_string(),
            devices,
        })
    }

    /// The devices that are counted.
    pub(super) fn devices(&self) -> impl Iterator<Item = (u32, u32)> {
        self.devices.keys().copied()
    }

    /// What `device` moved since `before`; one that was not counted then had moved
    /// nothing yet.
    pub(super) fn traffic_since(
        &self,
        before: &Self,
        device: (u32, u32),
        name: &str,
    ) -> Option<DeviceTraffic> {
        let after = self.devices.get(&device)?;
        let before = before.devices.get(&device).copied().unwrap_or_default();
        Some(DeviceTraffic {
            source: self.source.clone(),
            device: name.to_owned(),
            reads: after.reads.checked_sub(before.reads)?,
            read_bytes: after.read_bytes.checked_sub(before.read_bytes)?,
            writes: after.writes.checked_sub(before.writes)?,
            written_bytes: after.written_bytes.checked_sub(before.written_bytes)?,
            flushes: None,
            busy_ns: None,
            queue: None,
        })
    }
}

fn service_line(line: &str) -> Option<((u32, u32), &str, u64)> {
    let mut fields = line.split_ascii_whitespace();
    Some((
        device_number(fields.next()?)?,
        fields.next()?,
        fields.next()?.parse().ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use testkit::machine::lay_out;

    use super::*;

    const VERSION_ONE: &str = "/proc/self/cgroup: 7:blkio:/batch
/proc/self/mountinfo: 38 31 0:35 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio
/sys/fs/cgroup/blkio/batch/blkio.throttle.io_service_bytes:
|8:16 Read 4096
|8:16 Write 8192
|8:16 Sync 8192
|8:16 Total 12288
|Total 12288
/sys/fs/cgroup/blkio/batch/blkio.throttle.io_serviced:
|8:16 Read 1
|8:16 Write 2
|Total 3
";

    #[test]
    fn both_versions_count_by_device() {
        let machine = lay_out(VERSION_ONE);
        let one = GroupIo::read(&Roots::at(machine.path())).unwrap();
        let nothing = GroupIo {
            devices: BTreeMap::new(),
            ..one.clone()
        };
        let traffic = one.traffic_since(&nothing, (8, 16), "sdb").unwrap();
        assert_eq!((traffic.reads, traffic.read_bytes), (1, 4096));
        assert_eq!((traffic.writes, traffic.written_bytes), (2, 8192));
        assert!(one.traffic_since(&nothing, (8, 0), "sda").is_none());

        let machine = lay_out(include_str!("../../tests/machines/docker.tree"));
        let two = GroupIo::read(&Roots::at(machine.path())).unwrap();
        assert_eq!(two.source, "/sys/fs/cgroup/io.stat");
        let traffic = two.traffic_since(&two, (259, 0), "nvme0n1").unwrap();
        assert_eq!(traffic.written_bytes, 0);
        let traffic = two.traffic_since(&nothing, (259, 0), "nvme0n1").unwrap();
        assert_eq!((traffic.reads, traffic.written_bytes), (192, 314_773_504));
    }

    #[test]
    fn where_nobody_counts_there_is_nothing() {
        let machine = lay_out(include_str!("../../tests/machines/no-sys.tree"));
        assert_eq!(GroupIo::read(&Roots::at(machine.path())), None);
    }
}
