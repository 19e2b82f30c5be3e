//! From a rate and the means at hand to a job.

use stiction_core::{
    Action, Arrivals, BackendKind, Create, Data, Job, LoopKind, Pace, Rate, Seed, SyncKind,
};

use super::options::CurveParameters;
use crate::engine_choice::Way;
use crate::sizing::split;

const NS_PER_S: f64 = 1e9;
/// How much longer than asked a low rate may take for its percentile.
const LONGER_MAX: u64 = 6;
/// A rate gets so much more time than its percentile needs on average, since arrivals
/// at random are sometimes fewer.
const SPARE: f64 = 1.2;

/// What the jobs of one trial depend on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    pub(super) parameters: &'a CurveParameters,
    /// How operations reach the kernel.
    pub(super) way: Way,
    /// Whether the file lives in memory.
    pub(super) in_memory: bool,
    /// Bytes from the file's start that have really been written.
    pub(super) written_bytes: u64,
    /// Seed of the trial.
    pub(super) seed: Seed,
}

/// Writes the file from its start to its end.
pub(super) fn lay_down(
    parameters: &CurveParameters,
    length_bytes: u64,
    direct: bool,
    seed: Seed,
) -> Job {
    Job {
        name: "lay_down".to_owned(),
        action: Action::Write,
        block_size_bytes: parameters.lay_down_block_size_bytes,
        regions: split(length_bytes, parameters.lay_down_block_size_bytes, 1),
        direct,
        sync_at_end: Some(SyncKind::Fdatasync),
        create: Create::Truncate,
        data: Data::Unique,
        duration_ns: Some(parameters.lay_down_ns),
        interval_ns: parameters.interval_ns,
        seed,
        ..Job::default()
    }
}

/// A closed loop, or an open one at `rate_per_s`.
pub(super) fn job(on: Circumstances<'_>, name: String, rate_per_s: Option<u64>, seed: Seed) -> Job {
    let parameters = on.parameters;
    let block_size_bytes = parameters.block_size_bytes;
    let ring = on.way.backend != BackendKind::Psync;
    let workers = if ring { 1 } else { parameters.depth_max };
    let regions = split(on.written_bytes, block_size_bytes, workers);
    let duration_ns = duration_ns(parameters, rate_per_s);
    Job {
        name,
        access: parameters.access,
        action: parameters.action,
        block_size_bytes,
        depth: if ring { parameters.depth_max } else { 1 },
        pace: rate_per_s.map(|per_s| pace(per_s, regions.len(), parameters)),
        regions,
        backend: on.way.backend,
        direct: on.way.direct,
        create: Create::Open,
        data: Data::Unique,
        duration_ns: Some(duration_ns),
        // Ending before its time it would not show what it had fallen behind.
        once: false,
        ramp_ns: parameters.ramp_ns,
        interval_ns: parameters.interval_ns,
        timing: parameters.timing,
        seed,
        ..Job::default()
    }
}

/// Bytes can be shared out among many workers where so many operations a second cannot.
fn pace(per_s: u64, workers: usize, parameters: &CurveParameters) -> Pace {
    let bytes_per_s = u128::from(per_s) * u128::from(parameters.block_size_bytes);
    let each = bytes_per_s / workers.max(1) as u128;
    Pace {
        rate: Rate::BytesPerS(u64::try_from(each).unwrap_or(u64::MAX).max(1)),
        by_way: None,
        arrivals: parameters.arrivals,
        kind: LoopKind::Open,
    }
}

/// As long as was asked, or as the bounded percentile needs at this rate.
fn duration_ns(parameters: &CurveParameters, rate_per_s: Option<u64>) -> u64 {
    let (Some(per_s), Some(limit)) = (rate_per_s, parameters.bound.limit) else {
        return parameters.point_ns;
    };
    let needed = SPARE * limit.figure.operations_min() as f64 / per_s.max(1) as f64;
    let needed_ns = (needed * NS_PER_S) as u64 + parameters.ramp_ns;
    needed_ns.clamp(parameters.point_ns, LONGER_MAX * parameters.point_ns)
}

/// How the arrivals are called.
pub(super) fn arrivals_word(arrivals: Arrivals) -> &'static str {
    match arrivals {
        Arrivals::Fixed => "even arrivals",
        Arrivals::Poisson => "Poisson arrivals",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Access, Bound, Timing};

    use crate::EngineWanted;

    fn parameters() -> CurveParameters {
        CurveParameters {
            access: Access::RandomPermutation,
            action: Action::Read,
            block_size_bytes: 4096,
            bound: Bound {
                limit: Some("p99=2ms".parse().unwrap()),
                done_over_asked_min: 0.98,
            },
            points: 8,
            bisections: 5,
            point_ns: 5_000_000_000,
            ramp_ns: 500_000_000,
            depth_max: 64,
            arrivals: Arrivals::Poisson,
            engine: EngineWanted::Auto,
            file_size_bytes: 64 << 20,
            lay_down_block_size_bytes: 1 << 20,
            lay_down_ns: 60_000_000_000,
            interval_ns: 100_000_000,
            timing: Timing::Exact,
            may_fill: false,
        }
    }

    fn at(backend: BackendKind, per_s: Option<u64>) -> Job {
        let parameters = parameters();
        let on = Circumstances {
            parameters: &parameters,
            way: Way {
                backend,
                direct: true,
            },
            in_memory: false,
            written_bytes: 64 << 20,
            seed: Seed(1),
        };
        job(on, "rate".to_owned(), per_s, Seed(2))
    }

    #[test]
    fn threads_share_the_rate_that_a_ring_has_alone() {
        let ring = at(BackendKind::IoUring, Some(1000));
        assert_eq!((ring.regions.len(), ring.depth), (1, 64));
        let threads = at(BackendKind::Psync, Some(1000));
        assert_eq!((threads.regions.len(), threads.depth), (64, 1));
        // 1000 operations of 4096 bytes a second, and a 64th of that.
        let bytes = |job: &Job| job.pace.map(|pace| pace.rate);
        assert_eq!(bytes(&ring), Some(Rate::BytesPerS(4_096_000)));
        assert_eq!(bytes(&threads), Some(Rate::BytesPerS(64_000)));
        assert_eq!(at(BackendKind::IoUring, None).pace, None);
    }

    /// A p99 needs 1000 operations, at 100 a second and with a fifth to spare 12 s.
    #[test]
    fn a_low_rate_gets_the_time_that_its_percentile_needs() {
        let seconds =
            |per_s| at(BackendKind::IoUring, Some(per_s)).duration_ns.unwrap() as f64 / 1e9;
        assert_eq!(seconds(10_000), 5.0);
        assert_eq!(seconds(100), 12.5);
        assert_eq!(seconds(1), 30.0);
    }
}
