//! What it takes to go on with a session that was cut off, and what is told of it then.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Environment, Session, SessionOutcome, Trial};

/// What was typed: enough to understand it again when the session goes on later, also
/// where the files that it names are gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// The words behind the program's name.
    pub words: Vec<String>,
    /// The directory in which they were typed.
    pub directory: String,
    /// The texts that were read for them, by path as named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub texts: BTreeMap<String, String>,
}

/// A place in a session where it was cut off, and went on later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resumption {
    /// When it went on.
    pub at: jiff::Timestamp,
    /// The same on the session's clock: ns after the session began, and not before
    /// anything that was recorded until then.
    pub start_ns: u64,
    /// How long nothing ran before, as far as the journal tells, ns.
    pub gap_ns: u64,
    /// The trials from before that stand.
    pub trials_before: u32,
    /// The trials from before that were cut off or interrupted, or had no turn because of
    /// that: they are run again.
    pub run_again: u32,
    /// What was observed of the machine then. The trials that follow ran on it.
    pub environment: Environment,
}

impl Session {
    /// The machine as it was observed before this trial of the session: when the session
    /// began, or when it last went on.
    #[must_use]
    pub fn environment_of(&self, trial: &Trial) -> &Environment {
        let before = |one: &&Resumption| one.start_ns <= trial.start_ns;
        let last = self.resumptions.iter().rev().find(before);
        last.map_or(&self.header.environment, |one| &one.environment)
    }

    /// Whether it was measured here, ended before its plan did, and holds what it takes
    /// to go on.
    #[must_use]
    pub fn can_go_on(&self) -> bool {
        let is_complete = self
            .end
            .as_ref()
            .is_some_and(|end| end.outcome == SessionOutcome::Completed);
        !is_complete && self.header.invocation.is_some() && self.header.plan.is_some()
    }

    /// How long its trial number `number` took, from 0, with what was done before the next
    /// one, ns; where the session was cut off behind it, to the end of its phases.
    ///
    /// # Panics
    /// When it has no such trial.
    #[must_use]
    pub fn trial_ns(&self, number: usize) -> u64 {
        let trial = &self.trials[number];
        let goes_on = |next_ns: &u64| {
            let mut starts = self.resumptions.iter().map(|one| one.start_ns);
            !starts.any(|resumed_ns| (trial.start_ns..=*next_ns).contains(&resumed_ns))
        };
        let next = self.trials.get(number + 1).map(|next| next.start_ns);
        let end = next.filter(goes_on).unwrap_or_else(|| trial.last_ns());
        end.saturating_sub(trial.start_ns)
    }

    /// The last moment that anything was recorded of, ns after the session began.
    #[must_use]
    pub fn last_ns(&self) -> u64 {
        let trials = self.trials.iter().map(Trial::last_ns);
        let resumed = self.resumptions.iter().map(|one| one.start_ns);
        let began = self.header.started;
        let ended = self
            .end
            .iter()
            .map(|end| u64::try_from(end.at.duration_since(began).as_nanos()).unwrap_or_default());
        trials.chain(resumed).chain(ended).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Cell, Kernel, Provenance, RECORD_FORMAT_VERSION, Record, SessionEnd, SessionHeader,
        SessionId, SkipCode, SkipReason, TrialOutcome,
    };

    fn environment(release: &str) -> Environment {
        Environment {
            kernel: Some(Kernel {
                release: release.to_owned(),
                ..Kernel::default()
            }),
            ..Environment::default()
        }
    }

    fn header() -> SessionHeader {
        let started = "2002-11-30T10:59:12Z".parse().unwrap();
        SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, 7),
            started,
            label: None,
            command: Vec::new(),
            provenance: Provenance::Measured,
            plan: None,
            environment: environment("first"),
            invocation: None,
            caveats: Vec::new(),
        }
    }

    fn start(number: u32, start_ns: u64) -> Record {
        Record::TrialStart {
            cell: Cell::new().with("threads", number),
            repetition: 0,
            block: None,
            targets: None,
            settings: Vec::new(),
            start_ns,
        }
    }

    fn end(outcome: TrialOutcome) -> Record {
        Record::TrialEnd {
            outcome,
            conditions: Vec::new(),
            caveats: Vec::new(),
        }
    }

    fn resumed(start_ns: u64, trials_before: u32, run_again: u32) -> Record {
        Record::Resumed(Box::new(Resumption {
            at: "2002-11-30T12:00:00Z".parse().unwrap(),
            start_ns,
            gap_ns: 7,
            trials_before,
            run_again,
            environment: environment("second"),
        }))
    }

    fn ended(outcome: SessionOutcome) -> Record {
        Record::End(SessionEnd {
            outcome,
            at: "2002-11-30T10:59:13Z".parse().unwrap(),
            message: None,
        })
    }

    fn levels(session: &Session) -> Vec<i64> {
        let trials = session.trials.iter();
        trials.map(|t| t.cell.integer("threads").unwrap()).collect()
    }

    #[test]
    fn what_was_cut_off_is_not_counted_twice() {
        let records = vec![
            Record::Header(Box::new(header())),
            start(1, 0),
            end(TrialOutcome::Completed),
            start(2, 10),
            resumed(1000, 1, 1),
            start(2, 1001),
            end(TrialOutcome::Completed),
            ended(SessionOutcome::Completed),
        ];
        let session = Session::from_records(records.clone()).unwrap();
        assert_eq!(levels(&session), [1, 2]);
        let all = &session.trials;
        assert!(all.iter().all(|one| one.outcome == TrialOutcome::Completed));
        let release = |trial: &Trial| {
            let kernel = session.environment_of(trial).kernel.as_ref();
            kernel.unwrap().release.clone()
        };
        assert_eq!(release(&all[0]), "first");
        assert_eq!(release(&all[1]), "second");
        // The line of the trial that was cut off goes; what stands comes back as it was.
        let mut kept = records;
        kept.remove(3);
        assert_eq!(session.clone().into_records(), kept);
        assert_eq!(Session::from_records(kept).unwrap(), session);
    }

    #[test]
    fn an_interruption_is_taken_back() {
        let skip = TrialOutcome::Skipped(SkipReason::new(SkipCode::Interrupted, "no turn"));
        let records = [
            Record::Header(Box::new(header())),
            start(1, 0),
            end(TrialOutcome::Failed {
                message: "disk".to_owned(),
            }),
            start(2, 10),
            end(TrialOutcome::Interrupted),
            start(3, 20),
            end(skip),
            ended(SessionOutcome::Interrupted),
            resumed(2000, 1, 2),
            start(2, 2001),
        ];
        let session = Session::from_records(records).unwrap();
        assert_eq!(levels(&session), [1, 2], "a failure stands");
        assert_eq!(session.end, None);
        assert!(session.trials[1].is_unfinished(), "cut off again");
    }

    #[test]
    fn the_time_in_which_a_session_was_cut_off_is_no_trial_s() {
        let mut phase = crate::Phase::new("read", crate::PhaseKind::Measure);
        (phase.start_ns, phase.elapsed_ns) = (12, 5);
        let records = [
            Record::Header(Box::new(header())),
            start(1, 0),
            end(TrialOutcome::Completed),
            start(2, 10),
            Record::Phase(Box::new(phase)),
            end(TrialOutcome::Completed),
            resumed(2000, 2, 0),
            start(3, 2001),
            end(TrialOutcome::Completed),
        ];
        let session = Session::from_records(records).unwrap();
        let took = [0, 1, 2].map(|number| session.trial_ns(number));
        // To the next; 10 to 12 + 5; nothing was recorded of the last.
        assert_eq!(took, [10, 7, 0]);
    }

    #[test]
    fn a_session_that_completed_does_not_go_on() {
        let records = [
            Record::Header(Box::new(header())),
            ended(SessionOutcome::Completed),
            resumed(2000, 0, 0),
        ];
        assert!(Session::from_records(records).is_err());
    }

    #[test]
    fn the_last_moment_is_that_of_the_end_where_there_is_one() {
        let mut records = vec![
            Record::Header(Box::new(header())),
            start(1, 40),
            end(TrialOutcome::Completed),
        ];
        let session = Session::from_records(records.clone()).unwrap();
        assert_eq!(session.last_ns(), 40);
        records.push(ended(SessionOutcome::Interrupted));
        let session = Session::from_records(records).unwrap();
        assert_eq!(session.last_ns(), 1_000_000_000);
    }
}
