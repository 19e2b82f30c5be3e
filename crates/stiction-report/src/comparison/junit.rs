//! A comparison as the XML that CI systems show: a test suite for each candidate, a test
//! case for each judged figure.
//!
//! The form is that of the JUnit task of Ant, as Jenkins and GitLab read it:
//! `testsuites` > `testsuite` > `testcase` with `failure` or `skipped` inside.

use stiction_analysis::Verdict;
use stiction_analysis::compare::{Comparison, Matrix, Row};

use super::entry::{
    Entry, Kind, change_text, entries, interval_text, p_text, shared_levels, value_text,
};
use super::mail::session_ids;
use crate::text::markup;

/// What fails a test case besides WORSE and FAILED.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JunitRules {
    /// Whether what cannot be told fails, too; else it is skipped.
    pub cannot_tell_fails: bool,
}

/// What a figure is to a CI system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Result {
    Passed,
    Failed,
    Skipped,
}

impl Result {
    fn of(row: &Row, rules: JunitRules) -> Self {
        match &row.verdict {
            Some(Verdict::Worse | Verdict::Failed { only_b: true, .. }) => Self::Failed,
            Some(Verdict::Better | Verdict::SlightlyBetter | Verdict::Same) => Self::Passed,
            // A gate takes "slightly worse" for "cannot tell".
            _ if rules.cannot_tell_fails => Self::Failed,
            _ => Self::Skipped,
        }
    }
}

/// The document. Each judged figure is a test case: WORSE, and what failed in the
/// candidate alone, is a failure; what cannot be told or compared is skipped, or a failure
/// by the rules.
#[must_use]
pub fn junit(matrix: &Matrix, rules: JunitRules) -> String {
    let suites: Vec<Suite<'_>> = matrix
        .comparisons
        .iter()
        .map(|comparison| Suite::of(comparison, rules))
        .collect();
    let total = |count: fn(&Suite<'_>) -> usize| suites.iter().map(count).sum::<usize>();
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"stiction\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
        total(|suite| suite.cases.len()),
        total(|suite| suite.count(Result::Failed)),
        total(|suite| suite.count(Result::Skipped)),
    );
    for suite in &suites {
        suite.write(&mut text);
    }
    text.push_str("</testsuites>\n");
    text
}

/// The judged figures of one candidate.
struct Suite<'a> {
    comparison: &'a Comparison,
    cases: Vec<(Entry<'a>, Result)>,
}

impl<'a> Suite<'a> {
    fn of(comparison: &'a Comparison, rules: JunitRules) -> Self {
        let shared = shared_levels(comparison.rows.iter().map(|row| &row.cell));
        let judged = entries(comparison, &shared).into_iter();
        let judged = judged.filter(|entry| entry.row.verdict.is_some());
        Self {
            comparison,
            cases: judged
                .map(|entry| {
                    let result = Result::of(entry.row, rules);
                    (entry, result)
                })
                .collect(),
        }
    }

    fn count(&self, result: Result) -> usize {
        self.cases
            .iter()
            .filter(|(_, other)| *other == result)
            .count()
    }

    fn write(&self, text: &mut String) {
        let name = format!("{} against {}", self.comparison.b, self.comparison.a);
        text.push_str(&format!(
            "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\">\n",
            attribute(&name),
            self.cases.len(),
            self.count(Result::Failed),
            self.count(Result::Skipped),
        ));
        text.push_str("    <properties>\n");
        for id in session_ids(std::iter::once(self.comparison)) {
            text.push_str(&format!(
                "      <property name=\"session\" value=\"{}\"/>\n",
                attribute(&id)
            ));
        }
        text.push_str("    </properties>\n");
        for (entry, result) in &self.cases {
            write_case(text, entry, *result);
        }
        text.push_str("  </testsuite>\n");
    }
}

fn write_case(text: &mut String, entry: &Entry<'_>, result: Result) {
    let row = entry.row;
    text.push_str(&format!(
        "    <testcase classname=\"stiction.{}\" name=\"{}\"",
        attribute(&row.phase),
        attribute(&entry.name)
    ));
    let told = told(row);
    let message = told.first().cloned().unwrap_or_default();
    let body = told.join("\n");
    match result {
        Result::Passed => {
            let output = content(&body);
            text.push_str(&format!(">\n      <system-out>{output}</system-out>\n"));
        }
        Result::Failed => text.push_str(&format!(
            ">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
            attribute(Kind::of(row).word()),
            attribute(&message),
            content(&body)
        )),
        Result::Skipped => {
            let reasons = row.verdict.as_ref().map_or(&[][..], Verdict::reasons);
            let message = match reasons {
                [] => message,
                reasons => format!("{}: {}", Kind::of(row).word(), reasons.join("; ")),
            };
            text.push_str(&format!(
                ">\n      <skipped message=\"{}\"/>\n",
                attribute(&message)
            ));
        }
    }
    text.push_str("    </testcase>\n");
}

/// What was found, a line each: the change, the values, the reasons.
fn told(row: &Row) -> Vec<String> {
    let mut change = vec![format!("{} {}", Kind::of(row).word(), change_text(row))];
    if row.estimate.is_some() {
        change.push(format!("95 % {}", interval_text(row)));
        change.push(format!("p {}", p_text(row)));
    }
    let value = |side| value_text(row, side);
    let mut told = vec![
        change.join(", ").trim_end().to_owned(),
        format!("{} -> {}", value(row.a.as_ref()), value(row.b.as_ref())),
    ];
    let reasons = row.verdict.as_ref().map_or(&[][..], Verdict::reasons);
    told.extend(reasons.iter().cloned());
    told
}

/// Text of an attribute: escaped, without what XML 1.0 forbids (section 2.2), line ends
/// as blanks since a parser would make them so (3.3.3).
fn attribute(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| {
            if matches!(c, '\n' | '\r' | '\t') {
                ' '
            } else {
                c
            }
        })
        .collect();
    content(&text)
}

/// Text of an element: escaped, without what XML 1.0 forbids.
fn content(text: &str) -> String {
    let allowed = |c: char| matches!(c, '\n' | '\t' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    let text: String = text
        .chars()
        .map(|c| if allowed(c) { c } else { '?' })
        .collect();
    markup(&text)
}
