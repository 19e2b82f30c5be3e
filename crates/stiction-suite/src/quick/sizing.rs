//! How large quick's file is.

use stiction_core::{Environment, SkipCode, SkipReason, format_bytes};

use crate::room::{memory_bytes, room_bytes};

const MIB: u64 = 1 << 20;
/// Largest file that is chosen without being asked for. It bounds what a run writes to
/// a fast device, and takes a disk of 400 MB/s the ten seconds that there are for it.
const FILE_BYTES_MAX: u64 = 4096 * MIB;
/// Smallest file that says anything: 64 blocks of 4 KiB.
const FILE_BYTES_MIN: u64 = 256 << 10;
/// Bytes of a sequential operation where the file is large enough for many of them.
const SEQUENTIAL_BLOCK_BYTES_MAX: u64 = MIB;
/// Sequential operations that a file should hold.
const SEQUENTIAL_BLOCKS_MIN: u64 = 32;

/// Size of the file and of a sequential operation on it, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizing {
    pub(super) file_bytes: u64,
    pub(super) sequential_block_bytes: u64,
}

/// Chooses the file's size for the first target, or takes the one asked for.
///
/// Half of the room at most, so that other users of the filesystem are left some; an
/// eighth of the memory at most where files live in memory; no more than the largest
/// file that the process may write.
pub(super) fn choose(
    asked_bytes: Option<u64>,
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
        FILE_BYTES_MAX
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
        let sizing = choose(None, &machine("ext4", 1 << 40, 1 << 40), false).unwrap();
        assert_eq!(
            (sizing.file_bytes, sizing.sequential_block_bytes),
            (4 << 30, MIB)
        );
        let sizing = choose(None, &machine("tmpfs", 12 << 30, 12 << 30), false).unwrap();
        assert_eq!(sizing.file_bytes, 2 << 30);
    }

    /// 4 MiB free of 4 MiB: 95 % is 3.8 MiB, half of it 1.9, and 32 blocks of that are
    /// 32 KiB each.
    #[test]
    fn a_tiny_filesystem_gets_a_tiny_file_of_small_blocks() {
        let sizing = choose(None, &machine("ext2", 4 * MIB, 4 * MIB), false).unwrap();
        assert_eq!(sizing.sequential_block_bytes, 32 << 10);
        assert_eq!(sizing.file_bytes, 60 * (32 << 10));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_reason() {
        let machine = machine("ext4", 100 * MIB, 50 * MIB);
        let code = |asked| choose(asked, &machine, false).unwrap_err().code;
        assert_eq!(code(Some(46 * MIB)), SkipCode::NoSpace);
        assert_eq!(code(Some(0)), SkipCode::NoSpace);
        assert_eq!(code(Some(2 << 40)), SkipCode::NoSpace);
        assert!(choose(Some(45 * MIB), &machine, false).is_ok());
        let mut limited = machine.clone();
        limited.limits.file_size_bytes = Some(MIB);
        assert_eq!(choose(None, &limited, false).unwrap().file_bytes, MIB);
        let code = |asked| choose(asked, &limited, false).unwrap_err().code;
        assert_eq!(code(Some(2 * MIB)), SkipCode::LimitTooLow);
        limited.limits.file_size_bytes = Some(1000);
        let reason = choose(None, &limited, false).unwrap_err();
        assert_eq!(reason.code, SkipCode::NoSpace);
    }

    #[test]
    fn blocks_stay_between_a_page_and_a_mebibyte() {
        assert_eq!(block_for(256 << 10), 8192);
        assert_eq!(block_for(1), 4096);
        assert_eq!(block_for(u64::MAX), MIB);
    }
}
