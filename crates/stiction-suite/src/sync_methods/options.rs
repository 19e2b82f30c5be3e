//! What sync-methods can be asked to do, and what its plan says.

use serde::{Deserialize, Serialize};

/// Everything that can be asked. `None` means that the workload chooses; see
/// [`SyncMethods`](crate::SyncMethods) for what it chooses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SyncMethodsOptions {
    /// Whether only the tests of pg_test_fsync are run.
    pub classic: bool,
    /// Time of each test, ns.
    pub test_ns: Option<u64>,
    /// Repetitions.
    pub runs: Option<u32>,
    /// Short tests: to see how it goes.
    pub quick: bool,
    /// Whether the filesystem may be filled to its last byte; else to 95 % of its size.
    pub may_fill: bool,
}

/// The plan's side: every choice made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncMethodsParameters {
    /// Bytes of the file, all written before.
    pub file_bytes: u64,
    /// Time of each test, ns.
    pub test_ns: u64,
    /// The tests, in order.
    pub tests: Vec<SyncTest>,
    /// Whether the filesystem may be filled to its last byte.
    pub may_fill: bool,
}

/// A way to make a write durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SyncMethod {
    /// Nothing: the write is in memory alone.
    Unsynced,
    /// The file is opened with `O_DSYNC`, and `O_DIRECT` where that can be had.
    OpenDatasync,
    /// `fdatasync` after the writes.
    Fdatasync,
    /// `fsync` after the writes.
    Fsync,
    /// The file is opened with `O_SYNC`, and `O_DIRECT` where that can be had.
    OpenSync,
    /// `pwritev2` with `RWF_DSYNC` for each write.
    RwfDsync,
    /// `pwritev2` with `RWF_SYNC` for each write.
    RwfSync,
    /// `syncfs` after the writes: everything on the filesystem.
    Syncfs,
    /// `sync_file_range` with all its steps after the writes. Not durable: it writes
    /// neither metadata nor the device's own cache.
    SyncFileRange,
    /// The file is opened anew, written, synced by `fsync` and closed; then opened and
    /// closed once more.
    SyncBeforeClose,
    /// The file is opened anew, written and closed; then opened, synced and closed.
    SyncByAnother,
}

impl SyncMethod {
    /// Stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unsynced => "unsynced",
            Self::OpenDatasync => "open_datasync",
            Self::Fdatasync => "fdatasync",
            Self::Fsync => "fsync",
            Self::OpenSync => "open_sync",
            Self::RwfDsync => "rwf_dsync",
            Self::RwfSync => "rwf_sync",
            Self::Syncfs => "syncfs",
            Self::SyncFileRange => "sync_file_range",
            Self::SyncBeforeClose => "write_fsync_close",
            Self::SyncByAnother => "write_close_fsync",
        }
    }
}

/// One test: so many writes, one after another from the begin of the file, and a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyncTest {
    /// How they become durable.
    pub method: SyncMethod,
    /// Writes of one operation.
    pub writes: u32,
    /// Bytes of each.
    pub write_bytes: u64,
}

const KIB: u64 = 1024;
/// A block of PostgreSQL's log, which pg_test_fsync writes.
const LOG_BLOCK_BYTES: u64 = 8 * KIB;

impl SyncTest {
    const fn new(method: SyncMethod, writes: u32, write_bytes: u64) -> Self {
        Self {
            method,
            writes,
            write_bytes,
        }
    }

    /// Name of its phase: `fsync.2x8k`.
    #[must_use]
    pub fn name(self) -> String {
        let kib = self.write_bytes / KIB;
        format!("{}.{}x{kib}k", self.method.name(), self.writes)
    }

    /// The test whose phase is called so.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = Self::all(false).into_iter();
        all.chain(Self::all(true)).find(|test| test.name() == name)
    }

    /// The tests: pg_test_fsync's, or with the calls that it lacks.
    #[must_use]
    pub fn all(classic: bool) -> Vec<Self> {
        use SyncMethod as M;
        let mut methods = vec![M::OpenDatasync, M::Fdatasync, M::Fsync, M::OpenSync];
        if !classic {
            methods.extend([M::RwfDsync, M::RwfSync, M::Syncfs, M::SyncFileRange]);
        }
        let mut tests = Vec::new();
        for writes in [1, 2] {
            let each = methods.iter();
            tests.extend(each.map(|&method| Self::new(method, writes, LOG_BLOCK_BYTES)));
        }
        // 16 KiB in pieces. Two of 8 KiB are a test of their own in pg_test_fsync.
        let pieces = [(1, 16), (2, 8), (4, 4), (8, 2), (16, 1)].into_iter();
        let sizes = pieces.filter(|&(writes, _)| classic || writes != 2);
        tests.extend(sizes.map(|(writes, kib)| Self::new(M::OpenSync, writes, kib * KIB)));
        if !classic {
            let sizes = [1, 2, 4, 16].map(|kib| Self::new(M::Fdatasync, 1, kib * KIB));
            tests.extend(sizes);
        }
        let last = [M::SyncBeforeClose, M::SyncByAnother, M::Unsynced];
        tests.extend(last.map(|method| Self::new(method, 1, LOG_BLOCK_BYTES)));
        tests
    }
}
