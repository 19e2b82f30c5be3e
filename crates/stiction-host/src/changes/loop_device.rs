//! A file as a block device.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::sys::loop_control::{self, AUTOCLEAR, DIRECT_IO};
use crate::undo::{Change, Entry, UndoJournal, Undone};
use crate::{HostError, Roots};

const CONTROL: &str = "/dev/loop-control";
/// Others look for free loop devices at the same time; so often is one lost to them
/// before this gives up.
const MOST_TRIES: usize = 64;

/// A loop device of our own, detached on drop. The kernel detaches it by itself
/// when nobody has it open any more, even after a `kill -9`.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    number: u32,
    device: Option<File>,
    entry: Option<Entry>,
}

impl LoopDevice {
    /// Attaches `file`, whose blocks become `block_size_bytes` long; 0 lets the
    /// kernel choose. With `direct_io` the page cache under the device is passed by
    /// where the filesystem of `file` can; [`direct_io`](Self::direct_io) tells.
    ///
    /// # Errors
    /// Without `CAP_SYS_ADMIN`, without a free loop device, or when `file` cannot
    /// be opened for writing.
    pub fn attach(
        file: &Path,
        block_size_bytes: u32,
        direct_io: bool,
        undo: &UndoJournal,
    ) -> Result<Self, HostError> {
        let backing_file = file
            .canonicalize()
            .map_err(|error| HostError::refused("attach a loop device to", file, error))?;
        let backing = read_write(&backing_file)?;
        let control = read_write(Path::new(CONTROL))?;
        let flags = AUTOCLEAR | if direct_io { DIRECT_IO } else { 0 };
        for _ in 0..MOST_TRIES {
            let number = loop_control::free_number(&control).map_err(|error| {
                HostError::refused("get a free loop device from", Path::new(CONTROL), error)
            })?;
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let device = read_write(&path)?;
            let entry = undo.begin(Change::LoopDevice {
                device: path.clone(),
                backing_file: backing_file.clone(),
            })?;
            match loop_control::configure(&device, &backing, block_size_bytes, flags) {
                Ok(()) => {
                    return Ok(Self {
                        path,
                        number,
                        device: Some(device),
                        entry: Some(entry),
                    });
                }
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => entry.undone()?,
                Err(error) => {
                    entry.undone()?;
                    return Err(HostError::refused("attach a file to", &path, error));
                }
            }
        }
        Err(HostError::Unavailable {
            what: "a loop device",
            reason: format!("others took the free one {MOST_TRIES} times in a row"),
        })
    }

    /// The device node: `/dev/loop3`.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Kernel name: `loop3`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("loop{}", self.number)
    }

    /// Major and minor number; the major of loop devices is 7
    /// (`Documentation/admin-guide/devices.txt`).
    #[must_use]
    pub fn device_number(&self) -> (u32, u32) {
        (7, self.number)
    }

    /// Whether the page cache under the device is passed by; `None` without `/sys`.
    #[must_use]
    pub fn direct_io(&self) -> Option<bool> {
        let dio = Roots::live().text_if_any(format!("/sys/block/{}/loop/dio", self.name()))?;
        Some(dio == "1")
    }

    /// Detaches the device, or has the kernel do so once it is no longer in use.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn detach(mut self) -> Result<(), HostError> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), HostError> {
        let (Some(device), Some(entry)) = (self.device.take(), self.entry.take()) else {
            return Ok(());
        };
        match loop_control::detach(&device) {
            Err(error) if error.raw_os_error() != Some(libc::ENXIO) => {
                Err(HostError::refused("detach", &self.path, error))
            }
            _ => entry.undone(),
        }
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        // A failure here is not lost: the entry stays open in the undo journal.
        let _ = self.undo();
    }
}

fn read_write(path: &Path) -> Result<File, HostError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .map_err(|error| HostError::refused("open", path, error))
}

/// The path of the file under the loop device `name`, as the kernel gives it.
pub(crate) fn backing_of(roots: &Roots, name: &str) -> Option<String> {
    roots.text_if_any(format!("/sys/class/block/{name}/loop/backing_file"))
}

/// Detaches a device that a process which is gone had attached, unless somebody
/// has attached another file to it since.
pub(crate) fn detach_leftover(device: &Path, backing_file: &Path) -> Result<Undone, HostError> {
    let open = match File::open(device) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Undone::WasGone),
        other => other.map_err(|error| HostError::refused("open", device, error))?,
    };
    let status = match loop_control::status(&open) {
        Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => {
            return Ok(Undone::WasGone);
        }
        other => other.map_err(|error| HostError::refused("look at", device, error))?,
    };
    let is_ours = match backing_file.metadata() {
        Ok(file) => (file.dev(), file.ino()) == (status.backing_device, status.backing_inode),
        Err(_) => {
            let name = device.file_name().unwrap_or_default().to_string_lossy();
            let backing = backing_of(&Roots::live(), &name).unwrap_or_default();
            let path = backing.strip_suffix(" (deleted)").unwrap_or(&backing);
            Path::new(path) == backing_file
        }
    };
    if !is_ours {
        return Ok(Undone::WasGone);
    }
    loop_control::detach(&open)
        .map(|()| Undone::Removed)
        .map_err(|error| HostError::refused("detach", device, error))
}
