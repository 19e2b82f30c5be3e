//! Data on stdout, talk on stderr.

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
        let _ = writeln!(io::stderr(), "{text}");
    }
}
