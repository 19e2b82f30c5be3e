//! What the load and the machine did while the job ran, as figures.

use std::time::Duration;

use stiction_core::{Measurement, Metric, Pressure, SystemCpu, metrics};

use super::loads::{EndedLoad, Load, Reading, Setting};

/// What a job told of itself.
#[derive(Debug, Default)]
pub(super) struct Told {
    pub(super) figures: Vec<Measurement>,
    pub(super) notes: Vec<String>,
}

/// Reads what a job told: lines `figure NAME VALUE N`, all others are notes.
pub(super) fn told(output: &str) -> Told {
    let mut told = Told::default();
    for line in output.lines() {
        match figure(line) {
            Some(figure) => told.figures.push(figure),
            None => told.notes.push(line.to_owned()),
        }
    }
    told
}

fn figure(line: &str) -> Option<Measurement> {
    let mut words = line.strip_prefix("figure ")?.split(' ');
    let metric = metrics::by_name(words.next()?)?;
    let value: f64 = words.next()?.parse().ok()?;
    let n = words.next()?.parse().ok()?;
    value
        .is_finite()
        .then(|| Measurement::new(metric.clone(), value, n))
}

/// What the machine came to: the kernel's own threads are in no process's account.
pub(super) fn of_machine(
    elapsed: Duration,
    cpu: Option<SystemCpu>,
    pressure: Pressure,
) -> Vec<Measurement> {
    let elapsed_s = elapsed.as_secs_f64();
    let mut found = Vec::new();
    if let Some(cpu) = cpu.filter(|_| elapsed_s > 0.0) {
        let share = 100.0 * cpu.busy_ns() as f64 / 1e9 / elapsed_s;
        found.push(Measurement::new(metrics::CPU_SYSTEM_WIDE_PERCENT, share, 1));
    }
    let waits: [(Metric, Option<u64>); 5] = [
        (metrics::PRESSURE_CPU_SOME, pressure.cpu_some_ns),
        (metrics::PRESSURE_IO_SOME, pressure.io_some_ns),
        (metrics::PRESSURE_IO_FULL, pressure.io_full_ns),
        (metrics::PRESSURE_MEMORY_SOME, pressure.memory_some_ns),
        (metrics::PRESSURE_MEMORY_FULL, pressure.memory_full_ns),
    ];
    for (metric, ns) in waits {
        found.extend(ns.map(|ns| Measurement::new(metric, ns as f64 / 1e9, 1)));
    }
    found
}

/// The rate of a load between two readings of it, and its CPU share.
pub(super) fn of_load(load: Load, before: Reading, after: Reading) -> Vec<Measurement> {
    let paused_s = (after.paused_ns - before.paused_ns) as f64 / 1e9;
    let elapsed_s = after.at.duration_since(before.at).as_secs_f64() - paused_s;
    if elapsed_s <= 0.0 {
        return Vec::new();
    }
    let steps = after.steps - before.steps;
    let rate = if load.moves_bytes() {
        metrics::LOAD_RATE
    } else {
        metrics::LOAD_STEP_RATE
    };
    let cpu_s = after.cpu_ns.saturating_sub(before.cpu_ns) as f64 / 1e9;
    vec![
        Measurement::new(rate, steps as f64 / elapsed_s, steps.max(1)),
        Measurement::new(metrics::LOAD_CPU_PERCENT, 100.0 * cpu_s / elapsed_s, 1),
    ]
}

/// What the load got done beside the job. `corrected` is the share of its whole time that
/// the job took: contest counted whole units, and took that share of them.
pub(super) fn of_units(
    setting: &Setting,
    (before, after): (Reading, Reading),
    ended: &EndedLoad,
    corrected: Option<f64>,
) -> Vec<Measurement> {
    let mut found = Vec::new();
    let units = match (corrected, ended.unit_steps) {
        (Some(share), _) => Some(ended.passes as f64 * share),
        (None, Some(unit)) if unit > 0 => Some((after.steps - before.steps) as f64 / unit as f64),
        (None, _) => None,
    };
    found.extend(units.map(|units| Measurement::new(metrics::LOAD_UNITS, units, 1)));
    let elapsed_s = ended.elapsed.as_secs_f64();
    found.push(Measurement::new(metrics::LOAD_ELAPSED, elapsed_s, 1));
    if setting.load.writes_file() || setting.load == Load::Read {
        found.push(Measurement::new(
            metrics::LOAD_FILES,
            ended.passes as f64,
            1,
        ));
        found.push(Measurement::new(
            metrics::LOAD_FILE_SIZE,
            setting.bytes as f64,
            1,
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_job_are_told_from_its_words() {
        let told = told("checksum 00ff\nfigure latency_ns_p50 1500.5 20\nfigure nonsense 1 1\n");
        assert_eq!(told.notes, ["checksum 00ff", "figure nonsense 1 1"]);
        assert_eq!(
            told.figures,
            [Measurement::new(metrics::LATENCY_P50, 1500.5, 20)]
        );
    }
}
