//! Two sides, cell by cell and metric by metric.
//!
//! Cells are matched by their factors, phases by name, measurements by metric. Each
//! row carries both values, the change with the precision that the printed digits
//! allow, and a [`Verdict`]. What cannot be held against each other is listed, not
//! dropped.

pub mod decide;
mod environment;
mod judge;
mod order;
mod pairing;
mod settle;
mod side;
mod work;

use stiction_core::{
    Caveat, Cell, Measurement, Metric, Phase, Provenance, Seed, SessionId, Subject, format_count,
};

pub use crate::change::{Change, Favours, Scale, SideValue};
pub use environment::{Difference, EnvironmentDifference, difference};
pub use pairing::{SideFactor, Unmatched};
pub use side::{Side, levels};

use crate::decompose::{Decomposition, decompose};
use crate::doubt::{self, Finding};
use crate::noise::{self, Repeat};
use crate::verdict::{Effects, Outcome, Verdict};
use judge::{Ground, Judgement, Noise};
use pairing::{Pair, Run};

/// What the user may say about a comparison.
#[derive(Clone, Debug)]
pub struct CompareOptions {
    /// What the comparison is about: a factor such as `kernel`, or the beginning of a
    /// key of the environment. When it is named, sides that differ in anything else
    /// are not comparable; when it is not, the differences are listed.
    pub factor: Option<String>,
    /// The smallest effects of interest.
    pub effects: Effects,
    /// Seed of the sign patterns that are drawn where there are too many to try all.
    pub seed: Seed,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            factor: None,
            effects: Effects::default(),
            seed: Seed(1),
        }
    }
}

/// What two sides came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// A's name.
    pub a: String,
    /// B's name.
    pub b: String,
    /// The sessions that A and B are of, or are parts of.
    pub sessions: (SessionId, SessionId),
    /// What tells the sides apart as a whole, the factor that chose them first.
    pub factors: Vec<SideFactor>,
    /// How the machines differ.
    pub environment: EnvironmentDifference,
    /// Parameters of the workload that differ; keys are those of the plan.
    pub parameters: Vec<Difference>,
    /// The rows, in A's order.
    pub rows: Vec<Row>,
    /// What speaks against the numbers of the phases compared.
    pub doubts: Vec<Doubt>,
    /// What only one side has.
    pub unmatched: Vec<Unmatched>,
    /// Where the time went, for each phase that tells both time and CPU.
    pub decompositions: Vec<Decomposition>,
    /// Configurations that stand in the sessions several times, and how far their
    /// runs lie apart.
    pub noise: Vec<Repeat>,
    /// What the reader should know before the rows, a sentence each.
    pub notes: Vec<String>,
}

impl Comparison {
    /// What all verdicts come to.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome::of(self.rows.iter().filter_map(|row| row.verdict.as_ref()))
    }
}

/// A reason to doubt the numbers of one phase on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// Whether the phase is A's.
    pub in_a: bool,
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The doubt, of the first run that has it.
    pub caveat: Caveat,
    /// Runs that have a doubt of this code.
    pub runs: u32,
}

/// One metric of one phase of one cell on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The cell, without the factors that tell the sides apart.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// The metric.
    pub metric: Metric,
    /// A's value; `None` when it has none.
    pub a: Option<SideValue>,
    /// B's value.
    pub b: Option<SideValue>,
    /// How far B is from A; `None` when a side has no value or A's is 0.
    pub change: Option<Change>,
    /// The estimate from blocks, where there were enough.
    pub estimate: Option<Estimate>,
    /// The verdict; `None` for metrics that are described and never judged.
    pub verdict: Option<Verdict>,
}

/// A change estimated from blocks of one run a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The typical change, percent, with the metric's own sign.
    pub change_percent: f64,
    /// The lower end of the exact 95 % interval, percent.
    pub lowest_percent: f64,
    /// The upper end, percent.
    pub highest_percent: f64,
    /// The chance of such a difference anywhere in the comparison without an effect.
    pub p_adjusted: f64,
    /// Blocks that it rests on.
    pub blocks: u32,
    /// The smallest change, percent, that so many blocks with such a spread would have
    /// shown four times out of five.
    pub visible_percent: f64,
}

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
        sessions: (a.session.header.id.clone(), b.session.header.id.clone()),
        notes: notes(a, b, &factors, one_session),
        factors,
        environment,
        parameters: work::parameter_differences(a.session, b.session),
        rows: settle::settle(drafts, options),
        doubts,
        unmatched,
        decompositions,
        noise,
    }
}

fn is_measured(side: &Side<'_>) -> bool {
    side.session.header.provenance == Provenance::Measured
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
                estimate: None,
                verdict: None,
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
