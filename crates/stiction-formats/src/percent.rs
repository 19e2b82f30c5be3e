//! The table of percent differences from a baseline that OSDL made of tiobench
//! runs: one for each phase and block size, one row for each kernel.
//!
//! ```text
//! Random Reads/128k Block Size
//! Kernel                       Lowest %   Highest % Ave %   Options
//! 2.6.0-test8-mm1                3.23(8) 170.62(1)  64.77 profile=2
//! ```
//! For each thread count the rate is compared with the baseline's; lowest and
//! highest name the thread count at which they were reached, and `Ave %` is the
//! unweighted mean over the thread counts.

use stiction_core::{Caveat, CaveatCode, Cell, Measurement, Phase, metrics};

use crate::command::Command;
use crate::harvest::{self, Harvest, Row};
use crate::number::{bytes, integer, signed_decimal, split_unit};
use crate::page::Page;

const LAYOUT: &str = "percent-from-baseline";

/// What a title says: `Random Reads/128k Block Size`.
#[derive(Clone, Debug)]
struct Title {
    phase: &'static str,
    block_size_bytes: u64,
    line: usize,
}

/// One row's figures.
struct Figures<'a> {
    kernel: String,
    is_baseline: bool,
    lowest: Change<'a>,
    highest: Change<'a>,
    average: (f64, &'a str),
    options: String,
}

/// A difference and the thread count at which it was found: `-67.07(8)`.
struct Change<'a> {
    percent: f64,
    threads: u64,
    text: &'a str,
}

/// Reads every such table.
pub(crate) fn read(page: &mut Page, harvest: &mut Harvest) {
    let mut title: Option<Title> = None;
    let mut head: Option<usize> = None;
    for index in 0..page.len() {
        if let Some(found) = title_of(page.text(index), index) {
            title = Some(found);
            head = None;
        } else if is_head(&page.words(index)) {
            head = Some(index);
        } else if let (Some(title), Some(head)) = (&title, head) {
            let Some((row, lines)) = row_at(page, harvest, index, title) else {
                continue;
            };
            page.claim(title.line);
            page.claim(head);
            (index..index + lines).for_each(|line| page.claim(line));
            harvest.labels_are_kernels();
            harvest.add(LAYOUT, row);
        }
    }
}

fn title_of(text: &str, line: usize) -> Option<Title> {
    let (phase, block) = text.trim().split_once('/')?;
    let phase = match phase.trim() {
        "Sequential Reads" => "read",
        "Random Reads" => "random_read",
        "Sequential Writes" => "write",
        "Random Writes" => "random_write",
        _ => return None,
    };
    let size = block.trim().strip_suffix("Block Size")?.trim();
    let (number, unit) = split_unit(size);
    let block_size_bytes = match unit {
        "" => integer(number),
        _ => bytes(number, unit.trim()),
    };
    Some(Title {
        phase,
        block_size_bytes: block_size_bytes?,
        line,
    })
}

fn is_head(words: &[&str]) -> bool {
    words.first() == Some(&"Kernel")
        && ["Lowest", "Highest", "Ave"]
            .iter()
            .all(|name| words.contains(name))
}

fn row_at(page: &Page, harvest: &mut Harvest, index: usize, title: &Title) -> Option<(Row, usize)> {
    if !page.is_open(index) || page.is_blank(index) {
        return None;
    }
    let words = page.words(index);
    let joined = [words.clone(), page.words(index + 1)].concat();
    let (figures, lines) = match figures(&words) {
        Some(figures) => (figures, 1),
        None if figures_end_open(&words) && page.is_open(index + 1) => (figures(&joined)?, 2),
        None => return None,
    };
    let line = page.number(index);
    let options = if figures.options.is_empty() {
        "none"
    } else {
        &figures.options
    };
    let mut cell = Cell::new()
        .with("block_size_bytes", title.block_size_bytes)
        .with("options", options);
    if let Some(size) = single_file_size(harvest) {
        cell = cell.with("file_size_bytes", size);
    }
    if figures.is_baseline {
        let baseline = format!("{}, options {options} (line {line})", figures.kernel);
        harvest.state("baseline", baseline);
    }
    Some((
        Row {
            line,
            label: Some(figures.kernel.clone()),
            cell,
            phase: phase(&figures, title),
        },
        lines,
    ))
}

/// Whether a line begins a row that the next may end: a kernel and one or two changes.
fn figures_end_open(words: &[&str]) -> bool {
    words.len() >= 2 && words.last().is_some_and(|word| change(word).is_some())
}

/// The size that every command of the text names, if there is just one.
fn single_file_size(harvest: &Harvest) -> Option<u64> {
    let mut sizes: Vec<u64> = harvest
        .commands
        .iter()
        .flat_map(Command::file_sizes_bytes)
        .collect();
    sizes.dedup();
    match sizes[..] {
        [size] => Some(size),
        _ => None,
    }
}

fn figures<'a>(words: &[&'a str]) -> Option<Figures<'a>> {
    let at = words.iter().position(|word| change(word).is_some())?;
    let average = *words.get(at + 2)?;
    let is_baseline = words[..at].contains(&"(baseline)");
    let kernel: Vec<&str> = words[..at]
        .iter()
        .copied()
        .filter(|word| *word != "(baseline)")
        .collect();
    (!kernel.is_empty()).then_some(Figures {
        kernel: kernel.join(" "),
        is_baseline,
        lowest: change(words[at])?,
        highest: change(words.get(at + 1)?)?,
        average: (signed_decimal(average)?, average),
        options: words[at + 3..].join(" "),
    })
}

fn change(text: &str) -> Option<Change<'_>> {
    let (percent, threads) = text.strip_suffix(')')?.split_once('(')?;
    Some(Change {
        percent: signed_decimal(percent)?,
        threads: integer(threads)?,
        text,
    })
}

fn phase(figures: &Figures<'_>, title: &Title) -> Phase {
    let (lowest, highest) = (&figures.lowest, &figures.highest);
    let (average, average_text) = figures.average;
    let mut phase = harvest::phase(title.phase);
    phase.measurements = vec![
        Measurement::imported(metrics::CHANGE_LOWEST, lowest.percent, 1, lowest.text),
        Measurement::imported(metrics::CHANGE_HIGHEST, highest.percent, 1, highest.text),
        Measurement::imported(metrics::CHANGE_AVERAGE, average, 1, average_text),
    ];
    phase.notes.push(format!(
        "threads: {} at the lowest, {} at the highest",
        lowest.threads, highest.threads
    ));
    if figures.is_baseline {
        phase.notes.push("the baseline itself".to_owned());
    }
    if !(lowest.percent - 0.01..=highest.percent + 0.01).contains(&average) {
        phase.caveats.push(Caveat::new(
            CaveatCode::Inconsistent,
            format!(
                "the average {average_text} does not lie between {} and {}",
                lowest.text, highest.text
            ),
        ));
    }
    phase
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    const HEAD: &str = "Random Writes/4k Block Size\nKernel Lowest % Highest % Ave % Options\n";

    #[test]
    fn a_broken_row_is_joined() {
        let text = format!("{HEAD}2.6.0-test8-mm1 3.23(8) 170.62(1)\n64.77 profile=2\n");
        let imported = read(&text);
        assert_eq!(imported.unread, []);
        let trial = &imported.sessions[0].trials[0];
        assert_eq!(
            trial.cell.to_string(),
            "block_size_bytes=4096 kernel=2.6.0-test8-mm1 options=profile=2"
        );
        let average = trial.phases[0].value(&metrics::CHANGE_AVERAGE);
        assert_eq!(average, Some(64.77));
        assert_eq!(trial.phases[0].name, "random_write");
    }

    #[test]
    fn an_average_outside_its_range_is_doubted() {
        let imported = read(&format!("{HEAD}2.6.0 3.23(8) 170.62(1) 264.77\n"));
        let phase = &imported.sessions[0].trials[0].phases[0];
        assert_eq!(phase.caveats[0].code, CaveatCode::Inconsistent);
    }
}
