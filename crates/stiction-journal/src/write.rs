//! A journal while its run goes on.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use stiction_core::{Record, Session, SessionHeader, SessionId};

use crate::medium::Medium;
use crate::read::{JOURNAL_LIMIT_BYTES, text_of, whole_bytes};
use crate::{JournalDirectory, JournalError, ReadJournal, decode_journal, line};

/// The whole journal of a finished session as text.
#[must_use]
pub fn encode_journal(session: Session) -> Vec<u8> {
    let records = session.into_records();
    records.iter().flat_map(line::encode).collect()
}

/// The journal of a session that is being run, locked until it is dropped.
///
/// A record that cannot be written is kept, and written before the next one: a
/// disk that was full while the files of a trial lay on it has room again after
/// them. The file is at all times a beginning of the session, in whole lines.
pub struct Journal {
    medium: Box<dyn Medium>,
    path: PathBuf,
    written_bytes: u64,
    /// Whether the file may end in a part of a line, which must be cut off before
    /// anything is appended.
    torn: bool,
    /// Whether a sync failed. The kernel reports such a failure once, and may then
    /// have dropped the data, so no later sync can vouch for it.
    sync_failed: bool,
    unwritten: VecDeque<Vec<u8>>,
}

impl Journal {
    /// Makes the journal of the session with that header, and writes the header
    /// through to the device.
    ///
    /// # Errors
    /// [`JournalError::Exists`] when the session's id is taken. On any other error
    /// nothing is left behind.
    pub fn create(
        directory: &JournalDirectory,
        header: SessionHeader,
    ) -> Result<Self, JournalError> {
        let (file, path) = directory.create_file(&header.id)?;
        let mut journal = Self::over(Box::new(file), path);
        let begun = journal
            .append(&Record::Header(Box::new(header)))
            .and_then(|()| journal.sync())
            .and_then(|()| directory.sync());
        if let Err(error) = begun {
            // The run does not start, so the file with no whole session in it goes;
            // the error that matters is the one before.
            let _ = std::fs::remove_file(&journal.path);
            return Err(error);
        }
        Ok(journal)
    }

    /// Takes the journal of `id` up again, with what it holds. What a crash left torn or
    /// spoilt at its end is not among that, and is cut off before anything is added.
    ///
    /// # Errors
    /// [`JournalError::Missing`] when there is none, [`JournalError::Running`] while a
    /// process is writing it, and those of [`decode_journal`].
    pub fn reopen(
        directory: &JournalDirectory,
        id: &SessionId,
    ) -> Result<(Self, ReadJournal), JournalError> {
        let (file, path) = directory.open_file(id)?;
        let text = text_of(&file, &path)?;
        let whole = &text[..whole_bytes(&text)];
        let read = decode_journal(whole, &path)?;
        if read.session.header.id != *id {
            return Err(JournalError::Misnamed {
                path,
                holds: read.session.header.id,
            });
        }
        let mut journal = Self::over(Box::new(file), path);
        journal.written_bytes = whole.len() as u64;
        journal.torn = whole.len() < text.len();
        if whole.last() != Some(&b'\n') {
            // Its line end alone was not written.
            journal.unwritten.push_back(b"\n".to_vec());
        }
        Ok((journal, read))
    }

    fn over(medium: Box<dyn Medium>, path: PathBuf) -> Self {
        Self {
            medium,
            path,
            written_bytes: 0,
            torn: false,
            sync_failed: false,
            unwritten: VecDeque::new(),
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Records that were appended and could not be written yet.
    #[must_use]
    pub fn unwritten(&self) -> usize {
        self.unwritten.len()
    }

    /// Writes one record, after those that could not be written before, each with
    /// one `write`.
    ///
    /// # Errors
    /// When the record could not be written now. It is kept: the next call, of this
    /// or of [`sync`](Self::sync), tries again.
    pub fn append(&mut self, record: &Record) -> Result<(), JournalError> {
        let line = line::encode(record);
        debug_assert_eq!(
            line.strip_suffix(b"\n").map(line::decode).as_ref(),
            Some(&Ok(record.clone())),
            "a record must read back"
        );
        self.unwritten.push_back(line);
        self.write_out()
    }

    /// Returns when everything that was appended is on the device.
    ///
    /// # Errors
    /// When something could not be written, or the device could not be asked, or
    /// an earlier sync had failed.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.write_out()?;
        let synced = if self.sync_failed {
            Err(io::Error::other(
                "an earlier sync failed, and what was written before it may be lost",
            ))
        } else {
            self.medium.sync()
        };
        synced.map_err(|error| {
            self.sync_failed = true;
            JournalError::io("sync the journal", &self.path, error)
        })
    }

    fn write_out(&mut self) -> Result<(), JournalError> {
        while let Some(line) = self.unwritten.pop_front() {
            if let Err(error) = self.write_line(&line) {
                self.unwritten.push_front(line);
                return Err(error);
            }
        }
        Ok(())
    }

    fn write_line(&mut self, line: &[u8]) -> Result<(), JournalError> {
        let io = |path: &Path, error| JournalError::io("write the journal", path, error);
        let bytes = self.written_bytes + line.len() as u64;
        if bytes > JOURNAL_LIMIT_BYTES {
            return Err(JournalError::TooLarge {
                path: self.path.clone(),
                bytes,
                limit_bytes: JOURNAL_LIMIT_BYTES,
            });
        }
        if self.torn {
            self.medium
                .cut(self.written_bytes)
                .map_err(|error| io(&self.path, error))?;
            self.torn = false;
        }
        let mut rest = line;
        while !rest.is_empty() {
            match self.medium.append(rest) {
                Ok(0) => {
                    self.torn = true;
                    return Err(io(&self.path, io::ErrorKind::WriteZero.into()));
                }
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.torn = rest.len() < line.len();
                    // Cut now, so that a reader of the file finds whole lines; where
                    // that fails the next write tries again.
                    if self.torn && self.medium.cut(self.written_bytes).is_ok() {
                        self.torn = false;
                    }
                    return Err(io(&self.path, error));
                }
            }
        }
        self.written_bytes = bytes;
        Ok(())
    }
}

/// Writes a finished session as the journal in `file`, through to the device.
pub(crate) fn write_whole(file: File, path: &Path, session: Session) -> Result<(), JournalError> {
    let mut journal = Journal::over(Box::new(file), path.to_owned());
    for record in session.into_records() {
        journal.append(&record)?;
    }
    journal.sync()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::decode_journal;

    /// A disk that fills up, and of which one call fails.
    #[derive(Default)]
    struct Disk {
        content: Vec<u8>,
        room_bytes: usize,
        can_cut: bool,
        calls: usize,
        fails_at: Option<usize>,
    }

    impl Disk {
        fn roomy() -> Self {
            Self {
                room_bytes: usize::MAX,
                can_cut: true,
                ..Self::default()
            }
        }

        fn call(&mut self) -> io::Result<()> {
            self.calls += 1;
            if self.fails_at == Some(self.calls) {
                return Err(io::Error::from_raw_os_error(5));
            }
            Ok(())
        }
    }

    impl Medium for Arc<Mutex<Disk>> {
        fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut disk = self.lock().unwrap();
            disk.call()?;
            let count = bytes.len().min(disk.room_bytes - disk.content.len());
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            disk.content.extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn cut(&mut self, length_bytes: u64) -> io::Result<()> {
            let mut disk = self.lock().unwrap();
            disk.call()?;
            if !disk.can_cut {
                return Err(io::Error::from_raw_os_error(5));
            }
            disk.content.truncate(length_bytes as usize);
            Ok(())
        }

        fn sync(&mut self) -> io::Result<()> {
            self.lock().unwrap().call()
        }
    }

    fn journal_on(disk: &Arc<Mutex<Disk>>) -> Journal {
        Journal::over(Box::new(Arc::clone(disk)), "memory".into())
    }

    /// A session of a few short records, and their journal.
    fn session() -> (Session, Vec<u8>) {
        let mut session = (0..)
            .map(testkit::sessions::sample)
            .find(|session| session.trials.len() == 1 && session.trials[0].phases.len() == 1)
            .expect("one session in some is as small as that");
        session.trials[0].phases[0].recordings.clear();
        let text = encode_journal(session.clone());
        (session, text)
    }

    #[test]
    fn whichever_call_fails_every_record_is_written_in_the_end() {
        let (session, text) = session();
        let records = session.into_records();
        let calls = records.len() + 1;
        for fails_at in 1..=calls {
            let disk = Arc::new(Mutex::new(Disk {
                fails_at: Some(fails_at),
                ..Disk::roomy()
            }));
            let mut journal = journal_on(&disk);
            let failed = records
                .iter()
                .filter(|record| journal.append(record).is_err())
                .count();
            let synced = journal.sync();
            assert_eq!(failed == 1, fails_at < calls, "call {fails_at} failed");
            assert_eq!(synced.is_err(), fails_at == calls, "call {fails_at} failed");
            if synced.is_err() {
                assert!(journal.sync().is_err(), "a failed sync is not forgotten");
            }
            assert_eq!(journal.unwritten(), 0);
            assert_eq!(disk.lock().unwrap().content, text);
        }
    }

    #[test]
    fn a_full_disk_holds_whole_lines_and_gets_the_rest_when_it_has_room() {
        let (session, text) = session();
        let records = session.into_records();
        for room_bytes in 0..text.len() {
            let disk = Arc::new(Mutex::new(Disk {
                room_bytes,
                ..Disk::roomy()
            }));
            let mut journal = journal_on(&disk);
            for record in &records {
                // What the last one says is looked at below.
                let _ = journal.append(record);
            }
            let content = disk.lock().unwrap().content.clone();
            let whole = text[..room_bytes].iter().rposition(|&byte| byte == b'\n');
            assert_eq!(content, text[..whole.map_or(0, |at| at + 1)]);
            let lines = content.iter().filter(|&&byte| byte == b'\n').count();
            assert_eq!(journal.unwritten(), records.len() - lines);
            let error = journal.sync().unwrap_err().to_string();
            assert!(
                error.starts_with("memory: cannot write the journal"),
                "{error}"
            );
            assert!(error.contains("; free some space there"), "{error}");

            disk.lock().unwrap().room_bytes = usize::MAX;
            journal.sync().unwrap();
            assert_eq!(disk.lock().unwrap().content, text);
        }
    }

    #[test]
    fn a_torn_line_that_cannot_be_cut_off_is_cut_off_later() {
        let (session, text) = session();
        let records = session.clone().into_records();
        for room_bytes in 0..text.len() {
            let disk = Arc::new(Mutex::new(Disk {
                room_bytes,
                can_cut: false,
                ..Disk::roomy()
            }));
            let mut journal = journal_on(&disk);
            for record in &records {
                // What could not be written is counted below.
                let _ = journal.append(record);
            }
            let content = disk.lock().unwrap().content.clone();
            assert_eq!(content, text[..room_bytes], "nothing follows a torn line");
            // A line that lacks only its end can be read.
            let lines =
                records.len() - journal.unwritten() + usize::from(text[room_bytes] == b'\n');
            if lines > 0 {
                let read = decode_journal(&content, Path::new("memory")).unwrap();
                let beginning = Session::from_records(records[..lines].to_vec()).unwrap();
                assert_eq!(read.session, beginning);
            }
            disk.lock().unwrap().room_bytes = usize::MAX;
            disk.lock().unwrap().can_cut = true;
            journal.sync().unwrap();
            assert_eq!(disk.lock().unwrap().content, text);
        }
    }
}
