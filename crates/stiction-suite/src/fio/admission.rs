//! Whether a program can run, found before anything is made.

use std::collections::BTreeMap;

use stiction_core::{BackendKind, Program, ProgramPlace, SkipCode, SkipReason, format_bytes};
use stiction_host::admit_bytes;

use crate::room::reserve;
use crate::{Context, Place};

/// Whether all files fit, those in directories on one filesystem together, and none is
/// larger than may be.
pub(super) fn admit(program: &Program, context: &Context<'_>) -> Result<(), SkipReason> {
    if context.stop.is_raised() {
        return Err(SkipReason::new(
            SkipCode::Interrupted,
            "the run was stopped before it began",
        ));
    }
    let files = files(program);
    let file_limit = context.environment.limits.file_size_bytes;
    if let (Some(limit), Some(&largest)) = (file_limit, files.values().max())
        && largest > limit
    {
        return Err(SkipReason::new(
            SkipCode::LimitTooLow,
            format!(
                "a file of {} is more than the largest that this process may write, {}; \
                 raise the limit (ulimit -f) or give a smaller size",
                format_bytes(largest),
                format_bytes(limit)
            ),
        ));
    }
    let mut wanted: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    for ((place, _), bytes) in files {
        let stack = context.stacks.get(place);
        let mount = stack.and_then(|stack| stack.filesystem.as_ref());
        let mount = mount.map_or_else(
            || place.to_string(),
            |filesystem| filesystem.mount_point.clone(),
        );
        let (_, all) = wanted.entry(mount).or_insert((place, 0));
        *all = all.saturating_add(bytes);
    }
    for (place, bytes) in wanted.into_values() {
        if let Some(Place::Directory(path)) = context.places.get(place) {
            admit_bytes(path, bytes, reserve(program.may_fill))?;
        }
    }
    Ok(())
}

/// The files that are going to be made, by place and name, with the length that they
/// come to.
fn files(program: &Program) -> BTreeMap<(usize, &str), u64> {
    let mut files = BTreeMap::new();
    let parts = program.parts.iter();
    for part in parts.filter(|part| part.job.backend != BackendKind::Null) {
        for target in &part.targets {
            let place = target.place as usize;
            let kind = program.places.get(place);
            if matches!(kind, Some(ProgramPlace::Directory { .. })) {
                let length: &mut u64 = files.entry((place, target.name.as_str())).or_default();
                *length = (*length).max(target.length_bytes);
            }
        }
    }
    files
}
