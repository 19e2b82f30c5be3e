//! A tree that is listed, with all there is to know of each entry, again and again.

use std::path::{Path, PathBuf};

use stiction_engine::StopFlag;

use super::{Gauge, Setting};
use crate::contest::part::{PartResult, failed};

/// The tree that is listed.
pub(in crate::contest) fn tree(directory: &Path) -> PathBuf {
    directory.join("list_load")
}

/// Lists it again and again, as `ls -lR` does: one look at each entry.
pub(super) fn run(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let root = tree(&setting.directory);
    while !stop.is_raised() {
        let entries = list(&root, gauge, stop)?;
        if !stop.is_raised() {
            gauge.pass(entries);
        }
    }
    Ok(())
}

/// Entries below the folder.
fn list(folder: &Path, gauge: &Gauge, stop: &StopFlag) -> PartResult<u64> {
    let refused = |error: std::io::Error| failed("list", folder, &error);
    let mut entries = 0;
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let seen = entry.metadata().map_err(refused)?;
        entries += 1;
        gauge.step(1);
        if seen.is_dir() {
            folders.push(entry.path());
        }
        if stop.is_raised() {
            return Ok(entries);
        }
    }
    for folder in folders {
        entries += list(&folder, gauge, stop)?;
    }
    Ok(entries)
}
