//! A socket on which the kernel's own services are asked (netlink(7)).

use std::fs::File;
use std::io;
use std::os::fd::{FromRawFd as _, OwnedFd};

/// Opens a socket to the kernel's generic netlink services. What is written to it goes to
/// the kernel, which answers before write(2) returns; without an answer a read fails with
/// `EAGAIN` and does not wait.
pub(crate) fn generic() -> io::Result<File> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the call takes three numbers and no memory of ours.
    let returned = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_GENERIC) };
    let fd = super::checked(returned)?;
    // SAFETY: the descriptor has just been opened, and nobody else has it.
    let owned = unsafe { OwnedFd::from_raw_fd(fd as i32) };
    Ok(File::from(owned))
}
