//! Small appends to one file, each followed by an fsync: what a database's log or a mail
//! server waits for.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use stiction_core::{Metric, metrics};

use super::part::{PartResult, failed};

/// Appends, and tells the latencies of append and sync together as lines
/// `figure NAME VALUE N`.
pub(super) fn run(
    folder: &Path,
    appends: u32,
    bytes: usize,
    output: &mut dyn io::Write,
) -> PartResult<()> {
    let path = folder.join("log");
    let refused = |error: io::Error| failed("append to", &path, &error);
    let mut file = File::create_new(&path).map_err(refused)?;
    let block = vec![7; bytes];
    let mut latencies_ns = Vec::with_capacity(appends as usize);
    for _ in 0..appends {
        let begun = Instant::now();
        file.write_all(&block)
            .and_then(|()| file.sync_all())
            .map_err(refused)?;
        latencies_ns.push(begun.elapsed().as_nanos() as f64);
    }
    for (metric, value) in figures(latencies_ns) {
        writeln!(output, "figure {} {value} {appends}", metric.name)
            .map_err(|error| format!("cannot tell the latencies: {error}"))?;
    }
    Ok(())
}

/// Mean, median, 99th percentile where there are enough for one, and maximum.
fn figures(mut latencies_ns: Vec<f64>) -> Vec<(Metric, f64)> {
    latencies_ns.sort_by(f64::total_cmp);
    let count = latencies_ns.len();
    let Some(&most) = latencies_ns.last() else {
        return Vec::new();
    };
    // The smallest that so many per cent are not above.
    let at = |percent: usize| latencies_ns[(count * percent).div_ceil(100).max(1) - 1];
    let mut found = vec![
        (
            metrics::LATENCY_MEAN,
            latencies_ns.iter().sum::<f64>() / count as f64,
        ),
        (metrics::LATENCY_P50, at(50)),
    ];
    if count >= 100 {
        found.push((metrics::LATENCY_P99, at(99)));
    }
    found.push((metrics::LATENCY_MAX, most));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_one_to_two_hundred_the_99th_percentile_is_198() {
        let found = figures((1..=200).rev().map(f64::from).collect());
        let values: Vec<f64> = found.iter().map(|(_, value)| *value).collect();
        assert_eq!(values, [100.5, 100.0, 198.0, 200.0]);
        assert_eq!(figures(vec![3.0]).len(), 3);
    }
}
