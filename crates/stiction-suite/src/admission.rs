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
    let file_limit = context.environment.limits.file_size_bytes;
    if let Some(limit) = file_limit.filter(|&limit| file_bytes > limit) {
        return Err(SkipReason::new(
            SkipCode::LimitTooLow,
            format!(
                "each file of {} is more than the largest that this process may write, {}; \
                 raise the limit (ulimit -f) or give a smaller size",
                format_bytes(file_bytes),
                format_bytes(limit)
            ),
        ));
    }
    let mut wanted: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for &place in places.iter().cycle().take(files as usize) {
        let mount = context
            .stacks
            .get(place)
            .and_then(|stack| stack.filesystem.as_ref());
        let mount = mount.map_or_else(
            || place.to_string(),
            |filesystem| filesystem.mount_point.clone(),
        );
        let (_, bytes) = wanted.entry(mount).or_insert((place, 0));
        *bytes = bytes.saturating_add(file_bytes);
    }
    for (place, bytes) in wanted.into_values() {
        if let Place::Directory(path) = &context.places[place] {
            admit_bytes(path, bytes, reserve(may_fill))?;
        }
    }
    Ok(())
}
