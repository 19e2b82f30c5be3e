//! How a workload runs under conditions that are not its own choice.
//!
//! They reach it in its [`Context`](crate::Context). [`measure`](fn@crate::measure) gives every job that
//! writes the data that were asked for, and turns phases that lay files down into ones
//! that leave them in the state asked for; a workload that makes its files in a measured
//! phase lays them down before. What came of it is read from the phases afterwards.

use std::path::Path;

use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate, open};
use rustix::io::Errno;
use stiction_core::{
    Action, BackendKind, Conditions, Create, FileState, Job, Layout, Phase, PhaseKind, Plan,
    Reserve, SkipCode, SkipReason,
};

use crate::{Place, Workload};

/// Why no trial of `workload` can run under `conditions`.
#[must_use]
pub fn obstacle(
    workload: &dyn Workload,
    plan: &Plan,
    conditions: &Conditions,
    places: &[Place],
) -> Option<SkipReason> {
    let refusal = |detail: String| SkipReason::new(SkipCode::NotSupported, detail);
    if let Err(problem) = workload.takes(plan, conditions) {
        return Some(refusal(problem));
    }
    let state = conditions.file_state()?;
    places.iter().find_map(|place| match place {
        Place::Directory(path) if state == FileState::Preallocated => {
            (!can_reserve(path)).then(|| {
                let text = "the filesystem cannot reserve blocks (fallocate: EOPNOTSUPP), so no \
                            file can be preallocated";
                refusal(text.to_owned())
            })
        }
        Place::Directory(_) => None,
        Place::Device(_) | Place::File(_) => Some(refusal(format!(
            "file_state is about files of our own in a directory, and {} is none",
            place.path().display()
        ))),
    })
}

/// Whether blocks can be reserved in `directory`. Whatever else goes wrong is told by
/// the trial, which meets it too.
fn can_reserve(directory: &Path) -> bool {
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    // Filesystems without O_TMPFILE refuse it with the same error, and may reserve blocks
    // all the same: there the trial finds out.
    let Ok(file) = open(directory, flags, Mode::RUSR | Mode::WUSR) else {
        return true;
    };
    fallocate(&file, FallocateFlags::empty(), 0, 4096) != Err(Errno::OPNOTSUPP)
}

/// The workloads' answer to what they cannot do: `what` says why not.
///
/// # Errors
/// When the condition is set.
pub(crate) fn refuse(factor: &str, is_set: bool, what: &str) -> Result<(), String> {
    if is_set {
        return Err(format!("{factor}: {what}"));
    }
    Ok(())
}

/// The answer of workloads that write through [`measure`](fn@crate::measure), in files
/// that they make in phases of their own.
///
/// # Errors
/// When more than the data is asked for.
pub(crate) fn data_alone(conditions: &Conditions) -> Result<(), String> {
    refuse(
        Conditions::FILE_STATE,
        conditions.file_state().is_some(),
        "this workload makes its files as it needs them: tiobench, time-read and jobs of fio \
         take them as they were laid down",
    )
}

/// The job as it runs under `conditions`, and what is to be said of it.
pub(crate) fn under(conditions: &Conditions, kind: PhaseKind, job: Job) -> (Job, Option<String>) {
    let mut job = job;
    conditions.shape_data(&mut job);
    match conditions.file_state() {
        Some(state) if kind == PhaseKind::LayDown && state != FileState::Overwritten => {
            let note = format!("the files are laid down as {state}, and nothing is written");
            (left_unwritten(job, state), Some(note))
        }
        _ => (job, None),
    }
}

/// The job that makes the files of `job` and writes nothing.
fn left_unwritten(job: Job, state: FileState) -> Job {
    let (create, reserve) = match (state, job.create) {
        (FileState::Preallocated, create) => (create, Reserve::Native),
        (_, Create::Truncate) => (Create::Sparse, Reserve::None),
        (_, create) => (create, Reserve::Truncate),
    };
    Job {
        action: Action::Write,
        backend: BackendKind::Psync,
        depth: 1,
        create,
        reserve,
        operations_per_worker: Some(0),
        // All files at once, since no operation leads from one to the next.
        open_files_max: None,
        ..job
    }
}

/// The job of a workload that makes its files, where they are laid down before.
pub(crate) fn on_laid_files(conditions: &Conditions, job: Job) -> Job {
    if conditions.file_state().is_none() {
        return job;
    }
    Job {
        create: Create::Open,
        reserve: Reserve::None,
        ..job
    }
}

/// How the files lay when they had been laid down, added up over phases.
#[must_use]
pub fn laid_down(phases: &[Phase]) -> Option<Layout> {
    let laid = phases
        .iter()
        .filter(|phase| phase.kind == PhaseKind::LayDown);
    let layouts = laid.map(|phase| phase.witnesses.layout);
    layouts.reduce(|sum, layout| {
        let (sum, layout) = (sum?, layout?);
        Some(Layout {
            files: sum.files + layout.files,
            file_bytes: sum.file_bytes + layout.file_bytes,
            placed_bytes: sum.placed_bytes + layout.placed_bytes,
            unwritten_bytes: sum.unwritten_bytes + layout.unwritten_bytes,
            hole_bytes: sum.hole_bytes + layout.hole_bytes,
            ..sum
        })
    })?
}
