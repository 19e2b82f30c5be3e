//! Heat that slowed a CPU or a disk down.

use stiction_core::{Caveat, CaveatCode, Heat, Temperature, format_duration_ns};

use super::case::Case;

/// A CPU counted that it was slowed down, or a disk is as warm as its maker lets it be.
pub(super) fn throttled(case: &Case<'_>) -> Option<Caveat> {
    let heat = case.witnesses.heat.as_ref()?;
    let disks = heat
        .temperatures
        .iter()
        .filter_map(|one| too_warm(case, one));
    let said: Vec<String> = cpu(heat).into_iter().chain(disks).collect();
    (!said.is_empty()).then(|| Caveat::new(CaveatCode::Throttled, said.join("; ")))
}

fn cpu(heat: &Heat) -> Option<String> {
    let cores = heat.core_throttles.unwrap_or(0);
    let packages = heat.package_throttles.unwrap_or(0);
    let what = match (cores, packages) {
        (0, 0) => return None,
        (0, times) => format!("heat slowed the CPU package down {times} times"),
        (times, 0) => format!("heat slowed CPU cores down {times} times"),
        (cores, packages) => {
            format!("heat slowed CPU cores down {cores} times and the package {packages} times")
        }
    };
    let ns = heat.throttled_ns.filter(|&ns| ns > 0);
    Some(match ns {
        Some(ns) => format!("{what}, for {} in all", format_duration_ns(ns as f64)),
        None => what,
    })
}

/// Only disks under the target: a board's limit is when it switches off, and a CPU counts
/// by itself. A disk at its limit slows down by design and has no counter that tells.
fn too_warm(case: &Case<'_>, seen: &Temperature) -> Option<String> {
    let limit = seen.limit_millicelsius?;
    let own = seen
        .devices
        .iter()
        .any(|device| case.layers().iter().any(|layer| layer.name == *device));
    (own && seen.after_millicelsius >= limit).then(|| {
        let celsius = |milli: i64| milli as f64 / 1000.0;
        format!(
            "{} was at {:.1} degrees Celsius, and {:.1} is its limit",
            seen.sensor,
            celsius(seen.after_millicelsius),
            celsius(limit)
        )
    })
}
