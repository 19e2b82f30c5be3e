//! The value of a side, and how far it is from the other's.

use stiction_core::{Better, Measurement, Metric, MetricClass, Subject, Unit};

/// What one side has for a metric of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct SideValue {
    /// The value: of one run, or the geometric mean of several (the arithmetic one
    /// where a run is not above 0).
    pub value: f64,
    /// The lowest value that the printed digits can stand for; `value` itself where
    /// stiction measured.
    pub lowest: f64,
    /// The highest value that the printed digits can stand for.
    pub highest: f64,
    /// Each run's value, in the order of time.
    pub runs: Vec<f64>,
    /// What the phase's numbers are about; unknown when runs disagree.
    pub subject: Subject,
    /// The text that a single imported value was printed as.
    pub printed: Option<String>,
    /// Why the value differs from the printed text.
    pub corrected: Option<String>,
}

impl SideValue {
    /// The value of the runs with these measurements.
    pub(crate) fn of(runs: &[&Measurement], subject: Subject) -> Option<Self> {
        let first = runs.first()?;
        let ranges = runs.iter().map(|run| run.printed_range());
        let (lows, highs): (Vec<f64>, Vec<f64>) = ranges.unzip();
        let values: Vec<f64> = runs.iter().map(|run| run.value).collect();
        let single = runs.len() == 1;
        Some(Self {
            value: mean(&values),
            lowest: mean(&lows),
            highest: mean(&highs),
            runs: values,
            subject,
            printed: first.printed.clone().filter(|_| single),
            corrected: first.corrected.clone(),
        })
    }
}

/// The geometric mean, or the arithmetic one where a value is not above 0.
///
/// A run's rate and its time for a fixed amount of work are each other's inverses;
/// only the geometric mean gives the same answer for both.
fn mean(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    match values {
        [value] => *value,
        _ if values.iter().all(|&value| value > 0.0) => {
            (values.iter().map(|value| value.ln()).sum::<f64>() / n).exp()
        }
        _ => values.iter().sum::<f64>() / n,
    }
}

/// In what a change is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Percent of A.
    Percent,
    /// The difference of two percentages of one baseline, in percentage points: a
    /// percentage of a percentage means nothing.
    Points,
}

/// How far B is from A, with the metric's own sign: a rate that falls has a
/// negative change, and so has a latency that falls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Percent or points.
    pub scale: Scale,
    /// The change between the two values.
    pub value: f64,
    /// The lowest change that the printed digits allow.
    pub lowest: f64,
    /// The highest change that the printed digits allow.
    pub highest: f64,
}

impl Change {
    /// The change from `a` to `b`; `None` where no percentage follows, as from 0.
    pub(crate) fn between(metric: &Metric, a: &SideValue, b: &SideValue) -> Option<Self> {
        if is_percent_of_baseline(metric) {
            return Some(Self {
                scale: Scale::Points,
                value: b.value - a.value,
                lowest: b.lowest - a.highest,
                highest: b.highest - a.lowest,
            });
        }
        let percent = |from: f64, to: f64| (to / from - 1.0) * 100.0;
        (a.value > 0.0 && b.value >= 0.0).then(|| Self {
            scale: Scale::Percent,
            value: percent(a.value, b.value),
            lowest: percent(a.highest, b.lowest.max(0.0)),
            // The printed digits of a small number can stand for 0.
            highest: if a.lowest > 0.0 {
                percent(a.lowest, b.highest)
            } else {
                f64::INFINITY
            },
        })
    }

    /// B over A: 9.5 for a rate of 32.39 after 3.42. `None` for points.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.scale == Scale::Percent).then_some(1.0 + self.value / 100.0)
    }

    /// Which way the change goes; `None` when the metric has no better side, or when
    /// the printed digits allow both.
    #[must_use]
    pub fn favours(&self, metric: &Metric) -> Option<Favours> {
        let up = if self.lowest > 0.0 {
            true
        } else if self.highest < 0.0 {
            false
        } else {
            return None;
        };
        match metric.better {
            Better::More => Some(if up { Favours::B } else { Favours::A }),
            Better::Less => Some(if up { Favours::A } else { Favours::B }),
            Better::Neither => None,
        }
    }
}

/// The side with the better value. Not a verdict: see [`Verdict`](crate::Verdict).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Favours {
    /// A's value is the better one.
    A,
    /// B's value is the better one.
    B,
}

/// Whether the metric is itself a percent difference from a baseline.
pub(crate) fn is_percent_of_baseline(metric: &Metric) -> bool {
    metric.unit == Unit::Percent && metric.class == MetricClass::Descriptive
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::metrics;

    fn printed(metric: Metric, value: f64, text: &str) -> SideValue {
        let measurement = Measurement::imported(metric, value, 1, text);
        SideValue::of(&[&measurement], Subject::Unknown).unwrap()
    }

    #[test]
    fn printed_digits_bound_a_change() {
        let a = printed(metrics::RATE, 3.42, "3.42");
        let b = printed(metrics::RATE, 32.39, "32.39");
        let change = Change::between(&metrics::RATE, &a, &b).unwrap();
        assert!((change.ratio().unwrap() - 9.4708).abs() < 1e-4);
        // 32.385 / 3.425 and 32.395 / 3.415
        assert!((change.lowest - 845.547).abs() < 1e-3, "{}", change.lowest);
        assert!(
            (change.highest - 848.609).abs() < 1e-3,
            "{}",
            change.highest
        );
        assert_eq!(change.favours(&metrics::RATE), Some(Favours::B));
        assert_eq!(change.favours(&metrics::ELAPSED), Some(Favours::A));
        assert_eq!(change.favours(&metrics::BYTES), None);
    }

    #[test]
    fn digits_too_coarse_favour_nobody() {
        let a = printed(metrics::CPU_PERCENT, 3.0, "3%");
        let b = printed(metrics::CPU_PERCENT, 4.0, "4%");
        let change = Change::between(&metrics::CPU_PERCENT, &a, &b).unwrap();
        assert_eq!(
            (change.lowest, change.favours(&metrics::CPU_PERCENT)),
            (0.0, None)
        );
    }

    #[test]
    fn percentages_of_a_baseline_differ_in_points() {
        let a = printed(metrics::CHANGE_HIGHEST, 48.14, "48.14(1)");
        let b = printed(metrics::CHANGE_HIGHEST, 22.12, "22.12(1)");
        let change = Change::between(&metrics::CHANGE_HIGHEST, &a, &b).unwrap();
        assert_eq!(change.scale, Scale::Points);
        assert!((change.value + 26.02).abs() < 1e-9);
        assert_eq!(change.ratio(), None);
    }

    #[test]
    fn nothing_is_a_percentage_of_zero() {
        let a = printed(metrics::LATENCY_OVER_2S, 0.0, "0.00000");
        let b = printed(metrics::LATENCY_OVER_2S, 0.0101, "0.01010");
        assert_eq!(Change::between(&metrics::LATENCY_OVER_2S, &a, &b), None);
        let back = Change::between(&metrics::LATENCY_OVER_2S, &b, &a).unwrap();
        assert!((back.value + 100.0).abs() < 1e-9);
    }

    #[test]
    fn several_runs_have_a_geometric_mean() {
        let runs = [2.0, 8.0].map(|value| Measurement::new(metrics::RATE, value, 1));
        let side = SideValue::of(&[&runs[0], &runs[1]], Subject::Disk).unwrap();
        assert!((side.value - 4.0).abs() < 1e-12);
        assert_eq!(side.runs, [2.0, 8.0]);
        let with_zero = [0.0, 8.0].map(|value| Measurement::new(metrics::CPU_PERCENT, value, 1));
        let side = SideValue::of(&[&with_zero[0], &with_zero[1]], Subject::Disk).unwrap();
        assert_eq!(side.value, 4.0);
    }
}
