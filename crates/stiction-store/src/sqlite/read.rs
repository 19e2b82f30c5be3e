//! Sessions out of the tables.

use std::collections::BTreeMap;
use std::str::FromStr;

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, RowIndex, ToSql};
use serde::de::DeserializeOwned;
use stiction_core::{Provenance, SessionId, Summary, Tool, TrialCounts};

use crate::Filter;

/// The session's whole record as JSON, if it is here.
pub(super) fn record(connection: &Connection, id: &SessionId) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT json FROM records JOIN sessions ON key = session WHERE id = ?")?
        .query_row([id.as_str()], |row| row.get(0))
        .optional()
}

pub(super) fn list(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Summary>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {SUMMARY} FROM sessions WHERE {LET_THROUGH} {LATEST_FIRST}"
    ))?;
    let rows = statement.query_map(Bound::of(filter).named().as_slice(), summary)?;
    rows.collect()
}

/// Which rows of `sessions` a filter lets through; its values are [`Bound`].
pub(super) const LET_THROUGH: &str = "
    (:label IS NULL OR label = :label)
    AND (:workload IS NULL OR workload = :workload)
    AND (:kernel IS NULL OR substr(kernel, 1, length(:kernel)) = :kernel)
    AND (:filesystem IS NULL
         OR EXISTS (SELECT 1 FROM json_each(filesystems) WHERE value = :filesystem))
    AND (:since IS NULL OR started_ns >= :since)
    AND (:until IS NULL OR started_ns < :until)";

/// In which order, and how many of them.
pub(super) const LATEST_FIRST: &str = "ORDER BY started_ns DESC, id DESC LIMIT :limit";

/// The values of a filter as SQL takes them.
pub(super) struct Bound<'a> {
    label: &'a Option<String>,
    workload: &'a Option<String>,
    kernel: &'a Option<String>,
    filesystem: &'a Option<String>,
    since: Option<i64>,
    until: Option<i64>,
    limit: i64,
}

impl<'a> Bound<'a> {
    pub(super) fn of(filter: &'a Filter) -> Self {
        Self {
            label: &filter.label,
            workload: &filter.workload,
            kernel: &filter.kernel,
            filesystem: &filter.filesystem,
            since: filter.since.map(time_ns),
            until: filter.until.map(time_ns),
            // A negative limit is none.
            limit: filter.limit.map_or(-1, i64::from),
        }
    }

    /// By the names in [`LET_THROUGH`] and [`LATEST_FIRST`].
    pub(super) fn named(&self) -> [(&str, &dyn ToSql); 7] {
        [
            (":label", self.label),
            (":workload", self.workload),
            (":kernel", self.kernel),
            (":filesystem", self.filesystem),
            (":since", &self.since),
            (":until", &self.until),
            (":limit", &self.limit),
        ]
    }
}

/// The sessions whose id answers to `typed`, or else whose label it is.
pub(super) fn resolve(connection: &Connection, typed: &str) -> rusqlite::Result<Vec<SessionId>> {
    // `SessionId::answers_to` decides; SQL only narrows the ids down.
    let by_id: Vec<SessionId> = ids(
        connection,
        "SELECT id FROM sessions
         WHERE substr(id, 1, length(?1)) = ?1 OR substr(id, -length(?1)) = ?1",
        typed,
    )?
    .into_iter()
    .filter(|id| id.answers_to(typed))
    .collect();
    if !by_id.is_empty() {
        return Ok(by_id);
    }
    ids(connection, "SELECT id FROM sessions WHERE label = ?", typed)
}

fn ids(connection: &Connection, sql: &str, typed: &str) -> rusqlite::Result<Vec<SessionId>> {
    connection
        .prepare_cached(sql)?
        .query_map([typed], |row| parsed(row, 0))?
        .collect()
}

pub(super) fn journal_sizes(connection: &Connection) -> rusqlite::Result<BTreeMap<SessionId, u64>> {
    connection
        .prepare_cached("SELECT id, journal_bytes FROM sessions")?
        .query_map([], |row| Ok((parsed(row, 0)?, count(row, 1)?)))?
        .collect()
}

/// The columns of a summary, in the order in which [`summary`] reads them: by number, since
/// looking names up takes longer than all the rest.
const SUMMARY: &str = "id, started, ended, outcome, label, workload, file, layout, tool,
    tool_version, kernel, targets, filesystems, trials_completed, trials_interrupted,
    trials_skipped, trials_failed";

fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let provenance = match (row.get(6)?, row.get(7)?) {
        (Some(file), Some(layout)) => Provenance::Imported { file, layout },
        _ => Provenance::Measured,
    };
    Ok(Summary {
        id: parsed(row, 0)?,
        started: parsed(row, 1)?,
        ended: is_there(row, 2)?.then(|| parsed(row, 2)).transpose()?,
        outcome: is_there(row, 3)?.then(|| word(row, 3)).transpose()?,
        label: row.get(4)?,
        workload: row.get(5)?,
        provenance,
        tool: Tool {
            name: row.get(8)?,
            version: row.get(9)?,
        },
        kernel_release: row.get(10)?,
        targets: from_json(text(row, 11)?, row, 11)?,
        filesystems: from_json(text(row, 12)?, row, 12)?,
        trials: TrialCounts {
            completed: count(row, 13)?,
            interrupted: count(row, 14)?,
            skipped: count(row, 15)?,
            failed: count(row, 16)?,
        },
    })
}

/// Nanoseconds since 1970, from 1677 to 2262; times outside are cut to these years.
pub(super) fn time_ns(at: jiff::Timestamp) -> i64 {
    let (lowest, highest) = (i64::MIN.into(), i64::MAX.into());
    i64::try_from(at.as_nanosecond().clamp(lowest, highest)).unwrap_or(i64::MAX)
}

pub(super) fn count(row: &Row<'_>, column: impl RowIndex + Copy) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|error| unreadable(row, column, error))
}

/// Whether the column holds anything.
pub(super) fn is_there(row: &Row<'_>, column: impl RowIndex + Copy) -> rusqlite::Result<bool> {
    Ok(row.get_ref(column)? != ValueRef::Null)
}

pub(super) fn text<'row>(
    row: &'row Row<'_>,
    column: impl RowIndex + Copy,
) -> rusqlite::Result<&'row str> {
    Ok(row.get_ref(column)?.as_str()?)
}

pub(super) fn parsed<T>(row: &Row<'_>, column: impl RowIndex + Copy) -> rusqlite::Result<T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let text = text(row, column)?;
    text.parse().map_err(|error| unreadable(row, column, error))
}

/// The variant of a word that records use.
pub(super) fn word<T: DeserializeOwned>(
    row: &Row<'_>,
    column: impl RowIndex + Copy,
) -> rusqlite::Result<T> {
    variant(text(row, column)?, row, column)
}

/// The same of a word that is a part of what the column holds.
pub(super) fn variant<T: DeserializeOwned>(
    word: &str,
    row: &Row<'_>,
    column: impl RowIndex + Copy,
) -> rusqlite::Result<T> {
    from_json(&format!("\"{word}\""), row, column)
}

pub(super) fn from_json<T: DeserializeOwned>(
    text: &str,
    row: &Row<'_>,
    column: impl RowIndex + Copy,
) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unreadable(row, column, error))
}

/// The error for a column that holds what was never written there.
pub(super) fn unreadable(
    row: &Row<'_>,
    column: impl RowIndex + Copy,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    let index = column.idx(row.as_ref()).unwrap_or(usize::MAX);
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}
