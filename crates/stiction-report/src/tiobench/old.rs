//! The report of tiobench's driver, versions 0.29 to 0.3.2.

use std::fmt::Write as _;

use stiction_core::Session;

use super::driver::{cpu_text, integer, remark_lines, remarks, size_text};
use super::perl::{centred, number, right, unknown};
use super::row::{Figures, Row, rows};
use super::{ClassicOptions, SECTIONS};
use crate::text::ascii;

const HEAD: &str = "\
Size is MB, BlkSz is Bytes, Read, Write, and Seeks are MB/sec

         File   Block  Num  Seq Read    Rand Read   Seq Write  Rand Write
  Dir    Size   Size   Thr Rate (CPU%) Rate (CPU%) Rate (CPU%) Rate (CPU%)
------- ------ ------- --- ----------- ----------- ----------- -----------
";

/// Printed below the table, so that no reader takes the rows before a row out of it.
const ROWS_STAND_ALONE: &str =
    "Each row stands for itself; tiobench up to 0.3.2 counted the rows before it too.";

/// The report as tiobench 0.29 to 0.3.2 print it, one row for each combination.
///
/// Each row stands for itself; those versions never reset their totals, so that
/// every row of theirs holds the rows before it.
#[must_use]
pub fn classic_old(session: &Session, options: &ClassicOptions) -> String {
    let rows = rows(session, options);
    let only_directory = match &session.header.environment.targets[..] {
        [stack] => ascii(&stack.path).into_owned(),
        _ => ".".to_owned(),
    };
    let mut text = HEAD.to_owned();
    for row in &rows {
        if let Some(line) = line(row, &only_directory, options) {
            let _ = writeln!(text, "{line}");
        }
    }
    let mut said = remarks(&rows, options);
    if rows.len() > 1 {
        said.insert(0, ROWS_STAND_ALONE.to_owned());
    }
    text.push_str(&remark_lines(&said));
    text
}

/// The row, or nothing when none of its phases has numbers.
fn line(row: &Row<'_>, only_directory: &str, options: &ClassicOptions) -> Option<String> {
    let figures = SECTIONS.map(|(phase, _)| row.figures(phase, options.latencies));
    figures.iter().any(Option::is_some).then(|| {
        let directory = row.directory.as_deref().unwrap_or(only_directory);
        let mut line = format!(
            "{} {} {} {}",
            centred(directory, 7),
            centred(&size_text(row), 6),
            centred(&integer(row.block_size_bytes), 7),
            centred(&integer(row.threads), 3),
        );
        for figures in figures {
            let Figures {
                rate_mib_per_s,
                cpu_percent,
                ..
            } = figures.unwrap_or_default();
            let rate = match rate_mib_per_s {
                Some(rate) if rate.is_finite() => right(&number(rate), 5),
                _ => unknown(5),
            };
            let _ = write!(line, " {rate} {}%", cpu_text(cpu_percent, 4));
        }
        line
    })
}
