//! Sessions out of the tables.

use std::collections::BTreeMap;
use std::str::FromStr;

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql};
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
        "SELECT * FROM sessions WHERE {LET_THROUGH} {LATEST_FIRST}"
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
        .query_map([typed], |row| parsed(row, "id"))?
        .collect()
}

pub(super) fn journal_sizes(connection: &Connection) -> rusqlite::Result<BTreeMap<SessionId, u64>> {
    connection
        .prepare_cached("SELECT id, journal_bytes FROM sessions")?
        .query_map([], |row| {
            Ok((parsed(row, "id")?, count(row, "journal_bytes")?))
        })?
        .collect()
}

fn summary(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let provenance = match (row.get("file")?, row.get("layout")?) {
        (Some(file), Some(layout)) => Provenance::Imported { file, layout },
        _ => Provenance::Measured,
    };
    let ended: Option<String> = row.get("ended")?;
    let outcome: Option<String> = row.get("outcome")?;
    Ok(Summary {
        id: parsed(row, "id")?,
        started: parsed(row, "started")?,
        ended: ended.map(|_| parsed(row, "ended")).transpose()?,
        outcome: outcome
            .map(|word| from_json(&format!("\"{word}\""), row, "outcome"))
            .transpose()?,
        label: row.get("label")?,
        workload: row.get("workload")?,
        provenance,
        tool: Tool {
            name: row.get("tool")?,
            version: row.get("tool_version")?,
        },
        kernel_release: row.get("kernel")?,
        targets: from_json(&row.get::<_, String>("targets")?, row, "targets")?,
        filesystems: from_json(&row.get::<_, String>("filesystems")?, row, "filesystems")?,
        trials: TrialCounts {
            completed: count(row, "trials_completed")?,
            interrupted: count(row, "trials_interrupted")?,
            skipped: count(row, "trials_skipped")?,
            failed: count(row, "trials_failed")?,
        },
    })
}

/// Nanoseconds since 1970, from 1677 to 2262; times outside are cut to these years.
pub(super) fn time_ns(at: jiff::Timestamp) -> i64 {
    let (lowest, highest) = (i64::MIN.into(), i64::MAX.into());
    i64::try_from(at.as_nanosecond().clamp(lowest, highest)).unwrap_or(i64::MAX)
}

pub(super) fn count(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    let value: i64 = row.get(column)?;
    u64::try_from(value).map_err(|error| unreadable(row, column, error))
}

pub(super) fn parsed<T>(row: &Row<'_>, column: &str) -> rusqlite::Result<T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| unreadable(row, column, error))
}

pub(super) fn from_json<T: DeserializeOwned>(
    text: &str,
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unreadable(row, column, error))
}

/// The error for a column that holds what was never written there.
pub(super) fn unreadable(
    row: &Row<'_>,
    column: &str,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    let index = row.as_ref().column_index(column).unwrap_or(usize::MAX);
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
}
