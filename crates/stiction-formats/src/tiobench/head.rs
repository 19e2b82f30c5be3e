//! Titles and heads of tiobench's reports. Heads are shifted by mail and differ by
//! version, so they are known by their words and not by their columns.

use crate::label;

/// Words that a line of a head is made of.
const HEAD_WORDS: &[&str] = &[
    "%",
    ">10s",
    ">2s",
    "&10s",
    "&2s",
    "(cpu%)",
    "avg",
    "avg.",
    "blk",
    "blksz",
    "block",
    "cpu",
    "cpu%",
    "dir",
    "eff",
    "file",
    "identifier",
    "kernel",
    "lat",
    "lat%",
    "latency",
    "max",
    "maximum",
    "mb/s",
    "mb/sec",
    "num",
    "rand",
    "rate",
    "read",
    "seq",
    "size",
    "thr",
    "threads",
    "write",
];

/// The title of a section: `Sequential Writes ext3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Title {
    /// Name of the phase.
    pub(super) phase: &'static str,
    /// The filesystem behind it.
    pub(super) filesystem: Option<String>,
    /// What else stands behind it.
    pub(super) options: Option<String>,
}

impl Title {
    /// The title that a line is.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (kind, rest) = words.split_first()?;
        let (what, suffix) = rest.split_first()?;
        let phase = match (*kind, what.trim_end_matches(':')) {
            ("Sequential", "Reads" | "Read") => "read",
            ("Random", "Reads" | "Read") => "random_read",
            ("Sequential", "Writes" | "Write") => "write",
            ("Random", "Writes" | "Write") => "random_write",
            _ => return None,
        };
        if suffix.len() > 4 {
            return None;
        }
        let filesystem = suffix.iter().find_map(|word| label::filesystem(word));
        let options: Vec<&str> = suffix
            .iter()
            .copied()
            .filter(|word| label::filesystem(word).is_none())
            .collect();
        Some(Self {
            phase,
            filesystem,
            options: (!options.is_empty()).then(|| options.join(" ")),
        })
    }
}

/// Which columns a head names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The first column is called `Kernel` and not `Identifier`.
    pub(super) kernel: bool,
    pub(super) size: bool,
    pub(super) block: bool,
    pub(super) threads: bool,
    pub(super) over_2s: bool,
    pub(super) over_10s: bool,
    pub(super) efficiency: bool,
    /// The four phases stand side by side, as up to 0.3.2.
    pub(super) four_phases: bool,
}

impl Head {
    /// Adds the words of one line; false when it is not a line of a head.
    pub(super) fn add_line(&mut self, text: &str) -> bool {
        let words: Vec<String> = text
            .split_whitespace()
            .map(str::to_ascii_lowercase)
            .collect();
        let is_head =
            words.len() >= 2 && words.iter().all(|word| HEAD_WORDS.contains(&word.as_str()));
        if !is_head {
            return false;
        }
        let has = |names: &[&str]| words.iter().any(|word| names.contains(&word.as_str()));
        self.kernel |= has(&["kernel"]);
        self.size |= has(&["file"]) || has(&["size"]);
        self.block |= has(&["blk", "blksz", "block"]);
        self.threads |= has(&["thr", "num", "threads"]);
        self.over_2s |= has(&[">2s", "&2s"]);
        self.over_10s |= has(&[">10s", "&10s"]);
        self.efficiency |= has(&["eff"]);
        self.four_phases |= has(&["seq"]) && has(&["rand"]);
        true
    }

    /// Columns between the name and the rate.
    pub(super) fn columns_before(&self) -> usize {
        usize::from(self.size) + usize::from(self.block) + usize::from(self.threads)
    }

    /// Columns behind the CPU share.
    pub(super) fn columns_after(&self) -> usize {
        2 + usize::from(self.over_2s) + usize::from(self.over_10s) + usize::from(self.efficiency)
    }
}

/// Whether a line explains units, as all reports do somewhere. Text may follow it
/// that a progress line left there: `MB/secd . -T`.
pub(super) fn is_units(text: &str) -> bool {
    const KEYS: &[&str] = &[
        "File size",
        "Blk Size",
        "Rate",
        "CPU%",
        "Latency",
        "Lat%",
        "CPU Eff",
    ];
    const SENTENCES: &[&str] = &[
        "Unit information",
        "File size in megabytes, Blk Size in bytes.",
        "Read, write, and seek rates in MB/sec.",
        "Latency in milliseconds.",
        "Percent of requests that took longer than",
        "Size is MB, BlkSz is Bytes,",
    ];
    let text = text.trim();
    let is_key = text
        .split_once('=')
        .is_some_and(|(key, _)| KEYS.contains(&key.trim()));
    is_key || SENTENCES.iter().any(|start| text.starts_with(start))
}

/// Whether 0.4 printed a line of units: it says what a megabyte is, where 0.3.3 does
/// not. `None` for lines that both print.
pub(super) fn says_version(text: &str) -> Option<bool> {
    let names_size = text.trim_start().starts_with("File size");
    names_size.then(|| text.contains("2^20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_carry_filesystems_and_options() {
        let title = Title::parse("Sequential Writes ext3 elevator=deadline").unwrap();
        assert_eq!(title.phase, "write");
        assert_eq!(title.filesystem.as_deref(), Some("ext3"));
        assert_eq!(title.options.as_deref(), Some("elevator=deadline"));
        assert_eq!(Title::parse("Random Reads/128k Block Size"), None);
        assert_eq!(
            Title::parse("Sequential reads are what people care about most"),
            None
        );
    }

    #[test]
    fn heads_are_known_by_their_words() {
        let mut head = Head::default();
        assert!(head.add_line("\tAvg Maximum  Lat%   Lat%    CPU"));
        assert!(head.add_line("Kernel  Rate (CPU%)  Latency Latency &2s >10s Eff"));
        assert!(!head.add_line("2.5.59  3.42  17.36%  83.976"));
        assert!(!head.add_line("Rate"));
        assert_eq!((head.columns_before(), head.columns_after()), (0, 5));
        let mut head = Head::default();
        assert!(head.add_line("File  Blk   Num   Avg      Maximum      Lat%     Lat%    CPU"));
        assert_eq!(head.columns_before(), 3);
    }

    #[test]
    fn units_are_known_whatever_follows() {
        let old = "Size is MB, BlkSz is Bytes, Read, Write, and Seeks are MB/secd . -T";
        assert!(is_units(old));
        assert!(is_units("Rate = MB/sec  latency in milliseconds"));
        assert!(!is_units("Latency was bad"));
    }
}
