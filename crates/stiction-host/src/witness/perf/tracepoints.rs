//! The tracepoints that are recorded, and what their fields say.

use std::ffi::CString;
use std::io;

use stiction_core::{RequestKind, TraceSource};

use super::format::{Field, Format};
use super::owners::ProgramName;
use super::requests::{Request, Traced};
use super::tracefs::Tracefs;

/// What a tracepoint tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    Issued,
    Requeued,
    Completed,
    /// A writer is made to wait.
    Paused,
}

const OF_REQUESTS: [(&str, Means); 3] = [
    ("block/block_rq_issue", Means::Issued),
    ("block/block_rq_complete", Means::Completed),
    ("block/block_rq_requeue", Means::Requeued),
];
const OF_BIOS: [(&str, Means); 2] = [
    ("block/block_bio_queue", Means::Issued),
    ("block/block_bio_complete", Means::Completed),
];
const OF_WRITEBACK: (&str, Means) = ("writeback/balance_dirty_pages", Means::Paused);

/// One tracepoint, with where its fields are.
#[derive(Clone, Debug)]
pub(super) struct Tracepoint {
    pub(super) id: u64,
    means: Means,
    /// Whose records are wanted at all; `None` for all.
    pub(super) filter: Option<CString>,
    device: Option<Field>,
    sector: Option<Field>,
    sectors: Option<Field>,
    letters: Option<Field>,
    error: Option<Field>,
    program: Option<Field>,
    pause: Option<Field>,
}

/// What one record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// With the name of who ran.
    Issued(Request, ProgramName),
    Requeued(Request),
    /// With whether it failed.
    Completed(Request, bool),
    /// For so many ms.
    Paused(i64),
}

/// The tracepoints that tell of the requests of `devices`.
pub(super) fn of_devices(tracefs: &Tracefs, devices: &[Traced]) -> io::Result<Vec<Tracepoint>> {
    let mut all = Vec::new();
    for (source, wanted) in [
        (TraceSource::Requests, &OF_REQUESTS[..]),
        (TraceSource::Bios, &OF_BIOS[..]),
    ] {
        let own: Vec<(u32, u32)> = devices
            .iter()
            .filter(|device| device.source == source)
            .map(|device| device.number)
            .collect();
        if own.is_empty() {
            continue;
        }
        for (name, means) in wanted {
            let format = tracefs.format(name)?;
            let tracepoint = Tracepoint::new(&format, *means, Some(filter(&own)));
            let needed = [tracepoint.device, tracepoint.sector, tracepoint.sectors];
            if needed.contains(&None) {
                let problem = format!("{name} has other fields on this kernel");
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
            all.push(tracepoint);
        }
    }
    Ok(all)
}

/// The tracepoint that tells of writers that wait.
pub(super) fn of_writeback(tracefs: &Tracefs) -> io::Result<Tracepoint> {
    let (name, means) = OF_WRITEBACK;
    let tracepoint = Tracepoint::new(&tracefs.format(name)?, means, None);
    match tracepoint.pause {
        Some(_) => Ok(tracepoint),
        None => {
            let problem = format!("{name} has other fields on this kernel");
            Err(io::Error::new(io::ErrorKind::InvalidData, problem))
        }
    }
}

impl Tracepoint {
    fn new(format: &Format, means: Means, filter: Option<CString>) -> Self {
        Self {
            id: format.id,
            means,
            filter,
            device: format.field("dev"),
            sector: format.field("sector"),
            sectors: format.field("nr_sector"),
            letters: format.field("rwbs"),
            error: format.field("error").or_else(|| format.field("errors")),
            program: format.field("comm"),
            pause: format.field("pause"),
        }
    }

    /// What a record of this tracepoint tells.
    pub(super) fn told(&self, record: &[u8]) -> Told {
        let number = |field: Option<Field>| field.map_or(0, |field| field.unsigned(record));
        if self.means == Means::Paused {
            return Told::Paused(self.pause.map_or(0, |field| field.signed(record)));
        }
        let device = number(self.device);
        let letters = self.letters.map_or(&b""[..], |field| field.text(record));
        let request = Request {
            device: ((device >> MINOR_BITS) as u32, (device & MINOR_MASK) as u32),
            kind: kind(letters),
            sector: number(self.sector),
            sectors: number(self.sectors),
        };
        match self.means {
            Means::Requeued => Told::Requeued(request),
            Means::Completed => {
                let error = self.error.map_or(0, |field| field.signed(record));
                Told::Completed(request, error != 0)
            }
            Means::Issued | Means::Paused => {
                let name = self.program.map_or(&b""[..], |field| field.text(record));
                Told::Issued(request, ProgramName::new(name))
            }
        }
    }
}

/// The tracepoint whose record it is: each begins with its number (`common_type`).
pub(super) fn of_record<'a>(all: &'a [Tracepoint], record: &[u8]) -> Option<&'a Tracepoint> {
    let number = record.get(..2)?;
    let id = u64::from(u16::from_ne_bytes([number[0], number[1]]));
    all.iter().find(|tracepoint| tracepoint.id == id)
}

/// `MINORBITS` of `linux/kdev_t.h`: the kernel's own form of a device number.
const MINOR_BITS: u32 = 20;
const MINOR_MASK: u64 = (1 << MINOR_BITS) - 1;

fn filter(devices: &[(u32, u32)]) -> CString {
    let each: Vec<String> = devices
        .iter()
        .map(|(major, minor)| {
            format!(
                "dev == {}",
                (u64::from(*major) << MINOR_BITS) | u64::from(*minor)
            )
        })
        .collect();
    CString::new(each.join(" || ")).expect("numbers hold no zero byte")
}

/// The kind that the letters of `blk_fill_rwbs` name: `F` for a flush before it, what it
/// does, and then how.
fn kind(letters: &[u8]) -> RequestKind {
    let letters = match letters {
        [b'F', rest @ ..] if matches!(rest.first(), Some(b'R' | b'W' | b'D' | b'N' | b'F')) => rest,
        all => all,
    };
    match letters.first() {
        Some(b'R') => RequestKind::Read,
        Some(b'W') => RequestKind::Write,
        Some(b'D') => RequestKind::Discard,
        Some(b'F') => RequestKind::Flush,
        _ => RequestKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of letters are from Linux 6.18's `blk_fill_rwbs`.
    #[test]
    fn letters_name_the_kind() {
        for (letters, expected) in [
            ("R", RequestKind::Read),
            ("RA", RequestKind::Read),
            ("WS", RequestKind::Write),
            ("WFSM", RequestKind::Write),
            ("FWFSM", RequestKind::Write),
            ("FWS", RequestKind::Write),
            ("D", RequestKind::Discard),
            ("DE", RequestKind::Discard),
            ("F", RequestKind::Flush),
            ("FF", RequestKind::Flush),
            ("FFS", RequestKind::Flush),
            ("FS", RequestKind::Flush),
            ("N", RequestKind::Other),
            ("ZR", RequestKind::Other),
            ("", RequestKind::Other),
        ] {
            assert_eq!(kind(letters.as_bytes()), expected, "{letters}");
        }
    }

    #[test]
    fn a_filter_names_devices_as_the_kernel_does() {
        let text = filter(&[(254, 0), (7, 3)]);
        assert_eq!(text.to_str().unwrap(), "dev == 266338304 || dev == 7340035");
    }

    /// Completion, of Linux 6.18.
    #[test]
    fn a_record_is_read_by_its_format() {
        let text = "name: block_rq_complete\nID: 2107\nformat:\n\
            \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
            \tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;\n\
            \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
            \tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n\
            \tfield:int error;\toffset:28;\tsize:4;\tsigned:1;\n\
            \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n";
        let format = Format::parse(text).unwrap();
        let tracepoint = Tracepoint::new(&format, Means::Completed, None);
        let mut record = [0u8; 48];
        record[..2].copy_from_slice(&2107u16.to_ne_bytes());
        record[8..12].copy_from_slice(&((7u32 << 20) + 3).to_ne_bytes());
        record[16..24].copy_from_slice(&12345u64.to_ne_bytes());
        record[24..28].copy_from_slice(&8u32.to_ne_bytes());
        record[28..32].copy_from_slice(&(-5i32).to_ne_bytes());
        record[34..36].copy_from_slice(b"WS");
        let all = [tracepoint];
        let told = of_record(&all, &record).unwrap().told(&record);
        let request = Request {
            device: (7, 3),
            kind: RequestKind::Write,
            sector: 12345,
            sectors: 8,
        };
        assert_eq!(told, Told::Completed(request, true));
        record[0] ^= 1;
        assert!(of_record(&all, &record).is_none());
    }
}
