//! A byte at a time: through a buffer of the process, or by a system call for each.
//!
//! Neither says much of a disk. Through a buffer, the work is a call, a comparison and a
//! store for each byte; by system calls, it is the price of entering the kernel.

use std::hint::black_box;
use std::path::PathBuf;

use stiction_core::Direction;
use stiction_engine::{IoFailure, Routine, Stopwatch, Timetable};

use super::parameters::{BonnieParameters, PerChar};
use crate::open_file::{OpenFile, Use};

/// Bytes of a process's own buffer: what the C library takes for most filesystems.
const BUFFER_BYTES: usize = 4096;

/// What is recorded; an operation is a chunk's worth of bytes.
pub(super) fn timetable(parameters: &BonnieParameters, writes: bool) -> Timetable<'static> {
    Timetable {
        counted: if writes {
            &[Direction::Write]
        } else {
            &[Direction::Read]
        },
        also: &[Direction::Sync],
        interval_ns: parameters.interval_ns,
        duration_ns: None,
    }
}

/// How it is done, for the reader.
pub(super) fn note(parameters: &BonnieParameters) -> String {
    let chunk = parameters.chunk_bytes;
    match parameters.per_char {
        PerChar::Buffer => format!(
            "a call for each byte, to a buffer of {BUFFER_BYTES} bytes without a lock: the time \
             is the CPU's; an operation is {chunk} such calls"
        ),
        PerChar::SystemCall => format!(
            "a system call for each byte: the time is the CPU's; an operation is {chunk} such \
             calls"
        ),
    }
}

/// Writes `bytes` bytes to the file, which is made anew; byte `i` is `i mod 128`.
pub(super) fn put(
    parameters: &BonnieParameters,
    path: PathBuf,
    worker: u32,
    bytes: u64,
) -> Routine<'_> {
    Box::new(move |stopwatch| {
        let file = OpenFile::open(&path, worker, Use::Create, false)?;
        let mut sink = Sink {
            file: &file,
            buffer: Vec::with_capacity(BUFFER_BYTES),
            capacity: capacity(parameters.per_char),
            at: 0,
        };
        each_chunk(
            parameters,
            bytes,
            stopwatch,
            Direction::Write,
            |first, length| {
                for byte in first..first + length {
                    sink.put((byte & 0x7f) as u8)?;
                }
                Ok(())
            },
        )?;
        sink.flush()?;
        if parameters.sync_at_end && !stopwatch.was_stopped() {
            file.sync(stopwatch)?;
        }
        Ok(())
    })
}

/// Reads the first `bytes` bytes of the file.
pub(super) fn get(
    parameters: &BonnieParameters,
    path: PathBuf,
    worker: u32,
    bytes: u64,
) -> Routine<'_> {
    Box::new(move |stopwatch| {
        let file = OpenFile::open(&path, worker, Use::Read, false)?;
        let mut source = Source {
            file: &file,
            buffer: vec![0; capacity(parameters.per_char)],
            filled: 0,
            next: 0,
            at: 0,
        };
        each_chunk(
            parameters,
            bytes,
            stopwatch,
            Direction::Read,
            |_, length| {
                for _ in 0..length {
                    black_box(source.get()?);
                }
                Ok(())
            },
        )
    })
}

fn capacity(per_char: PerChar) -> usize {
    match per_char {
        PerChar::Buffer => BUFFER_BYTES,
        PerChar::SystemCall => 1,
    }
}

/// Calls `chunk` for each chunk's worth of `bytes`, with its first byte and its length.
fn each_chunk(
    parameters: &BonnieParameters,
    bytes: u64,
    stopwatch: &mut Stopwatch<'_>,
    direction: Direction,
    mut chunk: impl FnMut(u64, u64) -> Result<(), IoFailure>,
) -> Result<(), IoFailure> {
    let mut first = 0;
    while first < bytes && !stopwatch.is_over() {
        let length = parameters.chunk_bytes.min(bytes - first);
        let begun = stopwatch.now();
        chunk(first, length)?;
        stopwatch.record(direction, begun, length);
        first += length;
    }
    Ok(())
}

/// What bytes are put into.
struct Sink<'a> {
    file: &'a OpenFile,
    buffer: Vec<u8>,
    capacity: usize,
    at: u64,
}

impl Sink<'_> {
    /// A call for each byte is what is measured.
    #[inline(never)]
    fn put(&mut self, byte: u8) -> Result<(), IoFailure> {
        self.buffer.push(byte);
        if self.buffer.len() == self.capacity {
            return self.flush();
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), IoFailure> {
        self.file.write_at(&self.buffer, self.at)?;
        self.at += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

/// What bytes are got from; 0 for those beyond the end.
struct Source<'a> {
    file: &'a OpenFile,
    buffer: Vec<u8>,
    filled: usize,
    next: usize,
    at: u64,
}

impl Source<'_> {
    /// A call for each byte is what is measured.
    #[inline(never)]
    fn get(&mut self) -> Result<u8, IoFailure> {
        if self.next == self.filled {
            self.filled = self.file.read_at(&mut self.buffer, self.at)?;
            self.at += self.filled as u64;
            self.next = 0;
        }
        let byte = self.buffer.get(self.next).copied().unwrap_or(0);
        self.next = (self.next + 1).min(self.filled);
        Ok(byte)
    }
}
