//! No I/O: every operation is complete at once. What a job takes with it is the
//! engine's own.

use std::hint::black_box;

use rustix::io::Errno;

use super::Backend;
use crate::EngineError;
use crate::files::FileTable;
use crate::memory::Buffers;
use crate::request::Request;
use crate::slots::ManySlots;
use crate::task::Task;

pub(crate) struct Null {
    buffers: Buffers,
    /// Slots of the queued operations and their results; the first `count` hold one.
    queued: Box<[(u32, i32)]>,
    count: usize,
}

impl Backend for Null {
    type Slots = ManySlots;

    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        Ok(Self {
            buffers: task.buffers()?,
            queued: vec![(0, 0); task.depth as usize].into(),
            count: 0,
        })
    }

    #[inline(always)]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline(always)]
    fn queue(&mut self, slot: u32, request: Request) {
        black_box(request.offset_bytes);
        self.queued[self.count] = (slot, request.whole_result());
        self.count += 1;
    }

    #[inline(always)]
    fn commit(&mut self, _wait_for: u32) -> Result<(), Errno> {
        Ok(())
    }

    #[inline(always)]
    fn is_immediate(&self) -> bool {
        self.queued.len() == 1
    }

    #[inline(always)]
    fn perform(&mut self, request: &Request) -> Result<i32, Errno> {
        black_box(request.offset_bytes);
        Ok(request.whole_result())
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        self.count = self.count.checked_sub(1)?;
        Some(self.queued[self.count])
    }

    fn transfer(&mut self, _slot: u32, request: Request, _done: usize) -> i32 {
        request.whole_result()
    }

    fn files(&mut self) -> Option<&mut FileTable> {
        None
    }
}
