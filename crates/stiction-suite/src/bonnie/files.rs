//! The file phases: sets of files made, looked at and removed, by rising and by random
//! names.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use stiction_core::{Direction, Seed};
use stiction_engine::{IoFailure, Routine, Stopwatch, Timetable};

use super::chunks::share;
use super::names::{directory_name, directory_of, file_name, file_size};
use super::options::{BonniePhase, FileKind};
use super::parameters::{BonnieParameters, FileWork};
use crate::metadata::{Folder, LinkKind, Made, MadeSync, directions};
use crate::shuffle::shuffled;

/// Streams drawn from a phase's seed.
const NAMES_STREAM: u64 = 0;
const SIZES_STREAM: u64 = 1;
const ORDER_STREAM: u64 = 2;

/// What is recorded; an operation is one file, whatever calls it takes.
pub(super) fn timetable(parameters: &BonnieParameters) -> Timetable<'static> {
    Timetable {
        counted: &[Direction::Whole],
        also: directions(),
        interval_ns: parameters.interval_ns,
        duration_ns: None,
    }
}

/// A worker's own directory in the root.
pub(super) fn own_name(worker: u32) -> OsString {
    format!("files.{worker}").into()
}

/// One worker's part of a set of files.
#[derive(Clone, Debug)]
pub(super) struct FileSet<'a> {
    pub(super) parameters: &'a BonnieParameters,
    pub(super) work: &'a FileWork,
    /// The directory that everything is in.
    pub(super) root: &'a Path,
    /// The empty file that links are to.
    pub(super) original: &'a Path,
    /// Bytes that files are filled with.
    pub(super) piece: &'a [u8],
    pub(super) worker: u32,
    /// Drawn from for names, sizes and order; the same in all phases of a set.
    pub(super) seed: Seed,
}

impl<'a> FileSet<'a> {
    /// What this worker does in `phase`.
    pub(super) fn routine(self, phase: BonniePhase) -> Routine<'a> {
        let random = phase.is_random();
        Box::new(move |stopwatch| match phase {
            BonniePhase::CreateSequential | BonniePhase::CreateRandom => {
                self.create(stopwatch, random)
            }
            BonniePhase::StatSequential => {
                let mut buffer = vec![0; self.piece.len()];
                self.each_listed(stopwatch, |folder, stopwatch, name| {
                    folder.look_at(stopwatch, name, &mut buffer)
                })
            }
            BonniePhase::StatRandom => {
                let mut buffer = vec![0; self.piece.len()];
                self.each_at_random(stopwatch, |folder, stopwatch, name| {
                    folder.look_at(stopwatch, name, &mut buffer)
                })
            }
            BonniePhase::DeleteSequential => {
                let sync = self.parameters.sync_each;
                self.each_listed(stopwatch, |folder, stopwatch, name| {
                    folder.unlink(stopwatch, name, sync)
                })?;
                self.remove_directories(stopwatch)
            }
            _ => {
                let sync = self.parameters.sync_each;
                self.each_at_random(stopwatch, |folder, stopwatch, name| {
                    folder.unlink(stopwatch, name, sync)
                })?;
                self.remove_directories(stopwatch)
            }
        })
    }

    fn count(&self) -> u64 {
        share(self.work.count, self.parameters.concurrency, self.worker)
    }

    fn own(&self) -> Result<Folder, IoFailure> {
        Folder::open(&self.root.join(own_name(self.worker)), self.worker)
    }

    fn has_directories(&self) -> bool {
        self.work.directories > 1
    }

    /// How many directories hold a file.
    fn directories(&self) -> u64 {
        match (self.has_directories(), self.count()) {
            (true, count @ 1..) => directory_of(self.work, count - 1) + 1,
            _ => 0,
        }
    }

    fn create(&self, stopwatch: &mut Stopwatch<'_>, random: bool) -> Result<(), IoFailure> {
        let root = Folder::open(self.root, self.worker)?;
        let own = root.make_directory(stopwatch, &own_name(self.worker))?;
        let mut inner: Option<(u64, Folder)> = None;
        for number in 0..self.count() {
            let directory = directory_of(self.work, number);
            if self.has_directories()
                && inner
                    .as_ref()
                    .is_none_or(|(current, _)| *current != directory)
            {
                let folder = own.make_directory(stopwatch, &directory_name(directory))?;
                inner = Some((directory, folder));
            }
            let folder = inner.as_ref().map_or(&own, |(_, folder)| folder);
            let name = self.name(random, number);
            self.create_one(folder, stopwatch, &name, number)?;
            if stopwatch.is_over() {
                return Ok(());
            }
        }
        self.sync_at_end(&own, stopwatch)
    }

    fn create_one(
        &self,
        folder: &Folder,
        stopwatch: &mut Stopwatch<'_>,
        name: &OsStr,
        number: u64,
    ) -> Result<(), IoFailure> {
        let sync = self.parameters.sync_each;
        let kind = match self.work.file {
            FileKind::Regular {
                bytes_min,
                bytes_max,
            } => {
                let seed = self.seed.stream(SIZES_STREAM);
                let bytes = file_size(bytes_min, bytes_max, number, seed);
                let made = Made {
                    bytes,
                    piece: self.piece,
                    sync: if sync {
                        MadeSync::FileAndDirectory
                    } else {
                        MadeSync::Nothing
                    },
                };
                return folder.create(stopwatch, name, made);
            }
            FileKind::HardLink => LinkKind::Hard,
            FileKind::SymbolicLink => LinkKind::Symbolic,
        };
        folder.link(stopwatch, name, self.original, kind, sync)
    }

    fn name(&self, random: bool, number: u64) -> OsString {
        let seed = self.seed.stream(NAMES_STREAM);
        file_name(self.work.naming, random, number, seed)
    }

    /// Does `what` to each file in the order in which the directories list them.
    fn each_listed(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        mut what: impl FnMut(&Folder, &mut Stopwatch<'_>, &OsStr) -> Result<(), IoFailure>,
    ) -> Result<(), IoFailure> {
        let own = self.own()?;
        let top = own.list(stopwatch)?;
        if !self.has_directories() {
            return each_of(&own, &top, stopwatch, &mut what);
        }
        for directory in top {
            let path = self.root.join(own_name(self.worker)).join(&directory);
            let folder = Folder::open(&path, self.worker)?;
            let names = folder.list(stopwatch)?;
            each_of(&folder, &names, stopwatch, &mut what)?;
        }
        Ok(())
    }

    /// Does `what` to each file, in random order.
    fn each_at_random(
        &self,
        stopwatch: &mut Stopwatch<'_>,
        mut what: impl FnMut(&Folder, &mut Stopwatch<'_>, &OsStr) -> Result<(), IoFailure>,
    ) -> Result<(), IoFailure> {
        let own = self.own()?;
        let paths: Vec<OsString> = (0..self.count())
            .map(|number| {
                let name = self.name(true, number);
                if self.has_directories() {
                    let directory = directory_name(directory_of(self.work, number));
                    PathBuf::from(directory).join(name).into()
                } else {
                    name
                }
            })
            .collect();
        let order = self.seed.stream(ORDER_STREAM);
        each_of(&own, &shuffled(paths, order), stopwatch, &mut what)
    }

    /// Removes the directories, which are empty now.
    fn remove_directories(&self, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        if stopwatch.is_over() {
            return Ok(());
        }
        let root = Folder::open(self.root, self.worker)?;
        let own = self.own()?;
        for directory in 0..self.directories() {
            own.remove_directory(stopwatch, &directory_name(directory))?;
        }
        root.remove_directory(stopwatch, &own_name(self.worker))?;
        self.sync_at_end(&root, stopwatch)
    }

    fn sync_at_end(&self, folder: &Folder, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        if self.work.sync_at_end && !stopwatch.is_over() {
            folder.sync_filesystem(stopwatch)?;
        }
        Ok(())
    }
}

fn each_of(
    folder: &Folder,
    names: &[OsString],
    stopwatch: &mut Stopwatch<'_>,
    what: &mut impl FnMut(&Folder, &mut Stopwatch<'_>, &OsStr) -> Result<(), IoFailure>,
) -> Result<(), IoFailure> {
    for name in names {
        if stopwatch.is_over() {
            break;
        }
        what(folder, stopwatch, name)?;
    }
    Ok(())
}
