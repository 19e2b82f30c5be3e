//! tiobench on raw devices that are held for destruction.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

use crate::stage::{self, Played, value};
use stiction_core::{SkipCode, TrialOutcome, metrics};
use stiction_engine::{ScratchDevice, StopFlag};
use stiction_suite::tiobench::{FileSize, RandomAmount, RawLayout, TiobenchOptions};
use stiction_suite::{Place, Tiobench};
use testkit::ScratchLoop;

const MIB: u64 = 1 << 20;
const DEVICE_BYTES: u64 = 64 * MIB;

fn held(device: &ScratchLoop) -> Place {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_EXCL)
        .open(device.path())
        .expect("a device that nobody else holds");
    let path = device.path().to_owned();
    Place::Device(ScratchDevice::from_held(
        Arc::new(file.into()),
        DEVICE_BYTES,
        path,
    ))
}

/// Three threads with 8 MiB each, 4 MiB apart, the first after a gap.
fn options() -> TiobenchOptions {
    TiobenchOptions {
        sizes: vec![FileSize::PerThread(8 * MIB)],
        threads: vec![3],
        random: Some(RandomAmount::Total(300)),
        runs: Some(1),
        raw: RawLayout {
            gap_bytes: 4 * MIB,
            gap_first: true,
        },
        verify: true,
        ..TiobenchOptions::default()
    }
}

fn play_on(devices: &[&ScratchLoop], options: TiobenchOptions) -> Played {
    let places: Vec<Place> = devices.iter().map(|device| held(device)).collect();
    let paths: Vec<_> = devices.iter().map(|device| device.path()).collect();
    let environment = stage::environment(&paths);
    stage::play_on(
        &Tiobench { options },
        &places,
        &environment,
        &StopFlag::new(),
    )
}

/// Whether a stretch of the device's backing file holds anything but zeros.
fn written(device: &ScratchLoop, offset_bytes: u64, length_bytes: u64) -> bool {
    let bytes = std::fs::read(device.backing_file()).expect("a backing file");
    let stretch = &bytes[offset_bytes as usize..(offset_bytes + length_bytes) as usize];
    stretch.iter().any(|&byte| byte != 0)
}

/// The old program's random writes all went to the first region.
#[test]
fn every_thread_keeps_to_its_region() {
    testkit::require_root!();
    let device = ScratchLoop::new(DEVICE_BYTES);
    let played = play_on(&[&device], options());
    for name in ["write", "read"] {
        assert_eq!(
            value(played.phase(name), &metrics::BYTES),
            (24 * MIB) as f64
        );
    }
    for name in ["random_write", "random_read"] {
        assert_eq!(value(played.phase(name), &metrics::OPERATIONS), 300.0);
    }
    for (start, length, used) in [
        (0, 4, false),
        (4, 8, true),
        (12, 4, false),
        (16, 8, true),
        (24, 4, false),
        (28, 8, true),
        (36, 28, false),
    ] {
        assert_eq!(
            written(&device, start * MIB, length * MIB),
            used,
            "{start} MiB"
        );
    }
}

#[test]
fn threads_take_devices_in_turn() {
    testkit::require_root!();
    let (one, other) = (
        ScratchLoop::new(DEVICE_BYTES),
        ScratchLoop::new(DEVICE_BYTES),
    );
    let spread = TiobenchOptions {
        directory_use: stiction_suite::tiobench::DirectoryUse::Spread,
        ..options()
    };
    let played = play_on(&[&one, &other], spread);
    assert_eq!(played.only().len(), 4);
    assert!(written(&one, 16 * MIB, 8 * MIB), "threads 0 and 2");
    assert!(!written(&other, 16 * MIB, 8 * MIB), "thread 1 alone");
}

#[test]
fn regions_beyond_the_end_are_refused_before_anything_is_written() {
    testkit::require_root!();
    let device = ScratchLoop::new(DEVICE_BYTES);
    let large = TiobenchOptions {
        sizes: vec![FileSize::PerThread(20 * MIB)],
        ..options()
    };
    let played = play_on(&[&device], large);
    let TrialOutcome::Skipped(reason) = played.outcome() else {
        panic!("{played:?}");
    };
    assert_eq!(reason.code, SkipCode::NoSpace);
    assert!(reason.detail.contains("72 MiB"), "{}", reason.detail);
    assert!(!written(&device, 0, DEVICE_BYTES));
}
