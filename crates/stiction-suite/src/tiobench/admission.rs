//! Whether a trial can run, found before anything is made.

use stiction_core::{SkipCode, SkipReason, format_bytes, format_duration_ns};

use super::jobs::Shape;
use super::parameters::TiobenchParameters;
use super::trial::Layout;
use crate::admission::admit_files;
use crate::room::memory_bytes;
use crate::{Context, Place};

/// Whether the trial can run, before anything is made.
pub(super) fn admit(
    parameters: &TiobenchParameters,
    shape: Shape,
    layout: &Layout,
    context: &Context<'_>,
) -> Result<(), SkipReason> {
    if context.stop.is_raised() {
        return Err(SkipReason::new(
            SkipCode::Interrupted,
            "the run was stopped before this cell",
        ));
    }
    if let Some(timeout_ns) = parameters
        .timeout_ns
        .filter(|&timeout_ns| context.now_ns() >= timeout_ns)
    {
        let detail = format!(
            "no cell begins after {}",
            format_duration_ns(timeout_ns as f64)
        );
        return Err(SkipReason::new(SkipCode::OutOfTime, detail));
    }
    if layout.places.is_empty() {
        return Err(SkipReason::new(
            SkipCode::NotSupported,
            "the plan's directory is not among those given",
        ));
    }
    if shape.file_bytes < shape.block_size_bytes {
        return Err(SkipReason::new(
            SkipCode::NotSupported,
            format!(
                "a block of {} is larger than each thread's {}; give a larger size, smaller blocks or fewer threads",
                format_bytes(shape.block_size_bytes),
                format_bytes(shape.file_bytes)
            ),
        ));
    }
    admit_buffers(shape, context)?;
    admit_alignment(parameters, shape, layout, context)?;
    if layout.devices.is_some() {
        admit_regions(layout, context)
    } else {
        admit_files(
            context,
            &layout.places,
            shape.threads,
            shape.file_bytes,
            parameters.may_fill,
        )
    }
}

/// Half of the memory at most for the threads' buffers.
fn admit_buffers(shape: Shape, context: &Context<'_>) -> Result<(), SkipReason> {
    let needed = u64::from(shape.threads).saturating_mul(shape.block_size_bytes);
    let limit = memory_bytes(context.environment).map_or(u64::MAX, |memory| memory / 2);
    if needed <= limit {
        return Ok(());
    }
    Err(SkipReason::new(
        SkipCode::LimitTooLow,
        format!(
            "{} threads with blocks of {} need {} of memory, more than half of what there is; \
             give fewer threads or smaller blocks",
            shape.threads,
            format_bytes(shape.block_size_bytes),
            format_bytes(needed)
        ),
    ))
}

/// With `O_DIRECT` a device moves whole blocks of its own only.
fn admit_alignment(
    parameters: &TiobenchParameters,
    shape: Shape,
    layout: &Layout,
    context: &Context<'_>,
) -> Result<(), SkipReason> {
    if !parameters.direct {
        return Ok(());
    }
    let stacks = layout
        .places
        .iter()
        .filter_map(|&place| context.stacks.get(place));
    let sector = stacks
        .filter_map(|stack| stack.layers.first())
        .map(|layer| u64::from(layer.logical_block_size_bytes))
        .max()
        .unwrap_or(1)
        .max(1);
    if shape.block_size_bytes.is_multiple_of(sector) {
        return Ok(());
    }
    Err(SkipReason::new(
        SkipCode::NotSupported,
        format!(
            "a block of {} bytes is not a multiple of the device's {sector}, which O_DIRECT needs; \
             choose a multiple, or leave O_DIRECT",
            shape.block_size_bytes
        ),
    ))
}

fn admit_regions(layout: &Layout, context: &Context<'_>) -> Result<(), SkipReason> {
    for (device, &place) in layout.places.iter().enumerate() {
        let Place::Device(held) = &context.places[place] else {
            return Err(SkipReason::new(
                SkipCode::UnsafeTarget,
                "directories and raw devices cannot be mixed in one run",
            ));
        };
        let regions = layout
            .regions
            .iter()
            .filter(|region| region.target as usize == device);
        let end = regions
            .map(|region| region.offset_bytes.saturating_add(region.length_bytes))
            .max();
        if end.is_some_and(|end| end > held.length_bytes()) {
            return Err(SkipReason::new(
                SkipCode::NoSpace,
                format!(
                    "the regions need {} of {}, which has {}; give a smaller size, smaller gaps or fewer threads",
                    format_bytes(end.unwrap_or(0)),
                    held.path().display(),
                    format_bytes(held.length_bytes())
                ),
            ));
        }
    }
    Ok(())
}
