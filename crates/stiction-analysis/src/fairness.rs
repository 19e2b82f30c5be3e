//! How evenly the workers were served.

use stiction_core::WorkerSummary;

/// Jain's index of fairness: (sum x)^2 / (n sum x^2), 1 when all have the same and
/// 1/n when one has all. R. Jain, D. Chiu and W. Hawe, "A quantitative measure of
/// fairness and discrimination for resource allocation in shared computer systems",
/// DEC-TR-301 (1984). `None` when nobody has anything.
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

/// The smallest share over the largest; `None` when nobody has anything.
#[must_use]
pub fn smallest_over_largest(shares: &[f64]) -> Option<f64> {
    let smallest = shares.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = shares.iter().copied().fold(0.0, f64::max);
    (largest > 0.0).then(|| smallest / largest)
}

/// Bytes per second of each worker, over its own time from first operation to last.
#[must_use]
pub fn worker_rates(workers: &[WorkerSummary]) -> Vec<f64> {
    workers
        .iter()
        .map(|worker| {
            let active_ns = worker.last_ns.saturating_sub(worker.first_ns).max(1);
            worker.bytes as f64 * 1e9 / active_ns as f64
        })
        .collect()
}

/// Time between the first worker's end and the last one's, ns.
#[must_use]
pub fn finish_spread_ns(workers: &[WorkerSummary]) -> u64 {
    let ends = || workers.iter().map(|worker| worker.last_ns);
    let last = ends().max().unwrap_or(0);
    last - ends().min().unwrap_or(0)
}

/// Operations in flight on average: Little's law, L = lambda W. J. D. C. Little, "A
/// proof for the queuing formula", Operations Research 9 (1961).
#[must_use]
pub fn operations_in_flight(operations_per_s: f64, latency_mean_ns: f64) -> f64 {
    operations_per_s * latency_mean_ns / 1e9
}

/// Mean share of the time that each of `threads` threads had an operation in flight,
/// from what a tiobench row prints: 1 when all were served all the time. Above 1 the
/// row's figures contradict each other, as when latencies were summed over runs.
#[must_use]
pub fn share_active(
    rate_bytes_per_s: f64,
    block_size_bytes: f64,
    latency_mean_ns: f64,
    threads: u32,
) -> f64 {
    let operations_per_s = rate_bytes_per_s / block_size_bytes;
    operations_in_flight(operations_per_s, latency_mean_ns) / f64::from(threads)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index_has_its_published_values() {
        // From the report's section 2: k of n users sharing equally have k / n.
        assert_eq!(jain(&[5.0; 7]), Some(1.0));
        assert_eq!(jain(&[1.0, 1.0, 0.0, 0.0]), Some(0.5));
        assert_eq!(jain(&[3.0, 0.0, 0.0]), Some(1.0 / 3.0));
        assert_eq!(jain(&[0.0]), None);
        assert_eq!(jain(&[]), None);
    }

    #[test]
    fn rates_are_over_each_workers_own_time() {
        let worker = |bytes, first_ns, last_ns| WorkerSummary {
            bytes,
            first_ns,
            last_ns,
            ..WorkerSummary::default()
        };
        let workers = [
            worker(1000, 0, 1_000_000_000),
            worker(1000, 500_000_000, 2_500_000_000),
        ];
        let rates = worker_rates(&workers);
        assert_eq!(rates, [1000.0, 500.0]);
        assert_eq!(smallest_over_largest(&rates), Some(0.5));
        assert_eq!(finish_spread_ns(&workers), 1_500_000_000);
        assert_eq!(finish_spread_ns(&[]), 0);
    }

    /// The row `2.4.20aa1 8.24 MB/s, 28.587 ms` with 32 threads and 4 KiB blocks was
    /// summed over three runs: k = 28.587 x 8.24 x 2^20 / (1000 x 4096 x 32) = 1.88,
    /// which no single run can have.
    #[test]
    fn a_row_of_several_runs_contradicts_littles_law() {
        let k = share_active(8.24 * 1_048_576.0, 4096.0, 28.587e6, 32);
        assert!((k - 1.8845).abs() < 1e-3, "{k}");
        let one_run = share_active(8.24 * 1_048_576.0, 4096.0, 28.587e6 / 3.0, 32);
        assert!(one_run < 1.0, "{one_run}");
    }
}
