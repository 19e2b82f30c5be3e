//! What is seen in the numbers of a row beside its verdict: drift, modes, outliers, noise
//! above the effect, blocks that lack a side.

use stiction_core::{Metric, Provenance};

use super::comparison::Row;
use super::decide::LEVEL;
use super::design::{Design, Moment, moment};
use super::gathered;
use super::judge::Ground;
use super::options::CompareOptions;
use super::pairing::{Pair, Run};
use super::remark::{Remark, RemarkCode};
use super::replication::RunOrder;
use crate::change::SideValue;
use crate::estimate::{outliers, trend};
use crate::noise::Floor;
use crate::verdict::Verdict;

/// Runs of both sides that a trend is looked for in at least.
const FEWEST_FOR_TREND: usize = 8;

/// Runs a side that one may lie far from at least.
const FEWEST_FOR_OUTLIERS: usize = 5;

/// What is seen in the runs of one metric with the smallest effect of interest `effect`, a
/// share.
pub(super) fn of_runs(
    ground: &Ground<'_>,
    metric: &Metric,
    a: Option<&SideValue>,
    b: Option<&SideValue>,
    effect: f64,
) -> Vec<Remark> {
    let design = &ground.design;
    let mut found = Vec::new();
    let mut remark =
        |code, text: Option<String>| found.extend(text.map(|text| Remark { code, text }));
    remark(RemarkCode::Unfinished, unfinished(design));
    if ground.accept_batched {
        remark(RemarkCode::NotInterleaved, accepted(design));
    }
    if let (Some(a), Some(b)) = (a, b) {
        remark(RemarkCode::Drift, drift(ground.pair, design, metric));
        let margin = effect.ln_1p();
        let modes = gathered::told(metric, (a, b), margin, ground.references);
        remark(RemarkCode::Modes, modes);
        remark(RemarkCode::Outlier, far("A", a));
        remark(RemarkCode::Outlier, far("B", b));
    }
    found
}

fn unfinished(design: &Design) -> Option<String> {
    let words = match design.unfinished {
        0 => return None,
        1 => "1 block lacks a side and was".to_owned(),
        count => format!("{count} blocks lack a side and were"),
    };
    Some(format!("{words} left out"))
}

fn accepted(design: &Design) -> Option<String> {
    match design.order {
        RunOrder::Interleaved => None,
        RunOrder::OneSideFirst => Some(
            "the same side came first in every block, which was accepted: what drifts inside a \
             block looks like a difference"
                .to_owned(),
        ),
        RunOrder::NotInterleaved => Some(
            "the runs were not interleaved, which was accepted: drift looks like a difference"
                .to_owned(),
        ),
    }
}

/// Whether runs became faster or slower with time, of both sides together, each about
/// its own level. Only of runs whose order is known.
fn drift(pair: &Pair<'_>, design: &Design, metric: &Metric) -> Option<String> {
    if design.order == RunOrder::NotInterleaved {
        return None;
    }
    let value = |side: usize, run: &Run<'_>| Some((moment(run), side, run.phase.value(metric)?));
    let of_a = pair.a.iter().map(|run| value(0, run));
    let of_b = pair.b.iter().map(|run| value(1, run));
    let mut all: Vec<(Moment, usize, f64)> = of_a.chain(of_b).collect::<Option<_>>()?;
    if all.len() < FEWEST_FOR_TREND {
        return None;
    }
    all.sort_by(|one, other| one.0.cmp(&other.0));
    let runs: Vec<(usize, f64)> = all.into_iter().map(|(_, side, v)| (side, v)).collect();
    let found = trend::of_runs(&runs)?;
    let way = if found.tau > 0.0 { "rose" } else { "fell" };
    (found.p <= LEVEL).then(|| {
        format!(
            "DRIFT: values {way} from run to run (Kendall's tau {:+.2}), which makes the spread of \
             runs {:.1} times as wide; blocks absorb it",
            found.tau, found.inflation
        )
    })
}

fn far(name: &str, side: &SideValue) -> Option<String> {
    if side.runs.len() < FEWEST_FOR_OUTLIERS {
        return None;
    }
    let are_far = outliers::are_far(&side.runs);
    let places: Vec<String> = are_far
        .iter()
        .enumerate()
        .filter(|(_, far)| **far)
        .map(|(place, _)| (place + 1).to_string())
        .collect();
    let runs = match &places[..] {
        [] => return None,
        [only] => format!("run {only} of {name} lies"),
        several => format!("runs {} of {name} lie", several.join(", ")),
    };
    Some(format!("{runs} far from the others; kept"))
}

/// Why too few operations stand behind a percentile that stiction measured: fewer than
/// ten beyond it in some run.
pub(super) fn too_few(metric: &Metric, runs: &[&Run<'_>]) -> Option<Remark> {
    let percentile = percentile(metric)?;
    // 100 - 99.9 is a little less than a tenth.
    let needed = (1000.0 / (100.0 - percentile) - 1e-6).ceil() as u64;
    let measured = runs
        .iter()
        .filter(|run| run.session.header.provenance == Provenance::Measured);
    let counts = measured.filter_map(|run| run.phase.measurement(metric).map(|m| m.n));
    let fewest = counts.min()?;
    (fewest < needed).then(|| Remark {
        code: RemarkCode::TooFewOperations,
        text: format!("{fewest} operations in a run, and p{percentile} needs {needed}"),
    })
}

/// Which percentile a metric is, from its name: `latency_ns_p99_9` is the 99.9th.
fn percentile(metric: &Metric) -> Option<f64> {
    let (_, digits) = metric.name.rsplit_once("_p")?;
    let percentile: f64 = digits.replace('_', ".").parse().ok()?;
    (0.0..100.0).contains(&percentile).then_some(percentile)
}

/// The row with what is known of its noise, and what follows from that and its verdict.
pub(super) fn finished(mut row: Row, floors: &[Floor], options: &CompareOptions) -> Row {
    let of_row = |floor: &&Floor| {
        floor.cell == row.cell && floor.phase == row.phase && floor.metric == row.metric.name
    };
    let found = floors.iter().chain(&options.floors).find(of_row);
    if let Some(floor) = found {
        let blocks = row
            .estimate
            .map_or(floor.blocks, |estimate| estimate.blocks);
        row.floor_percent = floor.percent(blocks);
        row.floor = Some(floor.clone());
        let effect = row.effect_percent.unwrap_or(f64::INFINITY);
        if let Some(percent) = row.floor_percent.filter(|&percent| percent > effect) {
            let text = format!(
                "the noise of {} blocks is {percent:.1} % ({}): SAME within {effect:.1} % is out \
                 of reach",
                blocks, floor.from
            );
            let code = RemarkCode::BelowNoise;
            row.remarks.push(Remark { code, text });
        }
    }
    if let (Some(Verdict::Same), Some(estimate)) = (&row.verdict, &row.estimate)
        && estimate.excludes_zero()
    {
        row.remarks.push(Remark {
            code: RemarkCode::RealButSmall,
            text: format!("real but small: {:+.2} %", estimate.change_percent),
        });
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::metrics;

    #[test]
    fn names_say_which_percentile_it_is() {
        assert_eq!(percentile(&metrics::LATENCY_P999), Some(99.9));
        assert_eq!(percentile(&metrics::SYNC_LATENCY_P50), Some(50.0));
        assert_eq!(percentile(&metrics::CPU_PERCENT), None);
        assert_eq!(percentile(&metrics::RATE), None);
    }
}
