//! The lines of a journal.

use serde::{Deserialize, Serialize};

use crate::{
    Applied, Caveat, Cell, Environment, Invocation, Phase, Plan, Provenance, Resumption,
    SessionEnd, SessionId, TargetStack, TrialOutcome,
};

/// Version of the records' form. A reader refuses a higher one and reads all
/// lower ones.
pub const RECORD_FORMAT_VERSION: u32 = 1;

/// What is known of a session before its first trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionHeader {
    /// Version of the records' form.
    pub format_version: u32,
    /// Name of the session.
    pub id: SessionId,
    /// When it began.
    pub started: jiff::Timestamp,
    /// What the user calls it: a name for comparing by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The command, with paths outside the target left out.
    pub command: Vec<String>,
    /// Where its numbers are from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// What was planned; `None` for imported sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What was observed of the machine.
    pub environment: Environment,
    /// What was typed, for going on with the session after it was cut off. It may name
    /// more than is meant for others: an export leaves it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invocation: Option<Invocation>,
    /// Doubts about the whole session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<Caveat>,
}

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "record")]
pub enum Record {
    /// The first line.
    Header(Box<SessionHeader>),
    /// A trial begins.
    TrialStart {
        /// Where it stands in the matrix.
        cell: Cell,
        /// Which repetition of the cell, from 0.
        repetition: u32,
        /// The block it belongs to, from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        block: Option<u32>,
        /// What stood under the places, where that was not what the header has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        targets: Option<Vec<TargetStack>>,
        /// What its configuration set on the machine.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        settings: Vec<Applied>,
        /// Start, ns after the session began.
        start_ns: u64,
    },
    /// A phase of the open trial has ended.
    Phase(Box<Phase>),
    /// The open trial has ended; the journal is synced after this line.
    TrialEnd {
        /// How it ended.
        #[serde(flatten)]
        outcome: TrialOutcome,
        /// What its configuration set through the workload, known once it has run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        conditions: Vec<Applied>,
        /// Doubts about the whole trial.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        caveats: Vec<Caveat>,
    },
    /// The session has ended; the last line, unless it was interrupted and went on later.
    End(SessionEnd),
    /// The session was cut off, and goes on here.
    Resumed(Box<Resumption>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Measurement, PhaseKind, Session, SessionOutcome, Setting, SkipCode, SkipReason, metrics,
    };

    fn header() -> SessionHeader {
        let started = "2002-11-30T10:59:12Z".parse().unwrap();
        SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, 7),
            started,
            label: Some("a".to_owned()),
            command: vec!["quick".to_owned()],
            provenance: Provenance::Measured,
            plan: None,
            environment: Environment::default(),
            invocation: None,
            caveats: Vec::new(),
        }
    }

    fn records() -> Vec<Record> {
        let mut phase = Phase::new("write", PhaseKind::Measure);
        phase
            .measurements
            .push(Measurement::new(metrics::RATE, 1e6, 1));
        vec![
            Record::Header(Box::new(header())),
            Record::TrialStart {
                cell: Cell::new().with("threads", 4u32),
                repetition: 0,
                block: None,
                targets: None,
                settings: Vec::new(),
                start_ns: 5,
            },
            Record::Phase(Box::new(phase)),
            Record::TrialEnd {
                outcome: TrialOutcome::Completed,
                conditions: vec![Applied {
                    asked: Setting::new("compressibility", "50"),
                    found: Some("50".to_owned()),
                    also_changed: Vec::new(),
                }],
                caveats: Vec::new(),
            },
            Record::TrialStart {
                cell: Cell::new().with("threads", 8u32),
                repetition: 0,
                block: None,
                targets: None,
                settings: Vec::new(),
                start_ns: 9,
            },
            Record::TrialEnd {
                outcome: TrialOutcome::Skipped(SkipReason::new(SkipCode::NoSpace, "1 GiB free")),
                conditions: Vec::new(),
                caveats: Vec::new(),
            },
            Record::End(SessionEnd {
                outcome: SessionOutcome::Completed,
                at: "2002-11-30T11:00:00Z".parse().unwrap(),
                message: None,
            }),
        ]
    }

    #[test]
    fn lines_read_back_as_they_were_written() {
        for record in records() {
            let line = serde_json::to_string(&record).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(
                serde_json::from_str::<Record>(&line).unwrap(),
                record,
                "{line}"
            );
        }
    }

    #[test]
    fn records_make_a_session_and_a_session_makes_its_records() {
        let session = Session::from_records(records()).unwrap();
        assert_eq!(session.trials.len(), 2);
        assert_eq!(session.clone().into_records(), records());
    }

    /// A run that is cut off anywhere leaves a session with all that had finished.
    #[test]
    fn every_beginning_of_a_journal_is_a_session() {
        let all = records();
        for length in 1..=all.len() {
            let session = Session::from_records(all[..length].to_vec()).unwrap();
            assert_eq!(session.end.is_some(), length == all.len());
            let phases: usize = session.trials.iter().map(|trial| trial.phases.len()).sum();
            assert_eq!(phases, usize::from(length >= 3));
        }
    }

    #[test]
    fn records_out_of_place_are_refused() {
        let all = records();
        assert!(Session::from_records(all[1..].to_vec()).is_err());
        assert!(Session::from_records([all[0].clone(), all[2].clone()]).is_err());
        assert!(Session::from_records([all[0].clone(), all[0].clone()]).is_err());
        assert!(Session::from_records([all[0].clone(), all[3].clone()]).is_err());
        assert!(Session::from_records([all[0].clone(), all[1].clone(), all[4].clone()]).is_err());
    }
}
