//! Options of jobs: as given in a job file, or as fio would have been asked for the
//! same.

use std::collections::BTreeMap;

use stiction_core::{Access, Action, Job};

use super::way::SampleWindows;

/// fio's percentiles where none are asked for.
const PERCENTILES: [f64; 17] = [
    1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95,
    99.99,
];
/// How many percentiles fio takes.
pub(super) const PERCENTILES_MAX: usize = 20;
/// fio's windows of bandwidth and IOPS where none are asked for, ms.
const SAMPLE_MS: u64 = 500;
const NS_PER_MS: u64 = 1_000_000;

/// Options of a job and of all jobs, by name, as given.
#[derive(Clone, Debug, Default)]
pub(super) struct Options {
    pub(super) own: BTreeMap<String, String>,
    pub(super) global: BTreeMap<String, String>,
}

impl Options {
    /// What fio would have been given for a job that no job file asked for.
    pub(super) fn of(job: &Job) -> Self {
        let own = [
            ("rw", pattern(job).to_owned()),
            ("bs", job.block_size_bytes.to_string()),
            ("ioengine", job.backend.as_str().to_owned()),
            ("iodepth", job.depth.to_string()),
            ("numjobs", job.regions.len().max(1).to_string()),
            ("direct", u8::from(job.direct).to_string()),
        ];
        let size = job.regions.iter().map(|region| region.length_bytes).max();
        let size = size.map(|bytes| ("size", bytes.to_string()));
        let runtime = job.duration_ns.map(|ns| ns.div_ceil(NS_PER_MS));
        let runtime = runtime.map(|ms| ("runtime", format!("{ms}ms")));
        let named = own.into_iter().chain(size).chain(runtime);
        Self {
            own: named
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
            global: BTreeMap::new(),
        }
    }

    /// The value of an option, the job's own before that of all jobs.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.own.get(name).or_else(|| self.global.get(name));
        found.map(String::as_str)
    }

    /// What the job is about, in its writer's words.
    pub(super) fn description(&self) -> Option<&str> {
        self.get("description")
    }

    /// Whether reads, writes and trims are to be reported as one, and whether they are
    /// to be reported each as well.
    pub(super) fn is_mixed(&self) -> (bool, bool) {
        match self.get("unified_rw_reporting") {
            Some("mixed" | "1") => (true, false),
            Some("both" | "2") => (true, true),
            _ => (false, true),
        }
    }

    /// The percentiles that are asked for, in rising order.
    pub(super) fn percentiles(&self) -> Vec<f64> {
        let asked = self.get("percentile_list").unwrap_or_default();
        let numbers = asked.split([':', ',']).map(str::trim).map(str::parse);
        let mut asked: Vec<f64> = numbers
            .filter_map(Result::ok)
            .filter(|percent| (0.0..=100.0).contains(percent))
            .collect();
        asked.sort_by(f64::total_cmp);
        asked.truncate(PERCENTILES_MAX);
        if asked.is_empty() {
            PERCENTILES.to_vec()
        } else {
            asked
        }
    }

    /// Windows of the samples of bandwidth and IOPS.
    pub(super) fn sample_windows(&self) -> SampleWindows {
        let window_ns = |name| self.window_ns(name).unwrap_or(SAMPLE_MS * NS_PER_MS);
        SampleWindows {
            bandwidth_ns: window_ns("bwavgtime"),
            iops_ns: window_ns("iopsavgtime"),
        }
    }

    /// What an option says in milliseconds, as ns; `None` where it is not given, or 0.
    pub(super) fn window_ns(&self, name: &str) -> Option<u64> {
        let ms: u64 = self.get(name)?.trim_end_matches("ms").parse().ok()?;
        (ms > 0).then(|| ms.saturating_mul(NS_PER_MS))
    }
}

/// fio's `rw`.
fn pattern(job: &Job) -> &'static str {
    let is_sequential = job.access == Access::Sequential;
    match (job.action, is_sequential) {
        (Action::Read, true) => "read",
        (Action::Read, false) => "randread",
        (Action::Write, true) => "write",
        (Action::Write, false) => "randwrite",
        (Action::Trim, true) => "trim",
        (Action::Trim, false) => "randtrim",
        (Action::Mixed { .. }, true) => "rw",
        (Action::Mixed { .. }, false) => "randrw",
        (Action::TrimWrite, true) => "trimwrite",
        (Action::TrimWrite, false) => "randtrimwrite",
    }
}
