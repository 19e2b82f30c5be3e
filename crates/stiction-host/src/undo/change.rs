//! The changes that stiction makes to a machine, and how each is undone.

use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::mount::{UnmountFlags, unmount};
use serde::{Deserialize, Serialize};

use super::{UserCommands, path_text};
use crate::changes::KeptFile;
use crate::own::removal;
use crate::{HostError, Roots, changes};

/// A change that outlives the process unless it is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum Change {
    /// A directory of our own was made.
    OwnDirectory {
        /// Where.
        #[serde(with = "path_text")]
        path: PathBuf,
        /// The secret that its marker file must hold before anything is removed.
        nonce: String,
    },
    /// A loop device was attached.
    LoopDevice {
        /// The device: `/dev/loop3`.
        #[serde(with = "path_text")]
        device: PathBuf,
        /// The file under it.
        #[serde(with = "path_text")]
        backing_file: PathBuf,
    },
    /// A filesystem was mounted.
    Mount {
        /// What: a device, or a name such as `tmpfs`.
        #[serde(with = "path_text")]
        source: PathBuf,
        /// Where.
        #[serde(with = "path_text")]
        mount_point: PathBuf,
    },
    /// Settings in `/sys` or `/proc` were changed. None of them outlives a boot.
    KernelFiles {
        /// Their folder.
        #[serde(with = "path_text")]
        folder: PathBuf,
        /// The number of the disk that they are of, where another may come in its place.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        disk: Option<u64>,
        /// What they were, in the order in which they are put back.
        before: Vec<KeptFile>,
    },
    /// A command of the user's is to be carried out, whatever happens: what a trial set by
    /// another command of theirs is undone by it.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// Where it is carried out.
        #[serde(with = "path_text")]
        directory: PathBuf,
    },
    /// A control group was made.
    ControlGroup {
        /// Its folder.
        #[serde(with = "path_text")]
        path: PathBuf,
    },
}

/// What undoing a change came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// It was there and is gone, or as it was before.
    Removed,
    /// It was gone already, or never made.
    WasGone,
    /// It takes a command of the user's, which was not to be carried out: it stays in the
    /// journal.
    Left,
}

impl Change {
    /// The path that the change is about.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::OwnDirectory { path, .. } | Self::ControlGroup { path } => path,
            Self::LoopDevice { device, .. } => device,
            Self::KernelFiles { folder, .. } => folder,
            Self::Command { directory, .. } => directory,
            Self::Mount { mount_point, .. } => mount_point,
        }
    }

    /// Undoes the change in the name of a process that is gone. What no longer is
    /// what that process made is left alone.
    pub(super) fn undo(
        &self,
        is_of_this_boot: bool,
        commands: UserCommands,
    ) -> Result<Undone, HostError> {
        match self {
            Self::Command { .. } if commands == UserCommands::Leave => Ok(Undone::Left),
            Self::Command { words, directory } => {
                super::command::carry_out(words, directory).map(|()| Undone::Removed)
            }
            Self::OwnDirectory { path, nonce } => removal::remove_by_path(path, nonce),
            Self::LoopDevice {
                device,
                backing_file,
            } => changes::detach_leftover(device, backing_file),
            Self::Mount {
                source,
                mount_point,
            } => unmount_leftover(source, mount_point),
            Self::KernelFiles { .. } if !is_of_this_boot => Ok(Undone::WasGone),
            Self::KernelFiles {
                folder,
                disk,
                before,
            } => changes::put_back_leftover(folder, *disk, before),
            Self::ControlGroup { path } => remove_group(path),
        }
    }
}

fn unmount_leftover(source: &Path, mount_point: &Path) -> Result<Undone, HostError> {
    let mounts = crate::stack::mountinfo::read(&Roots::live())
        .map_err(|error| HostError::refused("read", Path::new("/proc/self/mountinfo"), error))?;
    let there = mounts
        .iter()
        .rev()
        .find(|mount| mount.mount_point == mount_point);
    match there {
        None => Ok(Undone::WasGone),
        Some(mount) if Path::new(&mount.source) != source => Err(HostError::NotOurs {
            path: mount_point.to_owned(),
            reason: format!("{} is mounted there now", mount.source),
        }),
        Some(_) => unmount(mount_point, UnmountFlags::NOFOLLOW)
            .map(|()| Undone::Removed)
            .map_err(|error| HostError::refused("unmount", mount_point, error)),
    }
}

fn remove_group(path: &Path) -> Result<Undone, HostError> {
    match rustix::fs::rmdir(path) {
        Ok(()) => Ok(Undone::Removed),
        Err(Errno::NOENT) => Ok(Undone::WasGone),
        Err(error) => Err(HostError::refused("remove the control group", path, error)),
    }
}
