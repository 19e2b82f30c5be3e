//! Rows of tiobench's reports made into phases, with what is known to be wrong in
//! them corrected.

use stiction_core::{Caveat, CaveatCode, Measurement, Metric, Phase, metrics};

use super::doubts;
use super::known::{Asked, Known, Layout, Placed};
use super::reports;
use super::row::Figure;
use super::runs::Runs;
use super::said::Remarks;
use crate::harvest::{self, Harvest, Row};
use crate::number::MIB;
use crate::tiotest::cpu;

/// Columns that a row's name has.
const NAME_WIDTH: usize = 28;

/// Puts all rows of a text into the harvest.
pub(super) fn finish(harvest: &mut Harvest, rows: Vec<Placed>, remarks: &Remarks) {
    let asked = Asked::by(&harvest.commands);
    let rows: Vec<Known> = rows
        .into_iter()
        .map(|row| Known::of(harvest, &asked, row))
        .collect();
    for report in reports::split(&rows) {
        let runs = reports::runs_of(&report, &rows, &harvest.commands, remarks);
        let proof_of_cpu = report.clone().find_map(|nth| impossible_share(&rows[nth]));
        for row in &rows[report] {
            let mut phase = phase(row, &runs);
            let threads = row.thread_count().filter(|&threads| threads > 1);
            if let (Some(proof), Some(threads)) = (&proof_of_cpu, threads) {
                cpu::divide_by_threads(&mut phase, threads, proof);
            }
            doubts::examine(row, &runs, harvest, &mut phase);
            if row.at.named_kernel {
                harvest.labels_are_kernels();
            }
            say_if_name_fills_column(harvest, &row.at);
            harvest.add(
                row.at.layout.name(),
                Row {
                    line: row.at.line,
                    label: row.at.printed.name.clone(),
                    cell: row.cell(),
                    phase,
                },
            );
        }
        reports::doubt(harvest, &runs);
    }
}

/// Programs cut names at 28 characters; tables made for mail do not.
fn say_if_name_fills_column(harvest: &mut Harvest, at: &Placed) {
    let name = at.printed.name.as_deref().unwrap_or("");
    if at.layout != Layout::Posted && name.chars().count() == NAME_WIDTH {
        harvest.say(format!("`{name}` fills its column and may have been cut"));
    }
}

/// A CPU share that the row's threads cannot have used.
fn impossible_share(row: &Known) -> Option<String> {
    let share = &row.at.printed.cpu;
    let is_impossible = cpu::is_impossible(share.value?, row.thread_count()?);
    is_impossible.then(|| format!("{} on line {}", share.text, row.at.line))
}

/// The phase of a row, with its sums over runs divided.
fn phase(row: &Known, runs: &Runs) -> Phase {
    let printed = &row.at.printed;
    let mut phase = harvest::phase(row.at.title.phase);
    let count = runs.certain();
    let mut add = |metric: Metric, figure: &Figure, unit: f64| {
        let what = metric.name.clone();
        match figure.value {
            Some(value) => phase.measurements.push(Measurement::imported(
                metric,
                value * unit,
                count,
                &*figure.text,
            )),
            None => phase.caveats.push(Caveat::new(
                CaveatCode::DigitsLost,
                format!("{what} is unknown: it is printed as {}", figure.text),
            )),
        }
    };
    add(metrics::RATE, &printed.rate, MIB);
    add(metrics::LATENCY_MEAN, &printed.mean_ms, 1e6);
    add(metrics::LATENCY_MAX, &printed.max, printed.max_unit_ns);
    for (metric, figure) in [
        (metrics::LATENCY_OVER_2S, &printed.over_2s),
        (metrics::LATENCY_OVER_10S, &printed.over_10s),
    ] {
        if let Some(figure) = figure {
            add(metric, figure, 1.0);
        }
    }
    add(metrics::CPU_PERCENT, &printed.cpu, 1.0);
    if let Some(efficiency) = &printed.efficiency {
        add(metrics::CPU_EFFICIENCY, efficiency, MIB);
    }
    mark_cut_digits(row, &mut phase);
    divide_sums(runs, &mut phase);
    phase
}

/// A CPU share that fills its five columns was cut there.
fn mark_cut_digits(row: &Known, phase: &mut Phase) {
    let figure = &row.at.printed.cpu;
    let fills_column = figure.text.len() == "34.27%".len();
    let is_cut = row.at.layout.cuts_cpu() && fills_column;
    for measurement in &mut phase.measurements {
        if measurement.metric == metrics::CPU_PERCENT {
            measurement.digits_cut = is_cut || figure.ends_in_point();
        }
    }
    if figure.ends_in_point() {
        phase.caveats.push(Caveat::new(
            CaveatCode::DigitsLost,
            format!(
                "the CPU share is printed as {}, cut at the point",
                figure.text
            ),
        ));
    }
}

/// Divides what the driver adds up over its runs.
fn divide_sums(runs: &Runs, phase: &mut Phase) {
    let divisor = runs.divisor();
    let (Runs::Known(_, reason) | Runs::AtLeast(_, reason)) = runs else {
        return;
    };
    if divisor < 2 {
        return;
    }
    let summed = [
        metrics::LATENCY_MEAN,
        metrics::LATENCY_MAX,
        metrics::LATENCY_OVER_2S,
        metrics::LATENCY_OVER_10S,
    ];
    for measurement in &mut phase.measurements {
        if !summed.contains(&measurement.metric) || measurement.value == 0.0 {
            continue;
        }
        measurement.value /= divisor as f64;
        let meaning = if measurement.metric == metrics::LATENCY_MAX {
            ", which gives the mean of the runs' maxima"
        } else {
            ""
        };
        measurement.corrected = Some(format!(
            "printed as a sum over runs; divided by {divisor}{meaning}"
        ));
    }
    phase.caveats.push(Caveat::new(
        CaveatCode::SummedOverRuns,
        format!("latencies were printed as sums and divided by {divisor}: {reason}"),
    ));
}
