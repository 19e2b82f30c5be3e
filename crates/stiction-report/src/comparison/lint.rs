//! What a report has to be so that any mailing list takes it.

use std::fmt;

/// Columns of a line of a mail that can still be quoted within 80.
pub const MAIL_WIDTH: usize = 78;

/// Something that mail readers or list software would spoil.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MailFault {
    /// The first line is no subject.
    NoSubject,
    /// A second subject, at this line.
    SecondSubject(usize),
    /// No empty line after the subject.
    NoBlankAfterSubject,
    /// More columns than [`MAIL_WIDTH`], at this line.
    TooWide(usize),
    /// A character that is not printable ASCII, at this line.
    NotAscii(usize),
    /// A tab, whose width is the reader's, at this line.
    Tab(usize),
    /// A blank at the end, at this line.
    TrailingBlank(usize),
    /// The last line does not end.
    NoEnd,
}

impl fmt::Display for MailFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSubject => write!(f, "line 1 is no subject"),
            Self::SecondSubject(line) => write!(f, "line {line} is a second subject"),
            Self::NoBlankAfterSubject => write!(f, "line 2 is not empty"),
            Self::TooWide(line) => write!(f, "line {line} has more than {MAIL_WIDTH} columns"),
            Self::NotAscii(line) => write!(f, "line {line} is not printable ASCII"),
            Self::Tab(line) => write!(f, "line {line} has a tab"),
            Self::TrailingBlank(line) => write!(f, "line {line} ends with a blank"),
            Self::NoEnd => write!(f, "the last line does not end"),
        }
    }
}

/// All that is wrong with a mail, in the order of its lines; empty for one that can be
/// sent.
#[must_use]
pub fn mail_faults(text: &str) -> Vec<MailFault> {
    let mut faults = Vec::new();
    for (line, number) in text.split('\n').zip(1..) {
        let is_subject = line.starts_with("Subject:");
        match number {
            1 if !is_subject => faults.push(MailFault::NoSubject),
            2 if !line.is_empty() => faults.push(MailFault::NoBlankAfterSubject),
            2.. if is_subject => faults.push(MailFault::SecondSubject(number)),
            _ => {}
        }
        if line.chars().count() > MAIL_WIDTH {
            faults.push(MailFault::TooWide(number));
        }
        if line.contains('\t') {
            faults.push(MailFault::Tab(number));
        }
        let is_ascii = |c: char| c == '\t' || c == ' ' || c.is_ascii_graphic();
        if !line.chars().all(is_ascii) {
            faults.push(MailFault::NotAscii(number));
        }
        if line.ends_with([' ', '\t']) {
            faults.push(MailFault::TrailingBlank(number));
        }
    }
    if !text.ends_with('\n') {
        faults.push(MailFault::NoEnd);
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_that_can_be_sent_has_no_faults() {
        let exact = "x".repeat(78);
        assert_eq!(mail_faults(&format!("Subject: a\n\n{exact}\n")), []);
    }

    #[test]
    fn each_fault_is_found_with_its_line() {
        use MailFault::{
            NoBlankAfterSubject, NoEnd, NoSubject, NotAscii, SecondSubject, Tab, TooWide,
            TrailingBlank,
        };
        let wide = format!("Subject: a\n\n{}\n", "x".repeat(79));
        for (text, faults) in [
            ("a\n\n", vec![NoSubject]),
            ("Subject: a\nb\n", vec![NoBlankAfterSubject]),
            ("Subject: a\n\nSubject: b\n", vec![SecondSubject(3)]),
            (&wide, vec![TooWide(3)]),
            (
                "Subject: \u{e9}\n\n\u{1b}[1m\n",
                vec![NotAscii(1), NotAscii(3)],
            ),
            ("Subject: a\n\na\tb\n", vec![Tab(3)]),
            ("Subject: a\n\na \n", vec![TrailingBlank(3)]),
            ("Subject: a\n\na", vec![NoEnd]),
        ] {
            assert_eq!(mail_faults(text), faults, "{text:?}");
        }
    }
}
