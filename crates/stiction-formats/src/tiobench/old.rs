//! The report of the driver up to 0.3.2: one row for each combination, the four
//! phases side by side.
//!
//! ```text
//!          File   Block  Num  Seq Read    Rand Read   Seq Write  Rand Write
//!   Dir    Size   Size   Thr Rate (CPU%) Rate (CPU%) Rate (CPU%) Rate (CPU%)
//! ------- ------ ------- --- ----------- ----------- ----------- -----------
//!    .     2000   4096    1  58.87 54.9% 5.615 5.03% 44.40 44.2% 4.534 8.41%
//! ```
//! The driver never resets its totals between rows: each row is the mean over all
//! rows so far. With equal amounts A in each row, `c_k` the printed rate of row k,
//! the time until row k is `k A / c_k`, so that row k alone has
//!
//! ```text
//! rate_k = 1 / (k / c_k - (k-1) / c_(k-1))
//! ```
//! and likewise for the CPU time `p_k k A / c_k`.

use stiction_core::{Caveat, CaveatCode, Cell, Measurement, Phase, metrics};

use super::row::{Figure, NoRow};
use super::said::Remarks;
use crate::command::Command;
use crate::harvest::{self, Harvest, Row};
use crate::label::Titles;
use crate::number::{MIB, integer};
use crate::page::Page;

const LAYOUT: &str = "tiobench-old";

/// The phases of a row, in the order of the head.
const PHASES: [&str; 4] = ["read", "random_read", "write", "random_write"];
/// Columns of a figure; longer numbers are cut there.
const RATE_WIDTH: usize = 5;
const CPU_WIDTH: usize = 4;
/// Thread counts of the driver when it is not told otherwise.
const DEFAULT_THREADS: [u64; 4] = [1, 2, 4, 8];
/// Highest over lowest value that an unrolled rate may have by rounding alone.
const UNROLLED_SPREAD_MAX: f64 = 1.25;

/// A row as it stands in the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OldRow {
    index: usize,
    line: usize,
    directory: String,
    size_mib: u64,
    block: u64,
    threads: u64,
    rates: [Figure; 4],
    shares: [Figure; 4],
    /// It follows a head directly.
    begins_table: bool,
}

/// The row on line `index`, or on it and the next where mail broke it; and its
/// length in lines.
pub(super) fn parse(
    page: &Page,
    index: usize,
    begins_table: bool,
) -> Result<(OldRow, usize), NoRow> {
    let at = |row: OldRow| OldRow {
        index,
        line: page.number(index),
        begins_table,
        ..row
    };
    let words = page.words(index);
    match parse_words(&words) {
        Err(NoRow::Unfinished) => {}
        parsed => return parsed.map(|row| (at(row), 1)),
    }
    if page.is_open(index + 1) {
        let joined = [words, page.words(index + 1)].concat();
        if let Ok(row) = parse_words(&joined) {
            return Ok((at(row), 2));
        }
    }
    Err(NoRow::Broken(
        "a row of tiobench without all of its figures".to_owned(),
    ))
}

/// The row that `words` are, its place left open.
fn parse_words(words: &[&str]) -> Result<OldRow, NoRow> {
    let first_share = words.iter().position(|word| word.ends_with('%'));
    let Some(first_rate) = first_share.and_then(|at| at.checked_sub(1)) else {
        return Err(NoRow::Prose);
    };
    let pairs = &words[first_rate..];
    let are_pairs = pairs.chunks(2).all(|pair| {
        Figure::parse(pair[0]).is_some()
            && pair
                .get(1)
                .is_none_or(|share| Figure::parse_share(share).is_some())
    });
    if !are_pairs || first_rate < 3 {
        return Err(NoRow::Prose);
    }
    if pairs.len() < 8 {
        return Err(NoRow::Unfinished);
    }
    if pairs.len() > 8 {
        return Err(NoRow::Broken(format!(
            "{} figures stand where 8 belong",
            pairs.len()
        )));
    }
    let column = |from_right: usize| {
        let text = words[first_rate - from_right];
        integer(text).ok_or_else(|| NoRow::Broken(format!("`{text}` is no whole number")))
    };
    let figure = |at: usize| Figure::parse(pairs[at]).ok_or(NoRow::Prose);
    let share = |at: usize| Figure::parse_share(pairs[at]).ok_or(NoRow::Prose);
    Ok(OldRow {
        index: 0,
        line: 0,
        directory: words[..first_rate - 3].join(" "),
        size_mib: column(3)?,
        block: column(2)?,
        threads: column(1)?,
        rates: [figure(0)?, figure(2)?, figure(4)?, figure(6)?],
        shares: [share(1)?, share(3)?, share(5)?, share(7)?],
        begins_table: false,
    })
}

/// Puts all rows into the harvest.
pub(super) fn finish(page: &mut Page, harvest: &mut Harvest, rows: Vec<OldRow>, remarks: &Remarks) {
    let titles = Titles::of(page);
    let random = harvest.commands.iter().find_map(Command::random_operations);
    let mut tables: Vec<Vec<OldRow>> = Vec::new();
    let mut table: Vec<OldRow> = Vec::new();
    for row in rows {
        if row.begins_table {
            tables.push(std::mem::take(&mut table));
        }
        table.push(row);
    }
    tables.push(table);
    for (nth, rows) in tables.iter().enumerate() {
        let below = rows.last().map_or(0, |row| row.index)..next_index(&tables[nth + 1..]);
        let sums = Sums {
            is_cumulative: !remarks.rows_stand_alone(below),
            is_complete: is_complete(rows),
            random,
        };
        finish_table(page, harvest, &titles, rows, &sums);
    }
}

/// Index of the first row in `tables`; beyond all lines when there is none.
fn next_index(tables: &[Vec<OldRow>]) -> usize {
    let first = tables.first().and_then(|rows| rows.first());
    first.map_or(usize::MAX, |row| row.index)
}

/// How the rows of a table hang together.
struct Sums {
    /// Each row includes the rows before it.
    is_cumulative: bool,
    /// The rows are all of one run of the driver.
    is_complete: bool,
    /// Operations of each random phase in total, where the text says so.
    random: Option<u64>,
}

fn finish_table(
    page: &mut Page,
    harvest: &mut Harvest,
    titles: &Titles,
    rows: &[OldRow],
    sums: &Sums,
) {
    for (nth, row) in rows.iter().enumerate() {
        let mut cell = Cell::new()
            .with("file_size_bytes", row.size_mib.saturating_mul(1 << 20))
            .with("block_size_bytes", row.block)
            .with("threads", row.threads);
        if !row.directory.is_empty() {
            cell = cell.with("directory", row.directory.as_str());
        }
        let label = titles.claim_above(page, row.index);
        for (of_phase, name) in PHASES.iter().enumerate() {
            let mut phase = phase(row, of_phase, name);
            if nth > 0 && sums.is_cumulative {
                let equal = sums.is_complete && amounts_are_equal(rows, name, sums.random);
                unroll(&mut phase, rows, nth, of_phase, equal);
            }
            let (label, cell) = (label.clone(), cell.clone());
            harvest.add(
                LAYOUT,
                Row {
                    line: row.line,
                    label,
                    cell,
                    phase,
                },
            );
        }
    }
}

/// Whether rows are all of one run of the driver, from its first: one directory,
/// size and block, and the driver's own thread counts.
fn is_complete(rows: &[OldRow]) -> bool {
    let Some(first) = rows.first() else {
        return false;
    };
    let is_same = |row: &OldRow| {
        (&row.directory, row.size_mib, row.block) == (&first.directory, first.size_mib, first.block)
    };
    let counts = rows.iter().map(|row| row.threads);
    rows.iter().all(is_same) && counts.eq(DEFAULT_THREADS)
}

/// Whether every row moved as much in the phase `name`: sizes and operations are
/// divided by the threads and rounded down.
fn amounts_are_equal(rows: &[OldRow], name: &str, random: Option<u64>) -> bool {
    let amount = |row: &OldRow| {
        if name.starts_with("random") {
            random.map(|operations| operations / row.threads * row.threads)
        } else {
            let per_thread = (row.size_mib / row.threads).checked_mul(1 << 20)?;
            Some(per_thread / row.block.max(1) * row.threads)
        }
    };
    rows.first()
        .and_then(amount)
        .is_some_and(|first| rows.iter().all(|row| amount(row) == Some(first)))
}

fn phase(row: &OldRow, of_phase: usize, name: &str) -> Phase {
    let mut phase = harvest::phase(name);
    let (rate, share) = (&row.rates[of_phase], &row.shares[of_phase]);
    for (metric, figure, unit, width) in [
        (metrics::RATE, rate, MIB, RATE_WIDTH),
        (metrics::CPU_PERCENT, share, 1.0, CPU_WIDTH),
    ] {
        let Some(value) = figure.value else {
            phase.caveats.push(Caveat::new(
                CaveatCode::DigitsLost,
                format!(
                    "{} is unknown: it is printed as {}",
                    metric.name, figure.text
                ),
            ));
            continue;
        };
        let mut measurement = Measurement::imported(metric, value * unit, 1, &*figure.text);
        measurement.digits_cut = fills(figure, width);
        phase.measurements.push(measurement);
        if figure.ends_in_point() {
            phase.caveats.push(Caveat::new(
                CaveatCode::DigitsLost,
                format!("printed as {}, cut at the point", figure.text),
            ));
        }
    }
    phase
}

/// Whether a figure fills its column, so that it may have been cut there.
fn fills(figure: &Figure, width: usize) -> bool {
    figure.text.trim_end_matches('%').len() >= width
}

/// Says that row `nth` (from 0) includes the rows before it, and takes them out
/// where it is certain how.
fn unroll(phase: &mut Phase, rows: &[OldRow], nth: usize, of_phase: usize, equal: bool) {
    let alone = equal.then(|| alone(rows, nth, of_phase)).flatten();
    let rows_before = format!("the row includes the {nth} before it");
    let detail = match &alone {
        Some(_) => format!("{rows_before}; they were taken out, since all rows moved as much"),
        None => format!("{rows_before}, and cannot be told from them"),
    };
    phase
        .caveats
        .push(Caveat::new(CaveatCode::CumulativeRows, detail));
    let Some(alone) = alone else { return };
    for measurement in &mut phase.measurements {
        let (value, unit) = if measurement.metric == metrics::RATE {
            (alone.rate, MIB)
        } else {
            (alone.share, 1.0)
        };
        measurement.value = value * unit;
        measurement.corrected = Some(format!(
            "the printed figure is the mean over {} rows; this is the row alone, at a rate of \
             {:.3} to {:.3} MB/s by rounding",
            nth + 1,
            alone.rate_low,
            alone.rate_high
        ));
    }
}

/// A row without those before it.
struct Alone {
    rate: f64,
    rate_low: f64,
    rate_high: f64,
    share: f64,
}

fn alone(rows: &[OldRow], nth: usize, of_phase: usize) -> Option<Alone> {
    let (this, before) = (&rows[nth], &rows[nth - 1]);
    let range = |row: &OldRow| {
        let figure = &row.rates[of_phase];
        let value = figure.value.filter(|&value| value > 0.0)?;
        let cut = if fills(figure, RATE_WIDTH) {
            2.0 * crate::number::half_ulp(&figure.text)
        } else {
            0.0
        };
        Some((value, value + cut))
    };
    let (k, k_before) = ((nth + 1) as f64, nth as f64);
    let time = |rate: f64, rate_before: f64| {
        Some(k / rate - k_before / rate_before).filter(|&time| time > 0.0)
    };
    let ((low, high), (before_low, before_high)) = (range(this)?, range(before)?);
    let (middle, before_middle) = (
        f64::midpoint(low, high),
        f64::midpoint(before_low, before_high),
    );
    let alone_s = time(middle, before_middle)?;
    let (rate_low, rate_high) = (1.0 / time(low, before_high)?, 1.0 / time(high, before_low)?);
    if rate_high / rate_low > UNROLLED_SPREAD_MAX {
        return None;
    }
    let share = |row: &OldRow| row.shares[of_phase].value;
    let cpu = share(this)? * k / middle - share(before)? * k_before / before_middle;
    Some(Alone {
        rate: 1.0 / alone_s,
        rate_low,
        rate_high,
        share: (cpu / alone_s).max(0.0),
    })
}
