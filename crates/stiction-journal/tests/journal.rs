//! Journals on a real filesystem: who may read them, who is writing them, how they go.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use stiction_core::Session;
use stiction_journal::{Journal, JournalDirectory, JournalError, encode_journal};

fn directory() -> (tempfile::TempDir, JournalDirectory) {
    let parent = tempfile::tempdir().expect("a temporary directory");
    let directory = JournalDirectory::create(&parent.path().join("state/journals"))
        .expect("a directory inside it");
    (parent, directory)
}

/// A session with a trial of several phases.
fn rich() -> Session {
    (0..)
        .map(testkit::sessions::sample)
        .find(|session| session.end.is_some() && session.trials.iter().any(|t| t.phases.len() > 1))
        .expect("some session is as rich as that")
}

#[test]
fn a_run_writes_line_by_line_what_is_read_back() {
    let (_parent, directory) = directory();
    let session = rich();
    let id = session.header.id.clone();
    let mut journal = Journal::create(&directory, session.header.clone()).unwrap();
    assert_eq!(journal.path(), directory.journal_path(&id));
    for (written, record) in (1..).zip(session.clone().into_records().into_iter().skip(1)) {
        let lines = fs::read_to_string(journal.path()).unwrap().lines().count();
        assert_eq!(lines, written, "each record is in the file at once");
        journal.append(&record).unwrap();
    }
    journal.sync().unwrap();
    let read = directory.read(&id).unwrap();
    assert_eq!(read.session, session);
    assert_eq!(read.problems, []);
    assert_eq!(fs::read(journal.path()).unwrap(), encode_journal(session));
}

#[test]
fn journals_are_for_their_owner_alone() {
    let (_parent, directory) = directory();
    let journal = Journal::create(&directory, rich().header).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(directory.path()), 0o700);
    assert_eq!(mode(journal.path()), 0o600);
}

#[test]
fn an_id_is_given_once() {
    let (_parent, directory) = directory();
    let session = rich();
    let path = directory.save(session.clone()).unwrap();
    let before = fs::read(&path).unwrap();
    let again = directory.save(session.clone());
    assert!(matches!(again, Err(JournalError::Exists { .. })));
    let again = Journal::create(&directory, session.header);
    assert!(matches!(again, Err(JournalError::Exists { .. })));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_run_that_goes_on_is_told_from_one_that_was_cut_off() {
    let (_parent, directory) = directory();
    let session = rich();
    let id = &session.header.id;
    let journal = Journal::create(&directory, session.header.clone()).unwrap();
    assert!(directory.is_running(id).unwrap());
    let refused = directory.mark_deleted(id);
    assert!(matches!(refused, Err(JournalError::Running { .. })));
    drop(journal);
    assert!(!directory.is_running(id).unwrap());
    assert!(directory.read(id).unwrap().session.end.is_none());
}

#[test]
fn a_deletion_is_decided_by_one_rename() {
    let (_parent, directory) = directory();
    let session = rich();
    let id = session.header.id.clone();
    directory.save(session).unwrap();
    directory.mark_deleted(&id).unwrap();
    let listing = directory.list().unwrap();
    assert_eq!(listing.journals, []);
    assert_eq!(listing.deleted, std::slice::from_ref(&id));
    let again = directory.mark_deleted(&id);
    assert!(matches!(again, Err(JournalError::Missing { .. })));
    directory.finish_deletion(&id).unwrap();
    directory.finish_deletion(&id).unwrap();
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn a_save_that_died_leaves_nothing_in_the_way() {
    let (_parent, directory) = directory();
    let session = rich();
    let id = session.header.id.clone();
    let unfinished = directory.path().join(format!("{id}.jsonl.new"));
    fs::write(&unfinished, "half a jour").unwrap();
    let listed = directory.list().unwrap().unfinished;
    assert_eq!(listed, std::slice::from_ref(&unfinished));
    directory.save(session.clone()).unwrap();
    assert!(!unfinished.exists());
    assert_eq!(directory.read(&id).unwrap().session, session);
}

#[test]
fn a_listing_is_in_order_of_time_and_names_strangers() {
    let (_parent, directory) = directory();
    for number in [12, 10, 11] {
        directory.save(testkit::sessions::sample(number)).unwrap();
    }
    fs::write(directory.path().join("notes.txt"), "").unwrap();
    let listing = directory.list().unwrap();
    for (entry, number) in listing.journals.iter().zip([10, 11, 12]) {
        let session = testkit::sessions::sample(number);
        assert_eq!(entry.id, session.header.id);
        assert_eq!(entry.size_bytes, encode_journal(session).len() as u64);
    }
    assert_eq!(listing.journals.len(), 3);
    assert_eq!(listing.strangers, [directory.path().join("notes.txt")]);
}

#[test]
fn a_copy_under_another_name_is_refused() {
    let (_parent, directory) = directory();
    let [session, other] = [1, 2].map(testkit::sessions::sample);
    let path = directory.save(session.clone()).unwrap();
    fs::copy(path, directory.journal_path(&other.header.id)).unwrap();
    let error = directory.read(&other.header.id).unwrap_err();
    assert!(matches!(error, JournalError::Misnamed { holds, .. } if holds == session.header.id));
}

/// Wherever the power was cut: what stands is read, what is torn goes, and what is added
/// then makes the journal that would have been.
#[test]
fn a_journal_that_was_cut_anywhere_is_taken_up_again() {
    let (_parent, directory) = directory();
    let mut session = rich();
    for phase in session.trials.iter_mut().flat_map(|one| &mut one.phases) {
        phase.recordings.clear();
        phase.witnesses = Default::default();
    }
    let id = session.header.id.clone();
    let records = session.clone().into_records();
    let text = encode_journal(session);
    let path = directory.journal_path(&id);
    let first = text.iter().position(|&byte| byte == b'\n').unwrap();
    let tails: [&[u8]; 4] = [b"", b"\0\0\0\0", b"\n", b"{\"checksum\":\"0\n\xff\n"];
    // Around each line's end, and here and there inside.
    let is_tried =
        |&at: &usize| at % 61 == 0 || text[at - 1..text.len().min(at + 2)].contains(&b'\n');
    for cut in (first + 1..text.len()).filter(is_tried) {
        let tail = tails[cut % tails.len()];
        // A line end that follows a whole line is its own.
        let is_line_end = tail == b"\n" && text[cut] == b'\n';
        fs::write(
            &path,
            [&text[..cut], if is_line_end { b"" } else { tail }].concat(),
        )
        .unwrap();
        let (mut journal, read) = Journal::reopen(&directory, &id).unwrap();
        assert_eq!(read.problems, [], "cut after {cut} bytes");
        let lines = text[..cut].iter().filter(|&&byte| byte == b'\n').count();
        let whole = lines + usize::from(text[cut] == b'\n' && (tail.is_empty() || is_line_end));
        for record in &records[whole..] {
            journal.append(record).unwrap();
        }
        assert!(journal.unwritten() == 0);
        assert!(fs::read(&path).unwrap() == text, "cut after {cut} bytes");
    }
}

#[test]
fn a_journal_is_taken_up_by_one_alone() {
    let (_parent, directory) = directory();
    let session = rich();
    let id = session.header.id.clone();
    let missing = Journal::reopen(&directory, &id).err().unwrap();
    assert!(matches!(missing, JournalError::Missing { .. }));
    let journal = Journal::create(&directory, session.header).unwrap();
    let running = Journal::reopen(&directory, &id).err().unwrap();
    assert!(matches!(running, JournalError::Running { .. }));
    drop(journal);
    let (again, read) = Journal::reopen(&directory, &id).unwrap();
    assert!(read.session.trials.is_empty());
    assert!(directory.is_running(&id).unwrap());
    drop(again);
}
