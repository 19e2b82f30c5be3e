//! Heads and rows of Bonnie's text reports.

use stiction_core::Phase;

use super::figures::{FILE_PHASES, IO_PHASES, Source, is_figure};
use super::version::Version;
use crate::number::{decimal, integer, split_unit};

/// Figures of a row.
const FIGURES: usize = 12;
/// Which part of which program's report a head begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Report {
    is_plus_plus: bool,
    pub(super) is_files: bool,
    /// Unit of the rates, bytes per second; 0 for operations.
    rate_unit: u32,
    version: Option<Version>,
    /// The name that stands in the head of the second part, since 1.9x.
    pub(super) name: Option<String>,
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
            version: version(first),
            name: second
                .split_once("-Create--")
                .map(|(name, _)| name.trim().to_owned())
                .filter(|name| is_files && !name.is_empty()),
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
        // The converter of 2.00 puts more parts behind the size.
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

/// The version that a head names.
fn version(first: &str) -> Option<Version> {
    let mut words = first.split_whitespace();
    words.find(|word| *word == "Version")?;
    Version::parse(words.next()?)
}

/// One row as read.
pub(super) struct BonnieRow {
    /// The machine's name, which posters use for what they compare.
    pub(super) label: Option<String>,
    /// Total size, bytes.
    pub(super) file_size_bytes: Option<u64>,
    /// The column before the figures, as printed.
    pub(super) files: String,
    figures: Vec<String>,
}

impl BonnieRow {
    /// A phase for each pair that was measured; `size_bytes` bounds the rates that
    /// were too fast to be printed.
    pub(super) fn phases(&self, report: &Report, size_bytes: Option<u64>) -> Vec<Option<Phase>> {
        let source = Source {
            version: report.version,
            rate_unit: f64::from(report.rate_unit),
            size_bytes,
            files: self.files.split([':', '/']).next().and_then(decimal),
            seeks: None,
            seekers: None,
            is_text: true,
        };
        let names = if report.is_files {
            FILE_PHASES
        } else {
            IO_PHASES
        };
        self.figures
            .chunks(2)
            .zip(names)
            .map(|(pair, name)| match pair {
                [rate, cpu] => source.phase(name, rate, cpu),
                _ => None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{CaveatCode, metrics};

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
        assert_eq!(files.cell.to_string(), "configuration=testbox files=4");
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
            version: None,
            name: None,
        };
        assert_eq!(classic.size("1000"), Some(Some(1000 << 20)));
        assert_eq!(classic.size("4G"), Some(Some(4 << 30)));
        assert_eq!(classic.size("1*1024"), Some(Some(1 << 30)));
        assert_eq!(classic.size("128M:16k"), Some(Some(128 << 20)));
        assert_eq!(classic.size("big"), None);
        assert_eq!(version("Version 1.03e  ---"), Version::parse("1.03e"));
        assert_eq!(version("     ---"), None);
    }

    /// What 2.00a printed on a loaded machine; the rates of the files are garbage of
    /// its own making.
    const SCALED: &str = "\
Version 2.00a       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
testbox        300M  620k  31  259m  26  9.8m +++  955k  30 +++++ +++ 777.5  26
Latency             32715us   16149us   20058us   36873us   54256us   34174us
Version 2.00a       ------Sequential Create------ --------Random Create--------
testbox             -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
files:max:min        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
       4:2000:100/3  4096  22 +++++ +++  4096   1  4096  37 +++++ +++  4096   1
Latency             24087us   20079us     151ms   60127us   24149us   20046us
";

    #[test]
    fn scaled_rates_and_latencies_are_read_and_garbage_is_not() {
        let imported = read(SCALED);
        assert_eq!(imported.unread, []);
        let [io, files] = &imported.sessions[0].trials[..] else {
            panic!("{:?}", imported.sessions[0].trials);
        };
        assert_eq!(kib_per_s(io.phase("putc").unwrap()), 620.0);
        assert_eq!(kib_per_s(io.phase("put_block").unwrap()), 259.0 * 1024.0);
        let rewrite = io.phase("rewrite").unwrap();
        assert_eq!(rewrite.value(&metrics::RATE), Some(9.8 * MIB));
        assert_eq!(rewrite.value(&metrics::LATENCY_MAX), Some(20_058_000.0));
        let seeks = io.phase("seeks").unwrap();
        assert_eq!(
            seeks.value(&metrics::CPU_PERCENT),
            Some(5.2),
            "of five seekers"
        );
        assert_eq!(
            files.cell.to_string(),
            "configuration=testbox files=4:2000:100/3"
        );
        let created = files.phase("create_sequential").unwrap();
        assert_eq!(created.value(&metrics::OPERATION_RATE), None);
        assert_eq!(created.caveats[0].code, CaveatCode::DigitsLost);
        assert_eq!(created.value(&metrics::CPU_PERCENT), Some(22.0));
        let deleted = files.phase("delete_sequential").unwrap();
        assert_eq!(deleted.value(&metrics::LATENCY_MAX), Some(151e6));
    }
}
