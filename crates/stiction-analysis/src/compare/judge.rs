//! The verdict on one metric: refusals first, in order, then the judgement.

use stiction_core::{Better, Metric, MetricClass, PhaseOutcome, Subject};

use super::decide;
use super::order::{Order, order};
use super::pairing::{Pair, Run, without_number};
use super::work;
use crate::change::{Change, SideValue, is_percent_of_baseline};
use crate::estimate::plan;
use crate::verdict::{Effects, Verdict};

/// Fewest blocks that a verdict may rest on: below six no exact rank interval at
/// 95 % is finite.
pub(super) const FEWEST_BLOCKS: u32 = 6;

/// What holds for every metric of one pair.
pub(super) struct Ground<'a> {
    pub(super) pair: &'a Pair<'a>,
    /// Whether both sides are parts of one session that was measured here, so that
    /// the places of its trials tell their order in time.
    pub(super) one_measured_session: bool,
    /// Why nothing of the two sessions may be compared, if so.
    pub(super) incomparable: &'a [String],
    /// What the numbers of each side are about.
    pub(super) subjects: (Subject, Subject),
    /// How far runs of one configuration were seen apart for a metric, in words and
    /// as a change.
    pub(super) noise: &'a dyn Fn(&Metric) -> Option<Noise>,
    pub(super) effects: &'a Effects,
}

/// How far runs of one configuration lie apart.
pub(super) struct Noise {
    pub(super) size: f64,
    pub(super) told: String,
}

/// What is to become of one metric.
pub(super) enum Judgement {
    /// It is described and not judged.
    Described,
    /// There is nothing left to decide.
    Settled(Verdict),
    /// There are enough blocks to decide.
    Blocks {
        /// ln(b / a) of each block, signed so that B's being better is positive.
        differences: Vec<f64>,
        /// The smallest effect of interest.
        effect: f64,
    },
}

/// What is to become of `metric`.
pub(super) fn judge(
    ground: &Ground<'_>,
    metric: &Metric,
    a: Option<&SideValue>,
    b: Option<&SideValue>,
    change: Option<&Change>,
) -> Judgement {
    if let Some(verdict) = failed(ground, metric, a, b).or_else(|| not_comparable(ground)) {
        return Judgement::Settled(verdict);
    }
    let effect = ground.effects.of(metric.class);
    // Percentages of a baseline are conclusions that others drew; whoever compares
    // two of them wants to know whether they differ.
    if metric.better == Better::Neither || (effect.is_none() && !is_percent_of_baseline(metric)) {
        return Judgement::Described;
    }
    let (Some(a), Some(b)) = (a, b) else {
        let missing = if a.is_none() { "A" } else { "B" };
        let reason = format!("{missing} has no such number");
        return Judgement::Settled(Verdict::CannotTell {
            reasons: vec![reason],
            runs_needed: None,
        });
    };
    if let (Some(effect), Some(differences)) = (effect, differences(ground, metric, a, b)) {
        return Judgement::Blocks {
            differences,
            effect,
        };
    }
    Judgement::Settled(cannot_tell(ground, metric, (a, b), change, effect))
}

/// The differences of the blocks, if there are enough of them to judge by.
fn differences(
    ground: &Ground<'_>,
    metric: &Metric,
    a: &SideValue,
    b: &SideValue,
) -> Option<Vec<f64>> {
    let pair = ground.pair;
    let Order::Blocks(blocks) = blocks(pair) else {
        return None;
    };
    let whole = a.runs.len() == pair.a.len() && b.runs.len() == pair.b.len();
    let positive = a.runs.iter().chain(&b.runs).all(|&run| run > 0.0);
    let enough = blocks.len() >= FEWEST_BLOCKS as usize;
    if !ground.one_measured_session || !whole || !positive || !enough {
        return None;
    }
    let at = |runs: &[Run<'_>], values: &[f64], place: usize| {
        let index = runs.iter().position(|run| run.place == place)?;
        values.get(index).copied()
    };
    blocks
        .into_iter()
        .map(|(place_a, place_b)| {
            let a = at(&pair.a, &a.runs, place_a)?;
            let b = at(&pair.b, &b.runs, place_b)?;
            Some(decide::sign(metric.better) * (b / a).ln())
        })
        .collect()
}

/// A run failed, or measured nothing where work was to be done.
fn failed(
    ground: &Ground<'_>,
    metric: &Metric,
    a: Option<&SideValue>,
    b: Option<&SideValue>,
) -> Option<Verdict> {
    let pair = ground.pair;
    let of_side = |name: &str, value: Option<&SideValue>, runs: &[Run<'_>], trouble| {
        let stopped = runs.iter().find_map(|run| without_number(run.phase));
        let cut_off: &Option<String> = trouble;
        let nothing = metric.class == MetricClass::Throughput
            && value.is_some_and(|value| value.runs.iter().any(|&run| run <= 0.0));
        let reason = stopped
            .or_else(|| cut_off.clone().filter(|_| value.is_none()))
            .or_else(|| nothing.then(|| "it is 0: nothing was done".to_owned()))?;
        Some(format!("{name}: {reason}"))
    };
    let failed_a = of_side("A", a, &pair.a, &pair.trouble.0);
    let failed_b = of_side("B", b, &pair.b, &pair.trouble.1);
    let only_b = failed_a.is_none();
    let reasons: Vec<String> = failed_a.into_iter().chain(failed_b).collect();
    (!reasons.is_empty()).then_some(Verdict::Failed { only_b, reasons })
}

/// The two sides did different work, or measured different things.
fn not_comparable(ground: &Ground<'_>) -> Option<Verdict> {
    let mut reasons = ground.incomparable.to_vec();
    if let (Some(a), Some(b)) = (ground.pair.a.first(), ground.pair.b.first())
        && let (Some(a), Some(b)) = (&a.phase.job, &b.phase.job)
    {
        reasons.extend(work::job_differences(a, b));
    }
    match ground.subjects {
        (Subject::Cache, Subject::Disk | Subject::Limiter) => {
            reasons.push("A measured memory and B the device".to_owned());
        }
        (Subject::Disk | Subject::Limiter, Subject::Cache) => {
            reasons.push("A measured the device and B memory".to_owned());
        }
        _ => {}
    }
    (!reasons.is_empty()).then_some(Verdict::NotComparable { reasons })
}

/// Everything that keeps the numbers from deciding.
fn cannot_tell(
    ground: &Ground<'_>,
    metric: &Metric,
    (a, b): (&SideValue, &SideValue),
    change: Option<&Change>,
    effect: Option<f64>,
) -> Verdict {
    let mut reasons = vec![replication(ground, a, b)];
    if let Some(change) = change {
        if change.lowest <= 0.0 && change.highest >= 0.0 && a.lowest < a.highest {
            reasons.push("the printed digits do not tell the two apart".to_owned());
        }
        if let Some(noise) = (ground.noise)(metric) {
            let within = change.value.abs() <= noise.size;
            let smaller = if within {
                ", and this difference is no larger"
            } else {
                ""
            };
            reasons.push(format!("{}{smaller}", noise.told));
        }
    } else {
        reasons.push("a change from 0 is no percentage".to_owned());
    }
    for (name, runs) in [("A", &ground.pair.a), ("B", &ground.pair.b)] {
        if runs
            .iter()
            .any(|run| run.phase.outcome == PhaseOutcome::EndedEarly)
        {
            reasons.push(format!("{name} ended before it had done all of its work"));
        }
    }
    let runs_needed = effect.and_then(|effect| plan::runs_needed(&a.runs, &b.runs, effect));
    Verdict::CannotTell {
        reasons,
        runs_needed: runs_needed.or(effect.map(|_| FEWEST_BLOCKS)),
    }
}

/// What the number and the order of the runs leave open.
fn replication(ground: &Ground<'_>, a: &SideValue, b: &SideValue) -> String {
    let (runs_a, runs_b) = (a.runs.len(), b.runs.len());
    match (runs_a, runs_b) {
        (1, 1) => "1 run a side: nothing is known of the spread".to_owned(),
        (1, _) => "1 run in A: nothing is known of its spread".to_owned(),
        (_, 1) => "1 run in B: nothing is known of its spread".to_owned(),
        _ if !ground.one_measured_session => format!(
            "{runs_a} runs in A and {runs_b} in B, not interleaved: what drifted between the \
             sessions looks like a difference"
        ),
        _ => match blocks(ground.pair) {
            Order::Batched => format!(
                "{runs_a} runs in A and {runs_b} in B that followed each other: drift looks like \
                 a difference; runs have to be interleaved"
            ),
            Order::OneSideFirst(blocks) => format!(
                "{} blocks with the same side first in all: what drifts inside a block looks \
                 like a difference; the order has to be random",
                blocks.len()
            ),
            Order::Blocks(blocks) => {
                format!(
                    "{} blocks, and a verdict needs {FEWEST_BLOCKS}",
                    blocks.len()
                )
            }
        },
    }
}

pub(super) fn blocks(pair: &Pair<'_>) -> Order {
    let places = |runs: &[Run<'_>]| -> Vec<usize> { runs.iter().map(|run| run.place).collect() };
    order(&places(&pair.a), &places(&pair.b))
}
