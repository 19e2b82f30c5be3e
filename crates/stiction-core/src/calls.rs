//! Flags of calls and rings, for those who want to know what each is worth.

use serde::{Deserialize, Serialize};

/// Flags of each reading or writing call (`preadv2`, `pwritev2`, and the same of
/// queues). The default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct CallFlags {
    /// `RWF_NOWAIT`: a call that would wait says so, and is then made without the flag;
    /// both are in its latency.
    pub nowait: bool,
    /// `RWF_HIPRI`: the device is polled, where it has queues for that; direct I/O
    /// only.
    pub hipri: bool,
    /// `RWF_DONTCACHE`: what goes through the page cache leaves it at once.
    pub dontcache: bool,
}

impl CallFlags {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// How an io_uring is set up and used, where it is not the best way. The default is
/// the best way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct RingOptions {
    /// A thread of the kernel takes operations out of the queue (`SQPOLL`).
    pub submission_polling: bool,
    /// The device is polled for completions (`IOPOLL`); direct I/O only, on devices
    /// with queues for that.
    pub completion_polling: bool,
    /// Every operation is given to a thread of the kernel (`IOSQE_ASYNC`).
    pub force_async: bool,
    /// File, buffers and ring are not registered.
    pub unregistered: bool,
}

impl RingOptions {
    /// Whether there is nothing out of the ordinary.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
