//! Makes durable what was written to a file.

use std::os::fd::OwnedFd;

use rustix::fs::{fdatasync, fsync};
use stiction_core::SyncKind;

use crate::failure::{Fault, Operation};

/// `fsync` or `fdatasync`.
pub(super) fn sync_file(fd: &OwnedFd, kind: SyncKind) -> Result<(), Fault> {
    let (operation, result) = match kind {
        SyncKind::Fsync => (Operation::Fsync, fsync(fd)),
        SyncKind::Fdatasync => (Operation::Fdatasync, fdatasync(fd)),
    };
    result.map_err(|errno| Fault::new(operation, errno))
}
