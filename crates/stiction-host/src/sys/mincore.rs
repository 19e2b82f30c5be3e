//! mincore(2) over a mapping of a file: residency before cachestat(2).

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr;

/// Bytes of the file that are mapped at a time; a multiple of every page size.
const WINDOW_BYTES: u64 = 256 << 20;

/// Pages of the first `length_bytes` of the file that are in the cache.
///
/// Since Linux 5.2 the kernel answers truthfully only for files that the caller
/// owns or may write, and calls all pages resident otherwise; the caller of this
/// function opens its own files.
pub(crate) fn resident_pages(
    file: BorrowedFd<'_>,
    length_bytes: u64,
    page_bytes: u64,
) -> io::Result<u64> {
    let mut resident = 0;
    let mut offset = 0;
    while offset < length_bytes {
        let window = WINDOW_BYTES.min(length_bytes - offset);
        resident += resident_in_window(file, offset, window, page_bytes)?;
        offset += window;
    }
    Ok(resident)
}

fn resident_in_window(
    file: BorrowedFd<'_>,
    offset: u64,
    length: u64,
    page_bytes: u64,
) -> io::Result<u64> {
    let length_usize = usize::try_from(length).map_err(io::Error::other)?;
    let offset = libc::off_t::try_from(offset).map_err(io::Error::other)?;
    let mut pages = vec![0u8; length.div_ceil(page_bytes) as usize];
    // SAFETY: a new mapping at an address of the kernel's choice, never read or
    // written, so that a file cut short meanwhile cannot fault.
    let address = unsafe {
        libc::mmap(
            ptr::null_mut(),
            length_usize,
            libc::PROT_NONE,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            offset,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the range is the mapping just made, and `pages` has a byte for each
    // of its pages.
    let returned = unsafe { libc::mincore(address, length_usize, pages.as_mut_ptr()) };
    let answer = super::checked(returned);
    // SAFETY: the mapping made above, which nothing else knows of.
    unsafe { libc::munmap(address, length_usize) };
    answer?;
    Ok(pages.iter().filter(|page| **page & 1 == 1).count() as u64)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::fd::AsFd as _;

    use super::*;
    use crate::sys::cachestat::cachestat;

    /// Two system calls, one answer.
    #[test]
    fn mincore_and_cachestat_agree() {
        let page_bytes = rustix::param::page_size() as u64;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![1; 10 * page_bytes as usize]).unwrap();
        let length = 300 << 20;
        file.set_len(length).unwrap();
        assert_eq!(
            resident_pages(file.as_fd(), length, page_bytes).unwrap(),
            10
        );
        match cachestat(file.as_fd()) {
            Ok(pages) => assert_eq!(pages.cached, 10),
            Err(error) => assert_eq!(error.raw_os_error(), Some(libc::ENOSYS)),
        }
        assert_eq!(resident_pages(file.as_fd(), 0, page_bytes).unwrap(), 0);
    }
}
