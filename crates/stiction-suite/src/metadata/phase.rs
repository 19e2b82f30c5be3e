//! The phases: what each worker does to the files of one of them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use stiction_core::Direction;
use stiction_engine::{IoFailure, Routine, Stopwatch};

use super::folder::{Folder, LinkKind, Made, MadeSync};
use super::options::{MetadataParameters, SyncStyle};
use super::tree::{Named, Shape, name};

/// What is done in a phase, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MetadataPhase {
    MakeDirectories,
    Create,
    SyncFilesystem,
    SyncFiles,
    Stat,
    Open,
    List,
    Link,
    Rename,
    Unlink,
    RemoveDirectories,
}

impl MetadataPhase {
    const ALL: [Self; 11] = [
        Self::MakeDirectories,
        Self::Create,
        Self::SyncFilesystem,
        Self::SyncFiles,
        Self::Stat,
        Self::Open,
        Self::List,
        Self::Link,
        Self::Rename,
        Self::Unlink,
        Self::RemoveDirectories,
    ];

    /// The phases of a trial.
    pub(super) fn of(sync: SyncStyle) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(move |phase| match phase {
            Self::SyncFilesystem => sync.syncs_filesystem(),
            Self::SyncFiles => sync.syncs_files_after(),
            _ => true,
        })
    }

    /// Stable name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::MakeDirectories => "make_directories",
            Self::Create => "create",
            Self::SyncFilesystem => "sync_filesystem",
            Self::SyncFiles => "sync_files",
            Self::Stat => "stat",
            Self::Open => "open",
            Self::List => "list",
            Self::Link => "link",
            Self::Rename => "rename",
            Self::Unlink => "unlink",
            Self::RemoveDirectories => "remove_directories",
        }
    }

    /// Whether the content of files is written in it, or written back.
    pub(super) fn writes(self) -> bool {
        matches!(self, Self::Create | Self::SyncFilesystem | Self::SyncFiles)
    }

    /// How many shifts away the owner of the files is, as mdtest has it for `-N`: made
    /// by the worker itself, looked at by the next, opened by the one after it, and so on.
    fn shifts(self) -> u64 {
        match self {
            Self::Stat => 1,
            Self::Open => 2,
            Self::List | Self::Link | Self::Rename | Self::Unlink => 3,
            _ => 0,
        }
    }
}

/// All trees that are made in `root`.
pub(super) fn trees(parameters: &MetadataParameters, root: &Path) -> Vec<PathBuf> {
    let owners = if parameters.shared {
        1
    } else {
        parameters.workers
    };
    (0..owners)
        .map(|owner| tree(parameters, root, owner))
        .collect()
}

fn tree(parameters: &MetadataParameters, root: &Path, owner: u32) -> PathBuf {
    let number = if parameters.shared { 0 } else { owner };
    root.join(format!("tree.{number}"))
}

/// One worker's part of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'a> {
    pub(super) parameters: &'a MetadataParameters,
    /// The directory that all trees are in.
    pub(super) root: &'a Path,
    /// Bytes that files are filled with.
    pub(super) piece: &'a [u8],
    pub(super) worker: u32,
}

impl<'a> Part<'a> {
    /// What the worker does in `phase`.
    pub(super) fn routine(self, phase: MetadataPhase) -> Routine<'a> {
        Box::new(move |stopwatch| self.perform(phase, stopwatch))
    }

    fn perform(self, phase: MetadataPhase, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        use MetadataPhase as P;
        let owner = self.owner(phase);
        match phase {
            P::MakeDirectories => self.make_directories(stopwatch),
            P::RemoveDirectories => self.remove_directories(stopwatch),
            P::SyncFilesystem => self.sync_filesystem(stopwatch),
            P::SyncFiles => self.sync_files(stopwatch),
            P::List => self.list(owner, stopwatch),
            P::Create => {
                let sync = match self.parameters.sync {
                    SyncStyle::EachBeforeClose => MadeSync::File,
                    _ => MadeSync::Nothing,
                };
                let made = Made {
                    bytes: self.parameters.file_bytes,
                    piece: self.piece,
                    sync,
                };
                self.each(
                    owner,
                    Named::File,
                    stopwatch,
                    |folder, stopwatch, name, _| folder.create(stopwatch, name, made),
                )
            }
            P::Stat => self.each(
                owner,
                Named::File,
                stopwatch,
                |folder, stopwatch, name, _| folder.stat(stopwatch, name),
            ),
            P::Open => self.each(
                owner,
                Named::File,
                stopwatch,
                |folder, stopwatch, name, _| folder.open_and_close(stopwatch, name),
            ),
            P::Link => self.each(
                owner,
                Named::File,
                stopwatch,
                |folder, stopwatch, file, number| {
                    let link = name(Named::Link, owner, number);
                    folder.link(
                        stopwatch,
                        &link,
                        &folder.path_of(file),
                        LinkKind::Hard,
                        false,
                    )
                },
            ),
            P::Rename => self.each(
                owner,
                Named::File,
                stopwatch,
                |folder, stopwatch, file, number| {
                    folder.rename(stopwatch, file, &name(Named::Renamed, owner, number))
                },
            ),
            P::Unlink => self.each(
                owner,
                Named::Renamed,
                stopwatch,
                |folder, stopwatch, file, number| {
                    folder.unlink(stopwatch, file, false)?;
                    folder.unlink(stopwatch, &name(Named::Link, owner, number), false)
                },
            ),
        }
    }

    /// Whose files the worker works on.
    fn owner(self, phase: MetadataPhase) -> u32 {
        let ahead = phase.shifts() * u64::from(self.parameters.shift);
        ((u64::from(self.worker) + ahead) % u64::from(self.parameters.workers)) as u32
    }

    fn shape(self) -> Shape {
        Shape::of(self.parameters)
    }

    /// The first directory of the tree that the files of `owner` are in.
    fn tree(self, owner: u32) -> PathBuf {
        tree(self.parameters, self.root, owner)
    }

    /// Whether this worker makes and removes a tree.
    fn has_tree(self) -> bool {
        !self.parameters.shared || self.worker == 0
    }

    /// Does `what` to each file of `owner`, directory by directory.
    fn each(
        self,
        owner: u32,
        named: Named,
        stopwatch: &mut Stopwatch<'_>,
        mut what: impl FnMut(&Folder, &mut Stopwatch<'_>, &OsStr, u64) -> Result<(), IoFailure>,
    ) -> Result<(), IoFailure> {
        let (shape, tree) = (self.shape(), self.tree(owner));
        for (directory, numbers) in shape.files_by_directory(self.parameters.files_per_worker) {
            let folder = Folder::open(&tree.join(shape.path(directory)), self.worker)?;
            for number in numbers {
                if stopwatch.is_over() {
                    return Ok(());
                }
                what(&folder, stopwatch, &name(named, owner, number), number)?;
            }
        }
        Ok(())
    }

    fn make_directories(self, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        if !self.has_tree() {
            return Ok(());
        }
        self.each_directory(
            0..self.shape().directories(),
            stopwatch,
            |above, stopwatch, name| above.make_directory(stopwatch, name).map(drop),
        )
    }

    fn remove_directories(self, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        if !self.has_tree() {
            return Ok(());
        }
        let lowest_first = (0..self.shape().directories()).rev();
        self.each_directory(lowest_first, stopwatch, |above, stopwatch, name| {
            above.remove_directory(stopwatch, name)
        })
    }

    /// Does `what` to each directory by its name in the one above it, which is held open
    /// for all in it.
    fn each_directory(
        self,
        numbers: impl Iterator<Item = u64>,
        stopwatch: &mut Stopwatch<'_>,
        mut what: impl FnMut(&Folder, &mut Stopwatch<'_>, &OsStr) -> Result<(), IoFailure>,
    ) -> Result<(), IoFailure> {
        let (shape, tree) = (self.shape(), self.tree(self.worker));
        let mut held: Option<(PathBuf, Folder)> = None;
        for number in numbers {
            if stopwatch.is_over() {
                return Ok(());
            }
            // `join` of nothing would end in a slash.
            let path = match number {
                0 => tree.clone(),
                _ => tree.join(shape.path(number)),
            };
            let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
                continue;
            };
            if held.as_ref().is_none_or(|(path, _)| path != above) {
                held = Some((above.to_owned(), Folder::open(above, self.worker)?));
            }
            if let Some((_, folder)) = &held {
                let begun = stopwatch.now();
                what(folder, stopwatch, name)?;
                stopwatch.record(Direction::Whole, begun, 0);
            }
        }
        Ok(())
    }

    /// Lists each directory that has files of `owner`.
    fn list(self, owner: u32, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        let (shape, tree) = (self.shape(), self.tree(owner));
        for (directory, _) in shape.files_by_directory(self.parameters.files_per_worker) {
            if stopwatch.is_over() {
                return Ok(());
            }
            let folder = Folder::open(&tree.join(shape.path(directory)), self.worker)?;
            let begun = stopwatch.now();
            folder.list(stopwatch)?;
            stopwatch.record(Direction::Whole, begun, 0);
        }
        Ok(())
    }

    /// One sync is enough for all.
    fn sync_filesystem(self, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        if self.worker != 0 {
            return Ok(());
        }
        let root = Folder::open(self.root, self.worker)?;
        let begun = stopwatch.now();
        root.sync_filesystem(stopwatch)?;
        stopwatch.record(Direction::Whole, begun, 0);
        Ok(())
    }

    fn sync_files(self, stopwatch: &mut Stopwatch<'_>) -> Result<(), IoFailure> {
        let (shape, tree) = (self.shape(), self.tree(self.worker));
        let files = self.parameters.files_per_worker;
        let mut wanted: Vec<(u64, u64)> = shape
            .files_by_directory(files)
            .flat_map(|(directory, numbers)| numbers.map(move |number| (directory, number)))
            .collect();
        match self.parameters.sync {
            SyncStyle::FilesystemAndOne => {
                wanted = wanted.split_off(wanted.len().saturating_sub(1));
            }
            SyncStyle::EachReversed | SyncStyle::FilesystemAndEachReversed => wanted.reverse(),
            _ => {}
        }
        let mut held: Option<(u64, Folder)> = None;
        for (directory, number) in wanted {
            if stopwatch.is_over() {
                return Ok(());
            }
            if held.as_ref().is_none_or(|(at, _)| *at != directory) {
                let path = tree.join(shape.path(directory));
                held = Some((directory, Folder::open(&path, self.worker)?));
            }
            if let Some((_, folder)) = &held {
                folder.open_and_sync(stopwatch, &name(Named::File, self.worker, number))?;
            }
        }
        Ok(())
    }
}
