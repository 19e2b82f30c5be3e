//! The built-in build: a tree, a job server, chains of short-lived processes, and the same
//! work each time.
//!
//! What a unit does is what was counted for one of Linux 6.1 under gcc 12 (83 files of
//! `kernel/`): about 530 headers of 7.5 KiB opened of 1123 that all share, 1020 look-ups
//! of files that are not there, 18,000 page faults, an object of 6 to 11 KB that is
//! written under another name and renamed. A real unit has 24 processes; 6 are the usual
//! number here.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::process::{Pid, WaitOptions, wait};
use serde::{Deserialize, Serialize};
use stiction_core::Seed;

use super::part::{PART, PartResult, failed};

/// Rounds in each unit of a quick run.
pub(super) const ROUNDS_QUICK: u64 = 1_000_000;
/// A page of most machines; touching more often than that changes nothing.
const PAGE: usize = 4096;
/// Bytes of an object.
const OBJECT_BYTES: usize = 8192;
/// Directories that are searched before the one that a header is in.
const SEARCHED: u32 = 2;

/// How much work a build is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BuildSize {
    /// Seed of names, sizes and contents.
    pub seed: Seed,
    /// Units, each compiled to one object.
    #[serde(rename = "units_count")]
    pub units: u32,
    /// Headers that the units share.
    #[serde(rename = "headers_count")]
    pub headers: u32,
    /// Mean size of a header, bytes.
    pub header_bytes_mean: u64,
    /// Size of a unit's source, bytes.
    pub unit_bytes: u64,
    /// Headers that each unit reads.
    #[serde(rename = "headers_of_unit_count")]
    pub headers_of_unit: u32,
    /// Processes of each unit, one started by the other.
    #[serde(rename = "processes_of_unit_count")]
    pub processes: u32,
    /// Fresh memory that each unit touches, bytes.
    pub memory_bytes: u64,
    /// Rounds of hashing in each unit.
    #[serde(rename = "rounds_count")]
    pub rounds: u64,
}

impl BuildSize {
    /// Linux 6.1, but for the units and the rounds.
    #[must_use]
    pub fn of_linux(seed: Seed) -> Self {
        Self {
            seed: seed.stream(0xb01d),
            units: 64,
            headers: 1123,
            header_bytes_mean: 7_500,
            unit_bytes: 27_000,
            headers_of_unit: 530,
            processes: 6,
            memory_bytes: 18_000 * PAGE as u64,
            rounds: ROUNDS_QUICK,
        }
    }

    /// Bytes of the tree and of all that is built, at most.
    #[must_use]
    pub(super) fn bytes(&self) -> u64 {
        let block = |bytes: u64| bytes.next_multiple_of(PAGE as u64);
        let headers = u64::from(self.headers) * block(2 * self.header_bytes_mean);
        let unit = block(self.unit_bytes) + 2 * block(OBJECT_BYTES as u64);
        headers + u64::from(self.units) * unit + (1 << 20)
    }

    fn header_bytes(&self, header: u32) -> usize {
        // Even between a half and one and a half times the mean.
        let drawn = self.seed.stream(1).stream(header.into()).0 % self.header_bytes_mean.max(1);
        (self.header_bytes_mean / 2 + drawn) as usize
    }

    /// The headers of a unit: one in ten is common to all, the others are drawn.
    fn headers_of(self, unit: u32) -> impl Iterator<Item = u32> {
        let draws = self.seed.stream(2).stream(unit.into());
        let count = self.headers.max(1);
        (0..self.headers_of_unit).map(move |nth| {
            if nth % 10 == 0 {
                nth % count
            } else {
                (draws.stream(nth.into()).0 % u64::from(count)) as u32
            }
        })
    }
}

/// Rounds that keep one CPU of this machine busy for `cpu_ns`, rounded to two digits so
/// that they are easily told again. Takes some milliseconds.
#[must_use]
pub fn rounds_for(cpu_ns: u64) -> u64 {
    const PROBE: u64 = 4_000_000;
    let begun = Instant::now();
    std::hint::black_box(hashed(Seed(1), PROBE));
    let probe_ns = (begun.elapsed().as_nanos() as f64).max(1.0);
    let rounds = (PROBE as f64 * cpu_ns as f64 / probe_ns).max(1.0) as u64;
    let digit = 10u64.pow(rounds.ilog10().saturating_sub(1));
    rounds / digit * digit
}

/// The work that a compiler does: each round needs the one before.
fn hashed(seed: Seed, rounds: u64) -> Seed {
    (0..rounds).fold(seed, |sum, round| sum.stream(round & 0xff))
}

/// A sum over bytes that every one of them changes, eight at a time.
fn folded(sum: Seed, bytes: &[u8]) -> Seed {
    bytes.chunks(8).fold(sum, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        Seed(sum.0 ^ u64::from_le_bytes(word)).stream(chunk.len() as u64)
    })
}

fn content(seed: Seed, length: usize) -> Vec<u8> {
    let words = (0..length.div_ceil(8) as u64).flat_map(|word| seed.stream(word).0.to_le_bytes());
    words.take(length).collect()
}

fn header_path(root: &Path, header: u32) -> PathBuf {
    root.join(format!("include/h{header}.h"))
}

fn source_path(root: &Path, unit: u32) -> PathBuf {
    root.join(format!("src/u{unit}.c"))
}

fn object_path(root: &Path, unit: u32) -> PathBuf {
    root.join(format!("obj/u{unit}.o"))
}

/// Every file of the tree, with what stands in it. The directories `include`, `src` and
/// `obj` are the caller's to make.
pub(super) fn files(root: &Path, size: BuildSize) -> impl Iterator<Item = (PathBuf, Vec<u8>)> {
    let headers = (0..size.headers).map(move |header| {
        let seed = size.seed.stream(3).stream(header.into());
        (
            header_path(root, header),
            content(seed, size.header_bytes(header)),
        )
    });
    let units = (0..size.units).map(move |unit| {
        let seed = size.seed.stream(4).stream(unit.into());
        (
            source_path(root, unit),
            content(seed, size.unit_bytes as usize),
        )
    });
    headers.chain(units)
}

/// Builds everything with `slots` units at once, and returns the checksum of the result.
pub(super) fn build(root: &Path, size: BuildSize, slots: u32) -> PartResult<u64> {
    let mut running = 0;
    for unit in 0..size.units {
        if running == slots.max(1) {
            wait_for_one()?;
            running -= 1;
        }
        start_step(root, size, unit, 0)?;
        running += 1;
    }
    for _ in 0..running {
        wait_for_one()?;
    }
    link(root, size)
}

/// Starts a process of the chain of a unit.
fn start_step(root: &Path, size: BuildSize, unit: u32, step: u32) -> PartResult<()> {
    let size =
        serde_json::to_string(&size).map_err(|error| failed("write the size", root, &error))?;
    Command::new("/proc/self/exe")
        .args([PART, "unit"])
        .arg(root)
        .args([&size, &unit.to_string(), &step.to_string()])
        .stdin(Stdio::null())
        .spawn()
        .map(drop)
        .map_err(|error| failed("start a process of the build in", root, &error))
}

fn wait_for_one() -> PartResult<()> {
    let ended: Option<(Pid, _)> = wait(WaitOptions::empty())
        .map_err(|errno| failed("wait for the processes of", Path::new("the build"), &errno))?;
    match ended {
        Some((_, status)) if status.exit_status() == Some(0) => Ok(()),
        Some((pid, status)) => Err(format!(
            "process {} of the build ended with {status:?}",
            pid.as_raw_nonzero()
        )),
        None => Err("a process of the build was lost".to_owned()),
    }
}

/// One process of the chain of a unit: it looks for the next one where that is not, as a
/// shell does, and starts it; the last one compiles.
pub(super) fn unit(root: &Path, size: BuildSize, unit: u32, step: u32) -> PartResult<()> {
    for place in 0..SEARCHED {
        // Not being there is what is wanted.
        let _ = root.join(format!("bin{place}/step{step}")).metadata();
    }
    if step + 1 < size.processes {
        start_step(root, size, unit, step + 1)?;
        wait_for_one()
    } else {
        compile(root, size, unit)
    }
}

fn compile(root: &Path, size: BuildSize, unit: u32) -> PartResult<()> {
    let mut sum = folded(size.seed, &read(&source_path(root, unit))?);
    for header in size.headers_of(unit) {
        for place in 0..SEARCHED {
            // Not being there is what is wanted.
            let _ = root.join(format!("search{place}/h{header}.h")).metadata();
        }
        sum = folded(sum, &read(&header_path(root, header))?);
    }
    let mut memory = vec![0u8; size.memory_bytes as usize];
    for page in memory.chunks_mut(PAGE) {
        page[0] = sum.0 as u8;
    }
    std::hint::black_box(&memory);
    sum = hashed(sum, size.rounds);
    let object = object_path(root, unit);
    let temporary = object.with_extension("tmp");
    write(&temporary, &content(sum, OBJECT_BYTES))?;
    std::fs::rename(&temporary, &object).map_err(|error| failed("rename", &temporary, &error))
}

/// Reads all objects and writes one file of what they amount to.
fn link(root: &Path, size: BuildSize) -> PartResult<u64> {
    let mut sum = size.seed;
    let image = root.join("obj/image");
    let mut file = File::create(&image).map_err(|error| failed("write", &image, &error))?;
    for unit in 0..size.units {
        let object = read(&object_path(root, unit))?;
        sum = folded(sum, &object);
        file.write_all(&object)
            .map_err(|error| failed("write", &image, &error))?;
    }
    Ok(sum.0)
}

/// Reads every file of the tree once, and sums them up.
pub(super) fn read_all(root: &Path, size: BuildSize) -> PartResult<u64> {
    let headers = (0..size.headers).map(|header| header_path(root, header));
    let units = (0..size.units).map(|unit| source_path(root, unit));
    let mut sum = size.seed;
    for path in headers.chain(units) {
        sum = folded(sum, &read(&path)?);
    }
    Ok(sum.0)
}

fn read(path: &Path) -> PartResult<Vec<u8>> {
    let reading = || {
        let mut file = File::open(path)?;
        let mut bytes = Vec::with_capacity(file.metadata()?.len() as usize);
        let mut buffer = [0; PAGE];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(bytes),
                read => bytes.extend(&buffer[..read]),
            }
        }
    };
    reading().map_err(|error: std::io::Error| failed("read", path, &error))
}

fn write(path: &Path, bytes: &[u8]) -> PartResult<()> {
    std::fs::write(path, bytes).map_err(|error| failed("write", path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small() -> BuildSize {
        BuildSize {
            units: 3,
            headers: 20,
            headers_of_unit: 10,
            processes: 1,
            memory_bytes: 1 << 16,
            rounds: 10,
            ..BuildSize::of_linux(Seed(7))
        }
    }

    fn built(size: BuildSize) -> u64 {
        let folder = testkit::scratch_folder();
        for inner in ["include", "src", "obj"] {
            std::fs::create_dir(folder.path().join(inner)).unwrap();
        }
        for (path, bytes) in files(folder.path(), size) {
            std::fs::write(path, bytes).unwrap();
        }
        for number in 0..size.units {
            unit(folder.path(), size, number, 0).unwrap();
        }
        link(folder.path(), size).unwrap()
    }

    #[test]
    fn the_same_work_has_the_same_sum_wherever_it_is_done() {
        let sum = built(small());
        assert_eq!(sum, built(small()));
        for other in [
            BuildSize {
                rounds: 11,
                ..small()
            },
            BuildSize {
                seed: Seed(8),
                ..small()
            },
            BuildSize {
                headers_of_unit: 11,
                ..small()
            },
        ] {
            assert_ne!(sum, built(other), "{other:?}");
        }
    }

    /// Linux 6.1: 1123 headers of 7.5 KB, 530 of them in a unit.
    #[test]
    fn the_tree_is_as_large_as_was_counted() {
        let size = BuildSize::of_linux(Seed(1));
        let root = Path::new("/t");
        let headers: Vec<usize> = files(root, size)
            .take(1123)
            .map(|(_, bytes)| bytes.len())
            .collect();
        let mean = headers.iter().sum::<usize>() as f64 / 1123.0;
        assert!((mean / 7500.0 - 1.0).abs() < 0.05, "{mean}");
        assert_eq!(files(root, size).count(), 1123 + 64);
        assert_eq!(size.headers_of(5).count(), 530);
        assert!(size.headers_of(5).all(|header| header < 1123));
    }

    #[test]
    fn every_byte_counts() {
        let mut bytes = content(Seed(3), 100);
        let sum = folded(Seed(1), &bytes);
        for at in 0..bytes.len() {
            bytes[at] ^= 1;
            assert_ne!(folded(Seed(1), &bytes), sum, "{at}");
            bytes[at] ^= 1;
        }
        assert_ne!(folded(Seed(1), &bytes[..99]), sum);
    }
}
