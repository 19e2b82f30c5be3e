//! Where a device is the bound, both come to its rate.

use std::fs;

use testkit::{LoopFilesystem, LoopKind, ScratchLoop, Throttle, ThrottleLimits};

use super::came::{Did, through_fio_in, through_stiction_in, through_stiction_with};

/// Of the rates of the two: the kernel doles out in slices of 100 ms, of which there are 40,
/// and gives one or two in advance to a group that had been idle.
const TOLERANCE: f64 = 0.05;

/// Operations per second.
fn rate(did: &Did) -> f64 {
    let operations = did.read.operations + did.write.operations;
    operations as f64 * 1000.0 / did.ran_ms as f64
}

/// Trims of a device: each block of the region once.
#[test]
fn root_the_same_blocks_of_a_device_are_trimmed() {
    testkit::require_root!();
    testkit::require_program!("fio");
    let device = ScratchLoop::new(16 << 20);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trims.fio");
    let jobs = format!(
        "[trim]\nrw=randtrim\nbs=64k\nsize=4m\ndirect=1\nfilename={0}\n\
         [both]\nstonewall\nrw=trimwrite\nbs=64k\noffset=4m\nsize=4m\ndirect=1\n\
         filename={0}\n",
        device.path().display()
    );
    fs::write(&file, jobs).unwrap();
    let fio = through_fio_in(&file, folder.path());
    let grant = format!(
        "--scratch={}={}",
        device.path().display(),
        device.backing_file().display()
    );
    let ours = through_stiction_with(&file, folder.path(), &[&grant]);
    for name in ["trim", "both"] {
        let (one, other) = (&fio.jobs[name], &ours.jobs[name]);
        assert_eq!((one.trim, one.write), (other.trim, other.write), "{name}");
    }
    assert_eq!(ours.jobs["trim"].trim.operations, 64);
}

/// A device that does 200 operations and 4 MiB per second.
#[test]
fn root_a_throttled_device_has_one_rate() {
    testkit::require_root!();
    testkit::require_program!("fio");
    let file_system = LoopFilesystem::new(LoopKind::Ext4, 128 << 20);
    let limits = ThrottleLimits {
        read_bytes_per_s: 4 << 20,
        read_operations_per_s: 200,
        ..ThrottleLimits::default()
    };
    let throttle = match Throttle::new(file_system.device().device_number(), limits) {
        Ok(throttle) => throttle,
        Err(reason) => testkit::skip!("{reason}"),
    };
    // By operations, and by bytes. What is in flight at the end, 2 of 256, is no rate.
    let jobs = "[global]\ndirect=1\nsize=8m\ntime_based\nruntime=4\n\
                [small]\nrw=randread\nbs=4k\nioengine=libaio\niodepth=4\n\
                [large]\nstonewall\nrw=read\nbs=64k\nioengine=io_uring\niodepth=2\n";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("throttled.fio");
    fs::write(&file, jobs).unwrap();
    let fio = through_fio_in(&file, file_system.path());
    for entry in fs::read_dir(file_system.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
    let ours = through_stiction_in(&file, file_system.path());
    drop(throttle);
    for (name, asked) in [("small", 200.0), ("large", 64.0)] {
        let (one, other) = (rate(&fio.jobs[name]), rate(&ours.jobs[name]));
        let told = format!("{name}: {one:.1} operations per second, ours {other:.1}");
        assert!((one / other - 1.0).abs() <= TOLERANCE, "{told}");
        assert!((other / asked - 1.0).abs() <= 2.0 * TOLERANCE, "{told}");
    }
}
