//! ioctls of loop devices (`linux/loop.h`).

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};

const LOOP_CLR_FD: libc::Ioctl = 0x4C01 as libc::Ioctl;
const LOOP_GET_STATUS64: libc::Ioctl = 0x4C05 as libc::Ioctl;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A as libc::Ioctl;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82 as libc::Ioctl;

/// The loop device goes away by itself when its last user closes it.
pub(crate) const AUTOCLEAR: u32 = 4;
/// Reads and writes of the backing file pass by the page cache.
pub(crate) const DIRECT_IO: u32 = 16;

/// `struct loop_info64`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct LoopInfo {
    pub(crate) backing_device: u64,
    pub(crate) backing_inode: u64,
    backing_rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    pub(crate) flags: u32,
    file_name: [u8; 64],
    crypt_name: [u8; 64],
    encrypt_key: [u8; 32],
    init: [u64; 2],
}

impl LoopInfo {
    /// Whether a block device stands where a file mostly does.
    pub(crate) fn is_over_a_device(&self) -> bool {
        self.backing_rdevice != 0
    }
}

/// `struct loop_config`.
#[repr(C)]
struct LoopConfig {
    file: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

/// Number of a loop device that was free when asked.
pub(crate) fn free_number(control: impl AsFd) -> io::Result<u32> {
    // SAFETY: the request takes no argument.
    let returned = unsafe { libc::ioctl(control.as_fd().as_raw_fd(), LOOP_CTL_GET_FREE) };
    u32::try_from(super::checked(returned)?).map_err(io::Error::other)
}

/// Attaches `file` to `device`.
///
/// # Errors
/// EBUSY when somebody else took the device first.
pub(crate) fn configure(
    device: impl AsFd,
    file: impl AsFd,
    block_size: u32,
    flags: u32,
) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid value: integers and byte arrays alone.
    let mut config: LoopConfig = unsafe { std::mem::zeroed() };
    config.file = file.as_fd().as_raw_fd().cast_unsigned();
    config.block_size = block_size;
    config.info.flags = flags;
    // SAFETY: the pointer is to a live loop_config, which the kernel only reads.
    let returned = unsafe {
        libc::ioctl(
            device.as_fd().as_raw_fd(),
            LOOP_CONFIGURE,
            &raw const config,
        )
    };
    super::checked(returned).map(drop)
}

/// Detaches the backing file; while the device is in use, once it no longer is.
pub(crate) fn detach(device: impl AsFd) -> io::Result<()> {
    // SAFETY: the request takes no argument.
    let returned = unsafe { libc::ioctl(device.as_fd().as_raw_fd(), LOOP_CLR_FD) };
    super::checked(returned).map(drop)
}

/// What is attached.
///
/// # Errors
/// ENXIO when nothing is.
pub(crate) fn status(device: impl AsFd) -> io::Result<LoopInfo> {
    // SAFETY: all-zero bytes are a valid value: integers and byte arrays alone.
    let mut info: LoopInfo = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a live loop_info64 that the kernel fills.
    let returned =
        unsafe { libc::ioctl(device.as_fd().as_raw_fd(), LOOP_GET_STATUS64, &raw mut info) };
    super::checked(returned)?;
    Ok(info)
}
