//! An io_uring for each worker: as many operations in flight as wanted, one
//! system call for many of them.
#![allow(unsafe_code)]

mod abi;
mod ring;

use std::mem::ManuallyDrop;
use std::os::fd::AsRawFd as _;

use rustix::io::Errno;
use stiction_core::RingOptions;

use self::abi::Entry;
use self::ring::{Ring, unavailable};
use super::Backend;
use super::psync;
use super::trim;
use crate::failure::{Fault, Operation};
use crate::files::FileTable;
use crate::memory::Buffers;
use crate::placement::cpus_of;
use crate::request::{Request, Way};
use crate::slots::ManySlots;
use crate::task::Task;
use crate::{EngineError, Unavailable};

/// What stands for a file that is closed.
const CLOSED: i32 = -1;

pub(crate) struct IoUring {
    ring: Ring,
    files: FileTable,
    /// By file, its number as entries have it: among the registered files, or the
    /// descriptor.
    numbers: Box<[i32]>,
    registered_files: bool,
    entry_flags: u8,
    /// By way.
    opcodes: [u8; Way::COUNT],
    call_flags: u32,
    /// Given up and never freed if the kernel may still write to them.
    buffers: ManuallyDrop<Buffers>,
    /// Operations queued and not yet reaped.
    in_flight: u32,
    /// At most.
    depth: u32,
}

/// Whether a ring can be made.
pub(super) fn probe() -> Result<(), Unavailable> {
    Ring::new(1, RingOptions::default()).map(|_| ())
}

/// Keeps the threads that the kernel starts for operations that would block on the
/// CPUs of their worker.
fn pin_helpers(ring: &Ring, cpus: &[u32]) -> Result<(), Errno> {
    if cpus.is_empty() {
        return Ok(());
    }
    // SAFETY: all zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for &cpu in cpus {
        // SAFETY: the set is plain memory, and the bounds of it are checked inside.
        unsafe { libc::CPU_SET(cpu as usize, &mut set) };
    }
    ring.pin_helpers(&set)
}

impl IoUring {
    /// Registers what can be, which spares the kernel a lookup for each operation.
    fn register(&mut self, task: &Task<'_>, flags: &str) -> Result<(), EngineError> {
        if task.job.ring.unregistered {
            self.files
                .remarks
                .notes
                .push(format!("io_uring: {flags}; nothing registered"));
            return Ok(());
        }
        let mut note = format!("io_uring: {flags}; ");
        note += &self.register_files()?;
        let blocks: Vec<libc::iovec> = (0..self.buffers.count())
            .map(|number| libc::iovec {
                iov_base: self.buffers.pointer(number).cast(),
                iov_len: self.buffers.block_bytes(),
            })
            .collect();
        // SAFETY: the addresses are those of `self.buffers`, which are freed only
        // when nothing is in flight; see `drop`.
        let buffers = unsafe { self.ring.register_buffers(&blocks) };
        if buffers.is_ok() {
            self.opcodes = [abi::READ_FIXED, abi::WRITE_FIXED, abi::FALLOCATE];
        }
        let ring = self.ring.register_ring();
        if let Err(error) = pin_helpers(&self.ring, cpus_of(task.job, task.worker)) {
            note += &format!(", the kernel's own threads not pinned ({error})");
        }
        for (what, result) in [("buffers", buffers), ("ring", ring)] {
            note += &match result {
                Ok(()) => format!(", {what} registered"),
                Err(error) => format!(", {what} not registered ({error})"),
            };
        }
        self.files.remarks.notes.push(note);
        Ok(())
    }

    /// Registers the open files, with places for those that are closed; one file has
    /// to be, of several there may be more than the kernel takes.
    fn register_files(&mut self) -> Result<String, EngineError> {
        // A closed file has no descriptor and an empty place: both are -1.
        match self.ring.register_files(&self.numbers) {
            Ok(()) => {}
            Err(error) if self.numbers.len() > 1 => {
                return Ok(format!("files not registered ({error})"));
            }
            Err(errno) => return Err(unavailable(errno).into()),
        }
        self.registered_files = true;
        self.numbers = (0..self.numbers.len() as i32).collect();
        self.entry_flags |= abi::FIXED_FILE;
        Ok(match self.numbers.len() {
            1 => "file registered".to_owned(),
            _ => "files registered".to_owned(),
        })
    }

    /// Puts a descriptor in the place of a registered file, -1 for none.
    fn replace(&mut self, file: u32, descriptor: i32) -> Result<(), Errno> {
        if !self.registered_files {
            self.numbers[file as usize] = descriptor;
            return Ok(());
        }
        self.ring.replace_file(file, descriptor)
    }

    /// Each field by itself, for it to be written straight to the ring.
    #[inline(always)]
    fn entry(&self, slot: u32, request: &Request) -> Entry {
        let number = self.buffers.number_of(slot, request.way);
        let (address, length, call_flags, buffer) = match request.way {
            Way::Read | Way::Write => (
                self.buffers.pointer(number) as u64,
                request.length_bytes,
                self.call_flags,
                // Looked at where buffers are registered.
                number as u16,
            ),
            // The length stands where the others have an address.
            Way::Trim => (request.length_bytes.into(), trim::HOLE as u32, 0, 0),
        };
        Entry {
            opcode: self.opcodes[request.way as usize],
            flags: self.entry_flags,
            priority: 0,
            // The number of a registered file, if the flags say so.
            file: self.numbers[request.file as usize],
            offset: request.offset_bytes,
            address,
            length,
            call_flags,
            user_data: slot.into(),
            buffer,
            personality: 0,
            splice_file: 0,
        }
    }
}

impl Backend for IoUring {
    type Slots = ManySlots;

    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let buffers = task.buffers()?;
        let (ring, flags) = Ring::new(task.depth, task.job.ring)?;
        let files = FileTable::prepare(task)?;
        let mut backend = Self {
            ring,
            numbers: (0..task.files())
                .map(|file| match files.is_open(file) {
                    true => files.fd(file).as_raw_fd(),
                    false => CLOSED,
                })
                .collect(),
            registered_files: false,
            entry_flags: if task.job.ring.force_async {
                abi::ASYNC
            } else {
                0
            },
            opcodes: [abi::READ, abi::WRITE, abi::FALLOCATE],
            call_flags: psync::call_flags(task.job.call_flags).bits(),
            files,
            buffers: ManuallyDrop::new(buffers),
            in_flight: 0,
            depth: task.depth,
        };
        backend.register(task, &flags)?;
        Ok(backend)
    }

    #[inline(always)]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline(always)]
    fn queue(&mut self, slot: u32, request: Request) {
        let entry = self.entry(slot, &request);
        self.in_flight += 1;
        // SAFETY: the entry's buffer is a slot of `self.buffers`, which lives until
        // the operation was reaped and which nobody else uses until then.
        unsafe { self.ring.push(entry) };
    }

    #[inline(always)]
    fn commit(&mut self, wait_for: u32) -> Result<(), Errno> {
        entered(self.ring.submit_and_wait(wait_for))
    }

    fn commit_for(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        entered(self.ring.submit_and_wait_for(timeout_ns))
    }

    fn submit(&mut self) -> Result<(), Errno> {
        entered(self.ring.submit())
    }

    #[inline(always)]
    fn is_immediate(&self) -> bool {
        self.depth == 1
    }

    #[inline(always)]
    fn perform(&mut self, request: &Request) -> Result<i32, Errno> {
        let entry = self.entry(0, request);
        self.in_flight += 1;
        // SAFETY: as in `queue`.
        unsafe { self.ring.push(entry) };
        loop {
            self.commit(1)?;
            // There is none when a signal came.
            if let Some((_, result)) = self.reap() {
                return Ok(result);
            }
        }
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        let (slot, result) = self.ring.next_completion()?;
        self.in_flight -= 1;
        Some((slot as u32, result))
    }

    fn transfer(&mut self, slot: u32, request: Request, done: usize) -> i32 {
        psync::transfer(&self.files, &mut self.buffers, slot, &request, done)
    }

    fn files(&mut self) -> Option<&mut FileTable> {
        Some(&mut self.files)
    }

    fn open(&mut self, task: &Task<'_>, file: u32) -> Result<(), Fault> {
        self.files.open(task, file)?;
        let descriptor = self.files.fd(file).as_raw_fd();
        self.replace(file, descriptor)
            .map_err(|errno| Fault::new(Operation::Open, errno).in_file(file))
    }

    fn close(&mut self, file: u32) {
        // A place that keeps its file holds it open until another one takes it.
        let _emptied = self.replace(file, CLOSED);
        self.files.close(file);
    }
}

/// What became of entering the kernel.
#[inline(always)]
fn entered(result: Result<(), Errno>) -> Result<(), Errno> {
    match result {
        // A signal, too little memory just now, or the end of a wait: the next
        // round goes on.
        Err(Errno::INTR | Errno::AGAIN | Errno::BUSY | Errno::TIME) => Ok(()),
        result => result,
    }
}

impl Drop for IoUring {
    fn drop(&mut self) {
        while self.in_flight > 0 {
            let wait_for = self.in_flight;
            if self.commit(wait_for).is_err() {
                return;
            }
            while self.reap().is_some() {}
        }
        // SAFETY: nothing is in flight, so the kernel is done with the buffers;
        // this is the only place that drops them, and it runs once.
        unsafe { ManuallyDrop::drop(&mut self.buffers) };
    }
}
