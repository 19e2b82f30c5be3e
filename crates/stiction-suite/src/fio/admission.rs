//! Whether a program can run, found before anything is made.

use std::collections::BTreeMap;

use stiction_core::{BackendKind, Program, ProgramPlace, SkipCode, SkipReason};

use crate::Context;
use crate::admission::admit_each;

/// Whether all files fit, those in directories on one filesystem together, and none is
/// larger than may be.
pub(super) fn admit(program: &Program, context: &Context<'_>) -> Result<(), SkipReason> {
    if context.stop.is_raised() {
        return Err(SkipReason::new(
            SkipCode::Interrupted,
            "the run was stopped before it began",
        ));
    }
    let files = files(program).into_iter();
    let files = files.map(|((place, _), bytes)| (place, bytes));
    admit_each(context, files, program.may_fill)
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
