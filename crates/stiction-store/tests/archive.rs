//! Journals and store in step, whatever came between.

use std::fs;
use std::path::{Path, PathBuf};

use stiction_core::{Session, SessionId};
use stiction_journal::{Journal, JournalError, encode_journal};
use stiction_store::{Archive, CatchUp, Filter, Resolution, SqliteStore, Store, StoreError};
use testkit::sessions::sample;

struct State {
    directory: tempfile::TempDir,
}

impl State {
    /// A directory of state with the sample sessions `numbers` in it.
    fn with(numbers: std::ops::Range<u64>) -> Self {
        let state = Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
        };
        state.open();
        for number in numbers {
            let session = sample(number);
            let path = state.journal(&session.header.id, "");
            fs::write(path, encode_journal(session)).unwrap();
        }
        state.open();
        state
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn open(&self) -> (Archive, CatchUp) {
        Archive::open(self.path()).expect("a writable directory")
    }

    fn store(&self) -> SqliteStore {
        SqliteStore::open(&Archive::store_path(self.path())).expect("a store")
    }

    fn journal(&self, id: &SessionId, ending: &str) -> PathBuf {
        Archive::journals_path(self.path()).join(format!("{id}.jsonl{ending}"))
    }
}

fn id(number: u64) -> SessionId {
    sample(number).header.id
}

fn listed(archive: &Archive) -> Vec<SessionId> {
    let list = archive.list(&Filter::default()).expect("a readable store");
    list.into_iter().rev().map(|summary| summary.id).collect()
}

/// What a fresh look at the directory finds to do.
fn assert_in_step(state: &State, expected: &[u64]) {
    let (archive, report) = state.open();
    assert!(
        report.read.is_empty() && report.deleted.is_empty() && report.restored.is_empty(),
        "{report:?}"
    );
    let expected: Vec<Session> = expected.iter().map(|&number| sample(number)).collect();
    let ids: Vec<_> = expected.iter().map(|s| s.header.id.clone()).collect();
    assert_eq!(listed(&archive), ids);
    for session in expected {
        let id = &session.header.id;
        assert_eq!(archive.get(id).unwrap(), session);
        assert_eq!(archive.journals().read(id).unwrap().session, session);
    }
    let leftovers = archive.journals().list().unwrap();
    assert!(leftovers.deleted.is_empty() && leftovers.unfinished.is_empty());
}

#[test]
fn what_is_added_is_there_for_the_next_one() {
    let state = State::with(0..3);
    let (mut archive, _) = state.open();
    archive.add(sample(3)).unwrap();
    assert_in_step(&state, &[0, 1, 2, 3]);
    let again = archive.add(sample(2));
    assert!(matches!(
        again,
        Err(StoreError::Journal(JournalError::Exists { .. }))
    ));
}

#[test]
fn a_finished_run_is_read_and_one_that_goes_on_is_not() {
    let state = State::with(0..1);
    let (mut archive, _) = state.open();
    let mut records = sample(7).into_records().into_iter().skip(1);
    let mut journal = Journal::create(archive.journals(), sample(7).header).unwrap();
    journal.append(&records.next().unwrap()).unwrap();
    let report = archive.catch_up().unwrap();
    assert_eq!(report.running, [id(7)]);
    assert_eq!(listed(&archive), [id(0)]);
    let refused = archive.delete(&id(7));
    assert!(matches!(
        refused,
        Err(StoreError::Journal(JournalError::Running { .. }))
    ));
    records.for_each(|record| journal.append(&record).unwrap());
    drop(journal);
    assert_eq!(archive.catch_up().unwrap().read, [id(7)]);
    assert_in_step(&state, &[0, 7]);
}

#[test]
fn a_journal_that_has_grown_is_read_again() {
    let session = (0..)
        .map(sample)
        .find(|session| session.end.is_some())
        .unwrap();
    let text = encode_journal(session.clone());
    let header = text.iter().position(|&byte| byte == b'\n').unwrap();
    let state = State::with(0..0);
    let journal = state.journal(&session.header.id, "");
    fs::write(&journal, &text[..=header]).unwrap();
    let (mut archive, report) = state.open();
    assert_eq!(report.read, std::slice::from_ref(&session.header.id));
    assert_eq!(archive.get(&session.header.id).unwrap().end, None);
    fs::write(&journal, &text).unwrap();
    archive.catch_up().unwrap();
    assert_eq!(archive.get(&session.header.id).unwrap(), session);
}

/// A deletion that is cut off after each of its steps is either not begun or carried
/// out by whoever comes next, be it an ordinary command or a rebuild.
#[test]
fn a_deletion_cut_off_anywhere_is_finished() {
    type Step = fn(&State);
    let steps: [Step; 3] = [
        |state| fs::rename(state.journal(&id(1), ""), state.journal(&id(1), ".deleted")).unwrap(),
        |state| assert!(state.store().remove(&id(1)).unwrap()),
        |state| fs::remove_file(state.journal(&id(1), ".deleted")).unwrap(),
    ];
    for done in 0..=steps.len() {
        for rebuild in [false, true] {
            let state = State::with(0..3);
            steps[..done].iter().for_each(|step| step(&state));
            if rebuild {
                Archive::rebuild(state.path()).unwrap();
            } else {
                state.open();
            }
            let left: &[u64] = if done == 0 { &[0, 1, 2] } else { &[0, 2] };
            assert_in_step(&state, left);
        }
    }
}

#[test]
fn a_deleted_session_is_gone() {
    let state = State::with(0..3);
    let (mut archive, _) = state.open();
    archive.delete(&id(1)).unwrap();
    let again = archive.delete(&id(1));
    assert!(matches!(again, Err(StoreError::NotFound(missing)) if missing == id(1)));
    assert_in_step(&state, &[0, 2]);
    archive.add(sample(1)).unwrap();
    assert_in_step(&state, &[0, 1, 2]);
}

#[test]
fn a_lost_journal_is_written_again() {
    let state = State::with(0..3);
    fs::remove_file(state.journal(&id(1), "")).unwrap();
    let (_, report) = state.open();
    assert_eq!(report.restored, [id(1)]);
    assert_in_step(&state, &[0, 1, 2]);
    fs::remove_dir_all(Archive::journals_path(state.path())).unwrap();
    let report = Archive::rebuild(state.path()).unwrap();
    assert_eq!(report.restored, [0, 1, 2].map(id));
    assert_in_step(&state, &[0, 1, 2]);
}

#[test]
fn a_store_that_is_lost_or_spoilt_is_made_anew() {
    let state = State::with(0..70);
    let store = Archive::store_path(state.path());
    let all: Vec<u64> = (0..70).collect();
    fs::remove_file(&store).unwrap();
    let (_, report) = state.open();
    assert_eq!(report.read.len(), 70);
    assert_in_step(&state, &all);

    fs::write(&store, "spoilt").unwrap();
    let spoilt = Archive::open(state.path()).map(|_| ()).unwrap_err();
    assert!(
        spoilt.to_string().contains("stiction store rebuild"),
        "{spoilt}"
    );
    let report = Archive::rebuild(state.path()).unwrap();
    assert_eq!(report.read.len(), 70);
    // What was wrong, without the advice that has just been followed.
    assert_eq!(report.lost_store.as_deref(), Some("file is not a database"));
    assert_in_step(&state, &all);
}

#[test]
fn what_cannot_be_read_is_told_and_costs_nothing_else() {
    let state = State::with(0..3);
    fs::write(state.journal(&id(1), ""), "not a journal\n").unwrap();
    fs::write(state.journal(&id(9), ""), "nor this\n").unwrap();
    let stranger = Archive::journals_path(state.path()).join("notes.txt");
    fs::write(&stranger, "").unwrap();

    // What the store has of the first is kept as long as the store is.
    let (archive, report) = state.open();
    assert_eq!(listed(&archive), [0, 1, 2].map(id));
    assert_eq!(archive.get(&id(1)).unwrap(), sample(1));
    let unreadable: Vec<_> = report.unreadable.iter().map(|u| u.id.clone()).collect();
    assert_eq!(unreadable, [1, 9].map(id));
    let problem = &report.unreadable[1].problem;
    let path = state.journal(&id(9), "").display().to_string();
    assert!(problem.starts_with(&path), "{problem}");
    assert_eq!(report.strangers, [stranger]);
    drop(archive);

    let report = Archive::rebuild(state.path()).unwrap();
    assert_eq!(report.read, [0, 2].map(id));
    assert_eq!(report.unreadable.len(), 2);
    assert_eq!(state.store().get(&id(1)).unwrap(), sample(1));

    // It can be named, so it can be deleted.
    let (mut archive, _) = state.open();
    let typed = id(9).tail().to_owned();
    assert_eq!(archive.resolve(&typed).unwrap(), Resolution::One(id(9)));
    archive.delete(&id(9)).unwrap();
    assert_eq!(archive.resolve(&typed).unwrap(), Resolution::None);
}

#[test]
fn a_torn_line_is_told_once_and_the_rest_kept() {
    let state = State::with(0..0);
    let session = (0..)
        .map(sample)
        .find(|session| session.end.is_some())
        .unwrap();
    let text = encode_journal(session.clone());
    fs::write(
        state.journal(&session.header.id, ""),
        &text[..text.len() - 5],
    )
    .unwrap();
    let (archive, report) = state.open();
    assert_eq!(report.unreadable.len(), 1);
    assert!(
        report.unreadable[0].problem.contains(": line "),
        "{report:?}"
    );
    let kept = archive.get(&session.header.id).unwrap();
    assert_eq!(
        kept,
        Session {
            end: None,
            ..session
        }
    );
    drop(archive);
    assert_eq!(state.open().1.unreadable, []);
}

/// The store finds no room; the journals that are there cost nothing by it, and the
/// next command has them all.
#[test]
fn root_a_full_disk_costs_no_session() {
    testkit::require_root!();
    let disk = testkit::TmpfsMount::new(1 << 20);
    let journals = Archive::journals_path(disk.path());
    fs::create_dir(&journals).unwrap();
    for number in 0..20 {
        let session = sample(number);
        let path = journals.join(format!("{}.jsonl", session.header.id));
        fs::write(path, encode_journal(session)).unwrap();
    }
    let filler = disk.path().join("filler");
    fs::write(&filler, vec![1; 2 << 20]).unwrap_err();
    let error = Archive::open(disk.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, StoreError::Full { .. }), "{error}");
    let store = Archive::store_path(disk.path()).display().to_string();
    assert!(error.to_string().starts_with(&store), "{error}");
    fs::remove_file(filler).unwrap();
    let (archive, report) = Archive::open(disk.path()).unwrap();
    assert_eq!(report.read.len(), 20);
    assert_eq!(listed(&archive), (0..20).map(id).collect::<Vec<_>>());
}
