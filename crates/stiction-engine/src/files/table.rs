//! The open files of one worker.

use std::os::fd::OwnedFd;

use rustix::fs::fstat;
use rustix::io::Errno;
use stiction_core::{SyncKind, WritebackEvery};

use super::open::{OpenFile, open_again, open_target};
use super::sync::{sync_file, write_back};
use crate::EngineError;
use crate::backend::{Remarks, Trim};
use crate::failure::{Fault, Operation};
use crate::task::{Ends, Task};

/// One file by its number among those of the worker.
#[derive(Debug)]
struct Entry {
    fd: OwnedFd,
    trim: Trim,
}

/// Which file it is, whatever its name: device and inode.
type Identity = (u64, u64);

/// The files of one worker, of which some may be closed.
#[derive(Debug)]
pub(crate) struct FileTable {
    /// By file; `None` while it is closed.
    open: Box<[Option<Entry>]>,
    /// By file, where they are opened again; otherwise empty.
    identities: Box<[Identity]>,
    pub(crate) remarks: Remarks,
}

impl FileTable {
    /// Makes all files of `task` ready, each for itself, and leaves those open that
    /// are open at the start.
    ///
    /// # Errors
    /// As [`open_target`].
    pub(crate) fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let ends = Ends::of(task.job);
        let mut open = Vec::with_capacity(task.regions.len());
        let mut identities = Vec::new();
        let mut all = Remarks::default();
        for file in 0..task.files() {
            let OpenFile { fd, remarks } = open_target(task, file, &ends)?;
            all.add(remarks);
            if task.turns_files_over() {
                let known = identity(&fd).map_err(|fault| fault.in_file(file).of_task(task))?;
                identities.push(known);
            }
            let trim = Trim::of(task, file);
            open.push((file < task.open_files()).then_some(Entry { fd, trim }));
        }
        Ok(Self {
            open: open.into(),
            identities: identities.into(),
            remarks: all,
        })
    }

    /// Opens a file that is closed.
    ///
    /// # Errors
    /// With the call that failed, and when the name means another file by now.
    pub(crate) fn open(&mut self, task: &Task<'_>, file: u32) -> Result<(), Fault> {
        let fd = open_again(task, file)?;
        if identity(&fd)? != self.identities[file as usize] {
            return Err(Fault::new(Operation::Open, Errno::STALE).in_file(file));
        }
        let trim = Trim::of(task, file);
        self.open[file as usize] = Some(Entry { fd, trim });
        Ok(())
    }

    /// Closes a file.
    pub(crate) fn close(&mut self, file: u32) {
        self.open[file as usize] = None;
    }

    /// Whether a file is open.
    pub(crate) fn is_open(&self, file: u32) -> bool {
        self.open[file as usize].is_some()
    }

    #[inline(always)]
    fn entry(&self, file: u32) -> &Entry {
        let entry = self.open[file as usize].as_ref();
        entry.expect("operations are on files that are open")
    }

    /// The descriptor of an open file.
    #[inline(always)]
    pub(crate) fn fd(&self, file: u32) -> &OwnedFd {
        &self.entry(file).fd
    }

    /// How blocks of an open file are given back.
    #[inline(always)]
    pub(crate) fn trim(&self, file: u32) -> Trim {
        self.entry(file).trim
    }

    /// Has an open file written back.
    ///
    /// # Errors
    /// With the call that failed.
    pub(crate) fn write_back(&self, file: u32, every: WritebackEvery) -> Result<(), Fault> {
        write_back(self.fd(file), every).map_err(|fault| fault.in_file(file))
    }

    /// Makes durable what was written to an open file.
    ///
    /// # Errors
    /// With the call that failed.
    pub(crate) fn sync(&self, file: u32, kind: SyncKind) -> Result<(), Fault> {
        sync_file(self.fd(file), kind).map_err(|fault| fault.in_file(file))
    }
}

fn identity(fd: &OwnedFd) -> Result<Identity, Fault> {
    let found = fstat(fd).map_err(|errno| Fault::new(Operation::Open, errno))?;
    Ok((found.st_dev, found.st_ino))
}
