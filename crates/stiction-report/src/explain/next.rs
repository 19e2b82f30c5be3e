//! The next run, as a command line that can be copied.

use stiction_analysis::explain::NextRun;

use crate::page::{Page, Role, Span};
use crate::text::wrap;

/// Room for the sign at the end of a line that goes on.
const GOES_ON: &str = " \\";

pub(super) fn write(page: &mut Page, next: &[NextRun], has_phases: bool) {
    if next.is_empty() || !has_phases {
        return;
    }
    page.blank();
    page.line(Span::new(Role::Strong, "The next run"));
    for run in next {
        if run.is_command {
            let lines = wrap(&run.what, page.width() - 6 - GOES_ON.len());
            let last = lines.len() - 1;
            for (number, line) in lines.into_iter().enumerate() {
                let indent = if number == 0 { "  " } else { "      " };
                let end = if number < last { GOES_ON } else { "" };
                page.line(format!("{indent}{line}{end}"));
            }
        } else {
            page.paragraph("  ", run.what.as_str());
        }
        page.paragraph("    -> ", Span::new(Role::Faint, run.shows.as_str()));
    }
}
