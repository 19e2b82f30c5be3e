//! The filesystem that a target lies on, and the devices that hold it.

use std::path::Path;

use stiction_core::Filesystem;

use super::block;
use super::mountinfo::{self, Mount};
use crate::Roots;

/// Options whose values name people, machines or folders beyond the target.
const PRIVATE_OPTIONS: &[&str] = &[
    "addr",
    "clientaddr",
    "domain",
    "ip",
    "lowerdir",
    "mountaddr",
    "name",
    "password",
    "secret",
    "upperdir",
    "user",
    "username",
    "workdir",
];

pub(super) fn observe(
    roots: &Roots,
    mount: &Mount,
    path: &Path,
    missing: &mut Vec<String>,
) -> Filesystem {
    let devices = devices(roots, mount).unwrap_or_else(|reason| {
        missing.push(format!("block device: {reason}"));
        Vec::new()
    });
    let mut filesystem = Filesystem {
        kind: mount.kind.clone(),
        source: mount.source.clone(),
        mount_point: mount.mount_point.to_string_lossy().into_owned(),
        mount_options: masked(&mount.options),
        filesystem_options: options_in_effect(roots, mount, &devices),
        devices,
        ..Filesystem::default()
    };
    if !roots.is_live() {
        missing.push("size and free space: not part of a recorded machine".to_owned());
        return filesystem;
    }
    match rustix::fs::statvfs(path) {
        Ok(space) => {
            filesystem.size_bytes = space.f_blocks.saturating_mul(space.f_frsize);
            filesystem.available_bytes = space.f_bavail.saturating_mul(space.f_frsize);
            filesystem.block_size_bytes = space.f_bsize;
        }
        Err(error) => missing.push(format!(
            "size and free space: statvfs: {}",
            std::io::Error::from(error)
        )),
    }
    filesystem
}

/// Kernel names of the block devices that hold the filesystem; none, and no error,
/// where there is nothing to find: memory, networks, pseudo filesystems.
fn devices(roots: &Roots, mount: &Mount) -> Result<Vec<String>, String> {
    if !roots.has("/sys/class/block") && mount.device.0 != 0 {
        return Err("/sys/class/block cannot be read".to_owned());
    }
    match mount.kind.as_str() {
        "btrfs" => btrfs_members(roots, &mount.source),
        "overlay" => overlay_devices(roots, mount),
        "bcachefs" => Ok(mount
            .source
            .split(':')
            .filter_map(|node| named(roots, node))
            .collect()),
        _ if mount.device.0 != 0 => block::name_of_number(roots, mount.device)
            .map(|name| vec![name])
            .ok_or_else(|| {
                let (major, minor) = mount.device;
                format!("/sys/dev/block has no {major}:{minor}")
            }),
        "zfs" => Err(format!(
            "the kernel does not tell which devices hold the pool {}; `zpool status` does",
            mount.source
        )),
        _ => Ok(named(roots, &mount.source).into_iter().collect()),
    }
}

/// Kernel name of the device node `/dev/...`.
fn named(roots: &Roots, node: &str) -> Option<String> {
    block::name_of_node(roots, node.strip_prefix("/dev/")?)
}

/// btrfs reports a device number of its own; its members are in sysfs.
fn btrfs_members(roots: &Roots, source: &str) -> Result<Vec<String>, String> {
    let own = named(roots, source)
        .ok_or_else(|| format!("{source} is not a block device in /sys/class/block"))?;
    let members = roots
        .names("/sys/fs/btrfs")
        .into_iter()
        .map(|uuid| roots.names(format!("/sys/fs/btrfs/{uuid}/devices")))
        .find(|members| members.contains(&own));
    // Without that folder the one device that mountinfo names has to do.
    Ok(members.unwrap_or_else(|| vec![own]))
}

/// What an overlay writes goes to its upper folder.
fn overlay_devices(roots: &Roots, mount: &Mount) -> Result<Vec<String>, String> {
    let upper = mount
        .filesystem_options
        .iter()
        .find_map(|option| option.strip_prefix("upperdir="))
        .ok_or("the overlay is read-only: it has no upper folder")?;
    let unseen = "the overlay's upper folder is not visible from here, as is usual in a container";
    if roots.is_live() && !Path::new(upper).exists() {
        return Err(unseen.to_owned());
    }
    let mounts = mountinfo::read(roots).map_err(|error| error.to_string())?;
    // Seen from inside a container, the longest mount on the way to the upper
    // folder would be the overlay itself.
    mountinfo::containing(&mounts, Path::new(upper), None)
        .filter(|holder| holder.kind != "overlay")
        .ok_or_else(|| unseen.to_owned())
        .and_then(|holder| devices(roots, holder))
}

/// ext4 lists every option in effect, defaults included; elsewhere mountinfo has
/// those that differ from the default.
fn options_in_effect(roots: &Roots, mount: &Mount, devices: &[String]) -> Vec<String> {
    let full = match devices {
        [device] if mount.kind.starts_with("ext") => {
            roots.text_if_any(format!("/proc/fs/ext4/{device}/options"))
        }
        _ => None,
    };
    match full {
        Some(text) => text.lines().map(str::to_owned).collect(),
        None => masked(&mount.filesystem_options),
    }
}

/// The options, with the values of the private ones left out.
fn masked(options: &[String]) -> Vec<String> {
    options
        .iter()
        .map(|option| match option.split_once('=') {
            Some((key, _)) if PRIVATE_OPTIONS.contains(&key) => format!("{key}=..."),
            _ => option.clone(),
        })
        .collect()
}
