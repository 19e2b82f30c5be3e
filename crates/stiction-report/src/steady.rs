//! Whether a phase's rate had become steady, and when.

use stiction_analysis::steady::{Course, Figure, Rule};
use stiction_core::{Phase, PhaseKind, format_duration_ns, metrics};

use crate::figure::{measured, significant};

/// The rule by which reports judge: the rate changes by no more than this over the window.
const RULE: Rule = Rule::HalfWindow { tolerance: 0.03 };

/// The course of the operations of a phase; `None` of one that is too short to judge or
/// not measured.
pub(crate) fn course(phase: &Phase) -> Option<Course> {
    if phase.kind != PhaseKind::Measure || !phase.has_numbers() {
        return None;
    }
    let recordings = phase.recordings.iter();
    let most = recordings
        .filter(|recording| recording.direction.is_data())
        .max_by_key(|recording| recording.operations())?;
    Course::of(most, Figure::OperationRate, RULE)
}

/// By how much the rate changed, percent a second.
pub(crate) fn change_percent_per_s(course: &Course) -> f64 {
    let line = course.steadiness.line;
    let round_s = course.round_ns as f64 / 1e9;
    100.0 * line.slope / line.mean / round_s
}

/// When it was steady, or by how much it moved, in a line.
pub(crate) fn words(course: &Course) -> String {
    let (first, length) = course.steadiness.window;
    let time = |rounds: usize| format_duration_ns((rounds as u64 * course.round_ns) as f64);
    let rate = measured(metrics::OPERATION_RATE.unit, course.steadiness.line.mean);
    let change = change_percent_per_s(course);
    let change = format!(
        "{}{} % a second",
        if change < 0.0 { "" } else { "+" },
        significant(change, 2)
    );
    match course.reached_ns() {
        Some(reached_ns) => format!(
            "from {} on at {rate}, {change}; known after {}",
            time(first),
            format_duration_ns(reached_ns as f64)
        ),
        None => format!("never; over the last {} {change} at {rate}", time(length)),
    }
}
