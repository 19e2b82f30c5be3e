//! The rows of the table: what is done, by whom, and what is to come out.

/// Where the operations of a row go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Nowhere.
    Nothing,
    /// A file of 8 MiB in the page cache.
    SmallCached,
    /// A file of 256 MiB in the page cache.
    LargeCached,
    /// A file of 64 MiB that is written again and again.
    Written,
    /// A file of 256 MiB past the page cache.
    Disk,
    /// A loop device over a file in memory.
    Loop,
    /// A compressed memory device that nothing was written to.
    Zram,
}

/// How operations reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    None,
    /// `pread` and `pwrite`.
    Sync,
    /// io_uring.
    Ring,
}

/// What is done in a row, whoever does it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) place: Place,
    pub(crate) call: Call,
    pub(crate) block_bytes: u32,
    pub(crate) depth: u32,
    pub(crate) sequential: bool,
    pub(crate) write: bool,
}

impl Load {
    /// Whether the page cache is passed by.
    pub(crate) fn is_direct(&self) -> bool {
        matches!(self.place, Place::Disk | Place::Loop | Place::Zram)
    }
}

/// Who does it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contender {
    /// A loop of system calls without any clock or statistics.
    Bare,
    Stiction,
    /// fio as it comes.
    Fio,
    /// fio without its map of blocks done, and with batches and everything registered
    /// where there is a ring.
    FioTuned,
    /// The same without latencies.
    FioReduced,
    /// The measuring tool in fio's sources, with its latency statistics on.
    RingTool,
}

impl Contender {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bare => "bare loop",
            Self::Stiction => "stiction",
            Self::Fio => "fio",
            Self::FioTuned => "fio, tuned",
            Self::FioReduced => "fio, tuned, gtod_reduce",
            Self::RingTool => "t/io_uring",
        }
    }
}

/// What is to come out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Goal {
    /// CPU time of stiction, ns an operation.
    AtMostNs(f64),
    /// CPU time of stiction above that of the bare loop, percent of that.
    WithinPercentOfBare(f64),
    /// CPU time of another, in times stiction's.
    OtherAtLeast(Contender, f64),
    /// Operations a second of stiction beside the best of fio's.
    AsManyAsFio,
}

/// One row.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    pub(crate) load: Load,
    pub(crate) contenders: &'static [Contender],
    pub(crate) goals: &'static [Goal],
}

const SMALL: u32 = 4096;
const LARGE: u32 = 128 << 10;

const fn reads(place: Place, call: Call, depth: u32) -> Load {
    Load {
        place,
        call,
        block_bytes: SMALL,
        depth,
        sequential: false,
        write: false,
    }
}

const fn in_order(place: Place, call: Call, depth: u32, write: bool) -> Load {
    Load {
        place,
        call,
        block_bytes: LARGE,
        depth,
        sequential: true,
        write,
    }
}

use Contender::{Bare, Fio, FioReduced, FioTuned, RingTool, Stiction};
use Goal::{AsManyAsFio, AtMostNs, OtherAtLeast, WithinPercentOfBare};

const DIRECT: &[Contender] = &[Bare, Stiction, Fio, FioTuned];
const DIRECT_GOALS: &[Goal] = &[AsManyAsFio, WithinPercentOfBare(5.0)];

/// All of them.
#[rustfmt::skip]
pub(crate) const ROWS: &[Row] = &[
    Row {
        name: "null",
        title: "own cost, one operation at a time, no I/O",
        load: reads(Place::Nothing, Call::None, 1),
        contenders: &[Bare, Stiction, Fio, FioTuned, FioReduced],
        goals: &[AtMostNs(20.0)],
    },
    Row {
        name: "null-32",
        title: "own cost, 32 in flight, no I/O",
        load: reads(Place::Nothing, Call::None, 32),
        contenders: &[Stiction, Fio, FioTuned, FioReduced],
        goals: &[AtMostNs(10.0)],
    },
    Row {
        name: "cached",
        title: "4 KiB random pread of 8 MiB in the page cache",
        load: reads(Place::SmallCached, Call::Sync, 1),
        contenders: &[Bare, Stiction, Fio, FioTuned, FioReduced],
        goals: &[WithinPercentOfBare(5.0), OtherAtLeast(Fio, 1.9)],
    },
    Row {
        name: "cached-ring-32",
        title: "4 KiB random reads by io_uring, 32 in flight, 8 MiB in the page cache",
        load: reads(Place::SmallCached, Call::Ring, 32),
        contenders: &[Bare, Stiction, Fio, FioTuned, FioReduced, RingTool],
        goals: &[
            WithinPercentOfBare(5.0),
            OtherAtLeast(RingTool, 1.0),
            OtherAtLeast(Fio, 2.5),
            OtherAtLeast(FioTuned, 1.55),
        ],
    },
    Row {
        name: "cached-ring-1",
        title: "4 KiB random reads by io_uring, 1 in flight, 8 MiB in the page cache",
        load: reads(Place::SmallCached, Call::Ring, 1),
        contenders: &[Bare, Stiction, Fio, FioTuned, RingTool],
        goals: &[WithinPercentOfBare(5.0)],
    },
    Row {
        name: "sequential",
        title: "128 KiB sequential pread of 256 MiB in the page cache",
        load: in_order(Place::LargeCached, Call::Sync, 1, false),
        contenders: &[Bare, Stiction, Fio],
        goals: &[WithinPercentOfBare(1.0)],
    },
    Row {
        name: "sequential-ring-32",
        title: "128 KiB sequential reads by io_uring, 32 in flight, 256 MiB in the page cache",
        load: in_order(Place::LargeCached, Call::Ring, 32, false),
        contenders: &[Bare, Stiction, Fio, FioTuned],
        goals: &[WithinPercentOfBare(1.0)],
    },
    Row {
        name: "write",
        title: "128 KiB sequential pwrite over 64 MiB in the page cache",
        load: in_order(Place::Written, Call::Sync, 1, true),
        contenders: &[Bare, Stiction, Fio],
        goals: &[WithinPercentOfBare(5.0), AsManyAsFio],
    },
    Row {
        name: "zram-1",
        title: "4 KiB random pread past the page cache, empty zram",
        load: reads(Place::Zram, Call::Sync, 1),
        contenders: DIRECT,
        goals: DIRECT_GOALS,
    },
    Row {
        name: "zram-4",
        title: "4 KiB random reads by io_uring past the page cache, 4 in flight, empty zram",
        load: reads(Place::Zram, Call::Ring, 4),
        contenders: DIRECT,
        goals: DIRECT_GOALS,
    },
    Row {
        name: "zram-32",
        title: "the same with 32 in flight",
        load: reads(Place::Zram, Call::Ring, 32),
        contenders: DIRECT,
        goals: DIRECT_GOALS,
    },
    Row {
        name: "loop-1",
        title: "4 KiB random pread past the page cache, loop device over tmpfs",
        load: reads(Place::Loop, Call::Sync, 1),
        contenders: DIRECT,
        goals: DIRECT_GOALS,
    },
    Row {
        name: "loop-4",
        title: "4 KiB random reads by io_uring past the page cache, 4 in flight, loop over tmpfs",
        load: reads(Place::Loop, Call::Ring, 4),
        contenders: DIRECT,
        goals: DIRECT_GOALS,
    },
    Row {
        name: "loop-32",
        title: "the same with 32 in flight",
        load: reads(Place::Loop, Call::Ring, 32),
        contenders: DIRECT,
        goals: DIRECT_GOALS,
    },
    Row {
        name: "disk-1",
        title: "4 KiB random pread past the page cache, file of 256 MiB on disk",
        load: reads(Place::Disk, Call::Sync, 1),
        contenders: DIRECT,
        goals: DIRECT_GOALS,
    },
    Row {
        name: "disk-4",
        title: "4 KiB random reads by io_uring past the page cache, 4 in flight, 256 MiB on disk",
        load: reads(Place::Disk, Call::Ring, 4),
        contenders: DIRECT,
        goals: DIRECT_GOALS,
    },
    Row {
        name: "disk-32",
        title: "the same with 32 in flight",
        load: reads(Place::Disk, Call::Ring, 32),
        contenders: DIRECT,
        goals: DIRECT_GOALS,
    },
];
