//! How operations reach the kernel, and from where.

use serde::{Deserialize, Serialize};

use super::plain::usual;
use super::plain::{data, words};

data! {
    /// Switches of the engine.
    #[derive(Copy, Eq, Default)]
    pub struct Switches {
        /// Percent of the operations whose completion is polled for.
        #[serde(default, skip_serializing_if = "usual")]
        pub polled_percent: u8,
        /// Files are registered with the ring.
        #[serde(default, skip_serializing_if = "usual")]
        pub registered_files: bool,
        /// Buffers are registered with the ring.
        #[serde(default, skip_serializing_if = "usual")]
        pub registered_buffers: bool,
        /// The kernel submits, from a thread of its own.
        #[serde(default, skip_serializing_if = "usual")]
        pub kernel_submits: bool,
        /// On which CPU that thread runs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub kernel_cpu: Option<u32>,
        /// Plain instead of vectored calls; `None`: the engine's choice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub plain_calls: Option<bool>,
        /// Every so many operations are forced to a kernel worker; 0: none.
        #[serde(default, skip_serializing_if = "usual")]
        pub forced_async_every: u64,
        /// Cached I/O leaves nothing in the page cache (`RWF_DONTCACHE`).
        #[serde(default, skip_serializing_if = "usual")]
        pub uncached: bool,
        /// Fail instead of waiting (`RWF_NOWAIT`).
        #[serde(default, skip_serializing_if = "usual")]
        pub no_wait: bool,
    }

    /// CPUs and priorities.
    #[derive(Eq, Default)]
    pub struct Placement {
        /// CPUs that it may run on; empty: all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub cpus: Vec<u32>,
        /// Each clone has one of them for its own.
        #[serde(default, skip_serializing_if = "usual")]
        pub cpu_each: bool,
        /// NUMA nodes, as fio lists them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub numa_nodes: Option<String>,
        /// Policy of memory, as fio writes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub numa_memory: Option<String>,
        /// Niceness, -20 to 19.
        #[serde(default, skip_serializing_if = "usual")]
        pub nice: i8,
        /// I/O priority class, 0 to 3: none, real time, best effort, idle.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub io_class: Option<u8>,
        /// I/O priority in its class, 0 (highest) to 7.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub io_level: Option<u8>,
    }
}

words! {
    /// How I/O is submitted.
    pub enum Engine {
        /// `lseek` and `read` or `write`.
        Sync,
        /// `pread`, `pwrite`.
        #[default]
        Psync,
        /// `readv`, `writev`.
        Vsync,
        /// `preadv`, `pwritev`.
        Pvsync,
        /// `preadv2`, `pwritev2`, with flags.
        Pvsync2,
        /// A ring.
        IoUring,
        /// `io_submit`.
        Libaio,
        /// Memory mapping.
        Mmap,
        /// `splice` through a pipe.
        Splice,
        /// No I/O.
        Null,
    }

    /// What each write waits for by the flags of its file.
    pub enum WriteSync {
        /// Nothing.
        #[default]
        None,
        /// `O_SYNC`.
        Sync,
        /// `O_DSYNC`.
        DataSync,
    }
}

impl Engine {
    /// Whether one operation ends before the next can start.
    #[must_use]
    pub fn is_synchronous(self) -> bool {
        !matches!(self, Self::IoUring | Self::Libaio)
    }
}
