//! tree-move: a tree moved to another filesystem and back, as `mv` does it: copied,
//! then deleted.

mod options;
mod plan;
mod shape;
mod trial;
mod walk;

pub(crate) use trial::generate;
pub(crate) use walk::{amount, copy};

pub use options::{EntryOrder, Generated, TreeMoveOptions, TreeMoveParameters};

use stiction_core::{Environment, Plan, PlannedTrial, Seed, SkipReason};

use crate::{Context, SuiteError, TrialReport, Workload, requirements};

/// The workload's name.
const NAME: &str = "tree-move";

/// tree-move with its options. The first place is where the tree begins, the second
/// where it goes; the third, if there is one, is a tree of the user's that is copied
/// before and never touched otherwise.
///
/// A trial lays the tree down (`lay_down`) and makes its rounds: `copy_out` and
/// `delete_out`, `copy_back` and `delete_back`. Each half ends with `sync_out` or
/// `sync_back`, and the copy is dropped from the page cache before it is copied on; in
/// classic mode one `sync` comes at the end. Then `verify` reads the tree and compares
/// its checksum with that of the beginning. All that is deleted lies in directories of
/// our own.
///
/// | | classic | default |
/// |---|---|---|
/// | tree | 12 000 files in 750 directories, 150 MiB | the same |
/// | rounds of a trial | 5 | 1 |
/// | runs | 1 | 3 |
/// | sync and empty cache | never before the end | after each half |
#[derive(Clone, Debug, Default)]
pub struct TreeMove {
    /// What was asked for.
    pub options: TreeMoveOptions,
}

impl Workload for TreeMove {
    fn name(&self) -> &'static str {
        NAME
    }

    fn plan(&self, seed: Seed, environment: &Environment) -> Result<Plan, SuiteError> {
        plan::plan(&self.options, seed, environment)
    }

    fn requires(&self, _plan: &Plan, environment: &Environment) -> Vec<SkipReason> {
        // The user's tree is only read.
        let mut written = environment.clone();
        written.targets.truncate(2);
        requirements::writable(&written)
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
