//! What a path stands on, from the filesystem down to the device.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The filesystem that a target lies on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// Type as the kernel calls it: `ext4`, `xfs`, `tmpfs`, `overlay`, `fuse.sshfs`.
    pub kind: String,
    /// What is mounted, as the kernel calls it: `/dev/vda`, `tmpfs`, `host:/export`.
    pub source: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Options of the mount: `rw,noatime`.
    pub mount_options: Vec<String>,
    /// Options of the filesystem instance, in effect, as far as the kernel tells.
    pub filesystem_options: Vec<String>,
    /// Kernel names of the block devices that hold it: one, several for a
    /// multi-device btrfs, none for tmpfs, network and pseudo filesystems. They
    /// are the layers whose traffic compares with the bytes asked.
    #[serde(default)]
    pub devices: Vec<String>,
    /// Size, bytes.
    pub size_bytes: u64,
    /// Bytes free to the user who ran.
    pub available_bytes: u64,
    /// Preferred block size, bytes.
    pub block_size_bytes: u64,
}

impl Filesystem {
    /// Whether its files live in memory and nowhere else
    /// (`Documentation/filesystems/tmpfs.rst` and `ramfs-rootfs-initramfs.rst`).
    #[must_use]
    pub fn lives_in_memory(&self) -> bool {
        const KINDS: [&str; 5] = ["tmpfs", "ramfs", "devtmpfs", "rootfs", "hugetlbfs"];
        KINDS.contains(&self.kind.as_str())
    }
}

/// The kind of a [`Layer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerKind {
    /// A whole disk: SCSI, NVMe, virtio, MMC.
    Disk,
    /// A partition of the layer below.
    Partition,
    /// A device-mapper target: LVM, dm-crypt and others.
    DeviceMapper,
    /// A software RAID array.
    Raid,
    /// A loop device over a file.
    Loop,
    /// Compressed memory.
    Zram,
    /// A network block device.
    Network,
    /// Anything else.
    Other,
}

/// One block device in the stack under a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Kernel name: `vda`, `nvme0n1p2`, `dm-0`, `loop3`.
    pub name: String,
    /// Kind of device.
    pub kind: LayerKind,
    /// Major and minor number.
    pub device_number: (u32, u32),
    /// Size, bytes.
    pub size_bytes: u64,
    /// Model, where the device tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Firmware revision, where the device tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Serial number; only when the user asked for it to be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serial: Option<String>,
    /// The link it hangs on, where readable: `PCIe 8.0 GT/s x4`, `SATA 6.0 Gbps`, `virtio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Most bytes per second that the link can carry, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_s: Option<u64>,
    /// Scheduler in force; `None` for devices without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheduler: Option<String>,
    /// Whether the kernel takes it for a rotating disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// Smallest addressable unit, bytes.
    pub logical_block_size_bytes: u32,
    /// Unit that the device writes without a read, bytes.
    pub physical_block_size_bytes: u32,
    /// The files of `queue/`, by name.
    pub queue: BTreeMap<String, String>,
    /// What a device-mapper or RAID device is made as: `crypt`, `linear`, `raid5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// For a loop device: what its backing file lies on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backing: Option<Box<TargetStack>>,
    /// For a loop device: whether it reads its backing file past the page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_direct_io: Option<bool>,
}

/// Everything under one target, top to bottom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetStack {
    /// The path as the user gave it, with bytes that are not UTF-8 replaced.
    pub path: String,
    /// The filesystem; `None` when the target is a raw device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filesystem: Option<Filesystem>,
    /// Block devices from the one that is mounted down to the disks. A layer over
    /// several devices is followed by all of them. Empty for tmpfs, network and
    /// pseudo filesystems.
    pub layers: Vec<Layer>,
    /// What could not be found out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}
