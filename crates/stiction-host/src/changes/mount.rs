//! A filesystem of our own, mounted.

use std::ffi::CString;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use crate::HostError;
use crate::undo::{Change, Entry, UndoJournal};

/// A mounted filesystem that is unmounted on drop.
#[derive(Debug)]
pub struct MountedFilesystem {
    mount_point: PathBuf,
    entry: Option<Entry>,
}

impl MountedFilesystem {
    /// Mounts `source` as `kind` with `options`, as of mount(8)'s `-o` without the
    /// generic ones, on the folder `mount_point`.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN`, or when the kernel does not know the filesystem
    /// (ENODEV) or an option (EINVAL).
    pub fn mount(
        source: &Path,
        mount_point: &Path,
        kind: &str,
        options: &str,
        undo: &UndoJournal,
    ) -> Result<Self, HostError> {
        Self::mount_with(
            source,
            mount_point,
            kind,
            options,
            MountFlags::empty(),
            undo,
        )
    }

    /// As [`mount`](Self::mount), read-only.
    ///
    /// # Errors
    /// As [`mount`](Self::mount).
    pub fn mount_read_only(
        source: &Path,
        mount_point: &Path,
        kind: &str,
        options: &str,
        undo: &UndoJournal,
    ) -> Result<Self, HostError> {
        Self::mount_with(source, mount_point, kind, options, MountFlags::RDONLY, undo)
    }

    pub(super) fn mount_with(
        source: &Path,
        mount_point: &Path,
        kind: &str,
        options: &str,
        flags: MountFlags,
        undo: &UndoJournal,
    ) -> Result<Self, HostError> {
        let mount_point = mount_point
            .canonicalize()
            .map_err(|error| HostError::refused("mount on", mount_point, error))?;
        let data = CString::new(options).map_err(|_| HostError::Unavailable {
            what: "a mount with these options",
            reason: "they hold a zero byte".to_owned(),
        })?;
        let entry = undo.begin(Change::Mount {
            source: source.to_owned(),
            mount_point: mount_point.clone(),
        })?;
        if let Err(error) = mount(source, &mount_point, kind, flags, data.as_c_str()) {
            entry.undone()?;
            return Err(HostError::refused("mount", source, error));
        }
        Ok(Self {
            mount_point,
            entry: Some(entry),
        })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn mount_point(&self) -> &Path {
        &self.mount_point
    }

    /// Unmounts it.
    ///
    /// # Errors
    /// EBUSY while a file on it is open; it is then unmounted on drop.
    pub fn unmount(mut self) -> Result<(), HostError> {
        self.undo(UnmountFlags::NOFOLLOW)
    }

    fn undo(&mut self, flags: UnmountFlags) -> Result<(), HostError> {
        let Some(entry) = self.entry.take() else {
            return Ok(());
        };
        match unmount(&self.mount_point, flags) {
            Ok(()) => entry.undone(),
            Err(error) => {
                self.entry = Some(entry);
                Err(HostError::refused("unmount", &self.mount_point, error))
            }
        }
    }
}

impl Drop for MountedFilesystem {
    fn drop(&mut self) {
        if self.undo(UnmountFlags::NOFOLLOW).is_err() {
            // Still in use: it leaves the tree now and goes when its last user does.
            // A failure here is not lost: the entry stays open in the undo journal.
            let _ = self.undo(UnmountFlags::NOFOLLOW | UnmountFlags::DETACH);
        }
    }
}
