//! A session in fio's own formats, for what reads fio's: JSON, JSON with bins, terse
//! lines, and logs. `docs/fio-formats.md` has every key, where it comes from, and
//! where it differs from fio's.

mod bins;
mod classes;
mod disks;
mod entry;
mod json;
mod logs;
mod options;
mod samples;
mod spread;
mod terse;
mod way;

pub use json::{Bins, json};
pub use logs::{LogFile, LogKind, logs, requested_logs};
pub use terse::{TerseVersion, terse};

/// The release of fio whose formats these are. Readers look for it to know which keys
/// there are.
const FIO_RELEASE: &str = "fio-3.33";

/// Why a session cannot be told in fio's formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FioOutputError {
    /// None of its phases has the single operations that fio's figures are made of.
    #[error(
        "no phase of this session has a record of its operations, which fio's formats are made of: imported tables have not, and neither have phases that failed"
    )]
    NothingRecorded,
}

/// What the program calls itself where fio writes its version: fio's release first,
/// since that is what readers take apart.
fn version(session: &stiction_core::Session) -> String {
    let tool = &session.header.environment.tool;
    format!("{FIO_RELEASE}-{}-{}", tool.name, tool.version)
}
