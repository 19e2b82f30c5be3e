//! What a target stands on, in one line.

use stiction_core::{Filesystem, Layer, LayerKind, TargetStack, format_bytes};

use crate::text::ascii;

/// Mount options that bear on performance or on what a sync means; the others,
/// and those at their default, are in the full report.
const TELLING_OPTIONS: &[&str] = &[
    "async",
    "autodefrag",
    "barrier",
    "cache",
    "commit",
    "compress",
    "compress-force",
    "data",
    "datasum",
    "dax",
    "dirsync",
    "discard",
    "huge",
    "journal_async_commit",
    "largeio",
    "lazytime",
    "logbsize",
    "max_read",
    "metacopy",
    "nconnect",
    "noatime",
    "nobarrier",
    "nodatacow",
    "nodatasum",
    "nodelalloc",
    "nodiratime",
    "proto",
    "ro",
    "rsize",
    "soft",
    "strictatime",
    "sunit",
    "swidth",
    "sync",
    "vers",
    "volatile",
    "writeback_cache",
    "wsize",
    "wsync",
];

/// Telling options at the value that nobody has to be told.
const DEFAULTS: &[&str] = &["data=ordered", "barrier", "barrier=1", "commit=5"];

/// The stack from the filesystem down to the disks, in one line of ASCII:
/// `ext4 (noatime) on dm-0 (crypt) on nvme0n1p2 (Example 1T, 954 GiB, PCIe 8.0
/// GT/s x4, scheduler none)`. It names no path, host or serial number.
#[must_use]
pub fn stack_line(stack: &TargetStack) -> String {
    let devices = branches(&stack.layers);
    let text = match (&stack.filesystem, devices) {
        (Some(filesystem), Some(devices)) => {
            format!("{} on {devices}", filesystem_part(filesystem))
        }
        (Some(filesystem), None) => format!(
            "{}{}",
            filesystem_part(filesystem),
            where_without_devices(filesystem)
        ),
        (None, Some(devices)) => format!("raw device {devices}"),
        (None, None) => "nothing is known of what it stands on".to_owned(),
    };
    ascii(&text).into_owned()
}

fn filesystem_part(filesystem: &Filesystem) -> String {
    let mut options: Vec<&str> = Vec::new();
    let all = filesystem
        .mount_options
        .iter()
        .chain(&filesystem.filesystem_options);
    for option in all.map(String::as_str) {
        let name = option.split('=').next().unwrap_or(option);
        let told = TELLING_OPTIONS.contains(&name)
            && !DEFAULTS.contains(&option)
            && !option.ends_with("=...")
            && !option.contains('/');
        if told && !options.contains(&option) {
            options.push(option);
        }
    }
    let mut text = filesystem.kind.clone();
    if !options.is_empty() {
        text.push_str(&format!(" ({})", options.join(", ")));
    }
    text
}

/// What a filesystem without a block device rests on.
fn where_without_devices(filesystem: &Filesystem) -> &'static str {
    match filesystem.kind.as_str() {
        _ if filesystem.lives_in_memory() => ", in memory",
        "nfs" | "nfs4" | "cifs" | "smb3" | "ceph" | "afs" | "lustre" | "gfs2" | "fuse.sshfs"
        | "fuse.glusterfs" | "fuse.ceph" | "fuse.s3fs" => ", over the network",
        "9p" | "virtiofs" => ", from the machine that hosts this one",
        _ => ", no block device visible",
    }
}

/// The block devices, from the top; where a layer has several under it, each
/// branch after the first follows a comma.
fn branches(layers: &[Layer]) -> Option<String> {
    let mut branches: Vec<&[Layer]> = Vec::new();
    let mut start = 0;
    for index in 1..layers.len() {
        if is_bottom(&layers[index - 1]) && !is_bottom(&layers[index]) {
            branches.push(&layers[start..index]);
            start = index;
        }
    }
    if start < layers.len() {
        branches.push(&layers[start..]);
    }
    let texts: Vec<String> = branches.into_iter().map(branch).collect();
    (!texts.is_empty()).then(|| texts.join(", and "))
}

/// Devices under which nothing but their own disk can lie.
fn is_bottom(layer: &Layer) -> bool {
    matches!(
        layer.kind,
        LayerKind::Disk | LayerKind::Partition | LayerKind::Zram | LayerKind::Network
    )
}

fn branch(layers: &[Layer]) -> String {
    let split = layers.iter().position(is_bottom).unwrap_or(layers.len());
    let (upper, bottom) = layers.split_at(split);
    let mut parts: Vec<String> = upper.iter().map(upper_part).collect();
    if !bottom.is_empty() {
        parts.push(disks(bottom));
    }
    parts.join(" on ")
}

/// A layer that lies on another: device-mapper, RAID, loop.
fn upper_part(layer: &Layer) -> String {
    let mut text = layer.name.clone();
    match (layer.kind, &layer.backing) {
        (LayerKind::Loop, backing) => {
            let how = match layer.loop_direct_io {
                Some(true) => "file past the page cache",
                Some(false) => "file through the page cache",
                None => "file",
            };
            text.push_str(&format!(" ({how})"));
            if let Some(backing) = backing {
                text.push_str(&format!(" on {}", stack_line(backing)));
            }
        }
        _ => {
            if let Some(target) = &layer.target {
                text.push_str(&format!(" ({target})"));
            }
        }
    }
    text
}

/// The disks at the bottom, each with the partition that is used; disks of one
/// description share it.
fn disks(bottom: &[Layer]) -> String {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    let mut index = 0;
    while let Some(layer) = bottom.get(index) {
        let disk = bottom.get(index + 1).filter(|below| {
            layer.kind == LayerKind::Partition && below.kind != LayerKind::Partition
        });
        index += 1 + usize::from(disk.is_some());
        let description = description(disk.unwrap_or(layer));
        match groups.iter_mut().find(|(_, known)| *known == description) {
            Some((names, _)) => names.push(&layer.name),
            None => groups.push((vec![&layer.name], description)),
        }
    }
    let texts: Vec<String> = groups
        .into_iter()
        .map(|(names, description)| {
            let names = names.join(" + ");
            if description.is_empty() {
                names
            } else {
                format!("{names} ({description})")
            }
        })
        .collect();
    texts.join(" + ")
}

/// Model, size, link, scheduler, cache: what is known of a disk.
fn description(disk: &Layer) -> String {
    let mut parts = Vec::new();
    match disk.kind {
        LayerKind::Zram => parts.push("compressed memory".to_owned()),
        LayerKind::Network => parts.push("over the network".to_owned()),
        _ => {}
    }
    if let Some(model) = disk.model.as_deref().map(str::trim) {
        parts.extend((!model.is_empty()).then(|| model.to_owned()));
    }
    if disk.kind != LayerKind::Partition && disk.size_bytes > 0 {
        parts.push(format_bytes(disk.size_bytes));
    }
    parts.extend(disk.link.clone());
    if disk.rotational == Some(true) {
        parts.push("rotational".to_owned());
    }
    if let Some(scheduler) = &disk.scheduler {
        parts.push(format!("scheduler {scheduler}"));
    }
    if disk
        .queue
        .get("write_cache")
        .is_some_and(|cache| cache == "write back")
    {
        parts.push("write-back cache".to_owned());
    }
    parts.join(", ")
}

/// A path as the user gave it, without the user's name: a home directory is `~`.
pub(crate) fn without_home(path: &str) -> String {
    for homes in ["/home/", "/Users/", "/var/home/"] {
        if let Some(rest) = path.strip_prefix(homes) {
            return match rest.split_once('/') {
                Some((_, below)) => format!("~/{below}"),
                None => "~".to_owned(),
            };
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(name: &str, kind: LayerKind) -> Layer {
        Layer {
            name: name.to_owned(),
            kind,
            device_number: (0, 0),
            size_bytes: 0,
            model: None,
            firmware: None,
            serial: Some("SECRET".to_owned()),
            link: None,
            link_bytes_per_s: None,
            scheduler: None,
            rotational: None,
            logical_block_size_bytes: 512,
            physical_block_size_bytes: 4096,
            queue: Default::default(),
            target: None,
            backing: None,
            loop_direct_io: None,
        }
    }

    fn disk(name: &str, model: &str, gib: u64) -> Layer {
        Layer {
            model: Some(model.to_owned()),
            size_bytes: gib << 30,
            scheduler: Some("none".to_owned()),
            ..layer(name, LayerKind::Disk)
        }
    }

    fn made_as(name: &str, kind: LayerKind, target: &str) -> Layer {
        Layer {
            target: Some(target.to_owned()),
            ..layer(name, kind)
        }
    }

    fn partition(name: &str) -> Layer {
        layer(name, LayerKind::Partition)
    }

    fn stack(kind: &str, options: &[&str], layers: Vec<Layer>) -> TargetStack {
        TargetStack {
            path: "/home/someone/secret".to_owned(),
            filesystem: (!kind.is_empty()).then(|| Filesystem {
                kind: kind.to_owned(),
                source: "host.example:/secret".to_owned(),
                mount_point: "/home/someone".to_owned(),
                mount_options: options.iter().map(|&option| option.to_owned()).collect(),
                ..Filesystem::default()
            }),
            layers,
            missing: Vec::new(),
        }
    }

    #[test]
    fn a_plain_disk() {
        let disk = Layer {
            link: Some("PCIe 8.0 GT/s x4".to_owned()),
            ..disk("nvme0n1", "Example 1T", 954)
        };
        let layers = vec![partition("nvme0n1p2"), disk];
        assert_eq!(
            stack_line(&stack("ext4", &["rw", "noatime", "data=ordered"], layers)),
            "ext4 (noatime) on nvme0n1p2 (Example 1T, 954 GiB, PCIe 8.0 GT/s x4, scheduler none)"
        );
    }

    #[test]
    fn a_rotating_disk_with_a_cache_of_its_own() {
        let mut disk = Layer {
            rotational: Some(true),
            scheduler: Some("mq-deadline".to_owned()),
            link: Some("SATA 6.0 Gbps".to_owned()),
            ..disk("sda", "EXAMPLE HDD", 1024)
        };
        disk.queue
            .insert("write_cache".to_owned(), "write back".to_owned());
        assert_eq!(
            stack_line(&stack("xfs", &[], vec![disk])),
            "xfs on sda (EXAMPLE HDD, 1 TiB, SATA 6.0 Gbps, rotational, scheduler mq-deadline, \
             write-back cache)"
        );
    }

    #[test]
    fn encryption_over_a_volume_over_two_disks() {
        let layers = vec![
            made_as("dm-1", LayerKind::DeviceMapper, "crypt"),
            made_as("dm-0", LayerKind::DeviceMapper, "linear"),
            partition("sda3"),
            disk("sda", "Disk A", 100),
            partition("sdb1"),
            disk("sdb", "Disk B", 200),
        ];
        assert_eq!(
            stack_line(&stack("ext4", &[], layers)),
            "ext4 on dm-1 (crypt) on dm-0 (linear) on sda3 (Disk A, 100 GiB, scheduler none) \
             + sdb1 (Disk B, 200 GiB, scheduler none)"
        );
    }

    #[test]
    fn equal_disks_of_an_array_are_described_once() {
        let layers = vec![
            made_as("md0", LayerKind::Raid, "raid1"),
            partition("sda1"),
            disk("sda", "Disk", 100),
            partition("sdb1"),
            disk("sdb", "Disk", 100),
        ];
        assert_eq!(
            stack_line(&stack("ext4", &[], layers)),
            "ext4 on md0 (raid1) on sda1 + sdb1 (Disk, 100 GiB, scheduler none)"
        );
    }

    #[test]
    fn branches_that_differ_are_told_one_by_one() {
        let layers = vec![
            made_as("md0", LayerKind::Raid, "raid1"),
            made_as("dm-0", LayerKind::DeviceMapper, "crypt"),
            disk("sda", "Disk", 100),
            made_as("dm-1", LayerKind::DeviceMapper, "crypt"),
            disk("sdb", "Disk", 100),
        ];
        assert_eq!(
            stack_line(&stack("xfs", &[], layers)),
            "xfs on md0 (raid1) on dm-0 (crypt) on sda (Disk, 100 GiB, scheduler none), and \
             dm-1 (crypt) on sdb (Disk, 100 GiB, scheduler none)"
        );
    }

    #[test]
    fn a_loop_device_shows_what_its_file_lies_on() {
        let below = stack("ext4", &["relatime"], vec![disk("vda", "", 8)]);
        let loop_device = Layer {
            backing: Some(Box::new(below)),
            loop_direct_io: Some(true),
            ..layer("loop3", LayerKind::Loop)
        };
        assert_eq!(
            stack_line(&stack(
                "btrfs",
                &["compress=zstd:3", "ssd"],
                vec![loop_device]
            )),
            "btrfs (compress=zstd:3) on loop3 (file past the page cache) on ext4 on \
             vda (8 GiB, scheduler none)"
        );
    }

    #[test]
    fn filesystems_without_a_device_say_where_they_live() {
        for (kind, options, text) in [
            ("tmpfs", &["size=16G", "rw"][..], "tmpfs, in memory"),
            (
                "nfs4",
                &["vers=4.2", "addr=192.0.2.1", "sync"],
                "nfs4 (vers=4.2, sync), over the network",
            ),
            (
                "overlay",
                &["lowerdir=...", "volatile"],
                "overlay (volatile), no block device visible",
            ),
            (
                "9p",
                &["cache=..."],
                "9p, from the machine that hosts this one",
            ),
            ("fuse.thing", &[], "fuse.thing, no block device visible"),
        ] {
            assert_eq!(stack_line(&stack(kind, options, Vec::new())), text);
        }
    }

    #[test]
    fn raw_devices_memory_devices_and_the_unknown() {
        assert_eq!(
            stack_line(&stack("", &[], vec![disk("sdb", "Disk", 100)])),
            "raw device sdb (Disk, 100 GiB, scheduler none)"
        );
        let zram = Layer {
            size_bytes: 1 << 30,
            ..layer("zram0", LayerKind::Zram)
        };
        assert_eq!(
            stack_line(&stack("ext4", &[], vec![zram])),
            "ext4 on zram0 (compressed memory, 1 GiB)"
        );
        assert_eq!(
            stack_line(&stack("", &[], Vec::new())),
            "nothing is known of what it stands on"
        );
    }

    #[test]
    fn names_that_could_reach_a_terminal_are_made_harmless() {
        let line = stack_line(&stack("ext4", &[], vec![disk("sda", "a\u{1b}[2Jb", 1)]));
        assert_eq!(line, "ext4 on sda (a?[2Jb, 1 GiB, scheduler none)");
    }

    #[test]
    fn a_home_directory_loses_its_owner() {
        assert_eq!(without_home("/home/someone/data"), "~/data");
        assert_eq!(without_home("/home/someone"), "~");
        assert_eq!(without_home("/mnt/home/data"), "/mnt/home/data");
        assert_eq!(without_home("."), ".");
    }
}
