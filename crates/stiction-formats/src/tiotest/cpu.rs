//! CPU time that tiotest counts once for every thread.
//!
//! tiotest adds up what each thread sees of `getrusage(RUSAGE_SELF)`. With the
//! thread library of its time that was the thread's own work; since NPTL it is the
//! whole process's, so that the sum is up to as many times too big as there are
//! threads. 0.4 divides by their number itself.

use stiction_core::{Caveat, CaveatCode, Measurement, Metric, Phase, metrics};

/// Share of CPU above what the threads could use at most from which the sum is
/// taken for one that counts every thread's work in each; sampling by tick can
/// bring an honest sum a little above.
const EXCESS: f64 = 1.05;

/// Whether `percent` of CPU is more than `threads` threads can use.
pub(crate) fn is_impossible(percent: f64, threads: u64) -> bool {
    threads > 1 && percent > 100.0 * threads as f64 * EXCESS
}

/// Divides the CPU figures of `phase` by the number of threads, and says so.
/// `evidence` completes "proved by".
pub(crate) fn divide_by_threads(phase: &mut Phase, threads: u64, evidence: &str) {
    let threads_count = threads as f64;
    let mut divided = false;
    for measurement in &mut phase.measurements {
        let factor = if is_share(&measurement.metric) {
            1.0 / threads_count
        } else if measurement.metric == metrics::CPU_EFFICIENCY {
            threads_count
        } else {
            continue;
        };
        if measurement.value == 0.0 {
            continue;
        }
        correct(measurement, factor, threads);
        divided = true;
    }
    if divided {
        phase.caveats.push(Caveat::new(
            CaveatCode::CpuCountedPerThread,
            format!("each of {threads} threads counted the CPU time of all, proved by {evidence}"),
        ));
    }
}

fn is_share(metric: &Metric) -> bool {
    [
        metrics::CPU_PERCENT,
        metrics::CPU_USER_PERCENT,
        metrics::CPU_SYSTEM_PERCENT,
        metrics::CPU_USER,
        metrics::CPU_SYSTEM,
    ]
    .contains(metric)
}

fn correct(measurement: &mut Measurement, factor: f64, threads: u64) {
    measurement.value *= factor;
    measurement.corrected = Some(format!(
        "estimated: the work of {threads} threads was counted up to {threads} times, so it is \
         divided by {threads}"
    ));
}
