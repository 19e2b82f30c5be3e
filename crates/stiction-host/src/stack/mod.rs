//! What a path stands on: filesystem, layers, disks.

mod block;
mod filesystem;
mod link;
pub(crate) mod mountinfo;

use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use stiction_core::TargetStack;

pub(crate) use block::{chosen, disk_of, name_of_number, number_of_name, serial, whole_disk};
pub(crate) use mountinfo::device_number;

use crate::{FactOptions, HostError, Roots};
use mountinfo::Mount;

/// Loop devices over files on loop devices, and device-mapper stacks, are followed
/// this deep.
const MOST_DEPTH: usize = 16;

/// What `path` stands on.
///
/// # Errors
/// When there is no such path, or it is neither a directory, a regular file nor a
/// block device. What cannot be found out about the layers is listed in the
/// result instead.
pub fn observe_target(path: &Path, options: FactOptions) -> Result<TargetStack, HostError> {
    observe_target_in(&Roots::live(), path, options)
}

/// As [`observe_target`], on a machine whose files lie elsewhere.
///
/// # Errors
/// As [`observe_target`].
pub fn observe_target_in(
    roots: &Roots,
    path: &Path,
    options: FactOptions,
) -> Result<TargetStack, HostError> {
    observe(roots, path, options, 0)
}

/// What a path leads to.
enum Place {
    /// A block device, by its kernel name.
    Device(String),
    /// A file or directory: its path without symbolic links, and the number of the
    /// mount that it lies on where the kernel told.
    File(PathBuf, Option<u64>),
}

fn observe(
    roots: &Roots,
    path: &Path,
    options: FactOptions,
    depth: usize,
) -> Result<TargetStack, HostError> {
    let mut stack = TargetStack {
        path: path.to_string_lossy().into_owned(),
        filesystem: None,
        layers: Vec::new(),
        missing: Vec::new(),
    };
    let devices = match place(roots, path)? {
        Place::Device(name) => vec![name],
        Place::File(real, mount_id) => match mount_of(roots, &real, mount_id) {
            Ok(mount) => {
                let mut missing = Vec::new();
                let filesystem = filesystem::observe(roots, &mount, path, &mut missing);
                stack.missing = missing;
                let devices = filesystem.devices.clone();
                stack.filesystem = Some(filesystem);
                devices
            }
            Err(reason) => {
                stack.missing.push(format!("filesystem: {reason}"));
                Vec::new()
            }
        },
    };
    block::add_layers(roots, &devices, options, depth, &mut stack);
    Ok(stack)
}

fn place(roots: &Roots, path: &Path) -> Result<Place, HostError> {
    if !roots.is_live() {
        let name = path.strip_prefix("/dev").ok().and_then(Path::to_str);
        let device = name.and_then(|name| block::name_of_node(roots, name));
        return Ok(match device {
            Some(name) => Place::Device(name),
            None => Place::File(path.to_owned(), None),
        });
    }
    let refused = |error| HostError::refused("look at", path, error);
    let real = path.canonicalize().map_err(refused)?;
    let metadata = real.metadata().map_err(refused)?;
    let kind = metadata.file_type();
    if kind.is_block_device() {
        let device = metadata.rdev();
        let number = (rustix::fs::major(device), rustix::fs::minor(device));
        // Without /sys the name of the node has to do.
        let node = || {
            real.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        };
        let name = name_of_number(roots, number).or_else(node);
        return Ok(Place::Device(name.unwrap_or_default()));
    }
    if !(kind.is_dir() || kind.is_file()) {
        return Err(HostError::NotATarget {
            path: path.to_owned(),
            reason: "it is neither a directory, a regular file nor a block device".to_owned(),
        });
    }
    let told = statx(CWD, &real, AtFlags::empty(), StatxFlags::MNT_ID).ok();
    let mount_id = told
        .filter(|stat| stat.stx_mask & StatxFlags::MNT_ID.bits() != 0)
        .map(|stat| stat.stx_mnt_id);
    Ok(Place::File(real, mount_id))
}

fn mount_of(roots: &Roots, path: &Path, mount_id: Option<u64>) -> Result<Mount, String> {
    let mounts =
        mountinfo::read(roots).map_err(|error| format!("/proc/self/mountinfo: {error}"))?;
    mountinfo::containing(&mounts, path, mount_id)
        .cloned()
        .ok_or_else(|| "/proc/self/mountinfo has no mount that holds the path".to_owned())
}
