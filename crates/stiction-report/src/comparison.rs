//! Two sides held against each other: how their machines differ, every figure side
//! by side, where the time went, and what may be claimed.

use stiction_analysis::compare::{
    Change, Comparison, Difference, Row, Scale, SideValue, Unmatched,
};
use stiction_analysis::decompose::{Breakdown, Decomposition, Efficiency, Moved, Per, Range};
use stiction_analysis::noise::Repeat;
use stiction_analysis::{Outcome, Verdict};
use stiction_core::{Better, Cell, MetricClass, Unit};

use crate::cell::cell_text;
use crate::figure::{change as percent_change, label, ranged, significant, time_in_range};
use crate::outcome::title;
use crate::page::{Column, Page, Role, Span, Style, Table};

/// Reasons for claiming nothing that are listed; the JSON document has all.
const MOST_REASONS: usize = 12;
/// Ratios from here on are told beside the percentage.
const TELLING_RATIO: f64 = 2.0;

/// The two sides, difference of environment first, then every figure with its
/// change and its verdict, the reasons, and what it all comes to in the last line.
#[must_use]
pub fn comparison(comparison: &Comparison, style: Style) -> String {
    let mut page = Page::new(style);
    write_head(&mut page, comparison);
    write_environment(&mut page, comparison);
    for note in &comparison.notes {
        page.paragraph("! ", Span::new(Role::Doubt, note.as_str()));
    }
    let mut rows = &comparison.rows[..];
    while let Some(first) = rows.first() {
        let together = rows
            .iter()
            .take_while(|row| row.cell == first.cell && row.phase == first.phase)
            .count();
        let (phase, rest) = rows.split_at(together);
        write_phase(&mut page, comparison, phase);
        rows = rest;
    }
    write_unmatched(&mut page, comparison);
    write_noise(&mut page, &comparison.noise);
    write_reasons(&mut page, &comparison.rows);
    page.blank();
    write_answer(&mut page, comparison);
    page.finish()
}

fn write_head(page: &mut Page, comparison: &Comparison) {
    let (session_a, session_b) = &comparison.sessions;
    let same = session_a == session_b;
    let b_from = if same {
        "same session".to_owned()
    } else {
        session_b.to_string()
    };
    page.edges(
        Span::new(Role::Strong, format!("A  {}", comparison.a)),
        Span::new(Role::Faint, session_a.as_str()),
    );
    page.edges(
        Span::new(Role::Strong, format!("B  {}", comparison.b)),
        Span::new(Role::Faint, b_from),
    );
    for side in &comparison.factors {
        let level = |level: &Option<stiction_core::Level>| {
            level
                .as_ref()
                .map_or_else(|| "not said".to_owned(), ToString::to_string)
        };
        page.paragraph(
            "   ",
            format!(
                "{}: {} in A, {} in B",
                side.factor,
                level(&side.a),
                level(&side.b)
            ),
        );
    }
}

fn write_environment(page: &mut Page, comparison: &Comparison) {
    let environment = &comparison.environment;
    page.blank();
    if comparison.sessions.0 == comparison.sessions.1 {
        page.line("Environment: both sides are of one session.");
    } else if environment.differs.is_empty() {
        page.line("Environment: no known difference.");
    } else {
        page.line(Span::new(Role::Strong, "Environment: differs in"));
        page.table(2, &differences(&environment.differs));
    }
    let side = [("A", &environment.only_a), ("B", &environment.only_b)];
    for (name, keys) in side.into_iter().filter(|(_, keys)| !keys.is_empty()) {
        page.paragraph(&format!("  known of {name} only: "), keys.join(", "));
    }
    if !comparison.parameters.is_empty() {
        page.line(Span::new(Role::Strong, "Parameters: differ in"));
        page.table(2, &differences(&comparison.parameters));
    }
}

fn differences(differences: &[Difference]) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 26),
        Column::left("A", 24),
        Column::left("B", 24),
    ]);
    for difference in differences {
        // What the user named is expected; the rest may explain any change.
        let role = if difference.named {
            Role::Text
        } else {
            Role::Doubt
        };
        table.row(vec![
            Span::new(role, difference.key.as_str()),
            difference.a.as_str().into(),
            difference.b.as_str().into(),
        ]);
    }
    table
}

/// The rows of one phase of one cell, and where its time went.
fn write_phase(page: &mut Page, comparison: &Comparison, rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    page.blank();
    let cell = if first.cell.is_empty() {
        String::new()
    } else {
        format!(", {}", cell_text(&first.cell))
    };
    let subject = |of: fn(&Row) -> Option<&SideValue>| rows.iter().find_map(of).map(|v| v.subject);
    let about = match (subject(|row| row.a.as_ref()), subject(|row| row.b.as_ref())) {
        (Some(a), Some(b)) if a == b => format!(" ({a})"),
        (Some(a), Some(b)) => format!(" (A {a}, B {b})"),
        (Some(a), None) => format!(" (A {a})"),
        (None, Some(b)) => format!(" (B {b})"),
        (None, None) => String::new(),
    };
    page.paragraph(
        "",
        Span::new(
            Role::Strong,
            format!("{}{about}{cell}", title(&first.phase)),
        ),
    );
    let mut table = Table::new(vec![
        Column::left("", 17),
        Column::right("A", 14),
        Column::right("B", 14),
        Column::right("change", 9),
        Column::right("ratio", 6),
        Column::left("", 14),
    ]);
    for row in rows
        .iter()
        .filter(|row| row.metric.better != Better::Neither)
    {
        table.row(figures(row));
        if let Some(estimate) = row.estimate {
            table.note(format!(
                "  {} ({} to {}; {} blocks, p {})",
                percent_change(estimate.change_percent),
                percent_change(estimate.lowest_percent),
                percent_change(estimate.highest_percent),
                estimate.blocks,
                p_text(estimate.p_adjusted)
            ));
        }
    }
    let decomposition = decomposition_of(comparison, &first.cell, &first.phase);
    if let Some(decomposition) = decomposition {
        write_times(&mut table, decomposition);
    }
    page.table(2, &table);
    if let Some(sentence) = decomposition.and_then(said) {
        page.paragraph("  ", sentence);
    }
}

fn decomposition_of<'a>(
    comparison: &'a Comparison,
    cell: &Cell,
    phase: &str,
) -> Option<&'a Decomposition> {
    comparison
        .decompositions
        .iter()
        .find(|found| found.cell == *cell && found.phase == phase)
}

fn figures(row: &Row) -> Vec<Span> {
    let side = |value: &Option<SideValue>| {
        value.as_ref().map_or_else(
            || "-".to_owned(),
            |side| ranged(row.metric.unit, side.value, (side.lowest, side.highest)),
        )
    };
    let verdict = row.verdict.as_ref();
    vec![
        label(&row.metric).into(),
        side(&row.a).into(),
        side(&row.b).into(),
        row.change.as_ref().map_or_else(String::new, change).into(),
        row.change
            .as_ref()
            .and_then(Change::ratio)
            .map_or_else(String::new, ratio)
            .into(),
        verdict.map_or_else(Span::default, |verdict| {
            Span::new(verdict_role(verdict), verdict.word())
        }),
    ]
}

fn change(change: &Change) -> String {
    match change.scale {
        Scale::Percent => percent_change(change.value),
        Scale::Points => format!("{:+.1} pts", change.value),
    }
}

/// `9.47x` or `0.11x` for changes that a percentage tells badly.
fn ratio(ratio: f64) -> String {
    if ratio >= TELLING_RATIO {
        format!("{}x", significant(ratio, 3))
    } else if ratio > 0.0 && ratio <= 1.0 / TELLING_RATIO {
        format!("{}x", significant(ratio, 2))
    } else {
        String::new()
    }
}

fn verdict_role(verdict: &Verdict) -> Role {
    match verdict {
        Verdict::Worse | Verdict::SlightlyWorse | Verdict::Failed { .. } => Role::Bad,
        Verdict::Better | Verdict::SlightlyBetter => Role::Good,
        Verdict::Same => Role::Text,
        Verdict::CannotTell { .. } | Verdict::NotComparable { .. } => Role::Doubt,
    }
}

/// A probability; never p = 0.
fn p_text(p: f64) -> String {
    if p < 0.001 {
        "<.001".to_owned()
    } else {
        format!("{p:.3}").trim_start_matches('0').to_owned()
    }
}

/// Time, CPU and waiting of both sides as rows, the term that moved marked.
fn write_times(table: &mut Table, decomposition: &Decomposition) {
    let (a, b) = (&decomposition.a, &decomposition.b);
    let mark = |terms: [Moved; 2]| {
        let moved = decomposition
            .moved
            .is_some_and(|term| terms.contains(&term));
        if moved { "moved" } else { "" }
    };
    let (cpu, waiting) = match decomposition.per {
        // The time itself is a row already.
        Per::Run => ("CPU time", "waiting"),
        Per::Mebibyte => {
            let sides = (Some(a.elapsed_s), Some(b.elapsed_s));
            table.row(term("time per MiB", sides, time, ""));
            ("  of it CPU", "  of it waiting")
        }
    };
    let sides = (Some(a.cpu_s), Some(b.cpu_s));
    table.row(term(cpu, sides, time, mark([Moved::Cpu, Moved::Both])));
    let sides = (a.waiting_s, b.waiting_s);
    if sides != (None, None) {
        let mark = mark([Moved::Waiting, Moved::Both]);
        table.row(term(waiting, sides, time, mark));
    }
    let sides = (a.load_bytes_per_s, b.load_bytes_per_s);
    if sides != (None, None) {
        let rate = |load: Range| {
            let range = (load.lowest, load.highest);
            ranged(Unit::BytesPerSecond, load.middle(), range)
        };
        table.row(term("load beside it", sides, rate, ""));
    }
}

/// One term on both sides, with its change.
fn term(
    name: &str,
    (a, b): (Option<Range>, Option<Range>),
    show: impl Fn(Range) -> String,
    mark: &str,
) -> Vec<Span> {
    let side = |side: Option<Range>| side.map_or_else(|| "-".to_owned(), &show);
    let change = match (a.map(Range::middle), b.map(Range::middle)) {
        (Some(a), Some(b)) if a > 0.0 => Some(b / a),
        _ => None,
    };
    let percent = change.map(|ratio| percent_change(100.0 * (ratio - 1.0)));
    vec![
        name.into(),
        side(a).into(),
        side(b).into(),
        percent.unwrap_or_default().into(),
        change.map_or_else(String::new, ratio).into(),
        mark.into(),
    ]
}

fn time(range: Range) -> String {
    time_in_range(range.lowest, range.highest)
}

/// What the terms come to, in a sentence or two; `None` when waiting is not known.
fn said(decomposition: &Decomposition) -> Option<String> {
    let time = match decomposition.per {
        Per::Run => "the time",
        Per::Mebibyte => "the time for a MiB",
    };
    let (cpu, waiting) = ("CPU time", "waiting");
    let mut sentences: Vec<String> = Vec::new();
    match decomposition.moved? {
        Moved::Nothing if has_moved(decomposition, |side| Some(side.cpu_s)) => sentences.push(
            format!("{cpu} and {waiting} moved against each other, and {time} hardly changed."),
        ),
        Moved::Nothing => {}
        Moved::Cpu => {
            let rest = rest(decomposition, |side| side.waiting_s);
            sentences.push(format!(
                "What changed {time} is {cpu}; the {waiting} {rest}."
            ));
        }
        Moved::Waiting => {
            let rest = rest(decomposition, |side| Some(side.cpu_s));
            sentences.push(format!(
                "What changed {time} is {waiting}; the {cpu} {rest}."
            ));
        }
        Moved::Both => sentences.push(format!("{cpu} and {waiting} both changed {time}.")),
    }
    sentences.extend(efficiency(decomposition).map(str::to_owned));
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// What the term did that did not move the time.
fn rest(decomposition: &Decomposition, term: impl Fn(&Breakdown) -> Option<Range>) -> &'static str {
    if has_moved(decomposition, term) {
        "went the other way"
    } else {
        "hardly changed"
    }
}

/// Whether a term changed by more than a few percent of the whole time.
fn has_moved(decomposition: &Decomposition, term: impl Fn(&Breakdown) -> Option<Range>) -> bool {
    const HARDLY: f64 = 0.03;
    let (a, b) = (&decomposition.a, &decomposition.b);
    let change = term(a).zip(term(b)).map(|(a, b)| b.middle() - a.middle());
    change.is_some_and(|change| change.abs() > HARDLY * a.elapsed_s.middle())
}

fn efficiency(decomposition: &Decomposition) -> Option<&'static str> {
    Some(match decomposition.efficiency? {
        Efficiency::Lost => {
            "The job waits longer and the load beside it moves less: I/O efficiency was lost."
        }
        Efficiency::Gained => {
            "The job waits less and the load beside it moves more: I/O efficiency was gained."
        }
        Efficiency::Traded => {
            "One of job and load wins what the other loses: a matter of fairness."
        }
    })
}

fn write_unmatched(page: &mut Page, comparison: &Comparison) {
    if comparison.unmatched.is_empty() {
        return;
    }
    page.blank();
    page.line(Span::new(Role::Strong, "Only on one side"));
    for Unmatched {
        cell,
        phase,
        in_a,
        reason,
    } in &comparison.unmatched
    {
        let side = if *in_a { "A" } else { "B" };
        let mut what: Vec<String> = phase.iter().map(|name| title(name)).collect();
        if !cell.is_empty() {
            what.push(cell_text(cell));
        }
        page.paragraph(
            "- ",
            Span::new(
                Role::Doubt,
                format!("{side}: {}: {reason}", what.join(", ")),
            ),
        );
    }
}

/// How far runs of one configuration lie apart: for each metric the widest of all
/// cells, since anything smaller is noise for sure.
fn write_noise(page: &mut Page, noise: &[Repeat]) {
    let mut widest: Vec<&Repeat> = Vec::new();
    for repeat in noise.iter().filter(|repeat| is_judged(repeat)) {
        let same = |other: &&mut &Repeat| {
            other.phase == repeat.phase && other.metric.name == repeat.metric.name
        };
        match widest.iter_mut().find(same) {
            Some(other) if other.spread < repeat.spread => *other = repeat,
            Some(_) => {}
            None => widest.push(repeat),
        }
    }
    if widest.is_empty() {
        return;
    }
    page.blank();
    page.paragraph(
        "",
        Span::new(
            Role::Strong,
            "Noise: runs of one configuration lie so far apart",
        ),
    );
    for repeat in widest {
        let spread = match repeat.scale {
            Scale::Percent => format!("{} %", significant(repeat.spread, 2)),
            Scale::Points => format!("{} points", significant(repeat.spread, 3)),
        };
        let cell = if repeat.cell.is_empty() {
            String::new()
        } else {
            format!(" ({})", cell_text(&repeat.cell))
        };
        page.paragraph(
            "- ",
            format!(
                "{} {}: {spread} over {} runs{cell}",
                title(&repeat.phase),
                label(&repeat.metric),
                repeat.values.len()
            ),
        );
    }
}

/// Percentages of a baseline are described, and yet what their readers judge by.
fn is_judged(repeat: &Repeat) -> bool {
    repeat.scale == Scale::Points
        || !matches!(
            repeat.metric.class,
            MetricClass::Descriptive | MetricClass::LatencyExtreme
        )
}

/// Rows that share a reason for claiming nothing.
struct Refusal<'a> {
    word: &'static str,
    reason: &'a str,
    rows: Vec<String>,
}

/// Why nothing is claimed, each reason with the rows that it holds for.
fn write_reasons(page: &mut Page, rows: &[Row]) {
    let judged: Vec<&Row> = rows.iter().filter(|row| row.verdict.is_some()).collect();
    let mut refusals: Vec<Refusal<'_>> = Vec::new();
    for row in &judged {
        let Some(verdict) = &row.verdict else {
            continue;
        };
        for reason in verdict.reasons() {
            let name = format!("{} {}", title(&row.phase), label(&row.metric));
            let known = |refusal: &&mut Refusal<'_>| {
                refusal.word == verdict.word() && refusal.reason == reason
            };
            match refusals.iter_mut().find(known) {
                Some(refusal) => refusal.rows.push(name),
                None => refusals.push(Refusal {
                    word: verdict.word(),
                    reason,
                    rows: vec![name],
                }),
            }
        }
    }
    if refusals.is_empty() {
        return;
    }
    page.blank();
    page.line(Span::new(Role::Strong, "Why"));
    refusals.sort_by_key(|refusal| std::cmp::Reverse(refusal.rows.len()));
    for refusal in refusals.iter().take(MOST_REASONS) {
        let whose = match refusal.rows.len() {
            count if count == judged.len() => "all".to_owned(),
            1..=2 => refusal.rows.join(", "),
            count => format!("{count} of {}", judged.len()),
        };
        let text = format!("{}, {whose}: {}", refusal.word, refusal.reason);
        page.paragraph("- ", Span::new(Role::Doubt, text));
    }
    if let Some(more) = refusals.len().checked_sub(MOST_REASONS + 1) {
        page.line(format!("- and {} more; --json has them all", more + 1));
    }
    if let Some(runs) = judged.iter().filter_map(|row| runs_needed(row)).max() {
        page.paragraph(
            "- ",
            format!("likely to decide everything: {runs} runs a side, interleaved in one session"),
        );
    }
}

fn runs_needed(row: &Row) -> Option<u32> {
    match row.verdict {
        Some(Verdict::CannotTell { runs_needed, .. }) => runs_needed,
        _ => None,
    }
}

/// How many rows came to what, and what that makes of the whole.
fn write_answer(page: &mut Page, comparison: &Comparison) {
    let mut counts: Vec<(&'static str, usize)> = Vec::new();
    for verdict in comparison
        .rows
        .iter()
        .filter_map(|row| row.verdict.as_ref())
    {
        match counts.iter_mut().find(|(word, _)| *word == verdict.word()) {
            Some((_, count)) => *count += 1,
            None => counts.push((verdict.word(), 1)),
        }
    }
    let (role, word) = match comparison.outcome() {
        Outcome::NoRegression => (Role::Good, "No regression"),
        Outcome::Regression => (Role::Bad, "REGRESSION"),
        Outcome::CannotTell => (Role::Doubt, "CANNOT TELL"),
        Outcome::NotComparable => (Role::Doubt, "NOT COMPARABLE"),
    };
    let text = match &counts[..] {
        [] => format!("{word}: there is nothing to hold against each other"),
        [(only, 1)] if *only == word => format!("{word}: the only figure"),
        [(only, count)] if *only == word => format!("{word}: all {count} figures"),
        counts => {
            let counts: Vec<String> = counts
                .iter()
                .map(|(word, count)| format!("{count} {word}"))
                .collect();
            format!("{word}: {}", counts.join(", "))
        }
    };
    page.line(Span::new(role, text));
}
