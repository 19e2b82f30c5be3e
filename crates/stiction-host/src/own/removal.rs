//! Removing a directory of ours, and nothing else.
//!
//! Everything goes by descriptors: no path is walked twice, no symbolic link is
//! followed, no mount point is crossed.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, openat, openat2, unlinkat};
use rustix::io::Errno;

use super::marker::{self, Marker};
use crate::HostError;
use crate::undo::Undone;

/// Deepest nesting that is removed; stiction's own workloads stay below.
const MOST_DEPTH: usize = 256;

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Removes the directory at `path` if its marker holds `nonce`.
pub(crate) fn remove_by_path(path: &Path, nonce: &str) -> Result<Undone, HostError> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(not_ours(path, "it has no name"));
    };
    let parent = match rustix::fs::open(parent, FOLDER - OFlags::NOFOLLOW, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(Undone::WasGone),
        other => other.map_err(|error| HostError::refused("open", parent, error))?,
    };
    remove(parent.as_fd(), name, nonce, path)
}

/// Removes the directory `name` in `parent` if its marker holds `nonce`; `path` is
/// for messages. The marker goes last, so that a removal that is cut short can be
/// taken up again.
pub(super) fn remove(
    parent: BorrowedFd<'_>,
    name: &OsStr,
    nonce: &str,
    path: &Path,
) -> Result<Undone, HostError> {
    let directory = match openat(parent, name, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(Undone::WasGone),
        Err(Errno::LOOP | Errno::NOTDIR) => {
            return Err(not_ours(path, "it is not the directory that was made"));
        }
        other => other.map_err(|error| HostError::refused("open", path, error))?,
    };
    let marker =
        Marker::read(&directory).map_err(|error| HostError::refused("read", path, error))?;
    match marker {
        Some((marker, _)) if marker.nonce == nonce => {
            empty(&directory, path, 0)?;
            unlinkat(&directory, marker::NAME, AtFlags::empty())
                .map_err(|error| HostError::refused("empty", path, error))?;
        }
        Some(_) => return Err(not_ours(path, "its marker is not the one that was written")),
        // Made, and cut off before the marker was written, or while it was: then nothing
        // else is in it, and rmdir below refuses if something is.
        None => {
            let refused = |error: std::io::Error| HostError::refused("empty", path, error);
            if is_alone(&directory).map_err(|error| refused(error.into()))?
                && Marker::is_cut_off(&directory).map_err(refused)?
            {
                unlinkat(&directory, marker::NAME, AtFlags::empty())
                    .map_err(|error| refused(error.into()))?;
            }
        }
    }
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(Undone::Removed),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Err(not_ours(
            path,
            "it has no marker and is not empty; look into it, and remove it by hand",
        )),
        Err(error) => Err(HostError::refused("remove", path, error)),
    }
}

/// Whether nothing but a file of the marker's name is in `directory`.
fn is_alone(directory: &OwnedFd) -> rustix::io::Result<bool> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." && name != marker::NAME.as_bytes() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Removes everything in `directory` but the marker at the top.
fn empty(directory: &OwnedFd, path: &Path, depth: usize) -> Result<(), HostError> {
    let refused = |error: Errno| HostError::refused("empty", path, error);
    if depth > MOST_DEPTH {
        let reason = format!("it is nested deeper than {MOST_DEPTH} folders");
        return Err(not_ours(path, &reason));
    }
    // Names first, then removal: what a directory stream gives while its directory
    // changes is unspecified.
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
        let is_marker = depth == 0 && name == marker::NAME;
        if name != "." && name != ".." && !is_marker {
            entries.push((name, entry.file_type()));
        }
    }
    for (name, file_type) in entries {
        let entry_path = path.join(&name);
        let refused = |error: Errno| HostError::refused("remove", &entry_path, error);
        if is_folder(directory, &name, file_type).map_err(refused)? {
            let inner = open_inside(directory, &name).map_err(refused)?;
            empty(&inner, &entry_path, depth + 1)?;
            unlinkat(directory, &name, AtFlags::REMOVEDIR).map_err(refused)?;
        } else {
            unlinkat(directory, &name, AtFlags::empty()).map_err(refused)?;
        }
    }
    Ok(())
}

/// Some filesystems do not give the type with the name.
fn is_folder(directory: &OwnedFd, name: &OsStr, file_type: FileType) -> rustix::io::Result<bool> {
    if file_type != FileType::Unknown {
        return Ok(file_type == FileType::Directory);
    }
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// Opens a folder without leaving the mount that `directory` is on: EXDEV when
/// something is mounted there.
fn open_inside(directory: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let inside = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    match openat2(directory, name, FOLDER, Mode::empty(), inside) {
        // Before Linux 5.6, and under some seccomp filters.
        Err(Errno::NOSYS | Errno::PERM) => {
            let inner = openat(directory, name, FOLDER, Mode::empty())?;
            let device = |folder: &OwnedFd| rustix::fs::fstat(folder).map(|stat| stat.st_dev);
            if device(&inner)? == device(directory)? {
                Ok(inner)
            } else {
                Err(Errno::XDEV)
            }
        }
        other => other,
    }
}

fn not_ours(path: &Path, reason: &str) -> HostError {
    HostError::NotOurs {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}
