//! Sessions in fio's own formats.

use std::path::Path;

use stiction_core::Session;
use stiction_report::Judged;
use stiction_report::fio_output::{self, Bins, LogKind, TerseVersion};

use crate::arguments::FioFormat;
use crate::console::Console;
use crate::failure::Failure;
use crate::output;

/// The session in a format of fio.
///
/// # Errors
/// When it has no record of its operations.
pub(super) fn text(session: &Session, format: FioFormat) -> Result<String, Failure> {
    let judged = || Judged::examine(session);
    Ok(match format {
        FioFormat::Json => fio_output::json(&judged(), Bins::Without)?,
        FioFormat::JsonPlus => fio_output::json(&judged(), Bins::With)?,
        FioFormat::Terse => fio_output::terse(session, TerseVersion::V3)?,
        FioFormat::Terse5 => fio_output::terse(session, TerseVersion::V5)?,
    })
}

/// Writes the session's logs, and says which files they are.
///
/// # Errors
/// When it has no record of its operations, or a file cannot be written.
pub(super) fn write_logs(
    session: &Session,
    prefix: &str,
    window_ns: Option<u64>,
    console: &Console,
) -> Result<(), Failure> {
    let files = fio_output::logs(session, prefix, &LogKind::ALL, window_ns)?;
    let mut written = String::new();
    for file in &files {
        output::replace(Path::new(&file.name), &file.text)?;
        written.push_str(&file.name);
        written.push('\n');
    }
    if console.json {
        let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
        let told =
            serde_json::json!({"schema": "stiction-logs", "schema_version": 1, "files": names});
        return console.data(&told.to_string());
    }
    console.data(&written)
}
