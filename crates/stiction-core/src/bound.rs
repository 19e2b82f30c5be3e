//! What a rate has to keep to count as held: a bound on latency, and the pace itself.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Metric, Phase, SizeError, format_duration_ns, metrics, parse_duration_ns};

/// Which figure of the latencies is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyFigure {
    /// The mean.
    Mean,
    /// Half of the operations stayed within.
    P50,
    /// 90 of 100 stayed within.
    P90,
    /// 99 of 100 stayed within.
    P99,
    /// 999 of 1000 stayed within.
    #[serde(rename = "p99_9")]
    P999,
    /// The longest.
    Max,
}

impl LatencyFigure {
    const ALL: [Self; 6] = [
        Self::Mean,
        Self::P50,
        Self::P90,
        Self::P99,
        Self::P999,
        Self::Max,
    ];

    /// The name in text: `p99.9`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
            Self::Max => "max",
        }
    }

    /// The measurement that it is.
    #[must_use]
    pub fn metric(self) -> Metric {
        match self {
            Self::Mean => metrics::LATENCY_MEAN,
            Self::P50 => metrics::LATENCY_P50,
            Self::P90 => metrics::LATENCY_P90,
            Self::P99 => metrics::LATENCY_P99,
            Self::P999 => metrics::LATENCY_P999,
            Self::Max => metrics::LATENCY_MAX,
        }
    }

    /// Operations without which the figure says nothing; see
    /// [`Histogram::quantile_ns_if_enough`](crate::Histogram::quantile_ns_if_enough).
    #[must_use]
    pub fn operations_min(self) -> u64 {
        match self {
            Self::Mean | Self::Max => 1,
            Self::P50 => 20,
            Self::P90 => 100,
            Self::P99 => 1_000,
            Self::P999 => 10_000,
        }
    }
}

/// A bound on latency: `p99=2ms`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LatencyLimit {
    /// The figure that is bounded.
    pub figure: LatencyFigure,
    /// What it may be at most, ns.
    pub at_most_ns: u64,
}

/// A text is no limit.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LimitError {
    /// It is not a figure and a time.
    #[error("`{0}` is no limit: write a figure and a time, such as p99=2ms or max=100ms")]
    Form(String),
    /// The figure is none that can be bounded.
    #[error("`{0}` cannot be bounded: choose one of mean, p50, p90, p99, p99.9, max")]
    Figure(String),
    /// The time cannot be read.
    #[error(transparent)]
    Time(#[from] SizeError),
    /// No latency is 0.
    #[error("a limit of 0 is never kept")]
    Zero,
}

impl FromStr for LatencyLimit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let parts = text.split_once("<=").or_else(|| text.split_once('='));
        let (figure, time) = parts.ok_or_else(|| LimitError::Form(text.to_owned()))?;
        let named = figure.trim();
        let figure = LatencyFigure::ALL
            .into_iter()
            .find(|known| known.as_str() == named)
            .ok_or_else(|| LimitError::Figure(named.to_owned()))?;
        match parse_duration_ns(time.trim())? {
            0 => Err(LimitError::Zero),
            at_most_ns => Ok(Self { figure, at_most_ns }),
        }
    }
}

impl fmt::Display for LatencyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = format_duration_ns(self.at_most_ns as f64);
        write!(f, "{} <= {time}", self.figure.as_str())
    }
}

/// What a rate has to keep to count as held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The bound on latency, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LatencyLimit>,
    /// Operations done over operations asked, at least; 0 to 1.
    pub done_over_asked_min: f64,
}

/// What came of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateOutcome {
    /// It was kept, within the bound on latency.
    Held,
    /// It was kept, and latencies were beyond the bound.
    TooSlow,
    /// Fewer operations were done than were asked.
    FellBehind,
    /// It was kept, and there were too few operations to tell the bounded latency.
    TooFew,
}

impl Bound {
    /// What came of the rate that `phase` was run at; `None` without figures.
    #[must_use]
    pub fn judge(&self, phase: &Phase) -> Option<RateOutcome> {
        if !phase.has_numbers() {
            return None;
        }
        if phase.value(&metrics::DONE_OVER_ASKED)? < self.done_over_asked_min {
            return Some(RateOutcome::FellBehind);
        }
        let Some(limit) = self.limit else {
            return Some(RateOutcome::Held);
        };
        Some(match phase.value(&limit.figure.metric()) {
            None => RateOutcome::TooFew,
            Some(ns) if ns <= limit.at_most_ns as f64 => RateOutcome::Held,
            Some(_) => RateOutcome::TooSlow,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Measurement, PhaseKind};

    #[test]
    fn limits_read_as_they_are_written() {
        for (text, figure, at_most_ns) in [
            ("p99=2ms", LatencyFigure::P99, 2_000_000),
            ("p99.9 <= 500us", LatencyFigure::P999, 500_000),
            ("max=1", LatencyFigure::Max, 1_000_000_000),
        ] {
            let limit: LatencyLimit = text.parse().unwrap();
            assert_eq!(limit, LatencyLimit { figure, at_most_ns });
            assert_eq!(limit.to_string().parse(), Ok(limit));
        }
        for text in ["2ms", "p98=2ms", "p99=", "p99=0", "p99=fast"] {
            assert!(text.parse::<LatencyLimit>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_rate_is_held_within_both_bounds() {
        let bound = Bound {
            limit: Some("p99=2ms".parse().unwrap()),
            done_over_asked_min: 0.98,
        };
        let phase = |kept, p99: Option<f64>| {
            let mut phase = Phase::new("rate", PhaseKind::Measure);
            let kept = Measurement::new(metrics::DONE_OVER_ASKED, kept, 1);
            let p99 = p99.map(|ns| Measurement::new(metrics::LATENCY_P99, ns, 1));
            phase.measurements = [Some(kept), p99].into_iter().flatten().collect();
            bound.judge(&phase)
        };
        assert_eq!(phase(0.98, Some(2e6)), Some(RateOutcome::Held));
        assert_eq!(phase(0.97, Some(1e6)), Some(RateOutcome::FellBehind));
        assert_eq!(phase(1.0, Some(2.1e6)), Some(RateOutcome::TooSlow));
        assert_eq!(phase(1.0, None), Some(RateOutcome::TooFew));
        assert_eq!(bound.judge(&Phase::new("rate", PhaseKind::Measure)), None);
    }
}
