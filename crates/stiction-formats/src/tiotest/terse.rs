//! The lines that tiotest prints for its driver (`-T`).
//!
//! ```text
//! write:MB,S,USER_S,SYSTEM_S,MEAN_MS,MAX_MS,OVER_2S,OVER_10S
//! total:MEAN_MS,MAX_MS,OVER_2S,OVER_10S
//! ```
//! Before 0.3.2 there were the first four figures and no `total:`.

use stiction_core::{Measurement, Metric, Phase, metrics};

use super::{cell_of, cpu, phase_name};
use crate::command::{Command, Program};
use crate::harvest::{self, Harvest, Row};
use crate::label::Titles;
use crate::number::{MIB, NS_PER_MS, decimal};
use crate::page::Page;

const LAYOUT: &str = "tiotest-terse";

/// What the first four figures of a phase are, and the unit of each.
const RESULTS: [(Metric, f64); 4] = [
    (metrics::BYTES, MIB),
    (metrics::ELAPSED, 1.0),
    (metrics::CPU_USER, 1.0),
    (metrics::CPU_SYSTEM, 1.0),
];
/// What the other four are.
const LATENCIES: [(Metric, f64); 4] = [
    (metrics::LATENCY_MEAN, NS_PER_MS),
    (metrics::LATENCY_MAX, NS_PER_MS),
    (metrics::LATENCY_OVER_2S, 1.0),
    (metrics::LATENCY_OVER_10S, 1.0),
];

/// Reads every run.
pub(super) fn read(page: &mut Page, harvest: &mut Harvest) {
    let titles = Titles::of(page);
    let mut run: Vec<(usize, Phase)> = Vec::new();
    for index in 0..page.len() {
        let Some(phase) = phase(page.text(index)) else {
            continue;
        };
        if !page.is_open(index) {
            continue;
        }
        page.claim(index);
        if run.iter().any(|(_, known)| known.name == phase.name) {
            finish(page, harvest, &titles, std::mem::take(&mut run));
        }
        run.push((index, phase));
    }
    finish(page, harvest, &titles, run);
}

/// The phase on one line.
fn phase(text: &str) -> Option<Phase> {
    let (name, figures) = text.trim().split_once(':')?;
    let name = match name {
        "write" | "rwrite" | "read" | "rread" | "total" => phase_name(name)?,
        _ => return None,
    };
    let figures: Vec<&str> = figures.split(',').collect();
    let values: Option<Vec<f64>> = figures.iter().map(|text| decimal(text)).collect();
    let values = values?;
    let of = match (name, values.len()) {
        ("total", 4) => LATENCIES.to_vec(),
        ("total", _) => return None,
        (_, 4) => RESULTS.to_vec(),
        (_, 8) => [RESULTS, LATENCIES].concat(),
        _ => return None,
    };
    let mut phase = harvest::phase(name);
    phase.measurements = of
        .into_iter()
        .zip(values.iter().zip(&figures))
        .map(|((metric, unit), (value, text))| {
            Measurement::imported(metric, value * unit, 1, *text)
        })
        .collect();
    if name != "total" && values[1] > 0.0 {
        let rate = Measurement::new(metrics::RATE, values[0] * MIB / values[1], 1);
        phase.measurements.insert(0, rate);
        phase.notes.push("the rate is amount over time".to_owned());
        phase.elapsed_ns = (values[1] * 1e9).round() as u64;
    }
    Some(phase)
}

/// Puts a run into the harvest. A phase that was skipped printed zeros: it is none.
fn finish(page: &mut Page, harvest: &mut Harvest, titles: &Titles, run: Vec<(usize, Phase)>) {
    let Some(&(first, _)) = run.first() else {
        return;
    };
    let cell = cell_of(Command::above(&harvest.commands, Program::Tiotest, first));
    let label = titles.claim_above(page, first);
    let is_zero = |phase: &Phase| phase.measurements.iter().all(|m| m.value == 0.0);
    let mut run: Vec<(usize, Phase)> = run
        .into_iter()
        .filter(|(_, phase)| !is_zero(phase))
        .collect();
    if let Some(threads) = cell.integer("threads").and_then(|n| u64::try_from(n).ok()) {
        divide_cpu(&mut run, threads);
    }
    for (index, phase) in run {
        harvest.add(
            LAYOUT,
            Row {
                line: page.number(index),
                label: label.clone(),
                cell: cell.clone(),
                phase,
            },
        );
    }
}

fn divide_cpu(run: &mut [(usize, Phase)], threads: u64) {
    let share = |phase: &Phase| {
        let of = |metric| phase.value(metric).unwrap_or(0.0);
        let cpu_s = of(&metrics::CPU_USER) + of(&metrics::CPU_SYSTEM);
        let elapsed_s = of(&metrics::ELAPSED);
        if elapsed_s > 0.0 {
            100.0 * cpu_s / elapsed_s
        } else {
            0.0
        }
    };
    let proof = run
        .iter()
        .map(|(_, phase)| (share(phase), phase.name.clone()))
        .find(|(share, _)| cpu::is_impossible(*share, threads));
    if let Some((share, name)) = proof {
        let evidence = format!("{share:.1} % in {name}");
        for (_, phase) in run {
            cpu::divide_by_threads(phase, threads, &evidence);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::read;
    use stiction_core::{CaveatCode, metrics};

    const RUN: &str = "\
write:32.00000,0.50000,0.01000,0.20000,0.03000,16.04200,0.00000,0.00000
rwrite:0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000,0.00000
read:32.00000,0.25000,0.02000,0.10000,0.00200,4.06100,0.00000,0.00000
rread:8.00000,0.10000,0.00000,0.05000,0.00200,2.02100,0.00000,0.00000
total:0.01400,16.04200,0.00000,0.00000
";

    #[test]
    fn a_run_is_a_trial_and_skipped_phases_are_none() {
        let text = format!("Run #1: ./tiotest -t 2 -f 16 -r 1000 -b 4096 -d . -T\n{RUN}");
        let imported = read(&text);
        assert_eq!(imported.unread, []);
        let [trial] = &imported.sessions[0].trials[..] else {
            panic!("one trial");
        };
        assert_eq!(
            trial.cell.to_string(),
            "block_size_bytes=4096 file_size_bytes=33554432 threads=2"
        );
        let names: Vec<_> = trial.phases.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["write", "read", "random_read", "total"]);
        let write = trial.phase("write").unwrap();
        assert_eq!(write.value(&metrics::RATE), Some(64.0 * 1024.0 * 1024.0));
        assert_eq!(write.value(&metrics::CPU_SYSTEM), Some(0.2));
        assert_eq!(write.value(&metrics::LATENCY_MAX), Some(16.042 * 1e6));
        assert_eq!(write.elapsed_ns, 500_000_000);
    }

    #[test]
    fn old_lines_have_four_figures() {
        let imported = read("write:32.00000,0.50000,0.01000,0.20000\nread:1.0,2.0,3.0\n");
        assert_eq!(imported.sessions[0].trials[0].phases.len(), 1);
        assert_eq!(imported.unread.len(), 1);
    }

    #[test]
    fn more_cpu_than_threads_can_use_is_divided() {
        let line = "write:32.00000,1.00000,0.50000,3.50000,0.03000,16.04200,0.00000,0.00000";
        let text = format!("tiotest -t 2 -T\n{line}\n");
        let trial = read(&text).sessions.remove(0).trials.remove(0);
        let write = &trial.phases[0];
        assert_eq!(write.value(&metrics::CPU_SYSTEM), Some(1.75));
        assert_eq!(write.caveats[0].code, CaveatCode::CpuCountedPerThread);
    }
}
