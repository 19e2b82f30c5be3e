//! Figures that tell again what another figure of the same phase tells.
//!
//! A rate, the operations of it and the time that it took move together by arithmetic. Judged
//! each by itself they would make three alarms of one, and every figure that is judged
//! costs all others power.

use stiction_core::{Metric, metrics};

use super::pairing::{Pair, Run};

/// Metrics, each with those that tell the same or more: where both sides have one of
/// these, it is described and not judged.
const RESTATES: &[(Metric, &[Metric])] = &[
    (metrics::OPERATION_RATE, &[metrics::RATE]),
    (metrics::RATE_ALL_ACTIVE, &[metrics::RATE]),
    (metrics::ELAPSED, &[metrics::RATE, metrics::OPERATION_RATE]),
    (metrics::LATENCY_MEAN, &[metrics::LATENCY_P50]),
    (metrics::LATENCY_P90, &[metrics::LATENCY_P99]),
    (metrics::SYNC_LATENCY_MEAN, &[metrics::SYNC_LATENCY_P50]),
    // CPU time follows the rate; what a byte costs does not.
    (metrics::CPU_PERCENT, &[metrics::CPU_EFFICIENCY]),
    (
        metrics::CPU_USER,
        &[metrics::CPU_EFFICIENCY, metrics::CPU_PERCENT],
    ),
    (
        metrics::CPU_SYSTEM,
        &[metrics::CPU_EFFICIENCY, metrics::CPU_PERCENT],
    ),
    (
        metrics::CPU_USER_PERCENT,
        &[metrics::CPU_EFFICIENCY, metrics::CPU_PERCENT],
    ),
    (
        metrics::CPU_SYSTEM_PERCENT,
        &[metrics::CPU_EFFICIENCY, metrics::CPU_PERCENT],
    ),
    (
        metrics::CPU_SYSTEM_WIDE_PERCENT,
        &[metrics::CPU_EFFICIENCY, metrics::CPU_PERCENT],
    ),
    (
        metrics::CPU_SYSTEM_WIDE_EFFICIENCY,
        &[metrics::CPU_EFFICIENCY],
    ),
];

/// Whether another metric that every run of both sides has tells `metric`, or more.
pub(super) fn is_restated(pair: &Pair<'_>, metric: &Metric) -> bool {
    let others = RESTATES.iter().find(|(told, _)| told.name == metric.name);
    let has = |runs: &[Run<'_>], other: &Metric| {
        let mut with_numbers = runs.iter().filter(|run| run.phase.has_numbers()).peekable();
        with_numbers.peek().is_some() && with_numbers.all(|run| run.phase.value(other).is_some())
    };
    others.is_some_and(|(_, others)| {
        let mut others = others.iter();
        others.any(|other| has(&pair.a, other) && has(&pair.b, other))
    })
}
