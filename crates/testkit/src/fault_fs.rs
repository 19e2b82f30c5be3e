//! A file system of our own in memory that delays, fails and fills up on request, and
//! whose files can be disks with a head that has to move.

mod disk;
mod memory;
mod serving;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::path::Path;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::{BackgroundSession, Config, MountOption};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::{getpriority_process, nice};
use stiction_core::Seed;
use tempfile::TempDir;

pub use disk::Disk;

use crate::undo;
use disk::Head;
use memory::Tree;
use serving::Serving;

/// Beginning of the name under which it is mounted; the process id follows.
const SOURCE: &str = "stiction-fault-fs-";

/// What goes wrong. The default: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Added to each read and write.
    pub delay: Duration,
    /// Every so many reads and writes (counted together, from 1), this errno
    /// instead.
    pub error_every: Option<(u64, i32)>,
    /// Every so many reads and writes, a pause before it is done.
    pub stall_every: Option<(u64, Duration)>,
    /// The most bytes of data that all files may hold together; ENOSPC beyond it.
    pub space_bytes: Option<u64>,
    /// Each read and write moves at most so many bytes.
    pub short_bytes: Option<u32>,
    /// fsync and fdatasync fail with this errno.
    pub sync_error: Option<i32>,
    /// fsync and fdatasync succeed and do nothing, as of a disk that lies.
    pub sync_ignored: bool,
    /// Each file is such a disk: its reads and writes take as long as that would.
    pub disk: Option<Disk>,
}

/// How often the kernel asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reads, failed ones included.
    pub reads: u64,
    /// Writes, failed ones included.
    pub writes: u64,
    /// fsync and fdatasync.
    pub syncs: u64,
    /// Reads and writes that were failed on purpose.
    pub errors: u64,
    /// Time that disks worked, by their model, ns.
    pub disk_ns: u64,
}

/// One request of the kernel for data of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// The name under which the file was made, without its folder.
    pub file: String,
    /// A write, or else a read.
    pub is_write: bool,
    /// Where it begins.
    pub offset_bytes: u64,
    /// How long it is.
    pub length_bytes: u64,
}

#[derive(Debug, Default)]
struct State {
    faults: Faults,
    counts: Counts,
    /// What was asked since somebody wants to know; `None` when nobody does.
    asked: Option<Vec<Asked>>,
    /// By number, the names under which files were made.
    names: BTreeMap<u64, String>,
    tree: Tree,
    /// By number, the heads of the files that are disks.
    heads: BTreeMap<u64, Head>,
}

/// The mounted file system; unmounted on drop. Files are opened so that the page
/// cache is passed by: every read and write of the program under test arrives here.
pub struct FaultFs {
    // In the order in which they must go.
    _session: BackgroundSession,
    mount_point: TempDir,
    state: Arc<Mutex<State>>,
}

impl fmt::Debug for FaultFs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts();
        write!(f, "FaultFs at {}: {counts:?}", self.path().display())
    }
}

impl FaultFs {
    /// Threads that serve it, and so the operations that can wait in it at a time.
    pub const THREADS: usize = 8;

    /// Mounts it.
    ///
    /// # Errors
    /// Where /dev/fuse cannot be had: a reason to skip the test.
    pub fn mount(faults: Faults) -> Result<Self, String> {
        let mount_point = undo::scratch_folder();
        let state = Arc::new(Mutex::new(State {
            faults,
            ..State::default()
        }));
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName(format!("{SOURCE}{}", process::id())),
            MountOption::Subtype("stiction".to_owned()),
        ];
        config.n_threads = Some(Self::THREADS);
        config.clone_fd = true;
        let serving = Serving::new(Arc::clone(&state));
        let session = before_others(|| fuser::spawn_mount(serving, mount_point.path(), &config));
        let session =
            session.map_err(|error| format!("no FUSE file system can be mounted: {error}"))?;
        Ok(Self {
            _session: session,
            mount_point,
            state,
        })
    }

    /// Its top folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mount_point.path()
    }

    /// From now on, these faults.
    pub fn set(&self, faults: Faults) {
        lock(&self.state).faults = faults;
    }

    /// Cuts the power of the simulated disk and turns it on again: of what was written
    /// and not synced, so many sectors in 100 came through, drawn from `seed`. Names
    /// and lengths of files stay. Nothing may be under way.
    pub fn cut_power(&self, survive_percent: u64, seed: Seed) {
        lock(&self.state).tree.lose_power(survive_percent, seed);
    }

    /// From now on, notes what is asked, from an empty list on.
    pub fn watch(&self) {
        lock(&self.state).asked = Some(Vec::new());
    }

    /// What was asked since [`watch`](Self::watch), in the order of arrival.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        lock(&self.state).asked.clone().unwrap_or_default()
    }

    /// How often the kernel asked so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        lock(&self.state).counts
    }
}

impl State {
    /// When the disk that the file is has done what is asked of it now; `None` when
    /// files are no disks.
    fn work(&mut self, number: u64, offset_bytes: u64, length_bytes: u64) -> Option<Instant> {
        let disk = self.faults.disk?;
        let capacity_bytes = self.tree.node(number).ok()?.length;
        let head = match self.heads.entry(number) {
            Entry::Occupied(known) if known.get().disk() == disk => known.into_mut(),
            Entry::Occupied(mut other) => {
                other.insert(Head::new(disk));
                other.into_mut()
            }
            Entry::Vacant(free) => free.insert(Head::new(disk)),
        };
        let place = (offset_bytes, length_bytes);
        let (works, done) = head.take(Instant::now(), place, capacity_bytes);
        self.counts.disk_ns += works.as_nanos() as u64;
        Some(done)
    }

    fn note(&mut self, number: u64, is_write: bool, offset_bytes: u64, length_bytes: u64) {
        let name = self.names.get(&number);
        if let Some(asked) = &mut self.asked {
            asked.push(Asked {
                file: name.cloned().unwrap_or_default(),
                is_write,
                offset_bytes,
                length_bytes,
            });
        }
    }
}

/// Calls `start` so that the threads it starts go before others, as a device would that has
/// a processor of its own. Without the right to do so they do not.
fn before_others<T>(start: impl FnOnce() -> T) -> T {
    let own = getpriority_process(None).unwrap_or(0);
    let raised = nice(-20).is_ok();
    let started = start();
    if raised {
        // The kernel lets everybody lower it again.
        let _ = nice(own + 20);
    }
    started
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Unmounts those whose process was killed: nobody can answer for them any more.
pub(crate) fn unmount_leftovers() {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for line in mounts.lines() {
        let pid = line.split_once(" - ").and_then(|(_, back)| {
            back.split(' ')
                .nth(1)?
                .strip_prefix(SOURCE)?
                .parse::<u32>()
                .ok()
        });
        let mount_point = line.split(' ').nth(4);
        if let (Some(pid), Some(mount_point)) = (pid, mount_point)
            && !Path::new(&format!("/proc/{pid}")).exists()
        {
            // Another test may sweep at the same time: then it is gone already.
            let _ = unmount(mount_point, UnmountFlags::DETACH);
        }
    }
}
