//! The I/O scheduler of a device and the rest of its queue's settings
//! (`Documentation/ABI/stable/sysfs-block`).

use std::path::{Path, PathBuf};

use stiction_core::{Applied, Setting};

use super::kernel_files::{KernelFiles, settable};
use crate::undo::UndoJournal;
use crate::{GrantedDevice, HostError, LoopDevice, Roots};

/// Files of `queue/` that are no settings of the queue: what the attached file of a loop
/// device or the device itself allows, and what has no effect any more.
const NOT_SETTINGS: [&str; 3] = ["discard_max_bytes", "io_poll", "io_poll_delay"];

/// The queue of a device that was given to us: every setting in it is put back on drop,
/// the scheduler first, since it moves others.
#[derive(Debug)]
pub struct BlockQueue {
    queue: PathBuf,
    kept: KernelFiles,
}

impl BlockQueue {
    /// The queue of a loop device of our own. Its settings outlive its file: whoever
    /// gets the device next has them.
    ///
    /// # Errors
    /// Without `/sys`, or when the undo journal cannot be written.
    pub fn of_loop(device: &LoopDevice, undo: &UndoJournal) -> Result<Self, HostError> {
        // Not tied to the number of the disk, which is another each time that a file is
        // attached or detached.
        Self::open(&device.name(), false, undo)
    }

    /// The queue of a device that was granted.
    ///
    /// # Errors
    /// As [`of_loop`](Self::of_loop).
    pub fn of_granted(device: &GrantedDevice, undo: &UndoJournal) -> Result<Self, HostError> {
        let is_loop = device.name().starts_with("loop");
        Self::open(device.name(), !is_loop, undo)
    }

    fn open(name: &str, is_tied: bool, undo: &UndoJournal) -> Result<Self, HostError> {
        // A partition's requests are in the queue of its disk.
        let disk = crate::stack::disk_of(&Roots::live(), name);
        let disk = PathBuf::from("/sys/block").join(disk);
        let queue = disk.join("queue");
        if !queue.is_dir() {
            return Err(HostError::Unavailable {
                what: "settings of the queue",
                reason: format!("{} is not there", queue.display()),
            });
        }
        let names = names(&queue);
        let number = Roots::live().number_if_any(disk.join("diskseq"));
        let kept = KernelFiles::keep(&queue, &names, number.filter(|_| is_tied), undo)?;
        Ok(Self { queue, kept })
    }

    /// Sets the file `name` of the queue (`scheduler`, `read_ahead_kb`,
    /// `iosched/fifo_batch`) to `setting`'s level.
    ///
    /// # Errors
    /// EINVAL for a level that the kernel does not know; and when there is no such file.
    pub fn set(&self, name: &str, setting: Setting) -> Result<Applied, HostError> {
        if name.starts_with("iosched/") {
            return self.set_of_scheduler(name, setting);
        }
        self.kept.set(setting, name)
    }

    /// The files of a scheduler come and go with it, so they are not among those that
    /// were kept when it was not in force.
    fn set_of_scheduler(&self, name: &str, setting: Setting) -> Result<Applied, HostError> {
        let path = self.queue.join(name);
        let is_absent = name == "iosched/" || name.contains("..") || !path.is_file();
        if is_absent {
            return Err(HostError::Unavailable {
                what: "this setting",
                reason: format!("the scheduler in force has no {name}"),
            });
        }
        super::kernel_files::write(&path, &setting.level)?;
        Ok(Applied {
            found: Roots::live().text(&path).ok(),
            asked: setting,
            also_changed: Vec::new(),
        })
    }

    /// Puts every setting back.
    ///
    /// # Errors
    /// [`HostError::NotPutBack`] when one differs still; it stays in the undo journal.
    pub fn put_back(self) -> Result<(), HostError> {
        self.kept.put_back()
    }
}

/// The settings of a queue, the scheduler first, its own after all that it moves.
fn names(queue: &Path) -> Vec<String> {
    let mut names = settable(queue);
    names.retain(|name| !NOT_SETTINGS.contains(&name.as_str()));
    names.sort_by_key(|name| name != "scheduler");
    let of_scheduler = settable(&queue.join("iosched"));
    names.extend(of_scheduler.iter().map(|name| format!("iosched/{name}")));
    names
}
