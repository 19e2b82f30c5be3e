//! What a filesystem counted of its own work while a phase ran.

use serde::{Deserialize, Serialize};

/// A number of which two others are known that it lies between, both possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Between {
    /// Not less.
    pub least: u64,
    /// Not more.
    pub most: u64,
}

impl Between {
    /// The middle of the two.
    #[must_use]
    pub fn middle(self) -> f64 {
        (self.least as f64 + self.most as f64) / 2.0
    }
}

/// The journal of an ext3 or ext4 filesystem between two readings of
/// `/proc/fs/jbd2/JOURNAL/info`.
///
/// The kernel prints how many transactions there were and, cut to whole numbers, what one
/// had on average since the filesystem was mounted. So a total is known to lie between
/// count x average and count x (average + 1), less one, and what came to it between two
/// readings lies between two numbers. On a filesystem that was made for the phase they
/// are close together; on one that has been mounted for long they say little.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalTraffic {
    /// Device of the filesystem.
    pub device: String,
    /// Name of the journal, such as `vda-8`.
    pub journal: String,
    /// Transactions committed.
    pub transactions: u64,
    /// Transactions that were asked for, as by fsync(2), and not begun by their age alone.
    /// Before Linux 2.6.38 there was no such count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requested: Option<u64>,
    /// Handles: changes to the filesystem's structures that were put into transactions.
    pub handles: Between,
    /// Blocks that were in the transactions.
    pub blocks: Between,
    /// Blocks that were written to the journal, its own descriptions included.
    pub logged_blocks: Between,
    /// Time for which tasks waited until they could start a handle, ns.
    pub waiting_ns: Between,
    /// Time in which transactions were locked, and let no handle start, ns.
    pub locked_ns: Between,
    /// Time for which commits waited for data (ordered mode), ns.
    pub flushing_ns: Between,
    /// Time in which blocks were written to the journal, ns.
    pub logging_ns: Between,
    /// Time of a commit, ns: the kernel's moving mean, in which the latest counts for a
    /// quarter, as it stood at the second reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_ns_recent_mean: Option<u64>,
}

/// What an ext2, ext3 or ext4 filesystem says of itself in `/sys/fs/ext4/DEVICE`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ext4Counters {
    /// Device of the filesystem.
    pub device: String,
    /// Bytes written to the device, the filesystem's own included
    /// (`session_write_kbytes`).
    pub written_bytes: u64,
    /// Blocks that were promised to data in memory and had no place on the device yet,
    /// at the second reading (`delayed_allocation_blocks`).
    pub delayed_blocks_after: u64,
}

/// What an XFS filesystem counted between two readings of `/sys/fs/xfs/DEVICE/stats/stats`.
/// The names in brackets are those of the kernel's `fs/xfs/xfs_stats.h`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct XfsCounters {
    /// Device of the filesystem.
    pub device: String,
    /// Extents that were given to files (`xs_allocx`).
    pub extents_allocated: u64,
    /// Blocks of the filesystem in them (`xs_allocb`).
    pub blocks_allocated: u64,
    /// Extents that were taken back (`xs_freex`).
    pub extents_freed: u64,
    /// Writes of a log buffer (`xs_log_writes`).
    pub log_writes: u64,
    /// Bytes in them (`xs_log_blocks`, of 512 bytes).
    pub log_bytes: u64,
    /// Waits for a free log buffer (`xs_log_noiclogs`).
    pub log_buffer_waits: u64,
    /// Times that the log was made to be written, as by fsync(2) (`xs_log_force`).
    pub log_forces: u64,
    /// Of these, times that a task slept until it was (`xs_log_force_sleep`).
    pub log_force_sleeps: u64,
    /// Waits for space in the log (`xs_sleep_logspace`).
    pub log_space_waits: u64,
    /// Times that changed metadata was pushed out of the log's way (`xs_push_ail`).
    pub ail_pushes: u64,
    /// Times that a push met something pinned in memory by the log (`xs_push_ail_pinned`).
    pub ail_pinned: u64,
    /// Transactions that waited for the log (`xs_trans_sync`).
    pub transactions_sync: u64,
    /// Transactions that did not (`xs_trans_async`).
    pub transactions_async: u64,
    /// Bytes that write(2) was given (`xs_write_bytes`).
    pub write_call_bytes: u64,
    /// Bytes that read(2) returned (`xs_read_bytes`).
    pub read_call_bytes: u64,
    /// Bytes that writeback turned from promised space to real (`xs_xstrat_bytes`).
    pub converted_bytes: u64,
}

/// What a btrfs filesystem counted between two readings of
/// `/sys/fs/btrfs/UUID/commit_stats`. From Linux 5.19.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BtrfsCounters {
    /// First device of the filesystem.
    pub device: String,
    /// Transactions committed.
    pub commits: u64,
    /// Time that they took, ns.
    pub commit_ns: u64,
    /// The longest since the filesystem was mounted or somebody reset it, ns.
    pub commit_ns_max_since_mount: u64,
}

/// The counters of the filesystems under the targets of a phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesystemCounters {
    /// Journals of ext3 and ext4.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journals: Vec<JournalTraffic>,
    /// What ext2, ext3 and ext4 say beside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ext4: Vec<Ext4Counters>,
    /// XFS.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub xfs: Vec<XfsCounters>,
    /// btrfs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub btrfs: Vec<BtrfsCounters>,
}

impl FilesystemCounters {
    /// Whether no filesystem said anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.journals.is_empty()
            && self.ext4.is_empty()
            && self.xfs.is_empty()
            && self.btrfs.is_empty()
    }
}
