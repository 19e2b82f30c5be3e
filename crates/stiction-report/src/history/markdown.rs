//! The list of series as Markdown, for a page of a wiki or the comment of a CI system.

use std::fmt::Write as _;

use super::HistoryList;
use super::plot::sparkline;
use super::words::{last_value, mark, state_words, summary, what};

/// Columns of a sparkline.
const SPARKLINE: usize = 24;

/// The series of the list as one table, after the summary.
#[must_use]
pub fn history_markdown(list: &HistoryList<'_>) -> String {
    let mut text = format!("**{}**\n", plain(&summary(list.courses)));
    for doubt in list.doubts {
        let _ = write!(text, "\n- {}\n", plain(doubt));
    }
    text.push_str("\n| | series | what | newest | course | state |\n|---|---|---|---|---|---|\n");
    for shown in list.shown() {
        let course = shown.course;
        let key = &course.series.key;
        let cells = [
            mark(course).to_string(),
            format!("`{}`", key.id()),
            plain(&what(key)),
            plain(&last_value(course)),
            format!("`{}`", sparkline(course, SPARKLINE).replace('|', "/")),
            plain(&state_words(course)),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Text without what Markdown would obey.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in crate::text::ascii(text).chars() {
        if "|*_`<>[]\\#".contains(c) {
            plain.push('\\');
        }
        plain.push(c);
    }
    plain
}
