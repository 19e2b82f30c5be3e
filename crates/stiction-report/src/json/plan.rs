//! A plan as JSON.

use std::collections::BTreeMap;

use serde::Serialize;
use stiction_core::{Cell, Estimate, Foresight, Known, Plan, PreparationEstimate, SkipReason};

use super::document;

#[derive(Serialize)]
struct Foreseen<'f> {
    plan: &'f Plan,
    plan_digest: String,
    parts: Vec<Part<'f>>,
    trials: Vec<Trial<'f>>,
    totals: Totals,
    #[serde(skip_serializing_if = "Option::is_none")]
    preparation: Option<PreparationEstimate>,
}

#[derive(Serialize)]
struct Part<'f> {
    configuration: &'f str,
    at: &'f Cell,
    workload: &'f str,
    places: Vec<&'f str>,
    disks: Vec<String>,
    scratch_bytes: Option<u64>,
    changes: &'f [String],
    skip_reasons: &'f [SkipReason],
}

#[derive(Serialize)]
struct Trial<'f> {
    part: usize,
    cell: &'f Cell,
    repetition: u32,
    block: Option<u32>,
    #[serde(flatten)]
    estimate: Estimate,
    duration_is_of_earlier_session: bool,
}

#[derive(Serialize)]
struct Totals {
    trials_count: usize,
    skipped_count: usize,
    duration_ns: Sum,
    read_bytes: Sum,
    written_bytes: Sum,
    wear_bytes: BTreeMap<String, Sum>,
    space_bytes: BTreeMap<String, Option<u64>>,
}

/// A sum over the trials that it is known of.
#[derive(Serialize)]
struct Sum {
    sum: u64,
    unknown_count: usize,
}

impl From<Known> for Sum {
    fn from(known: Known) -> Self {
        Self {
            sum: known.sum,
            unknown_count: known.unknown,
        }
    }
}

/// What a session would do.
#[must_use]
pub fn plan(foresight: &Foresight) -> String {
    let sum = |of: fn(Estimate) -> Option<u64>| {
        Known::of(foresight.to_run().map(|trial| of(trial.estimate))).into()
    };
    let targets = &foresight.environment.targets;
    let parts = foresight.parts.iter().map(|part| Part {
        configuration: &part.configuration,
        at: &part.at,
        workload: &part.workload,
        places: part
            .places
            .iter()
            .filter_map(|place| Some(targets.get(*place)?.path.as_str()))
            .collect(),
        disks: foresight.disks_of(part).into_iter().collect(),
        scratch_bytes: part.scratch_bytes,
        changes: &part.changes,
        skip_reasons: &part.obstacles,
    });
    let trials = foresight.trials.iter().map(|trial| Trial {
        part: trial.part,
        cell: &trial.planned.cell,
        repetition: trial.planned.repetition,
        block: trial.planned.block,
        estimate: trial.estimate,
        duration_is_of_earlier_session: trial.is_by_experience,
    });
    let to_run = foresight.to_run().count();
    let wear = foresight.wear().into_iter();
    let body = Foreseen {
        plan: &foresight.plan,
        plan_digest: foresight.plan.digest().to_string(),
        parts: parts.collect(),
        trials: trials.collect(),
        totals: Totals {
            trials_count: foresight.trials.len(),
            skipped_count: foresight.trials.len() - to_run,
            duration_ns: sum(|estimate| estimate.duration_ns),
            read_bytes: sum(|estimate| estimate.read_bytes),
            written_bytes: sum(|estimate| estimate.written_bytes),
            wear_bytes: wear.map(|(disk, known)| (disk, known.into())).collect(),
            space_bytes: foresight.space(),
        },
        preparation: foresight.preparation,
    };
    document("stiction-plan", body)
}
