//! curve: how latency grows with the rate that is asked for, and where it breaks.

mod jobs;
mod options;
mod search;
mod trial;

pub use options::{CurveOptions, CurveParameters};

use stiction_core::{
    Action, Bound, Cell, Conditions, Environment, Estimate, Plan, PlannedTrial, Seed, SkipReason,
    Timing,
};
use stiction_engine::DEPTH_MAX;

use crate::conditions::data_alone;
use crate::order::runs_within_cells;
use crate::sizing::choose;
use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
pub const NAME: &str = "curve";
/// Name of the phase that measures the closed loop.
pub const MAXIMUM: &str = "maximum";
const NS_PER_S: u64 = 1_000_000_000;
const SECONDS_MAX: u32 = 3600;
const POINTS: std::ops::RangeInclusive<u32> = 2..=100;
const RUNS_MAX: u32 = 1000;
/// Below this share of what was asked a rate does not count as kept.
const DONE_OVER_ASKED_MIN: f64 = 0.98;
/// Between the last rate that held and the first that did not: five halvings of a
/// sweep's gap reach the next step of the series.
const BISECTIONS: u32 = 5;
const LAY_DOWN_NS: u64 = 60 * NS_PER_S;
const BLOCK_BYTES_MIN: u64 = 512;

/// An open loop whose rate is raised until it does not hold.
///
/// The phases of a trial are `lay_down`; `maximum`, a closed loop with as many
/// operations in flight as are allowed; and then one for each rate, called
/// `rate_1220_per_s` after it. Rates are raised in even shares of the maximum until one
/// does not hold, that is its latency exceeds the limit or fewer operations are done
/// than asked, and then the gap is halved. Rates are rounded to a series that all curves
/// share, so that those of two runs can be compared.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// What was asked for.
    pub options: CurveOptions,
}

impl Workload for Curve {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        let options = &self.options;
        check(options)?;
        let sizing = choose(
            options.size_bytes,
            options.file_bytes_max().min(device_bytes(environment)),
            environment,
            options.may_fill,
        )
        .map_err(SuiteError::Refused)?;
        if sizing.file_bytes / options.block_size_bytes < u64::from(options.depth_max) {
            let problem = format!(
                "{}: {} operations of that size do not fit into the file at once; give a \
                 smaller block, less depth or a larger size",
                options.block_size_bytes, options.depth_max
            );
            return Err(SuiteError::option("bs", problem));
        }
        let point_ns = u64::from(options.seconds()) * NS_PER_S;
        let parameters = CurveParameters {
            access: options.access,
            action: options.action,
            block_size_bytes: options.block_size_bytes,
            bound: Bound {
                limit: options.limit,
                done_over_asked_min: DONE_OVER_ASKED_MIN,
            },
            points: options.points(),
            bisections: BISECTIONS,
            point_ns,
            ramp_ns: point_ns / 10,
            depth_max: options.depth_max,
            arrivals: options.arrivals,
            engine: options.engine,
            file_size_bytes: sizing.file_bytes,
            lay_down_block_size_bytes: sizing.sequential_block_bytes,
            lay_down_ns: LAY_DOWN_NS,
            interval_ns: 100_000_000,
            timing: Timing::Exact,
            may_fill: options.may_fill,
        };
        Ok(Plan {
            workload: NAME.to_owned(),
            parameters: serde_json::to_value(parameters)?,
            seed,
            preparation: stiction_core::Preparation::default(),
            trials: runs_within_cells(&[Cell::new()], options.runs),
        })
    }

    fn estimate(&self, plan: &Plan, _trial: &PlannedTrial) -> Estimate {
        let parameters = serde_json::from_value::<CurveParameters>(plan.parameters.clone());
        parameters.map_or(Estimate::UNKNOWN, |parameters| {
            let writes = parameters.action.changes();
            Estimate {
                space_bytes: Some(parameters.file_size_bytes),
                // Without writes there is only the file that is laid down.
                written_bytes: (!writes).then_some(parameters.file_size_bytes),
                ..Estimate::UNKNOWN
            }
        })
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
        trial::run(plan, trial, context)
    }
}

/// Bytes of a device that is the target itself; no bound where it is a directory.
fn device_bytes(environment: &Environment) -> u64 {
    let device = environment
        .targets
        .first()
        .filter(|target| target.filesystem.is_none())
        .and_then(|target| target.layers.first());
    device.map_or(u64::MAX, |device| device.size_bytes)
}

/// Refuses options out of their ranges.
fn check(options: &CurveOptions) -> Result<(), SuiteError> {
    let refuse = |option, problem: String| Err(SuiteError::option(option, problem));
    if options.seconds() == 0 || options.seconds() > SECONDS_MAX {
        return refuse(
            "seconds",
            format!("{}: give 1 to {SECONDS_MAX}", options.seconds()),
        );
    }
    if !POINTS.contains(&options.points()) {
        return refuse(
            "points",
            format!(
                "{}: give {} to {}",
                options.points(),
                POINTS.start(),
                POINTS.end()
            ),
        );
    }
    if options.depth_max == 0 || options.depth_max > DEPTH_MAX {
        return refuse(
            "depth-max",
            format!("{}: give 1 to {DEPTH_MAX}", options.depth_max),
        );
    }
    if options.runs == 0 || options.runs > RUNS_MAX {
        return refuse("runs", format!("{}: give 1 to {RUNS_MAX}", options.runs));
    }
    if options.block_size_bytes < BLOCK_BYTES_MIN {
        let problem = format!(
            "{}: give {BLOCK_BYTES_MIN} bytes or more",
            options.block_size_bytes
        );
        return refuse("bs", problem);
    }
    if options.action == Action::Trim {
        return refuse("rw", "curves are of reads and writes".to_owned());
    }
    Ok(())
}
