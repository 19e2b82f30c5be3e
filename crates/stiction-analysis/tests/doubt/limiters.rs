//! Ceilings that were set, told or seen.

use super::{codes, detail, examined, subject};
use crate::scene::{MIB, disk, limit, on, recorded, steady};
use stiction_core::Action::Read;
use stiction_core::{CaveatCode, IoLimit, Subject, Unit};

fn at(bytes_per_s: u64) -> IoLimit {
    IoLimit {
        read_bytes_per_s: Some(bytes_per_s),
        ..limit("blkio.throttle of /sys/fs/cgroup/blkio/x")
    }
}

#[test]
fn a_rate_within_a_twentieth_of_the_limit_is_the_limiters() {
    // The scene moves 100 MiB/s.
    for (limit_mib, is_limiter) in [
        (94, false),
        (96, true),
        (100, true),
        (105, true),
        (106, false),
    ] {
        let scene = steady(Read, 10)
            .moved(1.0)
            .cached(0.0, 1.0)
            .limit(at(limit_mib * MIB));
        let is = subject(&scene) == Subject::Limiter;
        assert_eq!(is, is_limiter, "{limit_mib} MiB/s");
    }
}

#[test]
fn the_ceiling_and_who_set_it_are_told() {
    let scene = steady(Read, 10)
        .moved(1.0)
        .cached(0.0, 1.0)
        .limit(at(102 * MIB));
    let finding = examined(&scene);
    let ceiling = finding.ceiling.unwrap();
    assert_eq!(
        (ceiling.value, ceiling.unit),
        ((102 * MIB) as f64, Unit::BytesPerSecond)
    );
    assert_eq!(
        finding.reasons,
        ["100 MiB/s, and the limit is 102 MiB/s (blkio.throttle of /sys/fs/cgroup/blkio/x)"]
    );
    assert!(codes(&scene).contains(&CaveatCode::Limiter));
}

#[test]
fn a_limit_on_operations_is_matched_by_the_devices_requests_too() {
    let limited = |operations| IoLimit {
        read_operations_per_s: Some(operations),
        ..limit("io.max of /sys/fs/cgroup/x")
    };
    // 100 operations a second by the job's count; the device splits each in two.
    let scene = steady(Read, 10).moved(1.0).cached(0.0, 1.0);
    let split = scene
        .clone()
        .with(|scene| scene.phase.witnesses.devices[0].reads *= 2);
    assert_eq!(
        subject(&scene.clone().limit(limited(100))),
        Subject::Limiter
    );
    assert_eq!(subject(&scene.limit(limited(200))), Subject::Disk);
    assert_eq!(subject(&split.limit(limited(200))), Subject::Limiter);
}

#[test]
fn a_limit_on_writes_or_on_another_device_does_not_limit_reads() {
    let elsewhere = IoLimit {
        device_number: (8, 16),
        ..at(100 * MIB)
    };
    let writes = IoLimit {
        write_bytes_per_s: Some(100 * MIB),
        ..limit("x")
    };
    let scene = steady(Read, 10)
        .moved(1.0)
        .cached(0.0, 1.0)
        .limit(elsewhere)
        .limit(writes);
    assert_eq!(subject(&scene), Subject::Disk);
}

#[test]
fn a_cached_read_at_the_height_of_a_limit_is_still_the_cache() {
    let scene = steady(Read, 10)
        .moved(0.0)
        .cached(1.0, 1.0)
        .limit(at(100 * MIB));
    assert_eq!(subject(&scene), Subject::Cache);
}

#[test]
fn a_burst_at_the_start_does_not_hide_the_limit() {
    // 2 s at 10 operations a tenth, the first tenth with 40: 15 % over on the whole.
    let mut tenths = vec![vec![10_000_000; 10]; 20];
    tenths[0] = vec![100_000; 40];
    let scene = recorded(Read, MIB, tenths)
        .moved(1.0)
        .direct(true)
        .limit(at(100 * MIB));
    assert_eq!(subject(&scene), Subject::Limiter);
}

#[test]
fn what_the_throttle_lets_through_ahead_of_time_does_not_hide_the_limit() {
    // As measured: 61 operations of 1 MiB in 3.027 s under 20 MB/s, 5.65 % over.
    let tenths = |operations: u64| {
        let tenth = |index: u64| (operations * (index + 1) / 30 - operations * index / 30) as usize;
        (0..30)
            .map(|index| vec![48_000_000; tenth(index)])
            .collect()
    };
    let scene = |operations| {
        recorded(Read, MIB, tenths(operations))
            .moved(1.0)
            .direct(true)
            .limit(at(20_000_000))
    };
    assert_eq!(subject(&scene(61)), Subject::Limiter);
    assert_eq!(
        subject(&scene(75)),
        Subject::Disk,
        "31 % over is no burst of 0.2 s in 3"
    );
}

/// The figures of a 100 operations/s cgroup throttle as measured: p50 77 us, p99
/// 102 ms, in slices of 100 ms.
fn throttled() -> Vec<Vec<u64>> {
    let mut slice = vec![77_000; 9];
    slice.push(99_000_000);
    vec![slice; 100]
}

#[test]
fn a_limiter_that_nobody_told_of_is_seen_by_its_pattern() {
    let scene = recorded(Read, 4096, throttled()).moved(1.0).direct(true);
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Limiter, "{:?}", finding.reasons);
    let ceiling = finding.ceiling.unwrap();
    assert_eq!(ceiling.unit, Unit::OperationsPerSecond);
    assert!((ceiling.value - 100.0).abs() <= 5.0, "{}", ceiling.value);
}

#[test]
fn the_pattern_is_seen_on_a_crowded_machine_too() {
    // As recorded under 100 operations/s with 350 other threads on two CPUs: 18 in the
    // first tenth of a second, then 10 in each; besides the waits for the throttle,
    // waits of a tick of 4 ms for a CPU.
    let mut tenths = vec![vec![60_000; 18]];
    for tenth in 0u64..35 {
        let waits = [56, 68, 73, 76, 84, 86, 88, 92, 95, 99, 103, 107];
        let wait = waits[(tenth % 12) as usize] * 1_000_000;
        let mut slice = vec![80_000; 6];
        slice.extend([3_900_000, 900_000, 4_000_000, wait]);
        tenths.push(slice);
    }
    let scene = recorded(Read, 4096, tenths).moved(1.0).direct(true);
    let finding = examined(&scene);
    assert_eq!(finding.subject, Subject::Limiter, "{:?}", finding.reasons);
    assert!((finding.ceiling.unwrap().value - 100.0).abs() < 1e-9);
}

#[test]
fn readahead_and_paced_writers_are_no_token_buckets() {
    let buffered = recorded(Read, 4096, throttled())
        .moved(1.0)
        .cached(0.0, 1.0);
    assert_eq!(subject(&buffered), Subject::Disk);
}

#[test]
fn stalls_of_a_device_are_no_token_bucket() {
    // As above, but the waits are of all lengths from 10 to 180 ms, and the rate
    // goes up and down with them.
    let tenths = (0u64..100)
        .map(|tenth| {
            let wait = 10_000_000 + tenth * 37 % 100 * 1_700_000;
            let mut slice = vec![77_000; (5 + tenth % 11) as usize];
            slice.push(wait);
            slice
        })
        .collect();
    let scene = recorded(Read, 4096, tenths).moved(1.0).direct(true);
    assert_eq!(subject(&scene), Subject::Disk);
}

#[test]
fn a_link_that_is_full_is_the_limiter() {
    // SATA at 6 Gb/s carries 600 MB/s; 560 MB/s is what drives reach on it.
    let sata = |rate: u64| {
        let mut disk = disk("vda");
        disk.link = Some("SATA 6.0 Gbps".to_owned());
        disk.link_bytes_per_s = Some(600_000_000);
        let tenths = vec![vec![1_000_000; 10]; 100];
        recorded(Read, rate / 100, tenths)
            .moved(1.0)
            .direct(true)
            .target(on("xfs", vec![disk]))
    };
    assert_eq!(subject(&sata(560_000_000)), Subject::Limiter);
    assert_eq!(subject(&sata(500_000_000)), Subject::Disk);
    let finding = examined(&sata(560_000_000));
    assert!(
        finding.reasons[0].contains("SATA 6.0 Gbps"),
        "{:?}",
        finding.reasons
    );
}

#[test]
fn a_round_and_flat_rate_is_a_doubt_and_no_claim() {
    // 3000 operations a second, each tenth the same.
    let scene = recorded(Read, 4096, vec![vec![330_000; 300]; 100])
        .moved(1.0)
        .direct(true);
    assert_eq!(subject(&scene), Subject::Disk);
    assert!(detail(&scene, CaveatCode::Limiter).contains("3.00 k operations/s"));
    let odd = recorded(Read, 4096, vec![vec![330_000; 277]; 100])
        .moved(1.0)
        .direct(true);
    assert!(!codes(&odd).contains(&CaveatCode::Limiter));
}
