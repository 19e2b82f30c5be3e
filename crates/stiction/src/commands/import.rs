//! `stiction import`.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use stiction_core::{
    Environment, ExportError, Provenance, RECORD_FORMAT_VERSION, Session, SessionEnd,
    SessionHeader, SessionId, SessionOutcome, Tool, read_exported_session,
};
use stiction_formats::Imported;
use stiction_report::{ImportedFile, ImportedSession, UnreadLine, json};
use stiction_store::Archive;

use super::{Desk, measure, store};
use crate::arguments::ImportArguments;
use crate::exit::Exit;
use crate::failure::Failure;

/// Largest file that is read: tables are small, and a mistyped disk image is not.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Reads each file, keeps what it holds, and says what could not be read. All are read
/// before the first is kept, so that a mistyped name keeps nothing.
pub(super) fn run(typed: &ImportArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut archive = store::open(desk)?;
    let found: Vec<Read> = typed
        .files
        .iter()
        .map(|path| read(path))
        .collect::<Result<_, _>>()?;
    let mut files = Vec::new();
    let kept = found.into_iter().try_for_each(|found| {
        files.push(found.file);
        let file = files.last_mut().expect("it was pushed just now");
        keep(found.sessions, typed, &mut archive, file)
    });
    let text = if desk.console.json {
        json::import(&files)
    } else {
        stiction_report::import(&files, desk.console.style())
    };
    desk.console.data(&text)?;
    // What was kept before a failure is told above.
    kept?;
    let nothing = files.iter().all(|file| file.sessions.is_empty());
    Ok(if nothing {
        Exit::NothingToJudge
    } else {
        Exit::Done
    })
}

/// Keeps the sessions of one file, and notes each in `file` once it is kept.
fn keep(
    sessions: Vec<Session>,
    typed: &ImportArguments,
    archive: &mut Archive,
    file: &mut ImportedFile,
) -> Result<(), Failure> {
    for mut session in sessions {
        if typed.label.is_some() {
            session.header.label.clone_from(&typed.label);
        }
        let told = ImportedSession::from(&session);
        archive.add(session)?;
        file.sessions.push(told);
    }
    Ok(())
}

/// The session in a file, without keeping it. It is called by the file's name unless
/// it has a label.
///
/// # Errors
/// When the file cannot be read, or holds no session or several.
pub(super) fn read_session(path: &Path) -> Result<Session, Failure> {
    let mut sessions = read(path)?.sessions;
    match sessions.len() {
        1 => {
            let mut session = sessions.remove(0);
            let label = &mut session.header.label;
            *label = label
                .take()
                .or_else(|| Some(file_name(&path.to_string_lossy())));
            Ok(session)
        }
        0 => Err(
            Failure::new(format!("{}: no table in it could be read", path.display()))
                .advise("`stiction import` on it says why, line by line."),
        ),
        count => Err(
            Failure::new(format!("{} holds {count} sessions", path.display()))
                .advise("Import it, and compare the sessions by their ids."),
        ),
    }
}

/// What a file held.
struct Read {
    sessions: Vec<Session>,
    file: ImportedFile,
}

fn read(path: &Path) -> Result<Read, Failure> {
    let bytes = bytes(path)?;
    let name = path.to_string_lossy().into_owned();
    let mut file = ImportedFile {
        file: name.clone(),
        ..ImportedFile::default()
    };
    let text = stiction_formats::decode(&bytes);
    match read_exported_session(&text) {
        Ok(session) => {
            return Ok(Read {
                sessions: vec![session],
                file,
            });
        }
        Err(ExportError::NotAnExport) => {}
        Err(error) => return Err(Failure::new(format!("{name}: {error}"))),
    }
    let Imported {
        sessions,
        unread,
        messages,
        ..
    } = stiction_formats::read(&text);
    file.messages = messages;
    file.unread = unread
        .into_iter()
        .map(|line| UnreadLine {
            line: line.line,
            text: line.text,
            reason: line.reason,
        })
        .collect();
    let sessions = sessions
        .into_iter()
        .map(|imported| with_header(imported, &name))
        .collect::<Result<_, _>>()?;
    Ok(Read { sessions, file })
}

/// Reads the whole of a file or of stdin, within bounds.
fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    let failed =
        |error: io::Error| Failure::new(format!("cannot read {}: {error}", path.display()));
    let mut bytes = Vec::new();
    let mut source: Box<dyn io::Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(failed)?)
    };
    source
        .by_ref()
        .take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failure::new(format!(
            "{} is larger than {}; tables of results are not",
            path.display(),
            stiction_core::format_bytes(FILE_BYTES_MAX)
        )));
    }
    Ok(bytes)
}

/// Gives the figures of a text their id and circumstances.
fn with_header(
    imported: stiction_formats::ImportedSession,
    file: &str,
) -> Result<Session, Failure> {
    let now = jiff::Timestamp::now();
    let environment = Environment {
        tool: Tool {
            name: imported.layout.clone(),
            version: String::new(),
        },
        stated: imported.stated,
        ..Environment::default()
    };
    let header = SessionHeader {
        format_version: RECORD_FORMAT_VERSION,
        id: SessionId::new(now, measure::random()?),
        started: now,
        label: None,
        command: vec!["stiction".to_owned(), "import".to_owned()],
        provenance: Provenance::Imported {
            file: file_name(file),
            layout: imported.layout,
        },
        plan: None,
        environment,
        caveats: imported.caveats,
        invocation: None,
    };
    let end = SessionEnd {
        outcome: SessionOutcome::Completed,
        at: now,
        message: None,
    };
    Ok(Session {
        header,
        trials: imported.trials,
        end: Some(end),
        resumptions: Vec::new(),
    })
}

/// The last part of a path: the rest may say more of the user than of the file.
fn file_name(file: &str) -> String {
    let name = Path::new(file).file_name();
    name.map_or_else(
        || file.to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
