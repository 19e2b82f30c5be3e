//! A program of jobs: several streams of I/O, their places, their order, and what was
//! asked in the words of whoever wrote it down.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::omitted::is_default;
use crate::{Job, ProgramTrace};

/// Jobs that run in waves, each with its targets: what a job file comes to when every
/// choice in it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Where targets lie; [`ProgramTarget::place`] counts these.
    pub places: Vec<ProgramPlace>,
    /// The jobs, in the order in which they were written down.
    pub parts: Vec<ProgramPart>,
    /// Options that stood where all jobs take them on, by name, as given.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub global_options: BTreeMap<String, String>,
    /// Defaults that nobody chose and that shape the result, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defaults: Vec<ProgramDefault>,
    /// Options that were read and change nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub without_effect: Vec<OptionWithoutEffect>,
    /// What there was to say before it ran, in one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<String>,
    /// Whether filesystems may be filled to their last byte; else to 95 % of their size.
    #[serde(default, skip_serializing_if = "is_default")]
    pub may_fill: bool,
}

/// A place that targets of a program lie in, or are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ProgramPlace {
    /// A directory: files lie in a directory of their own inside, and are removed.
    Directory {
        /// Its path.
        path: String,
    },
    /// A file of the user's, which stays.
    File {
        /// Its path.
        path: String,
        /// Whether the user has said that it may be overwritten.
        may_write: bool,
    },
    /// A block device.
    Device {
        /// Its path.
        path: String,
        /// Whether any job changes it: then it must have been granted.
        may_write: bool,
    },
}

impl ProgramPlace {
    /// Whether anything is written there.
    #[must_use]
    pub fn is_written(&self) -> bool {
        match self {
            Self::Directory { .. } => true,
            Self::File { may_write, .. } | Self::Device { may_write, .. } => *may_write,
        }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::Directory { path } | Self::File { path, .. } | Self::Device { path, .. } => path,
        }
    }
}

/// What one target of a job is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramTarget {
    /// Which place, from 0.
    pub place: u32,
    /// The file in the directory that is made there; empty when the place itself is
    /// the target. Targets of the same place and name are one file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How long it is, or is going to be, bytes.
    pub length_bytes: u64,
}

/// One job of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramPart {
    /// Name of its phase: the job's, made distinct where jobs share one.
    pub phase: String,
    /// What is done. Clones of a job are its regions, one worker each.
    pub job: Job,
    /// Where; the job's numbers of targets are places in this.
    pub targets: Vec<ProgramTarget>,
    /// Which wave it runs in, from 0: a wave starts when the one before has ended.
    pub wave: u32,
    /// Which jobs are reported together, from 0.
    pub group: u32,
    /// Whether the group's total is what was asked for, rather than each job.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reported_together: bool,
    /// Parts of the same wave that must have ended before it starts, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<usize>,
    /// Least and most that it waits before it starts, ns; drawn from the seed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay_ns: (u64, u64),
    /// What its end ends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ends: ProgramEnds,
    /// Whether its failure ends all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub failure_ends_all: bool,
    /// What is done about the page cache before its wave.
    pub cache: CacheBefore,
    /// Whether its files are written in full before its wave, as far as they are not
    /// there: reads need data to read.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lay_down: bool,
    /// Whether what it wrote is read back and checked after its wave.
    #[serde(default, skip_serializing_if = "is_default")]
    pub verify_after: bool,
    /// The trace that it plays instead of the job's own pattern; it runs alone in its
    /// wave, and the job says only what its operations have in common.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<ProgramTrace>,
    /// Options that were given for this job, by name, as given; those of
    /// [`Program::global_options`] are not repeated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

/// What the end of a part ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgramEnds {
    /// Itself.
    #[default]
    Itself,
    /// The parts of its group.
    Group,
    /// The parts of its wave.
    Wave,
    /// Everything; later waves do not start.
    All,
}

/// What is done about what the page cache holds of a part's targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheBefore {
    /// Nothing.
    Keep,
    /// It is written back and dropped.
    #[default]
    Drop,
    /// The targets are read once.
    Load,
}

/// A default that shapes the result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramDefault {
    /// The option that would change it.
    pub option: String,
    /// Its value.
    pub value: String,
    /// What that means.
    pub meaning: String,
}

/// An option that was read and changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionWithoutEffect {
    /// The option.
    pub option: String,
    /// Where it stands: `file:line:column`.
    pub place: String,
    /// Why it changes nothing.
    pub reason: String,
}
