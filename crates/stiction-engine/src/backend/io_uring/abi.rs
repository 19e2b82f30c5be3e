//! The kernel's interface to rings, as linux/io_uring.h lays it down: what is used here of
//! its structures and numbers, and its three system calls.
#![allow(unsafe_code)]

use std::ffi::c_long;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};

use rustix::io::Errno;

use crate::failure::errno_of;

pub(super) const SETUP_IOPOLL: u32 = 1 << 0;
pub(super) const SETUP_SQPOLL: u32 = 1 << 1;
pub(super) const SETUP_COOP_TASKRUN: u32 = 1 << 8;
pub(super) const SETUP_SINGLE_ISSUER: u32 = 1 << 12;
pub(super) const SETUP_DEFER_TASKRUN: u32 = 1 << 13;
pub(super) const SETUP_NO_SQARRAY: u32 = 1 << 16;

pub(super) const FEATURE_SINGLE_MMAP: u32 = 1 << 0;

/// Where the entries begin in what can be mapped; the queues are at 0.
pub(super) const OFFSET_OF_ENTRIES: u64 = 0x1000_0000;

/// Set in the flags of the submission queue while the kernel's thread sleeps.
pub(super) const NEED_WAKEUP: u32 = 1 << 0;

pub(super) const ENTER_GETEVENTS: u32 = 1 << 0;
pub(super) const ENTER_SQ_WAKEUP: u32 = 1 << 1;
pub(super) const ENTER_EXT_ARG: u32 = 1 << 3;
pub(super) const ENTER_REGISTERED_RING: u32 = 1 << 4;

pub(super) const REGISTER_BUFFERS: u32 = 0;
pub(super) const REGISTER_FILES: u32 = 2;
pub(super) const REGISTER_FILES_UPDATE: u32 = 6;
pub(super) const REGISTER_IOWQ_AFFINITY: u32 = 17;
pub(super) const REGISTER_RING_FDS: u32 = 20;
pub(super) const UNREGISTER_RING_FDS: u32 = 21;

pub(super) const READ_FIXED: u8 = 4;
pub(super) const WRITE_FIXED: u8 = 5;
pub(super) const FALLOCATE: u8 = 17;
pub(super) const READ: u8 = 22;
pub(super) const WRITE: u8 = 23;

pub(super) const FIXED_FILE: u8 = 1 << 0;
pub(super) const ASYNC: u8 = 1 << 4;

/// `struct io_uring_params`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parameters {
    pub(super) submission_entries: u32,
    pub(super) completion_entries: u32,
    pub(super) flags: u32,
    pub(super) thread_cpu: u32,
    pub(super) thread_idle_ms: u32,
    pub(super) features: u32,
    pub(super) workers_of: u32,
    pub(super) reserved: [u32; 3],
    pub(super) submissions: SubmissionOffsets,
    pub(super) completions: CompletionOffsets,
}

/// `struct io_sqring_offsets`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SubmissionOffsets {
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) mask: u32,
    pub(super) entries: u32,
    pub(super) flags: u32,
    pub(super) dropped: u32,
    pub(super) array: u32,
    reserved: u32,
    address: u64,
}

/// `struct io_cqring_offsets`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CompletionOffsets {
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) mask: u32,
    pub(super) entries: u32,
    pub(super) overflow: u32,
    pub(super) completions: u32,
    pub(super) flags: u32,
    reserved: u32,
    address: u64,
}

/// The part of `struct io_uring_sqe` that operations on files use.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) opcode: u8,
    pub(super) flags: u8,
    pub(super) priority: u16,
    pub(super) file: i32,
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) length: u32,
    pub(super) call_flags: u32,
    pub(super) user_data: u64,
    pub(super) buffer: u16,
    pub(super) personality: u16,
    pub(super) splice_file: i32,
}

/// The place of an entry: the whole of `struct io_uring_sqe`.
#[repr(C)]
pub(super) struct Place {
    pub(super) entry: Entry,
    rest: [u64; 2],
}

/// `struct io_uring_cqe`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct Completion {
    pub(super) user_data: u64,
    pub(super) result: i32,
    flags: u32,
}

/// `struct io_uring_rsrc_update`, and `struct io_uring_files_update`, which is alike.
#[repr(C)]
pub(super) struct Update {
    pub(super) offset: u32,
    pub(super) reserved: u32,
    pub(super) data: u64,
}

/// `struct io_uring_getevents_arg`.
#[repr(C)]
pub(super) struct WaitArguments {
    pub(super) signals: u64,
    pub(super) signals_bytes: u32,
    pub(super) reserved: u32,
    /// Address of a [`Timespec`].
    pub(super) timeout: u64,
}

/// `struct __kernel_timespec`.
#[repr(C)]
pub(super) struct Timespec {
    pub(super) seconds: i64,
    pub(super) nanoseconds: i64,
}

/// Makes a ring of at least `entries` entries, and fills `parameters` with where things are.
///
/// # Errors
/// As the system call.
pub(super) fn setup(entries: u32, parameters: &mut Parameters) -> Result<OwnedFd, Errno> {
    let parameters: *mut Parameters = parameters;
    // SAFETY: the kernel reads and fills a structure of ours.
    let result = unsafe { libc::syscall(libc::SYS_io_uring_setup, entries, parameters) };
    let fd = checked(result)?;
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as i32) })
}

/// Registers `count` of something with a ring, or takes them back.
///
/// # Errors
/// As the system call.
///
/// # Safety
/// `arguments` are what the kernel reads, and writes, for `operation`; memory that is
/// registered stays valid while the ring uses it.
pub(super) unsafe fn register<T>(
    ring: &OwnedFd,
    operation: u32,
    arguments: *mut T,
    count: u32,
) -> Result<(), Errno> {
    let (call, ring) = (libc::SYS_io_uring_register, ring.as_raw_fd());
    // SAFETY: passed on to the caller.
    let result = unsafe { libc::syscall(call, ring, operation, arguments, count) };
    checked(result).map(|_| ())
}

/// Hands over `count` entries, and waits for `wait_for` completions if the flags say so.
///
/// # Errors
/// As the system call.
///
/// # Safety
/// `arguments` are the signals that the flags promise, so many bytes, or null and 0. What
/// the entries point to is valid until they are complete.
#[inline(always)]
pub(super) unsafe fn enter<T>(
    ring: i32,
    count: u32,
    wait_for: u32,
    flags: u32,
    arguments: *const T,
    bytes: usize,
) -> Result<(), Errno> {
    let call = libc::SYS_io_uring_enter;
    // SAFETY: passed on to the caller.
    let result = unsafe { libc::syscall(call, ring, count, wait_for, flags, arguments, bytes) };
    checked(result).map(|_| ())
}

#[inline(always)]
fn checked(result: c_long) -> Result<c_long, Errno> {
    if result < 0 {
        Err(failure())
    } else {
        Ok(result)
    }
}

#[cold]
fn failure() -> Errno {
    errno_of(&std::io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that linux/io_uring.h gives, in bytes.
    #[test]
    fn structures_are_as_large_as_the_kernels() {
        assert_eq!(size_of::<Parameters>(), 120);
        assert_eq!(size_of::<SubmissionOffsets>(), 40);
        assert_eq!(size_of::<CompletionOffsets>(), 40);
        assert_eq!(size_of::<Place>(), 64);
        assert_eq!(std::mem::offset_of!(Entry, user_data), 32);
        assert_eq!(std::mem::offset_of!(Entry, buffer), 40);
        assert_eq!(size_of::<Completion>(), 16);
        assert_eq!(size_of::<Update>(), 16);
        assert_eq!(size_of::<WaitArguments>(), 24);
    }
}
