//! ioping: the latency of single requests, one at a time and far apart.

mod options;

pub use options::{IopingOptions, IopingParameters};

use stiction_core::{
    Access, Action, Arrivals, Cell, Conditions, Create, Environment, Estimate, Job, LoopKind, Pace,
    PhaseKind, Plan, PlannedTrial, Rate, Seed, SkipReason, TrialOutcome,
};
use stiction_engine::INTERVAL_NS_MIN;

use crate::admission::admit_files;
use crate::conditions::data_alone;
use crate::error::refuse;
use crate::ground::on_ground;
use crate::measure::{Request, ended_otherwise, measure};
use crate::order::{runs_within_cells, trial_seed};
use crate::passes::{estimate_of, lay_down, run_passes, whole_files};
use crate::{Context, Ground, SuiteError, TrialReport, Workload, means, requirements};

/// The workload's name.
const NAME: &str = "ioping";
const NS_PER_S: u64 = 1_000_000_000;
const REQUESTS: u64 = 10;
const INTERVAL_NS: u64 = NS_PER_S;
const QUICK_INTERVAL_NS: u64 = 50_000_000;
const REQUEST_BYTES: u64 = 4096;
const FILE_BYTES: u64 = 64 << 20;
/// Intervals of the recording where requests follow each other at once, ns.
const RECORDED_NS: u64 = 100_000_000;

/// ioping with its options: a file is laid down, and single requests are sent to random
/// places in it, each an interval after the one before. The first is warm-up and in no
/// figure.
///
/// | | default |
/// |---|---|
/// | requests | 10 and one before them, reads of 4 KiB, past the page cache where that can be |
/// | interval | 1 s |
/// | file | 64 MiB |
#[derive(Clone, Debug, Default)]
pub struct Ioping {
    /// What was asked for.
    pub options: IopingOptions,
}

impl Workload for Ioping {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, _environment: &Environment) -> Result<Plan, SuiteError> {
        let options = &self.options;
        let request_bytes = options.request_bytes.unwrap_or(REQUEST_BYTES);
        let file_bytes = options.file_bytes.unwrap_or(FILE_BYTES.max(request_bytes));
        let interval_ns = options.interval_ns.unwrap_or(if options.quick {
            QUICK_INTERVAL_NS
        } else {
            INTERVAL_NS
        });
        refuse(&[
            (
                !(512..=1 << 30).contains(&request_bytes) || !request_bytes.is_multiple_of(512),
                "size",
                "give a multiple of 512 bytes, up to 1 GiB",
            ),
            (
                file_bytes < request_bytes,
                "file-size",
                "give at least the size of a request",
            ),
            (
                interval_ns != 0 && !(INTERVAL_NS_MIN..=3600 * NS_PER_S).contains(&interval_ns),
                "interval",
                "give 0, or 1 ms to 1 h",
            ),
            (
                !(1..=100_000_000).contains(&options.requests.unwrap_or(1)),
                "count",
                "give 1 to 100000000",
            ),
            (options.runs == Some(0), "runs", "0: give at least 1"),
        ])?;
        let parameters = IopingParameters {
            requests: options.requests.unwrap_or(REQUESTS),
            request_bytes,
            file_bytes: file_bytes / request_bytes * request_bytes,
            interval_ns,
            writes: options.writes,
            sequential: options.sequential,
            cached: options.cached,
            may_fill: options.may_fill,
        };
        let cell = Cell::new().with("block_size_bytes", request_bytes);
        Ok(Plan {
            workload: NAME.to_owned(),
            parameters: serde_json::to_value(parameters)?,
            seed,
            preparation: stiction_core::Preparation::default(),
            trials: runs_within_cells(&[cell], options.runs.unwrap_or(1)),
        })
    }

    fn estimate(&self, plan: &Plan, trial: &PlannedTrial) -> Estimate {
        let parameters = serde_json::from_value::<IopingParameters>(plan.parameters.clone());
        let Ok(parameters) = parameters else {
            return Estimate::UNKNOWN;
        };
        let seed = trial_seed(plan, trial);
        let files = whole_files(1, parameters.file_bytes);
        let laid_down = estimate_of(&[lay_down(files, false, seed)]);
        let requests = Estimate::of_job(&job(&parameters, true, seed));
        let paced = parameters.requests.saturating_mul(parameters.interval_ns);
        Estimate {
            duration_ns: (parameters.interval_ns > 0).then_some(paced),
            ..laid_down.then(requests)
        }
    }

    fn requires(&self, _plan: &Plan, environment: &Environment) -> Vec<SkipReason> {
        requirements::writable(environment)
    }

    fn takes(&self, _plan: &Plan, conditions: &Conditions) -> Result<(), String> {
        data_alone(conditions)
    }

    fn run(
        &self,
        plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        let parameters: IopingParameters = serde_json::from_value(plan.parameters.clone())?;
        let bytes = parameters.file_bytes;
        if let Err(reason) = admit_files(context, &[0], 1, bytes, parameters.may_fill) {
            return Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
        }
        let seed = trial_seed(plan, trial);
        on_ground(context, &[0], 1, |ground, context| {
            requests(&parameters, ground, context, seed)
        })
    }
}

fn requests(
    parameters: &IopingParameters,
    ground: &Ground,
    context: &mut Context<'_>,
    seed: Seed,
) -> Result<TrialOutcome, SuiteError> {
    let means =
        (!parameters.cached).then(|| means::find(context, ground, parameters.request_bytes));
    let laid_down = lay_down(whole_files(1, parameters.file_bytes), false, seed.stream(0));
    match run_passes(ground, context, [laid_down])? {
        TrialOutcome::Completed => {}
        other => return Ok(other),
    }
    let undropped = match parameters.cached {
        true => None,
        false => ground.drop_caches(context.stop),
    };
    if context.stop.is_raised() {
        return Ok(TrialOutcome::Interrupted);
    }
    let direct = means.as_ref().is_some_and(|means| means.direct);
    let mut caveats: Vec<_> = means
        .and_then(|means| means.direct_caveat)
        .into_iter()
        .collect();
    caveats.extend(undropped);
    let job = job(parameters, direct, seed.stream(1));
    let phase = measure(
        context,
        ground,
        Request {
            name: job.name.clone(),
            kind: PhaseKind::Measure,
            job,
            ledger: None,
            caveats,
            notes: Vec::new(),
        },
    )?;
    Ok(ended_otherwise(&phase).unwrap_or(TrialOutcome::Completed))
}

/// The requests, one for each interval of the recording: what an interval holds is the
/// latency of one request.
fn job(parameters: &IopingParameters, direct: bool, seed: Seed) -> Job {
    let paced = parameters.interval_ns > 0;
    let bytes_per_s = u128::from(parameters.request_bytes) * u128::from(NS_PER_S)
        / u128::from(parameters.interval_ns.max(1));
    Job {
        name: "requests".to_owned(),
        access: if parameters.sequential {
            Access::Sequential
        } else {
            Access::RandomIndependent
        },
        action: if parameters.writes {
            Action::Write
        } else {
            Action::Read
        },
        block_size_bytes: parameters.request_bytes,
        regions: whole_files(1, parameters.file_bytes),
        direct,
        create: Create::Open,
        // The one before them is warm-up where it has an interval of its own.
        operations_per_worker: Some(parameters.requests + u64::from(paced)),
        once: false,
        pace: paced.then_some(Pace {
            rate: Rate::BytesPerS((bytes_per_s as u64).max(1)),
            by_way: None,
            arrivals: Arrivals::Fixed,
            kind: LoopKind::Closed,
        }),
        ramp_ns: if paced { parameters.interval_ns } else { 0 },
        interval_ns: if paced {
            parameters.interval_ns
        } else {
            RECORDED_NS
        },
        seed,
        ..Job::default()
    }
}
