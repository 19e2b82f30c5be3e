//! Series over time, as JSON.

use serde::Serialize;
use std::collections::BTreeMap;
use stiction_analysis::compare::Difference;
use stiction_analysis::history::{
    Around, Course, Flag, LevelChange, Point, Rerun, SeriesCut, Stretch,
};
use stiction_core::{AnnotationKind, Better, Cell, SessionId};

use super::document;
use crate::history::Confirmation;

#[derive(Serialize)]
struct HistoryView<'a> {
    sessions_count: usize,
    clock_doubts: &'a [String],
    series: Vec<SeriesView<'a>>,
}

#[derive(Serialize)]
struct SeriesView<'a> {
    id: String,
    state: String,
    workload: &'a str,
    cell: &'a Cell,
    phase: &'a str,
    metric: &'a str,
    better: Better,
    is_main: bool,
    parameters: &'a BTreeMap<String, String>,
    machine: BTreeMap<&'a str, Vec<&'a str>>,
    effect_percent: f64,
    points: Vec<PointView<'a>>,
    unplaced_count: usize,
    stretches: Vec<StretchView<'a>>,
    changes: Vec<ChangeView<'a>>,
    smaller_count: usize,
    annotations: Vec<CutView<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flag: Option<FlagView>,
    serial_correlation_ratio: f64,
}

#[derive(Serialize)]
struct PointView<'a> {
    sessions: &'a [SessionId],
    started: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    value: Option<f64>,
    runs_count: usize,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    failures: &'a [String],
}

#[derive(Serialize)]
struct StretchView<'a> {
    from: &'a SessionId,
    to: &'a SessionId,
    points_count: usize,
    value: Option<f64>,
    spread_percent: Option<f64>,
}

#[derive(Serialize)]
struct ChangeView<'a> {
    session: &'a SessionId,
    provisional: bool,
    worse: Option<bool>,
    change_percent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_percent_lowest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_percent_highest: Option<f64>,
    p_ratio: f64,
    block_points_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    around: Option<AroundView<'a>>,
}

#[derive(Serialize)]
struct AroundView<'a> {
    before: &'a SessionId,
    after: &'a SessionId,
    differs: Vec<DifferenceView<'a>>,
}

#[derive(Serialize)]
struct DifferenceView<'a> {
    key: &'a str,
    before: &'a str,
    after: &'a str,
}

#[derive(Serialize)]
struct CutView<'a> {
    session: &'a SessionId,
    kind: AnnotationKind,
    why: &'a str,
}

#[derive(Serialize)]
struct FlagView {
    worse: Option<bool>,
    change_percent: f64,
    value_lowest: f64,
    value_highest: f64,
    points_count: usize,
}

/// The series, each with what lies around its changes, in the order of the changes; that
/// may be empty where it was not looked up.
#[must_use]
pub fn history(
    series: &[(&Course, &[Option<Around>])],
    sessions: usize,
    doubts: &[String],
) -> String {
    let view = HistoryView {
        sessions_count: sessions,
        clock_doubts: doubts,
        series: series
            .iter()
            .map(|(course, around)| of(course, around))
            .collect(),
    };
    document("stiction-history", view)
}

fn of<'a>(course: &'a Course, around: &'a [Option<Around>]) -> SeriesView<'a> {
    let (series, key) = (&course.series, &course.series.key);
    let mut machine: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in &key.context.machine {
        machine.entry(name).or_default().push(value);
    }
    let changes = course.changes.iter().enumerate();
    SeriesView {
        id: key.id(),
        state: course.state.as_str().to_lowercase().replace(' ', "_"),
        workload: &key.context.workload,
        cell: &key.context.cell,
        phase: &key.phase,
        metric: &key.metric.name,
        better: key.metric.better,
        is_main: series.is_main,
        parameters: &key.context.parameters,
        machine,
        effect_percent: course.effect * 100.0,
        points: series.points.iter().map(point).collect(),
        unplaced_count: series.unplaced,
        stretches: course
            .stretches
            .iter()
            .filter_map(|s| stretch(course, s))
            .collect(),
        changes: changes
            .map(|(place, one)| change(course, one, around.get(place).and_then(Option::as_ref)))
            .collect(),
        smaller_count: course.smaller,
        annotations: course.cuts.iter().map(cut).collect(),
        flag: course.flag.as_ref().map(flag),
        serial_correlation_ratio: course.serial_correlation,
    }
}

fn point(point: &Point) -> PointView<'_> {
    PointView {
        sessions: &point.sessions,
        started: point.started.to_string(),
        label: point.label.as_deref(),
        value: point.value,
        runs_count: point.runs,
        failures: &point.failures,
    }
}

fn stretch<'a>(course: &'a Course, stretch: &Stretch) -> Option<StretchView<'a>> {
    let points = &course.series.points[stretch.points.clone()];
    Some(StretchView {
        from: points.first()?.session(),
        to: points.last()?.session(),
        points_count: points.len(),
        value: stretch.level,
        spread_percent: stretch.spread.map(|spread| spread * 100.0),
    })
}

fn change<'a>(
    course: &'a Course,
    change: &LevelChange,
    around: Option<&'a Around>,
) -> ChangeView<'a> {
    let percent = |(low, high): (f64, f64)| (low * 100.0, high * 100.0);
    let interval = change.interval.map(percent);
    ChangeView {
        session: course.series.points[change.at].session(),
        provisional: change.provisional,
        worse: change.is_worse,
        change_percent: change.size * 100.0,
        change_percent_lowest: interval.map(|(low, _)| low),
        change_percent_highest: interval.map(|(_, high)| high),
        p_ratio: change.p,
        block_points_count: change.block_length,
        around: around.map(|around| AroundView {
            before: &around.before,
            after: &around.after,
            differs: around.differs.iter().map(difference).collect(),
        }),
    }
}

fn difference(difference: &Difference) -> DifferenceView<'_> {
    DifferenceView {
        key: &difference.key,
        before: &difference.a,
        after: &difference.b,
    }
}

fn cut(cut: &SeriesCut) -> CutView<'_> {
    CutView {
        session: &cut.annotation.session,
        kind: cut.annotation.kind,
        why: &cut.annotation.why,
    }
}

fn flag(flag: &Flag) -> FlagView {
    FlagView {
        worse: flag.is_worse,
        change_percent: flag.size * 100.0,
        value_lowest: flag.expected.0,
        value_highest: flag.expected.1,
        points_count: flag.points,
    }
}

#[derive(Serialize)]
struct ConfirmationView<'a> {
    series: String,
    before: &'a SessionId,
    after: &'a SessionId,
    differs: Vec<DifferenceView<'a>>,
    how: &'static str,
    commands: Vec<String>,
}

/// How both sides of a change can be run again.
#[must_use]
pub fn confirmation(confirmation: &Confirmation<'_>) -> String {
    let around = confirmation.around;
    let view = ConfirmationView {
        series: confirmation.course.series.key.id(),
        before: &around.before,
        after: &around.after,
        differs: around.differs.iter().map(difference).collect(),
        how: match confirmation.rerun {
            Rerun::Here(_) => "here",
            Rerun::Elsewhere(_) => "elsewhere",
            Rerun::Unknown => "unknown",
        },
        commands: confirmation.commands(),
    };
    document("stiction-confirmation", view)
}
