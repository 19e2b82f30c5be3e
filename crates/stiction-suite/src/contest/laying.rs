//! What a trial lays down before it measures: trees and files.

use std::path::Path;

use stiction_core::Seed;
use stiction_engine::{IoFailure, Stopwatch};

use super::build;
use crate::metadata::{Folder, Made, MadeSync};
use crate::open_file::{OpenFile, Use};

/// What is written at a time.
const PIECE_BYTES: u64 = 1 << 20;

/// Makes a directory whose parent is there.
pub(super) fn make_directory(path: &Path, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
    let parent = Folder::open(path.parent().unwrap_or(path), 0)?;
    parent
        .make_directory(stopwatch, path.file_name().unwrap_or_default())
        .map(drop)
}

/// The tree of the built-in build, with the directory of its objects.
pub(super) fn lay_tree(
    root: &Path,
    size: build::BuildSize,
    stopwatch: &mut Stopwatch<'_>,
) -> Result<(), IoFailure> {
    make_directory(root, stopwatch)?;
    for inner in ["include", "src", "obj"] {
        make_directory(&root.join(inner), stopwatch)?;
    }
    for (path, content) in build::files(root, size) {
        let folder = Folder::open(path.parent().unwrap_or(root), 0)?;
        let made = Made {
            bytes: content.len() as u64,
            piece: &content,
            sync: MadeSync::Nothing,
        };
        folder.create(stopwatch, path.file_name().unwrap_or_default(), made)?;
        if stopwatch.is_over() {
            break;
        }
    }
    Ok(())
}

/// A file of random bytes, one piece again and again.
pub(super) fn lay_file(
    path: &Path,
    bytes: u64,
    seed: Seed,
    stopwatch: &mut Stopwatch<'_>,
) -> Result<(), IoFailure> {
    let file = OpenFile::open(path, 0, Use::Create, false)?;
    let words = (0..PIECE_BYTES / 8).flat_map(|word| seed.stream(word).0.to_le_bytes());
    let piece: Vec<u8> = words.collect();
    let mut at = 0;
    while at < bytes && !stopwatch.is_over() {
        let now = (bytes - at).min(PIECE_BYTES);
        file.write_at(&piece[..now as usize], at)?;
        at += now;
    }
    Ok(())
}
