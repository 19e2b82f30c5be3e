//! Blocks of two versions, each an ordinary session in the store.

use std::path::PathBuf;

use serde_json::json;
use stiction_core::{
    BisectEvent, BisectQuestion, BlockValues, Cell, Conditions, PhaseKind, Session, SessionHeader,
    SessionOutcome, Trial, TrialOutcome, Untestable, Version,
};
use stiction_engine::StopFlag;
use stiction_host::UndoJournal;
use stiction_suite::{CommandLine, Place, TimedCommand, TimedCommandOptions};

use super::BisectError;
use super::workshop::{Ready, Workshop};
use crate::blocks::{BlockOrder, Blocks, BlocksSoFar, CONFIGURATION, Decide, Decision};
use crate::{Configuration, Ran, RunEvents, RunSettings, Study, run_study};

/// Most blocks of one session; whoever wants more asks again.
pub const WATCHED_BLOCKS_MAX: u32 = 40;

/// Whoever hears of events, writes them down, and says whether the same two versions are
/// to be measured on.
pub trait Watch {
    /// Takes notice of an event. `true` when there is to be another block of the same.
    ///
    /// # Errors
    /// When the event cannot be kept: the search then ends.
    fn take(&mut self, event: BisectEvent) -> Result<bool, BisectError>;
}

/// How measuring ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Whoever watches was told of all there is.
    Done,
    /// The user wants no more.
    Interrupted,
}

/// Builds versions, and measures them against each other.
#[derive(Debug)]
pub struct Laboratory {
    question: BisectQuestion,
    workshop: Workshop,
    options: TimedCommandOptions,
}

impl Laboratory {
    /// A laboratory for a question. Its clones are written to the undo journal, and gone
    /// when it is closed or dropped.
    ///
    /// # Errors
    /// When the clones' directory cannot be made, or a pattern does not read.
    pub fn open(question: &BisectQuestion, undo: &UndoJournal) -> Result<Self, BisectError> {
        let mut options = TimedCommandOptions::new(CommandLine::Shell(question.run.clone()));
        for pattern in &question.patterns {
            options.metrics.push(pattern.parse()?);
        }
        options.limit_ns = question
            .limit_s
            .map(|seconds| seconds.saturating_mul(1_000_000_000));
        Ok(Self {
            question: question.clone(),
            workshop: Workshop::open(question, undo)?,
            options,
        })
    }

    /// Removes the clones.
    ///
    /// # Errors
    /// When they cannot be removed; `stiction clean` then tries again.
    pub fn close(self) -> Result<(), BisectError> {
        self.workshop.close()
    }

    /// Builds both versions where they do not stand ready, and runs blocks of one run of
    /// each, in random order, until `watch` has enough or [`WATCHED_BLOCKS_MAX`] ran.
    ///
    /// A version that cannot be measured is told as an event and ends it.
    ///
    /// # Errors
    /// When nothing can be said of the candidate: the reference fails, the session
    /// cannot be kept, git or the machine refuses.
    pub fn measure(
        &mut self,
        reference: &Version,
        candidate: &Version,
        settings: &RunSettings,
        stop: &StopFlag,
        events: &mut dyn RunEvents,
        watch: &mut dyn Watch,
    ) -> Result<Measured, BisectError> {
        let mut places = Vec::new();
        for (version, other) in [(reference, candidate), (candidate, reference)] {
            match self.stand(version, other, stop, watch)? {
                Some(path) => places.push([Place::Directory(path)]),
                None if stop.is_raised() => return Ok(Measured::Interrupted),
                None => return Ok(Measured::Done),
            }
        }
        let workload = TimedCommand {
            options: self.options.clone(),
        };
        let configurations = [reference, candidate].into_iter().zip(&places);
        let study = Study {
            configurations: configurations
                .map(|(version, places)| Configuration {
                    name: version.to_string(),
                    at: Cell::new(),
                    varied: Vec::new(),
                    workload: &workload,
                    places,
                    command: vec!["bisect".to_owned(), version.to_string()],
                    alterations: None,
                    conditions: Conditions::default(),
                    prepare: None,
                    conclude: None,
                    hook_limit: None,
                })
                .collect(),
            preparation: stiction_core::Preparation::default(),
            blocks: Some(Blocks {
                count: WATCHED_BLOCKS_MAX,
                order: BlockOrder::Random,
                stop: json!({ "bisect": { "reference": reference, "candidate": candidate } }),
                is_calibration: false,
            }),
        };
        let mut teller = Teller {
            question: &self.question,
            reference,
            candidate,
            watch,
            told: 0,
            ended: None,
        };
        let ran = run_study(&study, settings, stop, &mut teller, events)?;
        teller.conclude(&ran)
    }

    /// The clone that `version` stands ready in; `None` when it cannot be had, or the
    /// user wants no more.
    fn stand(
        &mut self,
        version: &Version,
        other: &Version,
        stop: &StopFlag,
        watch: &mut dyn Watch,
    ) -> Result<Option<PathBuf>, BisectError> {
        let version_of_event = version.clone();
        match self.workshop.ready(version, other, stop)? {
            Ready::Already(path) => Ok(Some(path)),
            Ready::Built(path, seconds) => {
                // Without a build command a checkout is no build, and costs nothing.
                if self.question.build.is_some() {
                    watch.take(BisectEvent::Built {
                        version: version_of_event,
                        seconds,
                    })?;
                }
                Ok(Some(path))
            }
            Ready::Untestable(step, message) => {
                watch.take(BisectEvent::Untestable {
                    version: version_of_event,
                    step,
                    message,
                })?;
                Ok(None)
            }
            Ready::Stopped => Ok(None),
        }
    }
}

/// Tells whoever watches of each block as it ends.
struct Teller<'a> {
    question: &'a BisectQuestion,
    reference: &'a Version,
    candidate: &'a Version,
    watch: &'a mut dyn Watch,
    /// Blocks that were told of.
    told: u32,
    /// Why there is nothing more to tell: enough, or an error.
    ended: Option<Result<(), BisectError>>,
}

impl Decide for Teller<'_> {
    fn decide(&mut self, so_far: &BlocksSoFar<'_>) -> Decision {
        let block_ns = so_far.block_ns.last().copied().unwrap_or(0);
        self.tell(so_far.header, so_far.trials, block_ns);
        match &self.ended {
            None => Decision::GoOn,
            Some(Ok(())) => Decision::Stop("the search has what it needs of these two".to_owned()),
            Some(Err(error)) => Decision::Stop(error.to_string()),
        }
    }
}

impl Teller<'_> {
    /// Tells of the block that ended last, if it was not told of yet.
    fn tell(&mut self, header: &SessionHeader, trials: &[Trial], block_ns: u64) {
        let block: Vec<&Trial> = trials
            .iter()
            .filter(|trial| trial.block == Some(self.told))
            .collect();
        let told = self.event(header, &block, block_ns).and_then(|event| {
            let is_block = matches!(event, BisectEvent::Block { .. });
            Ok(self.watch.take(event)? && is_block)
        });
        self.told += 1;
        self.ended = match told {
            Ok(true) => None,
            Ok(false) => Some(Ok(())),
            Err(error) => Some(Err(error)),
        };
    }

    fn event(
        &self,
        header: &SessionHeader,
        block: &[&Trial],
        block_ns: u64,
    ) -> Result<BisectEvent, BisectError> {
        let trial = |version: &Version| {
            let name = version.to_string();
            let level = |trial: &Trial| trial.cell.get(CONFIGURATION).map(ToString::to_string);
            block
                .iter()
                .find(|trial| level(trial).as_deref() == Some(&name))
                .copied()
        };
        // The reference has worked before, or has to: when it fails now, nothing can be
        // said of the candidate.
        let reference = self.values(trial(self.reference)).map_err(|message| {
            let version = self.reference.to_string();
            BisectError::Reference { version, message }
        })?;
        Ok(match self.values(trial(self.candidate)) {
            Ok(candidate) => BisectEvent::Block {
                reference: self.reference.clone(),
                candidate: self.candidate.clone(),
                values: reference
                    .into_iter()
                    .zip(candidate)
                    .map(|(reference, candidate)| BlockValues {
                        reference,
                        candidate,
                    })
                    .collect(),
                session: header.id.to_string(),
                seconds: block_ns as f64 / 1e9,
            },
            Err(message) => BisectEvent::Untestable {
                version: self.candidate.clone(),
                step: Untestable::Benchmark,
                message,
            },
        })
    }

    /// The value of each metric in a trial, or why there is none.
    fn values(&self, trial: Option<&Trial>) -> Result<Vec<f64>, String> {
        let trial = trial.ok_or("it did not run")?;
        match &trial.outcome {
            TrialOutcome::Completed => {}
            TrialOutcome::Failed { message } => return Err(message.clone()),
            TrialOutcome::Skipped(reason) => return Err(reason.detail.clone()),
            TrialOutcome::Interrupted => return Err("it was interrupted".to_owned()),
        }
        let measured = || {
            let phases = trial.phases.iter();
            let counted = phases.filter(|phase| phase.kind == PhaseKind::Measure);
            counted.flat_map(|phase| &phase.measurements)
        };
        let value = |name: &str| {
            let found = measured().find(|measurement| measurement.metric.name == name);
            match found.map(|measurement| measurement.value) {
                Some(value) if value > 0.0 => Ok(value),
                Some(value) => Err(format!("{name} is {value}, and has no logarithm")),
                None => Err(format!("it has no {name}")),
            }
        };
        self.question
            .metrics
            .iter()
            .map(|metric| value(&metric.name))
            .collect()
    }

    /// The last block is not asked about, and an interrupted one does not count.
    fn conclude(mut self, ran: &Ran) -> Result<Measured, BisectError> {
        let session = &ran.session;
        let outcome = session.end.as_ref().map(|end| end.outcome);
        if let Some(ended) = self.ended.take() {
            return ended.map(|()| Measured::Done);
        }
        match outcome {
            Some(SessionOutcome::Completed) => {}
            // The block that had just ended counts all the same.
            Some(SessionOutcome::Interrupted) => {
                if self.is_whole(&session.trials) {
                    self.tell_last(session);
                    self.ended.take().unwrap_or(Ok(()))?;
                }
                return Ok(Measured::Interrupted);
            }
            _ => {
                let end = session.end.as_ref().and_then(|end| end.message.clone());
                let message = end.unwrap_or_else(|| "the session was cut off".to_owned());
                return Err(BisectError::Session(message));
            }
        }
        self.tell_last(session);
        self.ended.take().unwrap_or(Ok(())).map(|()| Measured::Done)
    }

    /// Whether both runs of the block that was not told of are whole.
    fn is_whole(&self, trials: &[Trial]) -> bool {
        let of_block = trials.iter().filter(|trial| trial.block == Some(self.told));
        let whole = of_block.filter(|trial| trial.outcome == TrialOutcome::Completed);
        whole.count() == 2
    }

    /// Tells of the block that nobody was asked about.
    fn tell_last(&mut self, session: &Session) {
        let of_block = session.trials.iter();
        let of_block = of_block.filter(|trial| trial.block == Some(self.told));
        let spent_ns = of_block
            .flat_map(|trial| &trial.phases)
            .map(|phase| phase.elapsed_ns)
            .sum();
        self.tell(&session.header, &session.trials, spent_ns);
    }
}
