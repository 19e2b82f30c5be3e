//! Operations on files as such: made, looked at, listed, linked, renamed, removed; every
//! call timed by itself, and all that is done to one file as a whole.

mod folder;
mod options;
mod phase;
mod plan;
mod tree;

pub(crate) use folder::{Folder, LinkKind, Made, MadeSync, directions};
pub use options::{MetadataOptions, MetadataParameters, SyncStyle};

use stiction_core::{
    Direction, Environment, Estimate, PhaseKind, Plan, PlannedTrial, Seed, SkipCode, SkipReason,
    TrialOutcome,
};
use stiction_engine::Timetable;
use stiction_host::admit_bytes;

use crate::ground::on_ground;
use crate::measure::ended_otherwise;
use crate::order::trial_seed;
use crate::perform::{Performance, perform};
use crate::room::reserve;
use crate::{Context, Ground, Place, SuiteError, TrialReport, Workload, requirements};
use phase::{MetadataPhase, Part, trees};

/// The workload's name.
const NAME: &str = "metadata";
/// What an empty file may take: its inode, its name and its link's.
const FILE_OVERHEAD_BYTES: u64 = 4096;
const PIECE_BYTES: u64 = 64 << 10;
const INTERVAL_NS: u64 = 1_000_000_000;

/// metadata with its options: workers make trees of directories, fill them with files,
/// and do the same call to each file, phase by phase; in the end all is removed again.
///
/// Phases: `make_directories`, `create`, with some styles of sync `sync_filesystem` and
/// `sync_files`, then `stat`, `open` (and close), `list` (a whole directory each), `link`,
/// `rename`, `unlink` (both names), `remove_directories`. An operation is what is done to
/// one file, directory or name.
///
/// | | default |
/// |---|---|
/// | files | 20 000 in all, empty |
/// | workers | as many as CPUs, 4 at most |
/// | tree | each worker's own, two levels of 4 directories: 21 |
/// | sync | none |
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// What was asked for.
    pub options: MetadataOptions,
}

impl Workload for Metadata {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        plan::plan(&self.options, seed, environment)
    }

    fn estimate(&self, plan: &Plan, _trial: &PlannedTrial) -> Estimate {
        let parameters = serde_json::from_value::<MetadataParameters>(plan.parameters.clone());
        parameters.map_or(Estimate::UNKNOWN, |parameters| {
            let workers = u64::from(parameters.workers);
            let files = parameters.files_per_worker.saturating_mul(workers);
            let each = parameters.file_bytes.saturating_add(FILE_OVERHEAD_BYTES);
            Estimate {
                duration_ns: None,
                read_bytes: Some(0),
                written_bytes: Some(files.saturating_mul(parameters.file_bytes)),
                space_bytes: Some(files.saturating_mul(each)),
            }
        })
    }

    fn requires(&self, _plan: &Plan, environment: &Environment) -> Vec<SkipReason> {
        requirements::writable(environment)
    }

    fn run(
        &self,
        plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        let parameters: MetadataParameters = serde_json::from_value(plan.parameters.clone())?;
        if let Err(reason) = admit(&parameters, context) {
            return Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
        }
        let piece = piece(&parameters, trial_seed(plan, trial));
        on_ground(context, &[0], 0, |ground, context| {
            for phase in MetadataPhase::of(parameters.sync) {
                if context.stop.is_raised() {
                    return Ok(TrialOutcome::Interrupted);
                }
                if let Some(outcome) = one(phase, &parameters, &piece, ground, context)? {
                    return Ok(outcome);
                }
            }
            Ok(TrialOutcome::Completed)
        })
    }
}

/// Whether the files fit, before anything is made.
fn admit(parameters: &MetadataParameters, context: &Context<'_>) -> Result<(), SkipReason> {
    let Some(Place::Directory(path)) = context.places.first() else {
        return Err(SkipReason::new(
            SkipCode::UnsafeTarget,
            "metadata works on files in a directory, not on a device; name a directory",
        ));
    };
    let each = parameters.file_bytes.saturating_add(FILE_OVERHEAD_BYTES);
    let files = parameters
        .files_per_worker
        .saturating_mul(parameters.workers.into());
    admit_bytes(
        path,
        files.saturating_mul(each),
        reserve(parameters.may_fill),
    )
}

/// Runs one phase; what ends the trial, if it did not come to its planned end.
fn one(
    phase: MetadataPhase,
    parameters: &MetadataParameters,
    piece: &[u8],
    ground: &Ground,
    context: &mut Context<'_>,
) -> Result<Option<TrialOutcome>, SuiteError> {
    let Some(root) = ground.directory() else {
        return Ok(None);
    };
    let routines = (0..parameters.workers).map(|worker| {
        let part = Part {
            parameters,
            root,
            piece,
            worker,
        };
        part.routine(phase)
    });
    let performance = Performance {
        name: phase.name(),
        kind: PhaseKind::Measure,
        job: None,
        asked_operations: None,
        timetable: Timetable {
            counted: &[Direction::Whole],
            also: directions(),
            interval_ns: INTERVAL_NS,
            duration_ns: None,
        },
        routines: routines.collect(),
        stacks: ground.stacks(),
        files: Vec::new(),
        writes_below: if phase.writes() {
            trees(parameters, root)
        } else {
            Vec::new()
        },
        direct_granted: None,
        caveats: Vec::new(),
        notes: vec!["what was made before is in memory".to_owned()],
    };
    let phase = perform(context, performance)?;
    Ok(ended_otherwise(&phase))
}

/// What files are filled with: bytes that do not compress, the same in each piece.
fn piece(parameters: &MetadataParameters, seed: Seed) -> Vec<u8> {
    let length = parameters.file_bytes.clamp(1, PIECE_BYTES) as usize;
    let mut piece = vec![0; length];
    for (bytes, stream) in piece.chunks_mut(8).zip(0..) {
        bytes.copy_from_slice(&seed.stream(stream).0.to_le_bytes()[..bytes.len()]);
    }
    piece
}
