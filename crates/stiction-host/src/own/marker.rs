//! The file by which a directory of ours is known for ours.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd;

use rustix::fs::{Mode, OFlags, openat};
use serde::{Deserialize, Serialize};

use crate::undo::Owner;

/// Name of the marker in a directory of ours.
pub(super) const NAME: &str = ".stiction-directory";
/// A marker is a few hundred bytes; what is longer is not one.
const MOST_BYTES: u64 = 64 << 10;

/// What the marker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Marker {
    /// For the person who finds it.
    pub(super) note: String,
    /// Who made the directory.
    pub(super) owner: Owner,
    /// Equal to the nonce in the undo journal.
    pub(super) nonce: String,
}

impl Marker {
    pub(super) fn new(owner: Owner, nonce: String) -> Self {
        let note = "This directory was made by stiction for its own test files and is \
                    removed when the run ends. If the run is over, `stiction clean` removes it.";
        Self {
            note: note.to_owned(),
            owner,
            nonce,
        }
    }

    /// Writes the marker into `directory` and gives the open file.
    pub(super) fn write(&self, directory: impl AsFd) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(openat(directory, NAME, flags, Mode::from_raw_mode(0o600))?);
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        Ok(file)
    }

    /// Whether the marker of `directory` was cut off while it was written: it is there,
    /// and its text ends before its end.
    pub(super) fn is_cut_off(directory: impl AsFd) -> io::Result<bool> {
        Ok(bytes(directory)?.is_some_and(|(bytes, _)| {
            let read: Result<serde::de::IgnoredAny, _> = serde_json::from_slice(&bytes);
            read.is_err_and(|error| error.is_eof())
        }))
    }

    /// Reads the marker of `directory`: `None` when there is none, or something
    /// else under its name.
    pub(super) fn read(directory: impl AsFd) -> io::Result<Option<(Self, File)>> {
        Ok(bytes(directory)?.and_then(|(bytes, file)| {
            let marker = serde_json::from_slice(&bytes).ok()?;
            Some((marker, file))
        }))
    }
}

/// What the regular file of the marker's name in `directory` holds; `None` when there is
/// none.
fn bytes(directory: impl AsFd) -> io::Result<Option<(Vec<u8>, File)>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(directory, NAME, flags, Mode::empty()) {
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::LOOP) => return Ok(None),
        other => File::from(other?),
    };
    if !file.metadata()?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    (&file).take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(Some((bytes, file)))
}
