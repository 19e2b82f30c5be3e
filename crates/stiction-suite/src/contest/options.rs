//! What contest can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};

use super::build::BuildSize;
use super::loads::Load;

/// The job that is timed, as it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum JobWanted {
    /// The built-in build.
    #[default]
    Buildsim,
    /// Every file of the built-in build's tree, read once.
    SmallReads,
    /// Small appends to a file, each synced.
    FsyncAppend,
    /// A copy of a tree of the user's, the last place, made by `make`.
    Compile {
        /// A file to be `.config`, or a goal of make that makes one.
        config: Option<String>,
        /// What is made; the default goal when there is none.
        goal: Option<String>,
    },
    /// A command of the user's, for `sh -c`.
    Command(String),
}

/// The job that is timed, every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "job")]
pub enum TimedJob {
    /// The built-in build.
    Buildsim(BuildSize),
    /// Its files, read once.
    SmallReads(BuildSize),
    /// Small appends, each synced.
    FsyncAppend {
        /// Appends.
        #[serde(rename = "appends_count")]
        appends: u32,
        /// Bytes of one.
        append_bytes: u32,
    },
    /// A copy of a tree of the user's, made by `make`.
    Compile {
        /// A file to be `.config`, or a goal of make that makes one.
        config: Option<String>,
        /// What is made.
        goal: Option<String>,
    },
    /// A command of the user's, for `sh -c`.
    Command {
        /// The command.
        command: String,
    },
}

impl TimedJob {
    /// Its name for people.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Buildsim(_) => "buildsim",
            Self::SmallReads(_) => "smallreads",
            Self::FsyncAppend { .. } => "fsync-append",
            Self::Compile { .. } => "compile",
            Self::Command { .. } => "command",
        }
    }
}

/// What a load that writes one file fills it with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "fill")]
pub enum LoadData {
    /// Zeros, as contest did. Layers that compress or deduplicate cheat on them.
    #[default]
    Zeros,
    /// Random bytes, different in every block of 4 KiB.
    Random,
    /// The same with so many percent of each block zeros.
    Compressible {
        /// 0 to 100.
        percent: u8,
    },
}

impl LoadData {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_zeros(&self) -> bool {
        *self == Self::Zeros
    }
}

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`Contest`](crate::Contest) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContestOptions {
    /// Whether it is to be contest: no load is waited for, none is measured alone.
    pub classic: bool,
    /// The job.
    pub job: JobWanted,
    /// Loads, in order; empty for the usual ones.
    pub loads: Vec<Load>,
    /// What the loads take for the size of the memory, bytes.
    pub memory_bytes: Option<u64>,
    /// What the loads that write one file fill it with.
    pub load_data: LoadData,
    /// Bytes per second beyond which no load that moves bytes goes.
    pub load_rate_bytes_per_s: Option<u64>,
    /// Processes of the job at once; 4 for each CPU.
    pub slots: Option<u32>,
    /// Units of the built-in build; 64 for each CPU.
    pub units: Option<u32>,
    /// Rounds of hashing in each unit: what [`rounds_for`](super::rounds_for) found once
    /// on this machine.
    pub rounds: Option<u64>,
    /// Whether a unit of the built-in build has as many processes as one of a compiler,
    /// 24 and not 6.
    pub full_fidelity: bool,
    /// Processes of the ring; 4 for each CPU.
    pub processes: Option<u32>,
    /// Whether the second place is there for `io_other`.
    pub has_other: bool,
    /// For how long a load is measured alone, ns.
    pub alone_ns: Option<u64>,
    /// Repetitions.
    pub runs: Option<u32>,
    /// A small job and small loads, once: to see how it goes.
    pub quick: bool,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

/// The plan's side: every choice made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContestParameters {
    /// Whether it is contest as it was.
    pub classic: bool,
    /// The job.
    pub timed: TimedJob,
    /// Processes of the job at once.
    pub slots: u32,
    /// What the loads take for the size of the memory, bytes.
    pub memory_bytes: u64,
    /// Whether that is less than the machine's memory for want of space.
    pub memory_cut: bool,
    /// Memory that `mem_load` touches, bytes.
    pub touched_bytes: u64,
    /// Whether that is the pages of a file: there is a memory limit and no swap, and pages
    /// of a file can leave memory without it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pages_of_file: bool,
    /// Bytes that may be written and not yet written back before writers are slowed
    /// down; as far as settings tell.
    pub dirty_limit_bytes: u64,
    /// What the loads that write one file fill it with.
    #[serde(default, skip_serializing_if = "LoadData::is_zeros")]
    pub load_data: LoadData,
    /// Bytes per second beyond which no load that moves bytes goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_rate_bytes_per_s: Option<u64>,
    /// Processes of the ring.
    pub processes: u32,
    /// Clients of the load that is like dbench.
    pub clients: u32,
    /// Files of the tree that is listed.
    pub list_files: u32,
    /// For how long a load is measured alone, ns; 0 for not at all.
    pub alone_ns: u64,
    /// Whether the filesystem may be filled to its last byte.
    pub may_fill: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(flag: &bool) -> bool {
    !flag
}
