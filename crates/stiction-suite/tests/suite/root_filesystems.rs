//! On real filesystems on loop devices: what was asked against what the device moved.

use crate::stage::{Played, assert_empty, play, value};
use stiction_core::{DeviceTraffic, Phase, metrics};
use stiction_suite::quick::QuickOptions;
use stiction_suite::tiobench::{FileSize, RandomAmount, TiobenchOptions, TiobenchPhase};
use stiction_suite::{Quick, Tiobench};
use testkit::{LoopFilesystem, LoopKind};

const MIB: u64 = 1 << 20;

/// What the one device under the target moved.
fn traffic(phase: &Phase) -> &DeviceTraffic {
    let [device] = &phase.witnesses.devices[..] else {
        panic!("{:#?}", phase.witnesses);
    };
    device
}

/// Bytes asked for and bytes that the device moved agree within 1 %.
fn assert_agreement(phase: &Phase, writes: bool) {
    let asked = value(phase, &metrics::BYTES);
    let device = traffic(phase);
    let moved = if writes {
        device.written_bytes
    } else {
        device.read_bytes
    } as f64;
    let difference = (moved / asked - 1.0).abs();
    assert!(
        difference <= 0.01,
        "{}: asked {asked}, the device moved {moved}: {:.2} % apart",
        phase.name,
        100.0 * difference
    );
    assert_eq!(phase.witnesses.direct_granted, Some(true));
}

fn direct_tiobench(played_on: &LoopFilesystem) -> Played {
    let options = TiobenchOptions {
        sizes: vec![FileSize::Total(256 * MIB)],
        threads: vec![2],
        block_sizes_bytes: vec![65_536],
        random: Some(RandomAmount::Total(4000)),
        runs: Some(1),
        direct: true,
        ..TiobenchOptions::default()
    };
    play(&Tiobench { options }, &[played_on.path()])
}

fn agrees_with_the_device(kind: LoopKind, random_writes_too: bool) {
    testkit::require_root!();
    testkit::require_program!(kind.mkfs());
    let filesystem = LoopFilesystem::new(kind, 1024 * MIB);
    let played = direct_tiobench(&filesystem);
    assert_eq!(
        value(played.phase("write"), &metrics::BYTES),
        (256 * MIB) as f64
    );
    assert_eq!(
        value(played.phase("random_read"), &metrics::BYTES),
        (4000 * 65_536) as f64
    );
    assert_agreement(played.phase("write"), true);
    if random_writes_too {
        assert_agreement(played.phase("random_write"), true);
    }
    assert_agreement(played.phase("read"), false);
    assert_agreement(played.phase("random_read"), false);
    assert_empty(filesystem.path());

    let quick = Quick {
        options: QuickOptions {
            seconds: 4,
            size_bytes: Some(256 * MIB),
            ..QuickOptions::default()
        },
    };
    let played = play(&quick, &[filesystem.path()]);
    assert_eq!(played.only().len(), 7);
    assert_agreement(played.phase("sequential_write"), true);
    for name in ["sequential_read", "random_read_depth_1", "random_read_deep"] {
        assert_agreement(played.phase(name), false);
    }
    assert!(traffic(played.phase("commit")).written_bytes > 0);
    assert_empty(filesystem.path());
}

#[test]
fn ext4_moves_what_is_asked() {
    agrees_with_the_device(LoopKind::Ext4, true);
}

#[test]
fn xfs_moves_what_is_asked() {
    agrees_with_the_device(LoopKind::Xfs, true);
}

/// btrfs writes trees for blocks that it places anew, so random writes are more on the
/// device than was asked.
#[test]
fn btrfs_moves_what_is_asked() {
    agrees_with_the_device(LoopKind::Btrfs, false);
}

/// Buffered, with the cache emptied before each phase: reads come from the device too.
#[test]
fn buffered_reads_come_from_the_device_after_the_cache_is_emptied() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 512 * MIB);
    let options = TiobenchOptions {
        sizes: vec![FileSize::Total(128 * MIB)],
        threads: vec![1],
        random: Some(RandomAmount::Total(1000)),
        runs: Some(1),
        ..TiobenchOptions::default()
    };
    let played = play(&Tiobench { options }, &[filesystem.path()]);
    let read = played.phase("read");
    assert!(
        traffic(read).read_bytes >= 128 * MIB,
        "{:#?}",
        read.witnesses
    );
    let write = played.phase("write");
    assert!(
        traffic(write).written_bytes >= 128 * MIB,
        "{:#?}",
        write.witnesses
    );
}

/// In classic mode the reads are answered by the cache, as they were.
#[test]
fn classic_reads_are_answered_by_the_cache() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 512 * MIB);
    let options = TiobenchOptions {
        mode: stiction_suite::tiobench::TiobenchMode::Classic { as_was: false },
        sizes: vec![FileSize::Total(64 * MIB)],
        threads: vec![1],
        ..TiobenchOptions::default()
    };
    let played = play(&Tiobench { options }, &[filesystem.path()]);
    // Now and then the filesystem reads a block of its own.
    let read_bytes = traffic(played.phase("read")).read_bytes;
    assert!(read_bytes < MIB / 4, "{read_bytes}");
}

/// A control group holds reads of the device to 20 MiB/s; what is measured is that, within 5 %.
#[test]
fn a_ceiling_is_measured_where_it_is() {
    testkit::require_root!();
    const CEILING: u64 = 20 * MIB;
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 512 * MIB);
    let limits = testkit::ThrottleLimits {
        read_bytes_per_s: CEILING,
        ..testkit::ThrottleLimits::default()
    };
    let throttle = match testkit::Throttle::new(filesystem.device().device_number(), limits) {
        Ok(throttle) => throttle,
        Err(reason) => testkit::skip!("{reason}"),
    };
    // The first slice of 100 ms comes at once, so the phase takes over six seconds; and
    // several threads, so that there is always one that waits for the next slice.
    let options = TiobenchOptions {
        sizes: vec![FileSize::Total(128 * MIB)],
        threads: vec![4],
        block_sizes_bytes: vec![131_072],
        skip: [TiobenchPhase::RandomWrite, TiobenchPhase::RandomRead].into(),
        runs: Some(1),
        direct: true,
        ..TiobenchOptions::default()
    };
    let played = play(&Tiobench { options }, &[filesystem.path()]);
    drop(throttle);
    let share = value(played.phase("read"), &metrics::RATE) / CEILING as f64;
    assert!((0.95..=1.05).contains(&share), "{share}");
}
