//! Rows of tiobench's reports made into phases: what the row leaves to prose is
//! filled in, and what is known to be wrong is corrected.

use std::collections::BTreeSet;

use stiction_core::{Caveat, CaveatCode, Cell, Measurement, Metric, Phase, metrics};

use super::cut::{self, Column};
use super::doubts;
use super::head::{Remark, Title};
use super::row::{Figure, Printed};
use super::runs::{self, Runs, Said, Sample};
use crate::command::Command;
use crate::harvest::{self, Harvest, Row};
use crate::number::MIB;
use crate::stated::{self, About};
use crate::tiotest::cpu;

/// Which program printed a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// The driver of the 0.3.3 release.
    V0_3_3,
    /// The driver of 0.4.
    V0_4,
    /// `tiosum.pl`, the summary of several logs.
    Tiosum,
    /// A table made for mail: size, block and perhaps threads stand in prose.
    Posted,
}

impl Layout {
    fn name(self) -> &'static str {
        match self {
            Self::V0_3_3 => "tiobench-0.3.3",
            Self::V0_4 => "tiobench-0.4",
            Self::Tiosum => "tiosum",
            Self::Posted => "tiobench-posted",
        }
    }

    /// Columns that a block size has.
    fn block_width(self) -> usize {
        if self == Self::V0_4 { 6 } else { 5 }
    }

    /// The drivers print the CPU share as text of five columns and cut the rest;
    /// the summary rounds.
    fn cuts_cpu(self) -> bool {
        matches!(self, Self::V0_3_3 | Self::V0_4)
    }
}

/// A row and where it stands.
pub(super) struct SheetRow {
    pub(super) index: usize,
    /// From 1.
    pub(super) line: usize,
    pub(super) layout: Layout,
    pub(super) title: Title,
    pub(super) named_kernel: bool,
    pub(super) printed: Printed,
}

/// A row whose every parameter is as well known as the text allows.
pub(super) struct Complete {
    pub(super) row: SheetRow,
    pub(super) size_bytes: Option<u64>,
    pub(super) block: Option<Column>,
    pub(super) threads: Option<Column>,
}

impl Complete {
    pub(super) fn block_bytes(&self) -> Option<u64> {
        self.block.as_ref().and_then(Column::known)
    }

    pub(super) fn thread_count(&self) -> Option<u64> {
        self.threads.as_ref().and_then(Column::known)
    }

    pub(super) fn is_random(&self) -> bool {
        self.row.title.phase.starts_with("random")
    }

    fn sample(&self) -> Option<Sample> {
        let is_sequential_read = self.row.title.phase == "read";
        Sample::of(
            &self.row.printed,
            self.block_bytes()?,
            self.thread_count()?,
            is_sequential_read,
            self.row.line,
        )
    }
}

/// Puts all rows of a text into the harvest.
pub(super) fn finish(harvest: &mut Harvest, rows: Vec<SheetRow>, remarks: &[Remark]) {
    if rows.is_empty() {
        return;
    }
    let asked = Asked::of(&harvest.commands);
    let rows: Vec<Complete> = rows
        .into_iter()
        .map(|row| complete(harvest, &asked, row))
        .collect();
    let runs = runs_of(harvest, &rows, remarks);
    let proof_of_cpu = rows.iter().find_map(|row| {
        let (share, threads) = (row.row.printed.cpu.value?, row.thread_count()?);
        cpu::is_impossible(share, threads)
            .then(|| format!("{} on line {}", row.row.printed.cpu.text, row.row.line))
    });
    for row in &rows {
        let mut phase = phase(row, &runs);
        let threads = row.thread_count().filter(|&threads| threads > 1);
        if let (Some(proof), Some(threads)) = (&proof_of_cpu, threads) {
            cpu::divide_by_threads(&mut phase, threads, proof);
        }
        doubts::examine(row, &runs, harvest, &mut phase);
        if row.row.named_kernel {
            harvest.labels_are_kernels();
        }
        harvest.add(
            row.row.layout.name(),
            Row {
                line: row.row.line,
                label: row.row.printed.name.clone(),
                cell: cell(row),
                phase,
            },
        );
    }
    say_runs(harvest, &runs);
}

/// The different values that the commands of a text ask for.
struct Asked {
    blocks: Vec<u64>,
    threads: Vec<u64>,
    sizes: Vec<u64>,
}

impl Asked {
    fn of(commands: &[Command]) -> Self {
        let values = |of: fn(&Command) -> Vec<u64>| {
            let values: BTreeSet<u64> = commands.iter().flat_map(of).collect();
            values.into_iter().collect()
        };
        Self {
            blocks: values(Command::block_sizes_bytes),
            threads: values(Command::thread_counts),
            sizes: values(Command::file_sizes_bytes),
        }
    }
}

/// Fills in what the row does not say from prose above it or from the one command
/// of the text.
fn complete(harvest: &mut Harvest, asked: &Asked, row: SheetRow) -> Complete {
    let mut from_text = |about, asked: &[u64]| from_text(harvest, about, row.index, asked);
    let size_bytes = match row.printed.size_mib {
        Some(mib) => Some(mib.saturating_mul(1 << 20)),
        None => from_text(About::FileSize, &asked.sizes),
    };
    let block = match row.printed.block {
        Some(block) => Some(cut::block(block, row.layout.block_width(), &asked.blocks)),
        None => from_text(About::BlockSize, &asked.blocks).map(Column::Whole),
    };
    let threads = match row.printed.threads {
        Some(count) => Some(cut::threads(count, &asked.threads)),
        None => from_text(About::Threads, &asked.threads).map(Column::Whole),
    };
    Complete {
        row,
        size_bytes,
        block,
        threads,
    }
}

/// The latest fact above line `index`, or what the commands all ask for.
fn from_text(harvest: &mut Harvest, about: About, index: usize, asked: &[u64]) -> Option<u64> {
    if let Some(fact) = stated::above(&harvest.facts, about, index) {
        harvest.use_fact(fact);
        return Some(fact.value);
    }
    match asked {
        [one] => Some(*one),
        _ => None,
    }
}

fn runs_of(harvest: &Harvest, rows: &[Complete], remarks: &[Remark]) -> Runs {
    // 0.4 prints random rates far too high, so they say nothing of runs.
    let samples: Vec<Sample> = rows
        .iter()
        .filter(|row| !(row.row.layout == Layout::V0_4 && row.is_random()))
        .filter_map(Complete::sample)
        .collect();
    let commands = &harvest.commands;
    let sums = remarks.iter().find_map(|remark| match remark {
        Remark::Sums(runs) => Some(*runs),
        _ => None,
    });
    let means = remarks.iter().find_map(|remark| match remark {
        Remark::Means(runs) => Some(*runs),
        _ => None,
    });
    let said = Said {
        numruns: sums.or_else(|| commands.iter().find_map(Command::runs)),
        means,
        progress: commands.iter().filter_map(|command| command.run).max(),
    };
    runs::infer(&samples, said)
}

fn say_runs(harvest: &mut Harvest, runs: &Runs) {
    match runs {
        Runs::Known(1, _) | Runs::Means(_) => {}
        Runs::Known(count, reason) => harvest.say(format!(
            "latencies are sums over {count} runs and were divided by {count}: {reason}"
        )),
        Runs::AtLeast(count, reason) => harvest.say(format!(
            "latencies are sums over {count} runs or more and were divided by {count}: {reason}"
        )),
        Runs::Unknown => harvest.doubt(
            CaveatCode::SummedOverRuns,
            "tiobench adds latencies up over --numruns, and nothing in the text tells how many \
             runs there were",
        ),
        Runs::Contradiction(reason) => {
            harvest.doubt(CaveatCode::Inconsistent, reason.clone());
        }
    }
}

fn cell(row: &Complete) -> Cell {
    let mut cell = Cell::new();
    let title = &row.row.title;
    if let Some(filesystem) = &title.filesystem {
        cell = cell.with("filesystem", filesystem.as_str());
    }
    if let Some(options) = &title.options {
        cell = cell.with("options", options.as_str());
    }
    if let Some(size) = row.size_bytes {
        cell = cell.with("file_size_bytes", size);
    }
    let columns = [("block_size_bytes", &row.block), ("threads", &row.threads)];
    for (factor, column) in columns {
        cell = match column {
            Some(Column::Whole(value) | Column::Restored(value)) => cell.with(factor, *value),
            Some(Column::Cut(digits)) => cell.with(factor, format!("{digits}?")),
            None => cell,
        };
    }
    cell
}

/// The phase of a row, with its sums over runs divided.
fn phase(row: &Complete, runs: &Runs) -> Phase {
    let printed = &row.row.printed;
    let mut phase = harvest::phase(row.row.title.phase);
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
fn mark_cut_digits(row: &Complete, phase: &mut Phase) {
    let figure = &row.row.printed.cpu;
    let fills_column = figure.text.len() == "34.27%".len();
    let is_cut = row.row.layout.cuts_cpu() && fills_column;
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
