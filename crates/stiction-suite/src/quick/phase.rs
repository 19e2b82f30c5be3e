//! The seven things that quick measures.

/// A phase of quick, in the order in which they run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuickPhase {
    /// Lays the file down with large blocks.
    SequentialWrite,
    /// Reads it with large blocks.
    SequentialRead,
    /// Reads small blocks, one at a time.
    RandomReadDepth1,
    /// Reads small blocks, many at a time.
    RandomReadDeep,
    /// Overwrites small blocks, one at a time.
    RandomWriteDepth1,
    /// Overwrites small blocks, many at a time.
    RandomWriteDeep,
    /// Writes a small block and makes it durable, again and again.
    Commit,
}

impl QuickPhase {
    pub(super) const ALL: [Self; 7] = [
        Self::SequentialWrite,
        Self::SequentialRead,
        Self::RandomReadDepth1,
        Self::RandomReadDeep,
        Self::RandomWriteDepth1,
        Self::RandomWriteDeep,
        Self::Commit,
    ];

    /// The stable name that phases carry in records.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SequentialWrite => "sequential_write",
            Self::SequentialRead => "sequential_read",
            Self::RandomReadDepth1 => "random_read_depth_1",
            Self::RandomReadDeep => "random_read_deep",
            Self::RandomWriteDepth1 => "random_write_depth_1",
            Self::RandomWriteDeep => "random_write_deep",
            Self::Commit => "commit",
        }
    }

    /// Share of the time. Laying the file down gets most, as all others work on it;
    /// a commit's tail needs many commits.
    pub(super) fn weight(self) -> u64 {
        match self {
            Self::SequentialWrite => 10,
            Self::Commit => 8,
            _ => 6,
        }
    }

    pub(super) fn reads(self) -> bool {
        matches!(
            self,
            Self::SequentialRead | Self::RandomReadDepth1 | Self::RandomReadDeep
        )
    }

    pub(super) fn sequential(self) -> bool {
        matches!(self, Self::SequentialWrite | Self::SequentialRead)
    }

    pub(super) fn deep(self) -> bool {
        matches!(self, Self::RandomReadDeep | Self::RandomWriteDeep)
    }
}
