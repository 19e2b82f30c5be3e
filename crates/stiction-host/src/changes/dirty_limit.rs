//! How much of one device's data may be dirty in memory
//! (`Documentation/ABI/testing/sysfs-class-bdi`).

use std::path::Path;

use stiction_core::{Applied, Setting, parse_size_bytes};

use super::kernel_files::KernelFiles;
use crate::undo::UndoJournal;
use crate::{GrantedDevice, HostError, LoopDevice, Roots};

/// What is kept: the limit in parts of a million where the kernel has it so, since
/// `max_bytes` is worked out from it and from the memory that is free just then.
const KEPT: [&str; 5] = [
    "min_ratio_fine",
    "max_ratio_fine",
    "min_ratio",
    "max_ratio",
    "strict_limit",
];

/// The limit of a loop device of our own, put back on drop.
#[derive(Debug)]
pub struct DirtyLimit {
    kept: KernelFiles,
    folder: std::path::PathBuf,
}

impl DirtyLimit {
    /// The limit of `device`, as it is.
    ///
    /// # Errors
    /// When the kernel has no limit for single devices, or the undo journal cannot be
    /// written.
    pub fn of_loop(device: &LoopDevice, undo: &UndoJournal) -> Result<Self, HostError> {
        Self::open(device.device_number(), undo)
    }

    /// The limit of a device that was granted: of its whole disk.
    ///
    /// # Errors
    /// As [`of_loop`](Self::of_loop).
    pub fn of_granted(device: &GrantedDevice, undo: &UndoJournal) -> Result<Self, HostError> {
        let roots = Roots::live();
        let disk = crate::stack::disk_of(&roots, device.name());
        let number = crate::stack::number_of_name(&roots, &disk);
        let number = number.ok_or_else(|| HostError::Unavailable {
            what: "a limit of one device's dirty data",
            reason: format!("/sys does not show the number of {disk}"),
        })?;
        Self::open(number, undo)
    }

    fn open((major, minor): (u32, u32), undo: &UndoJournal) -> Result<Self, HostError> {
        let folder = Path::new("/sys/class/bdi").join(format!("{major}:{minor}"));
        if !folder.join("max_bytes").is_file() || !folder.join("strict_limit").is_file() {
            return Err(HostError::Unavailable {
                what: "a limit of one device's dirty data",
                reason: format!(
                    "{} has no max_bytes and strict_limit (Linux 6.2 has them)",
                    folder.display()
                ),
            });
        }
        let names = KEPT.map(str::to_owned);
        Ok(Self {
            kept: KernelFiles::keep(&folder, &names, None, undo)?,
            folder,
        })
    }

    /// Lets writers wait once so many bytes are dirty: a size such as `8MiB`.
    ///
    /// The kernel keeps it as a part of the memory that may be dirty at all, so it is
    /// in force when what is read back is within an eighth of it.
    ///
    /// # Errors
    /// When the level is no size, or the kernel refuses it.
    pub fn set(&self, setting: Setting) -> Result<Applied, HostError> {
        let wrong = |reason: String| HostError::Unavailable {
            what: "this limit",
            reason,
        };
        let bytes = parse_size_bytes(&setting.level).map_err(|error| wrong(error.to_string()))?;
        let max_bytes = self.folder.join("max_bytes");
        super::kernel_files::write(&max_bytes, &bytes.to_string())?;
        let strict = self
            .kept
            .set(Setting::new("strict_limit", "1"), "strict_limit")?;
        let found = Roots::live().number_if_any(&max_bytes);
        let is_close = |found: u64| found.abs_diff(bytes) <= bytes / 8;
        let found = match found {
            Some(found) if is_close(found) && strict.is_in_force() => Some(setting.level.clone()),
            Some(found) => Some(format!("{found} bytes")),
            None => None,
        };
        Ok(Applied {
            asked: setting,
            found,
            also_changed: Vec::new(),
        })
    }

    /// Puts the limit back.
    ///
    /// # Errors
    /// [`HostError::NotPutBack`] when it differs still; it stays in the undo journal.
    pub fn put_back(self) -> Result<(), HostError> {
        self.kept.put_back()
    }
}
