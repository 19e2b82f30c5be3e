//! The journal of a search for a commit: its events, each on the device before the next
//! thing is begun.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use stiction_core::{BISECT_FORMAT_VERSION, BisectEvent};

use crate::line::{self, LineError};
use crate::read::JOURNAL_LIMIT_BYTES;
use crate::{JournalError, medium::Medium as _};

/// The journal of a search, locked while it is open.
#[derive(Debug)]
pub struct BisectJournal {
    file: File,
    path: PathBuf,
    length_bytes: u64,
}

impl BisectJournal {
    /// Opens the journal at `path`, or makes an empty one, and gives it with the events
    /// in it. A last line that was not written wholly is cut off.
    ///
    /// # Errors
    /// [`JournalError::Running`] while another process has it open; and when it cannot
    /// be read, or a line before the last is damaged.
    pub fn open(path: &Path) -> Result<(Self, Vec<BisectEvent>), JournalError> {
        let io = |error| JournalError::io("open", path, error);
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(folder).map_err(io)?;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .mode(0o600)
            .open(path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => {
                let path = path.to_owned();
                return Err(JournalError::Running { path });
            }
            // Where the filesystem has no locks nobody can be kept out.
            Err(std::fs::TryLockError::Error(_)) => {}
        }
        let bytes = read_all(&file, path)?;
        let (events, length_bytes) = decode(&bytes, path)?;
        let mut journal = Self {
            file,
            path: path.to_owned(),
            length_bytes,
        };
        if length_bytes < bytes.len() as u64 {
            journal.file.cut(length_bytes).map_err(io)?;
        }
        if events.is_empty() {
            let folder = File::open(folder).map_err(io)?;
            folder.sync_all().map_err(io)?;
        }
        Ok((journal, events))
    }

    /// The events of the journal at `path`, whether somebody writes it or not; none
    /// where there is no journal.
    ///
    /// # Errors
    /// As [`BisectJournal::open`], but for a writer.
    pub fn read(path: &Path) -> Result<Vec<BisectEvent>, JournalError> {
        match File::open(path) {
            Ok(file) => Ok(decode(&read_all(&file, path)?, path)?.0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(JournalError::io("open", path, error)),
        }
    }

    /// Appends an event, and returns when it is on the device.
    ///
    /// # Errors
    /// When it cannot be written. The journal then ends before it.
    pub fn append(&mut self, event: &BisectEvent) -> Result<(), JournalError> {
        let line = line::encode(event);
        let written = self.file.write_all(&line);
        if let Err(error) = written.and_then(|()| self.file.sync()) {
            // A part of a line at the end is cut off on opening as well.
            let _ = self.file.cut(self.length_bytes);
            return Err(JournalError::io("write", &self.path, error));
        }
        self.length_bytes += line.len() as u64;
        Ok(())
    }

    /// Removes the journal.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> Result<(), JournalError> {
        std::fs::remove_file(&self.path)
            .map_err(|error| JournalError::io("remove", &self.path, error))
    }
}

fn read_all(mut file: &File, path: &Path) -> Result<Vec<u8>, JournalError> {
    let io = |error| JournalError::io("read", path, error);
    let bytes = file.metadata().map_err(io)?.len();
    if bytes > JOURNAL_LIMIT_BYTES {
        return Err(JournalError::TooLarge {
            path: path.to_owned(),
            bytes,
            limit_bytes: JOURNAL_LIMIT_BYTES,
        });
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(io)?;
    Ok(text)
}

/// The events, and how many bytes of whole lines they stand in.
fn decode(bytes: &[u8], path: &Path) -> Result<(Vec<BisectEvent>, u64), JournalError> {
    let not_a_journal = |problem: String| JournalError::NotAJournal {
        path: path.to_owned(),
        problem,
    };
    let mut events = Vec::new();
    let mut length = 0;
    let lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    for (number, whole) in lines.iter().enumerate() {
        let is_last = number + 1 == lines.len();
        let read = match whole.strip_suffix(b"\n") {
            Some(text) => line::decode::<BisectEvent>(text),
            None => Err(LineError::Damaged("it has no end".to_owned())),
        };
        match read {
            Ok(event) => events.push(event),
            // Cut off while it was written: what it told did not come to be.
            Err(LineError::Damaged(_)) if is_last => break,
            Err(LineError::Damaged(problem)) => {
                return Err(not_a_journal(format!("line {}: {problem}", number + 1)));
            }
            Err(LineError::Newer(found)) => {
                return Err(JournalError::Newer {
                    path: path.to_owned(),
                    found,
                    known: BISECT_FORMAT_VERSION,
                });
            }
        }
        length += whole.len() as u64;
    }
    match events.first() {
        None | Some(BisectEvent::Begun(_)) => Ok((events, length)),
        Some(_) => Err(not_a_journal("it does not begin with a search".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{BisectQuestion, Seek, Untestable, Version};

    fn events() -> Vec<BisectEvent> {
        let question = BisectQuestion {
            format_version: BISECT_FORMAT_VERSION,
            tree: "/tree".into(),
            work: "/work".into(),
            good: "a".repeat(40),
            bad: "b".repeat(40),
            chain: Vec::new(),
            build: None,
            keeps_build_files: false,
            run: "./bench".to_owned(),
            patterns: Vec::new(),
            metrics: Vec::new(),
            seek: Seek::Worse,
            end_blocks: 16,
            limit_s: None,
        };
        let version = Version::Commit("c".repeat(40));
        vec![
            BisectEvent::Begun(Box::new(question)),
            BisectEvent::Built {
                version: version.clone(),
                seconds: 2.5,
            },
            BisectEvent::Untestable {
                version,
                step: Untestable::Benchmark,
                message: "exit status: 3".to_owned(),
            },
        ]
    }

    /// A kill at any byte of any write: what had been written wholly is there, and the
    /// rest can be written after it.
    #[test]
    fn cut_at_any_byte_the_whole_lines_are_left_and_more_can_follow() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bisect/one.jsonl");
        let events = events();
        let (mut journal, none) = BisectJournal::open(&path).unwrap();
        assert!(none.is_empty());
        let mut ends = Vec::new();
        for event in &events {
            journal.append(event).unwrap();
            ends.push(path.metadata().unwrap().len() as usize);
        }
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let kept = ends.iter().filter(|&&end| end <= cut).count();
            assert_eq!(BisectJournal::read(&path).unwrap(), events[..kept]);
            let (mut journal, found) = BisectJournal::open(&path).unwrap();
            assert_eq!(found, events[..kept], "cut at {cut}");
            for event in &events[kept..] {
                journal.append(event).unwrap();
            }
            drop(journal);
            assert_eq!(std::fs::read(&path).unwrap(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn two_searches_of_one_journal_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        let (journal, _) = BisectJournal::open(&path).unwrap();
        let second = BisectJournal::open(&path);
        assert!(matches!(second, Err(JournalError::Running { .. })));
        journal.remove().unwrap();
        assert!(BisectJournal::read(&path).unwrap().is_empty());
    }

    #[test]
    fn a_damaged_line_before_the_last_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        let (mut journal, _) = BisectJournal::open(&path).unwrap();
        for event in &events() {
            journal.append(event).unwrap();
        }
        drop(journal);
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[40] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let error = BisectJournal::open(&path).unwrap_err().to_string();
        assert!(error.contains("line 1"), "{error}");
    }

    #[test]
    fn a_newer_search_is_told_from_a_damaged_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.jsonl");
        let json = serde_json::json!({"event": "begun", "format_version": 2, "stars": 3});
        std::fs::write(&path, line::encode(&json)).unwrap();
        let error = BisectJournal::read(&path).unwrap_err();
        assert!(
            matches!(error, JournalError::Newer { found: 2, .. }),
            "{error}"
        );
    }
}
