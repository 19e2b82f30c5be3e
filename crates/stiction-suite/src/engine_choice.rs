//! Which engine many operations at once go through, found by a short trial of the
//! target.
//!
//! A ring is the cheaper way where the kernel begins operations without waiting. Where
//! it cannot (page cache misses, zram, some filesystems), it hands each one to a helper
//! thread (`io-wq`), which costs more than threads of our own and measures the helpers.
//! The helpers are threads of this process and none of the engine's workers, so their
//! CPU time shows as the difference between the two.

use serde::{Deserialize, Serialize};
use stiction_core::{
    BackendKind, Caveat, CaveatCode, Job, SkipCode, SkipReason, format_duration_ns,
};
use stiction_engine::{Ended, Outcome, Progress, probe, run};
use stiction_host::process_cpu;

use crate::means::Means;
use crate::{Context, Ground};

/// How long a trial takes where there is time, ns: a hundred operations of a slow disk.
pub(crate) const TRIAL_NS: u64 = 200_000_000;
/// Operations after which a trial has seen enough: few beside what is measured, and
/// helpers take 2 us and more for each.
const TRIAL_OPERATIONS: u64 = 1000;
/// Helpers that took less than this, ns, did not do the work: starting the worker takes
/// about as much, and is charged to nobody else.
const HELPERS_NS_MIN: u64 = 1_000_000;
/// Share of the CPU time from which helpers do the work. Where a ring needs none they
/// take a few in a hundred; where they serve it they take half and more.
const HELPERS_SHARE_MIN: f64 = 0.25;

/// How operations are to reach the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineWanted {
    /// As the target does best.
    #[default]
    Auto,
    /// `pread` and `pwrite` in threads.
    Psync,
    /// A ring.
    IoUring,
    /// `io_submit` and `io_getevents`.
    Libaio,
}

/// How operations reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The engine.
    pub(crate) backend: BackendKind,
    /// Whether past the page cache.
    pub(crate) direct: bool,
}

/// A way and the reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) way: Way,
    /// In one line, for the notes of the phases.
    pub(crate) why: String,
    /// What was wanted and could not be had.
    pub(crate) caveat: Option<Caveat>,
}

/// Chooses the way for many operations at once. `job_for` makes the closed loop that is
/// tried.
///
/// # Errors
/// When the engine that was asked for cannot be had here.
pub(crate) fn choose_way(
    context: &Context<'_>,
    ground: &Ground,
    means: &Means,
    wanted: EngineWanted,
    job_for: impl Fn(Way) -> Job,
) -> Result<Chosen, SkipReason> {
    let asked = match wanted {
        EngineWanted::Auto => {
            let ring = Way {
                backend: BackendKind::IoUring,
                direct: true,
            };
            let served = means
                .ring
                .then(|| try_ring(context, ground, &job_for(ring), TRIAL_NS));
            return Ok(decide(means, served));
        }
        EngineWanted::Psync => BackendKind::Psync,
        EngineWanted::IoUring => BackendKind::IoUring,
        EngineWanted::Libaio => BackendKind::Libaio,
    };
    probe(asked)
        .map_err(|unavailable| SkipReason::new(SkipCode::NotSupported, unavailable.to_string()))?;
    Ok(Chosen {
        way: Way {
            backend: asked,
            direct: means.direct,
        },
        why: format!("engine: {}, as asked", asked.as_str()),
        caveat: None,
    })
}

/// Who did the work of a ring, ns of CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    worker_ns: u64,
    helpers_ns: u64,
}

impl Served {
    /// Whether the kernel's helpers did it.
    pub(crate) fn by_helpers(self) -> bool {
        let all_ns = (self.worker_ns + self.helpers_ns) as f64;
        self.helpers_ns >= HELPERS_NS_MIN && self.helpers_ns as f64 >= HELPERS_SHARE_MIN * all_ns
    }

    /// `the kernel's helper threads took 150 ms of CPU, the worker 50 ms`
    pub(crate) fn words(self) -> String {
        let time = |ns: u64| format_duration_ns(ns as f64);
        format!(
            "the kernel's helper threads took {} of CPU, the worker {}",
            time(self.helpers_ns),
            time(self.worker_ns)
        )
    }
}

/// Tries `job` for `trial_ns` at most and sees who serves it; the reason when it fails.
pub(crate) fn try_ring(
    context: &Context<'_>,
    ground: &Ground,
    job: &Job,
    trial_ns: u64,
) -> Result<Served, String> {
    let job = Job {
        duration_ns: Some(trial_ns),
        operations_per_worker: Some(TRIAL_OPERATIONS),
        ramp_ns: 0,
        once: false,
        ..job.clone()
    };
    // What it costs to make a worker and its buffers ready, without any I/O.
    let idle = Job {
        backend: BackendKind::Null,
        operations_per_worker: Some(1),
        ..job.clone()
    };
    let (_, ready_ns) = charged(context, ground, &idle)?;
    let (outcome, others_ns) = charged(context, ground, &job)?;
    Ok(Served {
        worker_ns: worker_ns(&outcome),
        helpers_ns: others_ns.saturating_sub(ready_ns),
    })
}

/// Runs `job`; the CPU time of the process meanwhile that no worker took, ns.
fn charged(context: &Context<'_>, ground: &Ground, job: &Job) -> Result<(Outcome, u64), String> {
    let before_ns = process_cpu().total_ns;
    let progress = Progress::new(job.workers());
    let outcome =
        run(job, ground.targets(), context.stop, &progress).map_err(|error| error.to_string())?;
    if let Ended::Failed(failure) = &outcome.ended {
        return Err(failure.to_string());
    }
    let all_ns = process_cpu().total_ns.saturating_sub(before_ns);
    let others_ns = all_ns.saturating_sub(worker_ns(&outcome));
    Ok((outcome, others_ns))
}

fn worker_ns(outcome: &Outcome) -> u64 {
    outcome
        .workers
        .iter()
        .map(|worker| worker.cpu.total_ns)
        .sum()
}

/// The way that follows from what the place lets us do, and from who served the ring if
/// one was tried.
fn decide(means: &Means, served: Option<Result<Served, String>>) -> Chosen {
    let threads = |why, caveat| Chosen {
        way: Way {
            backend: BackendKind::Psync,
            direct: means.direct,
        },
        why,
        caveat,
    };
    match served {
        None => {
            let why = if means.direct {
                "engine: psync in threads, since io_uring cannot be had"
            } else {
                "engine: psync in threads, as I/O is buffered"
            };
            threads(why.to_owned(), means.ring_caveat.clone())
        }
        Some(Err(reason)) => {
            let caveat = Caveat::new(CaveatCode::BackendReplaced, reason);
            threads(
                "engine: psync in threads, since io_uring failed".to_owned(),
                Some(caveat),
            )
        }
        Some(Ok(served)) if served.by_helpers() => threads(
            format!(
                "engine: psync in threads, since in a trial of io_uring {}",
                served.words()
            ),
            None,
        ),
        Some(Ok(served)) => Chosen {
            way: Way {
                backend: BackendKind::IoUring,
                direct: true,
            },
            why: format!("engine: io_uring; in a trial {}", served.words()),
            caveat: None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means(direct: bool, ring: bool) -> Means {
        Means {
            direct,
            ring,
            ..Means::default()
        }
    }

    /// Per operation, on zram: 445 ns of the worker of 1360 ns in all. On a loop device
    /// the worker has it all, but for its start.
    #[test]
    fn helpers_are_told_from_the_cost_of_starting() {
        let served = |worker_us: u64, helpers_us: u64| Served {
            worker_ns: 1000 * worker_us,
            helpers_ns: 1000 * helpers_us,
        };
        assert!(served(44_500, 91_500).by_helpers());
        assert!(!served(150_000, 3_000).by_helpers());
        assert!(!served(100, 900).by_helpers(), "a slow disk, and a start");
    }

    #[test]
    fn threads_do_what_a_ring_would_leave_to_helpers() {
        let helped = Served {
            worker_ns: 10_000_000,
            helpers_ns: 90_000_000,
        };
        let chosen = decide(&means(true, true), Some(Ok(helped)));
        assert_eq!(chosen.way.backend, BackendKind::Psync);
        assert!(
            chosen.way.direct && chosen.why.contains("90.0 ms"),
            "{chosen:?}"
        );

        let own = Served {
            worker_ns: 90_000_000,
            helpers_ns: 0,
        };
        let chosen = decide(&means(true, true), Some(Ok(own)));
        assert_eq!(chosen.way.backend, BackendKind::IoUring);

        let chosen = decide(&means(false, false), None);
        assert_eq!(
            chosen.way,
            Way {
                backend: BackendKind::Psync,
                direct: false
            }
        );
        let chosen = decide(&means(true, true), Some(Err("refused".to_owned())));
        assert_eq!(chosen.caveat.unwrap().code, CaveatCode::BackendReplaced);
    }
}
