//! What a simulated device is like.

use stiction_core::Seed;

/// A device that is not there. Operations on it take no time of ours: the clock of the
/// run is the device's own, and stands still but for waiting.
///
/// It is for tests, and no job of a user's can name it: only code can make such a
/// [`Target`](crate::Target). All targets of a job are simulated or none is. Whatever the
/// backend of the job, its operations go to the device; each worker has a device of its
/// own. Nothing is stored: what is read is whatever the buffer held.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// Operations that are served at once, 1 or more; others wait in the order in which
    /// they came.
    pub servers: u32,
    /// How long an operation is served.
    pub service: Service,
    /// How long a sync takes, ns.
    pub sync_ns: u64,
    /// Before operation so-and-so (from 1), in the order in which they begin, all servers
    /// pause for so long, ns, when they have done what they are at.
    pub stalls: Vec<(u64, u64)>,
    /// What goes wrong with operation so-and-so.
    pub faults: Vec<(u64, SimulatedFault)>,
    /// What chance is drawn from.
    pub seed: Seed,
}

/// How long an operation is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Always as long, ns.
    Fixed {
        /// How long, 1 or more.
        ns: u64,
    },
    /// By chance, as an exponential distribution has it.
    Exponential {
        /// The mean, ns.
        mean_ns: u64,
    },
}

/// What goes wrong with an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatedFault {
    /// It fails with this error number.
    Error {
        /// As of errno(3).
        errno: i32,
    },
    /// It moves so many bytes, and the rest when it is asked for again.
    Short {
        /// Fewer than it was to move.
        bytes: u32,
    },
    /// It moves so many bytes, and there are no more.
    EndOfFile {
        /// Fewer than it was to move.
        bytes: u32,
    },
}

impl Simulation {
    /// A device of that many servers that each take `ns` for an operation.
    #[must_use]
    pub fn of(servers: u32, ns: u64) -> Self {
        Self {
            servers,
            service: Service::Fixed { ns },
            sync_ns: 0,
            stalls: Vec::new(),
            faults: Vec::new(),
            seed: Seed(0),
        }
    }

    pub(crate) fn stall_ns(&self, operation: u64) -> u64 {
        let stalls = self.stalls.iter();
        stalls
            .filter(|(number, _)| *number == operation)
            .map(|(_, ns)| ns)
            .sum()
    }

    pub(crate) fn fault(&self, operation: u64) -> Option<SimulatedFault> {
        let mut faults = self.faults.iter();
        faults
            .find(|(number, _)| *number == operation)
            .map(|(_, fault)| *fault)
    }

    /// The number of bytes after which a short operation has no more.
    pub(crate) fn ends_at(&self) -> Option<u64> {
        self.faults.iter().find_map(|(_, fault)| match fault {
            SimulatedFault::EndOfFile { bytes } => Some(u64::from(*bytes)),
            _ => None,
        })
    }
}
