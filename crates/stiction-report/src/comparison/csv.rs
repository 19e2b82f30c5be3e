//! A comparison in long form: one line for each figure of each candidate, units in the
//! names. RFC 4180, but lines end in a line feed alone.

use stiction_analysis::Verdict;
use stiction_analysis::compare::{Comparison, Matrix, Row, Scale, SideValue};

use super::mail::session_ids;
use crate::json::{better_key, method_key, verdict_key};

/// The table, with the names of its fields in the first line. Values are in the unit
/// that `unit` names; several of anything in one field are apart by `; `. What is not
/// known is empty.
#[must_use]
pub fn csv(matrix: &Matrix) -> String {
    let mut text = NAMES.join(",");
    text.push('\n');
    for (comparison, row) in matrix.rows() {
        let fields = fields(comparison, row).map(|field| quoted(&field));
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

/// The names of the fields, in order.
const NAMES: [&str; 28] = [
    "baseline",
    "candidate",
    "cell",
    "phase",
    "metric",
    "unit",
    "better",
    "baseline_value",
    "candidate_value",
    "baseline_runs_count",
    "candidate_runs_count",
    "baseline_subject",
    "candidate_subject",
    "change_percent",
    "change_points",
    "estimate_percent",
    "estimate_percent_lowest",
    "estimate_percent_highest",
    "p_adjusted",
    "method",
    "blocks_count",
    "visible_percent",
    "effect_percent",
    "verdict",
    "runs_needed_count",
    "reasons",
    "remarks",
    "sessions",
];

fn fields(comparison: &Comparison, row: &Row) -> [String; NAMES.len()] {
    let change = |scale| {
        let change = row.change.as_ref().filter(|change| change.scale == scale);
        number(change.map(|change| change.value))
    };
    let estimate = row.estimate;
    let needed = match row.verdict {
        Some(Verdict::CannotTell { runs_needed, .. }) => runs_needed,
        _ => None,
    };
    let reasons = row.verdict.as_ref().map_or(&[][..], Verdict::reasons);
    let remarks: Vec<&str> = row
        .remarks
        .iter()
        .map(|remark| remark.code.as_str())
        .collect();
    let [value_a, runs_a, subject_a] = side(row.a.as_ref());
    let [value_b, runs_b, subject_b] = side(row.b.as_ref());
    [
        comparison.a.clone(),
        comparison.b.clone(),
        row.cell.to_string(),
        row.phase.clone(),
        row.metric.name.to_string(),
        row.metric.unit.suffix().to_owned(),
        better_key(row.metric.better).to_owned(),
        value_a,
        value_b,
        runs_a,
        runs_b,
        subject_a,
        subject_b,
        change(Scale::Percent),
        change(Scale::Points),
        number(estimate.map(|estimate| estimate.change_percent)),
        number(estimate.map(|estimate| estimate.lowest_percent)),
        number(estimate.map(|estimate| estimate.highest_percent)),
        number(estimate.map(|estimate| estimate.p_adjusted)),
        estimate
            .map_or("", |estimate| method_key(estimate.method))
            .to_owned(),
        count(estimate.map(|estimate| estimate.blocks)),
        number(estimate.map(|estimate| estimate.visible_percent)),
        number(row.effect_percent),
        row.verdict.as_ref().map_or("", verdict_key).to_owned(),
        count(needed),
        reasons.join("; "),
        remarks.join("; "),
        session_ids(std::iter::once(comparison)).join("; "),
    ]
}

/// The value, how many runs it is of, and what it is about.
fn side(side: Option<&SideValue>) -> [String; 3] {
    side.map_or_else(Default::default, |side| {
        [
            number(Some(side.value)),
            side.runs.len().to_string(),
            side.subject.to_string(),
        ]
    })
}

/// A number that reads back to the same; empty for one that is not known or not finite.
fn number(value: Option<f64>) -> String {
    let known = value.filter(|value| value.is_finite());
    known.map_or_else(String::new, |value| value.to_string())
}

fn count(value: Option<u32>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A field, in quotes where it has to be (RFC 4180, 2.6 and 2.7). Imported names may hold
/// control characters, which a terminal would obey: they are question marks here as in
/// the other layouts.
fn quoted(field: &str) -> String {
    let field = &field.replace(char::is_control, "?");
    if field.contains([',', '"']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_quoted_where_it_has_to_be_and_moves_no_terminal() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("a\u{1b}[31m\nb"), "a?[31m?b");
    }
}
