//! How much of a plan ran, what did not, and why.

use stiction_core::{Cell, Session, TrialOutcome};

use crate::cell::cell_text;
use crate::page::{Page, Role, Span, Style};
use crate::text::counted;

/// Cells that are named for a reason.
const CELLS_NAMED: usize = 6;

/// What kept trials from running or from their end, and where.
struct Gap {
    how: String,
    role: Role,
    trials: usize,
    cells: Vec<Cell>,
}

/// How many trials of the session ran, were skipped and failed, and each reason with the
/// cells that it hit; empty where all of them ran.
#[must_use]
pub fn coverage(session: &Session, style: Style) -> String {
    let mut page = Page::new(style);
    write_coverage(&mut page, session);
    page.finish()
}

/// The same in a page that goes on.
pub(crate) fn write_coverage(page: &mut Page, session: &Session) {
    let gaps = gaps(session);
    if gaps.is_empty() {
        return;
    }
    page.paragraph("", Span::new(Role::Strong, counts(session)));
    for gap in gaps {
        let cells = gap
            .cells
            .iter()
            .take(CELLS_NAMED)
            .map(|cell| match cell.is_empty() {
                true => "all of it".to_owned(),
                false => cell_text(cell),
            });
        let mut cells: Vec<String> = cells.collect();
        let more = gap.cells.len().saturating_sub(CELLS_NAMED);
        if more > 0 {
            cells.push(format!("and {more} more"));
        }
        let what = format!("{}: {}", counted(gap.trials, "trial"), gap.how);
        page.paragraph("  ", Span::new(gap.role, what));
        page.paragraph("    ", cells.join("; "));
    }
}

/// `24 of 36 trials ran, 12 were skipped`.
fn counts(session: &Session) -> String {
    let count = |test: fn(&TrialOutcome) -> bool| {
        let all = session.trials.iter();
        all.filter(|trial| test(&trial.outcome)).count()
    };
    let ran = count(|outcome| matches!(outcome, TrialOutcome::Completed));
    let others = [
        (count(|o| matches!(o, TrialOutcome::Skipped(_))), "skipped"),
        (
            count(|o| matches!(o, TrialOutcome::Failed { .. })),
            "failed",
        ),
        (
            count(|o| matches!(o, TrialOutcome::Interrupted)),
            "interrupted",
        ),
    ];
    let others = others.into_iter().filter(|(count, _)| *count > 0);
    let others: Vec<String> = others
        .map(|(count, how)| format!("{count} {how}"))
        .collect();
    let all = counted(session.trials.len(), "trial");
    format!("{ran} of {all} ran; {}", others.join(", "))
}

/// The reasons, in order of appearance.
fn gaps(session: &Session) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::new();
    for trial in &session.trials {
        let (how, role) = match &trial.outcome {
            TrialOutcome::Completed => continue,
            TrialOutcome::Interrupted => ("interrupted".to_owned(), Role::Doubt),
            TrialOutcome::Skipped(reason) => (
                format!("skipped ({}): {}", reason.code, reason.detail),
                Role::Doubt,
            ),
            TrialOutcome::Failed { message } => (format!("failed: {message}"), Role::Bad),
        };
        let place = gaps.iter().position(|gap| gap.how == how);
        let gap = match place {
            Some(place) => &mut gaps[place],
            None => {
                gaps.push(Gap {
                    how,
                    role,
                    trials: 0,
                    cells: Vec::new(),
                });
                gaps.last_mut().expect("it was just pushed")
            }
        };
        gap.trials += 1;
        if !gap.cells.contains(&trial.cell) {
            gap.cells.push(trial.cell.clone());
        }
    }
    gaps
}

#[cfg(test)]
mod tests {
    use stiction_core::{SkipCode, SkipReason, Trial};
    use testkit::sessions::sample;

    use super::*;

    #[test]
    fn each_reason_is_said_once_with_its_cells() {
        let mut session = sample(1);
        let trial = |name: &str, repetition, outcome| Trial {
            outcome,
            ..Trial::new(Cell::new().with("configuration", name), repetition)
        };
        let skipped = || {
            let reason = SkipReason::new(SkipCode::NotSupported, "mkfs.xfs is not installed");
            TrialOutcome::Skipped(reason)
        };
        let failed = TrialOutcome::Failed {
            message: "EIO".to_owned(),
        };
        session.trials = vec![
            trial("ext4", 0, TrialOutcome::Completed),
            trial("xfs", 0, skipped()),
            trial("xfs", 1, skipped()),
            trial("ext4", 1, failed),
        ];
        let text = coverage(&session, Style::Plain);
        let expected = "1 of 4 trials ran; 2 skipped, 1 failed\n  \
                        2 trials: skipped (not-supported): mkfs.xfs is not installed\n    \
                        configuration xfs\n  1 trial: failed: EIO\n    configuration ext4\n";
        assert_eq!(text, expected);
        session.trials.truncate(1);
        assert_eq!(coverage(&session, Style::Plain), "");
    }
}
