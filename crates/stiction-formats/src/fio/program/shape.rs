//! Block sizes: one, or a mix for each direction.

use stiction_core::{SizeMix, SizeShare, Sizes};

use super::super::job::{BlockSize, Order, PerDirection};
use super::Desk;

/// Sizes of operations.
pub(super) struct Shape {
    /// What random offsets are multiples of, and the size where there is only one.
    pub(super) unit_bytes: u64,
    /// Sizes that are not all `unit_bytes`.
    pub(super) sizes: Option<Sizes>,
}

/// The sizes of the job's operations.
pub(super) fn block(desk: &mut Desk<'_>) -> Shape {
    let job = desk.job();
    let sizes = by_direction(desk);
    let used = used(desk, &sizes);
    let least = used.iter().map(|size| size.least_bytes()).min();
    let unit_bytes = match alignment(desk) {
        Some(align) => align,
        None => least.unwrap_or(4096),
    };
    let one = |size: &&BlockSize| matches!(size, BlockSize::Fixed(bytes) if bytes.0 == unit_bytes);
    let is_mixed = !used.iter().all(one);
    let mix = |size: &BlockSize| mix(size, job.block.any_size);
    Shape {
        unit_bytes,
        sizes: is_mixed.then(|| Sizes {
            read: mix(&sizes.read),
            write: mix(&sizes.write),
            trim: mix(&sizes.trim),
        }),
    }
}

/// The sizes by direction, also where the file gives them by order.
fn by_direction(desk: &Desk<'_>) -> PerDirection<BlockSize> {
    let block = &desk.job().block;
    if !block.by_order {
        return block.size.clone();
    }
    // `bs_is_seq_rand`: the first size is of sequential, the second of random I/O.
    match desk.job().pattern.order {
        Order::Sequential => PerDirection::same(block.size.read.clone()),
        Order::Random => PerDirection::same(block.size.write.clone()),
    }
}

/// The sizes of the directions that occur.
fn used<'a>(desk: &Desk<'_>, sizes: &'a PerDirection<BlockSize>) -> Vec<&'a BlockSize> {
    let action = desk.job().pattern.action;
    [
        (action.reads(), &sizes.read),
        (action.writes(), &sizes.write),
        (action.trims(), &sizes.trim),
    ]
    .into_iter()
    .filter_map(|(occurs, size)| occurs.then_some(size))
    .collect()
}

/// What offsets are multiples of, where the file says (`blockalign`).
fn alignment(desk: &mut Desk<'_>) -> Option<u64> {
    let align = desk.job().block.align?;
    let action = desk.job().pattern.action;
    let mut used = [
        (action.reads(), align.read),
        (action.writes(), align.write),
        (action.trims(), align.trim),
    ]
    .into_iter()
    .filter_map(|(occurs, align)| (occurs && align.0 > 0).then_some(align.0));
    let first = used.next()?;
    if used.any(|other| other != first) {
        desk.refuse("blockalign", "all directions of a job are aligned alike");
    }
    Some(first)
}

fn mix(size: &BlockSize, any_size: bool) -> SizeMix {
    match size {
        BlockSize::Fixed(bytes) => SizeMix::One(bytes.0),
        BlockSize::Range { least, most } => SizeMix::Range {
            min_bytes: least.0,
            max_bytes: most.0,
            step_bytes: if any_size { 1 } else { least.0 },
        },
        BlockSize::Split(shares) => SizeMix::Split(
            shares
                .iter()
                .filter(|share| share.percent > 0)
                .map(|share| SizeShare {
                    bytes: share.size.0,
                    weight: u32::from(share.percent),
                })
                .collect(),
        ),
    }
}
