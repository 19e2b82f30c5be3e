//! The answer to `stiction curve`: a line for each rate, a plot, and how much holds.

mod plot;

use stiction_analysis::curve::{Curve, Knee, Row, Spread, range_confidence};
use stiction_core::{
    Access, Action, Arrivals, Job, Metric, RateOutcome, Session, TrialOutcome, format_bytes,
    format_duration_ns, metrics,
};

use crate::doubts::doubts;
use crate::figure::{measured, rounded_count};
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::{saved, session_gap};
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::quick::head;
use plot::{Lines, Mark, plot};

/// The screen: what the place stands on, each rate, the plot, what speaks against it,
/// and the answer in its last line. Of a session that is no curve there is only the
/// latter.
#[must_use]
pub fn curve(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = Page::new(style);
    head(&mut page, "curve", session);
    write_curve(&mut page, judged);
    write_doubts(&mut page, judged);
    page.line(saved(&session.header.id, "show"));
    page.paragraph("", Span::new(Role::Strong, answer(judged)));
    page.finish()
}

/// The rates and the plot, if the session is a curve with rates.
pub(crate) fn write_curve(page: &mut Page, judged: &Judged<'_>) {
    let Some(curve) = Curve::of(judged.session()).filter(|curve| !curve.rows.is_empty()) else {
        return;
    };
    page.blank();
    if let Some(job) = curve.rows.iter().find_map(|row| row.phases[0].job.as_ref()) {
        page.paragraph("", workload_line(job));
    }
    if let Some(maximum) = curve.over_runs(|run| run.maximum_per_s) {
        let text = format!(
            "A closed loop reaches {}.",
            per_s_over_runs(maximum, curve.runs.len())
        );
        page.line(text);
    }
    page.blank();
    page.table(0, &table(&curve, judged));
    if curve.runs.len() > 1 {
        let note = format!(
            "Percentiles are of all {} runs together; `by run` is their range, which holds the \
             median of such runs with {:.1} %.",
            curve.runs.len(),
            100.0 * range_confidence(curve.runs.len())
        );
        page.paragraph("", Span::new(Role::Faint, note));
    }
    page.blank();
    for line in plot(&marks(&curve), lines(&curve)) {
        page.line(line);
    }
    page.blank();
}

/// `random read of 4 KiB, io_uring, direct, up to 64 in flight, Poisson arrivals`
fn workload_line(job: &Job) -> String {
    let order = match job.access {
        Access::Sequential => "sequential",
        Access::RandomPermutation | Access::RandomIndependent => "random",
    };
    let what = match job.action {
        Action::Read => "read".to_owned(),
        Action::Write => "write".to_owned(),
        Action::Trim => "trim".to_owned(),
        Action::TrimWrite => "trim and write".to_owned(),
        Action::Mixed { reads_percent } => format!("read ({reads_percent} %) and write"),
    };
    let arrivals = match job.pace.map(|pace| pace.arrivals) {
        Some(Arrivals::Poisson) => "Poisson arrivals",
        Some(Arrivals::Fixed) => "even arrivals",
        None => "closed loop",
    };
    format!(
        "{order} {what} of {}, {}, {}, up to {} in flight, {arrivals}",
        format_bytes(job.block_size_bytes),
        job.backend.as_str(),
        if job.direct { "direct" } else { "buffered" },
        u64::from(job.depth) * job.workers() as u64,
    )
}

fn table(curve: &Curve<'_>, judged: &Judged<'_>) -> Table {
    let mut table = Table::new(vec![
        Column::right("asked", 9),
        Column::right("done", 6),
        Column::left("what", 7),
        Column::right("p50", 7),
        Column::right("p99", 7),
        Column::right("p99 by run", 17),
        Column::right("p99.9", 7),
        Column::right("late p99", 8),
        Column::left("", 12),
    ]);
    for row in &curve.rows {
        table.row(cells(row, judged));
    }
    table
}

fn cells(row: &Row<'_>, judged: &Judged<'_>) -> Vec<Span> {
    let time = |spread: Option<Spread>| {
        spread.map_or_else(|| "-".to_owned(), |s| format_duration_ns(s.value))
    };
    let p99 = row.latency_ns(0.99, &metrics::LATENCY_P99);
    let by_run = p99.filter(|_| row.phases.len() > 1).map(|spread| {
        let (lowest, highest) = (spread.lowest, spread.highest);
        format!(
            "{} - {}",
            format_duration_ns(lowest),
            format_duration_ns(highest)
        )
    });
    let subject = judged.subject_of(row.phases[0]);
    let done = row.figure(&metrics::DONE_OVER_ASKED);
    vec![
        format!("{}/s", rounded_count(row.asked_per_s)).into(),
        done.map_or_else(String::new, |s| percent(s.lowest)).into(),
        subject.map_or_else(Span::default, |subject| {
            Span::new(Role::of(subject), subject.to_string())
        }),
        time(row.latency_ns(0.5, &metrics::LATENCY_P50)).into(),
        time(p99).into(),
        by_run.unwrap_or_default().into(),
        time(row.latency_ns(0.999, &metrics::LATENCY_P999)).into(),
        time(row.figure(&metrics::LATENESS_P99)).into(),
        word(row.outcome),
    ]
}

/// A share, cut so that 99.97 % is not all of it.
fn percent(ratio: f64) -> String {
    if ratio >= 1.0 {
        return "100 %".to_owned();
    }
    format!("{:.1} %", (ratio * 1000.0).floor() / 10.0)
}

fn word(outcome: RateOutcome) -> Span {
    match outcome {
        RateOutcome::Held => Span::new(Role::Good, "held"),
        RateOutcome::TooSlow => Span::new(Role::Bad, "too slow"),
        RateOutcome::FellBehind => Span::new(Role::Bad, "fell behind"),
        RateOutcome::TooFew => Span::new(Role::Doubt, "too few ops"),
    }
}

fn marks(curve: &Curve<'_>) -> Vec<Mark> {
    let value = |row: &Row<'_>, quantile, metric: &Metric| {
        row.latency_ns(quantile, metric).map(|spread| spread.value)
    };
    let mark = |row: &Row<'_>| Mark {
        per_s: row.asked_per_s,
        p50_ns: value(row, 0.5, &metrics::LATENCY_P50),
        p99_ns: value(row, 0.99, &metrics::LATENCY_P99),
        p999_ns: value(row, 0.999, &metrics::LATENCY_P999),
    };
    curve.rows.iter().map(mark).collect()
}

fn lines(curve: &Curve<'_>) -> Lines {
    let knee = curve.over_runs(|run| match run.knee {
        Some(Knee::At(per_s)) => Some(per_s),
        _ => None,
    });
    Lines {
        limit_ns: curve.bound.limit.map(|limit| limit.at_most_ns as f64),
        held_per_s: curve.over_runs(|run| run.held_per_s).map(|s| s.value),
        knee_per_s: knee.map(|s| s.value),
    }
}

fn write_doubts(page: &mut Page, judged: &Judged<'_>) {
    let phases: Vec<JudgedPhase<'_>> = judged
        .trials()
        .flat_map(|(_, phases)| phases)
        .filter(JudgedPhase::is_measured)
        .collect();
    let gap = session_gap(judged.session());
    for doubt in gap.into_iter().chain(doubts(judged.session(), &phases)) {
        page.paragraph("- ", Span::new(Role::Doubt, doubt));
    }
}

/// `41.2 k/s (40.1 k to 43.0 k in 3 runs)`
fn per_s_over_runs(spread: Spread, runs: usize) -> String {
    let value = measured(metrics::OPERATION_RATE.unit, spread.value);
    if runs < 2 {
        return value;
    }
    let (lowest, highest) = (rounded_count(spread.lowest), rounded_count(spread.highest));
    if lowest == highest {
        return format!("{value} (the same in {runs} runs)");
    }
    format!("{value} ({lowest} to {highest} in {runs} runs)")
}

/// What the curve says: how much holds, what stops it, and where the knee is; `None`
/// of a session that is no curve, or has no rates.
pub(crate) fn finding(session: &Session) -> Option<String> {
    let curve = Curve::of(session).filter(|curve| !curve.runs.is_empty())?;
    let runs = curve.runs.len();
    let condition = curve
        .bound
        .limit
        .map_or_else(String::new, |limit| format!(" with {limit}"));
    let mut text = match curve.over_runs(|run| run.held_per_s) {
        Some(held) => format!("Holds up to {}{condition}", per_s_over_runs(held, runs)),
        None => match curve.over_runs(|run| run.broke.map(|(per_s, _)| per_s)) {
            Some(broke) => format!(
                "No rate held{condition}; the lowest tried was {}",
                per_s_over_runs(broke, runs)
            ),
            None => format!("No rate could be judged{condition}"),
        },
    };
    if curve.runs.iter().all(|run| run.broke.is_none()) {
        text.push_str(", and nothing higher was tried");
    }
    if let Some(knee) = curve.over_runs(|run| run.knee.map(Knee::per_s)) {
        let place = match curve.runs.iter().find_map(|run| run.knee) {
            Some(Knee::Below(_)) => "at or below",
            Some(Knee::Beyond(_)) => "at or beyond",
            _ => "at",
        };
        text.push_str(&format!("; knee {place} {}", per_s_over_runs(knee, runs)));
    }
    Some(text)
}

/// The finding, or why there is none.
fn answer(judged: &Judged<'_>) -> String {
    finding(judged.session()).unwrap_or_else(|| {
        let trials = judged.session().trials.iter();
        let why = trials.filter_map(|trial| match &trial.outcome {
            TrialOutcome::Skipped(reason) => Some(format!(": {}", reason.detail)),
            TrialOutcome::Failed { message } => Some(format!(": {message}")),
            TrialOutcome::Interrupted => Some(": interrupted".to_owned()),
            TrialOutcome::Completed => None,
        });
        let why = why.take(1).collect::<String>();
        format!("No rate was measured{why}")
    })
}
