//! What stood beside a phase and saw what really happened.

use serde::{Deserialize, Serialize};

use crate::{
    BlockTrace, FilesystemCounters, Heat, Layout, PressureSeen, ProcessActivity, ProcessIo,
    Profile, TaskDelays, WitnessCost, WitnessLevel, WritebackStall,
};

/// What one device moved between two readings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceTraffic {
    /// Where the figures are from, such as `/proc/diskstats vda` or `io.stat 8:0`.
    pub source: String,
    /// Kernel name of the device.
    pub device: String,
    /// Reads completed.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes completed.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Flushes completed; `None` before kernel 5.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushes: Option<u64>,
    /// Time with at least one request in flight, ns; `None` where the source does
    /// not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_ns: Option<u64>,
    /// What its queue did; `None` where the source does not count it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<QueueTraffic>,
}

/// What the queue of one device did between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueTraffic {
    /// Reads that were joined to one that was queued already.
    pub read_merges: u64,
    /// Writes that were.
    pub write_merges: u64,
    /// Time that reads took, all added up, ns.
    pub read_ns: u64,
    /// Time that writes took, all added up, ns.
    pub write_ns: u64,
    /// Time that requests of all kinds were in the queue, all added up, ns.
    pub queued_ns: u64,
}

/// How much of a phase's files was in the page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Residency {
    /// Bytes of the files in the cache.
    pub cached_bytes: u64,
    /// Bytes in the cache that are not written back; 0 when the means cannot tell.
    pub dirty_bytes: u64,
    /// Size of the files, bytes.
    pub file_bytes: u64,
}

impl Residency {
    /// Share of the files that was cached, 0 to 1.
    #[must_use]
    pub fn fraction(self) -> f64 {
        if self.file_bytes == 0 {
            0.0
        } else {
            self.cached_bytes as f64 / self.file_bytes as f64
        }
    }
}

/// CPU time of a process or thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuTime {
    /// User and system together from the scheduler's clock: exact, ns.
    pub total_ns: u64,
    /// In user mode, ns; sampled by tick on many kernels.
    pub user_ns: u64,
    /// In kernel mode, ns; sampled by tick on many kernels.
    pub system_ns: u64,
}

impl std::iter::Sum for CpuTime {
    fn sum<I: Iterator<Item = Self>>(times: I) -> Self {
        times.fold(Self::default(), |sum, one| Self {
            total_ns: sum.total_ns + one.total_ns,
            user_ns: sum.user_ns + one.user_ns,
            system_ns: sum.system_ns + one.system_ns,
        })
    }
}

/// CPU time of the whole machine between two readings of `/proc/stat`, ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SystemCpu {
    /// User and nice.
    pub user_ns: u64,
    /// System.
    pub system_ns: u64,
    /// Hard and soft interrupts.
    pub interrupt_ns: u64,
    /// Idle.
    pub idle_ns: u64,
    /// Idle while I/O was awaited.
    pub io_wait_ns: u64,
    /// Taken by the hypervisor.
    pub steal_ns: u64,
    /// The busiest CPU's share of time that was not idle, 0 to 1.
    pub busiest_cpu_fraction: f64,
}

impl SystemCpu {
    /// Time in which a CPU was not idle, ns, summed over CPUs.
    #[must_use]
    pub fn busy_ns(self) -> u64 {
        self.user_ns + self.system_ns + self.interrupt_ns + self.steal_ns
    }
}

/// What the machine's memory management did between two readings of `/proc/vmstat`: pages
/// of all programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageTraffic {
    /// Bytes of pages that became dirty (`nr_dirtied`).
    pub dirtied_bytes: u64,
    /// Bytes of pages whose writing back began (`nr_written`).
    pub written_back_bytes: u64,
    /// Bytes that were dirty at the second reading (`nr_dirty`).
    pub dirty_after_bytes: u64,
    /// Bytes that were being written back at the second reading (`nr_writeback`).
    pub writeback_after_bytes: u64,
    /// How often a program had to free memory itself before it got any (`allocstall_*`).
    pub reclaim_stalls: u64,
    /// Bytes of pages looked at to be freed (`pgscan_kswapd`, `pgscan_direct`).
    pub scanned_bytes: u64,
    /// Bytes of files that were read again soon after they had been dropped
    /// (`workingset_refault_file`).
    pub refaulted_bytes: u64,
    /// Bytes that came back from swap (`pswpin`).
    pub swapped_in_bytes: u64,
    /// Bytes that went to swap (`pswpout`).
    pub swapped_out_bytes: u64,
    /// What else was counted; `None` in records that are older than these counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more: Option<PageEvents>,
}

/// Further counters of `/proc/vmstat`, between two readings. A counter that the kernel
/// does not have stays 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageEvents {
    /// Bytes that block devices read (`pgpgin`).
    pub paged_in_bytes: u64,
    /// Bytes that they wrote (`pgpgout`).
    pub paged_out_bytes: u64,
    /// Bytes of pages that `kswapd` freed, in the background (`pgsteal_kswapd`).
    pub reclaimed_in_background_bytes: u64,
    /// Bytes of pages that tasks freed which needed memory at once (`pgsteal_direct`).
    pub reclaimed_directly_bytes: u64,
    /// Bytes of pages looked at by such tasks (`pgscan_direct`).
    pub scanned_directly_bytes: u64,
    /// Bytes of file pages that came back and were at once counted among those in use
    /// (`workingset_activate_file`).
    pub activated_bytes: u64,
    /// Bytes of file pages that had been in use when they were dropped, and came back
    /// (`workingset_restore_file`).
    pub restored_bytes: u64,
    /// Bytes written back while tasks that wanted memory waited for it
    /// (`nr_throttled_written`). From Linux 5.16.
    pub written_under_throttle_bytes: u64,
    /// How often somebody had the kernel drop its caches (`drop_pagecache`).
    pub caches_dropped: u64,
    /// Waits until pages had been moved together (`compact_stall`).
    pub compaction_stalls: u64,
    /// Of these, in vain (`compact_fail`).
    pub compaction_failures: u64,
    /// Huge pages that page faults got (`thp_fault_alloc`).
    pub huge_pages_by_fault: u64,
    /// Page faults that wanted a huge page and got small ones (`thp_fault_fallback`).
    pub huge_page_fallbacks: u64,
    /// Small pages that were put together to a huge one (`thp_collapse_alloc`).
    pub huge_pages_collapsed: u64,
    /// Huge pages of files (`thp_file_alloc`).
    pub huge_pages_of_files: u64,
    /// Huge pages that were split (`thp_split_page`).
    pub huge_pages_split: u64,
}

/// What other jobs moved between the same readings: the witnesses saw all of it, and
/// cannot tell whose it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedBeside {
    /// How many other jobs.
    pub jobs: u32,
    /// Reads that they completed.
    pub reads: u64,
    /// Bytes that they read.
    pub read_bytes: u64,
    /// Writes that they completed.
    pub writes: u64,
    /// Bytes that they wrote.
    pub written_bytes: u64,
}

/// The readings around one phase. `None` means that the witness could not be had.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Witnesses {
    /// How much was to be watched.
    #[serde(default, skip_serializing_if = "WitnessLevel::is_usual")]
    pub level: WitnessLevel,
    /// Traffic of the devices directly under the target: the ones whose bytes are
    /// to be compared with the bytes asked.
    pub devices: Vec<DeviceTraffic>,
    /// Residency of the files before the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residency_before: Option<Residency>,
    /// Residency of the files after the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residency_after: Option<Residency>,
    /// Bytes of the files that are holes or were allocated and never written, before the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unwritten_bytes: Option<u64>,
    /// Whether O_DIRECT was in force on the descriptors used; `None` when it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub direct_granted: Option<bool>,
    /// CPU time of our process, workers and kernel helpers of our rings included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_cpu: Option<CpuTime>,
    /// CPU share of the busiest worker thread, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busiest_worker_cpu_fraction: Option<f64>,
    /// CPU time of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_cpu: Option<SystemCpu>,
    /// Stall time for I/O of the machine or of our group (`some` of PSI), ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_pressure_ns: Option<u64>,
    /// What tasks waited for, of our control group or of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure: Option<PressureSeen>,
    /// What the threads of our process waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delays: Option<TaskDelays>,
    /// What our process read and wrote, by the kernel's own count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_io: Option<ProcessIo>,
    /// Context switches and page faults of our process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_activity: Option<ProcessActivity>,
    /// What the filesystems counted.
    #[serde(default, skip_serializing_if = "FilesystemCounters::is_empty")]
    pub filesystems: FilesystemCounters,
    /// How warm it was; `None` where nothing tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heat: Option<Heat>,
    /// What the machine's memory management did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<PageTraffic>,
    /// Runs of blocks of the files that lie together on the device, after the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extents: Option<u64>,
    /// How the files lie on the device after the phase; `None` where a filesystem has no
    /// map of extents to tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// What other jobs did between the same readings; `None` when there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<MovedBeside>,
    /// What each device under the target was asked, request by request; at the level
    /// `full` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub block_traces: Vec<BlockTrace>,
    /// Where the CPUs' time went; at the level `full` alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<Profile>,
    /// Tasks that were made to wait because too much was dirty, longest first; at the
    /// level `full` alone, where it is `None` when they could not be seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writeback_stalls: Option<Vec<WritebackStall>>,
    /// What the witnesses took themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<WitnessCost>,
    /// Witnesses that could not be had, and why: what they would have shown of the
    /// numbers is not checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Witnesses that would have explained the numbers and check none of them, which
    /// could not be had, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unexplained: Vec<String>,
}
