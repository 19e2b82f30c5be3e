//! A session into the tables.

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use serde::Serialize;
use stiction_core::{
    Caveat, Phase, PhaseOutcome, Provenance, Session, SessionHeader, Summary, Trial, TrialOutcome,
};

/// Where a row belongs: the session's key, the trial, the phase.
type Place = (i64, Option<i64>, Option<i64>);

pub(super) fn put(
    connection: &mut Connection,
    sessions: &[(Session, u64)],
) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (session, journal_bytes) in sessions {
        put_session(&transaction, session, *journal_bytes)?;
    }
    transaction.commit()
}

fn put_session(
    transaction: &Transaction<'_>,
    session: &Session,
    journal_bytes: u64,
) -> rusqlite::Result<()> {
    let id = session.header.id.as_str();
    transaction
        .prepare_cached("DELETE FROM sessions WHERE id = ?")?
        .execute([id])?;
    put_summary(transaction, session, journal_bytes)?;
    let key = transaction.last_insert_rowid();
    transaction
        .prepare_cached("INSERT INTO records VALUES (?, ?)")?
        .execute(params![key, json(session)])?;
    put_header(transaction, key, &session.header)?;
    put_caveats(transaction, (key, None, None), &session.header.caveats)?;
    for (number, trial) in (0..).zip(&session.trials) {
        put_trial(transaction, key, number, trial)?;
    }
    Ok(())
}

fn put_summary(
    transaction: &Transaction<'_>,
    session: &Session,
    journal_bytes: u64,
) -> rusqlite::Result<()> {
    let summary = Summary::from(session);
    let (provenance, file, layout) = match &summary.provenance {
        Provenance::Measured => ("measured", None, None),
        Provenance::Imported { file, layout } => ("imported", Some(file), Some(layout)),
    };
    let plan = session.header.plan.as_ref();
    transaction
        .prepare_cached(
            "INSERT INTO sessions VALUES
             (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            summary.id.as_str(),
            summary.started.to_string(),
            super::read::time_ns(summary.started),
            summary.ended.map(|at| at.to_string()),
            summary.outcome.as_ref().map(word),
            session.end.as_ref().and_then(|end| end.message.as_deref()),
            summary.label,
            summary.workload,
            provenance,
            file,
            layout,
            summary.tool.name,
            summary.tool.version,
            summary.kernel_release,
            json(&summary.targets),
            json(&summary.filesystems),
            plan.map(|plan| plan.digest().to_string()),
            integer(summary.trials.completed),
            integer(summary.trials.interrupted),
            integer(summary.trials.skipped),
            integer(summary.trials.failed),
            integer(journal_bytes),
        ])?;
    Ok(())
}

/// The header, without the list of planned trials and what was typed, which can be long.
fn put_header(
    transaction: &Transaction<'_>,
    key: i64,
    header: &SessionHeader,
) -> rusqlite::Result<()> {
    let mut header = header.clone();
    header.invocation = None;
    if let Some(plan) = &mut header.plan {
        plan.trials.clear();
    }
    transaction
        .prepare_cached("INSERT INTO headers VALUES (?, ?)")?
        .execute(params![key, json(&header)])?;
    Ok(())
}

fn put_trial(
    transaction: &Transaction<'_>,
    key: i64,
    number: i64,
    trial: &Trial,
) -> rusqlite::Result<()> {
    let (outcome, detail) = match &trial.outcome {
        TrialOutcome::Completed => ("completed", None),
        TrialOutcome::Interrupted => ("interrupted", None),
        TrialOutcome::Skipped(reason) => ("skipped", Some(reason_text(reason))),
        TrialOutcome::Failed { message } => ("failed", Some(message.clone())),
    };
    transaction
        .prepare_cached("INSERT INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?
        .execute(params![
            key,
            number,
            json(&trial.cell),
            trial.repetition,
            outcome,
            detail,
            integer(trial.start_ns),
            trial.targets.as_ref().map(json),
        ])?;
    put_caveats(transaction, (key, Some(number), None), &trial.caveats)?;
    for (place, phase) in (0..).zip(&trial.phases) {
        put_phase(transaction, (key, number, place), phase)?;
    }
    Ok(())
}

fn put_phase(
    transaction: &Transaction<'_>,
    (key, trial, number): (i64, i64, i64),
    phase: &Phase,
) -> rusqlite::Result<()> {
    let (outcome, detail) = match &phase.outcome {
        PhaseOutcome::Completed => ("completed", None),
        PhaseOutcome::EndedEarly => ("ended_early", None),
        PhaseOutcome::Skipped(reason) => ("skipped", Some(reason_text(reason))),
        PhaseOutcome::Failed { message } => ("failed", Some(message.clone())),
    };
    transaction
        .prepare_cached("INSERT INTO phases VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?
        .execute(params![
            key,
            trial,
            number,
            phase.name,
            word(&phase.kind),
            outcome,
            detail,
            integer(phase.start_ns),
            integer(phase.elapsed_ns),
        ])?;
    let mut insert = transaction
        .prepare_cached("INSERT INTO measurements VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (place, measurement) in (0i64..).zip(&phase.measurements) {
        insert.execute(params![
            key,
            trial,
            number,
            place,
            measurement.metric.name,
            word(&measurement.metric.unit),
            word(&measurement.metric.better),
            measurement.value,
            integer(measurement.n),
            measurement.printed,
            measurement.corrected,
        ])?;
    }
    put_caveats(
        transaction,
        (key, Some(trial), Some(number)),
        &phase.caveats,
    )
}

fn put_caveats(
    transaction: &Transaction<'_>,
    (key, trial, phase): Place,
    caveats: &[Caveat],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached("INSERT INTO caveats VALUES (?, ?, ?, ?, ?)")?;
    for caveat in caveats {
        insert.execute(params![
            key,
            trial,
            phase,
            caveat.code.as_str(),
            caveat.detail
        ])?;
    }
    Ok(())
}

fn reason_text(reason: &stiction_core::SkipReason) -> String {
    format!("{}: {}", reason.code, reason.detail)
}

/// The largest integers that SQLite has stand for all larger ones.
fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("a record is plain data")
}

/// The word that records use for a variant without fields.
fn word(variant: &impl Serialize) -> String {
    json(variant).trim_matches('"').to_owned()
}
