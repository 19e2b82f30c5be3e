//! Going on with a session that was cut off: what stands of it, and whether it is the same.

use serde_json::Value;
use stiction_core::{
    Environment, Plan, PlannedTrial, Preparation, Provenance, Resumption, Seed, Session,
    SessionHeader, SessionOutcome, TargetStack, Trial,
};

use crate::RunnerError;
use crate::study::Expanded;

/// What a session has when trials begin or go on.
pub(crate) struct Earlier {
    pub(crate) header: SessionHeader,
    /// The trials that stand.
    pub(crate) trials: Vec<Trial>,
    pub(crate) resumptions: Vec<Resumption>,
    /// Trials that are run again.
    run_again: u32,
    /// The last moment that was recorded, ns after the session began.
    last_ns: u64,
}

impl Earlier {
    /// Of a session that begins: nothing.
    pub(crate) fn of_new(header: SessionHeader) -> Self {
        Self {
            header,
            trials: Vec::new(),
            resumptions: Vec::new(),
            run_again: 0,
            last_ns: 0,
        }
    }

    /// What is told of the session's going on at `now`.
    ///
    /// # Errors
    /// [`RunnerError::Resume`] when it would not be the same session any more.
    pub(crate) fn resumption(
        &self,
        expanded: &Expanded<'_>,
        now: jiff::Timestamp,
    ) -> Result<Resumption, RunnerError> {
        let header = &self.header;
        let differs = header
            .plan
            .as_ref()
            .and_then(|then| plans_apart(then, &expanded.plan))
            .or_else(|| machines_apart(&header.environment, &expanded.environment));
        let nothing_runs = expanded.obstacles.len() == expanded.parts.len();
        let obstacle = expanded.obstacles.values().next().filter(|_| nothing_runs);
        let obstacle = obstacle.map(|reason| reason.detail.clone());
        if let Some(problem) = differs.or(obstacle) {
            return Err(refused(header, problem));
        }
        let wall_ns = now.duration_since(header.started).as_nanos();
        let start_ns = u64::try_from(wall_ns).unwrap_or(0).max(self.last_ns);
        Ok(Resumption {
            at: now,
            start_ns,
            gap_ns: start_ns - self.last_ns,
            trials_before: self.trials.len() as u32,
            run_again: self.run_again,
            environment: expanded.environment.clone(),
        })
    }
}

/// What stands of a session that was cut off, and the seed that it is planned by.
///
/// # Errors
/// [`RunnerError::Resume`] when there is nothing to go on with.
pub(crate) fn taken_up(session: Session) -> Result<(Earlier, Seed), RunnerError> {
    let header = &session.header;
    if let Provenance::Imported { file, .. } = &header.provenance {
        return Err(refused(header, format!("it was read from {file}")));
    }
    let Some(plan) = &header.plan else {
        return Err(refused(header, "it has no plan".to_owned()));
    };
    let seed = plan.seed;
    let outcome = session.end.as_ref().map(|end| end.outcome);
    if outcome == Some(SessionOutcome::Completed) {
        return Err(refused(header, "it is complete".to_owned()));
    }
    let last_ns = session.last_ns();
    let all = session.trials.len();
    let finished = session
        .trials
        .into_iter()
        .filter(|one| !one.is_unfinished());
    let trials: Vec<Trial> = finished.collect();
    let earlier = Earlier {
        header: session.header,
        run_again: (all - trials.len()) as u32,
        trials,
        resumptions: session.resumptions,
        last_ns,
    };
    Ok((earlier, seed))
}

fn refused(header: &SessionHeader, problem: String) -> RunnerError {
    RunnerError::Resume {
        id: header.id.clone(),
        problem,
    }
}

/// The trials of a plan that are done already, with the time that each took.
pub(crate) struct Done(Vec<(PlannedTrial, u64)>);

impl Done {
    pub(crate) fn of(trials: &[Trial]) -> Self {
        let planned = |trial: &Trial| PlannedTrial {
            cell: trial.cell.clone(),
            repetition: trial.repetition,
            block: trial.block,
        };
        let took = |trial: &Trial| trial.last_ns() - trial.start_ns;
        let trials = trials.iter();
        Self(trials.map(|one| (planned(one), took(one))).collect())
    }

    pub(crate) fn has(&self, planned: &PlannedTrial) -> bool {
        self.0.iter().any(|(done, _)| done == planned)
    }

    /// How long those among `planned` took together, ns.
    pub(crate) fn took_ns<'a>(&self, planned: impl Iterator<Item = &'a PlannedTrial>) -> u64 {
        let took = |planned| {
            let done = self.0.iter().find(|(done, _)| done == planned);
            done.map_or(0, |(_, took_ns)| *took_ns)
        };
        planned.map(took).sum()
    }
}

/// What differs first between the plan of the session and the one that its words make now.
fn plans_apart(then: &Plan, now: &Plan) -> Option<String> {
    // How spoilers are taken may come from the surroundings, and changes no trial.
    let preparation = Preparation {
        spoilers: then.preparation.spoilers,
        ..now.preparation.clone()
    };
    let now = &Plan {
        preparation,
        ..now.clone()
    };
    if then.digest() == now.digest() {
        return None;
    }
    let told = |(at, then, now): (String, String, String)| {
        format!(
            "its words make another plan here and now: {at} was {then} and would be {now}; \
             put that right, or begin another session"
        )
    };
    if then.workload != now.workload {
        let both = (then.workload.clone(), now.workload.clone());
        return Some(told(("the workload".to_owned(), both.0, both.1)));
    }
    if then.preparation != now.preparation {
        let told_so = |plan: &Plan| {
            serde_json::to_string(&plan.preparation).unwrap_or_else(|error| error.to_string())
        };
        return Some(told((
            "preparation".to_owned(),
            told_so(then),
            told_so(now),
        )));
    }
    let found = values_apart("", &then.parameters, &now.parameters).unwrap_or_else(|| {
        let count = |plan: &Plan| format!("one of {} trials", plan.trials.len());
        let (then, now) = (count(then), count(now));
        let now = match then == now {
            true => "another order of them".to_owned(),
            false => now,
        };
        ("the list".to_owned(), then, now)
    });
    Some(told(found))
}

/// Where two values differ first, and how.
fn values_apart(at: &str, then: &Value, now: &Value) -> Option<(String, String, String)> {
    let below = |key: &str| match at {
        "" => key.to_owned(),
        _ => format!("{at}.{key}"),
    };
    match (then, now) {
        _ if then == now => None,
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys());
            keys.into_iter().find_map(|key| {
                let of = |map: &serde_json::Map<String, Value>| {
                    map.get(key).cloned().unwrap_or(Value::Null)
                };
                values_apart(&below(key), &of(one), &of(other))
            })
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let pairs = one.iter().zip(other);
            (0..).zip(pairs).find_map(|(number, (one, other))| {
                values_apart(&below(&number.to_string()), one, other)
            })
        }
        _ => Some((at.to_owned(), then.to_string(), now.to_string())),
    }
}

/// What makes this another machine, or another ground, than the session began on: its
/// trials would differ by more than they are to be compared by.
fn machines_apart(then: &Environment, now: &Environment) -> Option<String> {
    let cpu = |of: &Environment| of.cpu.as_ref().map(|cpu| cpu.model.clone());
    let kernel = |of: &Environment| of.kernel.as_ref().map(|kernel| kernel.release.clone());
    let differ = |what: &str, then: Option<String>, now: Option<String>| match (then, now) {
        (Some(then), Some(now)) if then != now => Some(format!(
            "{what} was {then} and is {now}; go on where it began, or begin another session"
        )),
        _ => None,
    };
    let grounds = || {
        let mut pairs = then.targets.iter().zip(&now.targets);
        pairs.find_map(|(then, now)| {
            let what = format!("what {} lies on", then.path);
            differ(&what, kind(then), kind(now))
        })
    };
    differ("the CPU", cpu(then), cpu(now))
        .or_else(|| differ("the kernel", kernel(then), kernel(now)))
        .or_else(grounds)
}

fn kind(stack: &TargetStack) -> Option<String> {
    let filesystem = stack.filesystem.as_ref();
    filesystem.map(|filesystem| filesystem.kind.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_of_two_plans_is_named() {
        let apart = |then: Value, now: Value| values_apart("", &then, &now);
        assert_eq!(apart(json!({"a": 1}), json!({"a": 1})), None);
        let then = json!({"size": 4096, "runs": [{"threads": 1}, {"threads": 8}]});
        let now = json!({"size": 4096, "runs": [{"threads": 1}, {"threads": 4}]});
        let found = ("runs.1.threads".to_owned(), "8".to_owned(), "4".to_owned());
        assert_eq!(apart(then, now), Some(found));
        let found = ("b".to_owned(), "null".to_owned(), "true".to_owned());
        assert_eq!(
            apart(json!({"a": 1}), json!({"a": 1, "b": true})),
            Some(found)
        );
        let found = ("a".to_owned(), "[1]".to_owned(), "[1,2]".to_owned());
        assert_eq!(apart(json!({"a": [1]}), json!({"a": [1, 2]})), Some(found));
    }
}
