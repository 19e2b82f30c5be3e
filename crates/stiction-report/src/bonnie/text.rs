//! The text reports of Bonnie: of 1996, and of the 64-bit release.

use std::fmt::Write as _;

use stiction_core::Session;

use super::row::{Row, rows};
use super::spelled::kib_per_s;

const MIB: f64 = 1_048_576.0;

const HEAD: [&str; 3] = [
    "              -------Sequential Output-------- ---Sequential Input-- --Random--",
    "              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---",
    "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU  /sec %CPU",
];
const HEAD_64: [&str; 3] = [
    "\t\t-------Sequential Output-------- ---Sequential Input-- --Random--",
    "\t\t-Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --Seeks---",
    "Machine    GB M/sec %CPU M/sec %CPU M/sec %CPU M/sec %CPU M/sec %CPU\t /sec %CPU",
];

/// The report of the 1996 release. Cells that are not known are `xxxx`.
#[must_use]
pub fn bonnie(session: &Session) -> String {
    report(session, HEAD, |row| {
        let mib = row.size_bytes.unwrap_or(0) >> 20;
        line(row, mib, &kib_per_s, &|rate| format!("{rate:5.1}"))
    })
}

/// The report of the 64-bit release: MiB per second, and a size in thousands of MiB,
/// cut off.
#[must_use]
pub fn bonnie_64(session: &Session) -> String {
    report(session, HEAD_64, |row| {
        let thousand_mib = (row.size_bytes.unwrap_or(0) >> 20) / 1000;
        let mib_per_s = |rate: f64| format!("{:.1}", rate / MIB);
        let per_s = |rate: f64| format!("{:5.0}", rate.floor());
        line(row, thousand_mib, &mib_per_s, &per_s)
    })
}

fn report(session: &Session, head: [&str; 3], line: impl Fn(&Row) -> String) -> String {
    let lines = rows(session).into_iter().filter(Row::has_io);
    let body: Vec<String> = lines.map(|row| line(&row)).collect();
    let mut text = head.join("\n");
    for line in body {
        text.push('\n');
        text.push_str(&line);
    }
    text.push('\n');
    text
}

/// One row. These programs knew no `+++++`: a figure is printed however short its phase
/// was, and one that is not known has crosses, as runs with phases left out had.
fn line(
    row: &Row,
    size: u64,
    rate: &dyn Fn(f64) -> String,
    seeks: &dyn Fn(f64) -> String,
) -> String {
    let mut text = format!("{:8.8} {size:4}", row.machine);
    for (place, figures) in row.io.iter().enumerate() {
        let spell = if place == 5 { seeks } else { rate };
        let [value, cpu] = figures.unhidden;
        let value = value.map_or_else(|| "xxxx".to_owned(), spell);
        let cpu = cpu.map_or_else(|| "xxx".to_owned(), |cpu| format!("{cpu:.1}"));
        // Writing into memory does not fail.
        let _ = write!(text, " {value:>5} {cpu:>4}");
    }
    text
}
