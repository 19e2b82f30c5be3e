//! A granted device between two times at which it is held: something that needs it for
//! itself, such as a mount, has it meanwhile.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Advice, fadvise};

use super::{HeldDevice, Refusal, open_alone, usage};
use crate::{HostError, Roots};

/// What is cleared at the beginning of a device, bytes: all by which the filesystems that
/// we make are known lies in it (that of btrfs at 64 KiB is the farthest).
const CLEARED_BYTES: u64 = 1 << 20;

/// By what a device is known again while it is not held.
#[derive(Debug)]
pub(crate) struct Released {
    path: PathBuf,
    name: String,
    number: (u32, u32),
    /// The number that the kernel gave the disk when it appeared, and gives no other.
    disk: Option<u64>,
    serial: String,
    length_bytes: u64,
    destroys: Option<String>,
    /// Open, and not exclusively: as long as it is, the kernel gives the number of the
    /// device to no other one.
    _pin: File,
}

impl HeldDevice {
    /// Gives the hold up, so that a program or the kernel can have the device alone.
    /// Nobody else may have a share of its descriptor.
    pub(crate) fn release(self) -> Result<Released, (Self, io::Error)> {
        let pin = match File::options().read(true).open(&self.path) {
            Ok(pin) => pin,
            Err(error) => return Err((self, error)),
        };
        let number = match number_of(&pin) {
            Ok(number) if Some(number) == number_of_descriptor(&self) => number,
            Ok(_) => {
                let error = io::Error::other("its path has come to mean another device");
                return Err((self, error));
            }
            Err(error) => return Err((self, error)),
        };
        let disk = disk_of(&self.name);
        Ok(Released {
            path: self.path,
            name: self.name,
            number,
            disk,
            serial: self.serial,
            length_bytes: self.length_bytes,
            destroys: self.destroys,
            _pin: pin,
        })
    }

    /// Clears the beginning of the device, where the filesystems that we make have their
    /// signatures.
    pub(crate) fn clear_signatures(&self) -> Result<(), HostError> {
        let refused = |error| HostError::refused("clear the beginning of", &self.path, error);
        let device = self.descriptor.as_fd().try_clone_to_owned();
        let device = File::from(device.map_err(refused)?);
        let zeros = vec![0; CLEARED_BYTES.min(self.length_bytes) as usize];
        device
            .write_all_at(&zeros, 0)
            .and_then(|()| device.sync_data())
            .and_then(|()| Ok(fadvise(&device, 0, None, Advice::DontNeed)?))
            .map_err(refused)
    }
}

impl Released {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether its path still means the device that was granted; the reason where not.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let roots = Roots::live();
        let other = |reason: &str| Refusal::CannotTell {
            path: self.path.clone(),
            reason: format!("{reason} since it was granted"),
        };
        let now = File::open(&self.path).and_then(|device| number_of(&device));
        if now.ok() != Some(self.number) {
            return Err(other("its path has come to mean another device"));
        }
        if disk_of(&self.name) != self.disk {
            return Err(other("another disk has come in its place"));
        }
        match usage::identities(&roots, &self.name).contains(&self.serial) {
            true => Ok(()),
            false => Err(other("its serial number has changed")),
        }
    }

    /// Holds it again. What is on it is what was put there in its owner's name, so that
    /// it holds something is no reason against it any more; that somebody uses it is.
    pub(crate) fn take(self) -> Result<HeldDevice, Box<(Self, Refusal)>> {
        let taken = open_alone(&self.path).and_then(|(device, _)| {
            self.check()?;
            match usage::reason_not_free(&Roots::live(), &self.name) {
                None => Ok(device),
                Some(reason) => Err(Refusal::InUse {
                    path: self.path.clone(),
                    reason,
                }),
            }
        });
        match taken {
            Err(refusal) => Err(Box::new((self, refusal))),
            Ok(device) => Ok(HeldDevice {
                path: self.path,
                name: self.name,
                descriptor: Arc::new(device.into()),
                length_bytes: self.length_bytes,
                destroys: self.destroys,
                serial: self.serial,
            }),
        }
    }
}

fn number_of(device: &File) -> io::Result<(u32, u32)> {
    let number = device.metadata()?.rdev();
    Ok((rustix::fs::major(number), rustix::fs::minor(number)))
}

fn number_of_descriptor(device: &HeldDevice) -> Option<(u32, u32)> {
    let number = rustix::fs::fstat(&*device.descriptor).ok()?.st_rdev;
    Some((rustix::fs::major(number), rustix::fs::minor(number)))
}

/// `diskseq` of the disk (`Documentation/ABI/stable/sysfs-block`); a partition has none
/// of its own.
fn disk_of(name: &str) -> Option<u64> {
    let roots = Roots::live();
    let disk = crate::stack::disk_of(&roots, name);
    roots.number_if_any(format!("/sys/class/block/{disk}/diskseq"))
}
