//! The verdict on one metric: refusals first, in order, then the judgement.

use stiction_core::{
    Better, Metric, MetricClass, PhaseOutcome, Subject, Unit as MetricUnit, metrics,
};

use super::comparison::BlockValues;
use super::decide;
use super::design::Design;
use super::pairing::{Pair, Run, Trouble, without_number};
use super::replication::{RunOrder, Unit};
use super::restated;
use super::work::JobDifferences;
use crate::change::{Change, SideValue, is_percent_of_baseline};
use crate::estimate::dip::References;
use crate::estimate::plan::{self, FEWEST_BLOCKS};
use crate::verdict::{Effects, Verdict};

/// Fewest repetitions a side that belong to no blocks: below four no exact interval at
/// 95 % is finite.
const FEWEST_UNPAIRED: usize = 4;

/// What holds for every metric of one pair.
pub(super) struct Ground<'a> {
    pub(super) pair: &'a Pair<'a>,
    /// How its runs make blocks.
    pub(super) design: Design,
    /// Why nothing of the two sides may be compared, if so.
    pub(super) incomparable: &'a [String],
    /// What the two sides' jobs do differently.
    pub(super) jobs: JobDifferences,
    /// Whether what jobs do differently is what the comparison is about.
    pub(super) jobs_may_differ: bool,
    /// What the numbers of each side are about.
    pub(super) subjects: (Subject, Subject),
    /// How far runs of one configuration were seen apart for a metric, in words and
    /// as a change.
    pub(super) noise: &'a dyn Fn(&Metric) -> Option<Noise>,
    pub(super) effects: &'a Effects,
    /// The classes of metrics that are judged; none for all.
    pub(super) classes: &'a [MetricClass],
    /// Whether the command that ran tells figures of its own: they are the score then,
    /// and what it took is described.
    pub(super) tells_a_score: bool,
    /// After which blocks looks were planned; none where the blocks were not to end early.
    pub(super) looks: &'a [u32],
    /// Whether the user wants runs judged that were not interleaved.
    pub(super) accept_batched: bool,
    /// What a dip of a number of runs is held against.
    pub(super) references: &'a References,
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
    /// There are enough repetitions to decide.
    Open(Evidence),
}

/// What a decision rests on.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Evidence {
    /// ln(b / a) of each block, signed so that B's being better is positive.
    Blocks(Vec<f64>),
    /// Logarithms of each side's repetitions in no blocks, signed likewise.
    Apart(Vec<f64>, Vec<f64>),
}

/// One metric of one pair, on its way to a verdict.
pub(super) struct Figures<'a> {
    pub(super) metric: &'a Metric,
    pub(super) a: Option<&'a SideValue>,
    pub(super) b: Option<&'a SideValue>,
    pub(super) change: Option<&'a Change>,
    /// The values of the blocks that have both.
    pub(super) blocks: &'a [BlockValues],
    /// Why the metric itself is not the same on both sides, if so.
    pub(super) mismatch: Option<String>,
    /// Whether too few operations stand behind it.
    pub(super) too_few: bool,
    /// The smallest effect of interest, a share.
    pub(super) effect: Option<f64>,
}

/// The smallest effect of interest of `metric`, as a share; `None` where it is described
/// only. A CPU share has to differ by a point at least, since the clock ticks that many
/// kernels count it by are no finer.
pub(super) fn effect(ground: &Ground<'_>, metric: &Metric, a: Option<&SideValue>) -> Option<f64> {
    let (effects, classes) = (ground.effects, ground.classes);
    let left_out = !classes.is_empty() && !classes.contains(&metric.class);
    let beside_the_score = ground.tells_a_score && metrics::by_name(&metric.name).is_some();
    let is_restated = || restated::is_restated(ground.pair, metric);
    if metric.better == Better::Neither || left_out || beside_the_score || is_restated() {
        return None;
    }
    let share = effects.of(metric.class)?;
    let in_points = metric.class == MetricClass::Cpu && metric.unit == MetricUnit::Percent;
    let least = a
        .filter(|a| in_points && a.value > 0.0)
        .map_or(0.0, |a| effects.cpu_points / a.value);
    Some(share.max(least))
}

/// What is to become of a metric.
pub(super) fn judge(ground: &Ground<'_>, figures: &Figures<'_>) -> Judgement {
    let metric = figures.metric;
    let settled = failed(ground, figures)
        .or_else(|| not_run(ground, figures))
        .or_else(|| not_comparable(ground, figures));
    if let Some(verdict) = settled {
        return Judgement::Settled(verdict);
    }
    // Percentages of a baseline are conclusions that others drew; whoever compares
    // two of them wants to know whether they differ.
    let described = metric.better == Better::Neither
        || (figures.effect.is_none() && !is_percent_of_baseline(metric));
    if described || figures.too_few {
        return Judgement::Described;
    }
    let (Some(a), Some(b)) = (figures.a, figures.b) else {
        let missing = if figures.a.is_none() { "A" } else { "B" };
        let reason = format!("{missing} has no such number");
        return Judgement::Settled(Verdict::CannotTell {
            reasons: vec![reason],
            runs_needed: None,
        });
    };
    match evidence(ground, figures, a, b) {
        Some(evidence) if figures.effect.is_some() => Judgement::Open(evidence),
        _ => Judgement::Settled(cannot_tell(ground, figures, a, b)),
    }
}

/// What there is to decide by, if it is enough.
fn evidence(
    ground: &Ground<'_>,
    figures: &Figures<'_>,
    a: &SideValue,
    b: &SideValue,
) -> Option<Evidence> {
    let design = &ground.design;
    if a.runs.iter().chain(&b.runs).any(|&run| run <= 0.0) {
        return None;
    }
    let in_blocks = match design.order {
        RunOrder::Interleaved => true,
        RunOrder::OneSideFirst => ground.accept_batched,
        RunOrder::NotInterleaved => false,
    };
    if in_blocks {
        let blocks = figures.blocks.iter();
        let differences: Vec<f64> = blocks
            .map(|block| block.difference(figures.metric.better))
            .collect();
        return (differences.len() >= FEWEST_BLOCKS as usize)
            .then_some(Evidence::Blocks(differences));
    }
    let apart = design.order == RunOrder::NotInterleaved && ground.accept_batched;
    let sign = decide::sign(figures.metric.better);
    let logs = |runs: &[Run<'_>], units: &[Vec<usize>]| -> Option<Vec<f64>> {
        let values = units
            .iter()
            .filter_map(|unit| mean_of(runs, unit, figures.metric));
        let logs: Vec<f64> = values.map(|value| sign * value.ln()).collect();
        (logs.len() >= FEWEST_UNPAIRED).then_some(logs)
    };
    if !apart {
        return None;
    }
    Some(Evidence::Apart(
        logs(&ground.pair.a, &design.units.0)?,
        logs(&ground.pair.b, &design.units.1)?,
    ))
}

/// The geometric mean of a metric over some runs; `None` where one has no such number
/// above 0.
pub(super) fn mean_of(runs: &[Run<'_>], members: &[usize], metric: &Metric) -> Option<f64> {
    let mut sum = 0.0;
    for &index in members {
        let phase = runs[index].phase;
        let value = phase.value(metric).filter(|_| phase.has_numbers())?;
        sum += Some(value)
            .filter(|value| *value > 0.0 && value.is_finite())?
            .ln();
    }
    match members {
        [] => None,
        // A single value stays as it is, to the last bit.
        [only] => runs[*only].phase.value(metric),
        _ => Some((sum / members.len() as f64).exp()),
    }
}

/// A run failed, or measured nothing where work was to be done.
fn failed(ground: &Ground<'_>, figures: &Figures<'_>) -> Option<Verdict> {
    let pair = ground.pair;
    let of_side =
        |name: &str, value: Option<&SideValue>, runs: &[Run<'_>], trouble: &Option<Trouble>| {
            let stopped = runs.iter().find_map(|run| without_number(run.phase));
            let cut_off: Option<String> = match trouble {
                Some(Trouble::CutOff(reason)) => Some(reason.clone()),
                Some(Trouble::Skipped(_)) | None => None,
            };
            let some = |test: fn(f64) -> bool| {
                value.is_some_and(|value| value.runs.iter().any(|&run| test(run)))
            };
            let nothing = figures.metric.class == MetricClass::Throughput && some(|run| run <= 0.0);
            let reason = stopped
                .or_else(|| cut_off.filter(|_| value.is_none()))
                .or_else(|| some(|run| !run.is_finite()).then(|| "it is no number".to_owned()))
                .or_else(|| nothing.then(|| "it is 0: nothing was done".to_owned()))?;
            Some(format!("{name}: {reason}"))
        };
    let failed_a = of_side("A", figures.a, &pair.a, &pair.trouble.0);
    let failed_b = of_side("B", figures.b, &pair.b, &pair.trouble.1);
    let only_b = failed_a.is_none();
    let reasons: Vec<String> = failed_a.into_iter().chain(failed_b).collect();
    (!reasons.is_empty()).then_some(Verdict::Failed { only_b, reasons })
}

/// A side was skipped in this cell, and has nothing to hold against the other.
fn not_run(ground: &Ground<'_>, figures: &Figures<'_>) -> Option<Verdict> {
    let trouble = &ground.pair.trouble;
    let sides = [("A", figures.a, &trouble.0), ("B", figures.b, &trouble.1)];
    let reasons: Vec<String> = sides
        .into_iter()
        .filter_map(|(name, value, trouble)| match trouble {
            Some(Trouble::Skipped(reason)) if value.is_none() => {
                Some(format!("{name} was skipped: {reason}"))
            }
            _ => None,
        })
        .collect();
    (!reasons.is_empty()).then_some(Verdict::NotRun { reasons })
}

/// The two sides did different work, or measured different things.
fn not_comparable(ground: &Ground<'_>, figures: &Figures<'_>) -> Option<Verdict> {
    let mut reasons = ground.incomparable.to_vec();
    reasons.extend(figures.mismatch.clone());
    let jobs = &ground.jobs;
    if !ground.jobs_may_differ {
        reasons.extend(jobs.all().cloned());
    } else if figures.metric.unit == MetricUnit::Seconds {
        // Rates and latencies are of one operation or one byte, times of all of them.
        reasons.extend(jobs.amount.clone());
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
    figures: &Figures<'_>,
    a: &SideValue,
    b: &SideValue,
) -> Verdict {
    let mut reasons = vec![replication(ground, figures, a, b)];
    if let Some(change) = figures.change {
        if change.lowest <= 0.0 && change.highest >= 0.0 && a.lowest < a.highest {
            reasons.push("the printed digits do not tell the two apart".to_owned());
        }
        if let Some(noise) = (ground.noise)(figures.metric) {
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
    let effect = figures.effect;
    let runs_needed = effect.and_then(|effect| plan::runs_needed(&a.runs, &b.runs, effect));
    Verdict::CannotTell {
        reasons,
        runs_needed: runs_needed.or(effect.map(|_| FEWEST_BLOCKS)),
    }
}

/// What the number and the order of the runs leave open.
fn replication(ground: &Ground<'_>, figures: &Figures<'_>, a: &SideValue, b: &SideValue) -> String {
    let design = &ground.design;
    let (runs_a, runs_b) = (a.runs.len(), b.runs.len());
    match (runs_a, runs_b) {
        (1, 1) => return "1 run a side: nothing is known of the spread".to_owned(),
        (1, _) => return "1 run in A: nothing is known of its spread".to_owned(),
        (_, 1) => return "1 run in B: nothing is known of its spread".to_owned(),
        _ => {}
    }
    if let Some(reason) = too_few_units(design) {
        return reason;
    }
    if a.runs.iter().chain(&b.runs).any(|&run| run <= 0.0) {
        return "a run measured 0, and a change from 0 is no percentage".to_owned();
    }
    if let Some(trouble) = &design.trouble {
        return format!("{runs_a} runs in A and {runs_b} in B, and {trouble}");
    }
    let blocks = figures.blocks.len();
    let one_session = ground
        .pair
        .a
        .iter()
        .chain(&ground.pair.b)
        .all(|run| run.session.header.id == ground.pair.a[0].session.header.id);
    match design.order {
        RunOrder::NotInterleaved if ground.accept_batched => format!(
            "{runs_a} runs in A and {runs_b} in B, and a verdict without blocks needs \
             {FEWEST_UNPAIRED} of each"
        ),
        RunOrder::NotInterleaved if one_session => format!(
            "{runs_a} runs in A and {runs_b} in B that followed each other: drift looks like \
             a difference; runs have to be interleaved"
        ),
        RunOrder::NotInterleaved => format!(
            "{runs_a} runs in A and {runs_b} in B, not interleaved: what drifted between the \
             sessions looks like a difference"
        ),
        RunOrder::OneSideFirst if !ground.accept_batched => format!(
            "{blocks} blocks with the same side first in all: what drifts inside a block looks \
             like a difference; the order has to be random"
        ),
        RunOrder::OneSideFirst | RunOrder::Interleaved => {
            let plural = if blocks == 1 { "" } else { "s" };
            format!("{blocks} block{plural}, and a verdict needs {FEWEST_BLOCKS}")
        }
    }
}

/// What differs is fixed at boot, or is the machine, and was repeated too rarely.
fn too_few_units(design: &Design) -> Option<String> {
    let (one, _) = design.unit.words();
    let fixed = match design.unit {
        Unit::Run | Unit::Session => return None,
        Unit::Boot => "what differs is fixed at boot",
        Unit::Machine => "what differs is the machine",
    };
    let side = match (design.units.0.len(), design.units.1.len()) {
        (1, 1) => "a side",
        (1, _) => "in A",
        (_, 1) => "in B",
        _ => return None,
    };
    Some(format!(
        "1 {one} {side}: 0 degrees of freedom, since {fixed}"
    ))
}
