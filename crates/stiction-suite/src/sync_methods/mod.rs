//! sync-methods: what a durable write costs by every call that makes one.

mod options;
mod routine;

pub use options::{SyncMethod, SyncMethodsOptions, SyncMethodsParameters, SyncTest};

use stiction_core::{
    Caveat, Cell, Direction, Environment, Estimate, PhaseKind, Plan, PlannedTrial, Seed, SkipCode,
    SkipReason, TrialOutcome,
};
use stiction_engine::{Cause, Routine, Timetable};

use crate::admission::admit_files;
use crate::error::refuse;
use crate::ground::on_ground;
use crate::measure::{ended_otherwise, skip};
use crate::order::{runs_within_cells, trial_seed};
use crate::passes::{lay_down, run_passes, whole_files};
use crate::perform::{Performance, perform};
use crate::{Context, Ground, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "sync-methods";
/// Size of a segment of PostgreSQL's log, which pg_test_fsync writes before its tests.
const FILE_BYTES: u64 = 16 << 20;
/// Time of each test; pg_test_fsync takes 5 s.
const TEST_NS: u64 = 2_000_000_000;
const CLASSIC_TEST_NS: u64 = 5_000_000_000;
const QUICK_TEST_NS: u64 = 100_000_000;
const INTERVAL_NS: u64 = 1_000_000_000;

/// sync-methods with its options: a file of 16 MiB is laid down, and for each test its
/// first blocks are written over again and again, each time made durable. An operation is
/// the writes and the sync together; the writes and the syncs are recorded apart as well.
///
/// | | classic | default |
/// |---|---|---|
/// | one and two writes of 8 KiB | `open_datasync`, `fdatasync`, `fsync`, `open_sync` | also `RWF_DSYNC`, `RWF_SYNC`, `syncfs` |
/// | 16 KiB in 1, 2, 4, 8 and 16 writes | `open_sync` | `open_sync` |
/// | one write of 1, 2, 4, 16 KiB | - | `fdatasync` |
/// | a sync by another descriptor | yes | yes |
/// | each test | 5 s | 2 s |
#[derive(Clone, Debug, Default)]
pub struct SyncMethods {
    /// What was asked for.
    pub options: SyncMethodsOptions,
}

impl Workload for SyncMethods {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, _environment: &Environment) -> Result<Plan, SuiteError> {
        let options = &self.options;
        refuse(&[
            (
                options.test_ns == Some(0),
                "seconds",
                "0: nothing would be measured",
            ),
            (options.runs == Some(0), "runs", "0: give at least 1"),
        ])?;
        let test_ns = match (options.test_ns, options.quick) {
            (Some(ns), _) => ns,
            (None, true) => QUICK_TEST_NS,
            (None, false) if options.classic => CLASSIC_TEST_NS,
            (None, false) => TEST_NS,
        };
        let parameters = SyncMethodsParameters {
            file_bytes: FILE_BYTES,
            test_ns,
            tests: SyncTest::all(options.classic),
            may_fill: options.may_fill,
        };
        Ok(Plan {
            workload: NAME.to_owned(),
            parameters: serde_json::to_value(parameters)?,
            seed,
            preparation: stiction_core::Preparation::default(),
            trials: runs_within_cells(&[Cell::new()], options.runs.unwrap_or(1)),
        })
    }

    fn estimate(&self, plan: &Plan, _trial: &PlannedTrial) -> Estimate {
        let parameters = serde_json::from_value::<SyncMethodsParameters>(plan.parameters.clone());
        parameters.map_or(Estimate::UNKNOWN, |parameters| {
            let tests = parameters.tests.len() as u64;
            Estimate {
                duration_ns: Some(tests.saturating_mul(parameters.test_ns)),
                read_bytes: Some(0),
                written_bytes: None,
                space_bytes: Some(parameters.file_bytes),
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
        let parameters: SyncMethodsParameters = serde_json::from_value(plan.parameters.clone())?;
        let bytes = parameters.file_bytes;
        if let Err(reason) = admit_files(context, &[0], 1, bytes, parameters.may_fill) {
            return Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
        }
        let seed = trial_seed(plan, trial);
        on_ground(context, &[0], 1, |ground, context| {
            let pass = lay_down(whole_files(1, bytes), false, seed);
            match run_passes(ground, context, [pass])? {
                TrialOutcome::Completed => {}
                other => return Ok(other),
            }
            for &test in &parameters.tests {
                if let Some(outcome) = one(test, parameters.test_ns, ground, context)? {
                    return Ok(outcome);
                }
            }
            Ok(TrialOutcome::Completed)
        })
    }
}

/// Runs one test; what ends the trial, if it did not come to its planned end.
fn one(
    test: SyncTest,
    test_ns: u64,
    ground: &Ground,
    context: &mut Context<'_>,
) -> Result<Option<TrialOutcome>, SuiteError> {
    if context.stop.is_raised() {
        return Ok(Some(TrialOutcome::Interrupted));
    }
    let name = test.name();
    let paths = ground.paths();
    let Some(path) = paths.first() else {
        return Ok(None);
    };
    // Whether a filesystem takes the flags shows with the first write alone.
    let direct_granted = match routine::trial_write(test, path) {
        Ok(granted) => granted,
        Err(failure) => {
            let Cause::Errno(libc::EINVAL | libc::EOPNOTSUPP | libc::ENOSYS) = failure.cause else {
                return Ok(Some(TrialOutcome::Failed {
                    message: format!("{name}: {failure}"),
                }));
            };
            let reason = SkipReason::new(SkipCode::NotSupported, failure.to_string());
            skip(context, &name, PhaseKind::Measure, reason)?;
            return Ok(None);
        }
    };
    let body: Routine<'_> = Box::new(move |stopwatch| {
        routine::write_and_sync(test, path, direct_granted == Some(true), stopwatch)
    });
    let performance = Performance {
        name: &name,
        kind: PhaseKind::Measure,
        job: None,
        asked_operations: None,
        timetable: Timetable {
            counted: &[Direction::Whole],
            also: &[Direction::Open, Direction::Write, Direction::Sync],
            interval_ns: INTERVAL_NS,
            duration_ns: Some(test_ns),
        },
        routines: vec![body],
        stacks: ground.stacks(),
        files: paths.clone(),
        writes_below: Vec::new(),
        direct_granted,
        caveats: Vec::<Caveat>::new(),
        notes: Vec::new(),
    };
    let phase = perform(context, performance)?;
    Ok(ended_otherwise(&phase))
}
