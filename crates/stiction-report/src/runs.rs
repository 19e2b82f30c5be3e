//! The runs of one phase in one cell, and what is said of them together.

use stiction_core::{Direction, Histogram, Metric, Phase, Subject, format_duration_ns};

use crate::figure::{figure, measured};
use crate::judged::JudgedPhase;

/// Runs of one phase, in the order in which they ran.
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs<'a>(pub(crate) Vec<JudgedPhase<'a>>);

impl<'a> Runs<'a> {
    /// The phases themselves.
    pub(crate) fn phases(&self) -> Vec<&'a Phase> {
        self.0.iter().map(|run| run.phase).collect()
    }

    /// The word for them: what all are about, `unknown` where they disagree.
    pub(crate) fn subject(&self) -> Subject {
        self.common_subject().unwrap_or(Subject::Unknown)
    }

    /// What all are about; `None` where they disagree.
    pub(crate) fn common_subject(&self) -> Option<Subject> {
        let mut subjects = self.0.iter().map(|run| run.finding.subject);
        let first = subjects.next()?;
        subjects.all(|other| other == first).then_some(first)
    }

    /// The values of a metric, least first.
    pub(crate) fn values(&self, metric: &Metric) -> Vec<f64> {
        let runs = self.0.iter();
        let mut values: Vec<f64> = runs.filter_map(|run| run.phase.value(metric)).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// The median over the runs; the mean of the middle two of an even number.
    pub(crate) fn median(&self, metric: &Metric) -> Option<f64> {
        let values = self.values(metric);
        let upper = *values.get(values.len() / 2)?;
        Some(if values.len() % 2 == 1 {
            upper
        } else {
            (values[values.len() / 2 - 1] + upper) / 2.0
        })
    }

    /// The median with its unit; a single run keeps the digits that it was printed with.
    pub(crate) fn median_text(&self, metric: &Metric) -> String {
        match &self.0[..] {
            [only] => only
                .phase
                .measurement(metric)
                .map_or_else(String::new, figure),
            _ => self
                .median(metric)
                .map_or_else(String::new, |value| measured(metric.unit, value)),
        }
    }

    /// Lowest and highest run as differences from the median, in percent; empty for a
    /// single run.
    pub(crate) fn spread(&self, metric: &Metric) -> String {
        let values = self.values(metric);
        let (Some(median), [lowest, .., highest]) = (self.median(metric), &values[..]) else {
            return String::new();
        };
        if median <= 0.0 {
            return String::new();
        }
        let percent = |value: &f64| 100.0 * (value / median - 1.0);
        format!("{:+.1}..{:+.1} %", percent(lowest), percent(highest))
    }

    /// All operations of these directions in all runs; `None` when none was recorded.
    pub(crate) fn merged(&self, directions: &[Direction]) -> Option<Histogram> {
        let mut all = Histogram::new();
        for recording in self.0.iter().flat_map(|run| &run.phase.recordings) {
            if directions.contains(&recording.direction) {
                all.merge(&recording.total());
            }
        }
        (all.count() > 0).then_some(all)
    }
}

/// A percentile, or a sign that there were too few operations for it.
pub(crate) fn quantile_text(latencies: &Histogram, quantile: f64) -> String {
    match latencies.quantile_ns_if_enough(quantile) {
        Some(ns) => format_duration_ns(ns as f64),
        None => "too few".to_owned(),
    }
}
