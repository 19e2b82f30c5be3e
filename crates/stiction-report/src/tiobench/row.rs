//! The rows of tiobench's reports: one for each cell, with all its runs combined.

use stiction_core::{Cell, Metric, Phase, Session, Trial, metrics};

use super::{ClassicOptions, Latencies};
use crate::outcome::{phase_gap, tells_of, trial_gaps, trial_name};
use crate::text::ascii;

/// Bytes in what tiobench calls a megabyte.
pub(super) const MIB: f64 = 1_048_576.0;
const NS_PER_MS: f64 = 1e6;

/// One cell of the matrix, in the words of the driver.
#[derive(Clone)]
pub(super) struct Row<'a> {
    /// First column: the kernel's release unless the user said otherwise.
    pub(super) identifier: String,
    /// Level of the factor `directory`, when the matrix varied it.
    pub(super) directory: Option<String>,
    /// Total over all threads, MiB.
    pub(super) size_mib: Option<f64>,
    pub(super) block_size_bytes: Option<i64>,
    pub(super) threads: Option<i64>,
    /// The repetitions of the cell, in the order in which they ran.
    pub(super) trials: Vec<&'a Trial>,
}

/// The rows of a session, in the order in which their first runs stand in it.
pub(super) fn rows<'a>(session: &'a Session, options: &ClassicOptions) -> Vec<Row<'a>> {
    let mut cells: Vec<(&Cell, Vec<&Trial>)> = Vec::new();
    for trial in &session.trials {
        match cells.iter_mut().find(|(cell, _)| **cell == trial.cell) {
            Some((_, trials)) => trials.push(trial),
            None => cells.push((&trial.cell, vec![trial])),
        }
    }
    cells
        .into_iter()
        .map(|(cell, trials)| Row {
            identifier: identifier(session, cell, options),
            directory: cell
                .get("directory")
                .map(|level| ascii(&level.to_string()).into_owned()),
            size_mib: cell
                .integer("file_size_bytes")
                .map(|bytes| bytes as f64 / MIB),
            block_size_bytes: cell.integer("block_size_bytes"),
            threads: cell.integer("threads"),
            trials,
        })
        .collect()
}

/// What the driver puts into its first column: what the user said, now or when it
/// ran, else the kernel.
fn identifier(session: &Session, cell: &Cell, options: &ClassicOptions) -> String {
    let observed = session.header.environment.kernel.as_ref();
    let planned = session.header.plan.as_ref();
    let planned = planned.and_then(|plan| plan.parameters.get("identifier")?.as_str());
    let text = options
        .identifier
        .clone()
        .or_else(|| planned.map(str::to_owned))
        .or_else(|| cell.get("kernel").map(ToString::to_string))
        .or_else(|| observed.map(|kernel| kernel.release.clone()))
        .unwrap_or_else(|| "unknown".to_owned());
    ascii(&text).into_owned()
}

/// The figures of one row and phase; what is not known is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Figures {
    pub(super) rate_mib_per_s: Option<f64>,
    /// CPU time over wall time; 100 is one busy CPU.
    pub(super) cpu_percent: Option<f64>,
    pub(super) latency_ms_mean: Option<f64>,
    pub(super) latency_ms_max: Option<f64>,
    pub(super) over_2s_percent: Option<f64>,
    pub(super) over_10s_percent: Option<f64>,
}

impl Row<'_> {
    /// The runs of `phase` that have numbers.
    pub(super) fn runs(&self, phase: &str) -> Vec<&Phase> {
        self.trials
            .iter()
            .filter_map(|trial| trial.phase(phase))
            .filter(|phase| phase.has_numbers())
            .collect()
    }

    /// The figures of `phase` over all runs that have numbers; `None` without any.
    ///
    /// Rate and CPU share are ratios of sums, as the driver makes them. Latencies
    /// are means over all operations and the maximum is the largest, unless they
    /// are asked for [as they were](Latencies::SummedAsWas).
    pub(super) fn figures(&self, phase: &str, latencies: Latencies) -> Option<Figures> {
        let runs = self.runs(phase);
        if runs.is_empty() {
            return None;
        }
        let amounts_known = runs
            .iter()
            .all(|run| run.value(&metrics::BYTES).is_some() && elapsed_s(run).is_some());
        let work: Option<Vec<Work>> = runs.iter().map(|run| work(run, amounts_known)).collect();
        let rate = work
            .as_ref()
            .map(|work| sum(work, |w| w.amount_mib) / sum(work, |w| w.time_s));
        let cpu = work.as_ref().and_then(|work| {
            let cpu_s: Option<f64> = work.iter().map(|w| w.cpu_s).sum();
            Some(100.0 * cpu_s? / sum(work, |w| w.time_s))
        });
        let combine = |metric: &Metric| match latencies {
            Latencies::Averaged => mean_over_operations(&runs, metric),
            Latencies::SummedAsWas => runs.iter().map(|run| run.value(metric)).sum(),
        };
        let latency_ns_max = match latencies {
            Latencies::Averaged => largest(&runs, &metrics::LATENCY_MAX),
            Latencies::SummedAsWas => combine(&metrics::LATENCY_MAX),
        };
        Some(Figures {
            rate_mib_per_s: rate,
            cpu_percent: cpu,
            latency_ms_mean: combine(&metrics::LATENCY_MEAN).map(|ns| ns / NS_PER_MS),
            latency_ms_max: latency_ns_max.map(|ns| ns / NS_PER_MS),
            over_2s_percent: combine(&metrics::LATENCY_OVER_2S),
            over_10s_percent: combine(&metrics::LATENCY_OVER_10S),
        })
    }

    /// Why runs of this cell, or phases of them, have no numbers.
    pub(super) fn gaps(&self) -> Vec<String> {
        let mut gaps = trial_gaps(self.trials.iter().copied());
        for trial in &self.trials {
            let phases = trial.phases.iter().filter(|phase| !tells_of(trial, phase));
            let parts = phases.filter_map(phase_gap);
            gaps.extend(parts.map(|gap| format!("{}: {gap}", trial_name(trial))));
        }
        gaps
    }
}

/// What one run did, for adding up.
#[derive(Clone, Copy)]
struct Work {
    amount_mib: f64,
    time_s: f64,
    cpu_s: Option<f64>,
}

/// The work of one run. Where a table gave rates alone, every run counts as one
/// MiB: runs of one cell move equal amounts, so the ratios come out the same.
fn work(run: &Phase, amount_known: bool) -> Option<Work> {
    let (amount_mib, time_s) = if amount_known {
        (run.value(&metrics::BYTES)? / MIB, elapsed_s(run)?)
    } else {
        (1.0, MIB / run.value(&metrics::RATE)?)
    };
    Some(Work {
        amount_mib,
        time_s,
        cpu_s: cpu_s(run).or_else(|| Some(run.value(&metrics::CPU_PERCENT)? / 100.0 * time_s)),
    })
}

fn sum(work: &[Work], of: impl Fn(&Work) -> f64) -> f64 {
    work.iter().map(of).sum()
}

/// Wall time of a run, s.
pub(super) fn elapsed_s(run: &Phase) -> Option<f64> {
    run.value(&metrics::ELAPSED)
        .or_else(|| (run.elapsed_ns > 0).then(|| run.elapsed_ns as f64 / 1e9))
}

/// CPU time of a run in user and kernel mode, s.
fn cpu_s(run: &Phase) -> Option<f64> {
    Some(run.value(&metrics::CPU_USER)? + run.value(&metrics::CPU_SYSTEM)?)
}

/// Operations of a run; runs that do not say count alike.
fn weight(run: &Phase) -> f64 {
    run.value(&metrics::OPERATIONS).unwrap_or(1.0)
}

/// The mean of `metric` over all operations of all runs.
pub(super) fn mean_over_operations(runs: &[&Phase], metric: &Metric) -> Option<f64> {
    let said: Vec<(f64, f64)> = runs
        .iter()
        .filter_map(|run| Some((run.value(metric)?, weight(run))))
        .collect();
    let operations: f64 = said.iter().map(|(_, weight)| weight).sum();
    (operations > 0.0).then(|| {
        said.iter()
            .map(|(value, weight)| value * weight)
            .sum::<f64>()
            / operations
    })
}

/// The largest value of `metric` over all runs.
pub(super) fn largest(runs: &[&Phase], metric: &Metric) -> Option<f64> {
    runs.iter()
        .filter_map(|run| run.value(metric))
        .reduce(f64::max)
}
