//! The fixtures do what they promise, and put everything back.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use testkit::{
    FaultFs, Faults, LoopFilesystem, LoopKind, ScratchLoop, Throttle, ThrottleLimits, TmpfsMount,
};

const MIB: u64 = 1 << 20;

fn mounts() -> String {
    fs::read_to_string("/proc/self/mountinfo").unwrap()
}

fn backing_file_of(device: &str) -> Option<PathBuf> {
    let text = fs::read_to_string(format!("/sys/block/{device}/loop/backing_file")).ok()?;
    Some(PathBuf::from(text.trim()))
}

#[test]
fn root_every_kind_of_file_system_is_made_and_put_back() {
    testkit::require_root!();
    for kind in LoopKind::ALL {
        testkit::require_program!(kind.mkfs());
        let filesystem = LoopFilesystem::new(kind, 320 * MIB);
        let top = filesystem.path().to_owned();
        let device = filesystem.device().name();
        let backing = filesystem.device().backing_file().to_owned();
        fs::write(top.join("a file"), "text").unwrap();
        let mounted = mounts();
        let line = mounted
            .lines()
            .find(|line| line.contains(top.to_str().unwrap()))
            .unwrap();
        assert!(
            line.contains(&format!(" - {} /dev/{device} ", kind.name())),
            "{line}"
        );
        let dio = fs::read_to_string(format!("/sys/block/{device}/loop/dio")).unwrap();
        assert_eq!(dio.trim(), "1", "the backing file is read past the cache");

        drop(filesystem);
        assert!(!mounts().contains(top.to_str().unwrap()));
        assert!(!top.exists() && !backing.exists());
        assert_ne!(backing_file_of(&device).as_deref(), Some(backing.as_path()));
    }
}

#[test]
fn root_a_file_system_in_use_is_still_put_back() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 64 * MIB);
    let top = filesystem.path().to_owned();
    let held = File::create(top.join("held")).unwrap();
    drop(filesystem);
    assert!(!mounts().contains(top.to_str().unwrap()));
    drop(held);
}

#[test]
fn root_a_read_only_file_system_refuses_writes() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 64 * MIB).read_only();
    let error = File::create(filesystem.path().join("a")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnlyFilesystem);
}

#[test]
fn root_a_tmpfs_holds_what_it_was_given() {
    testkit::require_root!();
    let tmpfs = TmpfsMount::new(MIB);
    fs::write(tmpfs.path().join("a"), vec![1; 1 << 19]).unwrap();
    let error = fs::write(tmpfs.path().join("b"), vec![1; 1 << 20]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}

/// Reads the whole device past the cache, in pieces of 256 KiB.
fn read_directly(device: &Path, bytes: u64) -> Duration {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_DIRECT)
        .open(device)
        .unwrap();
    let piece = 1 << 18;
    let mut buffer = vec![0u8; piece + 4096];
    let start = buffer.as_ptr().align_offset(4096);
    let began = Instant::now();
    for offset in (0..bytes).step_by(piece) {
        file.read_exact_at(&mut buffer[start..start + piece], offset)
            .unwrap();
    }
    began.elapsed()
}

/// A throttled rate is a truth: never above, and close to it.
#[test]
fn root_a_throttle_holds_the_rate() {
    testkit::require_root!();
    let device = ScratchLoop::new(64 * MIB);
    let limits = ThrottleLimits {
        read_bytes_per_s: 8 * MIB,
        ..ThrottleLimits::default()
    };
    let throttle = match Throttle::new(device.device_number(), limits) {
        Ok(throttle) => throttle,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let group = throttle.path().to_owned();
    let elapsed_s = read_directly(device.path(), 24 * MIB).as_secs_f64();
    let rate = 24.0 / elapsed_s;
    assert!(
        (7.0..8.8).contains(&rate),
        "{rate} MiB/s where 8 are allowed"
    );
    drop(throttle);
    assert!(!group.exists());
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    assert!(!own.contains("stiction-testkit"), "{own}");
}

fn fault_fs(faults: Faults) -> Option<FaultFs> {
    match FaultFs::mount(faults) {
        Ok(filesystem) => Some(filesystem),
        Err(reason) => {
            testkit::skip::skipped(&reason);
            None
        }
    }
}

#[test]
fn root_the_fault_file_system_keeps_what_is_written() {
    testkit::require_root!();
    let Some(filesystem) = fault_fs(Faults::default()) else {
        return;
    };
    let folder = filesystem.path().join("a folder");
    fs::create_dir(&folder).unwrap();
    let data: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
    fs::write(folder.join("one"), &data).unwrap();
    fs::rename(folder.join("one"), folder.join("two")).unwrap();
    assert_eq!(fs::read(folder.join("two")).unwrap(), data);
    let names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["two"]);
    File::open(folder.join("two")).unwrap().sync_all().unwrap();
    assert_eq!(filesystem.counts().syncs, 1);
    fs::remove_dir_all(&folder).unwrap();
    let top = filesystem.path().to_owned();
    drop(filesystem);
    assert!(!top.exists());
}

#[test]
fn root_the_fault_file_system_fails_as_asked() {
    testkit::require_root!();
    let Some(filesystem) = fault_fs(Faults::default()) else {
        return;
    };
    let path = filesystem.path().join("a");
    fs::write(&path, vec![5; 1 << 16]).unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();
    let read = |count: u64| -> Vec<Option<i32>> {
        let mut buffer = [0; 4096];
        (0..count)
            .map(|block| {
                let result = file.read_at(&mut buffer, block % 16 * 4096);
                result.err().and_then(|error| error.raw_os_error())
            })
            .collect()
    };

    filesystem.set(Faults {
        error_every: Some((10, libc::EIO)),
        ..Faults::default()
    });
    let failed: Vec<_> = read(200).into_iter().flatten().collect();
    assert_eq!(failed, vec![libc::EIO; 20]);
    assert_eq!(filesystem.counts().errors, 20);

    filesystem.set(Faults {
        short_bytes: Some(1000),
        ..Faults::default()
    });
    let mut buffer = [0; 4096];
    assert_eq!((&file).read(&mut buffer).unwrap(), 1000);
    assert_eq!((&file).write(&buffer).unwrap(), 1000);

    filesystem.set(Faults {
        space_bytes: Some(1 << 16),
        sync_error: Some(libc::EIO),
        ..Faults::default()
    });
    let error = file.write_at(&buffer, 1 << 20).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(file.sync_all().unwrap_err().raw_os_error(), Some(libc::EIO));
}

/// An injected delay is a lower bound for what the program sees.
#[test]
fn root_the_fault_file_system_delays_as_asked() {
    testkit::require_root!();
    let stall = Duration::from_millis(50);
    let Some(filesystem) = fault_fs(Faults::default()) else {
        return;
    };
    let path = filesystem.path().join("a");
    fs::write(&path, [5; 4096]).unwrap();
    let file = File::open(&path).unwrap();
    filesystem.set(Faults {
        stall_every: Some((4, stall)),
        ..Faults::default()
    });
    let before = filesystem.counts();
    let slow = (0..8)
        .filter(|_| {
            let began = Instant::now();
            file.read_at(&mut [0; 4096], 0).unwrap();
            began.elapsed() >= stall
        })
        .count();
    assert_eq!(filesystem.counts().reads - before.reads, 8);
    assert!(
        slow >= 2,
        "{slow} of 8 reads were stalled, where every fourth is"
    );
}
