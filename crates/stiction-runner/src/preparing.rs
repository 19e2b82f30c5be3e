//! What is done before each trial, and between trials, so that its numbers are about what
//! they say: carried out from the plan's [`Preparation`].

use std::path::PathBuf;
use std::time::{Duration, Instant};

use stiction_core::{
    Canary, Caveat, CaveatCode, LOOK_NS, Phase, PhaseKind, PhaseOutcome, Preparation,
    PreparationEstimate, Seed, SkipCode, SkipReason, Spoiler, SpoilerPolicy, TrialOutcome,
    doubts_of_spoilers, format_bytes, format_duration_ns,
};
use stiction_engine::StopFlag;
use stiction_host::{Alterations, Idleness, QuietWatch, Reserve, space, write_back};
use stiction_suite::{
    CanaryRun, Context, Place, SessionClock, SuiteError, TrialReport, precondition, purge_device,
};

use crate::ground::Ground;
use crate::study::Turn;
use crate::trial::skipped;
use crate::{RunnerError, Study};

/// How long is between two looks at whether devices are idle.
const SETTLE_LOOK: Duration = Duration::from_millis(50);
/// How long a stop that is raised may go unseen.
const STOP_LOOK: Duration = Duration::from_millis(20);
/// A look for spoilers is good for so long: trials may be short and many.
const LOOK_LASTS: Duration = Duration::from_secs(5);
/// How long a trial waits for spoilers to pass where nothing was said of settling.
const WAIT_NS: u64 = 60_000_000_000;
/// How far ahead timers count: few trials take longer, and few sessions much less.
const TIMERS_WITHIN: Duration = Duration::from_secs(30 * 60);
/// The stream of a plan's seed that preconditioning is drawn from.
const PRECONDITION_STREAM: u64 = 0x7072_6563_6f6e_6400;

/// What has been prepared in a session so far.
pub(crate) struct Preparing<'a> {
    asked: &'a Preparation,
    seed: Seed,
    /// The time when the session began.
    started: jiff::Zoned,
    clock: SessionClock,
    /// Places that last, and have been preconditioned.
    conditioned: Vec<PathBuf>,
    watch: QuietWatch,
    /// When spoilers were last looked for, and what was found.
    looked: Option<(Instant, Vec<Spoiler>)>,
    canary: Option<CanaryRun>,
    /// Whether canaries have begun to run.
    watched: bool,
}

/// When canaries run around a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CanaryTurn {
    pub(crate) before: bool,
    pub(crate) after: bool,
}

/// How a trial is to go on.
type Readiness = Result<Vec<Caveat>, TrialReport>;

impl<'a> Preparing<'a> {
    pub(crate) fn new(
        asked: &'a Preparation,
        seed: Seed,
        started: jiff::Zoned,
        clock: SessionClock,
    ) -> Self {
        Self {
            asked,
            seed: seed.stream(PRECONDITION_STREAM),
            started,
            clock,
            conditioned: Vec::new(),
            watch: QuietWatch::new(),
            looked: None,
            canary: None,
            watched: false,
        }
    }

    /// How files are to stand in the cache when a measured phase begins.
    pub(crate) fn cache(&self) -> stiction_core::CacheState {
        self.asked.cache
    }

    /// Carries out what comes before a trial on `ground`: with the doubts that it has
    /// then, or how it ends without having run.
    pub(crate) fn before(
        &mut self,
        ground: &Ground,
        context: &mut Context<'_>,
    ) -> Result<Readiness, SuiteError> {
        for place in 0..context.places.len() {
            if let Some(outcome) = self.condition(place, ground, context)? {
                return Ok(Err(TrialReport::new(outcome)));
            }
        }
        let mut doubts = self.settle(context)?;
        match self.quiet(context)? {
            Ok(of_spoilers) => doubts.extend(of_spoilers),
            Err(reason) => return Ok(Err(skipped(reason))),
        }
        if context.stop.is_raised() {
            return Ok(Err(TrialReport::new(TrialOutcome::Interrupted)));
        }
        Ok(Ok(doubts))
    }

    /// Purges and preconditions a place: one that lasts once in a session, one that was
    /// made for the trial each time.
    fn condition(
        &mut self,
        place: usize,
        ground: &Ground,
        context: &mut Context<'_>,
    ) -> Result<Option<TrialOutcome>, SuiteError> {
        let path = context.places[place].path().to_owned();
        let is_done = self.conditioned.contains(&path);
        let wanted = self.asked.precondition.as_ref().filter(|_| !is_done);
        if self.asked.purge && (wanted.is_some() || self.asked.precondition.is_none()) {
            let outcome = purge(place, ground, context)?;
            if outcome.is_some() {
                return Ok(outcome);
            }
        }
        let Some(wanted) = wanted else {
            return Ok(None);
        };
        let outcome = precondition(wanted, place, self.seed, false, context)?;
        // One that could not be preconditioned is tried again: no trial runs without.
        if outcome.is_none() && !ground.is_made_for_trial() {
            self.conditioned.push(path);
        }
        Ok(outcome)
    }

    /// Waits for the devices to come to rest.
    fn settle(&self, context: &mut Context<'_>) -> Result<Vec<Caveat>, SuiteError> {
        let Some(most_ns) = self.asked.settle_ns_max else {
            return Ok(Vec::new());
        };
        let mut phase = Phase::new("settle", PhaseKind::Settle);
        phase.start_ns = context.now_ns();
        for place in context.places {
            if let (Place::Directory(path), false) = (place, context.stop.is_raised()) {
                let failed = write_back(path).err();
                phase.notes.extend(failed.map(|error| error.to_string()));
            }
        }
        let waited_ns = |context: &Context<'_>| context.now_ns() - phase.start_ns;
        let mut seen = Idleness::look(context.stacks);
        let mut in_a_row = u32::from(seen.is_idle());
        // Two looks: between two requests a busy device is idle too.
        while in_a_row < 2 && waited_ns(context) < most_ns && pause(context.stop, SETTLE_LOOK) {
            seen = Idleness::look(context.stacks);
            in_a_row = if seen.is_idle() { in_a_row + 1 } else { 0 };
        }
        phase.elapsed_ns = waited_ns(context);
        phase.notes.push(seen.to_string());
        let doubt = (in_a_row < 2).then(|| {
            let waited = format_duration_ns(phase.elapsed_ns as f64);
            let detail = format!("after {waited} of settling there were still {seen}");
            Caveat::new(CaveatCode::NotQuiet, detail)
        });
        if context.stop.is_raised() {
            phase.outcome = PhaseOutcome::EndedEarly;
        }
        context.events.phase_finished(&phase)?;
        Ok(doubt.into_iter().collect())
    }

    /// Looks for spoilers, and does about them what was asked for.
    fn quiet(
        &mut self,
        context: &mut Context<'_>,
    ) -> Result<Result<Vec<Caveat>, SkipReason>, SuiteError> {
        let policy = self.asked.spoilers;
        if policy == SpoilerPolicy::Ignore {
            return Ok(Ok(Vec::new()));
        }
        let mut found = self.look(context);
        if policy == SpoilerPolicy::Wait && !found.is_empty() {
            let mut phase = Phase::new("wait_for_quiet", PhaseKind::Settle);
            phase.start_ns = context.now_ns();
            phase.notes = found.iter().map(ToString::to_string).collect();
            let most_ns = self.asked.settle_ns_max.unwrap_or(WAIT_NS);
            let wait = || context.now_ns() - phase.start_ns < most_ns && !context.stop.is_raised();
            while !found.is_empty() && wait() {
                self.looked = None;
                pause(context.stop, Duration::from_nanos(LOOK_NS));
                found = self.look(context);
            }
            phase.elapsed_ns = context.now_ns() - phase.start_ns;
            context.events.phase_finished(&phase)?;
        }
        if policy == SpoilerPolicy::Refuse && !found.is_empty() {
            let all: Vec<String> = found.iter().map(ToString::to_string).collect();
            let detail = format!(
                "{}; --spoilers=wait waits for it to pass, --spoilers=warn runs all the same",
                all.join("; ")
            );
            return Ok(Err(SkipReason::new(SkipCode::NotQuiet, detail)));
        }
        Ok(Ok(doubts_of_spoilers(&found)))
    }

    /// What is in the way now; the last answer where that is fresh.
    fn look(&mut self, context: &Context<'_>) -> Vec<Spoiler> {
        if let Some((when, found)) = &self.looked
            && when.elapsed() < LOOK_LASTS
        {
            return found.clone();
        }
        let look = self.watch.begin(context.stacks);
        let begun = Instant::now();
        if !pause(context.stop, Duration::from_nanos(LOOK_NS)) {
            return Vec::new();
        }
        let since = Duration::from_nanos(self.clock.now_ns());
        let now = self.started.checked_add(since);
        let now = now.unwrap_or_else(|_| self.started.clone());
        let elapsed = begun.elapsed();
        let found = self
            .watch
            .finish(look, elapsed, context.stacks, &now, TIMERS_WITHIN);
        self.looked = Some((Instant::now(), found.clone()));
        found
    }

    /// Runs the canaries in the session's first place. That they cannot run there is
    /// told, and no reason to do without the rest.
    pub(crate) fn canary(&mut self, context: &mut Context<'_>) {
        self.watched = true;
        if self.canary.is_none() {
            let stack = context.stacks.first();
            match CanaryRun::make(&context.places[0], stack, false, context.undo) {
                Ok(made) => self.canary = Some(made),
                Err(problem) => {
                    let note = format!("no canary runs: {problem}");
                    return context.events.note(&note);
                }
            }
        }
        let ran = self.canary.as_mut().map(|canary| canary.run(context));
        if let Some(Err(error)) = ran {
            context.events.note(&format!("a canary run: {error}"));
        }
    }

    /// Takes away what was made for canaries; what could not be, in words.
    pub(crate) fn close(&mut self) -> Option<String> {
        let error = self.canary.take()?.close().err()?;
        Some(format!("{error}; `stiction clean` removes what is left"))
    }

    /// When canaries run around trial `number` (from 0) of `turns`.
    pub(crate) fn canary_turn(&self, turns: &[Turn], number: usize) -> CanaryTurn {
        self.asked
            .canary
            .map_or_else(CanaryTurn::default, |canary| CanaryTurn {
                // The first trial of a session, or of one that is gone on with.
                before: !self.watched,
                after: is_after(canary, turns, number),
            })
    }
}

/// Whether canaries run after trial `number`.
fn is_after(canary: Canary, turns: &[Turn], number: usize) -> bool {
    let block = |number: usize| turns.get(number).map(|turn| turn.planned.block);
    let every = canary.every.max(1);
    let next = block(number + 1);
    let is_due = match block(number).flatten() {
        // The last of its block.
        Some(own) => next != Some(Some(own)) && (own + 1).is_multiple_of(every),
        None => (number + 1).is_multiple_of(every as usize),
    };
    is_due || next.is_none()
}

/// Gives back to its device what place number `place` does not hold.
fn purge(
    place: usize,
    ground: &Ground,
    context: &mut Context<'_>,
) -> Result<Option<TrialOutcome>, SuiteError> {
    if let Place::Device(_) = context.places[place] {
        return purge_device(context, place);
    }
    let refusal = |code, detail| Ok(Some(TrialOutcome::Skipped(SkipReason::new(code, detail))));
    let begun_ns = context.now_ns();
    match ground.trim() {
        None => {
            let detail = format!(
                "{} is yours, and only what stiction made or was granted is purged: give a \
                 device, or a setting that stands on scratch space, such as filesystem=ext4",
                context.places[place].path().display()
            );
            refusal(SkipCode::UnsafeTarget, detail)
        }
        Some(Err(error)) => refusal(SkipCode::NotSupported, error.to_string()),
        Some(Ok(bytes)) => {
            let mut phase = Phase::new("purge", PhaseKind::Prepare);
            phase.start_ns = begun_ns;
            phase.elapsed_ns = context.now_ns() - begun_ns;
            phase.notes = vec![format!(
                "{} of free blocks given back to the device (FITRIM)",
                format_bytes(bytes)
            )];
            context.events.phase_finished(&phase)?;
            Ok(None)
        }
    }
}

/// Lets time pass; whether all of it did, without a stop.
fn pause(stop: &StopFlag, length: Duration) -> bool {
    let begun = Instant::now();
    while !stop.is_raised() {
        let left = length.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(STOP_LOOK));
    }
    false
}

/// What preparing the trials of a study takes at most, beside what they take themselves;
/// `plan` is the study's.
///
/// # Errors
/// When the room of a directory cannot be seen.
pub fn estimate_preparation(
    study: &Study<'_>,
    plan: &stiction_core::Plan,
) -> Result<PreparationEstimate, RunnerError> {
    let mut ranges: Vec<u64> = Vec::new();
    let trials = plan.trials.len() as u64;
    let blocks = study
        .blocks
        .as_ref()
        .map_or(trials, |blocks| blocks.count.into());
    if let Some(wanted) = &study.preparation.precondition {
        let mut lasting: Vec<&Place> = Vec::new();
        for configuration in &study.configurations {
            let scratch = configuration
                .alterations
                .and_then(Alterations::scratch_bytes);
            if let Some(bytes) = scratch {
                // Made anew for each of its trials.
                let times = trials / study.configurations.len().max(1) as u64;
                let range = wanted.range_in_directory(bytes);
                ranges.extend((0..times).map(|_| range));
                continue;
            }
            for place in configuration.places {
                if lasting.iter().all(|other| other.path() != place.path()) {
                    lasting.push(place);
                }
            }
        }
        for place in lasting {
            ranges.extend(match place {
                Place::Device(device) => Some(wanted.range_of_device(device.length_bytes())),
                Place::Directory(path) => {
                    let space = space(path).map_err(RunnerError::Target)?;
                    Some(wanted.range_in_directory(Reserve::default().usable_bytes(space)))
                }
                Place::File(_) => None,
            });
        }
    }
    Ok(study.preparation.estimate(&ranges, trials, blocks))
}

#[cfg(test)]
mod tests {
    use stiction_core::{Cell, PlannedTrial};

    use super::*;

    fn turns(blocks: &[Option<u32>]) -> Vec<Turn> {
        let turn = |&block: &Option<u32>| Turn {
            planned: PlannedTrial {
                block,
                ..PlannedTrial::new(Cell::new(), 0)
            },
            part: 0,
            inner: PlannedTrial::new(Cell::new(), 0),
        };
        blocks.iter().map(turn).collect()
    }

    fn canaries(every: u32, blocks: &[Option<u32>]) -> Vec<bool> {
        let turns = turns(blocks);
        let all = 0..turns.len();
        all.map(|number| is_after(Canary { every }, &turns, number))
            .collect()
    }

    #[test]
    fn canaries_come_after_blocks_and_last() {
        let blocks: Vec<Option<u32>> = [0, 0, 1, 1, 2, 2].map(Some).to_vec();
        let seen = canaries(2, &blocks);
        assert_eq!(seen, [false, false, false, true, false, true]);
        // Trials in no blocks count each for itself.
        assert_eq!(canaries(3, &[None; 4]), [false, false, true, true]);
        assert_eq!(canaries(4, &[None]), [true]);
    }

    #[test]
    fn a_stop_ends_a_pause() {
        let stop = StopFlag::new();
        assert!(pause(&stop, Duration::ZERO));
        stop.raise();
        assert!(!pause(&stop, Duration::from_secs(3600)));
    }
}
