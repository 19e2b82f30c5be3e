//! The kernel's tracing files, found or mounted where nobody else sees it.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use super::format::Format;

/// Where it is mounted by custom.
const PLACES: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The tracing files.
#[derive(Debug)]
pub(super) enum Tracefs {
    /// Mounted by somebody.
    Mounted(PathBuf),
    /// Mounted by us, in no mount namespace: it goes with this descriptor.
    Detached(OwnedFd),
}

impl Tracefs {
    /// Finds it, or mounts it.
    pub(super) fn open() -> io::Result<Self> {
        for place in PLACES {
            match Path::new(place).join("events").metadata() {
                Ok(_) => return Ok(Self::Mounted(place.into())),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(error);
                }
                Err(_) => {}
            }
        }
        let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let mount = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
        Ok(Self::Detached(mount))
    }

    /// The format of a tracepoint: `block/block_rq_issue`.
    pub(super) fn format(&self, tracepoint: &str) -> io::Result<Format> {
        let inside = format!("events/{tracepoint}/format");
        let mut text = String::new();
        let mut file = match self {
            Self::Mounted(place) => File::open(place.join(inside))?,
            Self::Detached(mount) => {
                let flags = OFlags::RDONLY | OFlags::CLOEXEC;
                File::from(openat(mount, inside, flags, Mode::empty())?)
            }
        };
        file.read_to_string(&mut text)?;
        Format::parse(&text).ok_or_else(|| {
            let problem = format!("the format of {tracepoint} cannot be read");
            io::Error::new(io::ErrorKind::InvalidData, problem)
        })
    }
}
