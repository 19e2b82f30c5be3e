//! One trial: admission, the phases in a directory of our own, removal.

use std::path::PathBuf;

use stiction_core::{
    Caveat, Data, Phase, PhaseKind, Plan, PlannedTrial, Seed, SkipCode, SkipReason, TrialOutcome,
};
use stiction_engine::{Routine, Timetable};
use stiction_host::admit_bytes;

use super::chunks::{file_bytes, job, lay_down, rewrite, seeks, seeks_ns, share};
use super::files::{FileSet, own_name};
use super::options::{BonniePhase, FileKind};
use super::parameters::{BonnieParameters, FileWork};
use super::{chars, chunks, files};
use crate::measure::{Request, ended_otherwise, measure};
use crate::perform::{Performance, perform};
use crate::room::reserve;
use crate::{Context, Ground, Place, SuiteError, TrialReport, means};

/// The stream of the plan's seed that both sets of files draw from, beside the phases'.
const FILES_STREAM: u64 = 1 << 32;

/// Runs `trial` of `plan`.
pub(super) fn run(
    plan: &Plan,
    trial: &PlannedTrial,
    context: &mut Context<'_>,
) -> Result<TrialReport, SuiteError> {
    let parameters: BonnieParameters = serde_json::from_value(plan.parameters.clone())?;
    let skipped = |reason| Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
    if let Err(reason) = admit(&parameters, context) {
        return skipped(reason);
    }
    let ground = match Ground::make(context, &[0], parameters.concurrency) {
        Ok(ground) => ground,
        Err(reason) => return skipped(reason),
    };
    let outcome = match Run::new(&parameters, &ground, plan.seed, trial, context) {
        Ok(run) => run.phases(context)?,
        Err(message) => TrialOutcome::Failed { message },
    };
    if let Err(error) = ground.close() {
        context
            .events
            .note(&format!("{error}; `stiction clean` removes what is left"));
    }
    Ok(TrialReport::new(outcome))
}

/// Whether the trial can run, before anything is made.
fn admit(parameters: &BonnieParameters, context: &Context<'_>) -> Result<(), SkipReason> {
    if context.stop.is_raised() {
        return Err(SkipReason::new(
            SkipCode::Interrupted,
            "the run was stopped before this repetition",
        ));
    }
    let Some(Place::Directory(path)) = context.places.first() else {
        return Err(SkipReason::new(
            SkipCode::UnsafeTarget,
            "bonnie works on files in a directory, not on a device; name a directory",
        ));
    };
    let of_files = match parameters.files.map(|files| (files.count, files.file)) {
        Some((count, FileKind::Regular { bytes_max, .. })) => count.saturating_mul(bytes_max),
        _ => 0,
    };
    let wanted = parameters.size_bytes.saturating_add(of_files);
    admit_bytes(path, wanted, reserve(parameters.may_fill))
}

/// What the phases of one trial have in common.
struct Run<'a> {
    parameters: &'a BonnieParameters,
    ground: &'a Ground,
    /// The directory that everything is in.
    root: PathBuf,
    /// The empty file that links are to.
    original: PathBuf,
    /// What small files are filled with.
    piece: Vec<u8>,
    /// Whether the page cache is avoided, where that was asked for.
    direct_granted: Option<bool>,
    /// The doubt when it could not be.
    direct_caveat: Option<Caveat>,
    seed: Seed,
}

impl<'a> Run<'a> {
    fn new(
        parameters: &'a BonnieParameters,
        ground: &'a Ground,
        seed: Seed,
        trial: &PlannedTrial,
        context: &Context<'_>,
    ) -> Result<Self, String> {
        let root = ground
            .directory()
            .ok_or("bonnie works in a directory of its own, and there is none")?
            .to_owned();
        let original = root.join("original");
        let links = parameters
            .files
            .is_some_and(|work| !matches!(work.file, FileKind::Regular { .. }));
        if links {
            std::fs::File::create_new(&original)
                .map_err(|error| format!("create {}: {error}", original.display()))?;
        }
        let means = parameters
            .direct
            .then(|| means::find(context, ground, parameters.chunk_bytes));
        Ok(Self {
            parameters,
            ground,
            root,
            original,
            piece: piece(parameters, seed),
            direct_granted: means.as_ref().map(|means| means.direct),
            direct_caveat: means.and_then(|means| means.direct_caveat),
            seed: seed.stream(u64::from(trial.repetition)),
        })
    }

    fn is_direct(&self) -> bool {
        self.direct_granted == Some(true)
    }

    /// Runs the phases until one does not come to its planned end: what follows would
    /// be about other files than planned.
    fn phases(&self, context: &mut Context<'_>) -> Result<TrialOutcome, SuiteError> {
        let parameters = self.parameters;
        // Bytes of each worker's file that have been written.
        let mut held = 0;
        for &phase in &parameters.phases {
            if self.needed(phase) > held {
                let laid_down = self.lay_down(context)?;
                if let Some(outcome) = ended_otherwise(&laid_down) {
                    return Ok(outcome);
                }
                held = file_bytes(parameters);
            }
            let undropped = (parameters.drop_caches && !phase.is_of_files())
                .then(|| self.ground.drop_caches(context.stop))
                .flatten();
            if context.stop.is_raised() {
                return Ok(TrialOutcome::Interrupted);
            }
            let done = self.phase(phase, undropped, context)?;
            if let Some(outcome) = ended_otherwise(&done) {
                return Ok(outcome);
            }
            held = match phase {
                BonniePhase::Putc => self.per_char_bytes(0),
                BonniePhase::PutBlock => file_bytes(parameters),
                _ => held,
            };
        }
        Ok(TrialOutcome::Completed)
    }

    /// Bytes of each worker's file that a phase wants to find.
    fn needed(&self, phase: BonniePhase) -> u64 {
        match phase {
            BonniePhase::Rewrite | BonniePhase::GetBlock | BonniePhase::Seeks => {
                file_bytes(self.parameters)
            }
            BonniePhase::Getc => self.per_char_bytes(0),
            _ => 0,
        }
    }

    fn per_char_bytes(&self, worker: u32) -> u64 {
        share(
            self.parameters.per_char_bytes,
            self.parameters.concurrency,
            worker,
        )
    }

    fn lay_down(&self, context: &mut Context<'_>) -> Result<Phase, SuiteError> {
        let mut job = lay_down(self.parameters, self.seed);
        job.direct = self.is_direct();
        let request = Request::new(PhaseKind::LayDown, job);
        Ok(measure(context, self.ground, request)?)
    }

    fn phase(
        &self,
        phase: BonniePhase,
        undropped: Option<Caveat>,
        context: &mut Context<'_>,
    ) -> Result<Phase, SuiteError> {
        let parameters = self.parameters;
        let seed = self.seed.stream(phase as u64);
        match phase {
            BonniePhase::PutBlock | BonniePhase::GetBlock => {
                let mut job = job(parameters, phase, seed);
                job.direct = self.is_direct();
                let request = Request {
                    name: phase.name().to_owned(),
                    caveats: undropped
                        .into_iter()
                        .chain(self.direct_caveat.clone())
                        .collect(),
                    ..Request::new(PhaseKind::Measure, job)
                };
                Ok(measure(context, self.ground, request)?)
            }
            BonniePhase::Putc | BonniePhase::Getc => self.by_bytes(phase, undropped, context),
            BonniePhase::Rewrite => {
                let direct = self.is_direct();
                let routines =
                    self.workers(|path, worker| rewrite(parameters, path, worker, direct));
                let timetable = chunks::timetable(parameters, None);
                self.by_chunks(phase, timetable, routines, undropped, context)
            }
            BonniePhase::Seeks => {
                let paths = self.ground.paths();
                let routines = (0..parameters.seekers).map(|seeker| {
                    let path = paths[seeker as usize % paths.len()].clone();
                    let seed = seed.stream(u64::from(seeker));
                    seeks(parameters, path, seeker, self.is_direct(), seed)
                });
                let timetable = chunks::timetable(parameters, seeks_ns(parameters));
                self.by_chunks(phase, timetable, routines.collect(), undropped, context)
            }
            _ => self.of_files(phase, context),
        }
    }

    /// A routine for each worker's file.
    fn workers<'r>(&self, routine: impl Fn(PathBuf, u32) -> Routine<'r>) -> Vec<Routine<'r>> {
        let paths = self.ground.paths().into_iter();
        paths
            .zip(0..)
            .map(|(path, worker)| routine(path, worker))
            .collect()
    }

    fn by_bytes(
        &self,
        phase: BonniePhase,
        undropped: Option<Caveat>,
        context: &mut Context<'_>,
    ) -> Result<Phase, SuiteError> {
        let parameters = self.parameters;
        let writes = phase == BonniePhase::Putc;
        let routines = self.workers(|path, worker| {
            let bytes = self.per_char_bytes(worker);
            if writes {
                chars::put(parameters, path, worker, bytes)
            } else {
                chars::get(parameters, path, worker, bytes)
            }
        });
        let mut performance =
            self.performance(phase, chars::timetable(parameters, writes), routines);
        performance.files = self.ground.paths();
        performance.caveats.extend(undropped);
        performance.notes.push(chars::note(parameters));
        Ok(perform(context, performance)?)
    }

    fn by_chunks(
        &self,
        phase: BonniePhase,
        timetable: Timetable<'_>,
        routines: Vec<Routine<'_>>,
        undropped: Option<Caveat>,
        context: &mut Context<'_>,
    ) -> Result<Phase, SuiteError> {
        let mut performance = self.performance(phase, timetable, routines);
        performance.files = self.ground.paths();
        performance.direct_granted = self.direct_granted;
        performance.caveats.extend(undropped);
        performance.caveats.extend(self.direct_caveat.clone());
        Ok(perform(context, performance)?)
    }

    fn of_files(&self, phase: BonniePhase, context: &mut Context<'_>) -> Result<Phase, SuiteError> {
        let Some(work) = &self.parameters.files else {
            return Ok(Phase::new(phase.name(), PhaseKind::Measure));
        };
        let seed = self
            .seed
            .stream(FILES_STREAM + u64::from(phase.is_random()));
        let routines = (0..self.parameters.concurrency).map(|worker| {
            let set = FileSet {
                parameters: self.parameters,
                work,
                root: &self.root,
                original: &self.original,
                piece: &self.piece,
                worker,
                seed,
            };
            set.routine(phase)
        });
        let timetable = files::timetable(self.parameters);
        let mut performance = self.performance(phase, timetable, routines.collect());
        performance.notes.push(note_of_files(work));
        if phase.creates() && matches!(work.file, FileKind::Regular { .. }) {
            let each =
                (0..self.parameters.concurrency).map(|worker| self.root.join(own_name(worker)));
            performance.writes_below = each.collect();
        }
        Ok(perform(context, performance)?)
    }

    fn performance<'p>(
        &'p self,
        phase: BonniePhase,
        timetable: Timetable<'p>,
        routines: Vec<Routine<'p>>,
    ) -> Performance<'p> {
        Performance {
            name: phase.name(),
            kind: PhaseKind::Measure,
            job: None,
            asked_operations: None,
            timetable,
            routines,
            stacks: self.ground.stacks(),
            files: Vec::new(),
            writes_below: Vec::new(),
            direct_granted: None,
            caveats: Vec::new(),
            notes: Vec::new(),
        }
    }
}

fn note_of_files(work: &FileWork) -> String {
    let what = match work.file {
        FileKind::Regular { .. } => "files",
        FileKind::HardLink => "hard links to one file",
        FileKind::SymbolicLink => "symbolic links to one file",
    };
    format!(
        "{} {what}, one operation each; what was made before is in memory",
        work.count
    )
}

/// What small files are filled with: zeros, or bytes that do not compress, the same in
/// each piece.
fn piece(parameters: &BonnieParameters, seed: Seed) -> Vec<u8> {
    let length = parameters
        .files
        .map_or(0, |work| usize::try_from(work.piece_bytes).unwrap_or(0));
    let mut piece = vec![0; length.max(1)];
    if parameters.data != Data::Zeros {
        let seed = seed.stream(FILES_STREAM);
        for (bytes, stream) in piece.chunks_mut(8).zip(0..) {
            bytes.copy_from_slice(&seed.stream(stream).0.to_le_bytes()[..bytes.len()]);
        }
    }
    piece
}
