//! perf_event_open(2), its ioctls and its rings (`linux/perf_event.h`).

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

const TYPE_SOFTWARE: u32 = 1;
const TYPE_TRACEPOINT: u32 = 2;
const COUNT_SW_CPU_CLOCK: u64 = 0;

const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_CALLCHAIN: u64 = 1 << 5;
const SAMPLE_RAW: u64 = 1 << 10;

const DISABLED: u64 = 1;
const EXCLUDE_IDLE: u64 = 1 << 7;
const COMM: u64 = 1 << 9;
const FREQ: u64 = 1 << 10;
const TASK: u64 = 1 << 13;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const EXCLUDE_CALLCHAIN_USER: u64 = 1 << 22;
const USE_CLOCKID: u64 = 1 << 25;

const FLAG_FD_CLOEXEC: libc::c_ulong = 8;

/// `_IO('$', 0)` and its neighbours.
const IOC_ENABLE: libc::Ioctl = 0x2400 as libc::Ioctl;
const IOC_DISABLE: libc::Ioctl = 0x2401 as libc::Ioctl;
const IOC_SET_OUTPUT: libc::Ioctl = 0x2405 as libc::Ioctl;
/// `_IOW('$', 6, char *)`.
#[cfg(target_pointer_width = "64")]
const IOC_SET_FILTER: libc::Ioctl = 0x4008_2406 as libc::Ioctl;
#[cfg(target_pointer_width = "32")]
const IOC_SET_FILTER: libc::Ioctl = 0x4004_2406 as libc::Ioctl;

/// Where `data_head`, `data_tail` and `data_offset` are in the ring's first page.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;
const OFFSET_AT: usize = 1040;

/// `struct perf_event_attr` of version 5, which every kernel since 4.1 takes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period_or_hz: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    user_registers: u64,
    user_stack: u32,
    clock: i32,
    interrupt_registers: u64,
    aux_watermark: u32,
    max_stack: u16,
    reserved: u16,
}

/// What is to be recorded on one CPU, of all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Each pass of a tracepoint: who, when and its fields.
    Tracepoint {
        /// Its number in tracefs.
        id: u64,
        /// Whether forks, exits and new names of processes are recorded too.
        with_tasks: bool,
    },
    /// Who runs, and the calls in the kernel that he is in, so many times a second.
    Profile {
        /// Times a second.
        hz: u32,
    },
}

/// Opens an event on one CPU. It records nothing until it is enabled.
pub(crate) fn open(event: Event, cpu: u32) -> io::Result<OwnedFd> {
    let (kind, config, period_or_hz, sample_type, flags) = match event {
        Event::Tracepoint { id, with_tasks } => {
            let tasks = if with_tasks {
                TASK | COMM | SAMPLE_ID_ALL
            } else {
                0
            };
            (TYPE_TRACEPOINT, id, 1, SAMPLE_RAW, tasks)
        }
        Event::Profile { hz } => (
            TYPE_SOFTWARE,
            COUNT_SW_CPU_CLOCK,
            u64::from(hz),
            SAMPLE_CALLCHAIN,
            FREQ | EXCLUDE_IDLE | EXCLUDE_CALLCHAIN_USER,
        ),
    };
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        period_or_hz,
        sample_type: sample_type | SAMPLE_TID | SAMPLE_TIME,
        flags: flags | DISABLED | USE_CLOCKID,
        clock: libc::CLOCK_MONOTONIC,
        ..Attributes::default()
    };
    // SAFETY: the pointer is to live attributes of the size that they state.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            -1 as libc::pid_t,
            cpu as libc::c_int,
            -1 as libc::c_int,
            FLAG_FD_CLOEXEC,
        )
    };
    let descriptor = super::checked(returned)?;
    // SAFETY: the kernel has just opened it for us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as i32) })
}

/// Begins to record.
pub(crate) fn enable(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the request takes no pointer.
    let returned = unsafe { libc::ioctl(event.as_raw_fd(), IOC_ENABLE, 0) };
    super::checked(returned).map(drop)
}

/// Ends recording.
pub(crate) fn disable(event: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the request takes no pointer.
    let returned = unsafe { libc::ioctl(event.as_raw_fd(), IOC_DISABLE, 0) };
    super::checked(returned).map(drop)
}

/// Lets an event write into the ring of another one on the same CPU.
pub(crate) fn write_into_ring_of(event: BorrowedFd<'_>, other: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the request takes a descriptor by value.
    let returned = unsafe { libc::ioctl(event.as_raw_fd(), IOC_SET_OUTPUT, other.as_raw_fd()) };
    super::checked(returned).map(drop)
}

/// Records only what passes `filter`, in the language of tracefs (`dev == 5`).
pub(crate) fn set_filter(event: BorrowedFd<'_>, filter: &CStr) -> io::Result<()> {
    // SAFETY: the pointer is to text that ends in a zero, which the kernel copies.
    let returned = unsafe { libc::ioctl(event.as_raw_fd(), IOC_SET_FILTER, filter.as_ptr()) };
    super::checked(returned).map(drop)
}

/// The memory that the kernel writes the records of an event into, and of those that
/// share it.
#[derive(Debug)]
pub(crate) struct Ring {
    base: NonNull<u8>,
    mapped_bytes: usize,
    data_at: usize,
    data_bytes: usize,
}

// SAFETY: the mapping belongs to the process and not to a thread; only the owner reads it
// and moves its tail.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps a ring of `data_bytes`, a power of two of at least a page.
    pub(crate) fn map(event: BorrowedFd<'_>, data_bytes: usize) -> io::Result<Self> {
        let mapped_bytes = data_bytes + rustix::param::page_size();
        // SAFETY: a new mapping at an address of the kernel's choice.
        let base = unsafe {
            libc::mmap(
                ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast::<u8>()).ok_or(io::ErrorKind::InvalidData)?;
        // SAFETY: the first page is a perf_event_mmap_page, with these three u64 in it
        // since Linux 4.1; earlier ones leave them 0.
        let offset = unsafe { base.as_ptr().add(OFFSET_AT).cast::<u64>().read() };
        let data_at = match usize::try_from(offset) {
            Ok(0) | Err(_) => rustix::param::page_size(),
            Ok(offset) => offset,
        };
        Ok(Self {
            base,
            mapped_bytes,
            data_at,
            data_bytes,
        })
    }

    /// Appends all records that are there to `bytes`, and frees their room.
    pub(crate) fn drain(&mut self, bytes: &mut Vec<u8>) {
        let head = self.counter(HEAD_AT).load(Ordering::Acquire);
        let tail = self.counter(TAIL_AT).load(Ordering::Relaxed);
        let length = usize::try_from(head.wrapping_sub(tail)).unwrap_or(0);
        let from = (tail % self.data_bytes as u64) as usize;
        let first = length.min(self.data_bytes - from);
        for (at, length) in [(from, first), (0, length - first)] {
            // SAFETY: the kernel holds back what a ring has no room for, so that no more than
            // `data_bytes` lie between tail and head: both parts are within the data of the
            // mapping. It does not write there until the tail is moved.
            bytes.extend_from_slice(unsafe {
                std::slice::from_raw_parts(self.base.as_ptr().add(self.data_at + at), length)
            });
        }
        self.counter(TAIL_AT).store(head, Ordering::Release);
    }

    fn counter(&self, at: usize) -> &AtomicU64 {
        // SAFETY: an aligned u64 of the mapping's first page, which lives as long as we.
        unsafe { AtomicU64::from_ptr(self.base.as_ptr().add(at).cast()) }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our own mapping, to which nothing refers any more.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.mapped_bytes) };
    }
}
