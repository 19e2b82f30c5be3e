//! The GETFSMAP ioctl: what each part of a filesystem's devices belongs to
//! (`linux/fsmap.h`, ioctl_getfsmap(2)).

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// `_IOWR('X', 59, struct fsmap_head)`.
const FS_IOC_GETFSMAP: libc::Ioctl = 0xC0C0_583B_u32 as libc::Ioctl;
/// `FMR_OF_SPECIAL_OWNER`: the owner is none of the files.
const SPECIAL_OWNER: u32 = 0x10;
/// `FMR_OWN_FREE`.
const FREE: u64 = 1;
/// `FMR_OF_LAST`.
const LAST: u32 = 0x20;
const RECORDS_A_CALL: usize = 1024;
/// A filesystem in more pieces than this is not looked at to its end.
const MOST_RECORDS: usize = 1 << 22;

/// `struct fsmap`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    device: u32,
    flags: u32,
    physical: u64,
    owner: u64,
    offset: u64,
    length: u64,
    reserved: [u64; 3],
}

/// `struct fsmap_head`, with room for records behind it.
#[repr(C)]
struct Request {
    input_flags: u32,
    output_flags: u32,
    count: u32,
    entries: u32,
    reserved: [u64; 6],
    low: Record,
    high: Record,
    records: [Record; RECORDS_A_CALL],
}

/// Lengths of the runs of free space of the filesystem that `file` is on, in the order of
/// its device, bytes; runs that touch are one.
///
/// # Errors
/// EOPNOTSUPP or ENOTTY where the filesystem cannot tell; and beyond 4 million pieces.
pub(crate) fn free_runs(file: BorrowedFd<'_>) -> io::Result<Vec<u64>> {
    let mut runs: Vec<u64> = Vec::new();
    let mut end = None;
    let mut low = Record::default();
    let mut seen = 0;
    loop {
        let records = records_from(file, low)?;
        let Some(last) = records.last().copied() else {
            return Ok(runs);
        };
        for record in &records {
            if record.flags & SPECIAL_OWNER == 0 || record.owner != FREE {
                continue;
            }
            let place = (record.device, record.physical);
            match runs.last_mut() {
                Some(run) if end == Some(place) => *run += record.length,
                _ => runs.push(record.length),
            }
            end = Some((record.device, record.physical + record.length));
        }
        seen += records.len();
        if seen > MOST_RECORDS {
            return Err(io::Error::other("it has more than 4 million pieces"));
        }
        if last.flags & LAST != 0 || records.len() < RECORDS_A_CALL {
            return Ok(runs);
        }
        low = last;
    }
}

fn records_from(file: BorrowedFd<'_>, low: Record) -> io::Result<Vec<Record>> {
    let mut request = Box::new(Request {
        input_flags: 0,
        output_flags: 0,
        count: RECORDS_A_CALL as u32,
        entries: 0,
        reserved: [0; 6],
        low,
        high: Record {
            device: u32::MAX,
            flags: u32::MAX,
            physical: u64::MAX,
            owner: u64::MAX,
            offset: u64::MAX,
            length: 0,
            reserved: [0; 3],
        },
        records: [Record::default(); RECORDS_A_CALL],
    });
    // SAFETY: the pointer is to a live request of the documented layout; the kernel writes
    // at most `count` records behind the header.
    let returned = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_GETFSMAP, &raw mut *request) };
    super::checked(returned)?;
    let filled = (request.entries as usize).min(RECORDS_A_CALL);
    Ok(request.records[..filled].to_vec())
}
