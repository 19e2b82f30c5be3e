//! The ground that one trial works on: files in directories of our own, or devices.

use std::ffi::OsString;
use std::path::PathBuf;

use stiction_core::{Caveat, CaveatCode, SkipCode, SkipReason, TargetStack, format_bytes};
use stiction_engine::Target;
use stiction_host::{HostError, OwnDirectory, drop_file_cache};

use crate::{Context, Place};

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

    /// The targets, in the order of a job's regions.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
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
    /// of them stayed.
    pub(crate) fn drop_caches(&self) -> Option<Caveat> {
        let present: Vec<PathBuf> = self
            .paths()
            .into_iter()
            .filter(|path| path.exists())
            .collect();
        if present.is_empty() {
            return None;
        }
        let doubt = |detail| Some(Caveat::new(CaveatCode::CacheNotDropped, detail));
        match drop_file_cache(&present) {
            Ok(dropped) if dropped.is_complete() => None,
            Ok(dropped) => doubt(format!(
                "{} of {} stayed in the page cache (means: {})",
                format_bytes(dropped.after.cached_bytes),
                format_bytes(dropped.after.file_bytes),
                dropped.method
            )),
            Err(error) => doubt(error.to_string()),
        }
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

/// Why a directory could not be made, as a reason not to run there.
fn refusal(error: &HostError) -> SkipReason {
    let code = match error.errno() {
        Some(libc::EROFS | libc::EACCES | libc::EPERM) => SkipCode::NotWritable,
        Some(libc::ENOSPC | libc::EDQUOT) => SkipCode::NoSpace,
        _ => SkipCode::NotSupported,
    };
    SkipReason::new(code, error.to_string())
}
