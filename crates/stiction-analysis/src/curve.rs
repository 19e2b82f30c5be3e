//! A curve of latency over the rate that was asked for: what held, what broke, and
//! where the knee is.
//!
//! All of it is read from the phases of a session, each a rate of one run. Percentiles
//! of several runs are those of all their operations together; how far runs lie apart is
//! said by the lowest and the highest run, since operations within a run are not
//! independent and would make any other interval too narrow.

mod knee;

use stiction_core::{
    Bound, Histogram, Metric, Pace, Phase, PhaseKind, Rate, RateOutcome, Session,
    latencies_of_operations, metrics,
};

pub use knee::{Knee, knee};

/// The workload whose sessions are curves.
const WORKLOAD: &str = "curve";

/// A session that is a curve.
#[derive(Clone, Debug)]
pub struct Curve<'a> {
    /// What a rate had to keep.
    pub bound: Bound,
    /// What each run came to, in order; runs without a rate are left out.
    pub runs: Vec<Reading>,
    /// The rates that were asked for, in rising order, over all runs.
    pub rows: Vec<Row<'a>>,
}

/// What one run came to. Rates are operations per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// What a closed loop reached.
    pub maximum_per_s: Option<f64>,
    /// The greatest rate that held, below every one that did not; `None` when none did.
    pub held_per_s: Option<f64>,
    /// The least rate that did not hold, and why; `None` when all held.
    pub broke: Option<(f64, RateOutcome)>,
    /// The knee, among the rates that were kept; `None` when these are too few.
    pub knee: Option<Knee>,
}

/// One rate, over all runs that asked for it.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// What was asked for, operations per second.
    pub asked_per_s: f64,
    /// The worst of what came of it.
    pub outcome: RateOutcome,
    /// Its phases, one a run.
    pub phases: Vec<&'a Phase>,
    latencies: Histogram,
}

/// A figure of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Of all operations together, or the mean over runs for what is no latency.
    pub value: f64,
    /// The lowest run.
    pub lowest: f64,
    /// The highest run.
    pub highest: f64,
}

impl<'a> Curve<'a> {
    /// Reads the curve of `session`; `None` when it is none.
    #[must_use]
    pub fn of(session: &'a Session) -> Option<Self> {
        let plan = session.header.plan.as_ref()?;
        if plan.workload != WORKLOAD {
            return None;
        }
        let bound: Bound = serde_json::from_value(plan.parameters.get("bound")?.clone()).ok()?;
        let runs: Vec<Vec<(f64, &Phase)>> = session
            .trials
            .iter()
            .map(|trial| rates(&trial.phases))
            .collect();
        let readings = session.trials.iter().zip(&runs);
        let readings = readings.filter(|(_, rates)| !rates.is_empty());
        Some(Self {
            bound,
            runs: readings
                .map(|(trial, rates)| {
                    let maximum = trial.phases.iter().find(|phase| is_closed(phase));
                    let maximum_per_s = maximum.and_then(|p| p.value(&metrics::OPERATION_RATE));
                    Reading::of(&bound, maximum_per_s, rates)
                })
                .collect(),
            rows: rows(&bound, runs.concat()),
        })
    }

    /// The figure of all runs: the middle one, the lower of two, and the range.
    #[must_use]
    pub fn over_runs(&self, figure: impl Fn(&Reading) -> Option<f64>) -> Option<Spread> {
        let mut values: Vec<f64> = self.runs.iter().filter_map(figure).collect();
        values.sort_by(f64::total_cmp);
        Some(Spread {
            value: *values.get(values.len().checked_sub(1)? / 2)?,
            lowest: *values.first()?,
            highest: *values.last()?,
        })
    }
}

/// The probability that the range of so many independent runs holds the median of all
/// runs there could be, 0 to 1: all of `n` lie on one side of it with 2 (1/2)^n.
#[must_use]
pub fn range_confidence(runs: usize) -> f64 {
    1.0 - 2f64.powi(1 - i32::try_from(runs.max(1)).unwrap_or(i32::MAX))
}

/// The open-loop phases with figures, with their rates, in rising order.
fn rates(phases: &[Phase]) -> Vec<(f64, &Phase)> {
    let mut rates: Vec<(f64, &Phase)> = phases
        .iter()
        .filter(|phase| phase.kind == PhaseKind::Measure && phase.has_numbers())
        .filter_map(|phase| Some((asked_per_s(phase)?, phase)))
        .collect();
    rates.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    rates
}

fn is_closed(phase: &Phase) -> bool {
    phase.kind == PhaseKind::Measure && phase.job.as_ref().is_some_and(|job| job.pace.is_none())
}

/// The rate that a phase was to keep, all workers together, operations per second. The
/// workers' shares are rounded down to bytes, so it is rounded up again.
fn asked_per_s(phase: &Phase) -> Option<f64> {
    let job = phase.job.as_ref()?;
    let Pace { rate, .. } = job.pace?;
    let workers = job.workers() as f64;
    Some(match rate {
        Rate::OperationsPerS(each) => each as f64 * workers,
        Rate::BytesPerS(each) => (each as f64 * workers / job.block_size_bytes as f64).round(),
    })
}

fn rows<'a>(bound: &Bound, mut rates: Vec<(f64, &'a Phase)>) -> Vec<Row<'a>> {
    rates.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let mut rows: Vec<Row<'a>> = Vec::new();
    for (asked_per_s, phase) in rates {
        let Some(outcome) = bound.judge(phase) else {
            continue;
        };
        let ramp_ns = phase.job.as_ref().map_or(0, |job| job.ramp_ns);
        let latencies = latencies_of_operations(&phase.after_ramp(ramp_ns)).unwrap_or_default();
        match rows.last_mut() {
            Some(row) if row.asked_per_s == asked_per_s => {
                row.outcome = worse(row.outcome, outcome);
                row.phases.push(phase);
                row.latencies.merge(&latencies);
            }
            _ => rows.push(Row {
                asked_per_s,
                outcome,
                phases: vec![phase],
                latencies,
            }),
        }
    }
    rows
}

fn worse(one: RateOutcome, other: RateOutcome) -> RateOutcome {
    let rank = |outcome| match outcome {
        RateOutcome::Held => 0,
        RateOutcome::TooFew => 1,
        RateOutcome::TooSlow => 2,
        RateOutcome::FellBehind => 3,
    };
    if rank(other) > rank(one) { other } else { one }
}

impl Reading {
    fn of(bound: &Bound, maximum_per_s: Option<f64>, rates: &[(f64, &Phase)]) -> Self {
        let judged: Vec<(f64, RateOutcome)> = rates
            .iter()
            .filter_map(|(per_s, phase)| Some((*per_s, bound.judge(phase)?)))
            .collect();
        let broke = judged
            .iter()
            .copied()
            .find(|(_, outcome)| matches!(outcome, RateOutcome::TooSlow | RateOutcome::FellBehind));
        let below = broke.map_or(f64::INFINITY, |(per_s, _)| per_s);
        let held = judged
            .iter()
            .rfind(|(per_s, outcome)| *per_s < below && *outcome == RateOutcome::Held);
        let kept: Vec<(f64, f64)> = rates
            .iter()
            .filter(|(_, phase)| bound.judge(phase) != Some(RateOutcome::FellBehind))
            .filter_map(|(_, phase)| {
                let rate = phase.value(&metrics::OPERATION_RATE)?;
                Some((rate, phase.value(&metrics::LATENCY_MEAN)?))
            })
            .collect();
        Self {
            maximum_per_s,
            held_per_s: held.map(|(per_s, _)| *per_s),
            broke,
            knee: knee(&kept),
        }
    }
}

impl Row<'_> {
    /// A percentile of latency, ns: of all operations, and by run; `None` when there are
    /// too few operations to tell.
    #[must_use]
    pub fn latency_ns(&self, quantile: f64, metric: &Metric) -> Option<Spread> {
        let value = self.latencies.quantile_ns_if_enough(quantile)? as f64;
        let (lowest, highest) = self.range(metric).unwrap_or((value, value));
        Some(Spread {
            value,
            lowest,
            highest,
        })
    }

    /// A figure that is no percentile: the mean over runs, and by run.
    #[must_use]
    pub fn figure(&self, metric: &Metric) -> Option<Spread> {
        let values: Vec<f64> = self.phases.iter().filter_map(|p| p.value(metric)).collect();
        let (lowest, highest) = self.range(metric)?;
        Some(Spread {
            value: values.iter().sum::<f64>() / values.len() as f64,
            lowest,
            highest,
        })
    }

    fn range(&self, metric: &Metric) -> Option<(f64, f64)> {
        let mut values: Vec<f64> = self.phases.iter().filter_map(|p| p.value(metric)).collect();
        values.sort_by(f64::total_cmp);
        Some((*values.first()?, *values.last()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Arrivals, Job, LoopKind, Measurement, Region};

    fn bound() -> Bound {
        Bound {
            limit: Some("p99=2ms".parse().unwrap()),
            done_over_asked_min: 0.98,
        }
    }

    /// A rate of one exponential server that does 1000 a second: the mean time in it is
    /// 1 ms / (1 - load), and 99 of 100 stay within 4.605 times that.
    fn phase(per_s: u64) -> Phase {
        let mut phase = Phase::new(format!("rate_{per_s}_per_s"), PhaseKind::Measure);
        let load = per_s as f64 / 1000.0;
        let mean_ns = 1e6 / (1.0 - load).max(0.001);
        phase.job = Some(Job {
            block_size_bytes: 4096,
            regions: vec![
                Region {
                    target: 0,
                    offset_bytes: 0,
                    length_bytes: 4096
                };
                3
            ],
            pace: Some(Pace {
                rate: Rate::BytesPerS(per_s * 4096 / 3),
                by_way: None,
                arrivals: Arrivals::Poisson,
                kind: LoopKind::Open,
            }),
            ..Job::default()
        });
        for (metric, value) in [
            (metrics::OPERATION_RATE, (per_s as f64).min(1000.0)),
            (metrics::DONE_OVER_ASKED, (1.0 / load).min(1.0)),
            (metrics::LATENCY_MEAN, mean_ns),
            (metrics::LATENCY_P99, mean_ns * 100f64.ln()),
        ] {
            phase.measurements.push(Measurement::new(metric, value, 1));
        }
        phase
    }

    fn read(rates: &[u64], bound: Bound) -> Reading {
        let phases: Vec<Phase> = rates.iter().map(|&per_s| phase(per_s)).collect();
        Reading::of(&bound, None, &super::rates(&phases))
    }

    /// 4.605 ms / (1 - load) is beyond 2 ms at any load, and beyond 10 ms from 539.5 a
    /// second on.
    #[test]
    fn the_greatest_rate_below_all_that_break_is_what_holds() {
        let rates = [100, 1100, 300, 500, 530, 550, 700];
        let strict = read(&rates, bound());
        assert_eq!(strict.held_per_s, None);
        assert_eq!(strict.broke, Some((100.0, RateOutcome::TooSlow)));
        let limit = Some("p99=10ms".parse().unwrap());
        let reading = read(&rates, Bound { limit, ..bound() });
        assert_eq!(reading.held_per_s, Some(530.0));
        assert_eq!(reading.broke, Some((550.0, RateOutcome::TooSlow)));
        assert_eq!(reading.knee.map(Knee::per_s).map(f64::round), Some(500.0));
        let free = read(
            &rates,
            Bound {
                limit: None,
                ..bound()
            },
        );
        assert_eq!(free.held_per_s, Some(700.0));
        assert_eq!(free.broke, Some((1100.0, RateOutcome::FellBehind)));
        let all = read(
            &[100, 200],
            Bound {
                limit: None,
                ..bound()
            },
        );
        assert_eq!((all.broke, all.held_per_s), (None, Some(200.0)));
    }

    #[test]
    fn runs_of_one_rate_are_one_row_with_a_range() {
        let (mut one, mut other) = (phase(500), phase(500));
        for (phase, ns) in [(&mut one, 1000), (&mut other, 3000)] {
            let mut latencies = Histogram::new();
            (0..1000).for_each(|_| latencies.record(ns));
            phase.recordings = vec![stiction_core::Recording {
                direction: stiction_core::Direction::Read,
                intervals: vec![stiction_core::Interval {
                    start_ns: 0,
                    length_ns: 1,
                    bytes: 0,
                    latencies,
                }],
            }];
            phase
                .measurements
                .retain(|m| m.metric != metrics::LATENCY_P99);
            phase
                .measurements
                .push(Measurement::new(metrics::LATENCY_P99, ns as f64, 1000));
        }
        let low = phase(100);
        let rows = rows(
            &bound(),
            vec![(500.0, &one), (100.0, &low), (500.0, &other)],
        );
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[1].asked_per_s, rows[1].phases.len()), (500.0, 2));
        let spread = rows[1].latency_ns(0.99, &metrics::LATENCY_P99).unwrap();
        assert_eq!((spread.lowest, spread.highest), (1000.0, 3000.0));
        assert!(
            (spread.value - 3000.0).abs() < 3.0,
            "all operations together"
        );
        assert_eq!(rows[0].latency_ns(0.99, &metrics::LATENCY_P99), None);
    }

    /// Of two runs both lie above the median, or both below, in half of all cases.
    #[test]
    fn a_range_of_six_runs_is_an_interval_of_95_percent() {
        assert_eq!(range_confidence(1), 0.0);
        assert_eq!(range_confidence(2), 0.5);
        assert_eq!(range_confidence(6), 0.96875);
    }
}
