//! What the driver's fields hide, said in words below its tables.

use super::driver::{Layout, SIZE, THREADS, integer, size_text};
use super::perl::{decimal, unknown};
use super::row::{MIB, Row};
use super::{ClassicOptions, SECTIONS};

/// What `.00` takes of a rate's width.
const DECIMALS_AND_POINT: u32 = 3;
/// A difference of sizes that is more than the rest of a block, MiB.
const OTHER_MIB: f64 = 0.5;

/// Numbers that are filled with `#`, and those that are cut so that they read as smaller
/// ones.
pub(super) fn without_room(
    rows: &[Row<'_>],
    options: &ClassicOptions,
    layout: &Layout,
) -> Vec<String> {
    let mut remarks: Vec<String> = rates(rows, options, layout).into_iter().collect();
    for row in rows {
        for (head, text, width) in [
            ("File Size", size_text(row), SIZE),
            ("Blk Size", integer(row.block_size_bytes), layout.block),
            ("Num Thr", integer(row.threads), THREADS),
        ] {
            let Some(shown) = text.get(..width).filter(|_| text.len() > width) else {
                continue;
            };
            let remark = format!("{head} {shown} is {text}: this layout has no room for it.");
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    remarks
}

/// What stands where a rate has more digits than its field.
fn rates(rows: &[Row<'_>], options: &ClassicOptions, layout: &Layout) -> Option<String> {
    let hidden = unknown(layout.rate);
    let mut rates = rows.iter().flat_map(|row| {
        SECTIONS.iter().filter_map(|(phase, _)| {
            let figures = row.figures(phase, options.latencies)?;
            figures.rate_mib_per_s.filter(|rate| rate.is_finite())
        })
    });
    let some_hidden = rates.any(|rate| decimal(rate, layout.rate, 2) == hidden);
    some_hidden.then(|| {
        let limit = 10u64.pow(layout.rate as u32 - DECIMALS_AND_POINT);
        format!("{hidden} is a rate of {limit} MB/s or more: this layout has no room for it.")
    })
}

/// Rows whose files together have another size than the row says. The driver gives each
/// thread whole megabytes, and at least one: 100 for 3 threads are 99, 64 for 1000 are
/// 1000.
pub(super) fn other_amounts(rows: &[Row<'_>]) -> Vec<String> {
    let remark = |row: &Row<'_>| {
        let (size_mib, threads) = (row.size_mib?, row.threads?);
        let mut runs = SECTIONS.iter().flat_map(|(phase, _)| row.runs(phase));
        let job = runs.find_map(|phase| phase.job.as_ref())?;
        let files_bytes: u64 = job.regions.iter().map(|region| region.length_bytes).sum();
        let files_mib = files_bytes as f64 / MIB;
        ((files_mib - size_mib).abs() >= OTHER_MIB).then(|| {
            format!(
                "File Size {}, Num Thr {threads}: the files had {files_mib:.0} MB in all.",
                size_text(row)
            )
        })
    };
    rows.iter().filter_map(remark).collect()
}
