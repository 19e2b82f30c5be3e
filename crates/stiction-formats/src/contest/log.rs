//! contest's log: one record for each load, wherever mail broke its lines.
//!
//! ```text
//! io_halfmem Time: 306.82  CPU: 87%  Major Faults: 742000  Minor Faults: 1169497
//! Was writing number 33 of a 257Mb sized io_load file after 307 seconds
//! ```

use stiction_core::{Caveat, CaveatCode, Cell, Measurement, Phase, PhaseOutcome, metrics};

use super::loads;
use crate::harvest::{self, Harvest, Row};
use crate::label::Titles;
use crate::number::{clock_s, decimal, integer};
use crate::page::Page;

const LAYOUT: &str = "contest-log";

/// Bytes in what contest calls an Mb: it divides the kilobytes of `/proc/meminfo`
/// by 1000, as a machine of 512 MiB shows by printing 514 and 257.
const MB: f64 = 1_024_000.0;

/// A word, and the index of its line.
type Word<'a> = (&'a str, usize);

/// What the words of one record say.
enum Record {
    Job {
        load: String,
        time: String,
        percent: String,
        major: String,
        minor: String,
    },
    Load {
        number: u64,
        size: String,
        seconds: String,
    },
}

/// A record and the words that it took.
struct Found {
    record: Record,
    first_line: usize,
    last_line: usize,
    words: usize,
}

/// Reads every record of the log.
pub(crate) fn read(page: &mut Page, harvest: &mut Harvest) {
    let found = records(page);
    let titles = Titles::of(page);
    let mut open: Option<Row> = None;
    for found in found {
        let line = page.number(found.first_line);
        (found.first_line..=found.last_line).for_each(|index| page.claim(index));
        match found.record {
            Record::Job {
                load,
                time,
                percent,
                major,
                minor,
            } => {
                if let Some(row) = open.take() {
                    harvest.add(LAYOUT, row);
                }
                open = Some(Row {
                    line,
                    label: titles.claim_above(page, found.first_line),
                    cell: Cell::new().with("load", load),
                    phase: job_phase(&time, &percent, &major, &minor),
                });
            }
            Record::Load {
                number,
                size,
                seconds,
            } => {
                let expected = open.as_ref().is_some_and(|row| writes_files(&row.cell));
                let mut row = match open.take() {
                    Some(row) if expected => row,
                    before => {
                        if let Some(row) = before {
                            harvest.add(LAYOUT, row);
                        }
                        cut_off_run(line)
                    }
                };
                add_load(&mut row.phase, number, &size, &seconds);
                harvest.add(LAYOUT, row);
            }
        }
    }
    if let Some(row) = open {
        harvest.add(LAYOUT, row);
    }
}

/// Whether the load of a cell is one that writes files and prints what it wrote.
fn writes_files(cell: &Cell) -> bool {
    cell.get("load")
        .is_some_and(|load| load.to_string().starts_with("io_"))
}

/// A run that was ended before its own line was printed.
fn cut_off_run(line: usize) -> Row {
    let mut phase = harvest::phase("job");
    phase.outcome = PhaseOutcome::EndedEarly;
    phase.caveats.push(Caveat::new(
        CaveatCode::EndedEarly,
        "the line of the load has no line of a timed job before it",
    ));
    Row {
        line,
        label: None,
        cell: Cell::new().with("load", "io_load"),
        phase,
    }
}

fn job_phase(time: &str, percent: &str, major: &str, minor: &str) -> Phase {
    let mut phase = harvest::phase("job");
    let mut add = |metric, value: Option<f64>, text: &str| {
        let measurement = value.map(|value| Measurement::imported(metric, value, 1, text));
        phase.measurements.extend(measurement);
    };
    let share = percent.strip_suffix('%').and_then(decimal);
    add(metrics::ELAPSED, clock_s(time), time);
    add(metrics::CPU_PERCENT, share, percent);
    let count = |text: &str| integer(text).map(|count| count as f64);
    add(metrics::MAJOR_FAULTS, count(major), major);
    add(metrics::MINOR_FAULTS, count(minor), minor);
    phase.elapsed_ns = (clock_s(time).unwrap_or(0.0) * 1e9).round() as u64;
    // GNU time, whose words these are, cuts the share to a whole number.
    for measurement in &mut phase.measurements {
        measurement.digits_cut = measurement.metric == metrics::CPU_PERCENT;
    }
    phase
}

/// Adds what the load wrote. File `number` was being written when the load was
/// stopped, so one fewer was whole, and the rate lies between the two.
fn add_load(phase: &mut Phase, number: u64, size: &str, seconds: &str) {
    let size_bytes = decimal(size).unwrap_or(0.0) * MB;
    let elapsed_s = decimal(seconds).unwrap_or(0.0);
    let whole = number.saturating_sub(1) as f64;
    let mut files = Measurement::imported(metrics::LOAD_FILES, whole, 1, number.to_string());
    files.corrected = Some(format!(
        "file number {number} was still being written when the load was stopped"
    ));
    phase.measurements.extend([
        files,
        Measurement::imported(metrics::LOAD_FILE_SIZE, size_bytes, 1, format!("{size}Mb")),
        Measurement::imported(metrics::LOAD_ELAPSED, elapsed_s, 1, seconds),
    ]);
    if elapsed_s <= 0.0 {
        return;
    }
    let rate = |files: f64| files * size_bytes / elapsed_s;
    let printed = format!("{number} of {size}Mb in {seconds} s");
    let middle = rate(whole + 0.5);
    let mut measurement = Measurement::imported(metrics::LOAD_RATE, middle, 1, printed);
    measurement.corrected = Some(format!(
        "between {whole} and {number} files were written, {:.1} to {:.1} Mb/s with \
         1 Mb = 1024000 bytes; this is the middle",
        rate(whole) / MB,
        rate(number as f64) / MB,
    ));
    phase.measurements.push(measurement);
}

/// Every record among the open lines. Records may break over lines anywhere, but
/// not over a blank line.
fn records(page: &Page) -> Vec<Found> {
    let mut found = Vec::new();
    let mut paragraph: Vec<Word<'_>> = Vec::new();
    for index in 0..=page.len() {
        let ends = index == page.len() || page.is_blank(index) || !page.is_open(index);
        if ends {
            found.extend(records_of(&paragraph));
            paragraph.clear();
        } else {
            paragraph.extend(page.words(index).into_iter().map(|word| (word, index)));
        }
    }
    found
}

fn records_of(words: &[Word<'_>]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut at = 0;
    let mut after_last = 0;
    while at < words.len() {
        match job_at(words, after_last, at).or_else(|| load_at(words, at)) {
            Some(record) => {
                at += record.words;
                after_last = at;
                found.push(record);
            }
            None => at += 1,
        }
    }
    found
}

/// The record whose `Time:` is word `at`, with its name in the words before it.
fn job_at(words: &[Word<'_>], after_last: usize, at: usize) -> Option<Found> {
    const KEYS: [(usize, &str); 6] = [
        (0, "Time:"),
        (2, "CPU:"),
        (4, "Major"),
        (5, "Faults:"),
        (7, "Minor"),
        (8, "Faults:"),
    ];
    let of = words.get(at..at + 10)?;
    if !KEYS.iter().all(|&(nth, key)| of[nth].0 == key) {
        return None;
    }
    let figures = [of[1].0, of[3].0, of[6].0, of[9].0];
    clock_s(figures[0])?;
    decimal(figures[1].strip_suffix('%')?)?;
    integer(figures[2])?;
    integer(figures[3])?;
    let before: Vec<&str> = words[after_last..at].iter().map(|word| word.0).collect();
    let on_this_line = words[after_last..at]
        .iter()
        .rev()
        .take_while(|word| word.1 == of[0].1)
        .count();
    let (load, name_words) = match loads::load_at_end(&before) {
        Some((load, count)) => (load.to_owned(), count),
        None if on_this_line > 0 => {
            let name = before[before.len() - on_this_line..].join("_");
            (name.to_lowercase(), on_this_line)
        }
        None => return None,
    };
    Some(Found {
        record: Record::Job {
            load,
            time: figures[0].to_owned(),
            percent: figures[1].to_owned(),
            major: figures[2].to_owned(),
            minor: figures[3].to_owned(),
        },
        first_line: words[at - name_words].1,
        last_line: of[9].1,
        words: of.len(),
    })
}

/// `Was writing number 33 of a 257Mb sized io load file after 307 seconds` at word
/// `at`; `io load` may be one word.
fn load_at(words: &[Word<'_>], at: usize) -> Option<Found> {
    let word = |nth: usize| words.get(at + nth).map(|word| word.0);
    let begins = ["Was", "writing", "number"];
    if !(0..3).all(|nth| word(nth) == Some(begins[nth])) {
        return None;
    }
    let number = integer(word(3)?).filter(|&number| number > 0)?;
    if (word(4)?, word(5)?, word(7)?) != ("of", "a", "sized") {
        return None;
    }
    let size = word(6)?.strip_suffix("Mb")?;
    decimal(size)?;
    let file = (8..=11).find(|&nth| word(nth) == Some("file"))?;
    let seconds = word(file + 2)?;
    decimal(seconds)?;
    let ends = word(file + 3)?.starts_with("seconds") && word(file + 1) == Some("after");
    ends.then(|| Found {
        record: Record::Load {
            number,
            size: size.to_owned(),
            seconds: seconds.to_owned(),
        },
        first_line: words[at].1,
        last_line: words[at + file + 3].1,
        words: file + 4,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// A published machine of "224 MB": the load's line stands alone after an abort.
    #[test]
    fn a_load_without_its_job_is_a_run_cut_off() {
        let imported = read("Was writing number 3 of a 224Mb sized io_load file after 100 seconds");
        let phase = &imported.sessions[0].trials[0].phases[0];
        assert_eq!(phase.outcome, PhaseOutcome::EndedEarly);
        assert_eq!(phase.value(&metrics::LOAD_FILES), Some(2.0));
        assert_eq!(
            phase.value(&metrics::LOAD_FILE_SIZE),
            Some(224.0 * 1_024_000.0)
        );
        assert_eq!(phase.value(&metrics::ELAPSED), None);
    }

    /// N = 33, S = 257, T = 307 give 26.8 to 27.6 Mb/s.
    #[test]
    fn the_rate_of_a_load_is_an_interval() {
        let text = "io_halfmem Time: 306.82  CPU: 87%  Major Faults: 742000  Minor Faults: 1\n\
                    Was writing number 33 of a 257Mb sized io_load file after 307 seconds";
        let imported = read(text);
        let phase = &imported.sessions[0].trials[0].phases[0];
        let rate = phase.measurement(&metrics::LOAD_RATE).unwrap();
        let reason = rate.corrected.as_deref().unwrap();
        assert!(reason.contains("26.8 to 27.6 Mb/s"), "{reason}");
        assert!((rate.value / MB - 32.5 * 257.0 / 307.0).abs() < 1e-9);
    }

    #[test]
    fn unknown_loads_keep_their_names() {
        let imported =
            read("Fork Load Time: 70.1  CPU: 97%  Major Faults: 1  Minor Faults: 2 and prose");
        let trial = &imported.sessions[0].trials[0];
        assert_eq!(trial.cell.to_string(), "load=fork_load");
    }

    #[test]
    fn half_a_record_is_not_read() {
        let imported =
            read("noload Time: 259.47  CPU: 99%  Major Faults:\n\n770937 Minor Faults: 1");
        assert_eq!(imported.sessions, []);
        assert_eq!(imported.unread.len(), 2);
    }
}
