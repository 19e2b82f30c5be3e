//! One series in full.

use stiction_analysis::history::{Around, Course, SeriesCut, State};

use super::plot::{bounds, plot};
use super::words::{
    about, direction, flag_words, last_value, p_words, role, session_words, size_words,
    state_words, value_text, what,
};
use crate::figure::measured;
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::text::counted;

/// One series, and what lies around its changes.
#[derive(Clone, Copy, Debug)]
pub struct Detail<'a> {
    /// The series.
    pub course: &'a Course,
    /// For each of its changes what lies around it, where the sessions are still there.
    pub around: &'a [Option<Around>],
    /// Why the order of the points is in doubt, a sentence each.
    pub doubts: &'a [String],
}

/// Columns and lines of the plot.
const PLOT: (usize, usize) = (62, 8);
/// Points that are listed, the newest ones.
const LISTED: usize = 8;
/// Differences of the environment that are told of a change.
const DIFFERENCES: usize = 8;

/// The series: a plot, its levels, its changes with what else changed, its newest points,
/// and where it stands in the last line.
#[must_use]
pub fn history_of_one(detail: &Detail<'_>, style: Style) -> String {
    let course = detail.course;
    let key = &course.series.key;
    let mut page = Page::new(style);
    page.line(Span::new(
        Role::Strong,
        format!("{}  {}", key.id(), what(key)),
    ));
    page.paragraph("on ", Span::new(Role::Faint, about(key)));
    if !key.context.parameters.is_empty() {
        let parameters = key.context.parameters.iter();
        let told = parameters.map(|(name, value)| format!("{name} {value}"));
        let told = told.collect::<Vec<_>>().join("; ");
        page.paragraph("with ", Span::new(Role::Faint, told));
    }
    for doubt in detail.doubts {
        page.paragraph("! ", Span::new(Role::Doubt, doubt.as_str()));
    }
    page.blank();
    write_plot(&mut page, course);
    page.blank();
    write_levels(&mut page, course);
    write_changes(&mut page, detail);
    for cut in &course.cuts {
        write_cut(&mut page, course, cut);
    }
    write_points(&mut page, course);
    write_remarks(&mut page, course);
    page.blank();
    page.line(Span::new(
        if course.state == State::Steady {
            Role::Strong
        } else {
            role(course)
        },
        format!(
            "{}: {}, newest {}",
            key.id(),
            state_words(course),
            last_value(course)
        ),
    ));
    page.finish()
}

fn write_plot(page: &mut Page, course: &Course) {
    let unit = course.series.key.metric.unit;
    let (width, height) = PLOT;
    let ends = bounds(course, width);
    for (place, line) in plot(course, width, height).into_iter().enumerate() {
        let text = match ends {
            Some((_, highest)) if place == 0 => measured(unit, highest),
            Some((lowest, _)) if place == height - 1 => measured(unit, lowest),
            _ => String::new(),
        };
        page.line(format!("{text:>15} {line}"));
    }
}

fn write_levels(page: &mut Page, course: &Course) {
    let unit = course.series.key.metric.unit;
    let mut table = Table::new(vec![
        Column::left("from", 20),
        Column::left("to", 20),
        Column::right("points", 6),
        Column::right("level", 14),
        Column::right("spread", 8),
    ]);
    for stretch in &course.stretches {
        let points = &course.series.points[stretch.points.clone()];
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            continue;
        };
        let spread = stretch
            .spread
            .map(|spread| format!("{:.1} %", spread * 100.0));
        table.row(vec![
            first.session().as_str().into(),
            last.session().as_str().into(),
            points.len().to_string().into(),
            stretch
                .level
                .map_or_else(String::new, |level| measured(unit, level))
                .into(),
            spread.unwrap_or_default().into(),
        ]);
    }
    page.table(2, &table);
}

fn write_changes(page: &mut Page, detail: &Detail<'_>) {
    let course = detail.course;
    for (place, change) in course.changes.iter().enumerate() {
        page.blank();
        let word = if change.provisional {
            "provisionally "
        } else {
            ""
        };
        let at = &course.series.points[change.at];
        page.paragraph(
            "  ",
            Span::new(
                if change.is_worse == Some(true) {
                    Role::Bad
                } else {
                    Role::Strong
                },
                format!(
                    "{word}changed by {}, {}, at {}",
                    size_words(change),
                    direction(change.is_worse),
                    session_words(at.session(), at.label.as_deref())
                ),
            ),
        );
        let orders = if change.block_length == 1 {
            "points in random order".to_owned()
        } else {
            format!("blocks of {} points in random order", change.block_length)
        };
        page.paragraph("    ", format!("{} against {orders}", p_words(change.p)));
        if let Some(Some(around)) = detail.around.get(place) {
            write_around(page, around);
        }
    }
}

fn write_around(page: &mut Page, around: &Around) {
    let before = session_words(&around.before, around.label_before.as_deref());
    page.paragraph("    ", format!("the last before it is {before}"));
    if around.differs.is_empty() {
        page.paragraph("    ", "nothing that was observed of the machine differs");
        return;
    }
    page.line("    what differs too, of which nothing has to be the cause:");
    for difference in around.differs.iter().take(DIFFERENCES) {
        let (a, b) = (&difference.a, &difference.b);
        page.paragraph("      ", format!("{}: {a} -> {b}", difference.key));
    }
    let more = around.differs.len().saturating_sub(DIFFERENCES);
    if more > 0 {
        let compare = format!(
            "stiction compare {} {}",
            around.before.tail(),
            around.after.tail()
        );
        page.paragraph("      ", format!("and {more} more: {compare}"));
    }
}

fn write_cut(page: &mut Page, course: &Course, cut: &SeriesCut) {
    page.blank();
    let at = course.series.points[cut.at].session();
    let note = &cut.annotation;
    page.paragraph(
        "  ",
        format!("{} at {at}: {}", note.kind.as_str(), note.why),
    );
}

fn write_points(page: &mut Page, course: &Course) {
    page.blank();
    let points = &course.series.points;
    let mut table = Table::new(vec![
        Column::left("newest", 20),
        Column::left("label", 18),
        Column::right("runs", 5),
        Column::right("value", 14),
    ]);
    for point in points.iter().rev().take(LISTED) {
        table.row(vec![
            point.session().as_str().into(),
            point.label.clone().unwrap_or_default().into(),
            point.runs.to_string().into(),
            value_text(course, point).into(),
        ]);
        for failure in &point.failures {
            table.note(Span::new(Role::Bad, format!("  {failure}")));
        }
    }
    page.table(2, &table);
    let sessions: usize = points.iter().map(|point| point.sessions.len()).sum();
    if sessions > points.len() {
        page.paragraph(
            "  ",
            format!(
                "{} of {}: those of one boot are one (--each session for one each)",
                counted(points.len(), "point"),
                counted(sessions, "session")
            ),
        );
    }
    if course.series.unplaced > 0 {
        page.paragraph(
            "  ",
            format!(
                "{} left out: their labels are not in the order given",
                counted(course.series.unplaced, "session")
            ),
        );
    }
}

fn write_remarks(page: &mut Page, course: &Course) {
    if let Some(flag) = &course.flag {
        let unit = course.series.key.metric.unit;
        page.paragraph("  the newest is ", flag_words(unit, flag));
    }
    if course.smaller > 0 {
        page.paragraph(
            "  ",
            format!(
                "{} below {:.0} % not told",
                counted(course.smaller, "change"),
                course.effect * 100.0
            ),
        );
    }
}
