//! All blocks of a granted device given back to it.

use stiction_core::{Action, Job, PhaseKind, Region, Seed, TrialOutcome};

use crate::measure::{Request, ended_otherwise, measure};
use crate::{Context, Ground, Place, SuiteError};

/// Bytes of one discard: larger ones keep others from the device for long.
const DISCARD_BYTES: u64 = 64 << 20;

/// Discards all of the device that is place number `place`, by `BLKDISCARD`; what is no
/// granted device is left alone. `Some` outcome when it did not come to its end.
///
/// # Errors
/// When the events could not keep a phase.
pub fn purge_device(
    context: &mut Context<'_>,
    place: usize,
) -> Result<Option<TrialOutcome>, SuiteError> {
    let Place::Device(device) = &context.places[place] else {
        return Ok(None);
    };
    let length = device.length_bytes();
    let ground = match Ground::make(context, &[place], 1) {
        Ok(ground) => ground,
        Err(reason) => return Ok(Some(TrialOutcome::Skipped(reason))),
    };
    let whole = length / DISCARD_BYTES * DISCARD_BYTES;
    for (offset_bytes, length_bytes) in [(0, whole), (whole, length - whole)] {
        if length_bytes == 0 {
            continue;
        }
        let job = Job {
            name: "purge".to_owned(),
            action: Action::Trim,
            block_size_bytes: DISCARD_BYTES.min(length_bytes),
            regions: vec![Region {
                target: 0,
                offset_bytes,
                length_bytes,
            }],
            seed: Seed(0),
            ..Job::default()
        };
        let phase = measure(context, &ground, Request::new(PhaseKind::Prepare, job))?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(Some(outcome));
        }
    }
    Ok(None)
}
