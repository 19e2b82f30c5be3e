//! A file that is written, or read, from start to end again and again.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use stiction_engine::StopFlag;

use super::{Gauge, Setting};
use crate::contest::part::{PartResult, failed};

/// Bytes of a write.
const WRITE_BYTES: usize = 1 << 20;
/// Bytes of a read.
const READ_BYTES: usize = 128 << 10;

/// The file that is written.
fn written(directory: &Path) -> PathBuf {
    directory.join("io_load")
}

/// The file that is read.
pub(in crate::contest) fn to_read(directory: &Path) -> PathBuf {
    directory.join("read_load")
}

/// Copies zeros to one file again and again: each pass cuts it to nothing first, so that
/// blocks are freed and found again. No sync. It is steady after a pass, or when so much
/// is unwritten that the kernel holds writers up.
pub(super) fn write_again(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let path = written(&setting.directory);
    let zeros = vec![0; WRITE_BYTES];
    let mut all = 0;
    while !stop.is_raised() {
        let mut file = File::create(&path).map_err(|error| failed("make", &path, &error))?;
        let mut left = setting.bytes;
        while left > 0 && !stop.is_raised() {
            let now = left.min(WRITE_BYTES as u64);
            file.write_all(&zeros[..now as usize])
                .map_err(|error| failed("write", &path, &error))?;
            gauge.step(now);
            left -= now;
            all += now;
            if all >= setting.dirty_limit_bytes {
                gauge.settle();
            }
        }
        if left == 0 {
            gauge.pass(setting.bytes);
        }
    }
    Ok(())
}

/// Reads a file that is there already again and again. It may stop in the middle of it:
/// no other trial finds the rest in memory, since each has a file of its own.
pub(super) fn read_again(setting: &Setting, gauge: &Gauge, stop: &StopFlag) -> PartResult<()> {
    let path = to_read(&setting.directory);
    let mut buffer = vec![0; READ_BYTES];
    while !stop.is_raised() {
        let mut file = File::open(&path).map_err(|error| failed("open", &path, &error))?;
        let mut all = 0;
        while !stop.is_raised() {
            let read = file
                .read(&mut buffer)
                .map_err(|error| failed("read", &path, &error))?;
            if read == 0 {
                break;
            }
            gauge.step(read as u64);
            all += read as u64;
        }
        if all >= setting.bytes {
            gauge.pass(all);
        } else if !stop.is_raised() {
            return Err(format!("{} is shorter than it was made", path.display()));
        }
    }
    Ok(())
}
