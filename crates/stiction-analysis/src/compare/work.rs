//! Whether two sides did the same work.

use std::collections::{BTreeMap, BTreeSet};

use stiction_core::{Access, Action, Job, Provenance, Session, format_bytes};

use super::environment::{Difference, configurations};
use super::side::Side;

/// Sizes of regions within this share of each other are the same work.
const SIZE_TOLERANCE: f64 = 0.05;

/// Why the benchmarks of two sides are not the same; empty when they are.
///
/// Layouts of one program, such as a contest log and a contest table, are one
/// benchmark; so is a tiobench table and our own tiobench. Versions of one program are
/// not, unless `allow` has the key `tool`.
pub(super) fn benchmark_differences(a: &Side<'_>, b: &Side<'_>, allow: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (session_a, session_b) in across(a, b) {
        let reasons = [
            program_difference(session_a, session_b),
            version_difference(session_a, session_b).filter(|_| {
                !allow
                    .iter()
                    .any(|key| key == "tool" || key == "tool.version")
            }),
        ];
        for reason in reasons.into_iter().flatten() {
            if !found.contains(&reason) {
                found.push(reason);
            }
        }
    }
    found
}

/// Every session of A with every one of B, but none with itself.
fn across<'s>(
    a: &'s Side<'_>,
    b: &'s Side<'_>,
) -> impl Iterator<Item = (&'s Session, &'s Session)> {
    let pairs = a.sessions().iter().flat_map(move |&a| {
        let others = b.sessions().iter();
        others.map(move |&b| (a, b))
    });
    pairs.filter(|(a, b)| a.header.id != b.header.id)
}

fn program_difference(a: &Session, b: &Session) -> Option<String> {
    let (families_a, families_b) = (families(a), families(b));
    families_a.is_disjoint(&families_b).then(|| {
        let list = |families: BTreeSet<String>| {
            let names: Vec<String> = families.into_iter().collect();
            names.join(" and ")
        };
        let (a, b) = (list(families_a), list(families_b));
        format!("A is of {a} and B of {b}")
    })
}

fn version_difference(a: &Session, b: &Session) -> Option<String> {
    let (a, b) = (&a.header.environment.tool, &b.header.environment.tool);
    let differ = a.name == b.name
        && a.version != b.version
        && !a.version.is_empty()
        && !b.version.is_empty();
    differ.then(|| {
        let name = &a.name;
        format!("A is of {name} {} and B of {name} {}", a.version, b.version)
    })
}

fn families(session: &Session) -> BTreeSet<String> {
    match &session.header.provenance {
        Provenance::Measured => {
            let plan = session.header.plan.as_ref();
            let workload = plan.map_or("unknown", |plan| plan.workload.as_str());
            BTreeSet::from([workload.to_owned()])
        }
        Provenance::Imported { layout, .. } => layout
            .split([',', ' '])
            .filter(|layout| !layout.is_empty())
            .map(|layout| layout.split('-').next().unwrap_or(layout).to_owned())
            .collect(),
    }
}

/// What two jobs do differently.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct JobDifferences {
    /// How each operation is done, a phrase each.
    pub(super) manner: Vec<String>,
    /// How much is done in all.
    pub(super) amount: Option<String>,
}

impl JobDifferences {
    /// All of it.
    pub(super) fn all(&self) -> impl Iterator<Item = &String> {
        self.manner.iter().chain(&self.amount)
    }
}

/// What two jobs do differently; nothing when the work is the same. How long it went
/// on, its seed and how it was recorded are no part of the work.
pub(super) fn job_differences(a: &Job, b: &Job) -> JobDifferences {
    JobDifferences {
        manner: manner_differences(a, b),
        amount: size_difference(a, b),
    }
}

fn manner_differences(a: &Job, b: &Job) -> Vec<String> {
    let mut found = Vec::new();
    let mut differ = |what: &str, a: String, b: String| {
        if a != b {
            found.push(format!("{what} {a} in A and {b} in B"));
        }
    };
    let order = |job: &Job| {
        let access = match job.access {
            Access::Sequential => "sequential",
            Access::RandomPermutation => "random (each block once)",
            Access::RandomIndependent => "random (blocks may repeat)",
        };
        let action = match job.action {
            Action::Read => "reads".to_owned(),
            Action::Write => "writes".to_owned(),
            Action::Trim => "trims".to_owned(),
            Action::TrimWrite => "trims and writes".to_owned(),
            Action::Mixed { reads_percent } => {
                format!("reads ({reads_percent} %) and writes")
            }
        };
        format!("{access} {action}")
    };
    differ("it does", order(a), order(b));
    let size = |job: &Job| format_bytes(job.block_size_bytes);
    differ("blocks are", size(a), size(b));
    differ("depth is", a.depth.to_string(), b.depth.to_string());
    let workers = |job: &Job| job.workers().to_string();
    differ("workers are", workers(a), workers(b));
    let files = |job: &Job| job.regions_per_worker.to_string();
    differ("files of each worker are", files(a), files(b));
    let direct = |job: &Job| if job.direct { "on" } else { "off" }.to_owned();
    differ("O_DIRECT is", direct(a), direct(b));
    let backend = |job: &Job| job.backend.as_str().to_owned();
    differ("the backend is", backend(a), backend(b));
    let sync = |job: &Job| {
        let every = job.sync_every.map(|every| (every.writes, every.kind));
        format!("{:?}, {every:?}, {:?}", job.write_sync, job.sync_at_end)
    };
    let sync_differs = sync(a) != sync(b);
    // The stamp in a block changes nothing for the layers that move it.
    let data = |job: &Job| job.reducible_data().unwrap_or_else(|| "unique".to_owned());
    differ("data are", data(a), data(b));
    if sync_differs {
        found.push("writes are made durable in different ways".to_owned());
    }
    if a.placement != b.placement {
        found.push("workers run in different places or before different others".to_owned());
    }
    found
}

fn size_difference(a: &Job, b: &Job) -> Option<String> {
    let total = |job: &Job| {
        let lengths = job.regions.iter().map(|region| region.length_bytes);
        lengths.fold(0, u64::saturating_add)
    };
    let (a, b) = (total(a), total(b));
    let apart = a.abs_diff(b) as f64 > a.max(b) as f64 * SIZE_TOLERANCE;
    apart.then(|| {
        let (a, b) = (format_bytes(a), format_bytes(b));
        format!("it works on {a} in A and on {b} in B")
    })
}

/// Parameters of the plans that differ, by the path of their key; `named` where sides
/// are configurations, since these are what a configuration states. The seed is no part
/// of the work, and neither is what was said of a job file.
pub(super) fn parameter_differences(
    a: &Side<'_>,
    b: &Side<'_>,
    allow: &[String],
) -> Vec<Difference> {
    let (Some(of_a), Some(of_b)) = (parameters(a), parameters(b)) else {
        return Vec::new();
    };
    let named = [a, b]
        .iter()
        .all(|side| side.factor() == Some("configuration"));
    let keys: BTreeSet<&String> = of_a.keys().chain(of_b.keys()).collect();
    let text = |value: Option<&String>| value.map_or("not set", String::as_str).to_owned();
    let is_work = |key: &str| key != "seed" && key.rsplit('.').next() != Some("doubts");
    let all: Vec<Difference> = keys
        .into_iter()
        .filter(|key| is_work(key) && of_a.get(*key) != of_b.get(*key))
        .map(|key| Difference {
            key: key.clone(),
            a: text(of_a.get(key)),
            b: text(of_b.get(key)),
            named,
            allowed: allow.contains(key),
        })
        .collect();
    without_what_follows(all)
}

/// Differences without those that follow from an option of the workload that is a factor:
/// where commands differ in nothing but such options, so do their parameters.
fn without_what_follows(mut all: Vec<Difference>) -> Vec<Difference> {
    let option = |difference: &Difference| {
        let name = difference.key.strip_prefix("settings.workload.")?;
        Some(format!("--{name}"))
    };
    let options: Vec<String> = all.iter().filter_map(option).collect();
    let others = |command: &str| -> Vec<String> {
        let is_option = |word: &str| {
            let name = word.split_once('=').map_or(word, |(name, _)| name);
            options.iter().any(|option| option == name)
        };
        let words = command.split(' ').filter(|word| !is_option(word));
        words.map(str::to_owned).collect()
    };
    let is_command = |key: &str| key == "command" || key.ends_with(".command");
    let mut commands = all.iter().filter(|one| is_command(&one.key)).peekable();
    if commands.peek().is_some() && commands.all(|one| others(&one.a) == others(&one.b)) {
        all.retain(|one| {
            let is_parameter = one.key.split('.').any(|part| part == "parameters");
            !(is_command(&one.key) || is_parameter)
        });
    }
    all
}

/// A workload's parameters by the path of their key; those that are null are left out.
pub(crate) fn flat_parameters(parameters: &serde_json::Value) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    flatten("", parameters, &mut flat);
    flat
}

/// The parameters of a side, by the path of their key; those of its configuration, where
/// one chose it. What varies over its sessions has all of its values. `None` where a
/// session has no plan.
fn parameters(side: &Side<'_>) -> Option<BTreeMap<String, String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for session in side.sessions() {
        let plan = session.header.plan.as_ref()?;
        let chosen = side
            .chosen
            .as_ref()
            .filter(|(factor, _)| factor == "configuration");
        let name = chosen.map(|(_, level)| level.to_string());
        let own = name.map(|name| of_configuration(&plan.parameters, &name));
        let own = own.filter(|own| !own.is_empty());
        let of_configuration = own.is_some();
        let mut flat = own.unwrap_or_else(|| flat_parameters(&plan.parameters));
        if of_configuration {
            // The name tells the sides apart, and is no parameter.
            flat.remove("name");
        } else if plan.parameters.get("configurations").is_some() {
            flat.retain(|key, _| !is_of_blocks(key));
        }
        for (key, value) in flat {
            all.entry(key).or_default().insert(value);
        }
    }
    let joined = |values: BTreeSet<String>| values.into_iter().collect::<Vec<_>>().join(" or ");
    Some(
        all.into_iter()
            .map(|(key, values)| (key, joined(values)))
            .collect(),
    )
}

/// What is said of a configuration; of each workload and target, where there are several,
/// below their names. What was set on the machine is the configuration's own, and stands
/// there once: one setting of two workloads is one thing that differs.
fn of_configuration(parameters: &serde_json::Value, name: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for one in configurations(parameters, name) {
        let levels = one.get("at").and_then(|at| at.as_object());
        let levels: Vec<&str> = levels
            .into_iter()
            .flat_map(|at| at.values().filter_map(|level| level.as_str()))
            .collect();
        let own = flat_parameters(one).into_iter();
        let own = own.filter(|(key, _)| !key.starts_with("at."));
        all.extend(own.filter_map(|(key, value)| {
            if levels.is_empty() || key.starts_with("settings.") || key.starts_with("scratch_") {
                return Some((key, value));
            }
            (key != "name").then(|| (format!("{}.{key}", levels.join(".")), value))
        }));
    }
    all
}

/// Whether a parameter of a session in blocks says how many there were, in which order,
/// or when they ended: how often the work was done is no part of it.
fn is_of_blocks(key: &str) -> bool {
    matches!(key, "blocks" | "order" | "calibration") || key.starts_with("stop.") || key == "stop"
}

/// Parameters that say nothing about the work: what was permitted, and what follows from
/// the machine and is among the facts of the environment.
const NOT_WORK: &[&str] = &[
    "may_fill",
    "same_filesystem",
    "memory_cut",
    "dirty_limit_bytes",
];

/// Why work that no job describes is not the same on both sides, a phrase each. Lists
/// are the levels of a matrix, and sizes may differ by as much as those of jobs.
pub(super) fn other_work(parameters: &[Difference]) -> Vec<String> {
    let differs = |difference: &&Difference| {
        let Difference {
            key,
            a,
            b,
            named,
            allowed,
        } = difference;
        let levels = a.starts_with('[') || b.starts_with('[');
        let close = match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => key.ends_with("_bytes") && (a - b).abs() <= a.max(b) * SIZE_TOLERANCE,
            _ => false,
        };
        !(named | allowed | levels | close | NOT_WORK.contains(&key.as_str()))
    };
    parameters
        .iter()
        .filter(differs)
        .map(|Difference { key, a, b, .. }| format!("its {key} is {a} in A and {b} in B"))
        .collect()
}

fn flatten(path: &str, value: &serde_json::Value, flat: &mut BTreeMap<String, String>) {
    let below = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match value {
        serde_json::Value::Object(fields) => {
            for (key, value) in fields {
                flatten(&below(key), value, flat);
            }
        }
        serde_json::Value::Null => {}
        serde_json::Value::String(text) => {
            flat.insert(path.to_owned(), text.clone());
        }
        other => {
            flat.insert(path.to_owned(), other.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(differs: &[(&str, &str, &str)]) -> Vec<String> {
        let difference = |&(key, a, b): &(&str, &str, &str)| Difference {
            key: key.to_owned(),
            a: a.to_owned(),
            b: b.to_owned(),
            named: true,
            allowed: false,
        };
        let all = without_what_follows(differs.iter().map(difference).collect());
        all.into_iter().map(|one| one.key).collect()
    }

    #[test]
    fn what_follows_from_an_option_that_is_a_factor_is_not_said_again() {
        let factor = ("settings.workload.bs", "8k", "16k");
        let log = (
            "log.command",
            "stiction fio --rw=write --bs=8k",
            "stiction fio --rw=write --bs=16k",
        );
        let parts = ("log.parameters.parts", "[8]", "[16]");
        assert_eq!(left(&[log, parts, factor]), [factor.0]);
        // A switch is there or not.
        let switch = ("settings.workload.nofrag", "false", "true");
        let command = ("command", "stiction tiobench", "stiction tiobench --nofrag");
        assert_eq!(left(&[command, switch]), [switch.0]);
        // Something else differs, too.
        let pages = ("pages.command", "stiction fio --rw=read", "stiction fio");
        assert_eq!(left(&[log, parts, pages, factor]).len(), 4);
        assert_eq!(left(&[log, parts]).len(), 2);
    }
}
