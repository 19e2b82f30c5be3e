//! Where the time of a phase went on both sides: CPU, or waiting.

use stiction_analysis::decompose::{Breakdown, Decomposition, Efficiency, Moved, Per, Range};
use stiction_core::Unit;

use super::phase::ratio;
use crate::figure::{change as percent_change, ranged, time_in_range};
use crate::page::{Span, Table};

/// Time, CPU and waiting of both sides as rows, the term that moved marked.
pub(super) fn write_times(table: &mut Table, decomposition: &Decomposition) {
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
