//! Block devices that were granted.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, open};
use stiction_core::{BackendKind, Data, Job};
use stiction_engine::{Ended, EngineError, ScratchDevice, Target};
use testkit::ScratchLoop;

use crate::jobs::{read_job, region, run, try_run, write_job};

pub(crate) const SIZE_BYTES: u64 = 4 << 20;

pub(crate) fn grant(device: &ScratchLoop) -> Target {
    let flags = OFlags::RDWR | OFlags::EXCL | OFlags::CLOEXEC;
    let held: OwnedFd = open(device.path(), flags, Mode::empty()).unwrap();
    Target::Device(ScratchDevice::from_held(
        Arc::new(held),
        SIZE_BYTES,
        device.path().to_owned(),
    ))
}

/// Two workers with a region each; the region before and after stay untouched.
fn two_regions(job: Job) -> Job {
    Job {
        regions: vec![region(0, 1 << 20, 1 << 20), region(0, 2 << 20, 1 << 20)],
        direct: true,
        data: Data::Stamped,
        ..job
    }
}

#[test]
fn root_regions_of_a_device_are_written_and_checked() {
    testkit::require_root!();
    let device = ScratchLoop::new(SIZE_BYTES);
    let target = [grant(&device)];
    for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 16)] {
        let with = |job: Job| Job {
            backend,
            depth,
            ..two_regions(job)
        };
        let written = run(&with(write_job(1)), &target);
        assert_eq!(written.ended, Ended::Planned);
        assert_eq!(
            (written.bytes(), written.direct_granted),
            (2 << 20, Some(true))
        );
        let mut check = with(read_job(1));
        check.verify = true;
        let read = run(&check, &target);
        assert_eq!((read.bytes(), read.mismatch_count()), (2 << 20, 0));
    }
    let backing = std::fs::read(device.backing_file()).unwrap();
    let is_blank = |bytes: &[u8]| bytes.iter().all(|&byte| byte == 0);
    assert!(is_blank(&backing[..1 << 20]) && is_blank(&backing[3 << 20..]));
    assert!(
        backing[1 << 20..3 << 20]
            .chunks(4096)
            .all(|block| !is_blank(block))
    );
}

#[test]
fn root_a_region_beyond_the_device_is_refused() {
    testkit::require_root!();
    let device = ScratchLoop::new(SIZE_BYTES);
    let mut job = write_job(1);
    job.regions = vec![region(0, SIZE_BYTES - 4096, 8192)];
    let error = try_run(&job, &[grant(&device)]).unwrap_err();
    assert!(matches!(error, EngineError::Job { .. }));
    let text = error.to_string();
    assert!(
        text.contains("ends at byte 4198400, but /dev/loop"),
        "{text}"
    );
}

#[test]
fn root_blocks_smaller_than_the_devices_are_refused_for_direct_io() {
    testkit::require_root!();
    let device = ScratchLoop::new(SIZE_BYTES);
    let mut job = two_regions(write_job(1));
    job.block_size_bytes = 768;
    let error = try_run(&job, &[grant(&device)]).unwrap_err().to_string();
    assert!(
        error.contains("multiples of 512 bytes only, but the block size is 768"),
        "{error}"
    );
}
