//! Reports of Bonnie and Bonnie++, byte for byte, and our own.
//!
//! The classic layouts print what the programs printed, from right values: 2.00a's file
//! rates are files per second (the program put an integer format before a floating
//! value), and the CPU share of the seeks counts the process once (the program added it
//! up for each seeker). `+++++` stands where a phase took less than half a second, as
//! there; our own report shows every figure.

mod csv;
mod html;
mod modern;
mod plus_plus;
mod row;
mod spelled;
mod text;

pub use csv::csv;
pub use html::{html_plus_plus, html_row};
pub use modern::modern;
pub use plus_plus::plus_plus;
pub use text::{bonnie, bonnie_64};

use stiction_core::Session;

/// Versions of Bonnie++ that layouts are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 1.03e: two heads, CSV of 27 fields without a version.
    V103e,
    /// 1.96: latencies, CSV of 48 fields.
    V196,
    /// 2.00a: scaled rates, CSV of 50 fields in the format 1.98.
    V200a,
}

impl Version {
    /// `1.03e`, `1.96`, `2.00a`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V103e => "1.03e",
            Self::V196 => "1.96",
            Self::V200a => "2.00a",
        }
    }
}

/// Whether a session has any phase that these reports show.
#[must_use]
pub fn is_shown(session: &Session) -> bool {
    session.trials.iter().any(|trial| {
        let names = row::IO_PHASES.iter().chain(&row::FILE_PHASES);
        names.into_iter().any(|name| trial.phase(name).is_some())
    })
}
