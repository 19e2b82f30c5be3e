//! No I/O: every operation is complete at once. What a job takes with it is the
//! engine's own.

use std::hint::black_box;

use rustix::io::Errno;
use stiction_core::SyncKind;

use super::{Backend, Remarks};
use crate::EngineError;
use crate::failure::Fault;
use crate::memory::Buffers;
use crate::task::Task;

pub(crate) struct Null {
    buffers: Buffers,
    block_bytes: i32,
    /// Slots of the queued operations; the first `count` hold one.
    queued: Box<[u32]>,
    count: usize,
}

impl Backend for Null {
    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        Ok(Self {
            buffers: task.buffers()?,
            block_bytes: task.block_bytes as i32,
            queued: (0..task.depth).collect(),
            count: 0,
        })
    }

    #[inline(always)]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline(always)]
    fn queue(&mut self, slot: u32, offset_bytes: u64) {
        black_box(offset_bytes);
        self.queued[self.count] = slot;
        self.count += 1;
    }

    #[inline(always)]
    fn commit(&mut self, _wait_for: u32) -> Result<(), Errno> {
        Ok(())
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        self.count = self.count.checked_sub(1)?;
        Some((self.queued[self.count], self.block_bytes))
    }

    fn transfer(&mut self, _slot: u32, _offset_bytes: u64, _done: usize) -> i32 {
        self.block_bytes
    }

    fn sync(&mut self, _kind: SyncKind) -> Result<(), Fault> {
        Ok(())
    }

    fn remarks(&mut self) -> Remarks {
        Remarks::default()
    }
}
