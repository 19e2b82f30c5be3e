//! What our own reports say beside a classic table about how its figures were made.

use std::ops::Range;

use crate::number;

/// One such sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remark {
    /// Latencies are sums over so many runs, as 0.3.3 printed them.
    Sums(u64),
    /// Latencies are means over so many runs.
    Means(u64),
    /// Rows of the old layout do not include the rows before them.
    RowsStandAlone,
    /// What a field of `#`, or one that was cut, stands for.
    Overflow,
    /// The size of the files where that is not the row's.
    OtherSize,
}

impl Remark {
    /// The remark that a line is.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["Latency", "and", "Lat%", "are", "SUMS", "over", runs, ..] => number::integer(runs)
                .filter(|&runs| runs > 0)
                .map(Self::Sums),
            ["Latency", "and", "Lat%", "are", "means", "over", runs, ..] => number::integer(runs)
                .filter(|&runs| runs > 0)
                .map(Self::Means),
            ["Each", "row", "stands", "for", "itself;", ..] => Some(Self::RowsStandAlone),
            [.., "layout", "has", "no", "room", "for", "it."] => Some(Self::Overflow),
            ["File", "Size", .., "MB", "in", "all."] => Some(Self::OtherSize),
            _ => None,
        }
    }
}

/// The remarks of a text, with the indices of their lines.
#[derive(Debug, Default)]
pub(super) struct Remarks(Vec<(usize, Remark)>);

impl Remarks {
    pub(super) fn add(&mut self, index: usize, remark: Remark) {
        self.0.push((index, remark));
    }

    /// Runs that the latencies of a report are sums over, said on `lines` before it.
    pub(super) fn sums(&self, lines: Range<usize>) -> Option<u64> {
        self.among(lines).find_map(|remark| match remark {
            Remark::Sums(runs) => Some(runs),
            _ => None,
        })
    }

    /// Runs that the latencies of a report are means over, said on `lines` below it.
    pub(super) fn means(&self, lines: Range<usize>) -> Option<u64> {
        self.among(lines).find_map(|remark| match remark {
            Remark::Means(runs) => Some(runs),
            _ => None,
        })
    }

    /// Whether rows of the old layout stand alone, said on `lines` below them.
    pub(super) fn rows_stand_alone(&self, lines: Range<usize>) -> bool {
        self.among(lines)
            .any(|remark| remark == Remark::RowsStandAlone)
    }

    fn among(&self, lines: Range<usize>) -> impl Iterator<Item = Remark> {
        let start = self.0.partition_point(|&(index, _)| index < lines.start);
        let end = self.0.partition_point(|&(index, _)| index < lines.end);
        self.0[start..end.max(start)]
            .iter()
            .map(|&(_, remark)| remark)
    }
}
