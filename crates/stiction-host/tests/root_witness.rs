//! What the witnesses say, against what was done and what other programs say.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::FallocateFlags;
use stiction_core::{LayerKind, Layout, Tool, WitnessLevel, Witnesses};
use stiction_host::{
    FactOptions, Witness, drop_file_cache, file_map, observe_environment, observe_target,
    residency, unwritten_bytes,
};
use testkit::{LoopFilesystem, LoopKind, ScratchLoop, Throttle, ThrottleLimits, TmpfsMount};

const MIB: u64 = 1 << 20;
const JOURNALLED: [LoopKind; 3] = [LoopKind::Ext4, LoopKind::Xfs, LoopKind::Btrfs];

/// Bytes at an address that O_DIRECT takes.
struct Aligned {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Aligned {
    fn new(length: usize) -> Self {
        let bytes: Vec<u8> = (0..length + 4096).map(|n| (n * 7 % 251) as u8).collect();
        let start = bytes.as_ptr().align_offset(4096);
        Self {
            bytes,
            start,
            length,
        }
    }

    fn get(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

fn direct(path: &Path) -> File {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .custom_flags(libc::O_DIRECT)
        .open(path)
        .unwrap()
}

fn within_one_percent(got: u64, wanted: u64) -> bool {
    got.abs_diff(wanted) * 100 <= wanted
}

/// The readings around `work` on `file`, which lies on one file system.
fn witnessed(file: &Path, work: impl FnOnce()) -> Witnesses {
    let folder = file.parent().unwrap();
    let stack = observe_target(folder, FactOptions::default()).unwrap();
    let witness = Witness::begin(WitnessLevel::Light, &[stack], &[file.to_owned()]);
    work();
    witness.finish()
}

#[test]
fn root_device_bytes_agree_with_bytes_moved_past_the_cache() {
    testkit::require_root!();
    let total = 128 * MIB;
    for kind in LoopKind::ALL {
        testkit::require_program!(kind.mkfs());
        let filesystem = LoopFilesystem::new(kind, 1024 * MIB);
        let path = filesystem.path().join("file");
        let mut buffer = Aligned::new(1 << 20);
        let wrote = witnessed(&path, || {
            let file = direct(&path);
            for offset in (0..total).step_by(1 << 20) {
                file.write_all_at(buffer.get(), offset).unwrap();
            }
            file.sync_all().unwrap();
        });
        let name = kind.name();
        let [device] = &wrote.devices[..] else {
            panic!("{name}: {:?} {:?}", wrote.devices, wrote.missing);
        };
        assert_eq!(device.device, filesystem.device().name());
        assert!(
            within_one_percent(device.written_bytes, total),
            "{name}: the device says {} of {total}",
            device.written_bytes
        );
        assert!(wrote.missing.is_empty(), "{name}: {:?}", wrote.missing);
        assert!(
            wrote.residency_before.is_none(),
            "{name}: the file was not there"
        );
        assert_eq!(wrote.residency_after.unwrap().file_bytes, total);
        assert!(wrote.extents.unwrap() >= 1, "{name}");

        drop_file_cache(std::slice::from_ref(&path)).unwrap();
        let read = witnessed(&path, || {
            let file = direct(&path);
            for offset in (0..total).step_by(1 << 20) {
                file.read_exact_at(buffer.get(), offset).unwrap();
            }
        });
        let device = &read.devices[0];
        assert!(
            within_one_percent(device.read_bytes, total),
            "{name}: the device says {} of {total}",
            device.read_bytes
        );
        assert_eq!(read.residency_before.unwrap().cached_bytes, 0, "{name}");
        assert_eq!(read.unwritten_bytes, Some(0), "{name}");
        assert!(read.process_cpu.unwrap().total_ns > 0, "{name}");
        // Busy time is sampled by the tick: on a quiet machine a read this short may
        // fall between two. That time passed at all is certain.
        let machine = read.system_cpu.unwrap();
        let passed_ns = machine.busy_ns() + machine.idle_ns + machine.io_wait_ns;
        assert!(passed_ns > 0, "{name}: {machine:?}");
    }
}

/// The readings around a raw device.
#[test]
fn root_a_raw_device_is_witnessed_too() {
    testkit::require_root!();
    let device = ScratchLoop::new(64 * MIB);
    let stack = observe_target(device.path(), FactOptions::default()).unwrap();
    assert_eq!(stack.filesystem, None);
    let files = [device.path().to_owned()];
    let witness = Witness::begin(WitnessLevel::Light, &[stack], &files);
    let mut buffer = Aligned::new(1 << 20);
    let file = direct(device.path());
    for offset in (0..16 * MIB).step_by(1 << 20) {
        file.write_all_at(buffer.get(), offset).unwrap();
    }
    let seen = witness.finish();
    assert_eq!(seen.devices[0].written_bytes, 16 * MIB);
    assert_eq!(seen.residency_after.unwrap().file_bytes, 64 * MIB);
    assert_eq!((seen.unwritten_bytes, seen.extents), (None, None));
}

/// A read from the cache moves nothing on the device.
#[test]
fn root_a_cached_read_shows_as_one() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 256 * MIB);
    let path = filesystem.path().join("file");
    fs::write(&path, vec![7; 32 << 20]).unwrap();
    File::open(&path).unwrap().sync_all().unwrap();
    let seen = witnessed(&path, || {
        let mut bytes = Vec::new();
        File::open(&path).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes.len(), 32 << 20);
    });
    assert_eq!(seen.residency_before.unwrap().cached_bytes, 32 * MIB);
    assert!(seen.devices[0].read_bytes < MIB, "{:?}", seen.devices);
}

#[test]
fn root_nothing_stays_in_the_cache_after_a_drop() {
    testkit::require_root!();
    for kind in JOURNALLED {
        testkit::require_program!(kind.mkfs());
        let filesystem = LoopFilesystem::new(kind, 512 * MIB);
        let paths: [PathBuf; 2] = ["a", "b"].map(|name| filesystem.path().join(name));
        for path in &paths {
            fs::write(path, vec![3; (8 << 20) + 1000]).unwrap();
        }
        let name = kind.name();
        let before = residency(&paths).unwrap();
        assert_eq!(before.file_bytes, 2 * (8 * MIB + 1000), "{name}");
        assert_eq!(before.cached_bytes, before.file_bytes, "{name}");
        assert!(before.dirty_bytes > 0, "{name}");
        let dropped = drop_file_cache(&paths).unwrap();
        assert_eq!(dropped.before, before, "{name}");
        assert!(dropped.is_complete(), "{name}: {dropped:?}");
        assert_eq!(dropped.after.dirty_bytes, 0, "{name}");
        assert_eq!(fs::read(&paths[1]).unwrap()[(8 << 20) + 999], 3, "{name}");
    }
}

#[test]
fn root_what_lives_in_memory_cannot_leave_it_and_says_so() {
    testkit::require_root!();
    let tmpfs = TmpfsMount::new(16 * MIB);
    let path = tmpfs.path().join("file");
    fs::write(&path, vec![3; 1 << 20]).unwrap();
    let dropped = drop_file_cache(&[path]).unwrap();
    assert_eq!(dropped.after.cached_bytes, MIB);
    assert!(!dropped.is_complete());
    assert!(
        dropped.method.contains("lives in memory"),
        "{}",
        dropped.method
    );
}

#[test]
fn root_holes_and_preallocated_space_are_unwritten() {
    testkit::require_root!();
    for kind in JOURNALLED {
        testkit::require_program!(kind.mkfs());
        let filesystem = LoopFilesystem::new(kind, 512 * MIB);
        let name = kind.name();
        let unwritten = |path: &Path| unwritten_bytes(&[path.to_owned()]).unwrap();

        let sparse = filesystem.path().join("sparse");
        File::create(&sparse).unwrap().set_len(8 * MIB).unwrap();
        assert_eq!(unwritten(&sparse), 8 * MIB, "{name}");

        let path = filesystem.path().join("preallocated");
        let mut file = File::create(&path).unwrap();
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, 8 * MIB).unwrap();
        assert_eq!(unwritten(&path), 8 * MIB, "{name}: allocated");
        fs::read(&path).unwrap();
        assert_eq!(
            unwritten(&path),
            8 * MIB,
            "{name}: read, so zeros are in the cache"
        );
        drop_file_cache(std::slice::from_ref(&path)).unwrap();
        file.write_all(&[1; 1 << 20]).unwrap();
        assert_eq!(unwritten(&path), 7 * MIB, "{name}: written to the cache");
        file.sync_all().unwrap();
        assert_eq!(unwritten(&path), 7 * MIB, "{name}: written to the device");

        let full = filesystem.path().join("full");
        fs::write(&full, [1; 12345]).unwrap();
        assert_eq!(unwritten(&full), 0, "{name}: before it has a place");
        File::open(&full).unwrap().sync_all().unwrap();
        assert_eq!(unwritten(&full), 0, "{name}: with a place");
    }
}

/// The count that filefrag(8) prints last: `file: 12 extents found`.
fn filefrag(path: &Path) -> u64 {
    let output = Command::new("filefrag")
        .arg("-v")
        .arg(path)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let last = text.lines().last().unwrap();
    let (count, _) = last.rsplit_once(": ").unwrap().1.split_once(' ').unwrap();
    count.parse().unwrap()
}

/// Two files of so many blocks, written in turn, a block of 4 KiB each; how far they are
/// intermingled then. With `O_DIRECT` a filesystem chooses places as it goes; without, when
/// it writes back.
fn interleaved(kind: LoopKind, is_direct: bool, blocks: u64) -> f64 {
    let filesystem = LoopFilesystem::new(kind, 512 * MIB);
    let paths = ["a", "b"].map(|name| filesystem.path().join(name));
    let files = paths.each_ref().map(|path| match is_direct {
        true => direct(path),
        false => File::create(path).unwrap(),
    });
    let mut buffer = Aligned::new(4096);
    for block in 0..blocks {
        for file in &files {
            file.write_all_at(buffer.get(), block * 4096).unwrap();
        }
    }
    let maps = paths.each_ref().map(|path| file_map(path, true).unwrap());
    let layout = Layout::of(&maps).unwrap();
    let by_filefrag: u64 = paths.iter().map(|path| filefrag(path)).sum();
    assert_eq!(layout.extents, by_filefrag, "{}", kind.name());
    layout.interleave_ratio().unwrap()
}

/// XFS and btrfs give each direct write the next free block; delayed allocation waits for
/// a whole file; the ext4 driver reserves ahead, on ext2 too, in windows that grow with
/// the file to some hundred blocks: 0.003 of the changes that there can be.
#[test]
fn root_files_written_in_turn_intermingle_as_their_filesystem_allocates() {
    testkit::require_root!();
    testkit::require_program!("filefrag");
    for kind in [
        LoopKind::Ext2,
        LoopKind::Ext4,
        LoopKind::Xfs,
        LoopKind::Btrfs,
    ] {
        testkit::require_program!(kind.mkfs());
    }
    assert_eq!(interleaved(LoopKind::Xfs, true, 700), 1.0);
    assert_eq!(interleaved(LoopKind::Btrfs, true, 700), 1.0);
    assert_eq!(interleaved(LoopKind::Ext4, false, 700), 0.0);
    let reserved = interleaved(LoopKind::Ext2, false, 8192);
    assert!((0.002..0.005).contains(&reserved), "{reserved}");
}

/// Memory has no extents, and a map of none is not a file in one piece.
#[test]
fn root_where_there_is_no_map_there_is_no_layout() {
    testkit::require_root!();
    let tmpfs = TmpfsMount::new(16 * MIB);
    let path = tmpfs.path().join("file");
    File::create(&path)
        .unwrap()
        .write_all_at(&[1; 4096], 8192)
        .unwrap();
    let map = file_map(&path, true).unwrap();
    assert_eq!((map.extents.as_ref(), map.hole_bytes), (None, 8192));
    assert_eq!(Layout::of(&[map]), None);
}

/// Two files that grow in turn, block by block, lie in pieces on some file systems.
#[test]
fn root_extents_are_counted_as_filefrag_counts_them() {
    testkit::require_root!();
    testkit::require_program!("filefrag");
    let mut most = 0;
    for kind in LoopKind::ALL {
        testkit::require_program!(kind.mkfs());
        let filesystem = LoopFilesystem::new(kind, 512 * MIB);
        let paths = ["a", "b"].map(|name| filesystem.path().join(name));
        let files = [direct(&paths[0]), direct(&paths[1])];
        let mut buffer = Aligned::new(4096);
        for block in 0..700u64 {
            for file in &files {
                file.write_all_at(buffer.get(), block * 4096).unwrap();
            }
        }
        for (file, path) in files.iter().zip(&paths) {
            file.sync_all().unwrap();
            let map = file_map(path, false).unwrap();
            let ours = Layout::of(&[map]).unwrap().extents;
            assert_eq!(ours, filefrag(path), "{}", kind.name());
            most = most.max(ours);
        }
    }
    assert!(
        most > 600,
        "no file system has left more extents than fit in one call"
    );
}

#[test]
fn root_the_stack_of_a_loop_device_is_seen_to_its_disk() {
    testkit::require_root!();
    let filesystem =
        LoopFilesystem::with_options(LoopKind::Ext4, 64 * MIB, "data=writeback,commit=7");
    let inside = filesystem.path().join("a folder");
    fs::create_dir(&inside).unwrap();
    let stack = observe_target(&inside, FactOptions::default()).unwrap();
    let top = stack.filesystem.as_ref().unwrap();
    assert_eq!(top.kind, "ext4");
    assert_eq!(top.devices, [filesystem.device().name()]);
    assert!(top.filesystem_options.contains(&"commit=7".to_owned()));
    assert!(
        top.filesystem_options
            .contains(&"data=writeback".to_owned())
    );
    assert!(top.size_bytes > 50 * MIB && top.size_bytes < 64 * MIB);
    let layer = &stack.layers[0];
    assert_eq!(layer.kind, LayerKind::Loop);
    assert_eq!(layer.device_number, filesystem.device().device_number());
    assert_eq!(layer.size_bytes, 64 * MIB);
    assert_eq!(layer.loop_direct_io, Some(true));
    let backing = layer.backing.as_ref().unwrap();
    let below = observe_target(Path::new("/var/tmp"), FactOptions::default()).unwrap();
    assert_eq!(
        backing.filesystem.as_ref().unwrap().kind,
        below.filesystem.unwrap().kind
    );
    assert_eq!(backing.layers, below.layers);
}

#[test]
fn root_btrfs_over_two_devices_is_witnessed_on_both() {
    testkit::require_root!();
    testkit::require_program!("mkfs.btrfs");
    let devices = [ScratchLoop::new(256 * MIB), ScratchLoop::new(256 * MIB)];
    let nodes = devices.iter().map(ScratchLoop::path);
    testkit::run(
        Command::new("mkfs.btrfs")
            .args(["-q", "-f", "-d", "raid0"])
            .args(nodes.clone()),
    );
    testkit::run(
        Command::new("btrfs")
            .args(["device", "scan"])
            .args(nodes.clone()),
    );
    let folder = testkit::scratch_folder();
    let mounted = stiction_host::MountedFilesystem::mount(
        devices[0].path(),
        folder.path(),
        "btrfs",
        "",
        devices[0].undo(),
    )
    .unwrap();
    let path = folder.path().join("file");
    let seen = witnessed(&path, || {
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![5; 32 << 20]).unwrap();
        file.sync_all().unwrap();
    });
    assert_eq!(seen.devices.len(), 2, "{:?}", seen.missing);
    for device in &seen.devices {
        assert!(device.written_bytes >= 15 * MIB, "{device:?}");
    }
    mounted.unmount().unwrap();
    testkit::run(
        Command::new("btrfs")
            .args(["device", "scan", "--forget"])
            .args(nodes),
    );
}

#[test]
fn root_a_ceiling_of_our_control_group_is_a_fact() {
    testkit::require_root!();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 64 * MIB);
    let limits = ThrottleLimits {
        read_bytes_per_s: 10 * MIB,
        write_operations_per_s: 100,
        ..ThrottleLimits::default()
    };
    let number = filesystem.device().device_number();
    let throttle = match Throttle::new(number, limits) {
        Ok(throttle) => throttle,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let observe = || {
        let targets = [filesystem.path()];
        observe_environment(&targets, Tool::default(), FactOptions::default())
    };
    let found = observe().limits.io;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].device_number, number);
    assert_eq!(found[0].read_bytes_per_s, Some(10 * MIB));
    assert_eq!(found[0].write_bytes_per_s, None);
    assert_eq!(found[0].write_operations_per_s, Some(100));
    assert!(
        found[0].source.contains(throttle.path().to_str().unwrap()),
        "{}",
        found[0].source
    );
    drop(throttle);
    assert!(observe().limits.io.is_empty());
}

/// What an overlay writes goes to the device of its upper folder.
#[test]
fn root_an_overlay_is_witnessed_on_the_device_of_its_upper_folder() {
    testkit::require_root!();
    let upper = LoopFilesystem::new(LoopKind::Ext4, 128 * MIB);
    for name in ["lower", "upper", "work"] {
        fs::create_dir(upper.path().join(name)).unwrap();
    }
    let folder = testkit::scratch_folder();
    let at = |name: &str| upper.path().join(name).display().to_string();
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        at("lower"),
        at("upper"),
        at("work")
    );
    let mounted = match stiction_host::MountedFilesystem::mount(
        Path::new("overlay"),
        folder.path(),
        "overlay",
        &options,
        upper.device().undo(),
    ) {
        Ok(mounted) => mounted,
        Err(error) if error.errno() == Some(libc::ENODEV) => testkit::skip!("{error}"),
        Err(error) => panic!("{error}"),
    };
    let path = folder.path().join("file");
    let seen = witnessed(&path, || {
        let mut file = File::create(&path).unwrap();
        file.write_all(&vec![5; 16 << 20]).unwrap();
        file.sync_all().unwrap();
    });
    assert_eq!(seen.devices[0].device, upper.device().name());
    assert!(
        within_one_percent(seen.devices[0].written_bytes, 16 * MIB),
        "{:?}",
        seen.devices
    );
    drop(mounted);
}

#[test]
fn root_fuse_is_witnessed_as_far_as_it_goes() {
    testkit::require_root!();
    let filesystem = match testkit::FaultFs::mount(testkit::Faults::default()) {
        Ok(filesystem) => filesystem,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let path = filesystem.path().join("file");
    let seen = witnessed(&path, || fs::write(&path, vec![5; 1 << 20]).unwrap());
    assert!(seen.devices.is_empty());
    assert!(
        seen.missing
            .iter()
            .any(|reason| reason.contains("no block device")),
        "{:?}",
        seen.missing
    );
    assert_eq!(seen.residency_after.unwrap().file_bytes, MIB);
    assert_eq!(seen.extents, None);
    let stack = observe_target(filesystem.path(), FactOptions::default()).unwrap();
    let kind = stack.filesystem.unwrap().kind;
    assert!(kind.starts_with("fuse"), "{kind}");
}
