//! The report of calibrate: how far equal things lie apart.

use stiction_analysis::calibration::{Calibrated, Calibration};

use crate::cell::cell_text;
use crate::figure::{label, measured, significant};
use crate::outcome::title;
use crate::page::{Column, Page, Role, Span, Style, Table};

/// A row for each metric that comparisons judge, and what could be shown.
#[must_use]
pub fn calibration(calibration: &Calibration, style: Style) -> String {
    let mut page = Page::new(style);
    page.line(Span::new(
        Role::Strong,
        "The benchmark against itself: how far equal things lie apart",
    ));
    let mut rest = &calibration.rows[..];
    while let Some(first) = rest.first() {
        let same = |row: &&Calibrated| row.cell == first.cell && row.phase == first.phase;
        let count = rest.iter().take_while(same).count();
        let (group, others) = rest.split_at(count);
        page.blank();
        let cell = match first.cell.is_empty() {
            true => String::new(),
            false => format!(", {}", cell_text(&first.cell)),
        };
        page.paragraph("", format!("{}{cell}", title(&first.phase)));
        page.table(2, &table(group));
        rest = others;
    }
    page.blank();
    page.paragraph("", Span::new(Role::Faint, LEGEND));
    page.blank();
    page.paragraph("", answer(&calibration.rows));
    page.finish()
}

const LEGEND: &str = "sd: of the difference of two runs in a block, robust. floor: half the 95 % \
                      interval after so many blocks; smaller changes cannot be told from none. \
                      lag 1: correlation of each difference with the next, marked ! where it is \
                      more than chance.";

fn table(rows: &[Calibrated]) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 30),
        Column::right("typical", 12),
        Column::right("blocks", 6),
        Column::right("sd", 8),
        Column::right("floor", 8),
        Column::right("lag 1", 7),
    ]);
    for row in rows {
        let percent = |share: f64| format!("{} %", significant(share, 2));
        let lag = row.autocorrelation.map_or_else(String::new, |lag| {
            let mark = if row.is_autocorrelated() { "!" } else { "" };
            format!("{lag:+.2}{mark}")
        });
        table.row(vec![
            label(&row.metric).into(),
            measured(row.metric.unit, row.typical).into(),
            row.blocks.to_string().into(),
            percent(row.deviation.exp_m1() * 100.0).into(),
            percent(row.floor_percent).into(),
            lag.into(),
        ]);
    }
    table
}

fn answer(rows: &[Calibrated]) -> String {
    if rows.is_empty() {
        return "Nothing was measured twice.".to_owned();
    }
    let noisy: Vec<&Calibrated> = rows.iter().filter(|row| !row.can_show_same()).collect();
    match noisy.len() {
        0 => format!(
            "All {} figures are quiet enough to show that two sides are the same.",
            rows.len()
        ),
        count => format!(
            "{count} of {} figures are too noisy for so many blocks to show that two sides are \
             the same within the smallest effect of interest: run more blocks, or make each run \
             longer.",
            rows.len()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{Cell, metrics};

    #[test]
    fn noise_is_told_with_what_it_hides() {
        let row = |floor_percent, autocorrelation| Calibrated {
            cell: Cell::new().with("threads", 8u32),
            phase: "random_read".to_owned(),
            metric: metrics::RATE,
            typical: 104_857_600.0,
            blocks: 12,
            deviation: 0.02f64.ln_1p(),
            floor_percent,
            effect_percent: 3.0,
            autocorrelation: Some(autocorrelation),
        };
        let rows = vec![row(1.27, 0.1), row(4.0, 0.7)];
        let text = calibration(&Calibration { rows }, Style::Plain);
        for part in [
            "random read, 8 threads",
            "100 MiB/s",
            "2.0 %",
            "1.3 %",
            "+0.70!",
        ] {
            assert!(text.contains(part), "no {part} in:\n{text}");
        }
        assert!(text.contains("1 of 2 figures are too noisy"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80));
        let nothing = calibration(&Calibration { rows: Vec::new() }, Style::Plain);
        assert!(
            nothing.ends_with("Nothing was measured twice.\n"),
            "{nothing}"
        );
    }
}
