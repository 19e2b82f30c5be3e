//! The figures of many sessions, out of the tables alone: records hold histograms, and
//! reading thousands of them takes minutes.

use std::borrow::Cow;
use std::collections::HashMap;

use rusqlite::{Connection, Row};
use stiction_core::{
    Better, Measurement, Metric, MetricClass, Phase, PhaseKind, PhaseOutcome, Session, SessionEnd,
    SessionHeader, SkipCode, SkipReason, Trial, TrialOutcome, Unit, metrics,
};

use super::read::{Bound, LATEST_FIRST, LET_THROUGH, count, from_json, parsed};
use crate::Filter;

/// Where a phase stands: the session's key, the trial, the phase.
type Place = (i64, i64, i64);

pub(super) fn read(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Session>> {
    let bound = Bound::of(filter);
    let chosen = format!("(SELECT * FROM sessions WHERE {LET_THROUGH} {LATEST_FIRST}) AS chosen");
    let (keys, mut sessions) = headers(connection, &chosen, &bound)?;
    let mut phases = phases(connection, &chosen, &bound)?;
    let sql = format!(
        "SELECT trials.* FROM {chosen} JOIN trials ON trials.session = chosen.key
         ORDER BY trials.session, trial"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(bound.named().as_slice())?;
    while let Some(row) = rows.next()? {
        let (key, number) = (row.get("session")?, row.get("trial")?);
        let trial = Trial {
            phases: phases.remove(&(key, number)).unwrap_or_default(),
            ..trial(row)?
        };
        if let Some(&place) = keys.get(&key) {
            sessions[place].trials.push(trial);
        }
    }
    Ok(sessions)
}

/// The sessions without trials, and the place of each by its key.
fn headers(
    connection: &Connection,
    chosen: &str,
    bound: &Bound<'_>,
) -> rusqlite::Result<(HashMap<i64, usize>, Vec<Session>)> {
    let sql = format!(
        "SELECT chosen.key, json, ended, outcome, message FROM {chosen}
         JOIN headers ON headers.session = chosen.key
         ORDER BY chosen.started_ns DESC, chosen.id DESC"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(bound.named().as_slice())?;
    let (mut keys, mut sessions) = (HashMap::new(), Vec::new());
    while let Some(row) = rows.next()? {
        let header: SessionHeader = from_json(text(row, "json")?, row, "json")?;
        let end = match row.get::<_, Option<String>>("outcome")? {
            None => None,
            Some(outcome) => Some(SessionEnd {
                outcome: word(&outcome, row, "outcome")?,
                at: parsed(row, "ended")?,
                message: row.get("message")?,
            }),
        };
        keys.insert(row.get("key")?, sessions.len());
        sessions.push(Session {
            header,
            trials: Vec::new(),
            end,
        });
    }
    Ok((keys, sessions))
}

fn trial(row: &Row<'_>) -> rusqlite::Result<Trial> {
    let cell = from_json(text(row, "cell")?, row, "cell")?;
    let targets: Option<String> = row.get("targets")?;
    let start_ns = count(row, "start_ns")?;
    Ok(Trial {
        targets: targets
            .map(|targets| from_json(&targets, row, "targets"))
            .transpose()?,
        outcome: match text(row, "outcome")? {
            "completed" => TrialOutcome::Completed,
            "interrupted" => TrialOutcome::Interrupted,
            "skipped" => TrialOutcome::Skipped(skip(row)?),
            _ => TrialOutcome::Failed {
                message: detail(row)?,
            },
        },
        start_ns,
        ..Trial::new(cell, row.get("repetition")?)
    })
}

/// The measured phases of each trial.
fn phases(
    connection: &Connection,
    chosen: &str,
    bound: &Bound<'_>,
) -> rusqlite::Result<HashMap<(i64, i64), Vec<Phase>>> {
    let sql = format!(
        "SELECT phases.* FROM {chosen}
         JOIN phases ON phases.session = chosen.key
         WHERE phases.kind = 'measure' ORDER BY phases.session, trial, phase"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(bound.named().as_slice())?;
    let mut measured = measurements(connection, chosen, bound)?;
    let mut phases: HashMap<(i64, i64), Vec<Phase>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let (key, trial, number) = (row.get("session")?, row.get("trial")?, row.get("phase")?);
        let outcome = match text(row, "outcome")? {
            "completed" => PhaseOutcome::Completed,
            "ended_early" => PhaseOutcome::EndedEarly,
            "skipped" => PhaseOutcome::Skipped(skip(row)?),
            _ => PhaseOutcome::Failed {
                message: detail(row)?,
            },
        };
        phases.entry((key, trial)).or_default().push(Phase {
            outcome,
            start_ns: count(row, "start_ns")?,
            elapsed_ns: count(row, "elapsed_ns")?,
            measurements: measured.remove(&(key, trial, number)).unwrap_or_default(),
            ..Phase::new(text(row, "name")?, PhaseKind::Measure)
        });
    }
    Ok(phases)
}

fn measurements(
    connection: &Connection,
    chosen: &str,
    bound: &Bound<'_>,
) -> rusqlite::Result<HashMap<Place, Vec<Measurement>>> {
    // The subquery is worked out once; the join then goes along the primary key.
    let sql = format!(
        "SELECT measurements.session, trial, phase, metric, unit, better, value, n, printed,
                corrected
         FROM {chosen} CROSS JOIN measurements ON measurements.session = chosen.key
         WHERE better <> 'neither'"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(bound.named().as_slice())?;
    let mut measured: HashMap<Place, Vec<Measurement>> = HashMap::new();
    let mut known = Known::default();
    while let Some(row) = rows.next()? {
        let place = (row.get(0)?, row.get(1)?, row.get(2)?);
        let value: f64 = row.get(6)?;
        measured.entry(place).or_default().push(Measurement {
            metric: known.metric(row)?,
            value,
            n: count(row, "n")?,
            printed: row.get(8)?,
            digits_cut: false,
            corrected: row.get(9)?,
        });
    }
    Ok(measured)
}

/// The metrics met so far, by their names: there are few, and figures are many.
#[derive(Default)]
struct Known(HashMap<String, Vec<(String, String, Metric)>>);

impl Known {
    fn metric(&mut self, row: &Row<'_>) -> rusqlite::Result<Metric> {
        let (name, unit, better) = (
            text(row, "metric")?,
            text(row, "unit")?,
            text(row, "better")?,
        );
        let of_name = self.0.entry(name.to_owned()).or_default();
        if let Some((.., metric)) = of_name.iter().find(|(u, b, _)| u == unit && b == better) {
            return Ok(metric.clone());
        }
        let metric = metric(name, word(unit, row, "unit")?, word(better, row, "better")?);
        of_name.push((unit.to_owned(), better.to_owned(), metric.clone()));
        Ok(metric)
    }
}

fn metric(name: &str, unit: Unit, better: Better) -> Metric {
    let ours = metrics::ALL
        .iter()
        .find(|ours| ours.name == name && ours.unit == unit && ours.better == better);
    ours.cloned().unwrap_or_else(|| Metric {
        name: Cow::Owned(name.to_owned()),
        unit,
        better,
        class: MetricClass::Throughput,
    })
}

fn text<'row>(row: &'row Row<'_>, column: &str) -> rusqlite::Result<&'row str> {
    Ok(row.get_ref(column)?.as_str()?)
}

/// The variant of a word that records use.
fn word<T: serde::de::DeserializeOwned>(
    word: &str,
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<T> {
    from_json(&format!("\"{word}\""), row, column)
}

fn detail(row: &Row<'_>) -> rusqlite::Result<String> {
    Ok(row.get::<_, Option<String>>("detail")?.unwrap_or_default())
}

/// The reason that was kept as `code: detail`.
fn skip(row: &Row<'_>) -> rusqlite::Result<SkipReason> {
    let whole = detail(row)?;
    let (code, detail) = whole.split_once(": ").unwrap_or((&whole, ""));
    let code: SkipCode = word(code, row, "detail")?;
    Ok(SkipReason::new(code, detail))
}
