//! One append-only file a session: written as it happens, read back after any crash.
//!
//! Journals are the truth about what was measured; everything else that is kept
//! of a session can be made from them again.
//!
//! The form: a line of JSON for each [`Record`](stiction_core::Record), each with
//! a checksum of itself, so that a line that a power cut tore, or that rotted, is
//! told from one that was written whole. The first line, the header, states the
//! version of the form.
//!
//! ```text
//! {"checksum":"5f0c9a2b7d11","record":"header","format_version":1,"id":"20021130-...
//! {"checksum":"93be01f4c6aa","record":"trial_start","cell":{"threads":4},...
//! ```
//!
//! While a run goes on its journal is locked, so another process can tell a run
//! that goes on from one that was cut off.

mod bisect;
mod directory;
mod error;
mod line;
mod medium;
mod read;
mod write;

pub use bisect::BisectJournal;
pub use directory::{Entry, JournalDirectory, Listing};
pub use error::JournalError;
pub use read::{Problem, ReadJournal, decode_journal, read_journal};
pub use write::{Journal, encode_journal};
