//! A ring: two queues in memory that the kernel shares, and the call that makes it look.
//!
//! Entries are written where the kernel reads them, and completions are read where it
//! wrote them. The ring has room for all operations in flight in both queues.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd as _, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering, fence};

use rustix::io::Errno;
use stiction_core::{BackendKind, RingOptions};

use super::abi::{self, Completion, Entry, Parameters, Place};
use crate::Unavailable;
use crate::memory::Pages;

/// Names of flags, and the flags.
type Setup = (&'static str, u32);

/// Sets of flags to try, the best one first.
const SETUPS: &[Setup] = &[
    (
        "SINGLE_ISSUER, DEFER_TASKRUN, NO_SQARRAY",
        abi::SETUP_SINGLE_ISSUER | abi::SETUP_DEFER_TASKRUN | abi::SETUP_NO_SQARRAY,
    ),
    (
        "SINGLE_ISSUER, DEFER_TASKRUN",
        abi::SETUP_SINGLE_ISSUER | abi::SETUP_DEFER_TASKRUN,
    ),
    (
        "SINGLE_ISSUER, COOP_TASKRUN",
        abi::SETUP_SINGLE_ISSUER | abi::SETUP_COOP_TASKRUN,
    ),
    ("COOP_TASKRUN", abi::SETUP_COOP_TASKRUN),
    ("no flags", 0),
];

/// The same with a thread of the kernel that takes operations out of the queue and
/// sleeps after a second without any: the other flags are about the worker's own
/// system calls, of which there are none then.
const SUBMISSION_POLLING: &[Setup] = &[
    (
        "SQPOLL, SINGLE_ISSUER, NO_SQARRAY",
        abi::SETUP_SQPOLL | abi::SETUP_SINGLE_ISSUER | abi::SETUP_NO_SQARRAY,
    ),
    ("SQPOLL", abi::SETUP_SQPOLL),
];
const THREAD_IDLE_MS: u32 = 1000;

/// A ring; used by the thread that made it.
pub(super) struct Ring {
    /// The mappings are what the pointers below point into.
    _queues: Pages,
    _entries: Pages,
    descriptor: OwnedFd,
    /// Among the thread's registered rings.
    registered: Option<u32>,
    /// What the kernel knows the ring by, and the flags that say how.
    number: i32,
    enter_flags: u32,
    has_thread: bool,
    submissions: Submissions,
    completions: Completions,
}

/// The queue that this side writes.
struct Submissions {
    places: *mut Place,
    mask: u32,
    /// The kernel's.
    head: *const AtomicU32,
    tail: *const AtomicU32,
    flags: *const AtomicU32,
    /// Ours: entries before it are pushed, and those before the shared tail handed over.
    pushed: u32,
    /// The head when it was last looked at.
    head_seen: u32,
}

/// The queue that this side reads.
struct Completions {
    first: *const Completion,
    mask: u32,
    head: *const AtomicU32,
    /// The kernel's.
    tail: *const AtomicU32,
    /// Ours: completions before it were taken.
    taken: u32,
    /// The tail as the last wait left it.
    tail_seen: u32,
}

impl Ring {
    /// A ring of at least `entries` entries with the best flags that the kernel
    /// takes, and their names.
    pub(super) fn new(entries: u32, options: RingOptions) -> Result<(Self, String), Unavailable> {
        let mut refusal = Errno::INVAL;
        // The thread may complete an operation before it says that its entry is free.
        let (setups, entries) = if options.submission_polling {
            (SUBMISSION_POLLING, 2 * entries)
        } else {
            (SETUPS, entries)
        };
        for &(names, mut flags) in setups {
            let mut names = names.to_owned();
            if options.completion_polling {
                flags |= abi::SETUP_IOPOLL;
                names += ", IOPOLL";
            }
            match Self::with_flags(entries, flags) {
                Ok(ring) => return Ok((ring, names)),
                // A flag that this kernel does not know.
                Err(Errno::INVAL) => refusal = Errno::INVAL,
                Err(errno) => return Err(unavailable(errno)),
            }
        }
        Err(unavailable(refusal))
    }

    fn with_flags(entries: u32, flags: u32) -> Result<Self, Errno> {
        let mut parameters = Parameters {
            flags,
            thread_idle_ms: THREAD_IDLE_MS,
            ..Parameters::default()
        };
        let descriptor = abi::setup(entries, &mut parameters)?;
        // Since Linux 5.4.
        if parameters.features & abi::FEATURE_SINGLE_MMAP == 0 {
            return Err(Errno::NOSYS);
        }
        let Parameters {
            submission_entries,
            completion_entries,
            submissions: at,
            completions: from,
            ..
        } = parameters;
        let array_end = at.array as usize + submission_entries as usize * size_of::<u32>();
        let completions_bytes = completion_entries as usize * size_of::<Completion>();
        let queues_bytes = array_end.max(from.completions as usize + completions_bytes);
        let entries_bytes = submission_entries as usize * size_of::<Place>();
        let map = |length, offset| {
            Pages::shared_at(&descriptor, length, offset).map_err(|none| none.errno)
        };
        let queues = map(queues_bytes, 0)?;
        let places = map(entries_bytes, abi::OFFSET_OF_ENTRIES)?;
        let word = |offset: u32| -> *const AtomicU32 {
            queues.as_ptr().wrapping_add(offset as usize).cast()
        };
        if flags & abi::SETUP_NO_SQARRAY == 0 {
            // The places are used in their order.
            for index in 0..submission_entries {
                let element = word(at.array + index * size_of::<u32>() as u32);
                // SAFETY: the array has as many elements, inside the mapping.
                unsafe { (*element).store(index, Ordering::Relaxed) };
            }
        }
        // SAFETY: the kernel placed these words inside the mapping, and they are aligned.
        let value = |offset| unsafe { (*word(offset)).load(Ordering::Acquire) };
        Ok(Self {
            number: descriptor.as_raw_fd(),
            registered: None,
            enter_flags: 0,
            has_thread: flags & abi::SETUP_SQPOLL != 0,
            submissions: Submissions {
                places: places.as_ptr().cast(),
                mask: value(at.mask),
                head: word(at.head),
                tail: word(at.tail),
                flags: word(at.flags),
                pushed: value(at.tail),
                head_seen: value(at.head),
            },
            completions: Completions {
                first: word(from.completions).cast(),
                mask: value(from.mask),
                head: word(from.head),
                tail: word(from.tail),
                taken: value(from.head),
                tail_seen: value(from.head),
            },
            _queues: queues,
            _entries: places,
            descriptor,
        })
    }

    /// Registers descriptors as files 0, 1 and so on; -1 leaves a place empty.
    ///
    /// # Errors
    /// As the system call.
    pub(super) fn register_files(&self, descriptors: &[i32]) -> Result<(), Errno> {
        let (arguments, count) = (descriptors.as_ptr().cast_mut(), descriptors.len());
        // SAFETY: the kernel reads so many numbers.
        unsafe {
            abi::register(
                &self.descriptor,
                abi::REGISTER_FILES,
                arguments,
                count as u32,
            )
        }
    }

    /// Puts a descriptor in the place of a registered file, -1 for none.
    ///
    /// # Errors
    /// As the system call.
    pub(super) fn replace_file(&self, file: u32, descriptor: i32) -> Result<(), Errno> {
        let mut update = abi::Update {
            offset: file,
            reserved: 0,
            data: (&raw const descriptor) as u64,
        };
        let operation = abi::REGISTER_FILES_UPDATE;
        // SAFETY: the kernel reads the structure, and one number that it points to.
        unsafe { abi::register(&self.descriptor, operation, &raw mut update, 1) }
    }

    /// Registers memory as buffers 0, 1 and so on.
    ///
    /// # Errors
    /// As the system call.
    ///
    /// # Safety
    /// The memory stays valid while operations on these buffers are in flight.
    pub(super) unsafe fn register_buffers(&self, blocks: &[libc::iovec]) -> Result<(), Errno> {
        let (arguments, count) = (blocks.as_ptr().cast_mut(), blocks.len());
        // SAFETY: the kernel reads so many structures; the rest is passed on.
        unsafe {
            abi::register(
                &self.descriptor,
                abi::REGISTER_BUFFERS,
                arguments,
                count as u32,
            )
        }
    }

    /// Keeps the threads that the kernel starts for operations that would block on these
    /// CPUs.
    ///
    /// # Errors
    /// As the system call.
    pub(super) fn pin_helpers(&self, cpus: &libc::cpu_set_t) -> Result<(), Errno> {
        let operation = abi::REGISTER_IOWQ_AFFINITY;
        let (arguments, bytes) = ((&raw const *cpus).cast_mut(), size_of_val(cpus));
        // SAFETY: the kernel reads so many bytes.
        unsafe { abi::register(&self.descriptor, operation, arguments, bytes as u32) }
    }

    /// Registers the ring itself with its thread, which spares a lookup for each call.
    ///
    /// # Errors
    /// As the system call.
    pub(super) fn register_ring(&mut self) -> Result<(), Errno> {
        let mut update = abi::Update {
            offset: u32::MAX,
            reserved: 0,
            data: self.descriptor.as_raw_fd() as u64,
        };
        let operation = abi::REGISTER_RING_FDS;
        // SAFETY: the kernel reads the structure, and writes to it which number it gave.
        unsafe { abi::register(&self.descriptor, operation, &raw mut update, 1)? };
        self.registered = Some(update.offset);
        self.number = update.offset as i32;
        self.enter_flags = abi::ENTER_REGISTERED_RING;
        Ok(())
    }

    /// Adds an operation to those that the next submission hands over.
    ///
    /// # Safety
    /// What the entry points to stays valid, and is used by nobody else, until its
    /// completion was taken.
    ///
    /// # Panics
    /// When there are more operations than entries.
    #[inline(always)]
    pub(super) unsafe fn push(&mut self, entry: Entry) {
        let queue = &mut self.submissions;
        if queue.pushed.wrapping_sub(queue.head_seen) > queue.mask {
            queue.make_room();
        }
        // SAFETY: the mask keeps the place in the mapping, and the kernel is done with it,
        // by the comparison above.
        unsafe { (*queue.places.add((queue.pushed & queue.mask) as usize)).entry = entry };
        queue.pushed = queue.pushed.wrapping_add(1);
    }

    /// Hands over what was pushed and waits for `wait_for` completions.
    ///
    /// # Errors
    /// As the system call.
    #[inline(always)]
    pub(super) fn submit_and_wait(&mut self, wait_for: u32) -> Result<(), Errno> {
        let count = self.publish();
        let flags = self.enter_flags | abi::ENTER_GETEVENTS | self.wakeup();
        // SAFETY: there are no arguments; `push` had what entries point to promised.
        let entered =
            unsafe { abi::enter::<()>(self.number, count, wait_for, flags, std::ptr::null(), 0) };
        self.completions.look();
        entered
    }

    /// Hands over what was pushed.
    ///
    /// # Errors
    /// As the system call.
    pub(super) fn submit(&mut self) -> Result<(), Errno> {
        let count = self.publish();
        let wakeup = self.wakeup();
        if self.has_thread && wakeup == 0 {
            return Ok(());
        }
        let flags = self.enter_flags | wakeup;
        // SAFETY: as in `submit_and_wait`.
        unsafe { abi::enter::<()>(self.number, count, 0, flags, std::ptr::null(), 0) }
    }

    /// Hands over what was pushed and waits for one completion, so many ns at most;
    /// `ETIME` when none came.
    ///
    /// # Errors
    /// As the system call.
    pub(super) fn submit_and_wait_for(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        let timeout = abi::Timespec {
            seconds: (timeout_ns / 1_000_000_000) as i64,
            nanoseconds: (timeout_ns % 1_000_000_000) as i64,
        };
        let arguments = abi::WaitArguments {
            signals: 0,
            signals_bytes: 0,
            reserved: 0,
            timeout: (&raw const timeout) as u64,
        };
        let count = self.publish();
        let wait = abi::ENTER_GETEVENTS | abi::ENTER_EXT_ARG;
        let flags = self.enter_flags | wait | self.wakeup();
        let bytes = size_of_val(&arguments);
        // SAFETY: the arguments are what the flags say, and outlive the call.
        let entered =
            unsafe { abi::enter(self.number, count, 1, flags, &raw const arguments, bytes) };
        self.completions.look();
        entered
    }

    /// The next of the completions that the last wait found: user data and result.
    #[inline(always)]
    pub(super) fn next_completion(&mut self) -> Option<(u64, i32)> {
        let queue = &mut self.completions;
        if queue.taken == queue.tail_seen {
            return None;
        }
        // SAFETY: the mask keeps it in the mapping, and the kernel wrote it before it moved
        // its tail past it.
        let completion = unsafe { *queue.first.add((queue.taken & queue.mask) as usize) };
        queue.taken = queue.taken.wrapping_add(1);
        Some((completion.user_data, completion.result))
    }

    /// Shows the kernel what was pushed and taken; returns how many entries it has not
    /// taken yet.
    #[inline(always)]
    fn publish(&mut self) -> u32 {
        let (queue, completions) = (&self.submissions, &self.completions);
        // SAFETY: the words lie in the mappings, and both sides use them as atomics.
        unsafe {
            (*completions.head).store(completions.taken, Ordering::Release);
            (*queue.tail).store(queue.pushed, Ordering::Release);
            queue
                .pushed
                .wrapping_sub((*queue.head).load(Ordering::Acquire))
        }
    }

    /// The flag that wakes the kernel's thread, if there is one and it sleeps.
    #[inline(always)]
    fn wakeup(&self) -> u32 {
        if !self.has_thread {
            return 0;
        }
        // Either the thread sees the new tail before it sleeps, or we see that it does.
        fence(Ordering::SeqCst);
        // SAFETY: as in `publish`.
        let flags = unsafe { (*self.submissions.flags).load(Ordering::Relaxed) };
        match flags & abi::NEED_WAKEUP {
            0 => 0,
            _ => abi::ENTER_SQ_WAKEUP,
        }
    }
}

impl Submissions {
    /// Looks how far the kernel is.
    #[cold]
    fn make_room(&mut self) {
        // SAFETY: as in `Ring::publish`.
        self.head_seen = unsafe { (*self.head).load(Ordering::Acquire) };
        let queued = self.pushed.wrapping_sub(self.head_seen);
        assert!(
            queued <= self.mask,
            "the queue has an entry for each operation"
        );
    }
}

impl Completions {
    /// Looks what has come.
    #[inline(always)]
    fn look(&mut self) {
        // SAFETY: as in `Ring::publish`.
        self.tail_seen = unsafe { (*self.tail).load(Ordering::Acquire) };
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let Some(number) = self.registered else {
            return;
        };
        let mut update = abi::Update {
            offset: number,
            reserved: 0,
            data: 0,
        };
        let operation = abi::UNREGISTER_RING_FDS;
        // Otherwise the thread would hold the ring, and that its files, to its end.
        // SAFETY: the kernel reads the structure.
        let gone = unsafe { abi::register(&self.descriptor, operation, &raw mut update, 1) };
        debug_assert_eq!(gone, Ok(()), "the ring is registered");
    }
}

/// Why there is no ring, with what can be done.
pub(super) fn unavailable(errno: Errno) -> Unavailable {
    let advice = match errno {
        Errno::NOSYS => "the kernel has none, or one that is older than Linux 5.4",
        Errno::PERM | Errno::ACCESS => {
            "it is forbidden here, by the sysctl kernel.io_uring_disabled or a sandbox"
        }
        Errno::NOMEM => "raise the limit of locked memory (ulimit -l)",
        _ => "the kernel refuses to set it up",
    };
    let error = std::io::Error::from(errno);
    Unavailable {
        backend: BackendKind::IoUring,
        reason: format!("{error}; {advice}"),
    }
}
