//! The lines of a text, and what became of each.

use crate::Unread;
use crate::mail::{self, Line};

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    /// No reader has made anything of it.
    Open,
    /// Its figures or words are in the session.
    Read,
    /// It names the figures below it, and may name more of them.
    Label,
    /// A reader knew what it should be and could not read it.
    Refused(String),
}

/// The text as readers see it: lines by index from 0, each claimed at most once.
pub(crate) struct Page {
    lines: Vec<(Line, Fate)>,
}

impl Page {
    /// The page of a text, with what mail did to it undone.
    pub(crate) fn new(text: &str) -> Self {
        let lines = mail::undo(text);
        Self {
            lines: lines.into_iter().map(|line| (line, Fate::Open)).collect(),
        }
    }

    /// Number of lines.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The text of line `index`; empty beyond the end.
    pub(crate) fn text(&self, index: usize) -> &str {
        self.lines
            .get(index)
            .map_or("", |(line, _)| line.text.as_str())
    }

    /// The words of line `index`.
    pub(crate) fn words(&self, index: usize) -> Vec<&str> {
        self.text(index).split_whitespace().collect()
    }

    /// Where line `index` stands in the file, from 1.
    pub(crate) fn number(&self, index: usize) -> usize {
        self.lines
            .get(index)
            .map_or(self.lines.len(), |(line, _)| line.number)
    }

    /// Whether line `index` exists and has no text.
    pub(crate) fn is_blank(&self, index: usize) -> bool {
        index < self.len() && self.text(index).trim().is_empty()
    }

    /// Whether line `index` exists and nobody has claimed it.
    pub(crate) fn is_open(&self, index: usize) -> bool {
        matches!(self.lines.get(index), Some((_, Fate::Open)))
    }

    /// Whether line `index` may name the figures below it.
    pub(crate) fn may_be_label(&self, index: usize) -> bool {
        matches!(self.lines.get(index), Some((_, Fate::Open | Fate::Label)))
    }

    /// Marks line `index` as read.
    pub(crate) fn claim(&mut self, index: usize) {
        self.set(index, Fate::Read);
    }

    /// Marks line `index` as a label.
    pub(crate) fn claim_label(&mut self, index: usize) {
        self.set(index, Fate::Label);
    }

    /// Marks line `index` as one that should have been read.
    pub(crate) fn refuse(&mut self, index: usize, reason: impl Into<String>) {
        self.set(index, Fate::Refused(reason.into()));
    }

    fn set(&mut self, index: usize, fate: Fate) {
        if let Some((_, of_line)) = self.lines.get_mut(index) {
            *of_line = fate;
        }
    }

    /// Lines that were read.
    pub(crate) fn lines_read(&self) -> usize {
        self.lines
            .iter()
            .filter(|(_, fate)| matches!(fate, Fate::Read | Fate::Label))
            .count()
    }

    /// Lines that a reader knew and could not read.
    pub(crate) fn lines_refused(&self) -> usize {
        self.lines
            .iter()
            .filter(|(_, fate)| matches!(fate, Fate::Refused(_)))
            .count()
    }

    /// Every line with a letter or digit that was not read, and why. Rules and
    /// frames say nothing and are left out.
    pub(crate) fn into_unread(self) -> Vec<Unread> {
        self.lines
            .into_iter()
            .filter(|(line, _)| line.text.contains(char::is_alphanumeric))
            .filter_map(|(line, fate)| {
                let reason = match fate {
                    Fate::Read | Fate::Label => return None,
                    Fate::Refused(reason) => reason,
                    Fate::Open => open_reason(&line.text).to_owned(),
                };
                Some(Unread {
                    line: line.number,
                    text: line.text.trim().to_owned(),
                    reason,
                })
            })
            .collect()
    }
}

/// Why nobody claimed a line.
fn open_reason(text: &str) -> &'static str {
    if mail::is_header(text) {
        "header of a mail"
    } else if text.contains(|c: char| c.is_ascii_digit()) {
        "prose, or figures in no layout that is known here"
    } else {
        "prose"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_says_something_is_read_or_listed() {
        let mut page = Page::new("Subject: x\n\n> 2.5.59  7\n-----\nhello\nrow 1\nrow 2");
        page.claim(5);
        page.refuse(6, "cut off");
        let lines_read = page.lines_read();
        let unread = page.into_unread();
        let listed: Vec<_> = unread
            .iter()
            .map(|line| (line.line, line.text.as_str(), line.reason.as_str()))
            .collect();
        assert_eq!(lines_read, 1);
        assert_eq!(
            listed,
            [
                (1, "Subject: x", "header of a mail"),
                (
                    3,
                    "2.5.59  7",
                    "prose, or figures in no layout that is known here"
                ),
                (5, "hello", "prose"),
                (7, "row 2", "cut off"),
            ]
        );
    }
}
