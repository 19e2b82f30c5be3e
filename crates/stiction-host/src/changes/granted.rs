//! A device that the user granted, as the ground of filesystems that are made for trials.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{BlockQueue, DirtyLimit};
use crate::guard::Released;
use crate::undo::UndoJournal;
use crate::{HeldDevice, HostError, LoopDevice};

/// A device that was granted, held with `O_EXCL` but while a filesystem is made on it or
/// mounted from it: the kernel holds it itself then. Clones are the same device.
#[derive(Clone, Debug)]
pub struct GrantedDevice(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    name: String,
    length_bytes: u64,
    hold: Mutex<Option<Hold>>,
}

#[derive(Debug)]
enum Hold {
    Held(HeldDevice),
    Released(Released),
}

impl GrantedDevice {
    /// The device that `held` holds.
    #[must_use]
    pub fn new(held: HeldDevice) -> Self {
        Self(Arc::new(Inner {
            path: held.path().to_owned(),
            name: held.name().to_owned(),
            length_bytes: held.length_bytes(),
            hold: Mutex::new(Some(Hold::Held(held))),
        }))
    }

    /// The path as the user gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Kernel name: `sdb`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Length, bytes.
    #[must_use]
    pub fn length_bytes(&self) -> u64 {
        self.0.length_bytes
    }

    /// Lets it go, for a filesystem.
    ///
    /// # Errors
    /// When it is not held, or its path has come to mean another device.
    pub(super) fn lend(&self) -> Result<LentDevice, HostError> {
        let mut hold = self.hold();
        match hold.take() {
            Some(Hold::Held(held)) => match held.release() {
                Ok(released) => {
                    *hold = Some(Hold::Released(released));
                    Ok(LentDevice(Some(self.clone())))
                }
                Err((held, error)) => {
                    *hold = Some(Hold::Held(held));
                    Err(HostError::refused("let go of", self.path(), error))
                }
            },
            other => {
                *hold = other;
                Err(HostError::Unavailable {
                    what: "the granted device",
                    reason: format!("{} is in use by another trial", self.path().display()),
                })
            }
        }
    }

    fn check(&self) -> Result<(), HostError> {
        match &*self.hold() {
            Some(Hold::Released(released)) => {
                released.check().map_err(|refusal| HostError::NotOurs {
                    path: released.path().to_owned(),
                    reason: refusal.to_string(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Holds it again, without what was made on it.
    fn take_back(&self) -> Result<(), HostError> {
        let mut hold = self.hold();
        match hold.take() {
            Some(Hold::Released(released)) => match released.take() {
                Ok(held) => {
                    let cleared = held.clear_signatures();
                    *hold = Some(Hold::Held(held));
                    cleared
                }
                Err(refused) => {
                    let (released, refusal) = *refused;
                    *hold = Some(Hold::Released(released));
                    Err(HostError::NotOurs {
                        path: self.path().to_owned(),
                        reason: refusal.to_string(),
                    })
                }
            },
            other => {
                *hold = other;
                Ok(())
            }
        }
    }

    fn hold(&self) -> std::sync::MutexGuard<'_, Option<Hold>> {
        // Each step leaves it whole, so a panic elsewhere does not spoil it.
        self.0.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A granted device while a filesystem has it; held again on drop.
#[derive(Debug)]
pub struct LentDevice(Option<GrantedDevice>);

impl LentDevice {
    fn device(&self) -> &GrantedDevice {
        self.0.as_ref().expect("it is there until it is taken back")
    }

    fn take_back(mut self) -> Result<(), HostError> {
        self.0.take().map_or(Ok(()), |device| device.take_back())
    }
}

impl Drop for LentDevice {
    fn drop(&mut self) {
        if let Some(device) = self.0.take() {
            // What keeps it from being held is told to the next trial that wants it.
            let _ = device.take_back();
        }
    }
}

/// What scratch space is on: a file of our own, or a device that was granted.
#[derive(Debug)]
pub enum SpaceDevice {
    /// A loop device over a file of our own.
    Loop(LoopDevice),
    /// A granted device.
    Granted(LentDevice),
}

impl SpaceDevice {
    /// The device node.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Loop(device) => device.path(),
            Self::Granted(lent) => lent.device().path(),
        }
    }

    /// Kernel name.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Loop(device) => device.name(),
            Self::Granted(lent) => lent.device().name().to_owned(),
        }
    }

    /// Whether it is still the device that it was; asked right before something is written.
    pub(super) fn check(&self) -> Result<(), HostError> {
        match self {
            Self::Loop(_) => Ok(()),
            Self::Granted(lent) => lent.device().check(),
        }
    }

    /// Its queue.
    pub(super) fn queue(&self, undo: &UndoJournal) -> Result<BlockQueue, HostError> {
        match self {
            Self::Loop(device) => BlockQueue::of_loop(device, undo),
            Self::Granted(lent) => BlockQueue::of_granted(lent.device(), undo),
        }
    }

    /// The limit of its dirty data.
    pub(super) fn dirty_limit(&self, undo: &UndoJournal) -> Result<DirtyLimit, HostError> {
        match self {
            Self::Loop(device) => DirtyLimit::of_loop(device, undo),
            Self::Granted(lent) => DirtyLimit::of_granted(lent.device(), undo),
        }
    }

    /// Gives it up.
    pub(super) fn close(self) -> Result<(), HostError> {
        match self {
            Self::Loop(device) => device.detach(),
            Self::Granted(lent) => lent.take_back(),
        }
    }
}
