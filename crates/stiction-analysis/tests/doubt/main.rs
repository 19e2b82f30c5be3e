//! The examination, rule by rule: each test provokes one.

mod any_record;
mod contradictions;
mod cpu;
mod disk_and_cache;
mod doubts;
mod limiters;
mod scene;
mod sessions;
mod shared;

use scene::{Scene, on, steady};
use stiction_analysis::doubt::{Finding, examine};
use stiction_core::Action::Read;
use stiction_core::{CaveatCode, Subject};

fn examined(scene: &Scene) -> Finding {
    examine(&scene.phase, &scene.environment)
}

fn subject(scene: &Scene) -> Subject {
    examined(scene).subject
}

fn codes(scene: &Scene) -> Vec<CaveatCode> {
    examined(scene)
        .caveats
        .iter()
        .map(|caveat| caveat.code)
        .collect()
}

fn detail(scene: &Scene, code: CaveatCode) -> String {
    let found = examined(scene).caveats;
    let caveat = found.iter().find(|caveat| caveat.code == code);
    caveat
        .unwrap_or_else(|| panic!("no {code} in {found:?}"))
        .detail
        .clone()
}

/// With several targets, the devices that were watched say which one it was.
#[test]
fn the_watched_device_chooses_the_target() {
    let mut scene = steady(Read, 10).moved(1.0).cached(0.0, 1.0);
    scene.environment.targets.insert(0, on("tmpfs", vec![]));
    assert_eq!(subject(&scene), Subject::Disk);
    scene.phase.witnesses.devices.clear();
    assert_eq!(
        subject(&scene),
        Subject::Unknown,
        "tmpfs or ext4 cannot be told"
    );
    scene.environment.targets[0].path = "/run/x".to_owned();
    let cell = stiction_core::Cell::new().with("directory", "/run/x");
    let finding =
        stiction_analysis::doubt::examine_in_cell(&scene.phase, &cell, &scene.environment);
    assert_eq!(finding.subject, Subject::Cache);
}
