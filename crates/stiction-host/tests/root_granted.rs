//! Filesystems on a device that was granted: it is held but while they have it, and is as
//! it was afterwards.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use stiction_core::{Seed, Setting};
use stiction_host::{Alterations, GrantedDevice, HeldDevice, Refusal, ScratchGrant};
use testkit::{ScratchLoop, scratch_folder};

const MIB: u64 = 1 << 20;
const SEED: Seed = Seed(4711);

fn grant(device: &ScratchLoop) -> ScratchGrant {
    ScratchGrant {
        serial: device.backing_file().to_str().unwrap().to_owned(),
        wipe_signature: None,
    }
}

fn granted(device: &ScratchLoop, path: &Path) -> GrantedDevice {
    GrantedDevice::new(HeldDevice::acquire(path, &grant(device)).unwrap())
}

fn alterations(settings: &[(&str, &str)], device: &GrantedDevice) -> Result<Alterations, String> {
    let settings: Vec<Setting> = settings
        .iter()
        .map(|(factor, level)| Setting::new(*factor, *level))
        .collect();
    Alterations::read(&settings, MIB << 10, None)?.on_granted(device)
}

fn open_alone(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.read(true).custom_flags(libc::O_EXCL).open(path)
}

/// The settings of a device's queue, as `/sys` shows them.
fn queue(name: &str) -> BTreeMap<String, String> {
    let queue = PathBuf::from(format!("/sys/block/{name}/queue"));
    let files = fs::read_dir(&queue).unwrap().map(|file| file.unwrap());
    let texts = files.filter_map(|file| {
        let name = file.file_name().to_string_lossy().into_owned();
        Some((name, fs::read_to_string(file.path()).ok()?))
    });
    texts.collect()
}

#[test]
fn root_filesystems_stand_on_it_one_after_the_other() {
    testkit::require_root!();
    let device = ScratchLoop::new(320 * MIB);
    let top = scratch_folder();
    let before = queue(&device.name());
    let ground = granted(&device, device.path());
    for kind in ["btrfs", "xfs", "ext4", "ext2-to-ext3", "btrfs", "ext2"] {
        assert!(
            open_alone(device.path()).is_err(),
            "it is held before {kind}"
        );
        let settings = [
            ("filesystem", kind),
            ("scheduler", "none"),
            ("dirty_limit", "8MiB"),
        ];
        let asked = alterations(&settings, &ground).unwrap();
        assert_eq!(asked.scratch_bytes(), Some(320 * MIB));
        let altered = asked.make(top.path(), SEED, device.undo()).unwrap();
        let place = altered.directory().unwrap();
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let line = format!("{} {} ", device.path().display(), place.display());
        assert!(mounts.contains(&line), "{kind}: no `{line}` in {mounts}");
        fs::write(place.join("file"), [7; 4096]).unwrap();
        assert!(open_alone(device.path()).is_err(), "the mount holds it");
        altered.undo().unwrap();
        assert_eq!(fs::read_dir(top.path()).unwrap().count(), 0);
        assert_eq!(queue(&device.name()), before, "after {kind}");
    }
    assert!(open_alone(device.path()).is_err(), "it is held in the end");
    drop(ground);
    // Nothing is known on it, so it can be granted again as it was.
    HeldDevice::acquire(device.path(), &grant(&device)).unwrap();
    // The loop device itself is what is left to undo.
    assert_eq!(device.undo().open_changes().len(), 1);
}

#[test]
fn root_another_device_of_that_name_is_not_written_to() {
    testkit::require_root!();
    let (device, other) = (ScratchLoop::new(32 * MIB), ScratchLoop::new(32 * MIB));
    let top = scratch_folder();
    let name = scratch_folder();
    let name = name.path().join("disk");
    symlink(device.path(), &name).unwrap();
    let ground = granted(&device, &name);
    fs::remove_file(&name).unwrap();
    symlink(other.path(), &name).unwrap();
    let asked = alterations(&[("filesystem", "ext4")], &ground).unwrap();
    let refused = asked.make(top.path(), SEED, device.undo()).err().unwrap();
    let text = refused.to_string();
    assert!(text.contains("has come to mean another device"), "{text}");
    let mut bytes = vec![1; MIB as usize];
    File::open(other.backing_file())
        .unwrap()
        .read_exact_at(&mut bytes, 0)
        .unwrap();
    assert!(bytes.iter().all(|&byte| byte == 0));
    assert_eq!(fs::read_dir(top.path()).unwrap().count(), 0);
    assert!(open_alone(device.path()).is_err(), "it is held still");
}

#[test]
fn root_two_trials_do_not_have_it_at_once() {
    testkit::require_root!();
    let device = ScratchLoop::new(32 * MIB);
    let top = scratch_folder();
    let ground = granted(&device, device.path());
    let asked = alterations(&[("filesystem", "ext2")], &ground).unwrap();
    let first = asked.make(top.path(), SEED, device.undo()).unwrap();
    let second = asked.make(top.path(), SEED, device.undo()).err().unwrap();
    assert!(
        second.to_string().contains("in use by another trial"),
        "{second}"
    );
    first.undo().unwrap();
    asked
        .make(top.path(), SEED, device.undo())
        .unwrap()
        .undo()
        .unwrap();
}

#[test]
fn root_what_would_be_elsewhere_is_refused() {
    testkit::require_root!();
    let device = ScratchLoop::new(32 * MIB);
    let ground = granted(&device, device.path());
    for (settings, expected) in [
        (&[("filesystem", "tmpfs")][..], "tmpfs is in memory"),
        (&[("journal", "external")], "needs another device"),
        (&[("filesystem", "xfs")], "at least"),
    ] {
        let problem = alterations(settings, &ground).unwrap_err();
        assert!(problem.contains(expected), "{problem}");
    }
}

/// Somebody who took it while nobody held it is not disturbed.
#[test]
fn root_who_uses_it_meanwhile_keeps_it() {
    testkit::require_root!();
    let device = ScratchLoop::new(32 * MIB);
    let top = scratch_folder();
    let ground = granted(&device, device.path());
    let asked = alterations(&[("filesystem", "ext4")], &ground).unwrap();
    let altered = asked.make(top.path(), SEED, device.undo()).unwrap();
    // The same filesystem is mounted a second time, by another.
    let elsewhere = scratch_folder();
    testkit::run(
        std::process::Command::new("mount")
            .arg(device.path())
            .arg(elsewhere.path()),
    );
    let left = altered.undo().err();
    testkit::run(std::process::Command::new("umount").arg(elsewhere.path()));
    let left = left.expect("it cannot be had back").to_string();
    assert!(left.contains("cannot be had to ourselves"), "{left}");
    let held = HeldDevice::acquire(device.path(), &grant(&device));
    let Err(Refusal::Signed { found, .. }) = held else {
        panic!("nothing was cleared: {held:?}");
    };
    assert_eq!(found, "ext4");
}
