//! Filling and churning a filesystem, so that its free space lies as after years of use.
//!
//! The files have their space by `fallocate` where the filesystem can give it so: what
//! ages a filesystem is what its allocator is asked for, not the bytes in the files. Else
//! zeros are written.

mod free_space;
mod sizes;

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate, syncfs};
use rustix::io::Errno;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use stiction_core::{Applied, Seed, Setting};

use crate::HostError;
use crate::space::space;
use free_space::FreeSpace;
use sizes::{Draw, MEAN_BYTES};

/// Fullest that a filesystem is made, percent.
const FILL_PERCENT_MAX: u8 = 95;
/// Most churn, in hundredths of the filesystem's size.
const CHURN_HUNDREDTHS_MAX: u64 = 100 * 100;
/// Longest that it may take.
const TIME_MAX: Duration = Duration::from_secs(600);
/// No file has more than this part of the filesystem.
const LARGEST_PART: u64 = 32;
/// Files of a folder, about.
const FILES_A_FOLDER: u64 = 64;
/// Steps between two looks at how full it is.
const STEPS_A_LOOK: u64 = 64;
/// How often the level is looked at in the end, and what is missing or too much made up.
const ROUNDS: u32 = 4;
/// What the smallest file takes, about.
const BLOCK_BYTES: u64 = 4096;
/// The probe has this part of what is to be free,
const PROBE_PART: u64 = 4;
/// and at most so many bytes.
const PROBE_BYTES_MAX: u64 = 64 << 20;
/// How far the fill level may be off, percent of the filesystem.
const FILL_TOLERANCE_PERCENT: f64 = 2.0;

/// How far a filesystem is aged: `none`, `80%` full, or `80%x2`: full so far, and then
/// twice its size deleted, made and appended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileAge {
    /// How full, percent; 0 for a fresh filesystem.
    fill_percent: u8,
    /// What is churned, in hundredths of the filesystem's size.
    churn_hundredths: u64,
}

impl FileAge {
    /// Whether there is nothing to do.
    pub(super) fn is_none(self) -> bool {
        self.fill_percent == 0
    }
}

impl FromStr for FileAge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no age: give none, how full (1% to {FILL_PERCENT_MAX}%), or how full \
                 and how many times its size is churned then (80%x2)"
            )
        };
        if text == "none" {
            return Ok(Self::default());
        }
        let (fill, churn) = text.split_once('x').unwrap_or((text, "0"));
        let fill = fill.strip_suffix('%').and_then(|fill| fill.parse().ok());
        let fill = fill.filter(|fill| (1..=FILL_PERCENT_MAX).contains(fill));
        let churn: Option<f64> = churn.parse().ok();
        let hundredths = churn.map(|churn| (churn * 100.0).round());
        let hundredths =
            hundredths.filter(|churn| (0.0..=CHURN_HUNDREDTHS_MAX as f64).contains(churn));
        Ok(Self {
            fill_percent: fill.ok_or_else(wrong)?,
            churn_hundredths: hundredths.ok_or_else(wrong)? as u64,
        })
    }
}

/// Ages the fresh filesystem whose top folder is `top`. What happens to its free space is
/// told as what changed with it.
pub(super) fn age(
    top: &Path,
    age: FileAge,
    seed: Seed,
    asked: Setting,
) -> Result<Applied, HostError> {
    if age.is_none() {
        return Ok(Applied {
            found: Some(asked.level.clone()),
            asked,
            also_changed: Vec::new(),
        });
    }
    let _one_cpu = OneCpu::stay();
    let mut ager = Ager::new(top, age, seed)?;
    let probe_bytes = (ager.size_bytes - ager.full_bytes) / PROBE_PART;
    let probe_bytes = probe_bytes.min(PROBE_BYTES_MAX);
    let before = FreeSpace::look_at(top, probe_bytes)?;
    ager.fill()?;
    let churned = ager.churn()?;
    ager.level_out(top)?;
    let full = 100.0 * ager.used_bytes as f64 / ager.size_bytes as f64;
    let is_full = (full - f64::from(age.fill_percent)).abs() <= FILL_TOLERANCE_PERCENT;
    let found = match is_full && churned >= ager.churn_bytes {
        true => asked.level.clone(),
        false => format!("{full:.1}%x{:.2}", churned as f64 / ager.size_bytes as f64),
    };
    Ok(Applied {
        asked,
        found: Some(found),
        also_changed: before.moved_to(&FreeSpace::look_at(top, probe_bytes)?),
    })
}

/// A file of the ager's.
#[derive(Clone, Copy, Debug)]
struct Aged {
    number: u64,
    bytes: u64,
}

struct Ager {
    folder: PathBuf,
    folders: u64,
    files: Vec<Aged>,
    next: u64,
    draw: Draw,
    size_bytes: u64,
    /// How much of the filesystem is to be used, with its own structures.
    full_bytes: u64,
    churn_bytes: u64,
    /// What is used, as it was looked at last and reckoned on from there.
    used_bytes: u64,
    steps: u64,
    deadline: Instant,
    can_reserve: bool,
}

impl Ager {
    fn new(top: &Path, age: FileAge, seed: Seed) -> Result<Self, HostError> {
        let now = space(top)?;
        let full_bytes = part(now.size_bytes, age.fill_percent.into(), 100);
        let folder = top.join("aged");
        let folders = (full_bytes / MEAN_BYTES / FILES_A_FOLDER).clamp(4, 4096);
        for number in 0..folders {
            let path = folder.join(number.to_string());
            std::fs::create_dir_all(&path)
                .map_err(|error| HostError::refused("make a directory at", &path, error))?;
        }
        Ok(Self {
            folder,
            folders,
            files: Vec::new(),
            next: 0,
            draw: Draw::new(seed),
            size_bytes: now.size_bytes,
            full_bytes,
            churn_bytes: part(now.size_bytes, age.churn_hundredths, 100),
            used_bytes: now.size_bytes - now.free_bytes,
            steps: 0,
            deadline: Instant::now() + TIME_MAX,
            can_reserve: true,
        })
    }

    /// Makes files until the filesystem is as full as it is to be.
    fn fill(&mut self) -> Result<(), HostError> {
        while self.used_bytes < self.full_bytes {
            self.step()?;
            let bytes = self.a_file_s_bytes();
            if !self.make(bytes)? {
                break;
            }
        }
        Ok(())
    }

    /// Deletes, makes again and appends, a third of the steps each, at the same level; how
    /// many bytes were had for files meanwhile.
    fn churn(&mut self) -> Result<u64, HostError> {
        let mut churned = 0;
        while churned < self.churn_bytes && !self.files.is_empty() {
            self.step()?;
            churned += match self.draw.below(3) {
                0 => self.replace()?,
                1 => self.rewrite()?,
                _ => self.append()?,
            };
        }
        Ok(churned)
    }

    /// Files go until another has room, and that is made.
    fn replace(&mut self) -> Result<u64, HostError> {
        let bytes = self.a_file_s_bytes();
        self.make_room(bytes)?;
        Ok(if self.make(bytes)? { bytes } else { 0 })
    }

    /// A file is emptied and has as many bytes as before again.
    fn rewrite(&mut self) -> Result<u64, HostError> {
        let Aged { number, bytes } = self.files[self.draw.below(self.files.len())];
        let path = self.path(number);
        let file = File::create(&path)
            .map_err(|error| HostError::refused("empty the file", &path, error))?;
        self.extend(&file, &path, 0, bytes)?;
        Ok(bytes)
    }

    /// A file gets longer by as much as another would have.
    fn append(&mut self) -> Result<u64, HostError> {
        let more = self.a_file_s_bytes();
        self.make_room(more)?;
        if self.files.is_empty() {
            return Ok(0);
        }
        let place = self.draw.below(self.files.len());
        let Aged { number, bytes } = self.files[place];
        if bytes + more > self.size_bytes / LARGEST_PART {
            return Ok(0);
        }
        let path = self.path(number);
        let file = OpenOptions::new().append(true).open(&path);
        let file = file.map_err(|error| HostError::refused("open", &path, error))?;
        if !self.extend(&file, &path, bytes, more)? {
            return Ok(0);
        }
        self.files[place].bytes += more;
        self.used_bytes += more;
        Ok(more)
    }

    /// Files go, each as likely as the others, until there is room for `bytes` more.
    fn make_room(&mut self, bytes: u64) -> Result<(), HostError> {
        while self.used_bytes + bytes > self.full_bytes && !self.files.is_empty() {
            let place = self.draw.below(self.files.len());
            let gone = self.files.swap_remove(place);
            remove(&self.path(gone.number))?;
            self.used_bytes = self.used_bytes.saturating_sub(gone.bytes);
        }
        Ok(())
    }

    /// Makes a file; false when there is no room for it.
    fn make(&mut self, bytes: u64) -> Result<bool, HostError> {
        let number = self.next;
        self.next += 1;
        let path = self.path(number);
        let file = File::create_new(&path)
            .map_err(|error| HostError::refused("make a file at", &path, error))?;
        if !self.extend(&file, &path, 0, bytes)? {
            remove(&path)?;
            return Ok(false);
        }
        self.files.push(Aged { number, bytes });
        self.used_bytes += bytes;
        Ok(true)
    }

    /// Gives a file `bytes` behind its first `from`; false when there is no room.
    fn extend(
        &mut self,
        file: &File,
        path: &Path,
        from: u64,
        bytes: u64,
    ) -> Result<bool, HostError> {
        let extended = match self.can_reserve {
            true => fallocate(file, FallocateFlags::empty(), from, bytes),
            false => Err(Errno::OPNOTSUPP),
        };
        let extended = match extended {
            Err(Errno::OPNOTSUPP) => {
                self.can_reserve = false;
                write_zeros(file, bytes)
            }
            other => other.map_err(Into::into),
        };
        match extended {
            Ok(()) => Ok(true),
            Err(error) if error.raw_os_error() == Some(libc::ENOSPC) => Ok(false),
            Err(error) => Err(HostError::refused("lengthen the file", path, error)),
        }
    }

    fn a_file_s_bytes(&mut self) -> u64 {
        self.draw.file_bytes(self.size_bytes / LARGEST_PART)
    }

    fn path(&self, number: u64) -> PathBuf {
        let folder = self.folder.join((number % self.folders).to_string());
        folder.join(number.to_string())
    }

    /// Looks at the time, and now and then at how full it is: whole blocks and the
    /// filesystem's own structures are in no file's bytes.
    fn step(&mut self) -> Result<(), HostError> {
        self.steps += 1;
        if self.steps.is_multiple_of(STEPS_A_LOOK) {
            self.look()?;
            if Instant::now() >= self.deadline {
                return Err(HostError::Unavailable {
                    what: "a filesystem of this age",
                    reason: format!(
                        "it takes more than {} minutes: give less scratch space or less churn",
                        TIME_MAX.as_secs() / 60
                    ),
                });
            }
        }
        Ok(())
    }

    /// Comes to the level that was asked for: until all is written back some filesystems
    /// do not know how full they are, and one large file may have gone beyond it.
    fn level_out(&mut self, top: &Path) -> Result<(), HostError> {
        for _ in 0..ROUNDS {
            let opened = File::open(top).map_err(|error| HostError::refused("open", top, error))?;
            syncfs(&opened).map_err(|errno| HostError::refused("write back", top, errno))?;
            self.look()?;
            if self.used_bytes.abs_diff(self.full_bytes) <= self.size_bytes / 200 {
                break;
            }
            self.make_room(0)?;
            while self.used_bytes + BLOCK_BYTES < self.full_bytes {
                let missing = self.full_bytes - self.used_bytes;
                let bytes = self
                    .draw
                    .file_bytes(missing.min(self.size_bytes / LARGEST_PART));
                if !self.make(bytes.max(BLOCK_BYTES))? {
                    break;
                }
            }
        }
        Ok(())
    }

    fn look(&mut self) -> Result<(), HostError> {
        let now = space(&self.folder)?;
        self.used_bytes = now.size_bytes - now.free_bytes;
        Ok(())
    }
}

impl fmt::Debug for Ager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ager")
            .field("folder", &self.folder)
            .field("files", &self.files.len())
            .finish_non_exhaustive()
    }
}

/// Removes a file whose space is free then: XFS gives that of removed files back some
/// time later, but that of emptied ones at once.
fn remove(path: &Path) -> Result<(), HostError> {
    let emptied = OpenOptions::new().write(true).truncate(true).open(path);
    emptied
        .and_then(|_| std::fs::remove_file(path))
        .map_err(|error| HostError::refused("remove", path, error))
}

/// `bytes` of zeros behind where the file is written next.
fn write_zeros(mut file: &File, bytes: u64) -> std::io::Result<()> {
    static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
    let mut left = bytes;
    while left > 0 {
        let piece = left.min(ZEROS.len() as u64);
        file.write_all(&ZEROS[..piece as usize])?;
        left -= piece;
    }
    Ok(())
}

fn part(of: u64, numerator: u64, denominator: u64) -> u64 {
    (u128::from(of) * u128::from(numerator) / u128::from(denominator)) as u64
}

/// This thread on one CPU, until it is dropped: ext4 takes space for small files from a
/// pool of each CPU's, so that the layout would depend on where the thread happened to be.
struct OneCpu {
    before: Option<CpuSet>,
}

impl OneCpu {
    fn stay() -> Self {
        let before = sched_getaffinity(None).ok();
        let first = before.and_then(|set| (0..CpuSet::MAX_CPU).find(|&cpu| set.is_set(cpu)));
        if let Some(cpu) = first {
            let mut one = CpuSet::new();
            one.set(cpu);
            // Where it is refused the layout is one of several, and as good.
            let _ = sched_setaffinity(None, &one);
        }
        Self { before }
    }
}

impl Drop for OneCpu {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = sched_setaffinity(None, before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read() {
        let age = |fill_percent, churn_hundredths| {
            Ok(FileAge {
                fill_percent,
                churn_hundredths,
            })
        };
        assert_eq!("none".parse(), age(0, 0));
        assert_eq!("50%".parse(), age(50, 0));
        assert_eq!("80%x2".parse(), age(80, 200));
        assert_eq!("80%x0.25".parse(), age(80, 25));
        for wrong in [
            "", "80", "0%", "96%", "80%x", "80%x-1", "80%x101", "x2", "80%xnan",
        ] {
            let error = wrong.parse::<FileAge>().unwrap_err();
            assert!(error.contains("80%x2"), "{error}");
        }
    }
}
