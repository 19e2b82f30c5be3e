//! Where the time of a phase went on both sides: CPU, or waiting.

use stiction_analysis::compare::Comparison;
use stiction_analysis::decompose::{Breakdown, Decomposition, Efficiency, Moved, Per, Range};
use stiction_core::{Cell, Unit};

use super::Shown;
use super::entry::{Entry, Kind, entries, own_levels, worst_first};
use super::grid::{Grid, Head, Line};
use crate::cell::cell_text;
use crate::figure::{change as percent_change, ranged, ratio, time_in_range};
use crate::outcome::title;
use crate::page::{Page, Role, Span};

/// Phases whose time is taken apart unless all are asked for.
const MOST: usize = 3;
/// Rows that are looked at for them.
const MOST_ROWS: usize = 64;

/// What moved with the rows that stand first, or with every phase.
pub(super) fn write_why(page: &mut Page, comparison: &Comparison, shared: &Cell, shown: Shown) {
    let (found, left) = chosen(comparison, shown);
    if found.is_empty() {
        return;
    }
    page.blank();
    page.line(Span::new(Role::Strong, "What moved with it"));
    for decomposition in found {
        write_one(page, comparison, decomposition, shared);
    }
    if left > 0 {
        let phases = if left == 1 { "phase" } else { "phases" };
        let text = format!("  and {left} more {phases} (--why tells of all)");
        page.line(Span::new(Role::Faint, text));
    }
}

/// The decompositions to tell of, those of the worst rows first, and how many are left
/// out.
pub(super) fn chosen(comparison: &Comparison, shown: Shown) -> (Vec<&Decomposition>, usize) {
    let all = &comparison.decompositions;
    if shown.why || all.len() == 1 {
        return (all.iter().collect(), 0);
    }
    let mut rows = entries(comparison, &Cell::new());
    rows.retain(|entry| Kind::of(entry.row) < Kind::CannotTell);
    worst_first(&mut rows);
    let of_row = |entry: &Entry<'_>| {
        let (cell, phase) = (&entry.row.cell, &entry.row.phase);
        let of = |one: &&Decomposition| one.cell == *cell && one.phase == *phase;
        all.iter().find(of)
    };
    let mut found: Vec<&Decomposition> = Vec::new();
    // Where nothing is claimed the first are as good as any.
    for one in rows.iter().take(MOST_ROWS).filter_map(of_row).chain(all) {
        if found.len() < MOST && !found.iter().any(|known| std::ptr::eq(*known, one)) {
            found.push(one);
        }
    }
    let left = all.len() - found.len();
    (found, left)
}

fn write_one(page: &mut Page, comparison: &Comparison, one: &Decomposition, shared: &Cell) {
    let grid = Grid {
        name_head: String::new(),
        heads: vec![
            Head::named(&comparison.a, "A"),
            Head::named(&comparison.b, "B"),
            Head::of("change"),
            Head::of("ratio"),
            Head::of(""),
        ],
        emphasised: 5,
        ruled: false,
        lines: lines(one),
    };
    page.paragraph("  ", of_phase(one, shared));
    grid.write(page);
    if let Some(sentence) = said(one) {
        page.paragraph("  ", sentence);
    }
}

/// `random read, 8 threads`
pub(super) fn of_phase(one: &Decomposition, shared: &Cell) -> String {
    let own = cell_text(&own_levels(&one.cell, shared));
    let phase = title(&one.phase);
    if own.is_empty() {
        phase
    } else {
        format!("{phase}, {own}")
    }
}

/// Time, CPU and waiting of both sides as rows, the term that moved marked.
fn lines(decomposition: &Decomposition) -> Vec<Line> {
    let (a, b) = (&decomposition.a, &decomposition.b);
    let mark = |terms: [Moved; 2]| {
        let moved = decomposition
            .moved
            .is_some_and(|term| terms.contains(&term));
        if moved { "moved" } else { "" }
    };
    let (whole, cpu, waiting) = match decomposition.per {
        Per::Run => ("time", "of it CPU", "of it waiting"),
        Per::Mebibyte => ("time per MiB", "of it CPU", "of it waiting"),
    };
    let sides = (Some(a.elapsed_s), Some(b.elapsed_s));
    let mut lines = vec![term(whole, sides, time, "")];
    let sides = (Some(a.cpu_s), Some(b.cpu_s));
    lines.push(term(cpu, sides, time, mark([Moved::Cpu, Moved::Both])));
    let sides = (a.waiting_s, b.waiting_s);
    if sides != (None, None) {
        let mark = mark([Moved::Waiting, Moved::Both]);
        lines.push(term(waiting, sides, time, mark));
    }
    let sides = (a.load_bytes_per_s, b.load_bytes_per_s);
    if sides != (None, None) {
        let rate = |load: Range| {
            let range = (load.lowest, load.highest);
            ranged(Unit::BytesPerSecond, load.middle(), range)
        };
        lines.push(term("load beside it", sides, rate, ""));
    }
    lines
}

/// One term on both sides, with its change.
fn term(
    name: &str,
    (a, b): (Option<Range>, Option<Range>),
    show: impl Fn(Range) -> String,
    mark: &str,
) -> Line {
    let side = |side: Option<Range>| side.map_or_else(|| "-".to_owned(), &show);
    let change = match (a.map(Range::middle), b.map(Range::middle)) {
        (Some(a), Some(b)) if a > 0.0 => Some(b / a),
        _ => None,
    };
    let percent = change.map(|ratio| percent_change(100.0 * (ratio - 1.0)));
    Line {
        mark: " ",
        name: name.to_owned(),
        cells: vec![
            side(a),
            side(b),
            percent.unwrap_or_default(),
            change.map_or_else(String::new, ratio),
            mark.to_owned(),
        ],
        ..Line::default()
    }
}

fn time(range: Range) -> String {
    time_in_range(range.lowest, range.highest)
}

/// What the terms come to, in a sentence or two; `None` when waiting is not known.
pub(super) fn said(decomposition: &Decomposition) -> Option<String> {
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

/// What the term did that did not move the time: more than a few percent of the whole
/// with it or against it, or nothing to speak of.
fn rest(decomposition: &Decomposition, term: impl Fn(&Breakdown) -> Option<Range>) -> &'static str {
    let whole = share_moved(decomposition, |side| Some(side.elapsed_s));
    let share = share_moved(decomposition, term);
    match share {
        share if share.abs() <= HARDLY => "hardly changed",
        share if share * whole > 0.0 => "changed less",
        _ => "went the other way",
    }
}

/// Shares of the whole time that are nothing to speak of.
const HARDLY: f64 = 0.03;

/// Whether a term changed by more than a few percent of the whole time.
fn has_moved(decomposition: &Decomposition, term: impl Fn(&Breakdown) -> Option<Range>) -> bool {
    share_moved(decomposition, term).abs() > HARDLY
}

/// By how much of A's whole time a term changed; 0 where it is not known.
fn share_moved(decomposition: &Decomposition, term: impl Fn(&Breakdown) -> Option<Range>) -> f64 {
    let (a, b) = (&decomposition.a, &decomposition.b);
    let change = term(a).zip(term(b)).map(|(a, b)| b.middle() - a.middle());
    change.map_or(0.0, |change| change / a.elapsed_s.middle())
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
