//! Whether the files of a trial fit, found before anything is made.

use std::collections::BTreeMap;

use stiction_core::{SkipCode, SkipReason, format_bytes};
use stiction_host::admit_bytes;

use crate::room::reserve;
use crate::{Context, Place};

/// Space for `files` files of `file_bytes` in the places, file `i` in the `i mod n`-th,
/// places on one mount counted together; and the largest file that may be written.
pub(crate) fn admit_files(
    context: &Context<'_>,
    places: &[usize],
    files: u32,
    file_bytes: u64,
    may_fill: bool,
) -> Result<(), SkipReason> {
    let places = places.iter().cycle().take(files as usize);
    admit_each(context, places.map(|&place| (place, file_bytes)), may_fill)
}

/// Space for files by place and length in bytes, places on one mount counted together;
/// and the largest file that may be written.
pub(crate) fn admit_each(
    context: &Context<'_>,
    files: impl IntoIterator<Item = (usize, u64)>,
    may_fill: bool,
) -> Result<(), SkipReason> {
    let mut largest_bytes = 0;
    let mut wanted: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for (place, file_bytes) in files {
        largest_bytes = file_bytes.max(largest_bytes);
        let (_, bytes) = wanted.entry(mount(context, place)).or_insert((place, 0));
        *bytes = bytes.saturating_add(file_bytes);
    }
    let file_limit = context.environment.limits.file_size_bytes;
    if let Some(limit) = file_limit.filter(|&limit| largest_bytes > limit) {
        return Err(SkipReason::new(
            SkipCode::LimitTooLow,
            format!(
                "a file of {} is more than the largest that this process may write, {}; \
                 raise the limit (ulimit -f) or give a smaller size",
                format_bytes(largest_bytes),
                format_bytes(limit)
            ),
        ));
    }
    for (place, bytes) in wanted.into_values() {
        if let Some(Place::Directory(path)) = context.places.get(place) {
            admit_bytes(path, bytes, reserve(may_fill))?;
        }
    }
    Ok(())
}

/// Where the filesystem of a place is mounted, or a name that no other place has.
fn mount(context: &Context<'_>, place: usize) -> String {
    let stack = context.stacks.get(place);
    let filesystem = stack.and_then(|stack| stack.filesystem.as_ref());
    filesystem.map_or_else(|| place.to_string(), |known| known.mount_point.clone())
}
