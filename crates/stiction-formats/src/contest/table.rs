//! Tables of contest: one for each load, one row for each kernel.
//!
//! ```text
//! io halfmem:
//! Kernel                          Time    CPU
//! 2.4.20(EXT2)                    306.82  87%
//! ```

use stiction_core::{Cell, Measurement, Phase, metrics};

use super::loads;
use crate::harvest::{self, Harvest, Row};
use crate::number::{clock_s, decimal, integer};
use crate::page::Page;

/// What a column of a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Column {
    Runs,
    Time,
    Cpu,
    Loads,
    LoadCpu,
    Ratio,
}

/// The columns right of the kernel's name, and the layout that they make.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    columns: Vec<Column>,
    layout: &'static str,
}

/// Where a row stands.
#[derive(Clone, Debug, Default)]
struct Section {
    load: Option<String>,
    /// `UNIPROCESSOR` or `SMP`, which stand above the loads of some reports.
    cpus: Option<String>,
    /// Lines that belong to the table and are claimed with its first row.
    pending: Vec<usize>,
}

/// Reads every table.
pub(crate) fn read(page: &mut Page, harvest: &mut Harvest) {
    let mut section = Section::default();
    let mut head: Option<Head> = None;
    for index in 0..page.len() {
        if page.is_blank(index) && section.pending.is_empty() {
            // A blank line behind rows ends their table.
            head = None;
        }
        if !page.is_open(index) || page.is_blank(index) {
            continue;
        }
        if let Some(cpus) = cpus_heading(page.text(index)) {
            section.cpus = Some(cpus.to_owned());
            section.pending = vec![index];
        } else if let Some(load) = heading(page, index) {
            section.load = Some(load);
            section
                .pending
                .retain(|&line| cpus_heading(page.text(line)).is_some());
            section.pending.push(index);
            head = None;
        } else if let Some(found) = head_of(&page.words(index)) {
            if section.load.is_some() {
                section.pending.push(index);
                head = Some(found);
            }
        } else if let (Some(head), Some(load)) = (&head, &section.load) {
            let load = load.clone();
            if let Some((row, lines)) = row_at(page, index, head, &section, &load) {
                (index..index + lines).for_each(|line| page.claim(line));
                section.pending.drain(..).for_each(|line| page.claim(line));
                harvest.labels_are_kernels();
                harvest.add(head.layout, row);
            }
        }
    }
}

/// `io full mem:` on a line of its own, above a head.
fn heading(page: &Page, index: usize) -> Option<String> {
    let name = page.text(index).trim().strip_suffix(':')?.trim();
    if let Some(load) = loads::load(name) {
        return Some(load.to_owned());
    }
    let below = (index + 1..page.len()).find(|&line| !page.is_blank(line))?;
    let has_head = head_of(&page.words(below)).is_some();
    let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    (has_head && (1..=4).contains(&words.len())).then(|| words.join("_"))
}

fn cpus_heading(text: &str) -> Option<&'static str> {
    match text.trim() {
        "UNIPROCESSOR:" => Some("uniprocessor"),
        "SMP:" => Some("smp"),
        _ => None,
    }
}

/// The head `Kernel [runs] Time CPU% Loads LCPU% Ratio`, or as much as a version
/// had of it.
fn head_of(words: &[&str]) -> Option<Head> {
    let (first, rest) = words.split_first()?;
    if *first != "Kernel" {
        return None;
    }
    let columns: Option<Vec<Column>> = rest
        .iter()
        .map(|word| match *word {
            "[runs]" => Some(Column::Runs),
            "Time" => Some(Column::Time),
            "CPU" | "CPU%" => Some(Column::Cpu),
            "Loads" => Some(Column::Loads),
            "LCPU%" => Some(Column::LoadCpu),
            "Ratio" => Some(Column::Ratio),
            _ => None,
        })
        .collect();
    let columns = columns.filter(|columns| columns.contains(&Column::Time))?;
    let layout = match (columns.contains(&Column::Loads), columns.len()) {
        (true, _) => "contest-table",
        (false, 2) => "contest-table-0.34",
        (false, _) => "contest-table-ratio",
    };
    Some(Head { columns, layout })
}

/// The row on line `index`, or on it and the next where mail broke it.
fn row_at(
    page: &Page,
    index: usize,
    head: &Head,
    section: &Section,
    load: &str,
) -> Option<(Row, usize)> {
    let line = page.number(index);
    let words = page.words(index);
    if let Some(row) = row(&words, head, section, load, line) {
        return Some((row, 1));
    }
    let next = page.words(index + 1);
    let is_broken = page.is_open(index + 1) && row(&next, head, section, load, line).is_none();
    let joined = [words, next].concat();
    is_broken
        .then(|| row(&joined, head, section, load, line))
        .flatten()
        .map(|row| (row, 2))
}

fn row(words: &[&str], head: &Head, section: &Section, load: &str, line: usize) -> Option<Row> {
    let names = words.len().checked_sub(head.columns.len())?;
    let (name, figures) = words.split_at(names);
    if name.is_empty() {
        return None;
    }
    let runs = runs(head, figures)?;
    let mut phase = harvest::phase("job");
    for (column, text) in head.columns.iter().zip(figures) {
        add(&mut phase, *column, text, runs, head)?;
    }
    let mut cell = Cell::new().with("load", load);
    if let Some(cpus) = &section.cpus {
        cell = cell.with("cpus", cpus.as_str());
    }
    Some(Row {
        line,
        label: Some(name.join(" ")),
        cell,
        phase,
    })
}

/// Runs that a row is the mean of: `[5]` or `5`; 1 in tables without that column.
fn runs(head: &Head, figures: &[&str]) -> Option<u64> {
    let Some(at) = head
        .columns
        .iter()
        .position(|&column| column == Column::Runs)
    else {
        return Some(1);
    };
    let text = figures[at].trim_matches(['[', ']']);
    integer(text).filter(|&runs| runs > 0)
}

/// Adds one figure; `None` when the text is none, so that the line is no row.
fn add(phase: &mut Phase, column: Column, text: &str, runs: u64, head: &Head) -> Option<()> {
    let number = text.strip_suffix('%').unwrap_or(text);
    // Up to 0.34 the share is GNU time's, which writes `87%` and cuts it.
    let is_early = head.layout == "contest-table-0.34";
    let (metric, value) = match column {
        Column::Runs => return Some(()),
        Column::Time => (metrics::ELAPSED, clock_s(text)?),
        Column::Cpu if is_early && number == text => return None,
        Column::Cpu => (metrics::CPU_PERCENT, decimal(number)?),
        Column::Loads => (metrics::LOAD_UNITS, decimal(number)?),
        Column::LoadCpu => (metrics::LOAD_CPU_PERCENT, decimal(number)?),
        Column::Ratio => (metrics::SLOWDOWN, decimal(number)?),
    };
    if column == Column::Time {
        phase.elapsed_ns = (value * 1e9).round() as u64;
    }
    let mut measurement = Measurement::imported(metric, value, runs, text);
    measurement.digits_cut = column == Column::Cpu && is_early;
    phase.measurements.push(measurement);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// Rows of versions 0.5x and 0.61 as the layouts print them.
    #[test]
    fn later_tables_have_runs_and_loads() {
        let text = "\
noload:
Kernel [runs]           Time    CPU%    Loads   LCPU%   Ratio
2.4.19 [5]              67.2    97      0       0       1.01

no_load:
Kernel          [runs]  Time    CPU%    Loads   LCPU%   Ratio
2.6.0-test4          1  80      93.8    0.0     0.0     1.00
";
        let imported = read(text);
        assert_eq!(imported.unread, []);
        let trials = &imported.sessions[0].trials;
        let figures = |nth: usize| {
            let phase = &trials[nth].phases[0];
            let time = phase.measurement(&metrics::ELAPSED).unwrap();
            (
                trials[nth].cell.to_string(),
                time.value,
                time.n,
                phase.value(&metrics::CPU_PERCENT).unwrap(),
                phase.value(&metrics::SLOWDOWN).unwrap(),
            )
        };
        assert_eq!(
            figures(0),
            ("kernel=2.4.19 load=no_load".to_owned(), 67.2, 5, 97.0, 1.01)
        );
        assert_eq!(
            figures(1),
            (
                "kernel=2.6.0-test4 load=no_load".to_owned(),
                80.0,
                1,
                93.8,
                1.0
            )
        );
    }

    #[test]
    fn early_tables_print_minutes() {
        let text = "IO Load Full:\nKernel Time CPU\n2.4.19 1:06:40 64%\n";
        let imported = read(text);
        let phase = &imported.sessions[0].trials[0].phases[0];
        assert_eq!(phase.value(&metrics::ELAPSED), Some(4000.0));
        assert!(phase.measurement(&metrics::CPU_PERCENT).unwrap().digits_cut);
    }

    #[test]
    fn processors_tell_reports_apart() {
        let row = "Kernel [runs] Time CPU% Loads LCPU% Ratio\n2.5.44 [3] 70.0 97 0 0 1.00\n";
        let text = format!("UNIPROCESSOR:\nnoload:\n{row}SMP:\nnoload:\n{row}");
        let imported = read(&text);
        let trials = &imported.sessions[0].trials;
        assert_eq!(trials.len(), 2);
        assert_eq!(
            trials[1].cell.to_string(),
            "cpus=smp kernel=2.5.44 load=no_load"
        );
        assert_eq!(imported.unread, []);
    }
}
