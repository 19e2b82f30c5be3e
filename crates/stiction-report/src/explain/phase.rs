//! One phase: its score, its time, identities, counters, layout, functions and readings.

use stiction_analysis::decompose::{Per, Range};
use stiction_analysis::explain::{Check, Identity, Lie, PhaseExplanation, Symbols, TimeSplit};
use stiction_core::format_bytes;

use super::ExplainShown;
use super::counters;
use super::words::{cell_and_phase, score_change};
use crate::figure::{interval, label, measured, significant, time_in_range};
use crate::page::{Column, Page, Role, Span, Table};

pub(super) fn write(page: &mut Page, phase: &PhaseExplanation, shown: ExplainShown) {
    page.blank();
    let name = cell_and_phase(&phase.cell, &phase.phase);
    page.paragraph("", Span::new(Role::Strong, name));
    if let Some(score) = &phase.score {
        page.paragraph("  ", scored(score));
    }
    times(page, phase);
    checks(page, phase);
    if let Some(together) = &phase.together {
        counters::write(page, together, phase.score.as_ref(), shown);
    }
    lie(page, phase);
    symbols(page, &phase.symbols, phase.together.is_some());
    if !phase.readings.is_empty() {
        page.line(Span::new(Role::Strong, "  What that is consistent with"));
        for reading in &phase.readings {
            page.paragraph("  - ", reading.text.as_str());
        }
    }
}

/// `rate 287 MiB/s in A, 144 MiB/s in B: -50 % (95 %: -68..-15)`
fn scored(score: &stiction_analysis::explain::Score) -> String {
    let value = |value| measured(score.metric.unit, value);
    let name = label(&score.metric);
    let Some(b) = score.b else {
        return format!("{name} {}", value(score.a));
    };
    let change = score_change(score);
    let change = change
        .strip_prefix(&name)
        .unwrap_or(&change)
        .trim()
        .to_owned();
    let range = score.estimate.map_or_else(String::new, |estimate| {
        let range = interval(estimate.lowest_percent, estimate.highest_percent);
        format!(" (95 %: {range})")
    });
    let verdict = score.verdict.as_ref();
    let verdict = verdict.map_or_else(String::new, |verdict| format!(", {}", verdict.word()));
    format!(
        "{name} {} in A, {} in B: {change}{range}{verdict}",
        value(score.a),
        value(b)
    )
}

fn times(page: &mut Page, phase: &PhaseExplanation) {
    let (Some(a), b) = (&phase.times.0, phase.times.1.as_ref()) else {
        return;
    };
    let what = match a.per {
        Per::Run => "Where the time went",
        Per::Mebibyte => "Where the workers' time went, for each MiB",
    };
    page.line(Span::new(Role::Strong, format!("  {what}")));
    let mut table = Table::new(vec![
        Column::left("", 34),
        Column::right(if b.is_some() { "A" } else { "" }, 20),
        Column::right("B", 20),
    ]);
    type Term = fn(&TimeSplit) -> Option<Range>;
    let terms: [(&str, Term); 7] = [
        ("whole", |one| at(Some(one.total_s))),
        ("  CPU, user", |one| at(one.user_s)),
        ("  CPU, system", |one| at(one.system_s)),
        ("  waiting for a CPU", |one| at(one.cpu_wait_s)),
        ("  held back by writeback", |one| at(one.writeback_wait_s)),
        ("  waiting while the device worked", |one| one.device_wait_s),
        ("  none of these: not known", |one| one.unknown_s),
    ];
    for (name, of) in terms {
        let cell = |time: &TimeSplit| of(time).map_or_else(|| "-".to_owned(), |t| told(t, time));
        let (of_a, of_b) = (cell(a), b.map(cell));
        if of_a == "-" && of_b.as_deref().is_none_or(|text| text == "-") {
            continue;
        }
        table.row(vec![
            name.into(),
            of_a.into(),
            of_b.unwrap_or_default().into(),
        ]);
    }
    page.table(2, &table);
    let mut unseen: Vec<&str> = a.unseen.clone();
    unseen.extend(b.into_iter().flat_map(|b| &b.unseen));
    unseen.sort_unstable();
    unseen.dedup();
    for one in unseen {
        page.paragraph("  ", Span::new(Role::Faint, one));
    }
}

fn at(seconds: Option<f64>) -> Option<Range> {
    seconds.map(|seconds| Range {
        lowest: seconds,
        highest: seconds,
    })
}

/// A part with its share of the whole; of a range both ends.
fn told(range: Range, of: &TimeSplit) -> String {
    let percent = |seconds: f64| 100.0 * seconds / of.total_s;
    let (low, high) = (percent(range.lowest), percent(range.highest));
    if high - low < 1.0 {
        let time = time_in_range(range.middle(), range.middle());
        return format!("{time} {high:4.0} %");
    }
    format!("{low:.0} to {high:.0} %")
}

fn checks(page: &mut Page, phase: &PhaseExplanation) {
    let sides = [("A", &phase.checks.0), ("B", &phase.checks.1)];
    in_flight(page, phase);
    let broken: Vec<(&str, &Check)> = sides
        .iter()
        .flat_map(|(name, checks)| checks.iter().map(move |check| (*name, check)))
        .filter(|(_, check)| !check.holds())
        .collect();
    let count = phase.checks.0.len() + phase.checks.1.len();
    if count == 0 {
        return;
    }
    if broken.is_empty() {
        page.paragraph(
            "  ",
            Span::new(Role::Faint, "The identities hold within 10 %."),
        );
        return;
    }
    let is_one_side = phase.checks.1.is_empty();
    for (side, check) in broken {
        let (left, right) = check.identity.words();
        let side = if is_one_side {
            String::new()
        } else {
            format!("{side}: ")
        };
        page.paragraph(
            "  ! ",
            Span::new(
                Role::Doubt,
                format!(
                    "{side}{left} is {}, {right} is {}: {}",
                    significant(check.left, 3),
                    significant(check.right, 3),
                    check.identity.reading(check.left > check.right)
                ),
            ),
        );
    }
}

/// How much was in flight, as the engine has it and as the device has it.
fn in_flight(page: &mut Page, phase: &PhaseExplanation) {
    let sides = [("A", &phase.checks.0), ("B", &phase.checks.1)];
    let of =
        |checks: &[Check], identity| checks.iter().find(|one| one.identity == identity).copied();
    let said = sides.iter().filter_map(|(name, checks)| {
        let engine = of(checks, Identity::DepthAndLatency)?.right;
        let device = of(checks, Identity::QueueAndTime)?.left;
        let side = if phase.checks.1.is_empty() {
            String::new()
        } else {
            format!(" in {name}")
        };
        Some(format!(
            "{} by the engine and {} at the device{side}",
            significant(engine, 3),
            significant(device, 3)
        ))
    });
    let said: Vec<String> = said.collect();
    if !said.is_empty() {
        let text = format!("In flight on average: {}.", said.join(", "));
        page.paragraph("  ", Span::new(Role::Faint, text));
    }
}

fn lie(page: &mut Page, phase: &PhaseExplanation) {
    let (a, b) = phase.lie;
    if a.is_none() && b.is_none() {
        return;
    }
    let is_said = phase.lie_change().is_none_or(|change| change.is_telling());
    if !is_said {
        return;
    }
    page.line(Span::new(Role::Strong, "  How the files lie"));
    let mut table = Table::new(vec![
        Column::left("", 34),
        Column::right(if phase.together.is_some() { "A" } else { "" }, 14),
        Column::right("B", 14),
    ]);
    type Figure = fn(&Lie) -> Option<String>;
    let rows: [(&str, Figure); 4] = [
        ("mean run", |one| {
            Some(format_bytes(one.run_bytes_mean.round() as u64))
        }),
        ("runs per GiB", |one| Some(significant(one.runs_per_gib, 3))),
        ("intermingled, 0 to 1", |one| {
            one.interleave_ratio.map(|r| format!("{r:.2}"))
        }),
        ("bytes passed over for each byte", |one| {
            Some(significant(one.seek_bytes_per_byte, 3))
        }),
    ];
    for (name, of) in rows {
        let cell = |lie: Option<Lie>| lie.as_ref().and_then(of).unwrap_or_default();
        let (a, b) = (cell(a), cell(b));
        if !(a.is_empty() && b.is_empty()) {
            table.row(vec![name.into(), a.into(), b.into()]);
        }
    }
    page.table(2, &table);
}

fn symbols(page: &mut Page, symbols: &Symbols, is_pair: bool) {
    match symbols {
        Symbols::Unseen if is_pair => page.paragraph(
            "  ",
            Span::new(
                Role::Faint,
                "Functions: no profiles on both sides (--witness full takes them).",
            ),
        ),
        Symbols::Unseen => {}
        Symbols::One(most) => {
            page.line(Span::new(Role::Strong, "  Where CPUs were, all programs"));
            for (name, percent) in most {
                page.line(format!("    {percent:5.1} %  {name}"));
            }
        }
        Symbols::Changed {
            gained,
            lost,
            samples,
            of_blocks,
        } => {
            page.line(Span::new(Role::Strong, "  Functions, share of samples"));
            if gained.is_empty() && lost.is_empty() {
                page.line("  none gained or lost beyond chance");
            }
            let mut table = Table::new(vec![
                Column::left("", 36),
                Column::right("A", 8),
                Column::right("B", 8),
                Column::right("points", 7),
                Column::right("95 %", 14),
            ]);
            for one in gained.iter().chain(lost) {
                let (low, high) = one.interval_points;
                table.row(vec![
                    one.name.as_str().into(),
                    format!("{:.1} %", one.a_percent).into(),
                    format!("{:.1} %", one.b_percent).into(),
                    format!("{:+.1}", one.points()).into(),
                    interval(low, high).into(),
                ]);
            }
            if !table.is_empty() {
                page.table(2, &table);
            }
            if !of_blocks {
                let text = format!(
                    "{} and {} samples, taken for independent: fewer blocks than 6",
                    samples.0, samples.1
                );
                page.paragraph("  ", Span::new(Role::Faint, text));
            }
        }
    }
}
