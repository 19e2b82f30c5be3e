//! File systems on loop devices, made for one test and gone after it.

use std::path::{Path, PathBuf};
use std::process::Command;

use stiction_host::{LoopDevice, MountedFilesystem, UndoJournal};
use tempfile::TempDir;

use crate::fault_fs::{Disk, FaultFs, Faults};
use crate::undo;

/// The kinds of file system that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// ext2.
    Ext2,
    /// ext3.
    Ext3,
    /// ext4.
    Ext4,
    /// XFS; at least 300 MiB.
    Xfs,
    /// btrfs; at least 110 MiB.
    Btrfs,
}

impl LoopKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Ext2, Self::Ext3, Self::Ext4, Self::Xfs, Self::Btrfs];

    /// The name by which it is mounted.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ext2 => "ext2",
            Self::Ext3 => "ext3",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
        }
    }

    /// The program that makes it, for [`require_program!`](crate::require_program).
    #[must_use]
    pub fn mkfs(self) -> &'static str {
        match self {
            Self::Ext2 | Self::Ext3 | Self::Ext4 => "mke2fs",
            Self::Xfs => "mkfs.xfs",
            Self::Btrfs => "mkfs.btrfs",
        }
    }

    /// Options that make it quickly, and leave nothing to be written later on: what
    /// ext4 initialises lazily would show in the device's counters.
    fn mkfs_options(self) -> &'static [&'static str] {
        const EXT: &str = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
        match self {
            Self::Ext2 => &["-q", "-F", "-t", "ext2", "-E", EXT],
            Self::Ext3 => &["-q", "-F", "-t", "ext3", "-E", EXT],
            Self::Ext4 => &["-q", "-F", "-t", "ext4", "-E", EXT],
            Self::Xfs => &["-q", "-f", "-K"],
            Self::Btrfs => &["-q", "-f", "-K"],
        }
    }

    /// Makes the file system in a file or on a device.
    ///
    /// # Panics
    /// When the program is missing or fails.
    pub fn make(self, path: &Path) {
        run(Command::new(self.mkfs())
            .args(self.mkfs_options())
            .arg(path));
    }
}

/// Runs a program to its end, silently.
///
/// # Panics
/// When it cannot be started or fails, with what it said.
pub fn run(command: &mut Command) {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{command:?}: {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A block device over a sparse file that does direct I/O.
#[derive(Debug)]
pub struct ScratchLoop {
    // In the order in which they must go.
    device: LoopDevice,
    backing_file: PathBuf,
    folder: Folder,
    undo: UndoJournal,
}

/// Where the file under a device is; it goes when the device is gone.
#[derive(Debug)]
enum Folder {
    OnDisk(TempDir),
    InMemory(TmpfsMount),
    Served(FaultFs),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Self::OnDisk(folder) => folder.path(),
            Self::InMemory(tmpfs) => tmpfs.path(),
            Self::Served(served) => served.path(),
        }
    }
}

impl ScratchLoop {
    /// An empty device of `size_bytes` with 512-byte blocks.
    ///
    /// # Panics
    /// Without root, loop devices or space.
    #[must_use]
    pub fn new(size_bytes: u64) -> Self {
        Self::prepared(size_bytes, |_| {})
    }

    /// As [`new`](Self::new), with `prepare` called on the file before it is
    /// attached.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn prepared(size_bytes: u64, prepare: impl FnOnce(&Path)) -> Self {
        Self::in_folder(Folder::OnDisk(undo::scratch_folder()), size_bytes, prepare)
    }

    /// As [`prepared`](Self::prepared), over a file in memory: a device whose own
    /// speed is that of the loop driver.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn in_memory(size_bytes: u64, prepare: impl FnOnce(&Path)) -> Self {
        let tmpfs = TmpfsMount::new(size_bytes + (1 << 20));
        Self::in_folder(Folder::InMemory(tmpfs), size_bytes, prepare)
    }

    /// As [`in_memory`](Self::in_memory), where the memory holds `space_bytes` alone: what
    /// is written beyond them fails when it reaches the device.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn overcommitted(size_bytes: u64, space_bytes: u64, prepare: impl FnOnce(&Path)) -> Self {
        let tmpfs = TmpfsMount::new(space_bytes);
        Self::in_folder(Folder::InMemory(tmpfs), size_bytes, prepare)
    }

    /// As [`prepared`](Self::prepared), over a file that we serve ourselves, with nothing
    /// wrong with it before [`served`](Self::served) sets it.
    ///
    /// # Panics
    /// As [`new`](Self::new), and without FUSE.
    #[must_use]
    pub fn on_fault_fs(size_bytes: u64, prepare: impl FnOnce(&Path)) -> Self {
        let served = FaultFs::mount(Faults::default()).expect("a FUSE file system");
        Self::in_folder(Folder::Served(served), size_bytes, prepare)
    }

    fn in_folder(folder: Folder, size_bytes: u64, prepare: impl FnOnce(&Path)) -> Self {
        let undo = undo::journal();
        let backing_file = folder.path().join("device");
        std::fs::File::create_new(&backing_file)
            .and_then(|file| file.set_len(size_bytes))
            .expect("a sparse file");
        prepare(&backing_file);
        let device = LoopDevice::attach(&backing_file, 512, true, &undo).expect("a loop device");
        Self {
            device,
            backing_file,
            folder,
            undo,
        }
    }

    /// The device node: `/dev/loop3`.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.device.path()
    }

    /// Kernel name: `loop3`.
    #[must_use]
    pub fn name(&self) -> String {
        self.device.name()
    }

    /// Major and minor number.
    #[must_use]
    pub fn device_number(&self) -> (u32, u32) {
        self.device.device_number()
    }

    /// The file under the device.
    #[must_use]
    pub fn backing_file(&self) -> &Path {
        &self.backing_file
    }

    /// What serves the file under the device, where we do: what is set there, the device
    /// does.
    ///
    /// # Panics
    /// When the file lies on a file system that is not ours.
    #[must_use]
    pub fn served(&self) -> &FaultFs {
        match &self.folder {
            Folder::Served(served) => served,
            other => panic!("{other:?} does as it is told by nobody"),
        }
    }

    /// The journal in which it stands.
    #[must_use]
    pub fn undo(&self) -> &UndoJournal {
        &self.undo
    }
}

/// A mounted file system on a loop device of its own.
#[derive(Debug)]
pub struct LoopFilesystem {
    // In the order in which they must go.
    mounted: MountedFilesystem,
    device: ScratchLoop,
    mount_point: TempDir,
    kind: LoopKind,
}

impl LoopFilesystem {
    /// A file system of `kind` on a sparse device of `size_bytes`.
    ///
    /// # Panics
    /// Without root, loop devices or the program that makes it.
    #[must_use]
    pub fn new(kind: LoopKind, size_bytes: u64) -> Self {
        Self::with_options(kind, size_bytes, "")
    }

    /// As [`new`](Self::new), mounted with `options` (`data=journal,commit=1`).
    ///
    /// # Panics
    /// As [`new`](Self::new), and when the kernel refuses the options.
    #[must_use]
    pub fn with_options(kind: LoopKind, size_bytes: u64, options: &str) -> Self {
        Self::on_device(
            kind,
            ScratchLoop::prepared(size_bytes, |file| kind.make(file)),
            options,
        )
    }

    /// A file system of `kind` that believes in a device of `size_bytes`, of which
    /// `space_bytes` are there.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    #[must_use]
    pub fn overcommitted(kind: LoopKind, size_bytes: u64, space_bytes: u64) -> Self {
        let make = |file: &Path| kind.make(file);
        Self::on_device(
            kind,
            ScratchLoop::overcommitted(size_bytes, space_bytes, make),
            "",
        )
    }

    /// A file system of `kind` on a disk that is a model; what was done before it is
    /// mounted took no time.
    ///
    /// # Panics
    /// As [`new`](Self::new), and without FUSE.
    #[must_use]
    pub fn on_disk(kind: LoopKind, size_bytes: u64, disk: Disk) -> Self {
        let device = ScratchLoop::on_fault_fs(size_bytes, |file| kind.make(file));
        let filesystem = Self::on_device(kind, device, "");
        filesystem.device.served().set(Faults {
            disk: Some(disk),
            ..Faults::default()
        });
        filesystem
    }

    fn on_device(kind: LoopKind, device: ScratchLoop, options: &str) -> Self {
        let mount_point = undo::scratch_folder();
        let mounted = MountedFilesystem::mount(
            device.path(),
            mount_point.path(),
            kind.name(),
            options,
            device.undo(),
        )
        .expect("a mounted file system");
        Self {
            mounted,
            device,
            mount_point,
            kind,
        }
    }

    /// Its top folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mounted.mount_point()
    }

    /// The device under it.
    #[must_use]
    pub fn device(&self) -> &ScratchLoop {
        &self.device
    }

    /// Mounts it again, read-only.
    ///
    /// # Panics
    /// When it is in use.
    #[must_use]
    pub fn read_only(self) -> Self {
        let Self {
            mounted,
            device,
            mount_point,
            kind,
        } = self;
        mounted.unmount().expect("an unused file system");
        let mounted = MountedFilesystem::mount_read_only(
            device.path(),
            mount_point.path(),
            kind.name(),
            "",
            device.undo(),
        )
        .expect("a mounted file system");
        Self {
            mounted,
            device,
            mount_point,
            kind,
        }
    }
}

/// A tmpfs of its own.
#[derive(Debug)]
pub struct TmpfsMount {
    // In the order in which they must go.
    mounted: MountedFilesystem,
    _mount_point: TempDir,
}

impl TmpfsMount {
    /// A tmpfs of `size_bytes`.
    ///
    /// # Panics
    /// Without root.
    #[must_use]
    pub fn new(size_bytes: u64) -> Self {
        let mount_point = undo::scratch_folder();
        let mounted = MountedFilesystem::mount(
            Path::new("tmpfs"),
            mount_point.path(),
            "tmpfs",
            &format!("size={size_bytes}"),
            &undo::journal(),
        )
        .expect("a tmpfs");
        Self {
            mounted,
            _mount_point: mount_point,
        }
    }

    /// Its top folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mounted.mount_point()
    }
}
