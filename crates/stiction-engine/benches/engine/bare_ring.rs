//! A ring by raw system calls: everything registered, entries written once and only
//! changed where they differ.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::Error;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::bare::{Aligned, Blocks};
use crate::rows::Load;

/// `IORING_SETUP_CQSIZE | SINGLE_ISSUER | DEFER_TASKRUN | NO_SQARRAY`.
const SETUP: u32 = 1 << 3 | 1 << 12 | 1 << 13 | 1 << 16;
const REGISTER_BUFFERS: u32 = 0;
const REGISTER_FILES: u32 = 2;
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;
/// `IORING_ENTER_GETEVENTS | IORING_ENTER_REGISTERED_RING`.
const ENTER: u32 = 1 << 0 | 1 << 4;
const OFFSET_OF_ENTRIES: u64 = 0x1000_0000;
const READ_FIXED: u8 = 4;
const WRITE_FIXED: u8 = 5;
const FIXED_FILE: u8 = 1 << 0;

/// `struct io_uring_params`.
#[repr(C)]
#[derive(Default)]
struct Parameters {
    sq_entries: u32,
    cq_entries: u32,
    flags: u32,
    unused: [u32; 7],
    /// head, tail, ring_mask, ring_entries, flags, dropped, array, ...
    sq: [u32; 10],
    /// head, tail, ring_mask, ring_entries, overflow, cqes, flags, ...
    cq: [u32; 10],
}

/// The part of `struct io_uring_sqe` that reads and writes of a block use.
#[repr(C)]
#[derive(Clone, Copy)]
struct Entry {
    opcode: u8,
    flags: u8,
    priority: u16,
    file: i32,
    offset: u64,
    address: u64,
    length: u32,
    call_flags: u32,
    user_data: u64,
    buffer: u16,
    rest: [u16; 11],
}

#[repr(C)]
struct Completion {
    user_data: u64,
    result: i32,
    flags: u32,
}

struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

impl Mapping {
    fn new(fd: &OwnedFd, length: usize, offset: u64) -> Result<Self, Error> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let start = unsafe { mmap(std::ptr::null_mut(), length, protection, flags, fd, offset)? };
        let start =
            NonNull::new(start.cast()).ok_or_else(|| Error::from_raw_os_error(libc::EIO))?;
        Ok(Self { start, length })
    }

    fn at<T>(&self, offset: u32) -> *mut T {
        assert!((offset as usize) < self.length);
        self.start.as_ptr().wrapping_add(offset as usize).cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and what points into it goes with it.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

pub(crate) struct BareRing<'a> {
    // The mappings are what the pointers below point into.
    queues: Mapping,
    entries: Mapping,
    ring: OwnedFd,
    registered: u32,
    buffers: &'a mut [u8],
    block_bytes: usize,
    /// Completions that a round waits for.
    batch: u32,
    /// The first `free_count` are the free slots.
    free: Vec<u32>,
    free_count: usize,
    offsets: [u32; 4],
    masks: [u32; 2],
}

impl<'a> BareRing<'a> {
    pub(crate) fn new(load: &Load, file: &File, buffers: &'a mut Aligned) -> Result<Self, Error> {
        let count = load.depth.next_power_of_two();
        let mut parameters = Parameters {
            cq_entries: 2 * count,
            flags: SETUP,
            ..Parameters::default()
        };
        // SAFETY: the kernel reads and fills a structure of ours.
        let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, count, &raw mut parameters) };
        let fd = i32::try_from(checked(fd)?).expect("descriptors are small");
        // SAFETY: the descriptor is new and nobody else's.
        let ring = unsafe { OwnedFd::from_raw_fd(fd) };
        let Parameters { sq, cq, .. } = parameters;
        let queues_bytes =
            cq[5] as usize + parameters.cq_entries as usize * size_of::<Completion>();
        let queues = Mapping::new(&ring, queues_bytes, 0)?;
        let entries_bytes = count as usize * size_of::<Entry>();
        let entries = Mapping::new(&ring, entries_bytes, OFFSET_OF_ENTRIES)?;
        let block_bytes = load.block_bytes as usize;
        let buffers = buffers.pages_mut();
        register(&ring, REGISTER_FILES, &mut [file.as_raw_fd()])?;
        let mut blocks: Vec<libc::iovec> = buffers
            .chunks_mut(block_bytes)
            .map(|block| libc::iovec {
                iov_base: block.as_mut_ptr().cast(),
                iov_len: block_bytes,
            })
            .collect();
        register(&ring, REGISTER_BUFFERS, &mut blocks)?;
        let mut update = [u64::from(u32::MAX), fd as u64];
        register(&ring, REGISTER_RING_FDS, std::slice::from_mut(&mut update))?;
        for index in 0..count {
            let entry = entries.at::<Entry>(index * size_of::<Entry>() as u32);
            // SAFETY: the mapping has `count` entries, and the kernel looks at none of
            // them before it is told to.
            unsafe {
                entry.write(Entry {
                    opcode: if load.write { WRITE_FIXED } else { READ_FIXED },
                    flags: FIXED_FILE,
                    priority: 0,
                    file: 0,
                    offset: 0,
                    address: 0,
                    length: load.block_bytes,
                    call_flags: 0,
                    user_data: 0,
                    buffer: 0,
                    rest: [0; 11],
                });
            }
        }
        // SAFETY: the two masks were written by the kernel and do not change.
        let masks = unsafe {
            [
                queues.at::<u32>(sq[2]).read(),
                queues.at::<u32>(cq[2]).read(),
            ]
        };
        Ok(Self {
            queues,
            entries,
            ring,
            registered: update[0] as u32,
            buffers,
            block_bytes,
            batch: (load.depth / 4).max(1),
            free: (0..load.depth).rev().collect(),
            free_count: load.depth as usize,
            offsets: [sq[1], cq[0], cq[1], cq[5]],
            masks,
        })
    }

    /// Submits as much as there is room for, waits for a batch and takes in what is
    /// complete; how many operations that were.
    #[inline(always)]
    pub(crate) fn round(&mut self, blocks: &mut Blocks) -> Result<u64, Error> {
        let [sq_tail, cq_head, cq_tail, completions] = self.offsets;
        let [sq_mask, cq_mask] = self.masks;
        let word = |offset| {
            // SAFETY: the kernel's indices are aligned words in the mapping, which both
            // sides use as atomics.
            unsafe { &*self.queues.at::<AtomicU32>(offset) }
        };
        let queued = self.free_count as u32;
        let mut tail = word(sq_tail).load(Ordering::Relaxed);
        for &slot in self.free[..self.free_count].iter().rev() {
            let start = slot as usize * self.block_bytes;
            let address = self.buffers[start..].as_ptr() as u64;
            let entry = self
                .entries
                .at::<Entry>((tail & sq_mask) * size_of::<Entry>() as u32);
            // SAFETY: the mask keeps the entry in the mapping, and it is ours until the
            // tail has passed it. The buffer lives as long as the ring.
            unsafe {
                (*entry).offset = blocks.next_offset();
                (*entry).address = address;
                (*entry).user_data = slot.into();
                (*entry).buffer = slot as u16;
            }
            tail = tail.wrapping_add(1);
        }
        self.free_count = 0;
        word(sq_tail).store(tail, Ordering::Release);
        self.enter(queued, self.batch)?;
        let mut head = word(cq_head).load(Ordering::Relaxed);
        let end = word(cq_tail).load(Ordering::Acquire);
        let count = end.wrapping_sub(head);
        while head != end {
            let place = completions + (head & cq_mask) * size_of::<Completion>() as u32;
            // SAFETY: the mask keeps it in the mapping, and the kernel has written it
            // before it moved its tail.
            let completion = unsafe { &*self.queues.at::<Completion>(place) };
            if completion.result as usize != self.block_bytes {
                return Err(Error::from_raw_os_error(completion.result.min(0).abs()));
            }
            self.free[self.free_count] = completion.user_data as u32;
            self.free_count += 1;
            head = head.wrapping_add(1);
        }
        word(cq_head).store(head, Ordering::Release);
        Ok(count.into())
    }

    #[inline(always)]
    fn enter(&self, queued: u32, wait_for: u32) -> Result<(), Error> {
        // SAFETY: the call has no pointers; what the entries point to lives on until
        // `drop` has waited for all of them.
        let entered = unsafe {
            let (call, ring) = (libc::SYS_io_uring_enter, self.registered);
            libc::syscall(call, ring, queued, wait_for, ENTER, 0, 0)
        };
        checked(entered).map(|_| ())
    }
}

impl Drop for BareRing<'_> {
    fn drop(&mut self) {
        let in_flight = self.free.len() - self.free_count;
        let waited = self.enter(0, in_flight as u32);
        waited.expect("operations in flight end");
        // Otherwise the thread would hold the ring, and the ring its file, to its end.
        let mut update = [self.registered.into(), 0u64];
        let updates = std::slice::from_mut(&mut update);
        let gone = register(&self.ring, UNREGISTER_RING_FDS, updates);
        gone.expect("a registered ring");
    }
}

/// Gives the calling thread a table of open files of its own.
pub(crate) fn own_file_table() -> Result<(), String> {
    // SAFETY: the thread goes on with a copy of the table, and closes what it opens.
    let result = unsafe { libc::unshare(libc::CLONE_FILES) };
    match result {
        0 => Ok(()),
        _ => Err(format!("unshare: {}", Error::last_os_error())),
    }
}

fn register<T>(ring: &OwnedFd, what: u32, arguments: &mut [T]) -> Result<(), Error> {
    // SAFETY: the kernel reads, and for ring descriptors writes, as many arguments as
    // there are; the buffers among them outlive the ring.
    let result = unsafe {
        libc::syscall(
            libc::SYS_io_uring_register,
            ring.as_raw_fd(),
            what,
            arguments.as_mut_ptr(),
            arguments.len(),
        )
    };
    checked(result).map(|_| ())
}

fn checked(result: libc::c_long) -> Result<libc::c_long, Error> {
    if result < 0 {
        return Err(Error::last_os_error());
    }
    Ok(result)
}
