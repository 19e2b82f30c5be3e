//! The table of `selftest stats`: what the rules of verdicts have to keep to, and do.

use stiction_analysis::selftest::{Figure, Limit, Row, Size};
use stiction_core::Seed;

use crate::page::{Column, Page, Role, Span, Style, Table};

/// The table, a row for each property, and below it every case that is outside, or all
/// of them with `cases`.
#[must_use]
pub fn selftest(rows: &[Row], size: Size, seed: Seed, cases: bool, style: Style) -> String {
    let mut page = Page::new(style);
    let title = format!("selftest stats  {} size, seed {seed}", word(size));
    page.line(Span::new(Role::Strong, title));
    page.blank();
    let mut table = Table::new(vec![
        Column::left("property", 50),
        Column::right("bound", 11),
        Column::right("measured", 9),
        Column::right("each", 5),
        Column::left("", 7),
    ]);
    for row in rows {
        write_row(&mut table, row, cases);
    }
    page.table(0, &table);
    page.blank();
    page.paragraph(
        "",
        Span::new(
            Role::Faint,
            "Measured is the worst case of each property; each case is so many simulated \
             sessions.",
        ),
    );
    if size == Size::Quick {
        let note = "The bounds of shares are wider than those of the full size by the binomial \
                    error of fewer sessions.";
        page.paragraph("", Span::new(Role::Faint, note));
    }
    let outside = rows.iter().filter(|row| !row.holds()).count();
    let answer = if outside == 0 {
        Span::new(
            Role::Strong,
            format!("All {} inside their bounds", rows.len()),
        )
    } else {
        Span::new(Role::Bad, format!("{outside} of {} OUTSIDE", rows.len()))
    };
    page.line(answer);
    page.finish()
}

fn word(size: Size) -> &'static str {
    match size {
        Size::Quick => "quick",
        Size::Full => "full",
    }
}

fn write_row(table: &mut Table, row: &Row, cases: bool) {
    let figure = row.bound.figure;
    let side = match row.limit {
        Limit::AtMost(_) => "<=",
        Limit::AtLeast(_) => ">=",
    };
    let bound = format!("{side} {:>8}", amount(figure, row.limit.value()));
    let measured = row.worst().map(|worst| amount(figure, worst.value));
    table.row(vec![
        row.property.into(),
        bound.into(),
        measured.unwrap_or_else(|| "nothing".to_owned()).into(),
        row.replicates.to_string().into(),
        verdict(row.holds()),
    ]);
    for reading in &row.readings {
        let holds = row.limit.holds(reading.value);
        if reading.case.is_empty() || (holds && !cases) {
            continue;
        }
        table.row(vec![
            format!("  {}", reading.case).into(),
            "".into(),
            amount(figure, reading.value).into(),
            "".into(),
            if holds { "".into() } else { verdict(holds) },
        ]);
    }
}

fn verdict(holds: bool) -> Span {
    if holds {
        Span::new(Role::Good, "ok")
    } else {
        Span::new(Role::Bad, "OUTSIDE")
    }
}

fn amount(figure: Figure, value: f64) -> String {
    match figure {
        Figure::Share => format!("{:.1} %", 100.0 * value),
        Figure::Size => format!("{:.2} %", 100.0 * value),
        Figure::Blocks => format!("{value:.0} bl."),
    }
}

#[cfg(test)]
mod tests {
    use stiction_analysis::selftest::{Bound, Reading};

    use super::*;

    fn row(value: f64) -> Row {
        let limit = Limit::AtMost(0.061);
        let reading = |case: &str, value| Reading {
            case: case.to_owned(),
            value,
        };
        Row {
            property: "false alarms",
            bound: Bound {
                limit,
                figure: Figure::Share,
                replicates: 4000,
            },
            limit,
            replicates: 4000,
            readings: vec![reading("normal", 0.049), reading("drift", value)],
        }
    }

    #[test]
    fn a_row_shows_its_worst_case_and_every_case_outside() {
        let text = selftest(&[row(0.0624)], Size::Full, Seed(7), false, Style::Plain);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "selftest stats  full size, seed 7");
        assert_eq!(
            lines[2..5],
            [
                "property           bound measured each",
                "false alarms <=    6.1 %    6.2 % 4000 OUTSIDE",
                "  drift                     6.2 %      OUTSIDE",
            ]
        );
        assert_eq!(*lines.last().unwrap(), "1 of 1 OUTSIDE");
    }

    #[test]
    fn all_cases_are_shown_on_request() {
        let text = selftest(&[row(0.05)], Size::Full, Seed(7), true, Style::Plain);
        assert!(
            text.contains("  normal                    4.9 %\n"),
            "{text}"
        );
        assert!(text.ends_with("All 1 inside their bounds\n"), "{text}");
        let short = selftest(&[row(0.05)], Size::Full, Seed(7), false, Style::Plain);
        assert!(!short.contains("normal"), "{short}");
    }
}
