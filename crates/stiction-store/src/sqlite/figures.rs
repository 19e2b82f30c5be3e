//! The figures of many sessions, out of the tables alone: records hold histograms, and
//! reading thousands of them takes minutes.

use std::borrow::Cow;
use std::collections::HashMap;

use rusqlite::{Connection, Row};
use stiction_core::{
    Better, Measurement, Metric, MetricClass, Phase, PhaseKind, PhaseOutcome, Session, SessionEnd,
    SessionHeader, SkipCode, SkipReason, Trial, TrialOutcome, Unit, metrics,
};

use super::read::{
    Bound, LATEST_FIRST, LET_THROUGH, count, from_json, is_there, parsed, text, variant, word,
};
use crate::Filter;

/// Where a phase stands: the session's key, the trial, the phase.
type Place = (i64, i64, i64);

pub(super) fn read(connection: &Connection, filter: &Filter) -> rusqlite::Result<Vec<Session>> {
    let bound = Bound::of(filter);
    let chosen = format!("(SELECT * FROM sessions WHERE {LET_THROUGH} {LATEST_FIRST}) AS chosen");
    let (keys, mut sessions) = headers(connection, &chosen, &bound)?;
    let mut phases = phases(connection, &chosen, &bound)?;
    let sql = format!(
        "SELECT trials.session, trial, cell, repetition, trials.outcome, detail, start_ns,
                trials.targets
         FROM {chosen} JOIN trials ON trials.session = chosen.key
         ORDER BY trials.session, trial"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(bound.named().as_slice())?;
    while let Some(row) = rows.next()? {
        let (key, number) = (row.get(0)?, row.get(1)?);
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
        let header: SessionHeader = from_json(text(row, 1)?, row, 1)?;
        let end = if is_there(row, 3)? {
            Some(SessionEnd {
                at: parsed(row, 2)?,
                outcome: word(row, 3)?,
                message: row.get(4)?,
            })
        } else {
            None
        };
        keys.insert(row.get(0)?, sessions.len());
        sessions.push(Session {
            header,
            trials: Vec::new(),
            end,
            resumptions: Vec::new(),
        });
    }
    Ok((keys, sessions))
}

fn trial(row: &Row<'_>) -> rusqlite::Result<Trial> {
    let cell = from_json(text(row, 2)?, row, 2)?;
    let targets = || from_json(text(row, 7)?, row, 7);
    Ok(Trial {
        targets: is_there(row, 7)?.then(targets).transpose()?,
        outcome: match text(row, 4)? {
            "completed" => TrialOutcome::Completed,
            "interrupted" => TrialOutcome::Interrupted,
            "skipped" => TrialOutcome::Skipped(skip(row, 5)?),
            _ => TrialOutcome::Failed {
                message: detail(row, 5)?,
            },
        },
        start_ns: count(row, 6)?,
        ..Trial::new(cell, row.get(3)?)
    })
}

/// The measured phases of each trial.
fn phases(
    connection: &Connection,
    chosen: &str,
    bound: &Bound<'_>,
) -> rusqlite::Result<HashMap<(i64, i64), Vec<Phase>>> {
    let sql = format!(
        "SELECT phases.session, trial, phase, name, phases.outcome, detail, start_ns, elapsed_ns
         FROM {chosen} JOIN phases ON phases.session = chosen.key
         WHERE phases.kind = 'measure' ORDER BY phases.session, trial, phase"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(bound.named().as_slice())?;
    let mut measured = measurements(connection, chosen, bound)?;
    let mut phases: HashMap<(i64, i64), Vec<Phase>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let (key, trial, number) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let outcome = match text(row, 4)? {
            "completed" => PhaseOutcome::Completed,
            "ended_early" => PhaseOutcome::EndedEarly,
            "skipped" => PhaseOutcome::Skipped(skip(row, 5)?),
            _ => PhaseOutcome::Failed {
                message: detail(row, 5)?,
            },
        };
        phases.entry((key, trial)).or_default().push(Phase {
            outcome,
            start_ns: count(row, 6)?,
            elapsed_ns: count(row, 7)?,
            measurements: measured.remove(&(key, trial, number)).unwrap_or_default(),
            ..Phase::new(text(row, 3)?, PhaseKind::Measure)
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
            n: count(row, 7)?,
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
        let (name, unit, better) = (text(row, 3)?, text(row, 4)?, text(row, 5)?);
        let of_name = self.0.entry(name.to_owned()).or_default();
        if let Some((.., metric)) = of_name.iter().find(|(u, b, _)| u == unit && b == better) {
            return Ok(metric.clone());
        }
        let metric = metric(name, word(row, 4)?, word(row, 5)?);
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

fn detail(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    let detail: Option<String> = row.get(column)?;
    Ok(detail.unwrap_or_default())
}

/// The reason that was kept as `code: detail`.
fn skip(row: &Row<'_>, column: usize) -> rusqlite::Result<SkipReason> {
    let whole = detail(row, column)?;
    let (code, detail) = whole.split_once(": ").unwrap_or((&whole, ""));
    let code: SkipCode = variant(code, row, column)?;
    Ok(SkipReason::new(code, detail))
}
