//! Files in the state of the cache that a measured phase is to find.

use std::path::{Path, PathBuf};

use stiction_core::{CacheState, Caveat, CaveatCode, PhaseKind, Residency, format_bytes};
use stiction_engine::StopFlag;
use stiction_host::{drop_file_cache, fill_file_cache};

use crate::{Context, tree_move};

/// More files than this below a directory are left as they are: each costs some calls.
const FILES_MOST: usize = 10_000;

/// Brings `files` (those that are there) into the state that a phase of that kind is to
/// find them in, and doubts it where they are not all in it.
pub(crate) fn bring_into_state(
    context: &Context<'_>,
    kind: PhaseKind,
    files: &[PathBuf],
) -> Option<Caveat> {
    if kind != PhaseKind::Measure || context.cache == CacheState::AsIs {
        return None;
    }
    let present = files.iter().filter(|path| path.exists());
    let present: Vec<PathBuf> = present.cloned().collect();
    if present.is_empty() || context.stop.is_raised() {
        return None;
    }
    if context.cache == CacheState::Cold {
        dropped(context.stop, &present)
    } else {
        filled(context, &present)
    }
}

/// The same for all files below a directory.
pub(crate) fn bring_all_below(
    context: &Context<'_>,
    kind: PhaseKind,
    directory: &Path,
) -> Option<Caveat> {
    if kind != PhaseKind::Measure || context.cache == CacheState::AsIs {
        return None;
    }
    let files = match tree_move::amount(directory) {
        Ok(amount) => amount.files,
        Err(error) => return Some(unsure(context.cache, error.to_string())),
    };
    if files.len() > FILES_MOST {
        let detail = format!(
            "{} has {} files, and of more than {FILES_MOST} none is touched",
            directory.display(),
            files.len()
        );
        return Some(unsure(context.cache, detail));
    }
    bring_into_state(context, kind, &files)
}

fn unsure(state: CacheState, detail: String) -> Caveat {
    let code = match state {
        CacheState::Warm => CaveatCode::CacheNotFilled,
        CacheState::Cold | CacheState::AsIs => CaveatCode::CacheNotDropped,
    };
    Caveat::new(code, detail)
}

/// Writes `files` back and drops them from the page cache; a doubt when some of them
/// stayed. A stop that is raised meanwhile ends it after the file at hand.
pub(crate) fn dropped(stop: &StopFlag, files: &[PathBuf]) -> Option<Caveat> {
    let doubt = |detail| Some(unsure(CacheState::Cold, detail));
    let mut left = Residency::default();
    let mut means = String::new();
    for path in files {
        if stop.is_raised() {
            break;
        }
        match drop_file_cache(std::slice::from_ref(path)) {
            Ok(dropped) => {
                left.cached_bytes += dropped.after.cached_bytes;
                left.file_bytes += dropped.after.file_bytes;
                means = dropped.method;
            }
            Err(error) => return doubt(error.to_string()),
        }
    }
    if left.cached_bytes == 0 {
        return None;
    }
    doubt(format!(
        "{} of {} stayed in the page cache (means: {means})",
        format_bytes(left.cached_bytes),
        format_bytes(left.file_bytes)
    ))
}

fn filled(context: &Context<'_>, files: &[PathBuf]) -> Option<Caveat> {
    let doubt = |detail| Some(unsure(CacheState::Warm, detail));
    match fill_file_cache(files, || context.stop.is_raised()) {
        Ok(residency) if residency.cached_bytes >= residency.file_bytes => None,
        Ok(residency) => doubt(format!(
            "{} of {} are in the page cache after they were read: holes are not kept there, \
             and what is larger than the free memory does not stay",
            format_bytes(residency.cached_bytes),
            format_bytes(residency.file_bytes)
        )),
        Err(error) => doubt(error.to_string()),
    }
}
