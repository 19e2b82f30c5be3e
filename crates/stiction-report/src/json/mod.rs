//! The reports as JSON: versioned schemas, units in the keys. `docs/json.md`
//! describes each with an example.

mod bisect;
mod calibration;
mod comparison;
mod curve;
mod explanation;
mod fio;
mod history;
mod layout;
mod plan;
mod selftest;

use std::collections::BTreeMap;

use serde::Serialize;
use stiction_analysis::doubt::examine_session;
use stiction_analysis::steady::Course;
use stiction_core::{
    Applied, Better, Caveat, Cell, Depths, Environment, Phase, PhaseKind, PhaseOutcome, Resumption,
    Subject, Summary, Trial, TrialOutcome, Witnesses, WorkerSummary,
};

pub use bisect::{bisect, bisect_bracket};
pub use calibration::calibration;
pub use comparison::comparison;
pub(crate) use comparison::{better_key, method_key, verdict_key};
pub use explanation::explanation;
pub use fio::{fio_errors, fio_lint};
pub use history::{confirmation, history};
pub use layout::layout;
pub use plan::plan;
pub use selftest::selftest;

use crate::import::ImportedFile;
use crate::judged::{Judged, JudgedPhase};
use crate::list::Listed;
use crate::stack::stack_line;
use crate::steady;

/// Version of every schema here that does not have one of its own. A key is never given
/// another meaning; keys may be added without a new version.
pub const SCHEMA_VERSION: u32 = 1;

/// A document with the name and version of its form in front.
#[derive(Serialize)]
struct Document<T> {
    schema: &'static str,
    schema_version: u32,
    #[serde(flatten)]
    body: T,
}

/// The text of a document, with a line's end.
pub(crate) fn document(schema: &'static str, body: impl Serialize) -> String {
    document_of_version(SCHEMA_VERSION, schema, body)
}

/// The same of a form that has changed.
fn document_of_version(schema_version: u32, schema: &'static str, body: impl Serialize) -> String {
    let document = Document {
        schema,
        schema_version,
        body,
    };
    let mut text = serde_json::to_string_pretty(&document).expect("reports are plain data");
    text.push('\n');
    text
}

#[derive(Serialize)]
struct SessionView<'a> {
    #[serde(flatten)]
    summary: Summary,
    command: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<String>,
    stacks: Vec<Stack<'a>>,
    environment: &'a Environment,
    caveats: Vec<Doubt<'a>>,
    /// Whether `stiction run --resume` goes on with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    can_go_on: bool,
    #[serde(skip_serializing_if = "<[Resumption]>::is_empty")]
    resumptions: &'a [Resumption],
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<curve::CurveView>,
    results: Vec<TrialView<'a>>,
}

#[derive(Serialize)]
struct Stack<'a> {
    path: &'a str,
    line: String,
}

#[derive(Serialize)]
struct Doubt<'a> {
    code: &'static str,
    detail: &'a str,
    meaning: &'static str,
}

/// One trial.
#[derive(Serialize)]
struct TrialView<'a> {
    cell: &'a Cell,
    repetition: u32,
    #[serde(flatten)]
    outcome: &'a TrialOutcome,
    start_ns: u64,
    #[serde(skip_serializing_if = "<[Applied]>::is_empty")]
    settings: &'a [Applied],
    #[serde(skip_serializing_if = "<[Applied]>::is_empty")]
    conditions: &'a [Applied],
    caveats: Vec<Doubt<'a>>,
    phases: Vec<PhaseView<'a>>,
}

#[derive(Serialize)]
struct PhaseView<'a> {
    name: &'a str,
    kind: PhaseKind,
    #[serde(flatten)]
    outcome: &'a PhaseOutcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<Subject>,
    reasons: &'a [String],
    caveats: Vec<Doubt<'a>>,
    start_ns: u64,
    elapsed_ns: u64,
    /// By the metric's name, which says the unit.
    figures: serde_json::Map<String, serde_json::Value>,
    workers: &'a [WorkerSummary],
    #[serde(skip_serializing_if = "Option::is_none")]
    depths: Option<Depths>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steady: Option<SteadyView>,
    witnesses: &'a Witnesses,
    notes: &'a [String],
}

/// Whether the rate of operations had become steady.
#[derive(Serialize)]
struct SteadyView {
    /// Null when it never had.
    reached_ns: Option<u64>,
    window_start_ns: u64,
    window_ns: u64,
    mean_operations_per_s: f64,
    change_percent_per_s: f64,
}

impl SteadyView {
    fn of(course: &Course) -> Self {
        let (first, length) = course.steadiness.window;
        Self {
            reached_ns: course.reached_ns(),
            window_start_ns: first as u64 * course.round_ns,
            window_ns: length as u64 * course.round_ns,
            mean_operations_per_s: course.steadiness.line.mean,
            change_percent_per_s: steady::change_percent_per_s(course),
        }
    }
}

#[derive(Serialize)]
struct Figure<'a> {
    value: f64,
    n: u64,
    better: Better,
    #[serde(skip_serializing_if = "Option::is_none")]
    printed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected: Option<&'a str>,
}

/// The session with every figure, its subject and its caveats: what `quick`,
/// `tiobench` and `show` print as text. Schema `stiction-report`.
#[must_use]
pub fn session(judged: &Judged<'_>) -> String {
    let session = judged.session();
    let environment = &session.header.environment;
    let caveats = examine_session(session);
    document(
        "stiction-report",
        SessionView {
            summary: Summary::from(session),
            command: &session.header.command,
            headline: judged.headline(),
            stacks: environment
                .targets
                .iter()
                .map(|stack| Stack {
                    path: &stack.path,
                    line: stack_line(stack),
                })
                .collect(),
            environment,
            caveats: doubts(&caveats),
            can_go_on: session.can_go_on(),
            resumptions: &session.resumptions,
            curve: curve::curve(session),
            results: judged
                .trials()
                .map(|(trial, phases)| trial_view(trial, &phases))
                .collect(),
        },
    )
}

fn doubts(caveats: &[Caveat]) -> Vec<Doubt<'_>> {
    caveats
        .iter()
        .map(|caveat| Doubt {
            code: caveat.code.as_str(),
            detail: &caveat.detail,
            meaning: caveat.code.meaning(),
        })
        .collect()
}

fn trial_view<'a>(trial: &'a Trial, phases: &[JudgedPhase<'a>]) -> TrialView<'a> {
    TrialView {
        cell: &trial.cell,
        repetition: trial.repetition,
        outcome: &trial.outcome,
        start_ns: trial.start_ns,
        settings: &trial.settings,
        conditions: &trial.conditions,
        caveats: doubts(&trial.caveats),
        phases: phases.iter().map(phase_view).collect(),
    }
}

fn phase_view<'a>(judged: &JudgedPhase<'a>) -> PhaseView<'a> {
    let Phase {
        name,
        kind,
        outcome,
        start_ns,
        elapsed_ns,
        workers,
        depths,
        witnesses,
        notes,
        ..
    } = judged.phase;
    let has_numbers = judged.phase.has_numbers();
    PhaseView {
        name,
        kind: *kind,
        outcome,
        subject: has_numbers.then_some(judged.finding.subject),
        reasons: if has_numbers {
            &judged.finding.reasons
        } else {
            &[]
        },
        caveats: doubts(&judged.finding.caveats),
        start_ns: *start_ns,
        elapsed_ns: *elapsed_ns,
        figures: figures(judged.phase),
        workers,
        depths: *depths,
        steady: steady::course(judged.whole).map(|course| SteadyView::of(&course)),
        witnesses,
        notes,
    }
}

fn figures(phase: &Phase) -> serde_json::Map<String, serde_json::Value> {
    phase
        .measurements
        .iter()
        .map(|measurement| {
            let figure = Figure {
                value: measurement.value,
                n: measurement.n,
                better: measurement.metric.better,
                printed: measurement.printed.as_deref(),
                corrected: measurement.corrected.as_deref(),
            };
            let value = serde_json::to_value(figure).expect("a figure is plain data");
            (measurement.metric.name.to_string(), value)
        })
        .collect()
}

#[derive(Serialize)]
struct List<'a> {
    sessions: Vec<ListItem<'a>>,
}

#[derive(Serialize)]
struct ListItem<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<&'a str>,
    /// Whether `stiction run --resume` goes on with it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    can_go_on: bool,
}

/// The sessions of a list. Schema `stiction-list`.
#[must_use]
pub fn list(sessions: &[Listed]) -> String {
    let sessions = sessions
        .iter()
        .map(|session| ListItem {
            summary: &session.summary,
            headline: session.headline.as_deref(),
            can_go_on: session.can_go_on,
        })
        .collect();
    document("stiction-list", List { sessions })
}

/// What was read from each file and what was not. Schema `stiction-import`.
#[must_use]
pub fn import(files: &[ImportedFile]) -> String {
    document("stiction-import", BTreeMap::from([("files", files)]))
}
