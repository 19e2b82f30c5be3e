//! A job with every choice made, in types that say their units.
//!
//! The text of these types, as [`super::to_toml`] writes it, is stiction's own form
//! of a job: what is at its usual setting there is left out.

mod calls;
mod course;
mod direction;
mod files;
mod plain;
mod report;
mod work;

use serde::{Deserialize, Serialize};

pub use calls::{Engine, Placement, Switches, WriteSync};
pub use course::{
    Arrivals, Chance, Coverage, Distribution, EndEnds, Errors, GoOnAfter, Latency, Phase, Rate,
    Steady, SteadyOf, Think, Zone,
};
pub use direction::PerDirection;
pub use files::{
    Advice, Cache, Check, Durability, FileOrder, Fill, Layout, Payload, RangeSync, Reserve, Verify,
};
use plain::{data, usual};
pub use report::{Directions, Replay, Report, Series, WindowValue};
pub use work::{
    Action, Block, BlockSize, Depth, Extent, Order, Pattern, Sequencer, Share, Strides, Targets,
    Time,
};

use super::units::KbBase;

data! {
    /// One job section, resolved. All its clones are alike but for their number.
    #[serde(deny_unknown_fields)]
    pub struct FioJob {
        /// Name.
        pub name: String,
        /// What its author said about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub description: Option<String>,
        /// Workers that do the same, 1 or more (fio's `numjobs`).
        pub clones: u32,
        /// How I/O is submitted.
        pub engine: Engine,
        /// Whether files are opened with `O_DIRECT`.
        pub direct: bool,
        /// What each write waits for by the flags of its file.
        #[serde(default, skip_serializing_if = "usual")]
        pub write_sync: WriteSync,
        /// Order and direction.
        pub pattern: Pattern,
        /// Bytes moved by each operation.
        pub block: Block,
        /// Operations in flight for each clone, and batches.
        pub depth: Depth,
        /// Files and devices.
        pub targets: Targets,
        /// Region and amount for each clone.
        pub extent: Extent,
        /// Time.
        #[serde(default, skip_serializing_if = "usual")]
        pub time: Time,
        /// When it starts and what its end ends.
        #[serde(default, skip_serializing_if = "usual")]
        pub phase: Phase,
        /// Chance.
        pub chance: Chance,
        /// Switches of the engine.
        #[serde(default, skip_serializing_if = "usual")]
        pub switches: Switches,
        /// CPUs and priorities.
        #[serde(default, skip_serializing_if = "usual")]
        pub placement: Placement,
        /// What is asked of rates.
        #[serde(default, skip_serializing_if = "usual")]
        pub rate: Rate,
        /// Pauses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub think: Option<Think>,
        /// Syncs.
        #[serde(default, skip_serializing_if = "usual")]
        pub durability: Durability,
        /// Checking.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub verify: Option<Verify>,
        /// The page cache.
        pub cache: Cache,
        /// How files come to be.
        pub layout: Layout,
        /// What is written.
        pub payload: Payload,
        /// What is reported together.
        #[serde(default, skip_serializing_if = "usual")]
        pub report: Report,
        /// Logs.
        #[serde(default, skip_serializing_if = "usual")]
        pub series: Series,
        /// What happens after an error.
        #[serde(default, skip_serializing_if = "usual")]
        pub errors: Errors,
        /// When it is steady.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub steady: Option<Steady>,
        /// Limits of latency.
        #[serde(default, skip_serializing_if = "usual")]
        pub latency: Latency,
        /// Traces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub replay: Option<Replay>,
        /// What `k` meant in the file; sizes here are converted already.
        #[serde(default, skip_serializing_if = "usual")]
        pub kb_base: KbBase,
    }
}

impl FioJob {
    /// Operations of each clone that the kernel really has at a time: 1 for
    /// synchronous engines, and for libaio without `O_DIRECT`, whose submitting call
    /// does the I/O (fio's manual, `iodepth`).
    #[must_use]
    pub fn effective_depth(&self) -> u32 {
        let offloaded = self.depth.offload && self.engine.is_synchronous();
        let one_at_a_time =
            self.engine.is_synchronous() || (self.engine == Engine::Libaio && !self.direct);
        if one_at_a_time && !offloaded {
            1
        } else {
            self.depth.in_flight
        }
    }
}
