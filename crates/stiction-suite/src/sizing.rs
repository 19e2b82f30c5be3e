//! How large the file is that a benchmark works in, and how workers share it.

use stiction_core::{Environment, Region, SkipCode, SkipReason, format_bytes};

use crate::room::{memory_bytes, room_bytes};

const MIB: u64 = 1 << 20;
/// Smallest file that says anything: 64 blocks of 4 KiB.
const FILE_BYTES_MIN: u64 = 256 << 10;
/// Bytes of a sequential operation where the file is large enough for many of them.
const SEQUENTIAL_BLOCK_BYTES_MAX: u64 = MIB;
/// Sequential operations that a file should hold.
const SEQUENTIAL_BLOCKS_MIN: u64 = 32;

/// Size of the file and of a sequential operation on it, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizing {
    pub(crate) file_bytes: u64,
    pub(crate) sequential_block_bytes: u64,
}

/// Chooses the file's size for the first target, `at_most_bytes` of it, or takes the one
/// asked for.
///
/// Half of the room at most, so that other users of the filesystem are left some; an
/// eighth of the memory at most where files live in memory; no more than the largest
/// file that the process may write.
pub(crate) fn choose(
    asked_bytes: Option<u64>,
    at_most_bytes: u64,
    environment: &Environment,
    may_fill: bool,
) -> Result<Sizing, SkipReason> {
    let filesystem = environment
        .targets
        .first()
        .and_then(|target| target.filesystem.as_ref());
    let room = filesystem.map_or(u64::MAX, |filesystem| room_bytes(filesystem, may_fill));
    let file_limit = environment.limits.file_size_bytes.unwrap_or(u64::MAX);
    let wanted = asked_bytes.unwrap_or_else(|| {
        let memory_share = match (filesystem, memory_bytes(environment)) {
            (Some(filesystem), Some(memory)) if filesystem.lives_in_memory() => memory / 8,
            _ => u64::MAX,
        };
        at_most_bytes
            .min(room / 2)
            .min(memory_share)
            .min(file_limit)
    });
    if wanted > room {
        return Err(SkipReason::new(
            SkipCode::NoSpace,
            format!(
                "{} do not fit: {} may be written here before the filesystem is too full; \
                 free some space or ask for a smaller size",
                format_bytes(wanted),
                format_bytes(room)
            ),
        ));
    }
    if wanted < FILE_BYTES_MIN {
        return Err(too_small(asked_bytes, wanted));
    }
    if wanted > file_limit {
        return Err(SkipReason::new(
            SkipCode::LimitTooLow,
            format!(
                "{} are more than the largest file that this process may write, {}; \
                 raise the limit (ulimit -f) or ask for a smaller size",
                format_bytes(wanted),
                format_bytes(file_limit)
            ),
        ));
    }
    let block = block_for(wanted);
    Ok(Sizing {
        file_bytes: wanted / block * block,
        sequential_block_bytes: block,
    })
}

fn too_small(asked_bytes: Option<u64>, wanted: u64) -> SkipReason {
    let smallest = format_bytes(FILE_BYTES_MIN);
    let detail = match asked_bytes {
        Some(asked) => format!(
            "{} is too small a file to measure; ask for {smallest} or more",
            format_bytes(asked)
        ),
        None => format!(
            "only {} may be used here, and a file of less than {smallest} measures nothing; \
             free some space or raise the limit of the file size (ulimit -f)",
            format_bytes(wanted)
        ),
    };
    SkipReason::new(SkipCode::NoSpace, detail)
}

/// The largest power of two, 4 KiB to 1 MiB, of which the file holds enough.
fn block_for(file_bytes: u64) -> u64 {
    let most = file_bytes / SEQUENTIAL_BLOCKS_MIN;
    let power = 1 << most.max(1).ilog2();
    SEQUENTIAL_BLOCK_BYTES_MAX.min(power).max(4096)
}

/// The first `bytes` of the file in `parts` equal regions of whole blocks, or fewer
/// when there are fewer blocks than parts.
pub(crate) fn split(bytes: u64, block_size_bytes: u64, parts: u32) -> Vec<Region> {
    let blocks = bytes / block_size_bytes.max(1);
    let parts = u64::from(parts).min(blocks).max(1);
    let length_bytes = blocks / parts * block_size_bytes;
    (0..parts)
        .map(|part| Region {
            target: 0,
            offset_bytes: part * length_bytes,
            length_bytes,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Filesystem, Memory, TargetStack};

    fn machine(kind: &str, size_bytes: u64, available_bytes: u64) -> Environment {
        Environment {
            memory: Some(Memory {
                total_bytes: 16 << 30,
                ..Memory::default()
            }),
            targets: vec![TargetStack {
                path: ".".to_owned(),
                filesystem: Some(Filesystem {
                    kind: kind.to_owned(),
                    size_bytes,
                    available_bytes,
                    ..Filesystem::default()
                }),
                layers: Vec::new(),
                missing: Vec::new(),
            }],
            ..Environment::default()
        }
    }

    #[test]
    fn a_large_disk_gets_the_largest_file_and_memory_an_eighth() {
        let sizing = choose(None, 4096 * MIB, &machine("ext4", 1 << 40, 1 << 40), false).unwrap();
        assert_eq!(
            (sizing.file_bytes, sizing.sequential_block_bytes),
            (4 << 30, MIB)
        );
        let sizing = choose(
            None,
            4096 * MIB,
            &machine("tmpfs", 12 << 30, 12 << 30),
            false,
        )
        .unwrap();
        assert_eq!(sizing.file_bytes, 2 << 30);
    }

    /// 4 MiB free of 4 MiB: 95 % is 3.8 MiB, half of it 1.9, and 32 blocks of that are
    /// 32 KiB each.
    #[test]
    fn a_tiny_filesystem_gets_a_tiny_file_of_small_blocks() {
        let sizing = choose(None, 4096 * MIB, &machine("ext2", 4 * MIB, 4 * MIB), false).unwrap();
        assert_eq!(sizing.sequential_block_bytes, 32 << 10);
        assert_eq!(sizing.file_bytes, 60 * (32 << 10));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_reason() {
        let machine = machine("ext4", 100 * MIB, 50 * MIB);
        let code = |asked| choose(asked, 4096 * MIB, &machine, false).unwrap_err().code;
        assert_eq!(code(Some(46 * MIB)), SkipCode::NoSpace);
        assert_eq!(code(Some(0)), SkipCode::NoSpace);
        assert_eq!(code(Some(2 << 40)), SkipCode::NoSpace);
        assert!(choose(Some(45 * MIB), 4096 * MIB, &machine, false).is_ok());
        let mut limited = machine.clone();
        limited.limits.file_size_bytes = Some(MIB);
        assert_eq!(
            choose(None, 4096 * MIB, &limited, false)
                .unwrap()
                .file_bytes,
            MIB
        );
        let code = |asked| choose(asked, 4096 * MIB, &limited, false).unwrap_err().code;
        assert_eq!(code(Some(2 * MIB)), SkipCode::LimitTooLow);
        limited.limits.file_size_bytes = Some(1000);
        let reason = choose(None, 4096 * MIB, &limited, false).unwrap_err();
        assert_eq!(reason.code, SkipCode::NoSpace);
    }

    #[test]
    fn blocks_stay_between_a_page_and_a_mebibyte() {
        assert_eq!(block_for(256 << 10), 8192);
        assert_eq!(block_for(1), 4096);
        assert_eq!(block_for(u64::MAX), MIB);
    }

    #[test]
    fn a_small_file_has_fewer_parts() {
        assert_eq!(split(3 * 4096 + 5, 4096, 32).len(), 3);
        let parts = split(65 * 4096, 4096, 32);
        assert_eq!((parts.len(), parts[1].offset_bytes), (32, 2 * 4096));
    }
}
