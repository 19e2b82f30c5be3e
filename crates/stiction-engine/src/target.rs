//! Where I/O goes, and what may be opened for it.

use std::fmt;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Simulation;

/// Where the I/O of a job goes.
#[derive(Clone, Debug)]
pub enum Target {
    /// A regular file. A block device given so is only ever read.
    File(PathBuf),
    /// A device whose content may be destroyed.
    Device(ScratchDevice),
    /// A device that is not there, for tests.
    Simulated(Simulation),
}

impl Target {
    /// The path for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Device(device) => device.path(),
            Self::Simulated(_) => Path::new("simulated device"),
        }
    }

    /// The path to open it by: a device's leads to the device that was granted, whatever
    /// its name means by now.
    #[must_use]
    pub fn path_to_open(&self) -> PathBuf {
        match self {
            Self::Device(device) => device.reopen_path(),
            Self::File(_) | Self::Simulated(_) => self.path().to_owned(),
        }
    }
}

/// A block device that admission has granted and holds.
///
/// The engine opens it through the held descriptor, never by name: a name can
/// come to mean another device in between.
#[derive(Clone)]
pub struct ScratchDevice {
    held: Arc<OwnedFd>,
    length_bytes: u64,
    path: PathBuf,
}

impl ScratchDevice {
    /// The device behind `held`, which its owner opened with `O_EXCL` and keeps
    /// open; `path` is for messages.
    #[must_use]
    pub fn from_held(held: Arc<OwnedFd>, length_bytes: u64, path: PathBuf) -> Self {
        Self {
            held,
            length_bytes,
            path,
        }
    }

    /// Its size, bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    /// Its name, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path that opens the held device whatever its name means by now.
    pub(crate) fn reopen_path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.held.as_raw_fd()).into()
    }
}

impl fmt::Debug for ScratchDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScratchDevice")
            .field("path", &self.path)
            .field("length_bytes", &self.length_bytes)
            .finish_non_exhaustive()
    }
}
