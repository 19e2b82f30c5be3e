//! Files that are closed and opened while a worker runs, where fewer are open at once
//! than it has.

use stiction_core::SyncKind;

use crate::backend::Backend;
use crate::data::Payload;
use crate::failure::Fault;
use crate::slots::Slots;
use crate::task::Task;

/// Which of a worker's files are open, and what is to be done about it.
#[derive(Debug)]
pub(crate) struct Turnover {
    /// By file.
    open: Box<[bool]>,
    /// Which of them were written to since they were opened.
    written: Box<[bool]>,
    /// To be opened before the next operation.
    wanted: Option<u32>,
    /// To be closed when no operation on them is in flight.
    leaving: Vec<u32>,
    /// Room for a mark on each slot.
    marks: Box<[bool]>,
}

impl Turnover {
    /// Of `files` files of which the first `open` are open, with so many operations in
    /// flight at most.
    pub(crate) fn new(files: u32, open: u32, depth: u32) -> Self {
        Self {
            open: (0..files).map(|file| file < open).collect(),
            written: vec![false; files as usize].into(),
            wanted: None,
            leaving: Vec::with_capacity(files as usize),
            marks: vec![false; depth as usize].into(),
        }
    }

    /// The next operation is on `file`.
    pub(crate) fn want(&mut self, file: u32) {
        if !self.open[file as usize] {
            self.wanted = Some(file);
        } else if !self.leaving.is_empty() {
            self.leaving.retain(|&leaving| leaving != file);
        }
    }

    /// There will be no further operation on `file`, unless it is wanted again.
    pub(crate) fn leave(&mut self, file: u32) {
        self.leaving.push(file);
    }

    /// The next operation is a write to `file`.
    pub(crate) fn wrote(&mut self, file: u32) {
        self.written[file as usize] = true;
    }

    /// Opens what the next operation needs.
    ///
    /// # Errors
    /// With the call that failed.
    pub(crate) fn open_wanted(
        &mut self,
        task: &Task<'_>,
        backend: &mut impl Backend,
    ) -> Result<(), Fault> {
        let Some(file) = self.wanted.take() else {
            return Ok(());
        };
        backend.open(task, file)?;
        self.open[file as usize] = true;
        Ok(())
    }

    /// Closes what is no longer needed and not in flight, synced if that is wanted.
    ///
    /// # Errors
    /// With the sync that failed.
    pub(crate) fn close_leaving(
        &mut self,
        task: &Task<'_>,
        slots: &impl Slots,
        backend: &mut impl Backend,
        payload: &mut Payload,
    ) -> Result<(), Fault> {
        if self.leaving.is_empty() {
            return Ok(());
        }
        let mut at = 0;
        while let Some(&file) = self.leaving.get(at) {
            if slots.has_file(file, &mut self.marks) {
                at += 1;
                continue;
            }
            self.leaving.remove(at);
            let was_written = std::mem::take(&mut self.written[file as usize]);
            if let Some(kind) = task.job.sync_on_close.filter(|_| was_written) {
                sync(file, kind, backend, payload)?;
            }
            backend.close(file);
            self.open[file as usize] = false;
        }
        Ok(())
    }
}

/// Makes durable what was written to `file`.
pub(crate) fn sync(
    file: u32,
    kind: SyncKind,
    backend: &mut impl Backend,
    payload: &mut Payload,
) -> Result<(), Fault> {
    backend.sync(file, kind)?;
    payload.synced(file);
    Ok(())
}
