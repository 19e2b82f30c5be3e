//! A block that is not what had been written, and in which way.

use std::fmt;
use std::path::PathBuf;

/// In which way a block is not what had been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MismatchKind {
    /// There is no stamp: nothing was written there, or something else was.
    Unstamped {
        /// Whether the whole block is zeros.
        zeros: bool,
    },
    /// Zeros where a write must be: it is lost, or never reached the disk.
    Lost {
        /// Number of the write that must be there, or a later one.
        expected_generation: u32,
    },
    /// A good block that belongs elsewhere.
    Misplaced {
        /// Where it belongs, bytes from the start of its target.
        belongs_at_bytes: u64,
    },
    /// A good block that belongs there and was overwritten since: the later
    /// write is lost.
    Stale {
        /// Number of the write whose data is there.
        found_generation: u32,
        /// Number of the write that must be there, or a later one.
        expected_generation: u32,
    },
    /// A good block of a write that was not begun as far as is known: the ledger is
    /// older than the file.
    Ahead {
        /// Number of the write whose data is there.
        found_generation: u32,
        /// Number of the last write that was begun.
        begun_generation: u32,
    },
    /// A good block that another job wrote, with another seed or block size.
    Foreign,
    /// Parts of two writes.
    Torn {
        /// First byte of the block, at a multiple of 512, that is not of the
        /// write that the block's first bytes are of.
        from_byte: u64,
    },
    /// Single bits differ.
    Flipped {
        /// First byte that differs.
        first_byte: u64,
        /// How many bits differ.
        bits: u64,
    },
    /// A stamp that is right with data that is not, beyond single bits.
    Garbled {
        /// First byte that differs.
        first_byte: u64,
        /// How many bytes differ.
        bytes: u64,
    },
}

/// A block that is not what had been written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Which file or device.
    pub path: PathBuf,
    /// Where the block lies, bytes.
    pub offset_bytes: u64,
    /// In which way it is wrong.
    pub kind: MismatchKind,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "block at offset {} of {} ",
            self.offset_bytes,
            self.path.display()
        )?;
        match self.kind {
            MismatchKind::Unstamped { zeros: true } => f.write_str("is all zeros: never written"),
            MismatchKind::Unstamped { zeros: false } => {
                f.write_str("has no stamp: something else is there")
            }
            MismatchKind::Lost {
                expected_generation,
            } => write!(f, "is all zeros: write {expected_generation} is lost"),
            MismatchKind::Misplaced { belongs_at_bytes } => {
                write!(f, "is misplaced: it belongs at offset {belongs_at_bytes}")
            }
            MismatchKind::Stale {
                found_generation,
                expected_generation,
            } => write!(
                f,
                "is stale: it is of write {found_generation}, and write {expected_generation} is lost"
            ),
            MismatchKind::Ahead {
                found_generation,
                begun_generation,
            } => write!(
                f,
                "is of write {found_generation}, and only {begun_generation} were begun: the \
                 ledger is older than the file"
            ),
            MismatchKind::Foreign => {
                f.write_str("was written by another job, with another seed or block size")
            }
            MismatchKind::Torn { from_byte } => {
                write!(
                    f,
                    "is torn: from byte {from_byte} on it is of another write"
                )
            }
            MismatchKind::Flipped { first_byte, bits } => {
                write!(f, "has {bits} flipped bits, the first in byte {first_byte}")
            }
            MismatchKind::Garbled { first_byte, bytes } => {
                write!(f, "has {bytes} wrong bytes, the first is byte {first_byte}")
            }
        }
    }
}
