//! Who answered: the disk, the cache, or nobody who can be named.

use super::{codes, detail, examined, subject};
use crate::scene::{DEVICE, MIB, disk, layer, on, steady};
use stiction_core::Action::{Read, Write};
use stiction_core::{BackendKind, CaveatCode, LayerKind, Residency, Subject};

#[test]
fn a_device_that_moved_what_was_asked_is_the_disk() {
    let scene = steady(Read, 10).moved(1.0).cached(0.0, 1.0);
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Disk);
    assert_eq!(
        finding.reasons,
        ["vda read 1000 MiB of 1000 MiB asked (100 %)"]
    );
    assert_eq!(finding.caveats, []);
}

#[test]
fn a_virtual_machine_says_what_cannot_be_seen() {
    let scene = steady(Read, 10).moved(1.0).cached(0.0, 1.0).with(|scene| {
        scene.environment.virtualisation.hypervisor = Some("kvm".to_owned());
    });
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Disk);
    assert!(finding.reasons[1].contains("kvm"), "{:?}", finding.reasons);
}

#[test]
fn a_cached_read_is_the_cache_with_both_figures() {
    let scene = steady(Read, 10).moved(0.0).cached(1.0, 1.0);
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Cache);
    assert_eq!(
        finding.reasons,
        [
            "vda read 0 B of 1000 MiB asked (0 %)",
            "100 % of the file was in memory before"
        ]
    );
    assert_eq!(codes(&scene), [CaveatCode::ServedFromCache]);
}

#[test]
fn half_from_memory_is_the_cache() {
    let scene = steady(Read, 10).moved(0.5).cached(0.5, 1.0);
    assert_eq!(subject(&scene), Subject::Cache);
    let just_enough = steady(Read, 10).moved(0.91).cached(0.05, 1.0);
    assert_eq!(subject(&just_enough), Subject::Disk);
}

#[test]
fn a_second_pass_over_a_cold_file_is_the_cache() {
    let scene = steady(Read, 10).moved(0.1).with(|scene| {
        let tenth = scene.bytes() / 10;
        scene.job_mut().regions[0].length_bytes = tenth;
        let residency = Residency {
            cached_bytes: 0,
            dirty_bytes: 0,
            file_bytes: tenth,
        };
        scene.phase.witnesses.residency_before = Some(residency);
    });
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Cache);
    assert!(
        finding.reasons[1].contains("10.0 times over"),
        "{:?}",
        finding.reasons
    );
}

#[test]
fn without_counters_a_cached_file_still_tells() {
    let scene = steady(Read, 10).cached(1.0, 1.0);
    assert_eq!(subject(&scene), Subject::Cache);
    assert!(codes(&scene).contains(&CaveatCode::WitnessMissing));
}

#[test]
fn without_any_witness_nothing_is_known() {
    let scene = steady(Read, 10);
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Unknown);
    assert_eq!(finding.reasons, ["no counter of the device could be read"]);
    assert_eq!(codes(&scene), [CaveatCode::WitnessMissing]);
}

#[test]
fn a_device_that_does_not_count_is_no_witness() {
    let scene = steady(Read, 10).moved(0.0).with(|scene| {
        let queue = &mut scene.environment.targets[0].layers[0].queue;
        queue.insert("iostats".to_owned(), "0".to_owned());
    });
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Unknown);
    assert!(
        finding.reasons[0].contains("iostats is 0"),
        "{:?}",
        finding.reasons
    );
}

#[test]
fn filesystems_and_devices_in_memory_are_cache() {
    let tmpfs = steady(Write, 10).target(on("tmpfs", vec![])).with(|scene| {
        let missing = &mut scene.phase.witnesses.missing;
        missing.push("device traffic: the target stands on no block device".to_owned());
    });
    let finding = examined(&tmpfs);
    assert_eq!(finding.subject, Subject::Cache);
    assert_eq!(finding.reasons, ["tmpfs keeps its files in memory"]);
    assert_eq!(
        finding.caveats,
        [],
        "nothing is missing: there is no device"
    );

    let zram = layer("zram0", LayerKind::Zram, DEVICE);
    let zram = steady(Read, 10).moved(1.0).target(on("ext4", vec![zram]));
    assert_eq!(subject(&zram), Subject::Cache);

    let mut over = layer("loop0", LayerKind::Loop, (7, 0));
    over.backing = Some(Box::new(on("tmpfs", vec![])));
    over.loop_direct_io = Some(true);
    let over = steady(Read, 10).moved(1.0).target(on("ext4", vec![over]));
    assert_eq!(subject(&over), Subject::Cache);
}

#[test]
fn a_buffered_loop_device_hides_the_disk_from_reads_and_not_from_syncs() {
    let mut buffered = layer("loop0", LayerKind::Loop, (7, 0));
    buffered.loop_direct_io = Some(false);
    buffered.backing = Some(Box::new(on("ext4", vec![disk("vda")])));
    let stack = on("ext4", vec![buffered]);
    let read = steady(Read, 10)
        .moved(1.0)
        .cached(0.0, 1.0)
        .target(stack.clone());
    assert_eq!(subject(&read), Subject::Unknown);
    let write = steady(Write, 10).moved(1.0).synced().target(stack);
    assert_eq!(
        subject(&write),
        Subject::Disk,
        "each block once, then synced"
    );
    // Overwrites before the one sync meet in the cache below: the disk saw the last.
    let mut over_and_over = write;
    over_and_over.job_mut().once = false;
    assert_eq!(subject(&over_and_over), Subject::Unknown);
}

#[test]
fn a_write_that_nothing_waited_for_is_the_cache() {
    let scene = steady(Write, 10).moved(0.2).with(|scene| {
        scene.phase.witnesses.residency_after = Some(Residency {
            cached_bytes: 1000 * MIB,
            dirty_bytes: 800 * MIB,
            file_bytes: 1000 * MIB,
        });
    });
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Cache);
    assert!(
        finding
            .reasons
            .contains(&"nothing in the phase waited for the device".to_owned())
    );
    let said = detail(&scene, CaveatCode::NotFlushed);
    assert_eq!(
        said,
        "800 MiB of 1000 MiB was still in memory when the phase ended"
    );
}

#[test]
fn a_synced_write_is_the_disk() {
    let scene = steady(Write, 10).moved(1.02).synced();
    assert_eq!(subject(&scene), Subject::Disk);
    assert_eq!(codes(&scene), []);
}

#[test]
fn the_null_backend_measures_the_engine() {
    let scene = steady(Read, 10).with(|scene| scene.job_mut().backend = BackendKind::Null);
    assert_eq!(subject(&scene), Subject::Cpu);
}
