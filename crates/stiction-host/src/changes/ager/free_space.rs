//! How the free space of a filesystem lies.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use stiction_core::{Layout, Moved};

use super::{remove, write_zeros};
use crate::HostError;
use crate::space::space;
use crate::sys::fsmap;
use crate::witness::file_map;

/// What is known of the free space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FreeSpace {
    /// Bytes that are free at all.
    bytes: u64,
    /// Lengths of its runs, bytes; `None` where the filesystem does not tell.
    runs: Option<Vec<u64>>,
    /// In how many runs a new file was that took a part of it; `None` where it did not
    /// fit, as free space is not always space for files, or has no map of extents.
    probe_runs: Option<u64>,
}

impl FreeSpace {
    /// Looks at the filesystem whose top folder is `top`, and lays a file of `probe_bytes`
    /// on it that is removed again.
    pub(super) fn look_at(top: &Path, probe_bytes: u64) -> Result<Self, HostError> {
        let refused = |error| HostError::refused("ask for the free space of", top, error);
        let opened = File::open(top).map_err(refused)?;
        let runs = match fsmap::free_runs(opened.as_fd()) {
            Ok(runs) => Some(runs),
            Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY)) => {
                None
            }
            Err(error) => return Err(refused(error)),
        };
        Ok(Self {
            bytes: space(top)?.free_bytes,
            runs,
            probe_runs: probe(&top.join("probe"), probe_bytes)?,
        })
    }

    /// What became of it.
    pub(super) fn moved_to(&self, after: &Self) -> Vec<Moved> {
        let figures = |one: &Self| {
            let runs = one.runs.as_ref();
            [
                ("free_bytes", Some(one.bytes)),
                ("free_runs", runs.map(|runs| runs.len() as u64)),
                (
                    "free_run_bytes_largest",
                    runs.map(|runs| runs.iter().copied().max().unwrap_or(0)),
                ),
                ("probe_runs", one.probe_runs),
            ]
        };
        let both = figures(self).into_iter().zip(figures(after));
        both.filter_map(|((name, before), (_, after))| {
            Some(Moved {
                name: name.to_owned(),
                before: before?.to_string(),
                after: after?.to_string(),
            })
        })
        .collect()
    }
}

/// In how many runs a file of `bytes` at `path` is, where there is room for it.
fn probe(path: &Path, bytes: u64) -> Result<Option<u64>, HostError> {
    let refused = |error: std::io::Error| HostError::refused("lay a probe at", path, error);
    let file = File::create_new(path).map_err(refused)?;
    let laid = match fallocate(&file, FallocateFlags::empty(), 0, bytes.max(1)) {
        Err(Errno::OPNOTSUPP) => write_zeros(&file, bytes),
        other => other.map_err(Into::into),
    };
    let runs = match laid {
        Err(error) if error.raw_os_error() == Some(libc::ENOSPC) => Ok(None),
        Err(error) => Err(refused(error)),
        Ok(()) => {
            let map = file_map(path, true);
            map.map(|map| Layout::of(&[map]).map(|layout| layout.extents))
        }
    };
    remove(path)?;
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_on_both_sides_is_what_moved() {
        let space = |bytes, runs: Option<&[u64]>| FreeSpace {
            bytes,
            runs: runs.map(<[u64]>::to_vec),
            probe_runs: Some(1),
        };
        let told = |before: FreeSpace, after: FreeSpace| -> Vec<String> {
            let moved = before.moved_to(&after);
            moved.iter().map(Moved::to_string).collect()
        };
        let moved = told(space(100, Some(&[100])), space(30, Some(&[10, 20])));
        let expected = [
            "free_bytes 100 -> 30",
            "free_runs 1 -> 2",
            "free_run_bytes_largest 100 -> 20",
            "probe_runs 1 -> 1",
        ];
        assert_eq!(moved, expected);
        let moved = told(space(100, None), space(30, None));
        assert_eq!(moved, ["free_bytes 100 -> 30", "probe_runs 1 -> 1"]);
    }
}
