//! Memory, more than there is, touched in an order that no cache and no reclaim likes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use stiction_engine::StopFlag;

use super::{Gauge, Setting};
use crate::contest::part::{PartResult, failed};

/// Memory is taken in pieces of this size, bytes.
const PIECE: usize = 1 << 20;
const PAGE: usize = 4096;
const PAGES_OF_PIECE: usize = PIECE / PAGE;

/// Bytes that are touched for a memory of `memory_bytes`: 110 % of it.
pub(in crate::contest) fn touched_bytes(memory_bytes: u64) -> u64 {
    memory_bytes / 10 * 11
}

/// Touches page i and then page i + n/2, and so on, again and again: halves of the memory
/// that are far apart are wanted in turn. A page is a step.
pub(super) fn run(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    if setting.pages_of_file {
        run_in_file(setting, gauge, stop)
    } else {
        run_in_memory(setting, gauge, stop)
    }
}

/// The same with pages of a file, which the kernel can write back where there is no swap.
fn run_in_file(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let path = setting.directory.join("mem_load");
    let refused = |error: io::Error| failed("work with", &path, &error);
    let file = File::options()
        .read(true)
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(refused)?;
    let piece = vec![1u8; PIECE];
    let count = setting.bytes.div_ceil(PIECE as u64);
    for number in 0..count {
        file.write_all_at(&piece, number * PIECE as u64)
            .map_err(refused)?;
        if stop.is_raised() {
            return Ok(());
        }
    }
    let half = count * PAGES_OF_PIECE as u64 / 2;
    while !stop.is_raised() {
        for page in 0..half {
            for touched in [page, page + half] {
                let at = touched * PAGE as u64;
                let mut byte = [0];
                file.read_exact_at(&mut byte, at).map_err(refused)?;
                byte[0] = byte[0].wrapping_add(1);
                file.write_all_at(&byte, at).map_err(refused)?;
            }
            gauge.step(2);
            if page % PAGES_OF_PIECE as u64 == 0 && stop.is_raised() {
                return Ok(());
            }
        }
        gauge.pass(2 * half);
    }
    Ok(())
}

fn run_in_memory(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let count = (setting.bytes as usize).div_ceil(PIECE);
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    while pieces.len() < count && !stop.is_raised() {
        let mut piece = Vec::new();
        piece
            .try_reserve_exact(PIECE)
            .map_err(|_| format!("there is no memory beyond {} MiB", pieces.len()))?;
        piece.resize(PIECE, 1u8);
        pieces.push(piece);
    }
    let half = pieces.len() * PAGES_OF_PIECE / 2;
    while !stop.is_raised() {
        for page in 0..half {
            for touched in [page, page + half] {
                let piece = &mut pieces[touched / PAGES_OF_PIECE];
                let byte = &mut piece[touched % PAGES_OF_PIECE * PAGE];
                *byte = std::hint::black_box(byte.wrapping_add(1));
            }
            if page % PAGES_OF_PIECE == 0 && stop.is_raised() {
                return Ok(());
            }
            gauge.step(2);
        }
        gauge.pass(2 * half as u64);
    }
    Ok(())
}
