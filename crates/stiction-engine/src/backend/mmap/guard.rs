//! Keeps the process alive when a mapped page cannot be had.
//!
//! The kernel then raises `SIGBUS`, whose default is to end the process: the file
//! was cut shorter, the filesystem is full, or the device failed. While a worker
//! has a mapping, a handler puts a blank page of ours in the place and notes that
//! it did; the load or store goes on, and the worker finds the note. A `SIGBUS`
//! from anywhere else goes where it went before.
//!
//! The handler stays in place from the first job with `mmap` on.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::sync::OnceLock;
use std::sync::atomic::{Ordering, compiler_fence};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

use crate::memory::page_bytes;

thread_local! {
    /// First address and length of the mapping that this thread uses. Plain numbers made at
    /// compile time: a signal handler may read them.
    static RANGE: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    static HIT: Cell<bool> = const { Cell::new(false) };
}

static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Guards the mappings of the calling thread, one at a time.
pub(super) struct Guard {
    /// What it guards is known to its thread alone.
    not_send: PhantomData<*const ()>,
}

impl Guard {
    /// A guard of nothing yet; a thread has one at a time.
    pub(super) fn new() -> Self {
        BEFORE.get_or_init(install);
        HIT.set(false);
        Self {
            not_send: PhantomData,
        }
    }

    /// Guards `length` bytes from `start` on, and nothing else.
    #[inline(always)]
    pub(super) fn watch(&self, start: usize, length: usize) {
        // The compiler must not move loads and stores in the mapping before it.
        RANGE.set((start, length));
        compiler_fence(Ordering::SeqCst);
    }

    /// Whether a page could not be had since the guard was made.
    #[inline(always)]
    pub(super) fn was_hit(&self) -> bool {
        HIT.get()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        RANGE.set((0, 0));
    }
}

/// Installs the handler; returns what was there before.
fn install() -> libc::sigaction {
    // SAFETY: all zeros is a valid sigaction: default action, empty mask.
    let (mut ours, mut before): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    ours.sa_sigaction = handle as *const () as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    // SAFETY: both point to sigactions of ours; `handle` has the signature that
    // SA_SIGINFO asks for and does only what a handler may do.
    let result = unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, &raw mut before) };
    debug_assert_eq!(result, 0, "SIGBUS can be handled");
    before
}

/// Called by the kernel in the thread that touched the page.
extern "C" fn handle(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo, and SIGBUS has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    let (start, length) = RANGE.get();
    if address.wrapping_sub(start) < length && put_blank_page(address) {
        HIT.set(true);
        return;
    }
    pass_on(signal, info, context);
}

fn put_blank_page(address: usize) -> bool {
    let page = address - address % page_bytes();
    // SAFETY: the page lies in this thread's own mapping, which stays mapped while
    // it is guarded; what it held cannot be had anyway. The call allocates nothing
    // and leaves errno alone.
    let mapped = unsafe {
        mmap_anonymous(
            page as *mut c_void,
            page_bytes(),
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::FIXED,
        )
    };
    mapped.is_ok()
}

/// Does with the signal what was done before there was a guard.
fn pass_on(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let before = BEFORE.get();
    match before.map(|before| (before.sa_sigaction, before.sa_flags & libc::SA_SIGINFO)) {
        None | Some((libc::SIG_DFL | libc::SIG_IGN, _)) => {
            // SAFETY: with the default in force, the access that is repeated on
            // return ends the process, as it would have without us. An ignored
            // SIGBUS from a fault ends it as well.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Some((handler, 0)) => {
            // SAFETY: without SA_SIGINFO the installed value is a handler of this type.
            let handler: extern "C" fn(c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
        Some((handler, _)) => {
            // SAFETY: with SA_SIGINFO the installed value is a handler of this type.
            let handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        }
    }
}
