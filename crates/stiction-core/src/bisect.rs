//! The search for the commit that changed a benchmark: its question, and what happened.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Better;

/// Version of the form of [`BisectEvent`]. A reader refuses a higher one.
pub const BISECT_FORMAT_VERSION: u32 = 1;

/// What is built and measured: a commit, or a commit with another taken back.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// The tree of a commit, by its full id.
    Commit(String),
    /// The tree of `commit` with `reverted` taken back.
    Without {
        /// The commit that is built upon.
        commit: String,
        /// The commit that is reverted.
        reverted: String,
    },
}

/// Digits of a commit's id that tell it from others for a reader.
const SHORT_DIGITS: usize = 12;

impl fmt::Display for Version {
    /// `c0ffee123456`, or `c0ffee123456 without deadbeef1234`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |id: &str| id.get(..SHORT_DIGITS).unwrap_or(id).to_owned();
        match self {
            Self::Commit(id) => f.pad(&short(id)),
            Self::Without { commit, reverted } => {
                f.pad(&format!("{} without {}", short(commit), short(reverted)))
            }
        }
    }
}

/// One commit of a line of history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its full id.
    pub commit: String,
    /// Its parents' ids; a merge has several.
    pub parents: Vec<String>,
}

impl Link {
    /// Whether the commit joins lines of history.
    #[must_use]
    pub fn is_merge(&self) -> bool {
        self.parents.len() > 1
    }
}

/// Which change is sought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seek {
    /// The commit that made it worse.
    #[default]
    Worse,
    /// The commit that made it better.
    Better,
}

/// One metric that is searched for, with a verdict of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoughtMetric {
    /// Its name in the sessions.
    pub name: String,
    /// Which way is better.
    pub better: Better,
    /// The smallest change of interest, a share: 0.03 is 3 %.
    pub smallest_effect: f64,
}

/// What a search asks, complete: nothing in it depends on a default that a later
/// version could change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BisectQuestion {
    /// Version of the form.
    pub format_version: u32,
    /// The repository.
    pub tree: PathBuf,
    /// Where trees are built.
    pub work: PathBuf,
    /// The commit that is as it should be, by its full id.
    pub good: String,
    /// The commit that shows the change, by its full id.
    pub bad: String,
    /// The commits after `good` up to and with `bad`, by first parents, oldest first.
    pub chain: Vec<Link>,
    /// What builds a tree, run by a shell in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Whether what a build made is there for the next one; else each begins in a tree
    /// as it was checked out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keeps_build_files: bool,
    /// What is measured, run by a shell in a built tree.
    pub run: String,
    /// How the metrics are read from the output, as they were typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patterns: Vec<String>,
    /// The metrics, the deciding one first. Never empty.
    pub metrics: Vec<SoughtMetric>,
    /// Which change is sought.
    pub seek: Seek,
    /// Blocks for the comparison of the two ends.
    pub end_blocks: u32,
    /// Longest time that a build or a run may take, s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_s: Option<u64>,
}

/// Why a version has no numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Untestable {
    /// It does not build.
    Build,
    /// It builds, and the benchmark fails in it.
    Benchmark,
    /// The commit cannot be taken back from the other without a conflict.
    Revert,
}

/// One value of a metric on both sides of a block.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockValues {
    /// Of the reference, in the metric's unit.
    pub reference: f64,
    /// Of the candidate, in the metric's unit.
    pub candidate: f64,
}

/// Something that happened in a search, written down before the next thing is begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum BisectEvent {
    /// The first line.
    Begun(Box<BisectQuestion>),
    /// The comparison of the ends is to have more blocks than the question says.
    Extended {
        /// Blocks in all.
        end_blocks: u32,
    },
    /// A version was built.
    Built {
        /// Which.
        version: Version,
        /// How long it took, s.
        seconds: f64,
    },
    /// A version has no numbers, and will not be tried again.
    Untestable {
        /// Which.
        version: Version,
        /// At which step it failed.
        step: Untestable,
        /// What was said, in a line or a few.
        message: String,
    },
    /// One run of each of two versions, in random order.
    Block {
        /// What the candidate is measured against.
        reference: Version,
        /// What is judged.
        candidate: Version,
        /// One for each metric of the question, in its order.
        values: Vec<BlockValues>,
        /// The session that holds the runs.
        session: String,
        /// How long both took, s.
        seconds: f64,
    },
    /// The lines of history that a merge joined to the first parent's.
    Opened {
        /// The merge.
        merge: String,
        /// For each joined line its commits, oldest first, and the merge last.
        lines: Vec<Vec<Link>>,
    },
}
