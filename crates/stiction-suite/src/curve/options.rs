//! What a curve can be asked for, and what its plan says.

use serde::{Deserialize, Serialize};
use stiction_core::{Access, Action, Arrivals, Bound, LatencyLimit, Timing};

use crate::EngineWanted;

/// Everything that can be asked of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct CurveOptions {
    /// Order of offsets.
    pub access: Access,
    /// Read, write, or some of each.
    pub action: Action,
    /// Bytes of an operation, 512 or more.
    pub block_size_bytes: u64,
    /// The bound on latency, if there is one.
    pub limit: Option<LatencyLimit>,
    /// Whether it is to be short where nothing else is asked for: to see how it goes.
    pub quick: bool,
    /// Rates of the sweep, 2 to 100; 8, or 4 of a quick one, when not given.
    pub points: Option<u32>,
    /// Time for each rate, seconds, 1 to 3600; 5, or 1 of a quick one, when not given.
    pub seconds: Option<u32>,
    /// Most operations in flight, 1 to 4096.
    pub depth_max: u32,
    /// How the moments are spread at which operations are to begin.
    pub arrivals: Arrivals,
    /// How operations reach the kernel.
    pub engine: EngineWanted,
    /// How often all of it is done, 1 or more.
    pub runs: u32,
    /// Size of the file, bytes; chosen when not given.
    pub size_bytes: Option<u64>,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

impl CurveOptions {
    /// Rates of the sweep.
    pub(super) fn points(&self) -> u32 {
        self.points.unwrap_or(if self.quick { 4 } else { 8 })
    }

    /// Time for each rate, seconds.
    pub(super) fn seconds(&self) -> u32 {
        self.seconds.unwrap_or(if self.quick { 1 } else { 5 })
    }

    /// Largest file that is chosen without being asked for, bytes: enough that no drive's
    /// own memory holds much of it, and laid down within seconds by most; for a quick one
    /// less.
    pub(super) fn file_bytes_max(&self) -> u64 {
        if self.quick { 256 << 20 } else { 1 << 30 }
    }
}

impl Default for CurveOptions {
    fn default() -> Self {
        Self {
            access: Access::RandomPermutation,
            action: Action::Read,
            block_size_bytes: 4096,
            limit: None,
            quick: false,
            points: None,
            seconds: None,
            depth_max: 64,
            arrivals: Arrivals::Poisson,
            engine: EngineWanted::Auto,
            runs: 1,
            size_bytes: None,
            may_fill: false,
        }
    }
}

/// All that a curve needs to run a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurveParameters {
    /// Order of offsets.
    pub access: Access,
    /// Read, write, or some of each.
    pub action: Action,
    /// Bytes of an operation.
    pub block_size_bytes: u64,
    /// What a rate has to keep to count as held.
    pub bound: Bound,
    /// Rates of the sweep.
    pub points: u32,
    /// Most rates that are tried between the last one that held and the first that
    /// did not.
    pub bisections: u32,
    /// Time for each rate, ns; more where a low rate needs it for its percentile.
    pub point_ns: u64,
    /// How much of that is warm-up, ns.
    pub ramp_ns: u64,
    /// Most operations in flight.
    pub depth_max: u32,
    /// How the moments are spread at which operations are to begin.
    pub arrivals: Arrivals,
    /// How operations reach the kernel.
    pub engine: EngineWanted,
    /// Size of the file, bytes: whole sequential blocks.
    pub file_size_bytes: u64,
    /// Bytes of an operation while the file is laid down.
    pub lay_down_block_size_bytes: u64,
    /// Time for laying it down, ns; what is there by then is used.
    pub lay_down_ns: u64,
    /// Length of the intervals in which operations are recorded, ns.
    pub interval_ns: u64,
    /// How often the clock is read.
    pub timing: Timing,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}
