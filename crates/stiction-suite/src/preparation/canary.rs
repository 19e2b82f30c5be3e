//! The same short runs again and again in a session: what they come to tells whether the
//! machine itself has changed.

use std::ffi::OsStr;
use std::path::PathBuf;

use stiction_core::{
    Access, Action, BackendKind, Create, Data, Job, PhaseKind, Region, Seed, SyncKind, TargetStack,
};
use stiction_engine::Target;
use stiction_host::{HostError, OwnDirectory, UndoJournal, admit_bytes, fill_file_cache};

use crate::means;
use crate::measure::{Request, measure};
use crate::room::reserve;
use crate::{Context, EventsError, Ground, Place};

/// Size of the file that the device's canary reads, bytes.
const FILE_BYTES: u64 = 64 << 20;
/// How much of it the memory's canary reads, bytes: more than the caches of most CPUs.
const IN_MEMORY_BYTES: u64 = 32 << 20;
/// How long each runs, ns.
const CPU_NS: u64 = 200_000_000;
const MEMORY_NS: u64 = 200_000_000;
const DEVICE_NS: u64 = 600_000_000;
/// Intervals that each is recorded in: their spread tells how sure it is, ns.
const INTERVAL_NS: u64 = 20_000_000;
/// The same in every session, so that sessions compare.
const SEED: Seed = Seed(0x0000_6361_6e61_7279);

/// Where canaries run, as long as a session goes on: a file of their own in a directory
/// of the user's, always the same blocks; on a granted device its beginning, and of a
/// file of the user's nothing but reads.
#[derive(Debug)]
pub struct CanaryRun {
    own: Option<OwnDirectory>,
    ground: Ground,
    length_bytes: u64,
    is_laid: bool,
}

impl CanaryRun {
    /// Makes room for them at `place`, which stands on `stack`.
    ///
    /// # Errors
    /// In words, when there is no room, or the place is too small.
    pub fn make(
        place: &Place,
        stack: Option<&TargetStack>,
        may_fill: bool,
        undo: &UndoJournal,
    ) -> Result<Self, String> {
        let text = |error: HostError| error.to_string();
        let (own, target, length) = match place {
            Place::Directory(path) => {
                admit_bytes(path, FILE_BYTES, reserve(may_fill)).map_err(|reason| reason.detail)?;
                let own = OwnDirectory::create(path, undo).map_err(text)?;
                let file = own.path().join(OsStr::new("canary"));
                (Some(own), Target::File(file), FILE_BYTES)
            }
            Place::Device(device) => {
                let length = device.length_bytes();
                (None, Target::Device(device.clone()), length)
            }
            Place::File(path) => {
                let length = path.metadata().map_err(|error| error.to_string())?.len();
                (None, Target::File(path.clone()), length)
            }
        };
        let length_bytes = length.min(FILE_BYTES) >> 20 << 20;
        if length_bytes == 0 {
            return Err(format!("{} is too small for it", place.path().display()));
        }
        Ok(Self {
            is_laid: own.is_none(),
            own,
            ground: Ground::of(vec![target], stack.cloned().into_iter().collect()),
            length_bytes,
        })
    }

    /// Runs all of them once: the CPU alone, copies from memory, reads from the device.
    ///
    /// # Errors
    /// When the events could not keep a phase.
    pub fn run(&mut self, context: &mut Context<'_>) -> Result<(), EventsError> {
        if !self.is_laid {
            self.is_laid = true;
            let lay = Job {
                name: "canary_lay_down".to_owned(),
                action: Action::Write,
                block_size_bytes: 1 << 20,
                create: Create::Truncate,
                data: Data::Unique,
                sync_at_end: Some(SyncKind::Fsync),
                ..self.whole()
            };
            measure(context, &self.ground, Request::new(PhaseKind::Prepare, lay))?;
        }
        let cpu = Job {
            name: "canary_cpu".to_owned(),
            backend: BackendKind::Null,
            ..self.timed(CPU_NS)
        };
        self.measured(context, cpu)?;
        let paths: Vec<PathBuf> = self.ground.paths();
        if fill_file_cache(&paths, || context.stop.is_raised()).is_ok() {
            let memory = Job {
                name: "canary_memory".to_owned(),
                access: Access::Sequential,
                block_size_bytes: 1 << 20,
                regions: vec![self.region(IN_MEMORY_BYTES)],
                ..self.timed(MEMORY_NS)
            };
            self.measured(context, memory)?;
        }
        super::dropped(context.stop, &paths);
        if self.reads_past_the_cache(context) {
            let device = Job {
                name: "canary_device".to_owned(),
                direct: true,
                ..self.timed(DEVICE_NS)
            };
            self.measured(context, device)?;
        }
        Ok(())
    }

    /// Takes away what was made.
    ///
    /// # Errors
    /// When something could not be removed; it stays in the undo journal.
    pub fn close(self) -> Result<(), HostError> {
        self.own.map_or(Ok(()), OwnDirectory::close)
    }

    fn measured(&self, context: &mut Context<'_>, job: Job) -> Result<(), EventsError> {
        measure(context, &self.ground, Request::new(PhaseKind::Prepare, job)).map(drop)
    }

    fn reads_past_the_cache(&self, context: &Context<'_>) -> bool {
        means::reads_direct(context, &self.ground)
    }

    fn region(&self, most_bytes: u64) -> Region {
        Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: self.length_bytes.min(most_bytes),
        }
    }

    fn whole(&self) -> Job {
        Job {
            regions: vec![self.region(u64::MAX)],
            interval_ns: INTERVAL_NS,
            seed: SEED,
            ..Job::default()
        }
    }

    /// Random reads for so long.
    fn timed(&self, duration_ns: u64) -> Job {
        Job {
            access: Access::RandomIndependent,
            duration_ns: Some(duration_ns),
            once: false,
            ..self.whole()
        }
    }
}
