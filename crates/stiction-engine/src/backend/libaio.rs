//! The kernel's older asynchronous I/O, by its system calls.
//!
//! What is not direct I/O is done whole inside `io_submit`: the queue is one in name
//! only, which is said in the notes.
#![allow(unsafe_code)]

use std::os::fd::AsRawFd as _;
use std::ptr;

use rustix::io::Errno;
use stiction_core::BackendKind;

use super::Backend;
use super::psync;
use crate::failure::last_errno;
use crate::files::FileTable;
use crate::memory::Buffers;
use crate::request::{Request, Way};
use crate::slots::ManySlots;
use crate::task::Task;
use crate::{EngineError, Unavailable};

/// `IOCB_CMD_PREAD` and `IOCB_CMD_PWRITE` of linux/aio_abi.h.
const PREAD: u16 = 0;
const PWRITE: u16 = 1;

/// `struct iocb` of linux/aio_abi.h.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct ControlBlock {
    data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    rw_flags: u32,
    #[cfg(target_endian = "big")]
    key: u32,
    opcode: u16,
    priority: i16,
    fd: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_fd: u32,
}

/// `struct io_event`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Event {
    data: u64,
    object: u64,
    result: i64,
    result2: i64,
}

pub(crate) struct Libaio {
    /// Destroyed before the buffers are freed, which waits for all in flight.
    context: Context,
    files: FileTable,
    buffers: Buffers,
    call_flags: u32,
    /// By slot.
    blocks: Box<[ControlBlock]>,
    /// Of what was queued and not handed over; the first `queued_count` of them.
    queued: Box<[*mut ControlBlock]>,
    queued_count: usize,
    events: Box<[Event]>,
    /// Operations that the kernel has taken and not given back.
    in_flight: usize,
    /// Events that the last wait found, and how many of them were reaped.
    found: usize,
    reaped: usize,
}

/// Whether a context can be had.
pub(super) fn probe() -> Result<(), Unavailable> {
    Context::new(1).map(|_| ())
}

/// A kernel's `aio_context_t`.
struct Context(libc::c_ulong);

impl Context {
    fn new(depth: u32) -> Result<Self, Unavailable> {
        let mut context: libc::c_ulong = 0;
        // SAFETY: the call writes one number to a place of ours.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_setup,
                libc::c_long::from(depth),
                &raw mut context,
            )
        };
        match checked(result) {
            Ok(_) => Ok(Self(context)),
            Err(errno) => {
                let advice = match errno {
                    Errno::NOSYS => "the kernel has none",
                    Errno::AGAIN => "raise the limit of the sysctl fs.aio-max-nr",
                    _ => "the kernel refuses to set it up",
                };
                Err(Unavailable {
                    backend: BackendKind::Libaio,
                    reason: format!("{errno}; {advice}"),
                })
            }
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is this value's own. The call returns when nothing is in
        // flight any more, so the kernel is done with all buffers.
        let result = unsafe { libc::syscall(libc::SYS_io_destroy, self.0) };
        debug_assert_eq!(result, 0, "destroying a context of ours");
    }
}

fn checked(result: libc::c_long) -> Result<usize, Errno> {
    usize::try_from(result).map_err(|_| last_errno())
}

impl Libaio {
    /// Hands over what is queued. An operation that the kernel does not take is
    /// complete at once, with its error.
    fn hand_over(&mut self) -> Result<(), Errno> {
        let mut from = 0;
        while from < self.queued_count {
            let count = self.queued_count - from;
            // SAFETY: the pointers are to control blocks of `self.blocks`, whose buffers
            // live until the context is destroyed; the kernel copies the blocks.
            let result = unsafe {
                libc::syscall(
                    libc::SYS_io_submit,
                    self.context.0,
                    count as libc::c_long,
                    self.queued.as_ptr().add(from),
                )
            };
            match checked(result) {
                Ok(taken) => {
                    from += taken;
                    self.in_flight += taken;
                }
                Err(Errno::INTR) => {}
                // No room just now: it is there when something has completed.
                Err(Errno::AGAIN) if self.in_flight > 0 => break,
                Err(errno @ (Errno::AGAIN | Errno::BADF | Errno::FAULT)) => return Err(errno),
                Err(errno) => {
                    // SAFETY: as above, the pointer is to one of our own blocks.
                    let slot = unsafe { (*self.queued[from]).data };
                    self.refuse(slot, errno);
                    from += 1;
                }
            }
        }
        self.queued.copy_within(from..self.queued_count, 0);
        self.queued_count -= from;
        Ok(())
    }

    fn refuse(&mut self, slot: u64, errno: Errno) {
        self.events[self.found] = Event {
            data: slot,
            result: -i64::from(errno.raw_os_error()),
            ..Event::default()
        };
        self.found += 1;
    }

    /// Waits for `wait_for` events more than were refused.
    fn wait(&mut self, wait_for: usize, timeout: Option<libc::timespec>) -> Result<(), Errno> {
        let room = self.events.len() - self.found;
        let least = wait_for.saturating_sub(self.found).min(self.in_flight);
        let timeout = timeout
            .as_ref()
            .map_or(ptr::null(), |timeout| &raw const *timeout);
        // SAFETY: the kernel writes at most `room` events behind those found, all in
        // `self.events`, and reads a timeout that outlives the call, if there is one.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_getevents,
                self.context.0,
                least as libc::c_long,
                room as libc::c_long,
                self.events.as_mut_ptr().add(self.found),
                timeout,
            )
        };
        match checked(result) {
            Ok(found) => {
                self.found += found;
                self.in_flight -= found;
                Ok(())
            }
            Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno),
        }
    }

    /// Makes room for new events. Those of a submission that were not reaped stay.
    fn begin_round(&mut self) {
        if self.reaped == self.found {
            (self.found, self.reaped) = (0, 0);
        }
    }
}

impl Backend for Libaio {
    type Slots = ManySlots;

    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let context = Context::new(task.depth)?;
        let buffers = task.buffers()?;
        let mut files = FileTable::prepare(task)?;
        if files.remarks.direct_granted != Some(true) {
            let note = "libaio: without O_DIRECT each operation is done inside io_submit";
            files.remarks.notes.push(note.to_owned());
        }
        let depth = task.depth as usize;
        Ok(Self {
            context,
            files,
            buffers,
            call_flags: psync::call_flags(task.job.call_flags).bits(),
            blocks: vec![ControlBlock::default(); depth].into(),
            queued: vec![ptr::null_mut(); depth].into(),
            queued_count: 0,
            events: vec![Event::default(); depth].into(),
            in_flight: 0,
            found: 0,
            reaped: 0,
        })
    }

    #[inline(always)]
    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    #[inline(always)]
    fn queue(&mut self, slot: u32, request: Request) {
        let opcode = match request.way {
            Way::Read => PREAD,
            // Trims are refused.
            Way::Write | Way::Trim => PWRITE,
        };
        let number = self.buffers.number_of(slot, request.way);
        self.blocks[slot as usize] = ControlBlock {
            data: slot.into(),
            rw_flags: self.call_flags,
            opcode,
            fd: self.files.fd(request.file).as_raw_fd() as u32,
            buffer: self.buffers.pointer(number) as u64,
            bytes: request.length_bytes.into(),
            offset: request.offset_bytes as i64,
            ..ControlBlock::default()
        };
        self.queued[self.queued_count] = &raw mut self.blocks[slot as usize];
        self.queued_count += 1;
    }

    #[inline(always)]
    fn commit(&mut self, wait_for: u32) -> Result<(), Errno> {
        self.begin_round();
        self.hand_over()?;
        self.wait(wait_for as usize, None)
    }

    fn commit_for(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        self.begin_round();
        self.hand_over()?;
        let timeout = libc::timespec {
            tv_sec: (timeout_ns / 1_000_000_000) as _,
            tv_nsec: (timeout_ns % 1_000_000_000) as _,
        };
        self.wait(1, Some(timeout))
    }

    /// What is refused here is found by the commit that follows.
    fn submit(&mut self) -> Result<(), Errno> {
        self.begin_round();
        self.hand_over()
    }

    #[inline(always)]
    fn reap(&mut self) -> Option<(u32, i32)> {
        if self.reaped == self.found {
            return None;
        }
        let event = self.events[self.reaped];
        self.reaped += 1;
        Some((event.data as u32, event.result as i32))
    }

    fn transfer(&mut self, slot: u32, request: Request, done: usize) -> i32 {
        psync::transfer(&self.files, &mut self.buffers, slot, &request, done)
    }

    fn files(&mut self) -> Option<&mut FileTable> {
        Some(&mut self.files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that linux/aio_abi.h gives: the kernel reads and writes these.
    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(size_of::<ControlBlock>(), 64);
        assert_eq!(std::mem::offset_of!(ControlBlock, opcode), 16);
        assert_eq!(std::mem::offset_of!(ControlBlock, buffer), 24);
        assert_eq!(std::mem::offset_of!(ControlBlock, offset), 40);
        assert_eq!(size_of::<Event>(), 32);
    }
}
