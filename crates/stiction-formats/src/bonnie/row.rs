//! Heads and rows of Bonnie's reports.

use stiction_core::{Caveat, CaveatCode, Measurement, Metric, Phase, metrics};

use crate::harvest;
use crate::number::{decimal, integer, split_unit};

/// What the six pairs of a row are, in the order of the report.
const IO_PHASES: [&str; 6] = ["putc", "put_block", "rewrite", "getc", "get_block", "seeks"];
/// What the six pairs of Bonnie++'s second part are.
const FILE_PHASES: [&str; 6] = [
    "create_sequential",
    "stat_sequential",
    "delete_sequential",
    "create_random",
    "stat_random",
    "delete_random",
];
/// Figures of a row.
const FIGURES: usize = 12;
/// Seeks that Bonnie++ does when nothing else is asked for.
const SEEKS: f64 = 8192.0;
/// Files that Bonnie++'s `files` column counts by.
const FILES: f64 = 1024.0;

/// Which part of which program's report a head begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Report {
    is_plus_plus: bool,
    is_files: bool,
    /// Unit of the rates, bytes per second; 0 for operations.
    rate_unit: u32,
    /// Time below which a result is not printed, hundredths of a second.
    too_short_cs: u32,
}

impl Report {
    /// The report that three lines of head begin.
    pub(super) fn of_head(lines: [&str; 3]) -> Option<Self> {
        let [first, second, third] = lines;
        let is_io = first.contains("Sequential Output") && first.contains("Sequential Input");
        let is_files = first.contains("Sequential Create") && first.contains("Random Create");
        let unit = if third.contains("M/sec") {
            1 << 20
        } else {
            1 << 10
        };
        let has_rates = third.matches("/sec").count() == 6;
        if !has_rates || !(is_io && second.contains("Rewrite") || is_files) {
            return None;
        }
        Some(Self {
            is_plus_plus: third.contains("%CP ") || third.trim_end().ends_with("%CP"),
            is_files,
            rate_unit: if is_files { 0 } else { unit },
            too_short_cs: if is_before_1_00f(first) { 100 } else { 50 },
        })
    }

    /// The layout's name.
    pub(super) fn layout(&self) -> &'static str {
        if self.is_plus_plus {
            "bonnie++"
        } else {
            "bonnie"
        }
    }

    /// Whether mail may have broken a row after `words`.
    pub(super) fn lacks_words(&self, words: &[&str]) -> bool {
        (3..=FIGURES).contains(&words.len()) && words[1..].iter().all(|word| is_figure(word))
    }

    /// The row that `words` are; `Ok(None)` when they are none.
    ///
    /// # Errors
    /// Why words that begin like a row cannot be read.
    pub(super) fn row(&self, words: &[&str]) -> Result<Option<BonnieRow>, String> {
        let figures = words.iter().filter(|word| is_figure(word)).count();
        let at = match words.len().checked_sub(FIGURES) {
            Some(at) if at >= 1 && words[at..].iter().all(|word| is_figure(word)) => at,
            _ if figures >= 6 => {
                return Err(format!(
                    "a row of {} has a size and {FIGURES} figures, here are {figures}",
                    self.layout()
                ));
            }
            _ => return Ok(None),
        };
        let Some(size) = self.size(words[at - 1]) else {
            return Err(format!("`{}` is no size", words[at - 1]));
        };
        let label = words[..at - 1].join(" ");
        Ok(Some(BonnieRow {
            label: (!label.is_empty()).then_some(label),
            file_size_bytes: if self.is_files { None } else { size },
            files: words[at - 1].to_owned(),
            figures: words[at..].iter().map(|word| (*word).to_owned()).collect(),
        }))
    }

    /// The size column: MiB, `300M`, `4G`, `1*1024`, `128M:16k`; `Some(None)` when it
    /// is of no use, as the 64-bit release's gigabytes, which are cut. For files,
    /// their count.
    fn size(&self, text: &str) -> Option<Option<u64>> {
        if self.is_files {
            let count = text.split([':', '/']).next()?;
            return integer(count).map(|_| None);
        }
        let size = text.split(':').next()?;
        if let Some((volumes, mib)) = size.split_once('*') {
            return Some(in_bytes(integer(volumes)?.checked_mul(integer(mib)?)?, 20));
        }
        let (number, unit) = split_unit(size);
        let count = integer(number)?;
        match unit {
            "" if self.rate_unit == 1 << 20 => Some(None),
            "" | "M" => Some(in_bytes(count, 20)),
            "G" => Some(in_bytes(count, 30)),
            _ => None,
        }
    }
}

fn in_bytes(count: u64, shift: u32) -> Option<u64> {
    count.checked_mul(1 << shift)
}

/// Whether `Version 1.00e` and older printed the head: results of less than one
/// second were left out then, later those of less than half a second.
fn is_before_1_00f(first: &str) -> bool {
    let version = first
        .split_whitespace()
        .skip_while(|word| *word != "Version")
        .nth(1);
    version.is_some_and(|version| version <= "1.00e")
}

/// A number, or a mark for one that was not measured.
fn is_figure(word: &str) -> bool {
    decimal(word).is_some() || is_too_fast(word) || is_skipped(word)
}

fn is_too_fast(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|byte| byte == b'+')
}

fn is_skipped(word: &str) -> bool {
    word.len() >= 3 && word.bytes().all(|byte| byte == b'x')
}

/// One row as read.
pub(super) struct BonnieRow {
    /// The machine's name, which posters use for what they compare.
    pub(super) label: Option<String>,
    /// Total size, bytes.
    pub(super) file_size_bytes: Option<u64>,
    /// The column before the figures, as printed.
    files: String,
    figures: Vec<String>,
}

impl BonnieRow {
    /// A phase for each pair that was measured; `size_bytes` bounds the rates that
    /// were too fast to be printed.
    pub(super) fn phases(&self, report: &Report, size_bytes: Option<u64>) -> Vec<Phase> {
        let names = if report.is_files {
            FILE_PHASES
        } else {
            IO_PHASES
        };
        self.figures
            .chunks(2)
            .zip(names)
            .filter_map(|(pair, name)| self.phase(report, size_bytes, name, pair))
            .collect()
    }

    fn phase(
        &self,
        report: &Report,
        size_bytes: Option<u64>,
        name: &str,
        pair: &[String],
    ) -> Option<Phase> {
        let [rate, cpu] = pair else { return None };
        let is_rate_of_bytes = !report.is_files && name != "seeks";
        let (metric, unit) = if is_rate_of_bytes {
            (metrics::RATE, f64::from(report.rate_unit))
        } else {
            (metrics::OPERATION_RATE, 1.0)
        };
        let mut phase = harvest::phase(name);
        if report.is_files {
            phase.notes.push(format!("files column {}", self.files));
        }
        if let Some(value) = decimal(rate) {
            let measurement = Measurement::imported(metric, value * unit, 1, rate);
            phase.measurements.push(measurement);
        } else if is_too_fast(rate) {
            let amount = match (is_rate_of_bytes, report.is_files) {
                (true, _) => size_bytes.map(|bytes| bytes as f64),
                (false, false) => Some(SEEKS),
                (false, true) => self.file_count(),
            };
            too_fast(&mut phase, metric, rate, amount, report);
        }
        if let Some(value) = decimal(cpu) {
            let share = Measurement::imported(metrics::CPU_PERCENT, value, 1, cpu);
            phase.measurements.push(share);
        }
        (!phase.measurements.is_empty() || !phase.caveats.is_empty()).then_some(phase)
    }

    fn file_count(&self) -> Option<f64> {
        let count = self.files.split([':', '/']).next()?;
        Some(decimal(count)? * FILES)
    }
}

/// `+++++` says that the phase took less than half a second, so its rate is at
/// least what was to be done over that time.
fn too_fast(
    phase: &mut Phase,
    metric: Metric,
    printed: &str,
    amount: Option<f64>,
    report: &Report,
) {
    let seconds = f64::from(report.too_short_cs) / 100.0;
    let detail = format!("printed as {printed}: it took less than {seconds} s");
    if let Some(amount) = amount {
        let mut bound = Measurement::imported(metric, amount / seconds, 1, printed);
        bound.corrected = Some(format!("{detail}; the rate is at least this"));
        phase.measurements.push(bound);
    }
    phase
        .caveats
        .push(Caveat::new(CaveatCode::TooShort, detail));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::MIB;
    use crate::read;

    fn kib_per_s(phase: &Phase) -> f64 {
        phase.value(&metrics::RATE).unwrap() / 1024.0
    }

    /// The report of 1.03e as it prints itself.
    const PLUS_PLUS: &str = "\
Version 1.03e       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
testbox        300M 97466  37 +++++ +++ +++++ +++ 136631  46 +++++ +++ +++++ +++
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                  4  1390  37 +++++ +++ +++++ +++   469  32 +++++ +++ +++++ +++
";

    #[test]
    fn too_fast_is_a_lower_bound_and_never_nothing() {
        let imported = read(PLUS_PLUS);
        assert_eq!(imported.unread, []);
        let session = &imported.sessions[0];
        assert_eq!(session.layout, "bonnie++");
        let io = &session.trials[0];
        assert_eq!(
            io.cell.to_string(),
            "configuration=testbox file_size_bytes=314572800"
        );
        assert_eq!(kib_per_s(io.phase("putc").unwrap()), 97466.0);
        let block = io.phase("put_block").unwrap();
        // 300 MiB in less than 0.5 s.
        assert_eq!(block.value(&metrics::RATE), Some(600.0 * MIB));
        assert_eq!(block.caveats[0].code, CaveatCode::TooShort);
        assert_eq!(block.value(&metrics::CPU_PERCENT), None);
        let seeks = io.phase("seeks").unwrap();
        assert_eq!(seeks.value(&metrics::OPERATION_RATE), Some(16384.0));
        let files = &session.trials[1];
        let created = files.phase("create_sequential").unwrap();
        assert_eq!(created.value(&metrics::OPERATION_RATE), Some(1390.0));
        let deleted = files.phase("delete_random").unwrap();
        assert_eq!(deleted.value(&metrics::OPERATION_RATE), Some(8192.0));
    }

    #[test]
    fn skipped_cells_are_no_phases() {
        let text = "\
     -------Sequential Output-------- ---Sequential Input-- --Random--
     -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---
  MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU
2047  xxxx  xxx  8557 12.0  4273  7.3  xxxx  xxx  9049  8.0
xxxx  xxx
2047  8557 12.0  4273  7.3
";
        let imported = read(text);
        let names: Vec<_> = imported.sessions[0].trials[0]
            .phases
            .iter()
            .map(|phase| phase.name.as_str())
            .collect();
        assert_eq!(names, ["put_block", "rewrite", "get_block"]);
        assert_eq!(imported.unread.len(), 1);
    }

    #[test]
    fn sizes_have_many_forms() {
        let classic = Report {
            is_plus_plus: false,
            is_files: false,
            rate_unit: 1024,
            too_short_cs: 50,
        };
        assert_eq!(classic.size("1000"), Some(Some(1000 << 20)));
        assert_eq!(classic.size("4G"), Some(Some(4 << 30)));
        assert_eq!(classic.size("1*1024"), Some(Some(1 << 30)));
        assert_eq!(classic.size("128M:16k"), Some(Some(128 << 20)));
        assert_eq!(classic.size("big"), None);
        assert!(is_before_1_00f("Version 1.00e  ---"));
        assert!(!is_before_1_00f("Version 1.03e  ---"));
    }
}
