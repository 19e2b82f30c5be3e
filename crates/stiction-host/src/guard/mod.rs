//! The guard before a raw device: it is written to only when the user named it by
//! its own serial number, nothing uses it, and it holds nothing.

mod file;
mod released;
mod signature;
mod usage;

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Advice, fadvise};

use crate::Roots;
use crate::sys::{block, loop_control};

pub use file::refuse_file_in_use;
pub(crate) use released::Released;

/// The user's word that everything on a device may be destroyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchGrant {
    /// The device's own serial number or WWID as `/sys` shows it; for a loop device
    /// the path of its file, for a device-mapper device its UUID.
    pub serial: String,
    /// What the device holds and is to be destroyed, as [`Refusal::Signed`] named
    /// it; `None` when it holds nothing.
    pub wipe_signature: Option<String>,
}

/// Why a device is not written to.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is no block device at the path.
    #[error("{} is not a block device: {reason}", path.display())]
    NotADevice {
        /// The path.
        path: PathBuf,
        /// What it is instead.
        reason: String,
    },
    /// The kernel does not let us have it to ourselves.
    #[error("{} cannot be had to ourselves: {error}{}", path.display(), why_not_alone(error))]
    NotExclusive {
        /// The device.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        error: io::Error,
    },
    /// Something uses it.
    #[error("{} is in use: {reason}", path.display())]
    InUse {
        /// The device.
        path: PathBuf,
        /// What uses it, and what to do.
        reason: String,
    },
    /// It has nothing by which it could be told from other devices.
    #[error(
        "{} has no serial number in /sys, so it cannot be granted; use a file on it, or a \
         device that has one",
        path.display()
    )]
    NoSerial {
        /// The device.
        path: PathBuf,
    },
    /// The grant is for another device.
    #[error(
        "{} has another serial number than the `{granted}` that was granted; \
         `lsblk -o NAME,SERIAL` shows which device is which",
        path.display()
    )]
    OtherSerial {
        /// The device.
        path: PathBuf,
        /// What the user typed.
        granted: String,
    },
    /// It holds something.
    #[error(
        "{} holds {found}; if that may be destroyed, say so with --wipe-signature {found}",
        path.display()
    )]
    Signed {
        /// The device.
        path: PathBuf,
        /// What it holds; several names are joined by `+`.
        found: String,
    },
    /// The grant is to destroy something else than what is there.
    #[error("{} holds {found}, not the {granted} that may be destroyed", path.display())]
    OtherSignature {
        /// The device.
        path: PathBuf,
        /// What the user typed.
        granted: String,
        /// What it holds: `nothing that is known`, or names joined by `+`.
        found: String,
    },
    /// Its use could not be found out.
    #[error("{} may be in use: {reason}", path.display())]
    CannotTell {
        /// The device.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
}

/// What the errno of an exclusive open means.
fn why_not_alone(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EBUSY) => {
            "; it is mounted, swap space, or part of a btrfs, LVM, RAID or the like, \
             or another program holds it"
        }
        Some(libc::EPERM | libc::EROFS | libc::EACCES) => {
            "; it is locked or read-only, or you lack the right: run as root"
        }
        _ => "",
    }
}

/// A device that is ours alone as long as this lives: it is open with `O_EXCL`, so
/// nothing can mount it or build on it meanwhile.
#[derive(Debug)]
pub struct HeldDevice {
    path: PathBuf,
    name: String,
    descriptor: Arc<OwnedFd>,
    length_bytes: u64,
    destroys: Option<String>,
    /// As it was granted.
    serial: String,
}

impl HeldDevice {
    /// Takes the device at `path` if `grant` is for it and nothing stands against
    /// it. Nothing is written.
    ///
    /// # Errors
    /// A [`Refusal`] with what to do about it.
    pub fn acquire(path: &Path, grant: &ScratchGrant) -> Result<Self, Refusal> {
        Self::acquire_in(&Roots::live(), path, grant)
    }

    /// As [`acquire`](Self::acquire), with `/proc` and `/sys` from elsewhere.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub fn acquire_in(roots: &Roots, path: &Path, grant: &ScratchGrant) -> Result<Self, Refusal> {
        // Held first, looked at second: what is found then stays true.
        let (device, number) = open_alone(path)?;
        let cannot_tell = |reason: String| Refusal::CannotTell {
            path: path.to_owned(),
            reason,
        };
        let name = usage::name_of(roots, number).ok_or_else(|| {
            let (major, minor) = number;
            cannot_tell(format!("/sys does not show the device {major}:{minor}"))
        })?;
        for table in ["/proc/self/mountinfo", "/proc/swaps"] {
            roots
                .bytes(table)
                .map_err(|error| cannot_tell(format!("{table}: {error}")))?;
        }
        // The kernel lets a read-only device be opened for writing, and fails the writes.
        if roots
            .text_if_any(format!("/sys/class/block/{name}/ro"))
            .as_deref()
            == Some("1")
        {
            return Err(Refusal::NotExclusive {
                path: path.to_owned(),
                error: io::Error::from_raw_os_error(libc::EROFS),
            });
        }
        check_identity(roots, path, &name, grant)?;
        // Whoever has that other device mounted is not seen through this one, and its
        // hold on it does not reach here.
        if loop_control::status(&device).is_ok_and(|loops| loops.is_over_a_device()) {
            return Err(Refusal::InUse {
                path: path.to_owned(),
                reason: "it is a loop device over another block device, whose users would \
                         not be seen; grant that device itself"
                    .to_owned(),
            });
        }
        if let Some(reason) = usage::reason_not_free(roots, &name) {
            return Err(Refusal::InUse {
                path: path.to_owned(),
                reason,
            });
        }
        let unreadable = |error: io::Error| cannot_tell(format!("it cannot be read: {error}"));
        let length_bytes = block::length_bytes(&device).map_err(unreadable)?;
        let found = signature::signatures(&device, length_bytes).map_err(unreadable)?;
        // What was read is not to be in the cache when a measurement begins.
        fadvise(&device, 0, None, Advice::DontNeed).map_err(|error| unreadable(error.into()))?;
        let destroys = check_signature(path, &found.join("+"), grant)?;
        Ok(Self {
            path: path.to_owned(),
            name,
            descriptor: Arc::new(device.into()),
            length_bytes,
            destroys,
            serial: grant.serial.clone(),
        })
    }

    /// The path as the user gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Kernel name: `sdb`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The descriptor that holds it. Whoever has a share of it keeps the device held.
    #[must_use]
    pub fn descriptor(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.descriptor)
    }

    /// Length, bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.length_bytes
    }

    /// What writing to it destroys, by name.
    #[must_use]
    pub fn destroys(&self) -> Option<&str> {
        self.destroys.as_deref()
    }
}

/// Opens the block device at `path` with `O_EXCL`, and gives its number.
fn open_alone(path: &Path) -> Result<(File, (u32, u32)), Refusal> {
    let not_a_device = |reason: String| Refusal::NotADevice {
        path: path.to_owned(),
        reason,
    };
    let is_device = |metadata: &std::fs::Metadata| metadata.file_type().is_block_device();
    let before = path
        .metadata()
        .map_err(|error| not_a_device(error.to_string()))?;
    if !is_device(&before) {
        let what = if before.is_dir() {
            "a directory"
        } else {
            "a file"
        };
        return Err(not_a_device(format!("it is {what}")));
    }
    let not_exclusive = |error| Refusal::NotExclusive {
        path: path.to_owned(),
        error,
    };
    let device = File::options()
        .read(true)
        .write(true)
        .custom_flags(libc::O_EXCL)
        .open(path)
        .map_err(not_exclusive)?;
    // Of the descriptor: the path may have come to mean something else.
    let metadata = device.metadata().map_err(not_exclusive)?;
    if !is_device(&metadata) {
        return Err(not_a_device(
            "it was replaced while it was opened".to_owned(),
        ));
    }
    let number = metadata.rdev();
    let number = (rustix::fs::major(number), rustix::fs::minor(number));
    Ok((device, number))
}

fn check_identity(
    roots: &Roots,
    path: &Path,
    name: &str,
    grant: &ScratchGrant,
) -> Result<(), Refusal> {
    let identities = usage::identities(roots, name);
    if identities.is_empty() {
        return Err(Refusal::NoSerial {
            path: path.to_owned(),
        });
    }
    if identities.contains(&grant.serial) {
        return Ok(());
    }
    Err(Refusal::OtherSerial {
        path: path.to_owned(),
        granted: grant.serial.clone(),
    })
}

/// What may be destroyed and is there, or a refusal.
fn check_signature(
    path: &Path,
    found: &str,
    grant: &ScratchGrant,
) -> Result<Option<String>, Refusal> {
    let path = path.to_owned();
    match &grant.wipe_signature {
        None if found.is_empty() => Ok(None),
        None => Err(Refusal::Signed {
            path,
            found: found.to_owned(),
        }),
        Some(granted) if granted.eq_ignore_ascii_case(found) => Ok(Some(found.to_owned())),
        Some(granted) => Err(Refusal::OtherSignature {
            path,
            granted: granted.clone(),
            found: if found.is_empty() {
                "nothing that is known".to_owned()
            } else {
                found.to_owned()
            },
        }),
    }
}
