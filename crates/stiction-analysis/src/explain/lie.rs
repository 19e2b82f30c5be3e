//! How the files of two sides lie on their devices.

use stiction_core::{Layout, Phase};

const GIB: f64 = 1_073_741_824.0;
/// Runs that are longer or shorter by this factor are another layout.
const RUNS_APART: f64 = 2.0;
/// Longer runs than this are read in one go, however long: a seek is paid for by the
/// bytes that follow it.
const LONG_RUN_BYTES: f64 = 2_097_152.0;
/// So much more of what could alternate does.
const WOVEN_APART: f64 = 0.10;

/// How files lie: means over the runs of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lie {
    /// Files that were looked at.
    pub files: f64,
    /// Runs that lie together, for each GiB.
    pub runs_per_gib: f64,
    /// Mean length of a run, bytes.
    pub run_bytes_mean: f64,
    /// How far files are intermingled, 0 to 1; `None` of fewer than two files.
    pub interleave_ratio: Option<f64>,
    /// Bytes that a head passes over for each byte that it reads in order.
    pub seek_bytes_per_byte: f64,
}

impl Lie {
    /// Of the runs of a side that know it; `None` where none does.
    pub(super) fn of(phases: &[&Phase]) -> Option<Self> {
        let known = phases.iter().filter_map(|phase| phase.witnesses.layout);
        let known: Vec<Layout> = known.filter(|layout| layout.placed_bytes > 0).collect();
        let mean = |of: &dyn Fn(&Layout) -> Option<f64>| -> Option<f64> {
            let values: Option<Vec<f64>> = known.iter().map(of).collect();
            let values = values.filter(|values| !values.is_empty())?;
            Some(values.iter().sum::<f64>() / values.len() as f64)
        };
        Some(Self {
            files: mean(&|one| Some(one.files as f64))?,
            runs_per_gib: mean(&|one| Some(one.extents as f64 * GIB / one.placed_bytes as f64))?,
            run_bytes_mean: mean(&|one| one.run_bytes_mean())?,
            interleave_ratio: mean(&|one| one.interleave_ratio()),
            seek_bytes_per_byte: mean(&|one| one.seek_bytes_per_byte())?,
        })
    }
}

/// How the files of both sides lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LieChange {
    /// A's.
    pub a: Lie,
    /// B's.
    pub b: Lie,
}

impl LieChange {
    /// Whether they lie differently.
    #[must_use]
    pub fn is_telling(&self) -> bool {
        let Self { a, b } = self;
        let ratio = b.run_bytes_mean / a.run_bytes_mean;
        let shorter = a.run_bytes_mean.min(b.run_bytes_mean);
        let apart = ratio.ln().abs() >= RUNS_APART.ln() && shorter < LONG_RUN_BYTES;
        let woven = a.interleave_ratio.zip(b.interleave_ratio);
        apart || woven.is_some_and(|(a, b)| (b - a).abs() >= WOVEN_APART)
    }

    /// Whether B's files lie in shorter runs, or more intermingled.
    #[must_use]
    pub fn is_b_more_scattered(&self) -> bool {
        self.b.run_bytes_mean < self.a.run_bytes_mean
    }
}
