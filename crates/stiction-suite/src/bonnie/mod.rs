//! bonnie: one file by bytes, by chunks and at random, and many small ones.

mod chars;
mod chunks;
mod files;
mod names;
mod options;
mod parameters;
mod resolve;
mod trial;

pub use options::{BonnieMode, BonnieOptions, BonniePhase, BonnieProgram, FileAmount, FileKind};
pub use parameters::{BonnieParameters, FileWork, Naming, PerChar, SeekAmount, Updates};

use stiction_core::{Environment, Plan, PlannedTrial, Seed, SkipReason};

use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "bonnie";

/// Bonnie and Bonnie++ with their options.
///
/// A trial is all phases once, in a directory of its own: six on one file (or one for
/// each worker), six on sets of small files. They are `putc`, `put_block`, `rewrite`,
/// `getc`, `get_block`, `seeks`, and `create`, `stat`, `delete` of `_sequential` and
/// `_random`.
///
/// What it chooses where nothing is asked for:
///
/// | | Bonnie | Bonnie++ 1.03e | 1.96, 2.00a | default |
/// |---|---|---|---|---|
/// | size | 100 MiB | twice the memory | twice the memory | 2 GiB, half the free space at most |
/// | chunk | 8 KiB; 16 KiB (64-bit) | 8 KiB | 8 KiB | 8 KiB |
/// | a byte at a time | through a buffer, all | through a buffer, all | a call each, 3 MiB | through a buffer, 32 MiB |
/// | seeks | 4000 by 3 | 8192 by 3 | 8192 by 5 | 5 s by 5 |
/// | written back | every tenth | every tenth | where ten divides the draw | every tenth |
/// | sync at the end | none; yes (64-bit) | none | yes | yes, timed apart |
/// | files | none | 16 Ki, empty | 16 Ki, empty | 16 Ki, empty |
/// | sync after files | - | none | 2.00a only | yes, timed apart |
/// | data | zeros | zeros | zeros | unique |
/// | page cache | left alone | left alone | left alone | dropped before each phase, and checked |
/// | runs | 1 | 1 | 1 | 3 |
#[derive(Clone, Debug, Default)]
pub struct Bonnie {
    /// What was asked for.
    pub options: BonnieOptions,
}

impl Workload for Bonnie {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        resolve::plan(&self.options, seed, environment)
    }

    fn requires(&self, _plan: &Plan, environment: &Environment) -> Vec<SkipReason> {
        requirements::writable(environment)
    }

    fn run(
        &self,
        plan: &Plan,
        trial: &PlannedTrial,
        context: &mut Context<'_>,
    ) -> Result<TrialReport, SuiteError> {
        trial::run(plan, trial, context)
    }
}
