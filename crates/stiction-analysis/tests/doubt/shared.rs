//! Several jobs between the same readings: the devices' counters are of all of them.

use stiction_core::Action::Read;
use stiction_core::{MovedBeside, Subject};

use crate::scene::{GIB, MIB, Scene, steady};
use crate::{examined, subject};

/// A read of 1000 MiB beside one of `beside_bytes`, when the disk moved `moved_bytes`.
fn beside(beside_bytes: u64, moved_bytes: u64) -> Scene {
    let scene = steady(Read, 10);
    let share = moved_bytes as f64 / scene.bytes() as f64;
    let mut scene = scene.moved(share);
    scene.phase.witnesses.beside = Some(MovedBeside {
        jobs: 1,
        reads: beside_bytes / MIB,
        read_bytes: beside_bytes,
        ..MovedBeside::default()
    });
    scene
}

#[test]
fn a_disk_that_moved_all_of_it_answered_each() {
    assert_eq!(subject(&beside(3000 * MIB, 4000 * MIB)), Subject::Disk);
}

#[test]
fn nobody_is_named_when_either_may_have_been_answered_by_memory() {
    let found = examined(&beside(1000 * MIB, 1000 * MIB));
    assert_eq!(found.subject, Subject::Unknown);
    let said = found.reasons.join("; ");
    assert!(said.contains("asked by 2 jobs together"), "{said}");
}

/// 90 % of what was asked together, and yet all of this job's may be missing.
#[test]
fn a_small_job_beside_a_large_one_is_not_vouched_for() {
    assert_eq!(subject(&beside(9 * GIB, 9 * GIB)), Subject::Unknown);
}

#[test]
fn memory_answered_when_the_disk_moved_less_than_this_job_alone() {
    assert_eq!(subject(&beside(1000 * MIB, MIB)), Subject::Cache);
}
