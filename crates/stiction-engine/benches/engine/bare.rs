//! The floor: the cheapest loop that does a row's operations, with no clock and no
//! statistics but the number of operations and a check of each result.

use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::io::{pread, pwrite};

use crate::bare_ring::{BareRing, own_file_table};
use crate::rows::{Call, Load};
use crate::sample::{Sample, now_ns, process_cpu_ns};

/// How many operations pass between two looks at the clock.
const LOOK_EVERY: u64 = 256;

/// Which block comes next; the block numbers cost about 1 ns.
pub(crate) struct Blocks {
    state: u64,
    count: u64,
    block_bytes: u64,
    sequential: bool,
}

impl Blocks {
    pub(crate) fn new(load: &Load, length_bytes: u64) -> Self {
        let block_bytes = u64::from(load.block_bytes);
        Self {
            state: 0,
            count: length_bytes / block_bytes,
            block_bytes,
            sequential: load.sequential,
        }
    }

    #[inline(always)]
    pub(crate) fn next_offset(&mut self) -> u64 {
        if self.sequential {
            let block = self.state;
            self.state = if block + 1 == self.count {
                0
            } else {
                block + 1
            };
            return block * self.block_bytes;
        }
        // wyrand, and Lemire's reduction to a range.
        self.state = self.state.wrapping_add(0xa076_1d64_78bd_642f);
        let product = u128::from(self.state) * u128::from(self.state ^ 0xe703_7ed1_a0b4_28db);
        let random = (product as u64) ^ ((product >> 64) as u64);
        ((u128::from(random) * u128::from(self.count)) >> 64) as u64 * self.block_bytes
    }
}

/// Runs the loop for `seconds` on the first `length_bytes` of `path`.
///
/// It runs in a thread of its own, as a worker does, so that the scheduler treats both
/// alike, and with a table of files of its own, which spares the kernel a reference
/// count for each call.
pub(crate) fn run(
    load: &Load,
    path: &Path,
    length_bytes: u64,
    seconds: f64,
) -> Result<Sample, String> {
    let alone = || {
        own_file_table()?;
        run_here(load, path, length_bytes, seconds)
    };
    std::thread::scope(|scope| scope.spawn(alone).join())
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn run_here(load: &Load, path: &Path, length_bytes: u64, seconds: f64) -> Result<Sample, String> {
    let failed = |error: &dyn std::fmt::Display| format!("bare loop: {}: {error}", path.display());
    let mut blocks = Blocks::new(load, length_bytes);
    if load.call == Call::None {
        return timed(seconds, LOOK_EVERY, || {
            for _ in 0..LOOK_EVERY {
                black_box(blocks.next_offset());
            }
            Ok(LOOK_EVERY)
        });
    }
    let file = open(load, path).map_err(|error| failed(&error))?;
    let slots = load.depth as usize;
    let mut buffers = aligned(slots * load.block_bytes as usize);
    if load.call == Call::Sync {
        let block = &mut buffers.pages_mut()[..load.block_bytes as usize];
        let whole = block.len();
        // A direct operation may take 100 us.
        let many = if load.is_direct() { 16 } else { LOOK_EVERY };
        return timed(seconds, many, || {
            for _ in 0..many {
                let offset = blocks.next_offset();
                let moved = if load.write {
                    pwrite(&file, block, offset)
                } else {
                    pread(&file, &mut *block, offset)
                };
                match moved {
                    Ok(moved) if moved == whole => {}
                    Ok(moved) => return Err(failed(&format!("{moved} bytes of {whole}"))),
                    Err(errno) => return Err(failed(&errno)),
                }
            }
            Ok(many)
        });
    }
    let mut ring = BareRing::new(load, &file, &mut buffers).map_err(|error| failed(&error))?;
    timed(seconds, LOOK_EVERY, || {
        let mut done = 0;
        while done < LOOK_EVERY {
            done += ring.round(&mut blocks).map_err(|error| failed(&error))?;
        }
        Ok(done)
    })
}

/// Calls `some`, which does about `many` operations and says how many, until the time
/// is up.
fn timed(
    seconds: f64,
    many: u64,
    mut some: impl FnMut() -> Result<u64, String>,
) -> Result<Sample, String> {
    let mut operations = 0;
    // Page tables, caches and branches get to know the loop.
    for _ in 0..64 / many.min(64) {
        some()?;
    }
    let (cpu, start) = (process_cpu_ns(), now_ns());
    let end = start + (seconds * 1e9) as u64;
    loop {
        operations += some()?;
        let now = now_ns();
        if now >= end {
            return Ok(Sample {
                operations,
                cpu_ns: (process_cpu_ns() - cpu) as f64,
                wall_ns: (now - start) as f64,
            });
        }
    }
}

fn open(load: &Load, path: &Path) -> std::io::Result<File> {
    let direct = if load.is_direct() { libc::O_DIRECT } else { 0 };
    // Whether a time of access is due need not be looked at then.
    (OpenOptions::new().read(true).write(load.write))
        .custom_flags(direct | libc::O_NOATIME)
        .open(path)
}

/// Memory that begins a page.
pub(crate) struct Aligned {
    bytes: Box<[u8]>,
    skipped: usize,
}

const PAGE_BYTES: usize = 4096;

/// So many bytes that begin a page and are there already.
fn aligned(length: usize) -> Aligned {
    let bytes = vec![0x5a; length + PAGE_BYTES].into_boxed_slice();
    let skipped = bytes.as_ptr().align_offset(PAGE_BYTES);
    Aligned { bytes, skipped }
}

impl Aligned {
    pub(crate) fn pages_mut(&mut self) -> &mut [u8] {
        let end = self.bytes.len() - (PAGE_BYTES - self.skipped);
        &mut self.bytes[self.skipped..end]
    }
}
