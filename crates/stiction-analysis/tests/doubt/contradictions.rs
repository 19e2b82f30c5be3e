//! Witnesses that contradict each other.

use super::{examined, subject};
use crate::scene::{Scene, disk, on, steady};
use stiction_core::Action::{Read, Write};
use stiction_core::Subject;

fn contradicts(scene: &Scene) {
    let finding = examined(scene);
    assert_eq!(finding.subject, Subject::Unknown, "{:?}", finding.reasons);
    assert!(finding.reasons.len() >= 2 || finding.reasons[0].contains("contradict"));
}

#[test]
fn cached_all_the_while_and_yet_read() {
    contradicts(&steady(Read, 10).moved(1.0).cached(1.0, 1.0));
    // Pages that were thrown out in between explain it.
    let dropped = steady(Read, 10).moved(1.0).cached(1.0, 0.2);
    assert_eq!(subject(&dropped), Subject::Disk);
}

#[test]
fn cold_and_not_read() {
    contradicts(&steady(Read, 10).moved(0.1).cached(0.0, 1.0));
    contradicts(&steady(Read, 10).moved(0.0).direct(true));
}

#[test]
fn synced_and_not_written() {
    contradicts(&steady(Write, 10).moved(0.1).synced());
    contradicts(&steady(Write, 10).moved(0.0).direct(true));
}

#[test]
fn overwriting_one_place_between_syncs_is_no_contradiction() {
    let scene = steady(Write, 10).moved(0.1).synced().with(|scene| {
        let tenth = scene.bytes() / 10;
        scene.job_mut().regions[0].length_bytes = tenth;
    });
    assert_eq!(subject(&scene), Subject::Cache);
}

#[test]
fn faster_than_its_link() {
    let mut slow = disk("sda");
    slow.link = Some("USB 480 Mbps".to_owned());
    slow.link_bytes_per_s = Some(60_000_000);
    contradicts(
        &steady(Read, 10)
            .moved(1.0)
            .cached(0.0, 1.0)
            .target(on("ext4", vec![slow])),
    );
}
