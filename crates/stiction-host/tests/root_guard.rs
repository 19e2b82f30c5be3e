//! The guard before raw devices, against devices that are really in use.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use stiction_host::{HeldDevice, LoopDevice, MountedFilesystem, Refusal, ScratchGrant};
use testkit::{LoopFilesystem, LoopKind, ScratchLoop, run, scratch_folder};

const MIB: u64 = 1 << 20;

/// The grant that a user would give for the device.
fn grant(device: &ScratchLoop) -> ScratchGrant {
    ScratchGrant {
        serial: device.backing_file().to_str().unwrap().to_owned(),
        wipe_signature: None,
    }
}

fn acquire(device: &ScratchLoop) -> Result<HeldDevice, Refusal> {
    HeldDevice::acquire(device.path(), &grant(device))
}

fn errno(refusal: &Refusal) -> Option<i32> {
    match refusal {
        Refusal::NotExclusive { error, .. } => error.raw_os_error(),
        _ => None,
    }
}

#[test]
fn root_a_free_device_is_held_against_everybody() {
    testkit::require_root!();
    let device = ScratchLoop::prepared(64 * MIB, |_| {});
    let held = acquire(&device).unwrap();
    assert_eq!(held.length_bytes(), 64 * MIB);
    assert_eq!(held.name(), device.name());
    assert_eq!(held.destroys(), None);

    let exclusive = || {
        File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_EXCL)
            .open(device.path())
    };
    assert_eq!(exclusive().unwrap_err().raw_os_error(), Some(libc::EBUSY));
    LoopKind::Ext2.make(device.backing_file());
    let folder = scratch_folder();
    let mounted = MountedFilesystem::mount(device.path(), folder.path(), "ext2", "", device.undo());
    assert_eq!(mounted.unwrap_err().errno(), Some(libc::EBUSY));

    // A share of the descriptor keeps it held.
    let share = held.descriptor();
    drop(held);
    assert!(exclusive().is_err());
    drop(share);
    exclusive().unwrap();
}

#[test]
fn root_the_serial_number_has_to_be_the_device_s_own() {
    testkit::require_root!();
    let device = ScratchLoop::new(MIB);
    let other = ScratchLoop::new(MIB);
    for serial in [
        "",
        "S123",
        other.backing_file().to_str().unwrap(),
        &device.name(),
    ] {
        let grant = ScratchGrant {
            serial: serial.to_owned(),
            wipe_signature: None,
        };
        let refusal = HeldDevice::acquire(device.path(), &grant).unwrap_err();
        assert!(matches!(refusal, Refusal::OtherSerial { .. }), "{refusal}");
        let told = device.backing_file().to_str().unwrap();
        assert!(
            !refusal.to_string().contains(told),
            "the message gives it away"
        );
    }
}

#[test]
fn root_a_mounted_device_is_refused_even_if_its_signature_is_granted() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 64 * MIB);
    let granted = ScratchGrant {
        wipe_signature: Some("ext4".to_owned()),
        ..grant(filesystem.device())
    };
    let refusal = HeldDevice::acquire(filesystem.device().path(), &granted).unwrap_err();
    assert_eq!(errno(&refusal), Some(libc::EBUSY), "{refusal}");
    assert!(refusal.to_string().contains("mounted"), "{refusal}");
}

/// Its second device is in no mount table.
#[test]
fn root_every_device_of_a_mounted_btrfs_is_refused() {
    testkit::require_root!();
    testkit::require_program!("mkfs.btrfs");
    let devices = [ScratchLoop::new(256 * MIB), ScratchLoop::new(256 * MIB)];
    run(Command::new("mkfs.btrfs")
        .args(["-q", "-f", "-d", "single", "-m", "raid1"])
        .args(devices.iter().map(ScratchLoop::path)));
    run(Command::new("btrfs")
        .args(["device", "scan"])
        .args(devices.iter().map(ScratchLoop::path)));
    let folder = scratch_folder();
    let first = &devices[0];
    let mounted =
        MountedFilesystem::mount(first.path(), folder.path(), "btrfs", "", first.undo()).unwrap();
    for device in &devices {
        let refusal = acquire(device).unwrap_err();
        assert_eq!(errno(&refusal), Some(libc::EBUSY), "{refusal}");
    }
    mounted.unmount().unwrap();
    for device in &devices {
        let refusal = acquire(device).unwrap_err();
        assert!(
            matches!(&refusal, Refusal::Signed { found, .. } if found == "btrfs"),
            "{refusal}"
        );
    }
    run(Command::new("btrfs")
        .args(["device", "scan", "--forget"])
        .args(devices.iter().map(ScratchLoop::path)));
}

#[test]
fn root_swap_in_use_is_refused() {
    testkit::require_root!();
    testkit::require_program!("mkswap");
    let device = ScratchLoop::new(16 * MIB);
    run(Command::new("mkswap").arg("-q").arg(device.path()));
    run(Command::new("swapon").arg(device.path()));
    let refusal = acquire(&device);
    run(Command::new("swapoff").arg(device.path()));
    let refusal = refusal.unwrap_err();
    assert_eq!(errno(&refusal), Some(libc::EBUSY), "{refusal}");
    let refusal = acquire(&device).unwrap_err();
    assert!(
        matches!(&refusal, Refusal::Signed { found, .. } if found == "swap"),
        "{refusal}"
    );
}

/// The kernel lets both be opened with O_EXCL.
#[test]
fn root_a_second_loop_device_over_the_same_file_is_found() {
    testkit::require_root!();
    let device = ScratchLoop::new(16 * MIB);
    let alias = LoopDevice::attach(device.backing_file(), 512, true, device.undo()).unwrap();
    let refusal = acquire(&device).unwrap_err();
    assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal}");
    assert!(refusal.to_string().contains(&alias.name()), "{refusal}");
    alias.detach().unwrap();
    acquire(&device).unwrap();
}

#[test]
fn root_a_loop_device_over_the_device_is_found() {
    testkit::require_root!();
    let device = ScratchLoop::new(16 * MIB);
    let above = LoopDevice::attach(device.path(), 512, false, device.undo()).unwrap();
    let refusal = acquire(&device).unwrap_err();
    assert!(refusal.to_string().contains(&above.name()), "{refusal}");
}

/// The lower device may be mounted, and neither `O_EXCL` nor the mount table tells it
/// of the upper one.
#[test]
fn root_a_loop_device_over_a_device_is_refused() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext2, 16 * MIB);
    let below = filesystem.device();
    let above = LoopDevice::attach(below.path(), 512, false, below.undo()).unwrap();
    let granted = ScratchGrant {
        serial: below.path().to_str().unwrap().to_owned(),
        wipe_signature: Some("ext2".to_owned()),
    };
    let refusal = HeldDevice::acquire(above.path(), &granted).unwrap_err();
    assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal}");
    assert!(
        refusal.to_string().contains("another block device"),
        "{refusal}"
    );
}

#[test]
fn root_the_device_of_the_root_file_system_is_refused() {
    testkit::require_root!();
    let number = Path::new("/").metadata().unwrap().dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let Ok(link) = fs::read_link(format!("/sys/dev/block/{major}:{minor}")) else {
        testkit::skip!("/ lies on no block device");
    };
    let path = Path::new("/dev").join(link.file_name().unwrap());
    let grant = ScratchGrant {
        serial: "anything".to_owned(),
        wipe_signature: Some("ext4".to_owned()),
    };
    let refusal = HeldDevice::acquire(&path, &grant).unwrap_err();
    let errno = errno(&refusal).unwrap();
    assert!(
        [libc::EBUSY, libc::EPERM, libc::EACCES].contains(&errno),
        "{refusal}"
    );
}

#[test]
fn root_a_read_only_device_is_refused() {
    testkit::require_root!();
    testkit::require_program!("blockdev");
    let device = ScratchLoop::new(MIB);
    run(Command::new("blockdev").arg("--setro").arg(device.path()));
    let refusal = acquire(&device);
    run(Command::new("blockdev").arg("--setrw").arg(device.path()));
    let refusal = refusal.unwrap_err();
    let errno = errno(&refusal).unwrap();
    assert!(
        [libc::EACCES, libc::EPERM, libc::EROFS].contains(&errno),
        "{refusal}"
    );
    assert!(refusal.to_string().contains("read-only"), "{refusal}");
}

#[test]
fn root_what_is_no_block_device_is_refused_and_a_link_to_one_is_not() {
    testkit::require_root!();
    let device = ScratchLoop::new(MIB);
    let folder = scratch_folder();
    let file = folder.path().join("file");
    fs::write(&file, "text").unwrap();
    let paths = [
        file.clone(),
        folder.path().to_owned(),
        "/dev/null".into(),
        "/nowhere".into(),
    ];
    for path in paths {
        let refusal = HeldDevice::acquire(&path, &grant(&device)).unwrap_err();
        assert!(matches!(refusal, Refusal::NotADevice { .. }), "{refusal}");
    }
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(device.path(), &link).unwrap();
    let held = HeldDevice::acquire(&link, &grant(&device)).unwrap();
    assert_eq!(held.name(), device.name());
}

/// What blkid(8) calls the content.
fn blkid(path: &Path) -> String {
    let output = Command::new("blkid")
        .args(["-p", "-s", "TYPE", "-o", "value"])
        .arg(path)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Made by the programs themselves, and named as blkid names them.
#[test]
fn root_signatures_have_to_be_granted_by_their_name() {
    testkit::require_root!();
    testkit::require_program!("blkid");
    type Make = fn(&Path);
    let makers: [(&str, Make); 6] = [
        ("ext2", |path| LoopKind::Ext2.make(path)),
        ("ext3", |path| LoopKind::Ext3.make(path)),
        ("ext4", |path| LoopKind::Ext4.make(path)),
        ("xfs", |path| LoopKind::Xfs.make(path)),
        ("btrfs", |path| LoopKind::Btrfs.make(path)),
        ("swap", |path| {
            run(Command::new("mkswap").arg("-q").arg(path));
        }),
    ];
    for (name, make) in makers {
        let device = ScratchLoop::prepared(320 * MIB, make);
        assert_eq!(blkid(device.path()), name);
        let with = |wipe: Option<&str>| {
            let granted = ScratchGrant {
                wipe_signature: wipe.map(str::to_owned),
                ..grant(&device)
            };
            HeldDevice::acquire(device.path(), &granted)
        };
        let refusal = with(None).unwrap_err();
        assert!(
            matches!(&refusal, Refusal::Signed { found, .. } if found == name),
            "{refusal}"
        );
        let advice = format!("--wipe-signature {name}");
        assert!(refusal.to_string().contains(&advice), "{refusal}");
        let refusal = with(Some("ntfs")).unwrap_err();
        assert!(
            matches!(refusal, Refusal::OtherSignature { .. }),
            "{refusal}"
        );
        assert_eq!(with(Some(name)).unwrap().destroys(), Some(name));
        assert_eq!(blkid(device.path()), name, "acquiring writes nothing");
    }
}

#[test]
fn root_a_signature_that_is_not_there_cannot_be_granted() {
    testkit::require_root!();
    let device = ScratchLoop::new(MIB);
    let granted = ScratchGrant {
        wipe_signature: Some("ext4".to_owned()),
        ..grant(&device)
    };
    let refusal = HeldDevice::acquire(device.path(), &granted).unwrap_err();
    assert!(
        matches!(refusal, Refusal::OtherSignature { .. }),
        "{refusal}"
    );
    assert!(
        refusal.to_string().contains("holds nothing that is known"),
        "{refusal}"
    );
}

/// Looking at a device does not warm the cache for what is measured next.
#[test]
fn root_nothing_of_the_device_stays_in_the_cache() {
    testkit::require_root!();
    let device = ScratchLoop::new(16 * MIB);
    let _held = acquire(&device).unwrap();
    let files: [PathBuf; 1] = [device.path().to_owned()];
    let residency = stiction_host::residency(&files).unwrap();
    assert_eq!(residency.file_bytes, 16 * MIB);
    assert_eq!(residency.cached_bytes, 0);
    let mut first = [0; 4096];
    File::open(device.path())
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    assert!(stiction_host::residency(&files).unwrap().cached_bytes >= 4096);
}

#[test]
fn root_a_tiny_device_is_looked_at_too() {
    testkit::require_root!();
    let device = ScratchLoop::prepared(4096, |file| {
        File::options()
            .write(true)
            .open(file)
            .unwrap()
            .write_all_at(b"XFSB", 0)
            .unwrap();
    });
    let refusal = acquire(&device).unwrap_err();
    assert!(
        matches!(&refusal, Refusal::Signed { found, .. } if found == "xfs"),
        "{refusal}"
    );
}

/// It is in no mount table that we can see.
#[test]
fn root_a_device_that_is_mounted_in_another_namespace_is_refused() {
    testkit::require_root!();
    let device = ScratchLoop::prepared(16 * MIB, |file| LoopKind::Ext2.make(file));
    let folder = scratch_folder();
    let script = "mount -t ext2 \"$1\" \"$2\" && echo mounted && read _";
    let mut other = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, "sh"])
        .args([device.path(), folder.path()])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = [0; 8];
    other.stdout.take().unwrap().read_exact(&mut said).unwrap();
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(folder.path().to_str().unwrap()));
    let granted = ScratchGrant {
        wipe_signature: Some("ext2".to_owned()),
        ..grant(&device)
    };
    let refusal = HeldDevice::acquire(device.path(), &granted).unwrap_err();
    drop(other.stdin.take());
    other.wait().unwrap();
    assert_eq!(errno(&refusal), Some(libc::EBUSY), "{refusal}");
}
