//! Two sides, cell by cell and metric by metric.
//!
//! Cells are matched by their factors, phases by name, measurements by metric. Each
//! row carries both values, the change with the precision that the printed digits
//! allow, and a [`Verdict`](crate::Verdict). What cannot be held against each other is listed, not
//! dropped.

mod comparison;
pub mod decide;
mod environment;
mod judge;
mod matrix;
mod options;
mod order;
mod pairing;
mod remark;
mod replication;
mod settle;
mod side;
mod summary;
mod tails;
mod work;

pub(crate) use work::flat_parameters;

use stiction_core::{Measurement, Metric, Phase, Provenance, Subject, format_count};

pub use crate::change::{Change, Favours, Scale, SideValue};
pub use comparison::{BlockValues, Comparison, Doubt, Estimate, Method, Row};
pub use environment::{Difference, EnvironmentDifference, difference};
pub use matrix::{Fact, Family, Matrix, Projection, Setup};
pub use options::{CompareOptions, Control};
pub use pairing::{SideFactor, Unmatched};
pub use remark::{Remark, RemarkCode};
pub use replication::{Replication, RunOrder, Unit};
pub use side::{Side, levels};
pub use summary::{AtCell, Counts, EqualRange, Summary, SummaryTable};
pub use tails::{Shift, ShiftPoint, StallCounts, Stalls};

use crate::decompose::{Decomposition, decompose};
use crate::doubt::{self, Finding};
use crate::noise::{self, Repeat};
use judge::{Ground, Judgement, Noise};
use pairing::{Pair, Run};

/// Holds `b` against `a`.
#[must_use]
pub fn compare(a: &Side<'_>, b: &Side<'_>, options: &CompareOptions) -> Comparison {
    let factors = pairing::side_factors(a, b);
    let (pairs, unmatched) = pairing::pairs(a, b, &factors);
    let one_session = a.session.header.id == b.session.header.id;
    let environment = difference(
        &a.session.header.environment,
        &b.session.header.environment,
        options.factor.as_deref(),
    );
    let mut noise = noise::repeats(a.session);
    if !one_session {
        noise.extend(noise::repeats(b.session));
    }
    let widest = noise::widest(&noise);
    let incomparable = incomparable(a, b, &environment, options);
    let mut drafts: Vec<(Row, Judgement)> = Vec::new();
    let mut decompositions = Vec::new();
    let mut doubts = Vec::new();
    for pair in &pairs {
        let findings = (findings(a, &pair.a), findings(b, &pair.b));
        let subjects = (subject(&findings.0), subject(&findings.1));
        doubts.extend(doubts_of(pair, true, &findings.0));
        doubts.extend(doubts_of(pair, false, &findings.1));
        let ground = Ground {
            pair,
            one_measured_session: one_session && is_measured(a),
            incomparable: &incomparable,
            subjects,
            noise: &|metric| told_noise(&widest, &pair.phase, metric),
            effects: &options.effects,
        };
        drafts.extend(rows(&ground));
        decompositions.extend(decompose_pair(pair));
    }
    Comparison {
        a: a.name.clone(),
        b: b.name.clone(),
        sessions: (
            vec![a.session.header.id.clone()],
            vec![b.session.header.id.clone()],
        ),
        replication: replication(&pairs),
        notes: notes(a, b, &factors, one_session),
        factors,
        environment,
        parameters: work::parameter_differences(a.session, b.session),
        rows: settle::settle(drafts, options),
        doubts,
        unmatched,
        decompositions,
        shifts: Vec::new(),
        stalls: Vec::new(),
        noise,
    }
}

fn is_measured(side: &Side<'_>) -> bool {
    side.session.header.provenance == Provenance::Measured
}

/// Holds each of `candidates` against `baseline`, all judged as one family.
#[must_use]
pub fn matrix(baseline: &Side<'_>, candidates: &[Side<'_>], options: &CompareOptions) -> Matrix {
    let comparisons: Vec<Comparison> = candidates
        .iter()
        .map(|candidate| compare(baseline, candidate, options))
        .collect();
    let estimates = || {
        let rows = comparisons.iter().flat_map(|comparison| &comparison.rows);
        rows.filter_map(|row| row.estimate)
    };
    let blocks = || estimates().map(|estimate| estimate.blocks);
    let visible = || estimates().map(|estimate| estimate.visible_percent);
    let family = Family {
        control: options.control,
        judged: estimates().count() as u32,
        blocks: blocks().min().zip(blocks().max()),
        visible_percent: visible()
            .min_by(f64::total_cmp)
            .zip(visible().max_by(f64::total_cmp)),
        seed: options.seed,
    };
    Matrix {
        baseline: baseline.name.clone(),
        comparisons,
        tables: Vec::new(),
        projection: Projection {
            row: options.row.clone(),
            ..Projection::default()
        },
        family,
        setup: Setup::default(),
    }
}

/// What was repeated, and how the repetitions lie.
fn replication(pairs: &[Pair<'_>]) -> Replication {
    let most = |runs: fn(&Pair<'_>) -> usize| pairs.iter().map(runs).max().unwrap_or(0) as u32;
    let worst = pairs
        .iter()
        .map(|pair| match judge::blocks(pair) {
            order::Order::Blocks(_) => RunOrder::Interleaved,
            order::Order::OneSideFirst(_) => RunOrder::OneSideFirst,
            order::Order::Batched => RunOrder::NotInterleaved,
        })
        .max();
    Replication {
        unit: Unit::Run,
        a: most(|pair| pair.a.len()),
        b: most(|pair| pair.b.len()),
        order: worst.unwrap_or(RunOrder::NotInterleaved),
    }
}

/// What keeps anything of the two sides from being compared.
fn incomparable(
    a: &Side<'_>,
    b: &Side<'_>,
    environment: &EnvironmentDifference,
    options: &CompareOptions,
) -> Vec<String> {
    let mut reasons = Vec::new();
    reasons.extend(work::benchmark_difference(a.session, b.session));
    if let Some(factor) = &options.factor {
        let others: Vec<&str> = environment.unnamed().map(|d| d.key.as_str()).collect();
        if !others.is_empty() {
            let others = others.join(", ");
            reasons.push(format!("besides {factor} the machines differ in {others}"));
        }
    }
    reasons
}

fn notes(a: &Side<'_>, b: &Side<'_>, factors: &[SideFactor], one_session: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if let [first, others @ ..] = factors
        && !others.is_empty()
    {
        let others: Vec<&str> = others.iter().map(|side| side.factor.as_str()).collect();
        let (first, others) = (&first.factor, others.join(" and "));
        notes.push(format!(
            "{others} differs too: a difference cannot be put down to {first} alone"
        ));
    }
    if !one_session && is_measured(a) != is_measured(b) {
        let measured = if is_measured(a) { "A" } else { "B" };
        notes.push(format!(
            "only {measured} was measured here; the other side is as printed"
        ));
    }
    notes
}

/// What the examination of each run came to.
fn findings(side: &Side<'_>, runs: &[Run<'_>]) -> Vec<Finding> {
    let environment = &side.session.header.environment;
    runs.iter()
        .map(|run| doubt::examine_in_cell(run.phase, &run.trial.cell, environment))
        .collect()
}

/// What the runs' numbers are about; unknown when they disagree.
fn subject(findings: &[Finding]) -> Subject {
    let mut subjects = findings.iter().map(|finding| finding.subject);
    let first = subjects.next().unwrap_or(Subject::Unknown);
    if subjects.all(|subject| subject == first) {
        first
    } else {
        Subject::Unknown
    }
}

/// The doubts of all runs of one side, one of each code.
fn doubts_of(pair: &Pair<'_>, in_a: bool, findings: &[Finding]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = Vec::new();
    for caveat in findings.iter().flat_map(|finding| &finding.caveats) {
        match doubts
            .iter_mut()
            .find(|doubt| doubt.caveat.code == caveat.code)
        {
            Some(doubt) => doubt.runs += 1,
            None => doubts.push(Doubt {
                in_a,
                cell: pair.cell.clone(),
                phase: pair.phase.clone(),
                caveat: caveat.clone(),
                runs: 1,
            }),
        }
    }
    doubts
}

fn told_noise(widest: &[&Repeat], phase: &str, metric: &Metric) -> Option<Noise> {
    let widest = widest.iter().find(|repeat| repeat.is_of(phase, metric))?;
    let size = widest.spread;
    let amount = match widest.scale {
        Scale::Percent => format!("{size:.1} %"),
        Scale::Points => format!("{size:.1} points"),
    };
    let runs = format_count(widest.values.len() as f64);
    Some(Noise {
        size,
        told: format!(
            "{} runs of one configuration ({}) lie {amount} apart",
            runs.trim(),
            widest.cell
        ),
    })
}

/// One row for each metric of a pair.
fn rows(ground: &Ground<'_>) -> Vec<(Row, Judgement)> {
    let pair = ground.pair;
    let measurements = |run: &Run<'_>| run.phase.has_numbers();
    let all = pair.a.iter().chain(&pair.b).filter(|run| measurements(run));
    let metrics = all.flat_map(|run| run.phase.measurements.iter().map(|m| &m.metric));
    pairing::distinct(metrics)
        .into_iter()
        .map(|metric| {
            let side = |runs: &[Run<'_>], subject| {
                let runs = runs.iter().filter(|run| run.phase.has_numbers());
                let measured = runs.filter_map(|run| run.phase.measurement(metric));
                let measured: Vec<&Measurement> = measured.collect();
                SideValue::of(&measured, subject)
            };
            let a = side(&pair.a, ground.subjects.0);
            let b = side(&pair.b, ground.subjects.1);
            let change = match (&a, &b) {
                (Some(a), Some(b)) => Change::between(metric, a, b),
                _ => None,
            };
            let judgement = judge::judge(ground, metric, a.as_ref(), b.as_ref(), change.as_ref());
            let row = Row {
                cell: pair.cell.clone(),
                phase: pair.phase.clone(),
                metric: metric.clone(),
                a,
                b,
                change,
                blocks: Vec::new(),
                estimate: None,
                effect_percent: None,
                floor: None,
                floor_percent: None,
                verdict: None,
                remarks: Vec::new(),
            };
            (row, judgement)
        })
        .collect()
}

fn decompose_pair(pair: &Pair<'_>) -> Option<Decomposition> {
    decompose(&pair.cell, &pair.phase, &phases(&pair.a), &phases(&pair.b))
}

fn phases<'a>(runs: &[Run<'a>]) -> Vec<&'a Phase> {
    runs.iter().map(|run| run.phase).collect()
}
