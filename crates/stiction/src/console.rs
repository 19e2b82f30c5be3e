//! Data on stdout, talk on stderr.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use stiction_report::Style;

use crate::arguments::{ColorWhen, Global};
use crate::failure::Failure;

/// Where a command's words go.
pub(crate) struct Console {
    /// Whether data is JSON.
    pub(crate) json: bool,
    /// Whether data may be coloured.
    color: bool,
}

impl Console {
    /// The console that `global` asks for.
    pub(crate) fn new(global: &Global) -> Self {
        let color = match global.color {
            ColorWhen::Always => true,
            ColorWhen::Never => false,
            ColorWhen::Auto => {
                io::stdout().is_terminal()
                    && std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty())
            }
        };
        Self {
            json: global.json,
            color: color && !global.json,
        }
    }

    /// How emphasis is shown in data.
    pub(crate) fn style(&self) -> Style {
        if self.color {
            Style::Ansi
        } else {
            Style::Plain
        }
    }

    /// Writes data to stdout. A reader that has gone away (`| head`) is no error.
    ///
    /// # Errors
    /// When it cannot be written, as on a full disk.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let written = out.write_all(text.as_bytes()).and_then(|()| {
            if text.ends_with('\n') {
                Ok(())
            } else {
                out.write_all(b"\n")
            }
        });
        match written.and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            other => other
                .map_err(|error| Failure::new(format!("cannot write to standard output: {error}"))),
        }
    }

    /// Says something to the person, on stderr.
    pub(crate) fn say(&self, text: &str) {
        // A closed stderr leaves nobody to tell.
        let _ = writeln!(io::stderr(), "{}", harmless(text));
    }
}

/// `text` without what a terminal would obey: messages quote names and other people's
/// files, which may hold control sequences.
pub(crate) fn harmless(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| {
        // Beside control characters: those that turn the direction of the text.
        let turns = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (c.is_control() && c != '\n' && c != '\t') || turns
    };
    if text.contains(harmful) {
        Cow::Owned(text.replace(harmful, "?"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_said_as_a_question_mark() {
        let text = "a\u{1b}]0;b\u{7}\r\u{9b}2J\u{202e}c\n\td\u{e9}";
        assert_eq!(harmless(text), "a?]0;b???2J?c\n\td\u{e9}");
        assert!(matches!(harmless("plain"), Cow::Borrowed(_)));
    }
}
