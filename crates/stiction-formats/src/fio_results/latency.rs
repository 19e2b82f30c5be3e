//! What a report of fio says of latencies.

use serde_json::Value;
use stiction_core::Histogram;

use super::Object;

/// One of fio's objects for latencies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency<'a> {
    object: &'a Object,
    /// What its numbers are to be multiplied by for ns.
    unit: f64,
}

/// The latencies of one direction: from before the call that submits an operation, and
/// from after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair<'a> {
    total: Option<Latency<'a>>,
    completion: Option<Latency<'a>>,
    submission: Option<Latency<'a>>,
}

impl<'a> Pair<'a> {
    pub(super) fn of(object: &'a Object) -> Self {
        Self {
            total: Latency::of(object, "lat"),
            completion: Latency::of(object, "clat"),
            submission: Latency::of(object, "slat"),
        }
    }

    /// From before the submitting call, as ours is; from after it where there is no
    /// other.
    pub(super) fn whole(&self) -> Option<&Latency<'a>> {
        self.total.as_ref().or(self.completion.as_ref())
    }

    /// The one that has percentiles, from before the submitting call if there is a
    /// choice.
    pub(super) fn with_percentiles(&self) -> Option<&Latency<'a>> {
        self.with("percentile")
    }

    /// The one that has bins, in the same order.
    pub(super) fn with_bins(&self) -> Option<&Latency<'a>> {
        self.with("bins")
    }

    fn with(&self, key: &str) -> Option<&Latency<'a>> {
        let both = [self.total.as_ref(), self.completion.as_ref()];
        both.into_iter()
            .flatten()
            .find(|latency| latency.object.contains_key(key))
    }

    /// Whether it counts from before the submitting call.
    pub(super) fn is_whole(&self, latency: &Latency<'_>) -> bool {
        let total = self.total.as_ref();
        total.is_some_and(|total| std::ptr::eq(total.object, latency.object))
    }

    /// Whether submitting calls were timed.
    pub(super) fn has_submissions(&self) -> bool {
        self.submission.is_some()
    }
}

impl<'a> Latency<'a> {
    /// The object of that name: in ns since fio 3.0, in us before. `None` when nothing
    /// was counted in it.
    fn of(parent: &'a Object, name: &str) -> Option<Self> {
        let ns = parent.get(&format!("{name}_ns"));
        let (value, unit) = match ns {
            Some(value) => (value, 1.0),
            None => (parent.get(name)?, 1e3),
        };
        let latency = Self {
            object: value.as_object()?,
            unit,
        };
        // Releases before 3.16 do not count: what was not measured is 0 throughout.
        let is_empty = match latency.object.get("N") {
            Some(count) => count.as_u64() == Some(0),
            None => latency.max_ns().is_none_or(|ns| ns == 0.0),
        };
        (!is_empty).then_some(latency)
    }

    pub(super) fn count(&self) -> u64 {
        self.object.get("N").and_then(Value::as_u64).unwrap_or(1)
    }

    pub(super) fn max_ns(&self) -> Option<f64> {
        Some(self.object.get("max")?.as_f64()? * self.unit)
    }

    pub(super) fn sum_ns(&self) -> f64 {
        let mean = self.object.get("mean").and_then(Value::as_f64);
        mean.unwrap_or(0.0) * self.unit * self.count() as f64
    }

    pub(super) fn mean(&self, take: impl FnOnce(&Value, f64, u64)) {
        if let Some(number) = self.object.get("mean") {
            take(number, self.unit, self.count());
        }
    }

    pub(super) fn max(&self, take: impl FnOnce(&Value, f64, u64)) {
        if let Some(number) = self.object.get("max") {
            take(number, self.unit, self.count());
        }
    }

    /// The percentile, if the report has it.
    pub(super) fn percentile(&self, percent: f64, take: impl FnOnce(&Value, f64, u64)) {
        let listed = self.object.get("percentile").and_then(Value::as_object);
        let key = format!("{percent:.6}");
        if let Some(number) = listed.and_then(|listed| listed.get(&key)) {
            take(number, self.unit, self.count());
        }
    }

    /// Every latency by its bin, with the exact figures beside them. fio's bins are
    /// wider than ours: each goes over as its middle.
    pub(super) fn histogram(&self) -> Option<Histogram> {
        const NS_PER_S: u64 = 1_000_000_000;
        let bins = self.object.get("bins")?.as_object()?;
        let mut histogram = Histogram::new();
        for (middle, count) in bins {
            let middle_ns = (middle.parse::<f64>().ok()? * self.unit) as u64;
            let count = count.as_u64()?;
            histogram.record_bucket(middle_ns, count);
            let over = |limit_s: u64| {
                if middle_ns > limit_s * NS_PER_S {
                    count
                } else {
                    0
                }
            };
            histogram.add_over(over(2), over(10));
        }
        if histogram.count() == 0 {
            return None;
        }
        let min_ns = self.object.get("min")?.as_f64()? * self.unit;
        let mean_ns = self.object.get("mean")?.as_f64()? * self.unit;
        let sum_ns = mean_ns * histogram.count() as f64;
        histogram.add_exact(sum_ns.round() as u64, min_ns as u64, self.max_ns()? as u64);
        Some(histogram)
    }
}
