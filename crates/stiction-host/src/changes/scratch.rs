//! A filesystem made for one trial, on a loop device of our own over a file in a
//! directory of the user's.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use stiction_core::{Applied, Seed, Setting};

use super::filesystem_kind::{FilesystemKind, JournalPlace};
use super::mount_options;
use crate::sys::block;
use crate::undo::UndoJournal;
use crate::{
    GrantedDevice, HostError, LoopDevice, MountedFilesystem, OwnDirectory, Roots, SpaceDevice,
};

/// Length of an external journal, bytes: above the 64 MiB that mkfs.xfs(8) wants.
pub(super) const JOURNAL_BYTES: u64 = 128 << 20;
/// Blocks of the device, bytes.
const BLOCK_BYTES: u32 = 512;

/// Space of our own inside a directory of the user's: a loop device over a file, past
/// the page cache of the filesystem under it where that can be. Empty of a filesystem.
#[derive(Debug)]
pub struct ScratchSpace {
    // In the order in which they must go.
    journal: Option<LoopDevice>,
    device: Option<SpaceDevice>,
    own: OwnDirectory,
}

impl ScratchSpace {
    /// Makes `size_bytes` of space in `directory`, and an external journal beside it
    /// where one is wanted. A filesystem in memory has no device.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN`, free loop devices or room.
    pub fn make(
        directory: &Path,
        kind: FilesystemKind,
        journal: JournalPlace,
        size_bytes: u64,
        undo: &UndoJournal,
    ) -> Result<Self, HostError> {
        let own = OwnDirectory::create(directory, undo)?;
        let device = |name: &str, bytes| {
            let path = own.path().join(name);
            reserve(&path, bytes)?;
            LoopDevice::attach(&path, BLOCK_BYTES, true, undo)
        };
        let is_external = journal == JournalPlace::External;
        let (device, journal) = match kind {
            FilesystemKind::Tmpfs => (None, None),
            _ => (
                Some(SpaceDevice::Loop(device("device", size_bytes)?)),
                is_external
                    .then(|| device("journal", JOURNAL_BYTES))
                    .transpose()?,
            ),
        };
        Ok(Self {
            journal,
            device,
            own,
        })
    }

    /// The same on a device that was granted; in `directory` is only where it is mounted.
    ///
    /// # Errors
    /// When the device cannot be had, or the filesystem or its journal would be elsewhere.
    pub fn on_granted(
        device: &GrantedDevice,
        directory: &Path,
        kind: FilesystemKind,
        journal: JournalPlace,
        undo: &UndoJournal,
    ) -> Result<Self, HostError> {
        let elsewhere = |what, reason: &str| HostError::Unavailable {
            what,
            reason: reason.to_owned(),
        };
        if kind == FilesystemKind::Tmpfs {
            let reason = "it is in memory, and not on the granted device";
            return Err(elsewhere("this filesystem", reason));
        }
        if journal == JournalPlace::External {
            let reason = "it would need another device beside the granted one";
            return Err(elsewhere("an external journal", reason));
        }
        let own = OwnDirectory::create(directory, undo)?;
        Ok(Self {
            journal: None,
            device: Some(SpaceDevice::Granted(device.lend()?)),
            own,
        })
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Option<&SpaceDevice> {
        self.device.as_ref()
    }

    /// Takes everything away.
    ///
    /// # Errors
    /// When the kernel refuses; what is left stays in the undo journal.
    pub fn close(self) -> Result<(), HostError> {
        self.journal.map_or(Ok(()), LoopDevice::detach)?;
        self.device.map_or(Ok(()), SpaceDevice::close)?;
        self.own.close()
    }
}

/// A file that has its space, so that the device over it cannot run out of it; where the
/// filesystem cannot give it beforehand, one full of holes.
fn reserve(path: &Path, bytes: u64) -> Result<(), HostError> {
    let refused = |error| HostError::refused("make a file for a device at", path, error);
    let file = File::create_new(path).map_err(refused)?;
    match fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        Err(Errno::OPNOTSUPP) => file.set_len(bytes).map_err(refused),
        other => other.map_err(|errno| refused(errno.into())),
    }
}

/// How a filesystem is made and mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesystemRecipe {
    /// Where its journal is.
    pub journal: JournalPlace,
    /// Options of the program that makes it, behind our own.
    pub mkfs_options: Vec<String>,
    /// Options of mount(8): `noatime,data=journal`.
    pub mount_options: String,
}

/// A filesystem on scratch space, mounted; unmounted on drop.
#[derive(Debug)]
pub struct ScratchFilesystem {
    mounted: MountedFilesystem,
}

impl ScratchFilesystem {
    /// Makes and mounts a filesystem, and tells which mount options the kernel took. What
    /// a filesystem leaves to chance follows from `seed`, where its program lets it.
    ///
    /// # Errors
    /// When the kernel or the tools do not have it, or refuse an option.
    pub fn make(
        space: &ScratchSpace,
        kind: FilesystemKind,
        recipe: &FilesystemRecipe,
        (size_bytes, seed): (u64, Seed),
        undo: &UndoJournal,
    ) -> Result<(Self, Vec<Applied>), HostError> {
        if let Some(reason) = kind.missing_in(&Roots::live()) {
            return Err(HostError::Unavailable {
                what: "this filesystem",
                reason: reason.detail,
            });
        }
        let mount_point = space.own.path().join("mounted");
        std::fs::create_dir(&mount_point)
            .map_err(|error| HostError::refused("make a directory at", &mount_point, error))?;
        let journal = space.journal.as_ref().map(LoopDevice::path);
        let (source, needed) = match &space.device {
            Some(device) => {
                device.check()?;
                kind.make(device.path(), recipe, journal, seed)?;
                (device.path().to_owned(), needed(kind, journal))
            }
            None => (PathBuf::from("tmpfs"), format!("size={size_bytes}")),
        };
        let target = Target {
            source: &source,
            name: space
                .device
                .as_ref()
                .map(SpaceDevice::name)
                .unwrap_or_default(),
            mount_point: &mount_point,
            kind,
            needed: &needed,
            undo,
        };
        let mut applied = Vec::new();
        let asked = Setting::new("mount_options", recipe.mount_options.clone());
        let mounted = if asked.level.is_empty() {
            target.mount("")?
        } else {
            // Once without them, to see what they change.
            let plain = target.mount("")?;
            let before = target.shown();
            plain.unmount()?;
            let mounted = target.mount(&asked.level)?;
            applied.push(mount_options::applied(asked, &before, &target.shown()));
            mounted
        };
        Ok((Self { mounted }, applied))
    }

    /// Its top folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.mounted.mount_point()
    }

    /// Gives its free blocks back to the device under it; how many bytes these were.
    ///
    /// # Errors
    /// EOPNOTSUPP or ENOTTY where the filesystem or the device cannot.
    pub fn trim(&self) -> Result<u64, HostError> {
        let path = self.path();
        let refused = |error| HostError::refused("trim the filesystem at", path, error);
        let folder = File::open(path).map_err(refused)?;
        block::trim_free_blocks(&folder).map_err(refused)
    }

    /// As what it is mounted.
    #[must_use]
    pub fn found_kind(&self) -> Option<String> {
        let mounts = crate::stack::mountinfo::read(&Roots::live()).ok()?;
        let mut mounts = mounts.into_iter().rev();
        let mount = mounts.find(|mount| mount.mount_point == self.path())?;
        Some(mount.kind)
    }

    /// Unmounts it.
    ///
    /// # Errors
    /// EBUSY while a file on it is open.
    pub fn unmount(self) -> Result<(), HostError> {
        self.mounted.unmount()
    }
}

/// What the mount of an external journal cannot do without.
fn needed(kind: FilesystemKind, journal: Option<&Path>) -> String {
    match (kind, journal) {
        (FilesystemKind::Xfs, Some(journal)) => format!("logdev={}", journal.display()),
        _ => String::new(),
    }
}

/// What is mounted, and where.
struct Target<'a> {
    source: &'a Path,
    /// Kernel name of the device.
    name: String,
    mount_point: &'a Path,
    kind: FilesystemKind,
    needed: &'a str,
    undo: &'a UndoJournal,
}

impl Target<'_> {
    fn mount(&self, options: &str) -> Result<MountedFilesystem, HostError> {
        let (flags, text) = mount_options::split(options);
        let text = [self.needed, text.as_str()].map(str::to_owned);
        let text: Vec<String> = text.into_iter().filter(|part| !part.is_empty()).collect();
        let kind = self.kind.mounted_as();
        let text = text.join(",");
        let mounted = MountedFilesystem::mount_with(
            self.source,
            self.mount_point,
            kind,
            &text,
            flags,
            self.undo,
        );
        mounted.map_err(|error| match error.errno() {
            Some(libc::EINVAL | libc::EOPNOTSUPP) => HostError::Unavailable {
                what: "this mount",
                reason: format!(
                    "the kernel refuses {kind} with `{text}` (EINVAL); `dmesg` may tell why"
                ),
            },
            Some(libc::ENODEV) => HostError::Unavailable {
                what: "this filesystem",
                reason: format!("this kernel does not know {kind} (ENODEV)"),
            },
            _ => error,
        })
    }

    fn shown(&self) -> BTreeSet<String> {
        mount_options::in_force(&Roots::live(), self.mount_point, &self.name)
    }
}
