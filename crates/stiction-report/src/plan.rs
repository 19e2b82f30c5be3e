//! What a session would do: its trials in their order, what they take, and what they change.

use std::collections::BTreeMap;

use stiction_core::{Cell, ForeseenTrial, Foresight, Known, format_bytes, format_duration_ns};

use crate::cell::cell_text;
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::text::{counted, wrap};

/// Unless said otherwise, so many blocks' orders are shown.
const ORDERS_SHOWN: usize = 12;

/// A plan for a person.
#[must_use]
pub fn plan(foresight: &Foresight, style: Style) -> String {
    let mut page = Page::new(style);
    let rows = rows(foresight);
    head(&mut page, foresight);
    totals(&mut page, foresight);
    page.blank();
    page.line(Span::new(Role::Strong, "Trials"));
    page.table(2, &table(&rows));
    order(&mut page, foresight, &rows);
    changes(&mut page, foresight);
    skipped(&mut page, foresight);
    page.finish()
}

fn head(page: &mut Page, foresight: &Foresight) {
    let plan = &foresight.plan;
    let blocks = blocks(foresight);
    let trials = counted(foresight.trials.len(), "trial");
    let trials = match blocks.len() {
        0 => trials,
        count => format!("{trials} in {}", counted(count, "block")),
    };
    page.edges(
        Span::new(Role::Strong, format!("Plan: {}, {trials}", plan.workload)),
        format!("digest {}", plan.digest().short()),
    );
    page.blank();
    page.paragraph(
        "  seed      ",
        format!("{} (`--seed` with it draws the same order)", plan.seed),
    );
}

fn totals(page: &mut Page, foresight: &Foresight) {
    let all = |of: fn(&ForeseenTrial) -> Option<u64>| Known::of(foresight.to_run().map(of));
    let time = |ns: u64| format_duration_ns(ns as f64).trim().to_owned();
    let by_experience = foresight
        .to_run()
        .filter(|trial| trial.is_by_experience)
        .count();
    let mut lines = Vec::new();
    let duration = all(|trial| trial.estimate.duration_ns);
    let mut said = match (duration.known, duration.unknown) {
        (0, _) => "not known: they end by their amount, and none was measured here before; \
                   --budget TIME is a limit"
            .to_owned(),
        (_, 0) => format!("about {}", time(duration.sum)),
        (known, unknown) => format!(
            "about {} for {}, and {unknown} more that end by their amount",
            time(duration.sum),
            counted(known, "trial"),
        ),
    };
    if by_experience > 0 {
        said += &format!("; {by_experience} of the times are those of an earlier session");
    }
    lines.push(("time", said));
    let bytes = |known: Known| match (known.known, known.unknown) {
        (0, 0) => "nothing".to_owned(),
        (0, _) => "as much as fits into the time".to_owned(),
        (_, 0) => format_bytes(known.sum),
        (_, unknown) => format!(
            "{}, and what {} can do in their time",
            format_bytes(known.sum),
            counted(unknown, "trial")
        ),
    };
    lines.push(("reads", bytes(all(|trial| trial.estimate.read_bytes))));
    lines.push(("writes", bytes(all(|trial| trial.estimate.written_bytes))));
    for (disk, wear) in foresight.wear() {
        let bytes = bytes(wear);
        lines.push((
            "wear",
            format!("{disk}: {bytes}; filesystems write more than that for themselves"),
        ));
    }
    for (path, bytes) in foresight.space() {
        let said = bytes.map_or_else(|| "what it takes".to_owned(), format_bytes);
        lines.push(("space", format!("{said} in {path} at a time")));
    }
    if let Some(preparation) = foresight.preparation {
        lines.push((
            "preparing",
            format!(
                "{} more at most, and {} written for it",
                time(preparation.duration_ns_max),
                format_bytes(preparation.written_bytes_max)
            ),
        ));
    }
    for (name, said) in lines {
        page.paragraph(&format!("  {name:<10}"), said);
    }
}

/// A kind of trial: all that is the same in each block.
struct Row<'f> {
    cell: &'f Cell,
    trials: Vec<&'f ForeseenTrial>,
    is_skipped: bool,
}

fn rows(foresight: &Foresight) -> Vec<Row<'_>> {
    let mut places: BTreeMap<(usize, &Cell), Vec<&ForeseenTrial>> = BTreeMap::new();
    for trial in &foresight.trials {
        let key = (trial.part, &trial.planned.cell);
        places.entry(key).or_default().push(trial);
    }
    let row = |((part, cell), trials): ((usize, _), Vec<_>)| Row {
        cell,
        trials,
        is_skipped: !foresight.parts[part].obstacles.is_empty(),
    };
    places.into_iter().map(row).collect()
}

fn table(rows: &[Row<'_>]) -> Table {
    /// Longer names go on below.
    const NAME_WIDTH: usize = 42;
    let mut table = Table::new(vec![
        Column::right("", 4),
        Column::left("", NAME_WIDTH),
        Column::right("time", 9),
        Column::right("reads", 9),
        Column::right("writes", 9),
    ]);
    for (number, row) in (1..).zip(rows) {
        let estimate = row.trials[0].estimate;
        let unknown = || "?".to_owned();
        let time = |ns: u64| format_duration_ns(ns as f64).trim().to_owned();
        let role = if row.is_skipped {
            Role::Faint
        } else {
            Role::Text
        };
        let figures = if row.is_skipped {
            ["skipped".to_owned(), String::new(), String::new()]
        } else {
            [
                estimate.duration_ns.map_or_else(unknown, time),
                estimate.read_bytes.map_or_else(unknown, format_bytes),
                estimate.written_bytes.map_or_else(unknown, format_bytes),
            ]
        };
        let name = wrap(&told(row.cell), NAME_WIDTH);
        let mut cells = vec![
            Span::new(role, number.to_string()),
            Span::new(role, name[0].as_str()),
        ];
        cells.extend(figures.map(|text| Span::new(role, text)));
        table.row(cells);
        for more in &name[1..] {
            table.row(vec![Span::default(), Span::new(role, more.as_str())]);
        }
    }
    table
}

/// The cell, the configuration first; what its name says is not said again.
fn told(cell: &Cell) -> String {
    let Some(name) = cell.get("configuration").map(ToString::to_string) else {
        return match cell.is_empty() {
            true => "all of it".to_owned(),
            false => cell_text(cell),
        };
    };
    let is_said = |factor: &str, level: &str| {
        name.split(' ')
            .any(|word| word == level || word == format!("{factor}={level}"))
    };
    let mut rest = cell.clone().without("configuration");
    for (factor, level) in cell.iter() {
        if is_said(factor, &level.to_string()) {
            rest = rest.without(factor);
        }
    }
    match rest.is_empty() {
        true => name,
        false => format!("{name}: {}", cell_text(&rest)),
    }
}

/// The trials of each block.
fn blocks(foresight: &Foresight) -> Vec<Vec<&ForeseenTrial>> {
    let mut blocks: Vec<Vec<&ForeseenTrial>> = Vec::new();
    for trial in &foresight.trials {
        let last = blocks.last().and_then(|block| block.first());
        match (
            trial.planned.block,
            last.and_then(|first| first.planned.block),
        ) {
            (Some(own), Some(last)) if own == last => {
                blocks.last_mut().expect("there is one").push(trial);
            }
            (Some(_), _) => blocks.push(vec![trial]),
            (None, _) => {}
        }
    }
    blocks
}

fn order(page: &mut Page, foresight: &Foresight, rows: &[Row<'_>]) {
    let number = |trial: &ForeseenTrial| {
        let here =
            |row: &Row<'_>| row.cell == &trial.planned.cell && row.trials[0].part == trial.part;
        let place = rows.iter().position(here).map_or(0, |place| place + 1);
        place.to_string()
    };
    page.blank();
    page.line(Span::new(Role::Strong, "Order"));
    let blocks = blocks(foresight);
    if blocks.is_empty() {
        let all: Vec<String> = foresight.trials.iter().map(number).collect();
        page.paragraph("  ", all.join(" "));
        return;
    }
    for (block, trials) in (1..).zip(&blocks).take(ORDERS_SHOWN) {
        let all: Vec<String> = trials.iter().map(|trial| number(trial)).collect();
        page.paragraph(&format!("  block {block:<3} "), all.join(" "));
    }
    if blocks.len() > ORDERS_SHOWN {
        let rest = counted(blocks.len() - ORDERS_SHOWN, "more block");
        page.paragraph("  ", format!("and {rest}: --json has all"));
    }
}

/// What is changed on the machine, once for all parts that change the same.
fn changes(page: &mut Page, foresight: &Foresight) {
    let mut groups: Vec<(&[String], Vec<&str>)> = Vec::new();
    for part in foresight
        .parts
        .iter()
        .filter(|part| part.obstacles.is_empty())
    {
        let name = part.configuration.as_str();
        match groups.iter_mut().find(|(lines, _)| *lines == part.changes) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => groups.push((&part.changes, vec![name])),
        }
    }
    page.blank();
    page.line(Span::new(
        Role::Strong,
        "Changes to the machine, for each trial and undone after it",
    ));
    for (lines, names) in groups {
        if lines.is_empty() {
            page.paragraph(
                "  ",
                format!("{}: none but files of its own", names.join(", ")),
            );
            continue;
        }
        page.paragraph("  ", format!("{}:", names.join(", ")));
        for line in lines {
            page.paragraph("    ", line.as_str());
        }
    }
}

/// What would not run here, and why.
fn skipped(page: &mut Page, foresight: &Foresight) {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in &foresight.parts {
        for reason in &part.obstacles {
            let key = format!("{}: {}", reason.code, reason.detail);
            let name = match part.at.is_empty() {
                true => part.configuration.clone(),
                false => format!("{} ({})", part.configuration, cell_text(&part.at)),
            };
            reasons.entry(key).or_default().push(name);
        }
    }
    if reasons.is_empty() {
        return;
    }
    page.blank();
    page.line(Span::new(Role::Doubt, "Skipped here"));
    for (reason, names) in reasons {
        page.paragraph("  ", Span::new(Role::Doubt, reason));
        page.paragraph("    ", names.join("; "));
    }
}
