//! The benchmarks people know, each a program of phases over the engine.
//!
//! A [`Workload`] turns options into a plan and runs the plan's trials one by one.
//! Every number goes through [`measure`](fn@measure), the one place where a job of the engine
//! meets the witnesses of the host.

mod admission;
pub mod bonnie;
pub mod command;
pub mod conditions;
pub mod contest;
pub mod curve;
mod derive;
mod engine_choice;
mod error;
pub mod fio;
mod ground;
pub mod ioping;
pub mod ladder;
mod laid;
mod means;
mod measure;
mod measure_together;
pub mod metadata;
mod open_file;
mod order;
pub mod pagecache;
pub mod parallel;
mod passes;
mod perform;
mod preparation;
mod program;
pub mod quick;
mod requirements;
pub mod room;
mod shuffle;
mod sizing;
pub mod sync_methods;
pub mod time_read;
mod timed;
pub mod tiobench;
pub mod tree_move;
mod workload;
pub mod write_and_fsync;

pub use bonnie::{Bonnie, BonnieOptions};
pub use command::{MetricSource, TimedCommand, TimedCommandOptions};
pub use contest::{Contest, ContestOptions};
pub use curve::{Curve, CurveOptions};
pub use engine_choice::EngineWanted;
pub use error::{EventsError, SuiteError};
pub use fio::Fio;
pub use ground::Ground;
pub use ioping::{Ioping, IopingOptions};
pub use ladder::{Ladder, LadderOptions};
pub use measure::{Request, measure};
pub use measure_together::{Together, measure_together};
pub use metadata::{Metadata, MetadataOptions};
pub use pagecache::{Pagecache, PagecacheOptions};
pub use parallel::{Parallel, ParallelOptions};
pub use preparation::{CanaryRun, precondition, purge_device};
pub use program::CommandLine;
pub use quick::{Quick, QuickOptions};
pub use shuffle::shuffled;
pub use sync_methods::{SyncMethods, SyncMethodsOptions};
pub use time_read::{TimeRead, TimeReadOptions};
pub use tiobench::{Tiobench, TiobenchOptions};
pub use tree_move::{TreeMove, TreeMoveOptions};
pub use workload::{Context, Events, Place, SessionClock, TrialReport, Workload};
pub use write_and_fsync::{WriteAndFsync, WriteAndFsyncOptions};
