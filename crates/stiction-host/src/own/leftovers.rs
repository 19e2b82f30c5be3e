//! Finding directories of ours that a killed run left behind.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;

use super::marker::Marker;
use super::{PREFIX, removal};
use crate::HostError;
use crate::undo::{Liveness, Owner};

/// A directory that carries our marker.
#[derive(Debug)]
pub struct Leftover {
    /// Where.
    pub path: PathBuf,
    /// Who made it.
    pub owner: Owner,
    /// Whether its owner still uses it.
    pub liveness: Liveness,
    nonce: String,
    /// Holds the lock on the marker of a dead owner.
    _lock: std::fs::File,
}

impl Leftover {
    /// Removes the directory and everything in it.
    ///
    /// # Errors
    /// When its owner is not dead, or something in it cannot be removed.
    pub fn remove(self) -> Result<(), HostError> {
        let reason = match self.liveness {
            Liveness::Dead => return removal::remove_by_path(&self.path, &self.nonce).map(drop),
            Liveness::Alive => format!(
                "session {} uses it: process {} runs",
                self.owner.session, self.owner.pid
            ),
            Liveness::OtherMachine => format!(
                "session {} ran on another machine: run `stiction clean` there",
                self.owner.session
            ),
        };
        Err(HostError::NotOurs {
            path: self.path,
            reason,
        })
    }
}

/// What [`leftovers`] found.
#[derive(Debug, Default)]
pub struct Leftovers {
    /// Directories that carry our marker, in order of name.
    pub found: Vec<Leftover>,
    /// Directories with our kind of name that could not be looked into, such as
    /// another user's.
    pub unreadable: Vec<HostError>,
}

/// The directories in `parent` that carry our marker. Those that have our kind of
/// name and no marker are not among them.
///
/// # Errors
/// When `parent` cannot be read.
pub fn leftovers(parent: &Path) -> Result<Leftovers, HostError> {
    let refused = |error: io::Error| HostError::refused("look for leftovers in", parent, error);
    let absolute = std::path::absolute(parent).map_err(refused)?;
    let mut leftovers = Leftovers::default();
    for entry in std::fs::read_dir(&absolute).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        if entry.file_name().as_bytes().starts_with(PREFIX.as_bytes()) {
            let path = entry.path();
            match marked(&path) {
                Ok(leftover) => leftovers.found.extend(leftover),
                Err(error) => leftovers.unreadable.push(HostError::refused(
                    "read the marker in",
                    &path,
                    error,
                )),
            }
        }
    }
    leftovers.found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(leftovers)
}

fn marked(path: &Path) -> io::Result<Option<Leftover>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = match open(path, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
        other => other?,
    };
    let Some((marker, lock)) = Marker::read(directory.as_fd())? else {
        return Ok(None);
    };
    let liveness = marker.owner.liveness(&lock)?;
    Ok(Some(Leftover {
        path: path.to_owned(),
        owner: marker.owner,
        liveness,
        nonce: marker.nonce,
        _lock: lock,
    }))
}
