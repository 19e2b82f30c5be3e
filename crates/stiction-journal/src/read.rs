//! A journal read back, whatever happened to it.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use stiction_core::{Caveat, CaveatCode, Record, Session, SessionBuilder};

use crate::JournalError;
use crate::line::{self, LineError};

/// Largest journal, bytes. A session of a day with a recording a second stays
/// well below it.
pub(crate) const JOURNAL_LIMIT_BYTES: u64 = 512 << 20;

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it, and what follows from that.
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

/// What a journal held.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadJournal {
    /// The session. Where lines before the last could not be read, it carries the
    /// caveat [`CaveatCode::PartlyRead`].
    pub session: Session,
    /// Lines that could not be read.
    pub problems: Vec<Problem>,
    /// How long the text was, bytes.
    pub size_bytes: u64,
}

/// Reads the journal at `path`.
///
/// # Errors
/// When the file cannot be read, or nothing can be known of its session because
/// its header cannot: see [`decode_journal`].
pub fn read_journal(path: &Path) -> Result<ReadJournal, JournalError> {
    let opened = File::open(path);
    let file = opened.map_err(|error| JournalError::io("read the journal", path, error))?;
    decode_journal(&text_of(&file, path)?, path)
}

/// The text of a journal.
pub(crate) fn text_of(file: &File, path: &Path) -> Result<Vec<u8>, JournalError> {
    let io = |error| JournalError::io("read the journal", path, error);
    let bytes = file.metadata().map_err(io)?.len();
    let too_large = |bytes| JournalError::TooLarge {
        path: path.to_owned(),
        bytes,
        limit_bytes: JOURNAL_LIMIT_BYTES,
    };
    if bytes > JOURNAL_LIMIT_BYTES {
        return Err(too_large(bytes));
    }
    let mut text = Vec::new();
    file.take(JOURNAL_LIMIT_BYTES)
        .read_to_end(&mut text)
        .map_err(io)?;
    Ok(text)
}

/// How much of a journal's text is whole, bytes: up to the end of the last line that reads,
/// which may lack its line end. What follows is of no use to anybody: the tail of a file
/// is what a power cut spoils.
pub(crate) fn whole_bytes(text: &[u8]) -> usize {
    let mut end = text.len();
    while end > 0 {
        let line_end = end - usize::from(text[end - 1] == b'\n');
        let before = text[..line_end].iter().rposition(|&byte| byte == b'\n');
        let start = before.map_or(0, |at| at + 1);
        if line::decode::<Record>(&text[start..line_end]).is_ok() {
            return end;
        }
        end = start;
    }
    0
}

/// Reads the text of a journal; `path` is for messages.
///
/// A last line without its end is what a crash leaves: it is left out, and the
/// session is the same as if the run had been cut off just before it. Any other
/// line that is damaged is left out with a caveat on the session.
///
/// # Errors
/// [`JournalError::Empty`] when there is no whole line, [`JournalError::Newer`]
/// when a later version wrote it, [`JournalError::NotAJournal`] when the first
/// line is not a header.
pub fn decode_journal(text: &[u8], path: &Path) -> Result<ReadJournal, JournalError> {
    let mut lines =
        text.split_inclusive(|&byte| byte == b'\n')
            .map(|line| match line.strip_suffix(b"\n") {
                Some(whole) => (whole, true),
                None => (line, false),
            });
    let mut assembly = match lines.next() {
        None => {
            return Err(JournalError::Empty {
                path: path.to_owned(),
            });
        }
        Some((first, whole)) => Assembly::new(first, whole, path)?,
    };
    for (number, (line, whole)) in (2..).zip(lines) {
        assembly.take(number, line, whole);
    }
    Ok(assembly.finish(text.len() as u64))
}

/// The session so far, and what was left out of it.
struct Assembly {
    builder: SessionBuilder,
    problems: Vec<Problem>,
    damaged_lines: Vec<usize>,
}

impl Assembly {
    fn new(first: &[u8], whole: bool, path: &Path) -> Result<Self, JournalError> {
        let not_a_journal = |problem: String| JournalError::NotAJournal {
            path: path.to_owned(),
            problem,
        };
        match line::decode(first) {
            Ok(Record::Header(header)) => Ok(Self {
                builder: SessionBuilder::new(*header),
                problems: Vec::new(),
                damaged_lines: Vec::new(),
            }),
            Ok(_) => Err(not_a_journal("the first line is another record".to_owned())),
            Err(LineError::Newer(found)) => Err(JournalError::Newer {
                path: path.to_owned(),
                found,
                known: stiction_core::RECORD_FORMAT_VERSION,
            }),
            Err(LineError::Damaged(_)) if !whole => Err(JournalError::Empty {
                path: path.to_owned(),
            }),
            Err(LineError::Damaged(problem)) => Err(not_a_journal(problem)),
        }
    }

    fn take(&mut self, number: usize, line: &[u8], whole: bool) {
        match line::decode(line) {
            Ok(record) => self.place(number, record),
            Err(_) if !whole => self.problems.push(Problem {
                line: number,
                what: "the last line was cut off while it was written; it is left out".to_owned(),
            }),
            Err(LineError::Damaged(problem)) => self.leave_out(number, &problem),
            Err(LineError::Newer(_)) => self.leave_out(number, "a second session header"),
        }
    }

    /// Puts a record in its place, if the damage before it left it one.
    fn place(&mut self, number: usize, record: Record) {
        if matches!(record, Record::TrialStart { .. } | Record::End(_)) {
            self.builder.lose_end_of_trial();
        }
        if let Err(problem) = self.builder.push(record) {
            self.leave_out(number, problem);
        }
    }

    fn leave_out(&mut self, number: usize, problem: &str) {
        self.damaged_lines.push(number);
        self.problems.push(Problem {
            line: number,
            what: format!("{problem}; the line is left out"),
        });
    }

    fn finish(mut self, size_bytes: u64) -> ReadJournal {
        if !self.damaged_lines.is_empty() {
            let numbers: Vec<String> = self.damaged_lines.iter().map(usize::to_string).collect();
            self.builder.doubt(Caveat::new(
                CaveatCode::PartlyRead,
                format!(
                    "lines of the journal that could not be read: {}",
                    numbers.join(", ")
                ),
            ));
        }
        ReadJournal {
            session: self.builder.finish(),
            problems: self.problems,
            size_bytes,
        }
    }
}
