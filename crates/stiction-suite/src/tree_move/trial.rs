//! One trial: the tree laid down, its rounds, and whether it came back whole.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use stiction_core::{
    Caveat, CaveatCode, Digest, Direction, Phase, PhaseKind, Plan, PlannedTrial, Seed, SkipCode,
    SkipReason, TrialOutcome,
};
use stiction_engine::{IoFailure, Routine, Stopwatch, Target, Timetable};
use stiction_host::admit_bytes;

use super::options::{Generated, TreeMoveParameters};
use super::shape::{PIECE_BYTES_MAX, fill, shape};
use super::walk::{self, DIRECTIONS};
use crate::ground::on_ground;
use crate::measure::ended_otherwise;
use crate::metadata::{Folder, Made, MadeSync, directions};
use crate::order::trial_seed;
use crate::perform::{Performance, perform};
use crate::room::reserve;
use crate::{Context, Ground, SuiteError, TrialReport};

/// Length of a recording interval.
const INTERVAL_NS: u64 = 100_000_000;
/// Space that an entry takes beside its content, at the most common block size.
const ENTRY_BYTES: u64 = 4096;

/// Runs `trial` of `plan`.
pub(super) fn run(
    plan: &Plan,
    trial: &PlannedTrial,
    context: &mut Context<'_>,
) -> Result<TrialReport, SuiteError> {
    let parameters: TreeMoveParameters = serde_json::from_value(plan.parameters.clone())?;
    let skipped = |reason| Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
    if let Err(reason) = admit(&parameters, context) {
        return skipped(reason);
    }
    let seed = trial_seed(plan, trial);
    on_ground(context, &[0, 1], 2, |ground, context| {
        let paths = ground.paths();
        let [from, to] = &paths[..] else {
            let message = "two directories are needed".to_owned();
            return Ok(TrialOutcome::Failed { message });
        };
        let moving = Moving {
            parameters: &parameters,
            ground,
            from,
            to,
            seed,
        };
        moving.all(context)
    })
}

/// Whether the trial can run, before anything is made.
fn admit(parameters: &TreeMoveParameters, context: &Context<'_>) -> Result<(), SkipReason> {
    let places: Vec<&Path> = context.places.iter().map(crate::Place::path).collect();
    let (from, to) = (places[0], places[1]);
    let tree = tree(context);
    if let Some(tree) = &tree {
        outside(tree, &[from, to])?;
    }
    let device = |path: &Path| {
        path.metadata().map(|found| found.dev()).map_err(|error| {
            let detail = format!("{} cannot be looked at: {error}", path.display());
            SkipReason::new(SkipCode::NotPermitted, detail)
        })
    };
    let is_one = device(from)? == device(to)?;
    if is_one && !parameters.same_filesystem {
        return Err(SkipReason::new(
            SkipCode::UnsafeTarget,
            format!(
                "{} and {} are on the same filesystem, where mv renames and copies nothing; \
                 name another directory, or ask for --same-filesystem",
                from.display(),
                to.display()
            ),
        ));
    }
    let needed = needed_bytes(parameters, tree.as_deref())?;
    let share = reserve(parameters.may_fill);
    let both = if is_one { 2 } else { 1 };
    admit_bytes(from, needed.saturating_mul(both), share)?;
    admit_bytes(to, needed.saturating_mul(both), share)
}

/// The user's tree, where there is one. A link to it is followed, unlike those inside.
fn tree(context: &Context<'_>) -> Option<PathBuf> {
    let named = context.places.get(2)?.path();
    // What is wrong with it is said when it is gone through.
    Some(named.canonicalize().unwrap_or_else(|_| named.to_owned()))
}

/// Refuses a tree that has one of the directories inside, as the copy would be part of
/// what is copied.
fn outside(tree: &Path, directories: &[&Path]) -> Result<(), SkipReason> {
    let inside = |directory: &&&Path| {
        let real = directory.canonicalize();
        real.is_ok_and(|real| real.starts_with(tree))
    };
    match directories.iter().find(inside) {
        None => Ok(()),
        Some(directory) => Err(SkipReason::new(
            SkipCode::UnsafeTarget,
            format!(
                "{} lies in the tree {}, which would be copied into itself: name a directory \
                 outside of it",
                directory.display(),
                tree.display()
            ),
        )),
    }
}

/// Bytes that a copy of the tree takes, at most.
fn needed_bytes(parameters: &TreeMoveParameters, tree: Option<&Path>) -> Result<u64, SkipReason> {
    let (entries, bytes) = match (parameters.generated, tree) {
        (Some(generated), _) => (
            u64::from(generated.files) + u64::from(generated.directories),
            generated.bytes,
        ),
        (None, Some(tree)) => {
            let amount = walk::amount(tree)
                .map_err(|error| SkipReason::new(SkipCode::NotPermitted, error.to_string()))?;
            (amount.entries, amount.bytes)
        }
        (None, None) => (0, 0),
    };
    Ok(entries.saturating_mul(ENTRY_BYTES).saturating_add(bytes))
}

/// A trial under way.
struct Moving<'a> {
    parameters: &'a TreeMoveParameters,
    ground: &'a Ground,
    /// Where the tree begins.
    from: &'a PathBuf,
    /// Where it goes.
    to: &'a PathBuf,
    seed: Seed,
}

impl Moving<'_> {
    fn all(&self, context: &mut Context<'_>) -> Result<TrialOutcome, SuiteError> {
        let phase = self.lay_down(context)?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(outcome);
        }
        let before = match walk::checksum(self.from) {
            Ok(sum) => sum,
            Err(error) => {
                let message = format!("lay_down: {error}");
                return Ok(TrialOutcome::Failed { message });
            }
        };
        for _ in 0..self.parameters.rounds {
            for half in [
                Half {
                    names: ["copy_out", "delete_out", "sync_out"],
                    from: self.from,
                    to: self.to,
                    source: 0,
                },
                Half {
                    names: ["copy_back", "delete_back", "sync_back"],
                    from: self.to,
                    to: self.from,
                    source: 1,
                },
            ] {
                if let Some(outcome) = self.half(&half, context)? {
                    return Ok(outcome);
                }
            }
        }
        if !self.parameters.settles {
            let phase = self.sync("sync", context)?;
            if let Some(outcome) = ended_otherwise(&phase) {
                return Ok(outcome);
            }
        }
        self.verify(&before, context)
    }

    /// One way; the outcome where it did not come to its planned end.
    fn half(
        &self,
        half: &Half<'_>,
        context: &mut Context<'_>,
    ) -> Result<Option<TrialOutcome>, SuiteError> {
        let order = self.parameters.order;
        let [copy, delete, sync] = half.names;
        let mut copying = self.performance(copy, PhaseKind::Measure, moving(), {
            let (from, to) = (half.from, half.to);
            Box::new(move |stopwatch| walk::copy(from, to, order, stopwatch))
        });
        copying.writes_below = vec![half.to.to_owned()];
        // What is read must come from the source; what is written may still be in memory.
        if let Some(stack) = self.ground.stacks().get(half.source) {
            copying.stacks = std::slice::from_ref(stack);
            copying
                .notes
                .push(format!("judged by what was read from {}", stack.path));
        }
        if self.parameters.settles {
            copying.caveats.extend(self.drop_caches(half.from, context));
        }
        if context.stop.is_raised() {
            return Ok(Some(TrialOutcome::Interrupted));
        }
        let phase = perform(context, copying)?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(Some(outcome));
        }
        let from = half.from;
        let deleting = self.performance(
            delete,
            PhaseKind::Measure,
            moving(),
            Box::new(move |stopwatch| walk::delete(from, order, stopwatch)),
        );
        let phase = perform(context, deleting)?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(Some(outcome));
        }
        if !self.parameters.settles {
            return Ok(None);
        }
        let phase = self.sync(sync, context)?;
        Ok(ended_otherwise(&phase))
    }

    /// The tree as it begins, durable.
    fn lay_down(&self, context: &mut Context<'_>) -> Result<Phase, SuiteError> {
        let (from, order, seed) = (self.from, self.parameters.order, self.seed);
        let generated = self.parameters.generated;
        let tree = tree(context);
        let routine: Routine<'_> = Box::new(move |stopwatch| {
            match (generated, tree) {
                (Some(generated), _) => generate(from, generated, seed, stopwatch)?,
                (None, Some(tree)) => walk::copy(&tree, from, order, stopwatch)?,
                (None, None) => {}
            }
            Folder::open(from, 0)?.sync_filesystem(stopwatch)
        });
        let timetable = Timetable {
            also: directions(),
            ..moving()
        };
        let mut performance = self.performance("lay_down", PhaseKind::LayDown, timetable, routine);
        performance.writes_below = vec![from.clone()];
        Ok(perform(context, performance)?)
    }

    /// Makes both filesystems durable.
    fn sync(&self, name: &'static str, context: &mut Context<'_>) -> Result<Phase, SuiteError> {
        let parents = [self.from, self.to].map(|path| path.parent().unwrap_or(path).to_owned());
        let routine: Routine<'_> = Box::new(move |stopwatch| {
            for parent in parents {
                Folder::open(&parent, 0)?.sync_filesystem(stopwatch)?;
            }
            Ok(())
        });
        let timetable = Timetable {
            counted: &[Direction::Sync],
            also: &[],
            interval_ns: INTERVAL_NS,
            duration_ns: None,
        };
        let mut performance = self.performance(name, PhaseKind::Measure, timetable, routine);
        performance.writes_below = vec![self.from.clone(), self.to.clone()];
        Ok(perform(context, performance)?)
    }

    /// Whether what is there is what was laid down.
    fn verify(
        &self,
        before: &Digest,
        context: &mut Context<'_>,
    ) -> Result<TrialOutcome, SuiteError> {
        let mut after = None;
        let (root, found) = (self.from, &mut after);
        let routine: Routine<'_> = Box::new(move |stopwatch| {
            let begun = stopwatch.now();
            *found = Some(walk::checksum(root)?);
            stopwatch.record(Direction::Whole, begun, 0);
            Ok(())
        });
        let performance = self.performance("verify", PhaseKind::Verify, moving(), routine);
        let phase = perform(context, performance)?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(outcome);
        }
        Ok(if after.as_ref() == Some(before) {
            TrialOutcome::Completed
        } else {
            TrialOutcome::Failed {
                message: format!(
                    "verify: the tree did not come back as it was: its checksum was {} and is {}",
                    before.short(),
                    after.as_ref().map_or("none", Digest::short)
                ),
            }
        })
    }

    /// Drops what is to be copied from the page cache; a doubt where it stays.
    fn drop_caches(&self, root: &Path, context: &Context<'_>) -> Option<Caveat> {
        match walk::amount(root) {
            Ok(amount) => {
                let targets = amount.files.into_iter().map(Target::File).collect();
                Ground::of(targets, Vec::new()).drop_caches(context.stop)
            }
            Err(error) => Some(Caveat::new(CaveatCode::CacheNotDropped, error.to_string())),
        }
    }

    fn performance<'p>(
        &'p self,
        name: &'static str,
        kind: PhaseKind,
        timetable: Timetable<'p>,
        routine: Routine<'p>,
    ) -> Performance<'p> {
        Performance {
            name,
            kind,
            job: None,
            asked_operations: None,
            timetable,
            routines: vec![routine],
            stacks: self.ground.stacks(),
            files: Vec::new(),
            writes_below: Vec::new(),
            direct_granted: None,
            caveats: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// One way of a round.
struct Half<'a> {
    /// Of its phases.
    names: [&'static str; 3],
    from: &'a Path,
    to: &'a Path,
    /// Number of the place that is copied from.
    source: usize,
}

/// What is recorded of a copy or a deletion: files as wholes, and each call.
fn moving() -> Timetable<'static> {
    Timetable {
        counted: &[Direction::Whole],
        also: DIRECTIONS,
        interval_ns: INTERVAL_NS,
        duration_ns: None,
    }
}

/// Makes the tree at `root`.
pub(crate) fn generate(
    root: &Path,
    generated: Generated,
    seed: Seed,
    stopwatch: &mut Stopwatch<'_>,
) -> Result<(), IoFailure> {
    let shape = shape(generated, seed.stream(0));
    let parent = Folder::open(root.parent().unwrap_or(root), 0)?;
    parent.make_directory(stopwatch, root.file_name().unwrap_or_default())?;
    for directory in &shape.directories[1..] {
        let inside = root.join(directory.parent().unwrap_or(directory));
        let name = directory.file_name().unwrap_or_default();
        Folder::open(&inside, 0)?.make_directory(stopwatch, name)?;
    }
    let contents = seed.stream(1);
    let mut piece = Vec::new();
    for (number, file) in (0..).zip(&shape.files) {
        let length = file.bytes.clamp(1, PIECE_BYTES_MAX) as usize;
        piece.resize(length, 0);
        fill(&mut piece, contents.stream(number));
        let folder = Folder::open(&root.join(&shape.directories[file.directory]), 0)?;
        let made = Made {
            bytes: file.bytes,
            piece: &piece,
            sync: MadeSync::Nothing,
        };
        folder.create(stopwatch, file.name.as_ref(), made)?;
        if stopwatch.is_over() {
            break;
        }
    }
    Ok(())
}
