//! Trials that are a list of jobs on one ground, one after another.

use stiction_core::{
    Action, Create, Data, Estimate, Job, PhaseKind, Region, Seed, SizeMix, Sizes, SyncKind,
    TrialOutcome,
};

use crate::measure::{Request, ended_otherwise, measure};
use crate::{Context, Ground, SuiteError};

/// One job of the list, and the state it is to find.
#[derive(Debug)]
pub(crate) struct Pass {
    kind: PhaseKind,
    job: Job,
    cold: bool,
    may_fail: bool,
}

impl Pass {
    /// A job for its numbers; the phase is called as the job is.
    pub(crate) fn measuring(job: Job) -> Self {
        Self {
            kind: PhaseKind::Measure,
            job,
            cold: false,
            may_fail: false,
        }
    }

    /// A job that writes what others read.
    pub(crate) fn laying_down(job: Job) -> Self {
        Self {
            kind: PhaseKind::LayDown,
            ..Self::measuring(job)
        }
    }

    /// A job that brings its files into memory.
    pub(crate) fn priming(job: Job) -> Self {
        Self {
            kind: PhaseKind::Prepare,
            ..Self::measuring(job)
        }
    }

    /// The same with the files dropped from the page cache before, where `cold`.
    pub(crate) fn cold(self, cold: bool) -> Self {
        Self { cold, ..self }
    }

    /// The same where its failure is a result like others, and the trial goes on.
    pub(crate) fn may_fail(self) -> Self {
        Self {
            may_fail: true,
            ..self
        }
    }
}

/// What all of them take.
pub(crate) fn estimate_of(passes: &[Pass]) -> Estimate {
    let each = passes.iter().map(|pass| Estimate::of_job(&pass.job));
    each.fold(Estimate::NOTHING, Estimate::then)
}

/// Bytes of an operation where only the file counts, not how it came about.
const BULK_BYTES: u64 = 1 << 20;

/// Writes the regions whole, with bytes that nothing can make less of, and makes them
/// durable. Files are made for it.
pub(crate) fn lay_down(regions: Vec<Region>, on_devices: bool, seed: Seed) -> Pass {
    Pass::laying_down(Job {
        action: Action::Write,
        data: Data::Unique,
        sync_at_end: Some(SyncKind::Fdatasync),
        create: if on_devices {
            Create::Open
        } else {
            Create::Truncate
        },
        seed,
        ..bulk("lay_down", regions)
    })
}

/// Reads the regions whole, into the page cache.
pub(crate) fn prime(regions: Vec<Region>) -> Pass {
    Pass::priming(bulk("prime", regions))
}

/// Large operations over regions of any length.
pub(crate) fn bulk(name: &str, regions: Vec<Region>) -> Job {
    let lengths = || regions.iter().map(|region| region.length_bytes);
    let shortest = lengths().min().unwrap_or(0);
    // The largest power of two that divides them all.
    let grid = 1 << lengths().fold(20, |bits, length| bits.min(length.trailing_zeros()));
    Job {
        name: name.to_owned(),
        block_size_bytes: grid,
        sizes: Some(Sizes::same(SizeMix::One(BULK_BYTES.min(shortest.max(1))))),
        regions,
        ..Job::default()
    }
}

/// The whole of each of `files` files of `file_bytes`.
pub(crate) fn whole_files(files: u32, file_bytes: u64) -> Vec<Region> {
    (0..files)
        .map(|target| Region {
            target,
            offset_bytes: 0,
            length_bytes: file_bytes,
        })
        .collect()
}

/// Runs the passes in order, until one does not come to its planned end.
///
/// # Errors
/// When the events could not keep a phase.
pub(crate) fn run_passes(
    ground: &Ground,
    context: &mut Context<'_>,
    passes: impl IntoIterator<Item = Pass>,
) -> Result<TrialOutcome, SuiteError> {
    for pass in passes {
        let undropped = if pass.cold {
            ground.drop_caches(context.stop)
        } else {
            None
        };
        if context.stop.is_raised() {
            return Ok(TrialOutcome::Interrupted);
        }
        let request = Request {
            caveats: undropped.into_iter().collect(),
            ..Request::new(pass.kind, pass.job)
        };
        let phase = measure(context, ground, request)?;
        if let Some(outcome) = ended_otherwise(&phase)
            && !(pass.may_fail && matches!(outcome, TrialOutcome::Failed { .. }))
        {
            return Ok(outcome);
        }
    }
    Ok(TrialOutcome::Completed)
}
