//! A ring with its two queues split off for good.
//!
//! Splitting once lets the ring's own descriptor stay registered, and the queues
//! keep their indices: at depth 1 that is 40 ns an operation.
#![allow(unsafe_code)]

use std::io;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::time::Duration;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{Builder, CompletionQueue, IoUring, SubmissionQueue, Submitter, squeue};
use stiction_core::{BackendKind, RingOptions};

use crate::Unavailable;

/// Names of flags, and what sets them.
type Setup = (&'static str, fn(&mut Builder));

/// Sets of flags to try, the best one first.
const SETUPS: &[Setup] = &[
    ("SINGLE_ISSUER, DEFER_TASKRUN, NO_SQARRAY", |builder| {
        builder
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_no_sqarray();
    }),
    ("SINGLE_ISSUER, DEFER_TASKRUN", |builder| {
        builder.setup_single_issuer().setup_defer_taskrun();
    }),
    ("SINGLE_ISSUER, COOP_TASKRUN", |builder| {
        builder.setup_single_issuer().setup_coop_taskrun();
    }),
    ("COOP_TASKRUN", |builder| {
        builder.setup_coop_taskrun();
    }),
    ("no flags", |_| {}),
];

/// The same with a thread of the kernel that takes operations out of the queue and
/// sleeps after a second without any: the other flags are about the worker's own
/// system calls, of which there are none then.
const SUBMISSION_POLLING: &[Setup] = &[
    ("SQPOLL, SINGLE_ISSUER, NO_SQARRAY", |builder| {
        builder
            .setup_sqpoll(1000)
            .setup_single_issuer()
            .setup_no_sqarray();
    }),
    ("SQPOLL", |builder| {
        builder.setup_sqpoll(1000);
    }),
];

/// A ring; used by the thread that made it.
pub(super) struct Ring {
    /// Borrows from `whole`, and is dropped before it.
    halves: ManuallyDrop<Halves>,
    /// From `Box::into_raw`.
    whole: NonNull<IoUring>,
}

struct Halves {
    submitter: Submitter<'static>,
    submissions: SubmissionQueue<'static>,
    completions: CompletionQueue<'static>,
}

impl Ring {
    /// A ring of at least `entries` entries with the best flags that the kernel
    /// takes, and their names.
    pub(super) fn new(entries: u32, options: RingOptions) -> Result<(Self, String), Unavailable> {
        let mut refusal = None;
        // The thread may complete an operation before it says that its entry is free.
        let (setups, entries) = if options.submission_polling {
            (SUBMISSION_POLLING, 2 * entries)
        } else {
            (SETUPS, entries)
        };
        for (names, set) in setups {
            let mut builder = IoUring::builder();
            set(&mut builder);
            let mut names = (*names).to_owned();
            if options.completion_polling {
                builder.setup_iopoll();
                names += ", IOPOLL";
            }
            match builder.build(entries) {
                Ok(ring) => return Ok((Self::split(ring), names)),
                // A flag that this kernel does not know.
                Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = Some(error),
                Err(error) => return Err(unavailable(&error)),
            }
        }
        Err(unavailable(&refusal.expect("there is a set to try")))
    }

    fn split(ring: IoUring) -> Self {
        let mut whole = NonNull::from(Box::leak(Box::new(ring)));
        // SAFETY: the box is freed in `drop` only, after the halves, which are the
        // only reference into it and never leave this value.
        let (submitter, submissions, completions) = unsafe { whole.as_mut() }.split();
        Self {
            halves: ManuallyDrop::new(Halves {
                submitter,
                submissions,
                completions,
            }),
            whole,
        }
    }

    /// What registers files and buffers, and the ring itself.
    pub(super) fn submitter(&mut self) -> &mut Submitter<'static> {
        &mut self.halves.submitter
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
    pub(super) unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: passed on to the caller.
        let pushed = unsafe { self.halves.submissions.push(entry) };
        pushed.expect("the queue has an entry for each operation");
    }

    /// Hands over what was pushed and waits for `wait_for` completions.
    #[inline(always)]
    pub(super) fn submit_and_wait(&mut self, wait_for: u32) -> io::Result<()> {
        let halves = &mut *self.halves;
        halves.submissions.sync();
        let submitted = halves.submitter.submit_and_wait(wait_for as usize);
        halves.submissions.sync();
        halves.completions.sync();
        submitted.map(|_| ())
    }

    /// Hands over what was pushed.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        let halves = &mut *self.halves;
        halves.submissions.sync();
        let submitted = halves.submitter.submit();
        halves.submissions.sync();
        submitted.map(|_| ())
    }

    /// Hands over what was pushed and waits for one completion, so many ns at most;
    /// `ETIME` when none came.
    pub(super) fn submit_and_wait_for(&mut self, timeout_ns: u64) -> io::Result<()> {
        let timeout = Timespec::from(Duration::from_nanos(timeout_ns));
        let halves = &mut *self.halves;
        halves.submissions.sync();
        let arguments = SubmitArgs::new().timespec(&timeout);
        let submitted = halves.submitter.submit_with_args(1, &arguments);
        halves.submissions.sync();
        halves.completions.sync();
        submitted.map(|_| ())
    }

    /// The next of the completions that the last wait found: user data and result.
    #[inline(always)]
    pub(super) fn next_completion(&mut self) -> Option<(u64, i32)> {
        let entry = self.halves.completions.next()?;
        Some((entry.user_data(), entry.result()))
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the halves are dropped once, here, and not used after; then
        // nothing refers to the ring, and the box is made whole again and freed.
        unsafe {
            ManuallyDrop::drop(&mut self.halves);
            drop(Box::from_raw(self.whole.as_ptr()));
        }
    }
}

/// Why there is no ring, with what can be done.
pub(super) fn unavailable(error: &io::Error) -> Unavailable {
    let advice = match error.raw_os_error() {
        Some(libc::ENOSYS) => "the kernel has none",
        Some(libc::EPERM | libc::EACCES) => {
            "it is forbidden here, by the sysctl kernel.io_uring_disabled or a sandbox"
        }
        Some(libc::ENOMEM) => "raise the limit of locked memory (ulimit -l)",
        _ => "the kernel refuses to set it up",
    };
    Unavailable {
        backend: BackendKind::IoUring,
        reason: format!("{error}; {advice}"),
    }
}
