//! The counters that explain a number and check none.

use std::time::Instant;

use stiction_core::{TargetStack, WitnessCost, Witnesses};

use super::filesystems::Filesystems;
use super::heat::HeatReading;
use super::own_process::OwnProcess;
use crate::Roots;

/// Readings before a phase, those that take longest first.
#[derive(Debug)]
pub(super) struct Explaining {
    heat: Costed<HeatReading>,
    filesystems: Costed<Filesystems>,
    process: Costed<OwnProcess>,
}

impl Explaining {
    pub(super) fn begin(roots: &Roots, stacks: &[TargetStack]) -> Self {
        Self {
            heat: Costed::begin("heat", || HeatReading::begin(roots, stacks)),
            filesystems: Costed::begin("filesystem counters", || Filesystems::begin(roots, stacks)),
            process: Costed::begin("process accounting", || OwnProcess::begin(roots)),
        }
    }

    /// Takes the readings after the phase into `seen`, in the opposite order.
    pub(super) fn finish(self, roots: &Roots, seen: &mut Witnesses) {
        self.process
            .finish(seen, |process, seen| process.finish(roots, seen));
        self.filesystems
            .finish(seen, |filesystems, seen| filesystems.finish(roots, seen));
        self.heat
            .finish(seen, |heat, seen| heat.finish(roots, seen));
    }
}

/// A witness and how long its first reading took.
#[derive(Debug)]
struct Costed<T> {
    name: &'static str,
    witness: T,
    ns: u64,
}

impl<T> Costed<T> {
    fn begin(name: &'static str, begin: impl FnOnce() -> T) -> Self {
        let start = Instant::now();
        let witness = begin();
        Self {
            name,
            witness,
            ns: ns_since(start),
        }
    }

    fn finish(self, seen: &mut Witnesses, finish: impl FnOnce(T, &mut Witnesses)) {
        let start = Instant::now();
        finish(self.witness, seen);
        seen.costs.push(WitnessCost {
            witness: self.name.to_owned(),
            beside_ns: self.ns + ns_since(start),
            during_cpu_ns: 0,
            records: 0,
        });
    }
}

fn ns_since(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
