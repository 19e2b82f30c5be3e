//! The sessions that are kept, a few words on each.

use stiction_core::{SessionOutcome, Summary, TrialCounts};

use crate::curve::finding;
use crate::judged::Judged;
use crate::outcome::going_on;
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::quick::headline;
use crate::stack::without_home;
use crate::text::WIDTH;

/// A session in a list.
#[derive(Clone, Debug)]
pub struct Listed {
    /// What is known of it without its records.
    pub summary: Summary,
    /// Its headline figures, where they were looked up; see [`Judged::headline`].
    pub headline: Option<String>,
    /// Whether it was looked up, and can go on where it was cut off.
    pub can_go_on: bool,
}

impl Judged<'_> {
    /// The figures that a list shows of the session, each with its word; `None`
    /// when it has none.
    #[must_use]
    pub fn headline(&self) -> Option<String> {
        finding(self.session()).or_else(|| headline(self))
    }
}

/// The sessions in the order given, and how many there are in the last line.
#[must_use]
pub fn list(sessions: &[Listed], style: Style) -> String {
    let mut page = Page::new(style);
    if sessions.is_empty() {
        page.line("No sessions");
        return page.finish();
    }
    let mut table = Table::new(vec![
        Column::left("session (UTC)", 20),
        Column::left("what", 15),
        Column::left("label", 12),
        Column::left("on", 18),
        Column::left("outcome", 11),
    ]);
    for session in sessions {
        table.row(row(&session.summary));
        if let Some(below) = below(session) {
            table.note(Span::new(Role::Faint, format!("  {below}")));
        }
        if session.can_go_on {
            let command = going_on(&session.summary.id);
            table.note(Span::new(
                Role::Faint,
                format!("  `{command}` goes on with it"),
            ));
        }
    }
    page.table(0, &table);
    let plural = if sessions.len() == 1 { "" } else { "s" };
    page.line(Span::new(
        Role::Strong,
        format!("{} session{plural}", sessions.len()),
    ));
    page.finish()
}

fn row(summary: &Summary) -> Vec<Span> {
    let (role, outcome) = outcome(summary.outcome, summary.trials);
    let mut place: Vec<String> = Vec::new();
    place.extend((!summary.filesystems.is_empty()).then(|| summary.filesystems.join(" ")));
    place.extend(summary.targets.iter().map(|path| without_home(path)));
    vec![
        summary.id.as_str().into(),
        summary.workload.as_str().into(),
        summary.label.clone().unwrap_or_default().into(),
        place.join(" ").into(),
        Span::new(role, outcome),
    ]
}

/// How it ended; failures and skips before anything else.
fn outcome(outcome: Option<SessionOutcome>, trials: TrialCounts) -> (Role, String) {
    match outcome {
        None => (Role::Bad, "cut off".to_owned()),
        Some(SessionOutcome::Failed) => (Role::Bad, "failed".to_owned()),
        Some(SessionOutcome::Interrupted) => (Role::Doubt, "interrupted".to_owned()),
        Some(SessionOutcome::Completed) if trials.failed > 0 => {
            (Role::Bad, format!("{} failed", trials.failed))
        }
        Some(SessionOutcome::Completed) if trials.skipped > 0 => {
            (Role::Doubt, format!("{} skipped", trials.skipped))
        }
        Some(SessionOutcome::Completed) => (Role::Text, "completed".to_owned()),
    }
}

/// The second line: the figures, after the kernel where there is room for it.
fn below(session: &Listed) -> Option<String> {
    const INDENT: usize = 2;
    let kernel = session.summary.kernel_release.as_deref();
    match (kernel, session.headline.as_deref()) {
        (Some(kernel), Some(headline)) => {
            let both = format!("{kernel}: {headline}");
            Some(if both.len() + INDENT <= WIDTH {
                both
            } else {
                headline.to_owned()
            })
        }
        (kernel, headline) => headline.or(kernel).map(str::to_owned),
    }
}
