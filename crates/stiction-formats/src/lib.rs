//! Text of other tools, read into stiction's types. Pure.
//!
//! [`read`] takes the text of a file and gives back what it holds: tables of
//! tiobench, contest, Bonnie and others, time lines, wherever they stand between
//! prose, quoted or broken as mail does it. It never fails and never guesses
//! silently: what could not be read is listed with its line, what was taken from
//! somewhere else than the row is said in a message, and a figure that a known
//! defect of its program has spoilt carries both the printed text and the reason
//! of the correction.
//!
//! ```
//! let text = "noload Time: 259.47  CPU: 99%  Major Faults: 770937  Minor Faults: 1173705";
//! let imported = stiction_formats::read(text);
//! let trial = &imported.sessions[0].trials[0];
//! assert_eq!(trial.cell.to_string(), "load=no_load");
//! assert_eq!(trial.phases[0].value(&stiction_core::metrics::ELAPSED), Some(259.47));
//! ```

mod bonnie;
mod command;
mod contest;
mod decode;
pub mod fio;
mod fio_results;
mod harvest;
mod label;
mod mail;
mod nearest;
mod number;
mod page;
mod percent;
pub mod spec;
mod stated;
mod time;
mod tiobench;
mod tiotest;
pub mod words;

use std::collections::BTreeMap;

use stiction_core::{Caveat, Trial};

pub use decode::decode;
use harvest::Harvest;
pub use nearest::nearest;
use page::Page;

/// What one text held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Imported {
    /// The session that its figures make; empty when there were none. All tables
    /// of a text are trials of one session, so that they can be compared with each
    /// other; the factors of their cells tell them apart.
    pub sessions: Vec<ImportedSession>,
    /// Every line that was not read, in order, but for blank lines, rules and frames.
    pub unread: Vec<Unread>,
    /// Lines that were read.
    pub lines_read: usize,
    /// What was taken from where when a row did not say it itself, a sentence each.
    pub messages: Vec<String>,
}

/// The figures of a text, without what only the caller knows: id, time, file.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedSession {
    /// Layouts read, in their order in the text: `tiobench-0.3.3`, `contest-log`,
    /// `bonnie, time-bash`.
    pub layout: String,
    /// Trials in their order in the text. Each phase names its line in a note.
    pub trials: Vec<Trial>,
    /// Facts about all of it that the text states: `machine`, `command`.
    pub stated: BTreeMap<String, String>,
    /// Doubts about all of it.
    pub caveats: Vec<Caveat>,
}

/// A line that was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// Where it stands in the file, from 1.
    pub line: usize,
    /// Its text, without quote marks and outer blanks.
    pub text: String,
    /// Why: `prose`, or what was missing from a row.
    pub reason: String,
}

/// Looks for one family of layouts among the lines that are still open.
type Reader = fn(&mut Page, &mut Harvest);

/// The readers, those with the least mistakable layouts first.
const READERS: &[Reader] = &[
    percent::read,
    tiobench::read,
    tiotest::read,
    contest::read_tables,
    contest::read_log,
    bonnie::read,
    time::read,
];

/// Reads everything that is known here from `text`.
///
/// Text from a file goes through [`decode()`] first.
#[must_use]
pub fn read(text: &str) -> Imported {
    if let Some(report) = fio_results::read(text) {
        return report;
    }
    let mut page = Page::new(text);
    let mut harvest = Harvest::new(&page);
    for reader in READERS {
        reader(&mut page, &mut harvest);
    }
    harvest.finish(page)
}
