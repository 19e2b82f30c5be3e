//! Rows of tiobench's reports with all that the text says of them: what a row
//! leaves to prose or to the command is filled in.

use std::collections::BTreeSet;

use stiction_core::Cell;

use super::cut::{self, Column};
use super::head::Title;
use super::row::Printed;
use crate::command::Command;
use crate::harvest::Harvest;
use crate::stated::{self, About};

/// Which program printed a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The driver of the 0.3.3 release.
    V0_3_3,
    /// The driver of 0.4.
    V0_4,
    /// `tiosum.pl`, the summary of several logs.
    Tiosum,
    /// A table made for mail: size, block and perhaps threads stand in prose.
    Posted,
}

impl Layout {
    /// Its name in a session.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V0_3_3 => "tiobench-0.3.3",
            Self::V0_4 => "tiobench-0.4",
            Self::Tiosum => "tiosum",
            Self::Posted => "tiobench-posted",
        }
    }

    /// Columns that a block size has.
    fn block_width(self) -> usize {
        if self == Self::V0_4 { 6 } else { 5 }
    }

    /// The drivers print the CPU share as text of five columns and cut the rest;
    /// the summary rounds.
    pub(super) fn cuts_cpu(self) -> bool {
        matches!(self, Self::V0_3_3 | Self::V0_4)
    }
}

/// A row and where it stands.
pub(super) struct Placed {
    /// Index of its line.
    pub(super) index: usize,
    /// Its line, from 1.
    pub(super) line: usize,
    pub(super) layout: Layout,
    /// Index of the title's line.
    pub(super) title_index: usize,
    pub(super) title: Title,
    /// The head calls the first column `Kernel`.
    pub(super) named_kernel: bool,
    pub(super) printed: Printed,
}

/// A row whose every parameter is as well known as the text allows.
pub(super) struct Known {
    pub(super) at: Placed,
    pub(super) size_bytes: Option<u64>,
    pub(super) block: Option<Column>,
    pub(super) threads: Option<Column>,
}

impl Known {
    /// Fills in what the row does not say from prose above it, or from the commands
    /// of the text when they all say the same.
    pub(super) fn of(harvest: &mut Harvest, asked: &Asked, at: Placed) -> Self {
        let mut from_text = |about, asked: &[u64]| from_text(harvest, about, at.index, asked);
        let printed = &at.printed;
        let size_bytes = match printed.size_mib {
            Some(mib) => Some(mib.saturating_mul(1 << 20)),
            None => from_text(About::FileSize, &asked.sizes),
        };
        let block = match printed.block {
            Some(block) => Some(cut::block(block, at.layout.block_width(), &asked.blocks)),
            None => from_text(About::BlockSize, &asked.blocks).map(Column::Whole),
        };
        let threads = match printed.threads {
            Some(count) => Some(cut::threads(count, &asked.threads)),
            None => from_text(About::Threads, &asked.threads).map(Column::Whole),
        };
        Self {
            at,
            size_bytes,
            block,
            threads,
        }
    }

    /// Block size, bytes, unless it was cut.
    pub(super) fn block_bytes(&self) -> Option<u64> {
        self.block.as_ref().and_then(Column::known)
    }

    /// Threads, unless the number was cut.
    pub(super) fn thread_count(&self) -> Option<u64> {
        self.threads.as_ref().and_then(Column::known)
    }

    pub(super) fn is_random(&self) -> bool {
        self.at.title.phase.starts_with("random")
    }

    /// Where the row stands in the matrix, but for its name.
    pub(super) fn cell(&self) -> Cell {
        let mut cell = Cell::new();
        let title = &self.at.title;
        if let Some(filesystem) = &title.filesystem {
            cell = cell.with("filesystem", filesystem.as_str());
        }
        if let Some(options) = &title.options {
            cell = cell.with("options", options.as_str());
        }
        if let Some(size) = self.size_bytes {
            cell = cell.with("file_size_bytes", size);
        }
        let columns = [
            ("block_size_bytes", &self.block),
            ("threads", &self.threads),
        ];
        for (factor, column) in columns {
            cell = match column {
                Some(Column::Whole(value) | Column::Restored(value)) => cell.with(factor, *value),
                Some(Column::Cut(digits)) => cell.with(factor, format!("{digits}?")),
                None => cell,
            };
        }
        cell
    }
}

/// The different values that the commands of a text ask for.
pub(super) struct Asked {
    blocks: Vec<u64>,
    threads: Vec<u64>,
    sizes: Vec<u64>,
}

impl Asked {
    /// What `commands` ask for.
    pub(super) fn by(commands: &[Command]) -> Self {
        let values = |of: fn(&Command) -> Vec<u64>| {
            let values: BTreeSet<u64> = commands.iter().flat_map(of).collect();
            values.into_iter().collect()
        };
        Self {
            blocks: values(Command::block_sizes_bytes),
            threads: values(Command::thread_counts),
            sizes: values(Command::file_sizes_bytes),
        }
    }
}

/// The latest fact above line `index`, or what the commands all ask for.
fn from_text(harvest: &mut Harvest, about: About, index: usize, asked: &[u64]) -> Option<u64> {
    if let Some(fact) = stated::above(&harvest.facts, about, index) {
        harvest.use_fact(fact);
        return Some(fact.value);
    }
    let [one] = asked else { return None };
    harvest.say(format!("{} is {one} by the command", about.factor()));
    Some(*one)
}
