//! Journals in every state that a crash, a bad disk or a stranger can leave.

use std::path::Path;

use proptest::prelude::*;
use stiction_core::{
    CaveatCode, PhaseOutcome, Provenance, Session, SessionOutcome, SkipCode, TrialOutcome, metrics,
};
use stiction_journal::{JournalError, ReadJournal, decode_journal, encode_journal};

fn decode(text: &[u8]) -> Result<ReadJournal, JournalError> {
    decode_journal(text, Path::new("x.jsonl"))
}

/// A session with several trials, one of several phases, and an end; without
/// recordings, so that its lines are short.
fn rich() -> Session {
    let mut session = (0..)
        .map(testkit::sessions::sample)
        .find(|session| {
            session.end.is_some()
                && session.trials.len() > 1
                && session.trials.iter().any(|trial| trial.phases.len() > 1)
        })
        .expect("some session is as rich as that");
    for phase in session
        .trials
        .iter_mut()
        .flat_map(|trial| &mut trial.phases)
    {
        phase.recordings.clear();
    }
    session
}

/// Cut anywhere, a journal is what it was after its last whole record.
#[test]
fn every_beginning_of_a_journal_reads_as_a_beginning_of_the_session() {
    let session = rich();
    let text = encode_journal(session.clone());
    let records = session.into_records();
    let mut whole = 0;
    for length in 0..=text.len() {
        // A record is there with its last byte; its line end adds nothing.
        let ends_a_record = text.get(length) == Some(&b'\n');
        whole += usize::from(ends_a_record);
        match decode(&text[..length]) {
            Err(JournalError::Empty { .. }) => assert_eq!(whole, 0, "cut at {length}"),
            Err(error) => panic!("cut at {length}: {error}"),
            Ok(read) => {
                let expected = Session::from_records(records[..whole].to_vec()).unwrap();
                assert_eq!(read.session, expected, "cut at {length}");
                let is_torn = !ends_a_record && text[length - 1] != b'\n';
                assert_eq!(read.problems.len(), usize::from(is_torn), "cut at {length}");
            }
        }
    }
    assert_eq!(whole, records.len());
}

/// Damage in one line costs that line, is reported with its number, and stays
/// visible as a caveat.
#[test]
fn a_damaged_line_costs_no_other() {
    let session = rich();
    let text = encode_journal(session.clone());
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let count = |session: &Session| -> (usize, usize) {
        let phases = session.trials.iter().map(|trial| trial.phases.len()).sum();
        (session.trials.len(), phases)
    };
    let (trials_before, phases_before) = count(&session);
    for damaged in 1..lines.len() {
        let mut copy: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
        let middle = copy[damaged].len() / 2;
        copy[damaged][middle] ^= 0x20;
        let read = decode(&copy.concat()).unwrap();
        let number = damaged + 1;
        assert_eq!(read.problems[0].line, number);
        let caveat = read.session.header.caveats.last().unwrap();
        assert_eq!(caveat.code, CaveatCode::PartlyRead);
        assert!(caveat.detail.contains(&number.to_string()), "{caveat:?}");
        let (trials, phases) = count(&read.session);
        let kind = String::from_utf8_lossy(lines[damaged]);
        match kind.split('"').nth(7).unwrap() {
            // The end of a trial is also seen from the start of the next one.
            "trial_end" | "end" => assert_eq!((trials, phases), (trials_before, phases_before)),
            "phase" => assert_eq!((trials, phases), (trials_before, phases_before - 1)),
            "trial_start" => assert_eq!(trials, trials_before - 1),
            other => panic!("a line of kind {other}"),
        }
    }
}

#[test]
fn a_trial_whose_end_is_damaged_has_not_completed() {
    let text = String::from_utf8(encode_journal(rich())).unwrap();
    let damaged = text.replacen("\"record\":\"trial_end\"", "\"record\":\"trial_enb\"", 1);
    let read = decode(damaged.as_bytes()).unwrap();
    assert!(matches!(
        &read.session.trials[0].outcome,
        TrialOutcome::Failed { message } if message.contains("damaged")
    ));
}

#[test]
fn what_is_no_journal_is_refused() {
    for text in ["\n", "hello\n", "{\"record\":\"header\"}\n", "\0\0\0\n"] {
        let error = decode(text.as_bytes()).unwrap_err();
        assert!(
            matches!(error, JournalError::NotAJournal { .. }),
            "{text:?}: {error}"
        );
    }
    let text = encode_journal(rich());
    let second_line = text.split_inclusive(|&byte| byte == b'\n').nth(1).unwrap();
    let error = decode(second_line).unwrap_err();
    assert!(matches!(error, JournalError::NotAJournal { .. }));
}

#[test]
fn a_newer_form_is_refused_by_its_number() {
    let body = r#""record":"header","format_version":2,"who":"knows"}"#;
    let checksum = stiction_core::Digest::of(body.as_bytes());
    let text = format!("{{\"checksum\":\"{}\",{body}\n", checksum.short());
    let error = decode(text.as_bytes()).unwrap_err();
    assert!(matches!(
        error,
        JournalError::Newer {
            found: 2,
            known: 1,
            ..
        }
    ));
    assert!(error.to_string().contains("of version 2"), "{error}");
}

/// `golden/1.jsonl` was written by the first version of the form; its checksums
/// were checked against Python's `hashlib`. The values are read off its text.
#[test]
fn version_1_is_read_for_ever() {
    let read = decode(include_bytes!("golden/1.jsonl")).unwrap();
    assert_eq!(read.problems, []);
    let session = read.session;
    let header = &session.header;
    assert_eq!(header.id.as_str(), "20021130-110211-p2kk");
    assert_eq!(header.started.to_string(), "2002-11-30T11:02:11Z");
    assert_eq!(
        header.label.as_deref(),
        Some("2.5.50 reiserfs, \"quoted\"\n")
    );
    let imported = Provenance::Imported {
        file: "mail 12.txt".to_owned(),
        layout: "tiobench-0.3.3".to_owned(),
    };
    assert_eq!(header.provenance, imported);
    assert_eq!(header.plan.as_ref().unwrap().seed.0, u64::MAX);
    assert_eq!(
        header.environment.targets[0].layers[0].device_number,
        (254, 0)
    );

    let [failed, skipped, interrupted] = &session.trials[..] else {
        panic!("{} trials", session.trials.len());
    };
    assert!(
        matches!(&failed.outcome, TrialOutcome::Failed { message } if message.contains("os error 5"))
    );
    assert!(
        matches!(&skipped.outcome, TrialOutcome::Skipped(reason) if reason.code == SkipCode::NoSpace)
    );
    assert_eq!(interrupted.outcome, TrialOutcome::Interrupted);
    assert_eq!(interrupted.cell.integer("threads"), Some(32));
    assert_eq!(interrupted.repetition, 3);

    let write = failed.phase("write").unwrap();
    assert_eq!(write.outcome, PhaseOutcome::EndedEarly);
    assert_eq!(write.value(&metrics::RATE), Some(5e-324));
    assert_eq!(
        write.value(&metrics::ELAPSED),
        Some(7.364_310_986_574_756e60)
    );
    let first = &write.recordings[0].intervals[0].latencies;
    assert_eq!((first.count(), first.sum_ns()), (167, 2_390_931_582_401));
    assert_eq!((first.over_2_s(), first.over_10_s()), (152, 107));
    let job = interrupted.phases[0].job.as_ref().unwrap();
    assert_eq!(job.seed.0, 1 << 63);

    let end = session.end.as_ref().unwrap();
    assert_eq!(end.outcome, SessionOutcome::Interrupted);
    assert_eq!(end.at.to_string(), "2002-11-30T11:03:12.5Z");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_session_reads_back_exactly(number in any::<u64>()) {
        let session = testkit::sessions::sample(number);
        let text = encode_journal(session.clone());
        prop_assert_eq!(decode(&text).unwrap().session, session);
    }

    #[test]
    fn any_bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..2000)) {
        prop_assert!(decode(&text).is_err(), "48 bits of a checksum came about by chance");
    }

    #[test]
    fn any_damage_is_read_or_refused_and_noticed(
        number in any::<u64>(),
        places in prop::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..8),
    ) {
        let session = testkit::sessions::sample(number);
        let whole = encode_journal(session.clone());
        let mut text = whole.clone();
        for (place, bits) in places {
            text[place.index(whole.len())] ^= bits;
        }
        // Two flips of one bit undo each other.
        prop_assume!(text != whole);
        match decode(&text) {
            Err(_) => {}
            Ok(read) => prop_assert_ne!(&read.problems, &[]),
        }
    }
}
