//! The counters that explain a number and check none.

use std::time::{Duration, Instant};

use stiction_core::{TargetStack, Witnesses};

use super::cost;
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
    took: Duration,
}

impl<T> Costed<T> {
    fn begin(name: &'static str, begin: impl FnOnce() -> T) -> Self {
        let begun = Instant::now();
        Self {
            name,
            witness: begin(),
            took: begun.elapsed(),
        }
    }

    fn finish(self, seen: &mut Witnesses, finish: impl FnOnce(T, &mut Witnesses)) {
        let begun = Instant::now();
        finish(self.witness, seen);
        seen.costs
            .push(cost(self.name, self.took + begun.elapsed()));
    }
}
