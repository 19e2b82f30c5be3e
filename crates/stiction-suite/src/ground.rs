//! The ground that one trial works on: files in directories of our own, or devices.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use stiction_core::{Caveat, SkipCode, SkipReason, TargetStack, TrialOutcome};
use stiction_engine::{StopFlag, Target};
use stiction_host::{HostError, OwnDirectory};

use crate::preparation::dropped;
use crate::{Context, Place, SuiteError, TrialReport};

/// Where one trial works. What was made is removed when it is closed, or dropped.
#[derive(Debug)]
pub struct Ground {
    directories: Vec<OwnDirectory>,
    targets: Vec<Target>,
    stacks: Vec<TargetStack>,
}

impl Ground {
    /// Makes a directory in each of the `places` (by their numbers in the context) and
    /// names `files` files in them, file `i` in place `i mod n`; none is made yet.
    /// A device is a target as it is, once, whatever `files` says.
    ///
    /// # Errors
    /// When a directory cannot be made there.
    pub(crate) fn make(
        context: &Context<'_>,
        places: &[usize],
        files: u32,
    ) -> Result<Self, SkipReason> {
        let mut ground = Self {
            directories: Vec::new(),
            targets: Vec::new(),
            stacks: Vec::new(),
        };
        for &place in places {
            match &context.places[place] {
                Place::Directory(path) => {
                    let own = OwnDirectory::create(path, context.undo)
                        .map_err(|error| refusal(&error))?;
                    ground.directories.push(own);
                }
                Place::Device(device) => ground.targets.push(Target::Device(device.clone())),
                Place::File(path) => ground.targets.push(Target::File(path.clone())),
            }
            ground.stacks.extend(context.stacks.get(place).cloned());
        }
        if !ground.directories.is_empty() {
            let directories = ground.directories.iter().cycle();
            let names = (0..files).map(|file| OsString::from(format!("data.{file}")));
            ground.targets.extend(
                directories
                    .zip(names)
                    .map(|(directory, name)| Target::File(directory.path().join(name))),
            );
        }
        Ok(ground)
    }

    /// The ground that `targets` are, in directories that somebody else keeps.
    #[must_use]
    pub(crate) fn of(targets: Vec<Target>, stacks: Vec<TargetStack>) -> Self {
        Self {
            directories: Vec::new(),
            targets,
            stacks,
        }
    }

    /// The targets, in the order of a job's regions.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// The directory of our own that the files are in, the first of several; `None`
    /// where all targets are devices.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.directories.first().map(OwnDirectory::path)
    }

    /// What stands under the targets.
    #[must_use]
    pub fn stacks(&self) -> &[TargetStack] {
        &self.stacks
    }

    /// Paths of the targets.
    #[must_use]
    pub fn paths(&self) -> Vec<PathBuf> {
        let targets = self.targets.iter();
        targets.map(|target| target.path().to_owned()).collect()
    }

    /// Writes the targets back and drops them from the page cache; a doubt when some
    /// of them stayed. A stop that is raised meanwhile ends it after the file at hand.
    pub(crate) fn drop_caches(&self, stop: &StopFlag) -> Option<Caveat> {
        let present: Vec<PathBuf> = self
            .paths()
            .into_iter()
            .filter(|path| path.exists())
            .collect();
        dropped(stop, &present)
    }

    /// Removes what was made.
    ///
    /// # Errors
    /// When something could not be removed; all else is gone.
    pub(crate) fn close(self) -> Result<(), HostError> {
        let results: Vec<_> = self
            .directories
            .into_iter()
            .map(OwnDirectory::close)
            .collect();
        results.into_iter().collect()
    }
}

/// Runs `work` on ground of its own, and takes it away again however that ends.
///
/// # Errors
/// As `work`.
pub(crate) fn on_ground(
    context: &mut Context<'_>,
    places: &[usize],
    files: u32,
    work: impl FnOnce(&Ground, &mut Context<'_>) -> Result<TrialOutcome, SuiteError>,
) -> Result<TrialReport, SuiteError> {
    let ground = match Ground::make(context, places, files) {
        Ok(ground) => ground,
        Err(reason) => return Ok(TrialReport::new(TrialOutcome::Skipped(reason))),
    };
    let outcome = work(&ground, context)?;
    if let Err(error) = ground.close() {
        context
            .events
            .note(&format!("{error}; `stiction clean` removes what is left"));
    }
    Ok(TrialReport::new(outcome))
}

/// Why a directory could not be made, as a reason not to run there.
pub(crate) fn refusal(error: &HostError) -> SkipReason {
    let code = match error.errno() {
        Some(libc::EROFS | libc::EACCES | libc::EPERM) => SkipCode::NotWritable,
        Some(libc::ENOSPC | libc::EDQUOT) => SkipCode::NoSpace,
        _ => SkipCode::NotSupported,
    };
    SkipReason::new(code, error.to_string())
}
