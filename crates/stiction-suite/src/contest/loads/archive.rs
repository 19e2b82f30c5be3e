//! A tree that is put into an archive, or taken out of one, again and again.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use stiction_engine::StopFlag;

use super::{Gauge, Setting, list};
use crate::contest::part::{PartResult, failed};

/// Bytes of a read or write of an archive, as tar has it: 20 blocks of 512.
const RECORD_BYTES: usize = 10_240;

fn path(directory: &Path) -> PathBuf {
    directory.join("archive.tar")
}

/// Counts the bytes that pass, and breaks off when it is told to stop.
struct Counted<'a, T> {
    inner: T,
    gauge: &'a Gauge,
    stop: &'a StopFlag,
    bytes: u64,
}

impl<'a, T> Counted<'a, T> {
    fn new(inner: T, gauge: &'a Gauge, stop: &'a StopFlag) -> Self {
        Self {
            inner,
            gauge,
            stop,
            bytes: 0,
        }
    }

    fn count(&mut self, moved: usize) -> io::Result<usize> {
        self.bytes += moved as u64;
        self.gauge.step(moved as u64);
        if self.stop.is_raised() {
            return Err(io::Error::other("stopped"));
        }
        Ok(moved)
    }
}

impl<T: Write> Write for Counted<'_, T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let moved = self.inner.write(bytes)?;
        self.count(moved)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for Counted<'_, T> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let moved = self.inner.read(bytes)?;
        self.count(moved)
    }
}

/// Archives the tree. Bytes of the archive.
fn create(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> io::Result<u64> {
    let file = File::create(path(&setting.directory))?;
    let counted = Counted::new(file, gauge, stop);
    let mut archive = tar::Builder::new(BufWriter::with_capacity(RECORD_BYTES, counted));
    archive.append_dir_all("tree", list::tree(&setting.directory))?;
    let mut written = archive.into_inner()?;
    written.flush()?;
    Ok(written.get_ref().bytes)
}

/// Archives the tree again and again.
pub(super) fn create_again(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    while !stop.is_raised() {
        match create(setting, gauge, stop) {
            Ok(bytes) => gauge.pass(bytes),
            Err(_) if stop.is_raised() => {}
            Err(error) => return Err(failed("archive the tree in", &setting.directory, &error)),
        }
    }
    Ok(())
}

/// Archives the tree once and unpacks it again and again. What was unpacked is removed
/// before the next time, and that time does not count.
pub(super) fn extract_again(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let made = create(setting, &Gauge::default(), stop);
    if stop.is_raised() {
        return Ok(());
    }
    made.map_err(|error| failed("archive the tree in", &setting.directory, &error))?;
    let target = setting.directory.join("unpacked");
    while !stop.is_raised() {
        match extract(setting, &target, gauge, stop) {
            Ok(bytes) => gauge.pass(bytes),
            Err(_) if stop.is_raised() => {}
            Err(error) => return Err(failed("unpack into", &target, &error)),
        }
        let begun = Instant::now();
        std::fs::remove_dir_all(&target).map_err(|error| failed("remove", &target, &error))?;
        gauge.pause(begun.elapsed());
    }
    Ok(())
}

fn extract(setting: &Setting, target: &Path, gauge: &Gauge, stop: &StopFlag) -> io::Result<u64> {
    std::fs::create_dir(target)?;
    let file = File::open(path(&setting.directory))?;
    let counted = Counted::new(file, gauge, stop);
    let mut archive = tar::Archive::new(BufReader::with_capacity(RECORD_BYTES, counted));
    archive.unpack(target)?;
    Ok(archive.into_inner().get_ref().bytes)
}
