//! Output of tiotest, the program that tiobench's driver calls: framed tables for
//! people, and lines for the driver.

pub(crate) mod cpu;
mod terse;
mod verbose;

use stiction_core::Cell;

use crate::command::Command;
use crate::harvest::Harvest;
use crate::page::Page;

/// Block size of tiotest when none is asked for, bytes.
const BLOCK_SIZE_BYTES: u64 = 4096;

/// Reads every run of tiotest.
pub(crate) fn read(page: &mut Page, harvest: &mut Harvest) {
    verbose::read(page, harvest);
    terse::read(page, harvest);
}

/// The phase that tiotest calls so, in tables and in lines.
fn phase_name(name: &str) -> Option<&'static str> {
    match name {
        "Write" | "write" => Some("write"),
        "Random Write" | "rwrite" => Some("random_write"),
        "Read" | "read" => Some("read"),
        "Random Read" | "rread" => Some("random_read"),
        "Total" | "total" => Some("total"),
        _ => None,
    }
}

/// What a command says of a run. It names the block size by leaving it out, too.
fn cell_of(command: Option<&Command>) -> Cell {
    let Some(command) = command else {
        return Cell::new();
    };
    let block = command.block_sizes_bytes().last().copied();
    let mut cell = Cell::new().with("block_size_bytes", block.unwrap_or(BLOCK_SIZE_BYTES));
    if let Some(&size) = command.file_sizes_bytes().last() {
        cell = cell.with("file_size_bytes", size);
    }
    if let Some(&threads) = command.thread_counts().last() {
        cell = cell.with("threads", threads);
    }
    cell
}
