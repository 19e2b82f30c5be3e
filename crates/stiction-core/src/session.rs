//! One execution of one plan, and everything that came of it.

use serde::{Deserialize, Serialize};

use crate::{
    Applied, Caveat, Cell, Phase, Record, Resumption, SessionHeader, SkipCode, SkipReason,
    TargetStack,
};

/// What is said of a trial of which the end is not in the journal.
const CUT_OFF: &str = "the run was cut off before this trial ended";
/// What is said of a trial of which the end was in the journal once.
const END_LOST: &str = "the line of the journal that ends this trial is damaged";

/// Where a session's numbers are from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "provenance")]
pub enum Provenance {
    /// stiction measured them here.
    Measured,
    /// They were read from another program's output.
    Imported {
        /// The file, as the user named it.
        file: String,
        /// Its layout: `tiobench-0.3.3`, `contest-log`, `bonnie`, `time-zsh`.
        layout: String,
    },
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum TrialOutcome {
    /// All phases ran, or were skipped for a stated reason.
    Completed,
    /// The user interrupted it; finished phases stand.
    Interrupted,
    /// It did not run.
    Skipped(SkipReason),
    /// It failed; phases that had finished stand.
    Failed {
        /// What happened, to which path, with the errno, and what to do next.
        message: String,
    },
}

/// One workload in one cell, one repetition, on a fresh start: the unit of
/// independence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Where it stands in the matrix.
    pub cell: Cell,
    /// Which repetition of the cell, from 0.
    pub repetition: u32,
    /// The block it belongs to, from 0: one trial of every configuration, close in
    /// time and in random order. `None` where trials are in no blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u32>,
    /// What stood under the places when it began, where that was not what the header's
    /// environment has: a setting that the trial's configuration made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub targets: Option<Vec<TargetStack>>,
    /// What its configuration set on the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub settings: Vec<Applied>,
    /// What its configuration set through the workload: what files and data are like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Applied>,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: TrialOutcome,
    /// Start, ns after the session began.
    pub start_ns: u64,
    /// Its phases, in the order in which they ran.
    #[serde(default)]
    pub phases: Vec<Phase>,
    /// Doubts about the whole trial.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
}

impl Trial {
    /// A trial without phases that completed.
    #[must_use]
    pub fn new(cell: Cell, repetition: u32) -> Self {
        Self {
            cell,
            repetition,
            block: None,
            targets: None,
            settings: Vec::new(),
            conditions: Vec::new(),
            outcome: TrialOutcome::Completed,
            start_ns: 0,
            phases: Vec::new(),
            caveats: Vec::new(),
        }
    }

    /// The phase of that name.
    #[must_use]
    pub fn phase(&self, name: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.name == name)
    }

    /// Whether it is run again when its session goes on: it was cut off or interrupted, or
    /// had no turn because of that.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        match &self.outcome {
            TrialOutcome::Completed => false,
            TrialOutcome::Interrupted => true,
            TrialOutcome::Skipped(reason) => reason.code == SkipCode::Interrupted,
            TrialOutcome::Failed { message } => [CUT_OFF, END_LOST].contains(&message.as_str()),
        }
    }

    /// The last moment that anything was recorded of, ns after the session began.
    #[must_use]
    pub fn last_ns(&self) -> u64 {
        let ends = self
            .phases
            .iter()
            .map(|phase| phase.start_ns.saturating_add(phase.elapsed_ns));
        ends.max().unwrap_or(0).max(self.start_ns)
    }
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionOutcome {
    /// Every trial of the plan had its turn.
    Completed,
    /// The user interrupted it.
    Interrupted,
    /// An error ended it.
    Failed,
}

/// The end of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// How.
    pub outcome: SessionOutcome,
    /// When.
    pub at: jiff::Timestamp,
    /// What happened, when it failed; why it ended before its plan did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// One execution of one plan: the header, the trials, and the end if it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// What was known before the first trial.
    pub header: SessionHeader,
    /// The trials that had their turn, in the order in which they ran. A trial
    /// that was cut off by a crash is here with the phases it had finished, unless the
    /// session went on afterwards: it was then run again.
    pub trials: Vec<Trial>,
    /// Where it was cut off and went on later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumptions: Vec<Resumption>,
    /// The end; `None` when a crash cut the session off.
    pub end: Option<SessionEnd>,
}

/// Why records do not make a session.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SessionError {
    /// The first record is not a header.
    #[error("the first record is not a session header")]
    NoHeader,
    /// A record came where it cannot stand.
    #[error("record {index}: {problem}")]
    OutOfPlace {
        /// Which record, from 0.
        index: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
}

impl Session {
    /// Puts a session together from the records of its journal.
    ///
    /// # Errors
    /// When the records are not in an order that a run could have written.
    pub fn from_records(records: impl IntoIterator<Item = Record>) -> Result<Self, SessionError> {
        let mut records = records.into_iter();
        let Some(Record::Header(header)) = records.next() else {
            return Err(SessionError::NoHeader);
        };
        let mut builder = SessionBuilder::new(*header);
        for (index, record) in (1..).zip(records) {
            builder
                .push(record)
                .map_err(|problem| SessionError::OutOfPlace { index, problem })?;
        }
        Ok(builder.finish())
    }

    /// The records that make this session, in the order of a journal.
    #[must_use]
    pub fn into_records(self) -> Vec<Record> {
        let mut records = vec![Record::Header(Box::new(self.header))];
        let mut resumptions = self.resumptions.into_iter().peekable();
        for (before, trial) in (0..).zip(self.trials) {
            while let Some(one) = resumptions.next_if(|one| one.trials_before <= before) {
                records.push(Record::Resumed(Box::new(one)));
            }
            records.push(Record::TrialStart {
                cell: trial.cell,
                repetition: trial.repetition,
                block: trial.block,
                targets: trial.targets,
                settings: trial.settings,
                start_ns: trial.start_ns,
            });
            records.extend(
                trial
                    .phases
                    .into_iter()
                    .map(|phase| Record::Phase(Box::new(phase))),
            );
            records.push(Record::TrialEnd {
                outcome: trial.outcome,
                conditions: trial.conditions,
                caveats: trial.caveats,
            });
        }
        records.extend(resumptions.map(|one| Record::Resumed(Box::new(one))));
        records.extend(self.end.map(Record::End));
        records
    }
}

/// A session that grows by one record at a time.
#[derive(Clone, Debug)]
pub struct SessionBuilder {
    session: Session,
    open: Option<Trial>,
}

impl SessionBuilder {
    /// A session of which only the header is there.
    #[must_use]
    pub fn new(header: SessionHeader) -> Self {
        Self {
            session: Session {
                header,
                trials: Vec::new(),
                resumptions: Vec::new(),
                end: None,
            },
            open: None,
        }
    }

    /// Takes the next record.
    ///
    /// # Errors
    /// What is wrong with the record when it cannot stand here; it is then left out.
    pub fn push(&mut self, record: Record) -> Result<(), &'static str> {
        let ended = self.session.end.as_ref().map(|end| end.outcome);
        let goes_on = matches!(record, Record::Resumed(_));
        if ended.is_some_and(|outcome| !goes_on || outcome == SessionOutcome::Completed) {
            return Err("it follows the end of the session");
        }
        match (record, &mut self.open) {
            (Record::Header(_), _) => return Err("a second session header"),
            (Record::TrialStart { .. }, Some(_)) => return Err("a trial starts inside another"),
            (
                Record::TrialStart {
                    cell,
                    repetition,
                    block,
                    targets,
                    settings,
                    start_ns,
                },
                open @ None,
            ) => {
                *open = Some(Trial {
                    block,
                    targets,
                    settings,
                    start_ns,
                    ..Trial::new(cell, repetition)
                });
            }
            (Record::Phase(phase), Some(trial)) => trial.phases.push(*phase),
            (Record::Phase(_), None) => return Err("a phase outside a trial"),
            (
                Record::TrialEnd {
                    outcome,
                    conditions,
                    caveats,
                },
                open,
            ) => {
                let trial = open
                    .take()
                    .ok_or("the end of a trial that has not started")?;
                self.session.trials.push(Trial {
                    outcome,
                    conditions,
                    caveats,
                    ..trial
                });
            }
            (Record::End(end), _) => self.session.end = Some(end),
            (Record::Resumed(resumption), open) => {
                *open = None;
                self.session.trials.retain(|trial| !trial.is_unfinished());
                self.session.resumptions.push(*resumption);
                self.session.end = None;
            }
        }
        Ok(())
    }

    /// Closes the open trial, if there is one, as failed: the line that ends it was lost.
    /// The phases that it has stand.
    pub fn lose_end_of_trial(&mut self) {
        self.fail_open_trial(END_LOST);
    }

    fn fail_open_trial(&mut self, message: &str) {
        if let Some(trial) = self.open.take() {
            let outcome = TrialOutcome::Failed {
                message: message.to_owned(),
            };
            self.session.trials.push(Trial { outcome, ..trial });
        }
    }

    /// Adds a doubt about the whole session.
    pub fn doubt(&mut self, caveat: Caveat) {
        self.session.header.caveats.push(caveat);
    }

    /// The session as far as it got. A trial that is still open was cut off.
    #[must_use]
    pub fn finish(mut self) -> Session {
        self.fail_open_trial(CUT_OFF);
        self.session
    }
}
