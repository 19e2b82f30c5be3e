//! Memory, more than there is, touched in an order that no cache and no reclaim likes.

use stiction_engine::StopFlag;

use super::{Gauge, Setting};
use crate::contest::part::PartResult;

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
