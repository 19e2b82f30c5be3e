//! How operations reach the kernel: one trait, one file for each way.

mod io_uring;
mod libaio;
mod mmap;
mod null;
mod psync;
mod simulated;
mod single;
mod splice;
mod trim;

use rustix::io::Errno;
use stiction_core::{BackendKind, Caveat, SyncKind, WritebackEvery};

use crate::failure::{Cause, Fault};
use crate::files::FileTable;
use crate::request::{Request, Way};
use crate::slots::Slots;
use crate::task::Task;
use crate::{EngineError, Unavailable};

pub(crate) use io_uring::IoUring;
pub(crate) use libaio::Libaio;
pub(crate) use mmap::Mmap;
pub(crate) use null::Null;
pub(crate) use psync::Psync;
pub(crate) use simulated::Simulated;
pub(crate) use single::Single;
pub(crate) use splice::Splice;
pub(crate) use trim::Trim;

/// The result of an operation whose page could not be had.
const BUS_ERROR: i32 = i32::MIN;

/// One worker's way to the kernel.
///
/// A worker prepares it once, and then for each round queues operations, commits
/// them together and reaps what is complete. Operations are known by the slot of
/// their buffer; a slot is queued again only after it was reaped.
pub(crate) trait Backend: Sized {
    /// What keeps the books of its operations in flight.
    type Slots: Slots;

    /// Opens the worker's files and makes everything ready.
    ///
    /// # Errors
    /// When it cannot be had, or the target cannot be opened.
    fn prepare(task: &Task<'_>) -> Result<Self, EngineError>;

    /// The buffer of a slot that is not in flight.
    fn buffer(&mut self, slot: u32) -> &mut [u8];

    /// Adds an operation to those that the next commit begins.
    fn queue(&mut self, slot: u32, request: Request);

    /// Begins what is queued, and waits until `wait_for` operations are complete,
    /// or fewer when a signal came.
    ///
    /// # Errors
    /// When the kernel takes no operations at all any more.
    fn commit(&mut self, wait_for: u32) -> Result<(), Errno>;

    /// Begins what is queued, and waits until one operation is complete or so much
    /// time has gone by, ns. Where operations are complete when they have begun,
    /// there is nothing to wait for.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    fn commit_for(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        let _there_is_no_wait = timeout_ns;
        self.commit(1)
    }

    /// Hands over what is queued, and waits for nothing; the next commit waits.
    /// Only for backends with a queue: see [`has_queue`].
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    fn submit(&mut self) -> Result<(), Errno> {
        Ok(())
    }

    /// Whether there is one operation at a time, and one call begins and ends it: then
    /// [`perform`](Self::perform) does it.
    #[inline(always)]
    fn is_immediate(&self) -> bool {
        false
    }

    /// Does one operation in slot 0, from its beginning to its end; the result is as in
    /// [`reap`](Self::reap). Only where it [`is_immediate`](Self::is_immediate).
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    #[inline(always)]
    fn perform(&mut self, request: &Request) -> Result<i32, Errno> {
        let _nothing_is_done = request;
        Err(Errno::NOSYS)
    }

    /// The next of the operations that the last commit found complete: its slot,
    /// and how many bytes were moved or the error number, negative.
    fn reap(&mut self) -> Option<(u32, i32)>;

    /// Does what is left of an operation from its byte `done` on, one call, not
    /// timed; the result is as in [`reap`](Self::reap).
    fn transfer(&mut self, slot: u32, request: Request, done: usize) -> i32;

    /// Its files; `None` without I/O.
    fn files(&mut self) -> Option<&mut FileTable>;

    /// Makes what was written to an open file durable.
    ///
    /// # Errors
    /// With the call that failed.
    fn sync(&mut self, file: u32, kind: SyncKind) -> Result<(), Fault> {
        self.files().map_or(Ok(()), |files| files.sync(file, kind))
    }

    /// Has an open file written back, as far as `every` says; that makes nothing durable.
    ///
    /// # Errors
    /// With the call that failed.
    fn write_back(&mut self, file: u32, every: WritebackEvery) -> Result<(), Fault> {
        let files = self.files();
        files.map_or(Ok(()), |files| files.write_back(file, every))
    }

    /// Opens a file that is closed.
    ///
    /// # Errors
    /// With the call that failed.
    fn open(&mut self, task: &Task<'_>, file: u32) -> Result<(), Fault> {
        self.files().map_or(Ok(()), |files| files.open(task, file))
    }

    /// Whether a file is open.
    fn is_open(&mut self, file: u32) -> bool {
        self.files().is_none_or(|files| files.is_open(file))
    }

    /// Closes a file on which no operation is in flight.
    fn close(&mut self, file: u32) {
        if let Some(files) = self.files() {
            files.close(file);
        }
    }

    /// What is to be said of how this worker ran.
    fn remarks(&mut self) -> Remarks {
        let files = self.files();
        files.map_or_else(Remarks::default, |files| std::mem::take(&mut files.remarks))
    }
}

/// What a backend has to say of how it ran.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    pub(crate) direct_granted: Option<bool>,
    pub(crate) notes: Vec<String>,
    pub(crate) caveats: Vec<Caveat>,
}

impl Remarks {
    /// Adds what is to be said of another file; one doubt of each kind will do.
    pub(crate) fn add(&mut self, other: Self) {
        self.direct_granted = match (self.direct_granted, other.direct_granted) {
            (Some(before), Some(now)) => Some(before && now),
            (known, None) | (None, known) => known,
        };
        for note in other.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        for caveat in other.caveats {
            if self.caveats.iter().all(|known| known.code != caveat.code) {
                self.caveats.push(caveat);
            }
        }
    }
}

/// Completes an operation that moved fewer bytes than asked, or says why not.
///
/// An interrupted or short transfer is continued, as any careful program does;
/// the kernel then gives the error that cut the first part short, if there is one.
#[cold]
#[inline(never)]
pub(crate) fn complete_rest(
    backend: &mut impl Backend,
    slot: u32,
    request: Request,
    first_result: i32,
) -> Result<(), Fault> {
    let wanted = request.length_bytes as usize;
    let fault = |cause| {
        let fault = Fault::new(request.way.operation(), cause).at(request.offset_bytes);
        Err(fault.in_file(request.file))
    };
    let mut done = 0;
    let mut result = first_result;
    loop {
        let short = Cause::Short {
            got: done as u64,
            wanted: wanted as u64,
        };
        match result {
            BUS_ERROR => return fault(Cause::BusError),
            0 if request.way == Way::Trim => return Ok(()),
            0 => return fault(short),
            1.. => done += result as usize,
            errno => match Errno::from_raw_os_error(-errno) {
                // A call that was not to wait is made again as one that may.
                Errno::INTR | Errno::AGAIN => {}
                // After a part that ends at the end of the file, O_DIRECT does not
                // get as far as to say so.
                Errno::INVAL if done > 0 => return fault(short),
                errno => return fault(errno.into()),
            },
        }
        if done >= wanted {
            return Ok(());
        }
        result = backend.transfer(slot, request, done);
    }
}

/// A system call's result in the form that [`Backend::reap`] hands over.
fn raw(result: Result<usize, Errno>) -> i32 {
    match result {
        // A block is at most 1 GiB.
        Ok(bytes) => bytes as i32,
        Err(errno) => -errno.raw_os_error(),
    }
}

/// Whether handing operations over and waiting for them can be told apart.
pub(crate) fn has_queue(backend: BackendKind) -> bool {
    match backend {
        BackendKind::IoUring | BackendKind::Libaio => true,
        BackendKind::Psync | BackendKind::Mmap | BackendKind::Splice | BackendKind::Null => false,
    }
}

/// Whether `backend` can be had on this system.
///
/// # Errors
/// [`Unavailable`] with the kernel's words.
pub fn probe(backend: BackendKind) -> Result<(), Unavailable> {
    match backend {
        BackendKind::IoUring => io_uring::probe(),
        BackendKind::Libaio => libaio::probe(),
        BackendKind::Psync | BackendKind::Mmap | BackendKind::Splice | BackendKind::Null => Ok(()),
    }
}
