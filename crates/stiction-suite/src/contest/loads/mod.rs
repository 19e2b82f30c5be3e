//! The loads: what runs beside the job until it is told to stop.

mod archive;
mod clients;
pub(super) mod files;
mod gauge;
pub(super) mod list;
pub(super) mod memory;
pub(super) mod ring;

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use stiction_core::Seed;
use stiction_engine::StopFlag;
use stiction_host::{process_cpu, running_cpu_ns};

use gauge::{Gauge, Pace};

use super::options::LoadData;

/// What runs beside the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Load {
    /// Nothing, on an empty page cache.
    None,
    /// Nothing, with all that the job reads in memory.
    Cacherun,
    /// Processes that hand data on in a ring of pipes.
    Process,
    /// A file as large as the memory, written again and again.
    Io,
    /// A file half as large.
    IoHalf,
    /// The same in another place.
    IoOther,
    /// A file as large as the memory, read again and again.
    Read,
    /// A tree that is listed again and again, as by `ls -lR`.
    List,
    /// More memory than there is, touched again and again.
    Memory,
    /// An archive of a tree, made again and again.
    CreateArchive,
    /// An archive of a tree, unpacked again and again.
    ExtractArchive,
    /// Clients that work with files of their own, as dbench's do.
    Clients,
}

impl Load {
    /// Every load, in the order in which contest 0.61 printed them.
    pub const ALL: [Self; 12] = [
        Self::None,
        Self::Cacherun,
        Self::Process,
        Self::CreateArchive,
        Self::ExtractArchive,
        Self::IoHalf,
        Self::Io,
        Self::IoOther,
        Self::Read,
        Self::List,
        Self::Memory,
        Self::Clients,
    ];

    /// The name of contest's last release, which the cells carry.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "no_load",
            Self::Cacherun => "cacherun",
            Self::Process => "process_load",
            Self::Io => "io_load",
            Self::Read => "read_load",
            Self::List => "list_load",
            Self::IoHalf => "io_halfmem",
            Self::IoOther => "io_other",
            Self::Memory => "mem_load",
            Self::CreateArchive => "ctar_load",
            Self::ExtractArchive => "xtar_load",
            Self::Clients => "dbench_load",
        }
    }

    /// The load of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|load| load.name() == name)
    }

    /// Whether there is anything beside the job.
    #[must_use]
    pub fn runs(self) -> bool {
        !matches!(self, Self::None | Self::Cacherun)
    }

    /// Whether its steps are bytes.
    #[must_use]
    pub fn moves_bytes(self) -> bool {
        self.writes_file()
            || matches!(
                self,
                Self::Read | Self::CreateArchive | Self::ExtractArchive
            )
    }

    /// Whether it writes one file again and again.
    #[must_use]
    pub fn writes_file(self) -> bool {
        matches!(self, Self::Io | Self::IoHalf | Self::IoOther)
    }

    /// Whether it works on a tree that is laid down before.
    #[must_use]
    pub fn needs_tree(self) -> bool {
        matches!(
            self,
            Self::List | Self::CreateArchive | Self::ExtractArchive
        )
    }
}

/// What a load is given to run with.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub(super) load: Load,
    /// A directory of the load's own.
    pub(super) directory: PathBuf,
    /// Size of its file, bytes.
    pub(super) bytes: u64,
    /// Whether the memory that is touched is a file's pages.
    pub(super) pages_of_file: bool,
    /// What its file is filled with.
    pub(super) data: LoadData,
    /// Bytes per second that it does not go beyond.
    pub(super) rate_bytes_per_s: Option<u64>,
    /// Bytes after which a writer is held up, if nothing is written back meanwhile.
    pub(super) dirty_limit_bytes: u64,
    /// Processes of the ring.
    pub(super) processes: u32,
    /// Clients of the load that is like dbench.
    pub(super) clients: u32,
    pub(super) helper: PathBuf,
    pub(super) seed: Seed,
}

impl Setting {
    /// Steps of one whole unit, where they are known beforehand.
    fn unit_steps(&self) -> Option<u64> {
        match self.load {
            Load::Io | Load::IoHalf | Load::IoOther | Load::Read => Some(self.bytes),
            Load::Process => Some(ring::UNIT_TRIPS),
            _ => None,
        }
    }
}

/// What a load had done by some moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) at: Instant,
    pub(super) steps: u64,
    /// Time that does not count, ns.
    pub(super) paused_ns: u64,
    /// CPU time of the load, ns.
    pub(super) cpu_ns: u64,
}

/// A load under way. On drop it is stopped and waited for.
pub(super) struct RunningLoad {
    stop: StopFlag,
    gauge: Arc<Gauge>,
    begun: Instant,
    cpu_before_ns: u64,
    unit_steps: Option<u64>,
    thread: Option<JoinHandle<()>>,
    ended: Receiver<Result<(), String>>,
}

/// What a load came to.
pub(super) struct EndedLoad {
    /// From the word to stop until it had ended.
    pub(super) drain: Duration,
    /// From its start to its end.
    pub(super) elapsed: Duration,
    /// Whole units.
    pub(super) passes: u64,
    /// CPU time over all of that, ns.
    pub(super) cpu_ns: u64,
    /// Steps of a unit; `None` when there was no whole one.
    pub(super) unit_steps: Option<u64>,
}

impl RunningLoad {
    /// Starts the load.
    pub(super) fn start(setting: Setting) -> Result<Self, String> {
        let stop = StopFlag::new();
        let pace = setting
            .rate_bytes_per_s
            .map(|rate| Pace::new(rate, stop.clone()));
        let gauge = Arc::new(Gauge::paced(pace));
        let (told, ended) = channel();
        let unit_steps = setting.unit_steps();
        let (thread_stop, thread_gauge) = (stop.clone(), Arc::clone(&gauge));
        let cpu_before_ns = process_cpu().total_ns;
        let begun = Instant::now();
        let thread = std::thread::Builder::new()
            .name("load".to_owned())
            .spawn(move || {
                let result = work(&setting, &thread_gauge, &thread_stop);
                // Nobody listens any more once the load was dropped.
                let _ = told.send(result);
            })
            .map_err(|error| format!("cannot start a thread for the load: {error}"))?;
        Ok(Self {
            stop,
            gauge,
            begun,
            cpu_before_ns,
            unit_steps,
            thread: Some(thread),
            ended,
        })
    }

    /// Waits for `patience`.
    ///
    /// # Errors
    /// When the load ends meanwhile: it was not to.
    pub(super) fn go_on_for(&self, patience: Duration) -> Result<(), String> {
        match self.ended.recv_timeout(patience) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(Err(message)) => Err(format!("the load failed: {message}")),
            Ok(Ok(())) | Err(RecvTimeoutError::Disconnected) => {
                Err("the load ended before the job".to_owned())
            }
        }
    }

    /// Whether it goes on as it will.
    pub(super) fn is_steady(&self) -> bool {
        self.gauge.steady.load(Ordering::Relaxed)
    }

    /// What it has done so far.
    pub(super) fn read(&self) -> Reading {
        Reading {
            at: Instant::now(),
            steps: self.gauge.steps.load(Ordering::Relaxed),
            paused_ns: self.gauge.paused_ns.load(Ordering::Relaxed),
            cpu_ns: self.cpu_ns(),
        }
    }

    /// CPU time of this process since the load began, and of the load's own processes.
    /// Nothing else of this process works meanwhile.
    fn cpu_ns(&self) -> u64 {
        let own = process_cpu().total_ns.saturating_sub(self.cpu_before_ns);
        let helpers = self
            .gauge
            .helpers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        own + helpers
            .iter()
            .filter_map(|&id| running_cpu_ns(id))
            .sum::<u64>()
    }

    /// Stops it and waits until it has ended.
    pub(super) fn finish(mut self) -> Result<EndedLoad, String> {
        let told = Instant::now();
        let cpu_ns = self.cpu_ns();
        self.stop.raise();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            return Err("this is a bug in stiction: the load panicked".to_owned());
        }
        if let Ok(Err(message)) = self.ended.try_recv() {
            return Err(format!("the load failed: {message}"));
        }
        let passes = self.gauge.passes.load(Ordering::Relaxed);
        let last_pass = self.gauge.pass_steps.load(Ordering::Relaxed);
        Ok(EndedLoad {
            drain: told.elapsed(),
            elapsed: self.begun.elapsed(),
            passes,
            cpu_ns,
            unit_steps: self.unit_steps.or((passes > 0).then_some(last_pass)),
        })
    }
}

impl Drop for RunningLoad {
    fn drop(&mut self) {
        self.stop.raise();
        if let Some(thread) = self.thread.take() {
            // It panicked: what it did is of no use, and the trial has failed already.
            let _ = thread.join();
        }
    }
}

fn work(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> Result<(), String> {
    match setting.load {
        Load::None | Load::Cacherun => Ok(()),
        Load::Process => ring::run(setting, gauge, stop),
        Load::Io | Load::IoHalf | Load::IoOther => files::write_again(setting, gauge, stop),
        Load::Read => files::read_again(setting, gauge, stop),
        Load::List => list::run(setting, gauge, stop),
        Load::Memory => memory::run(setting, gauge, stop),
        Load::CreateArchive => archive::create_again(setting, gauge, stop),
        Load::ExtractArchive => archive::extract_again(setting, gauge, stop),
        Load::Clients => clients::run(setting, gauge, stop),
    }
}
