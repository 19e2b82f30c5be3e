//! What a study would do on this machine, which is looked at and not changed.

use std::path::Path;

use stiction_core::{ForeseenPart, ForeseenTrial, Foresight, Seed, SkipReason, Tool};
use stiction_host::{Alterations, FactOptions, Roots};
use stiction_suite::{CommandLine, Place, conditions};

use crate::study::{Expanded, Part, expand};
use crate::{RunnerError, Study, estimate_preparation};

/// The plan of a study, and what each of its trials would take and change.
///
/// # Errors
/// As [`run_study`](crate::run_study), without those of the journals.
pub fn foresee(
    study: &Study<'_>,
    tool: Tool,
    facts: FactOptions,
    seed: Seed,
) -> Result<Foresight, RunnerError> {
    let Expanded {
        environment,
        plan,
        parts,
        turns,
        obstacles,
    } = expand(study, tool, facts, seed)?;
    let trials = turns.iter().map(|turn| {
        let part = &parts[turn.part];
        let workload = part.configuration.workload;
        ForeseenTrial {
            planned: turn.planned.clone(),
            part: turn.part,
            estimate: workload.estimate(&part.plan, &turn.inner),
            is_by_experience: false,
        }
    });
    let trials = trials.collect();
    let numbered = parts.iter().enumerate();
    let foreseen = numbered
        .map(|(number, part)| foreseen(part, obstacles.get(&number)))
        .collect();
    let prepares = !study.preparation.is_nothing();
    let preparation = prepares.then(|| estimate_preparation(study, &plan));
    Ok(Foresight {
        preparation: preparation.transpose()?,
        plan,
        environment,
        parts: foreseen,
        trials,
    })
}

fn foreseen(part: &Part<'_>, obstacle: Option<&SkipReason>) -> ForeseenPart {
    let configuration = part.configuration;
    let directory = configuration.places.iter().find_map(|place| match place {
        Place::Directory(path) => Some(path.as_path()),
        Place::Device(_) | Place::File(_) => None,
    });
    let directory = directory.unwrap_or(Path::new("."));
    let mut obstacles: Vec<SkipReason> = obstacle.cloned().into_iter().collect();
    let mut changes = Vec::new();
    if let Some(alterations) = configuration.alterations {
        changes.extend(alterations.foreseen(directory));
        obstacles.extend(alterations.obstacles(directory, &Roots::live()));
    }
    let (workload, conditions) = (configuration.workload, &configuration.conditions);
    let refused = conditions::obstacle(workload, &part.plan, conditions, configuration.places);
    obstacles.extend(refused);
    let hook = |when: &str, line: &CommandLine| format!("{when}: {}", line.text());
    changes.extend(
        configuration
            .prepare
            .iter()
            .map(|line| hook("before it", line)),
    );
    changes.extend(
        configuration
            .conclude
            .iter()
            .map(|line| hook("after it", line)),
    );
    ForeseenPart {
        configuration: configuration.name.clone(),
        at: configuration.at.clone(),
        workload: part.plan.workload.clone(),
        parameters: part.plan.parameters.clone(),
        places: part.places.clone(),
        scratch_bytes: configuration
            .alterations
            .filter(|alterations| alterations.granted().is_none())
            .and_then(Alterations::scratch_bytes),
        changes,
        obstacles,
    }
}
