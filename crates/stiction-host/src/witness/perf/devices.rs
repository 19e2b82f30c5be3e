//! Which devices under a phase are followed.

use stiction_core::{Layer, TargetStack, TraceSource};

use super::requests::Traced;
use crate::Roots;
use crate::stack::{number_of_name, whole_disk};

/// Every block device under the targets, down to the disks under the files of loop
/// devices, once each. Of a partition it is the disk: requests are the disk's.
pub(super) fn under(roots: &Roots, stacks: &[TargetStack]) -> Vec<Traced> {
    let mut found = Vec::new();
    stacks
        .iter()
        .for_each(|stack| add(roots, stack, &mut found));
    found
}

fn add(roots: &Roots, stack: &TargetStack, found: &mut Vec<Traced>) {
    for layer in &stack.layers {
        let (name, number) = disk(roots, layer);
        if found.iter().all(|known| known.number != number) {
            // Only a device with queues of its own has requests.
            let has_requests = roots.has(format!("/sys/class/block/{name}/mq"));
            found.push(Traced {
                source: match has_requests {
                    true => TraceSource::Requests,
                    false => TraceSource::Bios,
                },
                name,
                number,
            });
        }
        if let Some(backing) = &layer.backing {
            add(roots, backing, found);
        }
    }
}

fn disk(roots: &Roots, layer: &Layer) -> (String, (u32, u32)) {
    let whole = whole_disk(roots, &layer.name);
    let whole = whole.and_then(|name| Some((number_of_name(roots, &name)?, name)));
    match whole {
        Some((number, name)) => (name, number),
        None => (layer.name.clone(), layer.device_number),
    }
}
