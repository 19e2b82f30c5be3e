//! Whether two sides did the same work.

use std::collections::{BTreeMap, BTreeSet};

use super::environment::Difference;
use stiction_core::{Access, Action, Job, Plan, Provenance, Session, format_bytes};

/// Sizes of regions within this share of each other are the same work.
const SIZE_TOLERANCE: f64 = 0.05;

/// Why the benchmarks of two sessions are not the same; `None` when they are.
///
/// Layouts of one program, such as a contest log and a contest table, are one
/// benchmark; so is a tiobench table and our own tiobench.
pub(super) fn benchmark_difference(a: &Session, b: &Session) -> Option<String> {
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

/// What two jobs do differently, a phrase each; empty when the work is the same.
/// How long it went on, its seed and how it was recorded are no part of the work.
pub(super) fn job_differences(a: &Job, b: &Job) -> Vec<String> {
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
    found.extend(size_difference(a, b));
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

/// Parameters of the plans that differ, by the path of their key. The seed is no part
/// of the work.
pub(super) fn parameter_differences(a: &Session, b: &Session) -> Vec<Difference> {
    let (Some(a), Some(b)) = (&a.header.plan, &b.header.plan) else {
        return Vec::new();
    };
    let parameters = |plan: &Plan| {
        let mut flat = BTreeMap::new();
        flatten("", &plan.parameters, &mut flat);
        flat
    };
    let (a, b) = (parameters(a), parameters(b));
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let text = |value: Option<&String>| value.map_or("not set", String::as_str).to_owned();
    keys.into_iter()
        .filter(|key| *key != "seed" && a.get(*key) != b.get(*key))
        .map(|key| Difference {
            key: key.clone(),
            a: text(a.get(key)),
            b: text(b.get(key)),
            named: false,
            allowed: false,
        })
        .collect()
}

/// A workload's parameters by the path of their key; those that are null are left out.
pub(crate) fn flat_parameters(parameters: &serde_json::Value) -> BTreeMap<String, String> {
    let mut flat = BTreeMap::new();
    flatten("", parameters, &mut flat);
    flat
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
