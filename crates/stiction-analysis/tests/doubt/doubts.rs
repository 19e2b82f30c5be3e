//! Doubts beside the subject.

use super::{codes, detail, examined, subject};
use crate::scene::{MIB, disk, on, recorded, steady};
use stiction_core::Action::{Read, Write};
use stiction_core::{CaveatCode, Data, PhaseOutcome, SkipCode, SkipReason, Subject};

#[test]
fn holes_are_told_with_their_share() {
    let scene = steady(Read, 10).moved(0.5).cached(0.0, 1.0).with(|scene| {
        scene.phase.witnesses.unwritten_bytes = Some(500 * MIB);
    });
    assert_eq!(subject(&scene), Subject::Cache);
    assert!(detail(&scene, CaveatCode::HolesRead).starts_with("500 MiB (50 %)"));
}

#[test]
fn traffic_that_the_job_does_not_explain() {
    let more = steady(Read, 10).moved(1.5).cached(0.0, 1.0);
    assert_eq!(subject(&more), Subject::Disk);
    assert!(detail(&more, CaveatCode::DeviceMovedMore).contains("1.46 GiB of 1000 MiB asked"));
    let meanwhile = steady(Read, 10).moved(1.0).cached(0.0, 1.0).with(|scene| {
        scene.phase.witnesses.devices[0].written_bytes = 200 * MIB;
    });
    let told = detail(&meanwhile, CaveatCode::OtherIo);
    assert!(told.starts_with("vda wrote 200 MiB meanwhile"));
    assert!(told.ends_with("in a direction that the job does not use"));
}

#[test]
fn a_journal_beside_small_commits_is_explained() {
    // 1000 commits of 4 KiB, each with 40 KiB of journal.
    let scene = recorded(Write, 4096, vec![vec![1_000_000; 10]; 100])
        .synced()
        .with(|scene| {
            let mut syncs = scene.phase.recordings[0].clone();
            syncs.direction = stiction_core::Direction::Sync;
            scene.phase.recordings.push(syncs);
        });
    let scene = scene.moved(11.0);
    assert_eq!(subject(&scene), Subject::Disk);
    assert_eq!(codes(&scene), []);
}

#[test]
fn direct_refused_and_direct_not_effective() {
    let refused = steady(Read, 10).moved(1.0).cached(0.0, 1.0).direct(false);
    assert!(codes(&refused).contains(&CaveatCode::DirectRefused));
    let grown = steady(Read, 10).moved(1.0).cached(0.0, 0.5).direct(true);
    assert_eq!(subject(&grown), Subject::Disk);
    assert!(detail(&grown, CaveatCode::DirectNotEffective).contains("500 MiB"));
    let served = steady(Read, 10).moved(0.0).cached(1.0, 1.0).direct(true);
    assert_eq!(subject(&served), Subject::Cache);
    assert!(codes(&served).contains(&CaveatCode::DirectNotEffective));
}

#[test]
fn zeros_on_a_compressing_filesystem_leave_it_open() {
    let scene = steady(Write, 10).moved(0.03).synced().with(|scene| {
        scene.job_mut().data = Data::Zeros;
        let mut stack = on("btrfs", vec![disk("vda")]);
        let options = &mut stack.filesystem.as_mut().unwrap().mount_options;
        *options = vec!["rw".to_owned(), "compress=zstd:3".to_owned()];
        scene.environment.targets = vec![stack];
    });
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Unknown);
    assert!(
        finding.reasons[1].contains("compress=zstd:3"),
        "{:?}",
        finding.reasons
    );
    assert!(codes(&scene).contains(&CaveatCode::Compressible));
}

#[test]
fn small_samples_and_moving_rates() {
    let short = recorded(Read, MIB, vec![vec![10_000_000; 9]; 9])
        .moved(1.0)
        .cached(0.0, 1.0);
    let found = codes(&short);
    assert!(found.contains(&CaveatCode::TooShort) && found.contains(&CaveatCode::TooFewSamples));

    let mut tenths = vec![vec![1_000_000; 100]; 50];
    tenths.extend(vec![vec![4_000_000; 25]; 50]);
    let burst = recorded(Write, MIB, tenths).moved(1.0).direct(true);
    let said = detail(&burst, CaveatCode::NotSteady);
    assert_eq!(
        said,
        "1000 MiB/s in the first third and 250 MiB/s in the last (-75 %)"
    );
}

#[test]
fn an_operation_that_hangs_is_told_with_its_time() {
    let mut tenths = vec![vec![1_000_000; 100]; 10];
    // Nothing ends while the one hangs, from 1.0 s on.
    tenths.extend(vec![vec![]; 20]);
    tenths.push(vec![2_100_000_000]);
    tenths.extend(vec![vec![1_000_000; 100]; 10]);
    let hung = recorded(Read, MIB, tenths.clone()).moved(1.0).direct(true);
    let said = detail(&hung, CaveatCode::LongStall);
    assert!(said.starts_with("a read took 2.10 s"), "{said}");
    assert!(
        said.ends_with("it ended 3.0 to 3.1 s after the phase had begun"),
        "{said}"
    );

    tenths[30] = vec![1_900_000_000];
    let below = recorded(Read, MIB, tenths).moved(1.0).direct(true);
    assert!(
        !codes(&below).contains(&CaveatCode::LongStall),
        "not over 2 s"
    );
    let slow = recorded(Read, MIB, vec![vec![3_000_000_000]; 100])
        .moved(1.0)
        .direct(true);
    assert!(
        !codes(&slow).contains(&CaveatCode::LongStall),
        "all of them take so long"
    );
}

#[test]
fn a_percentile_of_too_few_operations() {
    let scene = steady(Read, 5).moved(1.0).cached(0.0, 1.0).with(|scene| {
        let p99 = stiction_core::Measurement::new(stiction_core::metrics::LATENCY_P99, 1e7, 500);
        scene.phase.measurements.push(p99);
    });
    let said = detail(&scene, CaveatCode::TooFewSamples);
    assert_eq!(
        said,
        "latency_ns_p99 rests on 500 operations and needs 1.00 k"
    );
}

#[test]
fn what_was_stored_comes_first_and_is_not_said_twice() {
    let scene = steady(Read, 10)
        .moved(1.0)
        .cached(0.0, 1.0)
        .direct(false)
        .with(|scene| {
            let stored = stiction_core::Caveat::new(CaveatCode::DirectRefused, "EINVAL from open");
            scene.phase.caveats.push(stored);
        });
    assert_eq!(
        detail(&scene, CaveatCode::DirectRefused),
        "EINVAL from open"
    );
    let refusals = codes(&scene)
        .iter()
        .filter(|&&c| c == CaveatCode::DirectRefused)
        .count();
    assert_eq!(refusals, 1);
}

#[test]
fn phases_without_numbers_say_why() {
    let skipped = steady(Read, 1).with(|scene| {
        let reason = SkipReason::new(SkipCode::NoSpace, "1 GiB free of 2 GiB");
        scene.phase.outcome = PhaseOutcome::Skipped(reason);
    });
    let finding = examined(&skipped);
    assert_eq!(finding.subject, Subject::Unknown);
    assert_eq!(
        finding.reasons,
        ["the phase did not run: 1 GiB free of 2 GiB"]
    );
    let printed = steady(Read, 1).with(|scene| {
        scene.phase.job = None;
        scene.phase.recordings.clear();
    });
    assert_eq!(subject(&printed), Subject::Unknown);
}
