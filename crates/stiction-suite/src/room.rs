//! How much may be written without filling a filesystem or eating the memory.

use stiction_core::{Environment, Filesystem};
use stiction_host::Reserve;

/// What of a filesystem is never written to, unless it `may_fill`.
#[must_use]
pub(crate) fn reserve(may_fill: bool) -> Reserve {
    if may_fill {
        Reserve::NONE
    } else {
        Reserve::default()
    }
}

/// Bytes that may be written before the filesystem is 95 % full, or to its last byte
/// when it `may_fill`.
///
/// For planning, from what was observed at the start. Blocks kept back for root count
/// as used, so this is never more than the host admits when the trial comes. Where the
/// filesystem gives no figures, as some in user space do, only a write can tell.
#[must_use]
pub fn room_bytes(filesystem: &Filesystem, may_fill: bool) -> u64 {
    if filesystem.size_bytes == 0 {
        return u64::MAX;
    }
    if may_fill {
        return filesystem.available_bytes;
    }
    let kept =
        u128::from(filesystem.size_bytes) * u128::from(100 - Reserve::FULL_PERCENT_MAX) / 100;
    filesystem.available_bytes.saturating_sub(kept as u64)
}

/// Memory that the process may use, bytes: the machine's, or the control group's limit
/// when that is smaller; `None` when neither is known.
#[must_use]
pub fn memory_bytes(environment: &Environment) -> Option<u64> {
    let machine = environment
        .memory
        .as_ref()
        .map(|memory| memory.total_bytes)
        .filter(|&bytes| bytes > 0);
    match (machine, environment.limits.memory_bytes) {
        (Some(machine), Some(limit)) => Some(machine.min(limit)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reserve_is_a_share_of_the_size() {
        let filesystem = |size_bytes, available_bytes| Filesystem {
            size_bytes,
            available_bytes,
            ..Filesystem::default()
        };
        assert_eq!(room_bytes(&filesystem(1000, 1000), false), 950);
        assert_eq!(room_bytes(&filesystem(1000, 300), false), 250);
        assert_eq!(room_bytes(&filesystem(1000, 40), false), 0);
        assert_eq!(room_bytes(&filesystem(1000, 40), true), 40);
        assert_eq!(room_bytes(&filesystem(0, 0), false), u64::MAX);
        let huge = room_bytes(&filesystem(u64::MAX, u64::MAX), false);
        assert_eq!(huge, u64::MAX - u64::MAX / 20, "no overflow");
    }

    #[test]
    fn the_smaller_limit_counts() {
        let mut environment = Environment::default();
        assert_eq!(memory_bytes(&environment), None);
        environment.limits.memory_bytes = Some(5);
        assert_eq!(memory_bytes(&environment), Some(5));
        environment.memory = Some(stiction_core::Memory {
            total_bytes: 3,
            ..Default::default()
        });
        assert_eq!(memory_bytes(&environment), Some(3));
    }
}
