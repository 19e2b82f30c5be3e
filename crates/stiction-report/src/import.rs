//! What an import read, and what it could not read.

use serde::Serialize;
use stiction_core::{Caveat, Provenance, Session, SessionId};

use crate::page::{Page, Role, Span, Style};
use crate::text::counted;

/// The outcome of reading one file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ImportedFile {
    /// The file, as the user named it.
    pub file: String,
    /// The sessions that came of it.
    pub sessions: Vec<ImportedSession>,
    /// What was not read, in the order of the lines.
    pub unread: Vec<UnreadLine>,
    /// What the reader has to say beyond that.
    pub messages: Vec<String>,
}

/// A session that came of a file.
#[derive(Clone, Debug, Serialize)]
pub struct ImportedSession {
    /// The name that it was given.
    pub id: SessionId,
    /// The layout that was recognised, such as `tiobench-0.3.3`.
    pub layout: String,
    /// Trials in it.
    #[serde(rename = "trials_count")]
    pub trials: usize,
    /// Figures in it.
    #[serde(rename = "figures_count")]
    pub figures: usize,
    /// Figures that differ from what was printed, because a known defect was corrected.
    #[serde(rename = "corrected_count")]
    pub corrected: usize,
    /// Its caveats, each once.
    pub caveats: Vec<Caveat>,
}

/// A line of the file that was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnreadLine {
    /// Its number, from 1.
    #[serde(rename = "line_number")]
    pub line: usize,
    /// The line.
    pub text: String,
    /// Why it was not read.
    pub reason: String,
}

impl From<&Session> for ImportedSession {
    fn from(session: &Session) -> Self {
        let phases = || session.trials.iter().flat_map(|trial| &trial.phases);
        let measurements = || phases().flat_map(|phase| &phase.measurements);
        let mut caveats: Vec<Caveat> = Vec::new();
        let of_phases = phases().flat_map(|phase| &phase.caveats);
        for caveat in crate::doubts::whole_caveats(session).chain(of_phases) {
            if !caveats.contains(caveat) {
                caveats.push(caveat.clone());
            }
        }
        let layout = match &session.header.provenance {
            Provenance::Imported { layout, .. } => layout.clone(),
            Provenance::Measured => "stiction's own export".to_owned(),
        };
        Self {
            id: session.header.id.clone(),
            layout,
            trials: session.trials.len(),
            figures: measurements().count(),
            corrected: measurements().filter(|m| m.corrected.is_some()).count(),
            caveats,
        }
    }
}

/// For each file what was read, with its defects, and what was not, with line
/// numbers; the sum of it in the last line.
#[must_use]
pub fn import(files: &[ImportedFile], style: Style) -> String {
    let mut page = Page::new(style);
    for file in files {
        page.line(Span::new(Role::Strong, file.file.as_str()));
        for session in &file.sessions {
            write_session(&mut page, session);
        }
        if file.sessions.is_empty() {
            page.line(Span::new(Role::Bad, "  nothing in it was recognised"));
        }
        for message in &file.messages {
            page.paragraph("  ", message.as_str());
        }
        write_unread(&mut page, &file.unread);
    }
    page.line(Span::new(Role::Strong, sum(files)));
    page.finish()
}

fn write_session(page: &mut Page, session: &ImportedSession) {
    let corrected = match session.corrected {
        0 => String::new(),
        count => format!(", {count} of them corrected"),
    };
    page.paragraph(
        "  ",
        format!(
            "{} {}: {}, {}{corrected}",
            session.id,
            session.layout,
            counted(session.trials, "row"),
            counted(session.figures, "figure")
        ),
    );
    for caveat in &session.caveats {
        let text = format!("{}: {}", caveat.code, caveat.detail);
        page.paragraph("  ! ", Span::new(Role::Doubt, text));
    }
}

/// Consecutive lines with one reason stand together.
fn write_unread(page: &mut Page, unread: &[UnreadLine]) {
    let follows = |a: &UnreadLine, b: &UnreadLine| b.line == a.line + 1 && a.reason == b.reason;
    for run in unread.chunk_by(follows) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else {
            continue;
        };
        let lines = if first.line == last.line {
            format!("line {}", first.line)
        } else {
            format!("lines {} to {}", first.line, last.line)
        };
        page.spans([
            Span::new(
                Role::Doubt,
                format!("  not read, {lines} ({}): ", first.reason),
            ),
            Span::new(Role::Faint, first.text.trim()),
        ]);
    }
}

fn sum(files: &[ImportedFile]) -> String {
    let sessions = || files.iter().flat_map(|file| &file.sessions);
    let figures = sessions().map(|session| session.figures).sum();
    let unread = files.iter().map(|file| file.unread.len()).sum();
    format!(
        "Read {} in {}; {} not read",
        counted(figures, "figure"),
        counted(sessions().count(), "session"),
        counted(unread, "line")
    )
}
