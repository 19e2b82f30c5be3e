//! The records that perf writes into its rings (perf_event_open(2), "MMAP layout").

const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const LOST_SAMPLES: u32 = 13;

const HEADER_BYTES: usize = 8;
const TRAILER_BYTES: usize = 16;
const CPU_MODE: u16 = 7;
const CPU_MODE_USER: u16 = 2;

/// One record. Samples are of events that record who, when, and then their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Record<'a> {
    Sample {
        pid: u32,
        tid: u32,
        time_ns: u64,
        /// Whether user code was interrupted.
        is_user: bool,
        /// A call chain, or the raw fields.
        rest: &'a [u8],
    },
    Fork {
        pid: u32,
        parent: u32,
        time_ns: u64,
    },
    /// A process has ended; of its threads nothing is told.
    Exit {
        pid: u32,
        time_ns: u64,
    },
    /// A process has another name: it carries out another program.
    Named {
        pid: u32,
        name: &'a [u8],
        time_ns: u64,
    },
    Lost(u64),
}

/// The records in what was drained; those of other kinds are passed over.
pub(super) fn records(mut bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        loop {
            let header = bytes.get(..HEADER_BYTES)?;
            let kind = u32_at(header, 0);
            let misc = u16::from_ne_bytes([header[4], header[5]]);
            let length = usize::from(u16::from_ne_bytes([header[6], header[7]]));
            let body = bytes.get(HEADER_BYTES..length.max(HEADER_BYTES))?;
            bytes = &bytes[length.max(HEADER_BYTES)..];
            if let Some(record) = record(kind, misc, body) {
                return Some(record);
            }
        }
    })
}

fn record(kind: u32, misc: u16, body: &[u8]) -> Option<Record<'_>> {
    let enough = |length: usize| (body.len() >= length).then_some(());
    Some(match kind {
        SAMPLE => {
            enough(16)?;
            Record::Sample {
                pid: u32_at(body, 0),
                tid: u32_at(body, 4),
                time_ns: u64_at(body, 8),
                is_user: misc & CPU_MODE == CPU_MODE_USER,
                rest: &body[16..],
            }
        }
        FORK | EXIT => {
            enough(24)?;
            let (pid, parent, tid) = (u32_at(body, 0), u32_at(body, 4), u32_at(body, 8));
            let time_ns = u64_at(body, 16);
            match kind {
                // A new thread has the process that it belongs to as its parent.
                FORK if pid != parent => Record::Fork {
                    pid,
                    parent,
                    time_ns,
                },
                EXIT if pid == tid => Record::Exit { pid, time_ns },
                _ => return None,
            }
        }
        COMM => {
            // At its end stands what samples begin with: who, and when.
            enough(8 + TRAILER_BYTES)?;
            let (name, trailer) = body[8..].split_at(body.len() - 8 - TRAILER_BYTES);
            let end = name.iter().position(|byte| *byte == 0);
            let (pid, tid) = (u32_at(body, 0), u32_at(body, 4));
            (pid == tid).then_some(())?;
            Record::Named {
                pid,
                name: &name[..end.unwrap_or(name.len())],
                time_ns: u64_at(trailer, 8),
            }
        }
        LOST => {
            enough(16)?;
            Record::Lost(u64_at(body, 8))
        }
        LOST_SAMPLES => {
            enough(8)?;
            Record::Lost(u64_at(body, 0))
        }
        _ => return None,
    })
}

/// The raw fields of a tracepoint's sample: a length, and as many bytes.
pub(super) fn raw(rest: &[u8]) -> &[u8] {
    let Some(length) = rest.get(..4) else {
        return &[];
    };
    rest.get(4..4 + u32_at(length, 0) as usize).unwrap_or(&[])
}

/// The addresses of a call chain, the innermost first, without the marks between
/// kernel and user code.
pub(super) fn call_chain(rest: &[u8]) -> impl Iterator<Item = u64> + '_ {
    /// `PERF_CONTEXT_MAX`: marks are beyond it.
    const FIRST_MARK: u64 = (-4095i64).cast_unsigned();
    let length = rest.get(..8).map_or(0, |bytes| u64_at(bytes, 0)) as usize;
    rest.get(8..)
        .unwrap_or(&[])
        .chunks_exact(8)
        .take(length)
        .map(|bytes| u64_at(bytes, 0))
        .filter(|address| *address < FIRST_MARK)
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(bytes: &mut Vec<u8>, kind: u32, misc: u16, body: &[u8]) {
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(misc.to_ne_bytes());
        bytes.extend((8 + body.len() as u16).to_ne_bytes());
        bytes.extend(body);
    }

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn records_are_told_apart_and_unknown_ones_passed_over() {
        let mut bytes = Vec::new();
        put(&mut bytes, 99, 0, &[0; 16]);
        // A thread of 7, a process that 7 made, one thread's end and one process's.
        let time = 5u64.to_ne_bytes();
        for (kind, who) in [
            (FORK, [7, 7, 8, 7]),
            (FORK, [9, 7, 9, 7]),
            (EXIT, [7, 7, 8, 7]),
            (EXIT, [9, 7, 9, 7]),
        ] {
            put(&mut bytes, kind, 0, &[&words(&who)[..], &time].concat());
        }
        put(
            &mut bytes,
            COMM,
            0,
            &[
                &words(&[9, 9])[..],
                b"dd\0\0\0\0\0\0",
                &words(&[9, 9]),
                &time,
            ]
            .concat(),
        );
        let lost = [0u64.to_ne_bytes(), 3u64.to_ne_bytes()].concat();
        put(&mut bytes, LOST, 0, &lost);
        let found: Vec<Record<'_>> = records(&bytes).collect();
        let expected = [
            Record::Fork {
                pid: 9,
                parent: 7,
                time_ns: 5,
            },
            Record::Exit { pid: 9, time_ns: 5 },
            Record::Named {
                pid: 9,
                name: b"dd",
                time_ns: 5,
            },
            Record::Lost(3),
        ];
        assert_eq!(found, expected);
        assert_eq!(records(&bytes[..bytes.len() - 1]).count(), 3, "cut off");
    }

    #[test]
    fn samples_carry_raw_fields_or_addresses() {
        let mut bytes = Vec::new();
        let head = [&words(&[7, 8])[..], &9u64.to_ne_bytes()].concat();
        let fields = [&words(&[4])[..], b"abcd", &[0; 4]].concat();
        put(&mut bytes, SAMPLE, 1, &[&head[..], &fields].concat());
        let chain: Vec<u8> = [3, (-128i64).cast_unsigned(), 0xffff_ffff_8100_0000, 17]
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        put(&mut bytes, SAMPLE, 2, &[&head[..], &chain].concat());
        let mut found = records(&bytes);
        let Some(Record::Sample {
            pid: 7,
            tid: 8,
            time_ns: 9,
            is_user: false,
            rest,
        }) = found.next()
        else {
            panic!("no sample");
        };
        assert_eq!(raw(rest), b"abcd");
        let Some(Record::Sample {
            is_user: true,
            rest,
            ..
        }) = found.next()
        else {
            panic!("no second sample");
        };
        let addresses: Vec<u64> = call_chain(rest).collect();
        assert_eq!(addresses, [0xffff_ffff_8100_0000, 17]);
    }
}
