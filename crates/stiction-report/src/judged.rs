//! A session together with what the analysis finds in it.

use stiction_analysis::canary::suspects;
use stiction_analysis::doubt::{Finding, examine_in_cell};
use stiction_core::{Environment, Phase, PhaseKind, Session, Subject, Trial};

/// A session and the finding for each of its phases: what most reports are made of.
#[derive(Clone, Debug)]
pub struct Judged<'a> {
    session: &'a Session,
    /// The session with all that was recorded, where `session` is a part of it.
    whole: &'a Session,
    /// By trial, then by phase.
    findings: Vec<Vec<Finding>>,
}

/// One phase with its finding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JudgedPhase<'a> {
    pub(crate) phase: &'a Phase,
    /// The phase with all that was recorded.
    pub(crate) whole: &'a Phase,
    pub(crate) finding: &'a Finding,
}

impl<'a> Judged<'a> {
    /// The session, judged by the analysis.
    #[must_use]
    pub fn examine(session: &'a Session) -> Self {
        let environment = &session.header.environment;
        let mut judged = Self::by(session, |trial, phase| match &trial.targets {
            None => examine_in_cell(phase, &trial.cell, environment),
            Some(targets) => {
                let own = Environment {
                    targets: targets.clone(),
                    ..environment.clone()
                };
                examine_in_cell(phase, &trial.cell, &own)
            }
        });
        for (place, caveat) in suspects(session) {
            let phases = session.trials[place].phases.iter();
            for (phase, finding) in phases.zip(&mut judged.findings[place]) {
                if phase.kind == PhaseKind::Measure {
                    finding.caveats.push(caveat.clone());
                }
            }
        }
        judged
    }

    /// The session, judged by `finding`.
    pub fn by(session: &'a Session, finding: impl Fn(&Trial, &Phase) -> Finding) -> Self {
        let findings = session
            .trials
            .iter()
            .map(|trial| {
                let phases = trial.phases.iter();
                phases.map(|phase| finding(trial, phase)).collect()
            })
            .collect();
        Self {
            session,
            whole: session,
            findings,
        }
    }

    /// `part`, which is `whole` with the figures of a part of what was recorded. What the
    /// figures are about, and what is to be doubted, follows from the whole, since
    /// witnesses saw no less.
    #[must_use]
    pub fn examine_part(whole: &'a Session, part: &'a Session) -> Self {
        let mut judged = Self::examine(whole);
        let phases = |session: &'a Session| session.trials.iter().flat_map(|trial| &trial.phases);
        let findings = judged.findings.iter_mut().flatten();
        for ((finding, before), after) in findings.zip(phases(whole)).zip(phases(part)) {
            let new = after
                .caveats
                .iter()
                .filter(|one| !before.caveats.contains(one));
            finding.caveats.extend(new.cloned());
        }
        Self {
            session: part,
            ..judged
        }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// What the figures of a phase of the session are about; `None` of a phase that is
    /// another's.
    pub(crate) fn subject_of(&self, phase: &Phase) -> Option<Subject> {
        let mut all = self.trials().flat_map(|(_, phases)| phases);
        all.find(|judged| std::ptr::eq(judged.phase, phase))
            .map(|judged| judged.finding.subject)
    }

    /// The trials, each with its phases in the order in which they ran.
    pub(crate) fn trials(&self) -> impl Iterator<Item = (&'a Trial, Vec<JudgedPhase<'_>>)> {
        self.session
            .trials
            .iter()
            .zip(&self.whole.trials)
            .zip(&self.findings)
            .map(|((trial, whole), findings)| {
                let phases = trial.phases.iter().zip(&whole.phases).zip(findings);
                let judged = phases.map(|((phase, whole), finding)| JudgedPhase {
                    phase,
                    whole,
                    finding,
                });
                (trial, judged.collect())
            })
    }
}

impl JudgedPhase<'_> {
    /// Whether the phase yields headline numbers, or would have.
    pub(crate) fn is_measured(&self) -> bool {
        self.phase.kind == PhaseKind::Measure
    }
}
