//! What a number is about, and the reasons to doubt it.
//!
//! A rate of a file is a rate of the disk only if the disk moved the bytes. What
//! stood beside the phase (its [`Witnesses`](stiction_core::Witnesses)) decides:
//! each rule below reads a few of them and either claims a [`Subject`] with
//! reasons or has nothing to say. The first rule that claims wins; the order is the
//! argument. Witnesses that contradict each other, or are missing, give
//! [`Subject::Unknown`]: a guess is never dressed up.

mod case;
mod ceiling;
mod contradiction;
mod cpu;
mod data;
mod heat;
mod memory;
mod pattern;
mod sample;
pub(crate) mod series;
mod session;
mod traffic;
mod words;

use stiction_core::{
    BackendKind, Caveat, CaveatCode, Cell, Environment, Phase, PhaseOutcome, Subject, TargetStack,
    Unit,
};

use case::Case;
pub use session::examine_session;

/// What the examination of one phase came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What the phase's numbers are about.
    pub subject: Subject,
    /// Why, a sentence each with figures, without a final full stop. Never empty.
    pub reasons: Vec<String>,
    /// Everything that speaks against the numbers: what was stored with the phase,
    /// then what follows from the witnesses; one of each code.
    pub caveats: Vec<Caveat>,
    /// The ceiling that answered, when the subject is [`Subject::Limiter`].
    pub ceiling: Option<Ceiling>,
}

/// A ceiling that a rate ran into.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// Its height, in `unit`.
    pub value: f64,
    /// Bytes or operations per second.
    pub unit: Unit,
    /// Who set it, such as `blkio.throttle of /sys/fs/cgroup/blkio/x`, or what it was
    /// seen by.
    pub source: String,
}

/// Examines a phase by what its witnesses saw and what the environment says of
/// the machine's targets.
#[must_use]
pub fn examine(phase: &Phase, environment: &Environment) -> Finding {
    examine_on(phase, &case::stacks_of(phase, environment), environment)
}

/// As [`examine`], with the target chosen by the cell's factor `directory`. It
/// matters when a session has several targets and the phase names no device.
#[must_use]
pub fn examine_in_cell(phase: &Phase, cell: &Cell, environment: &Environment) -> Finding {
    let directory = cell.get("directory").map(ToString::to_string);
    let named: Vec<&TargetStack> = environment
        .targets
        .iter()
        .filter(|stack| directory.as_ref() == Some(&stack.path))
        .collect();
    if named.is_empty() {
        examine(phase, environment)
    } else {
        examine_on(phase, &named, environment)
    }
}

fn examine_on(phase: &Phase, stacks: &[&TargetStack], environment: &Environment) -> Finding {
    let case = match Case::open(phase, stacks, environment) {
        Ok(case) => case,
        Err(reason) => {
            return Finding {
                subject: Subject::Unknown,
                reasons: vec![reason],
                caveats: phase.caveats.clone(),
                ceiling: None,
            };
        }
    };
    let claim = decide(&case);
    let mut caveats = phase.caveats.clone();
    for doubt in doubts(&case, &claim) {
        if caveats.iter().all(|caveat| caveat.code != doubt.code) {
            caveats.push(doubt);
        }
    }
    Finding {
        subject: claim.subject,
        reasons: claim.reasons,
        caveats,
        ceiling: claim.ceiling,
    }
}

/// What a rule says that the numbers are about.
#[derive(Debug)]
struct Claim {
    subject: Subject,
    reasons: Vec<String>,
    ceiling: Option<Ceiling>,
}

impl Claim {
    fn new(subject: Subject, reasons: impl IntoIterator<Item = String>) -> Self {
        Self {
            subject,
            reasons: reasons.into_iter().collect(),
            ceiling: None,
        }
    }
}

/// The rules in order of precedence.
fn decide(case: &Case<'_>) -> Claim {
    engine_alone(case)
        .or_else(|| data::compressed_away(case))
        .or_else(|| contradiction::find(case))
        .or_else(|| ceiling::set_limit(case))
        .or_else(|| traffic::not_told_apart(case))
        .or_else(|| memory::answered(case))
        .or_else(|| cpu::bound(case))
        .or_else(|| ceiling::link(case))
        .or_else(|| pattern::token_bucket(case))
        .or_else(|| memory::below_the_device(case))
        .or_else(|| traffic::device_answered(case))
        .unwrap_or_else(|| Claim::new(Subject::Unknown, traffic::not_seen(case)))
}

/// The null backend makes no I/O: what was measured is the engine.
fn engine_alone(case: &Case<'_>) -> Option<Claim> {
    let null = case.job.is_some_and(|job| job.backend == BackendKind::Null);
    null.then(|| {
        let reason = "the null backend makes no I/O: the engine's own cost was measured";
        Claim::new(Subject::Cpu, [reason.to_owned()])
    })
}

/// Every doubt that the witnesses raise, whatever the subject.
fn doubts(case: &Case<'_>, claim: &Claim) -> Vec<Caveat> {
    let limiter = (claim.subject == Subject::Limiter)
        .then(|| Caveat::new(CaveatCode::Limiter, claim.reasons.join("; ")));
    let mut doubts = Vec::new();
    doubts.extend(memory::served_from_cache(case, claim));
    doubts.extend(memory::not_flushed(case));
    doubts.extend(traffic::doubts(case));
    doubts.extend(cpu::doubts(case));
    doubts.extend(heat::throttled(case));
    doubts.extend(limiter.or_else(|| pattern::round_and_flat(case)));
    doubts.extend(data::doubts(case));
    doubts.extend(sample::doubts(case));
    doubts.extend(case.missing_witnesses());
    doubts
}

/// Why a phase without numbers is not examined.
fn without_numbers(phase: &Phase) -> Option<String> {
    match &phase.outcome {
        PhaseOutcome::Skipped(reason) => Some(format!("the phase did not run: {}", reason.detail)),
        PhaseOutcome::Failed { message } => Some(format!("the phase failed: {message}")),
        PhaseOutcome::Completed | PhaseOutcome::EndedEarly => None,
    }
}
