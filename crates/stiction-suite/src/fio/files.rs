//! The files of a program: where they are, how they come to be, what they hold.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use rustix::fs::OFlags;
use stiction_core::{
    Access, Action, BackendKind, Create, FileChoice, FileOrder, Job, PhaseKind, Program,
    ProgramPart, ProgramPlace, ProgramTarget, Region, SkipCode, SkipReason, SyncKind, TargetStack,
    WriteSync,
};
use stiction_engine::{Ledger, Target};
use stiction_host::{HostError, OwnDirectory};

use crate::ground::refusal;
use crate::measure::{Request, measure};
use crate::passes::bulk;
use crate::{Context, Ground, Place, SuiteError};

/// The targets of all parts, and the directories that were made for them.
pub(super) struct Files {
    directories: BTreeMap<u32, OwnDirectory>,
    /// By part, in the order of its targets.
    targets: Vec<Vec<Target>>,
    /// Files that are written in full, or were by a job.
    filled: BTreeSet<PathBuf>,
}

impl Files {
    /// Makes a directory of our own in each place where a part needs one.
    pub(super) fn make(program: &Program, context: &Context<'_>) -> Result<Self, SkipReason> {
        let mut files = Self {
            directories: BTreeMap::new(),
            targets: Vec::new(),
            filled: BTreeSet::new(),
        };
        for part in &program.parts {
            let mut targets = Vec::new();
            for target in &part.targets {
                targets.push(files.target(program, part, target, context)?);
            }
            files.targets.push(targets);
        }
        Ok(files)
    }

    fn target(
        &mut self,
        program: &Program,
        part: &ProgramPart,
        target: &ProgramTarget,
        context: &Context<'_>,
    ) -> Result<Target, SkipReason> {
        let missing = || {
            SkipReason::new(
                SkipCode::NotSupported,
                "the plan's places are not those given",
            )
        };
        let place = program.places.get(target.place as usize);
        let given = context.places.get(target.place as usize);
        match (place.ok_or_else(missing)?, given.ok_or_else(missing)?) {
            // Without I/O there is no file.
            (ProgramPlace::Directory { path }, _) if part.job.backend == BackendKind::Null => {
                Ok(Target::File(PathBuf::from(path).join(&target.name)))
            }
            (ProgramPlace::Directory { .. }, Place::Directory(path)) => {
                let own = match self.directories.entry(target.place) {
                    Entry::Occupied(known) => known.into_mut(),
                    Entry::Vacant(free) => free.insert(
                        OwnDirectory::create(path, context.undo)
                            .map_err(|error| refusal(&error))?,
                    ),
                };
                Ok(Target::File(own.path().join(&target.name)))
            }
            (ProgramPlace::Device { .. }, Place::Device(device)) => {
                Ok(Target::Device(device.clone()))
            }
            (ProgramPlace::File { .. } | ProgramPlace::Device { .. }, Place::File(path)) => {
                Ok(Target::File(path.clone()))
            }
            _ => Err(missing()),
        }
    }

    /// The targets of part number `part`.
    pub(super) fn targets(&self, part: usize) -> &[Target] {
        &self.targets[part]
    }

    /// The ground of some parts together.
    pub(super) fn ground(
        &self,
        program: &Program,
        parts: &[usize],
        stacks: &[TargetStack],
    ) -> Ground {
        let mut targets: Vec<Target> = Vec::new();
        let mut known: BTreeSet<PathBuf> = BTreeSet::new();
        let mut places = BTreeSet::new();
        for &part in parts {
            if program.parts[part].job.backend == BackendKind::Null {
                continue;
            }
            for (named, target) in program.parts[part].targets.iter().zip(&self.targets[part]) {
                places.insert(named.place as usize);
                if known.insert(target.path().to_owned()) {
                    targets.push(target.clone());
                }
            }
        }
        let stacks = places.into_iter().filter_map(|place| stacks.get(place));
        Ground::of(targets, stacks.cloned().collect())
    }

    /// Makes the files of a part that are to be made, as long as it needs them; those
    /// that its reads need are written in full. A stop ends it early, without an error.
    ///
    /// # Errors
    /// When a phase could not be kept. What goes wrong otherwise is in the answer.
    pub(super) fn prepare(
        &mut self,
        program: &Program,
        part: usize,
        ledger: Option<&Ledger>,
        context: &mut Context<'_>,
    ) -> Result<Result<(), String>, SuiteError> {
        let planned = &program.parts[part];
        if planned.job.backend == BackendKind::Null {
            return Ok(Ok(()));
        }
        let is_state_asked_for = context.conditions.file_state().is_some();
        let mut empty: Vec<(Target, u64)> = Vec::new();
        for (named, target) in planned.targets.iter().zip(&self.targets[part]) {
            let Target::File(path) = target else {
                continue;
            };
            if named.name.is_empty() {
                continue;
            }
            // A million files take their time.
            if context.stop.is_raised() {
                return Ok(Ok(()));
            }
            if let Err(error) = lengthen(path, named.length_bytes) {
                return Ok(Err(format!("cannot make {}: {error}", path.display())));
            }
            let is_filled = self.filled.contains(path);
            if (planned.lay_down || is_state_asked_for) && !is_filled {
                empty.push((target.clone(), named.length_bytes));
            }
            if planned.lay_down || is_state_asked_for || planned.job.action.writes() {
                self.filled.insert(path.clone());
            }
        }
        if empty.is_empty() {
            return Ok(Ok(()));
        }
        let stacks = self.ground(program, &[part], context.stacks);
        let (targets, lengths): (Vec<Target>, Vec<u64>) = empty.into_iter().unzip();
        let ground = Ground::of(targets, stacks.stacks().to_vec());
        match lay_down_job(planned, &lengths) {
            Some(job) => lay_down(job, ledger, &ground, context),
            None => Ok(Ok(())),
        }
    }

    /// Removes the directories.
    ///
    /// # Errors
    /// When something in one could not be removed; all else is gone.
    pub(super) fn close(self) -> Result<(), HostError> {
        let closed: Vec<_> = self
            .directories
            .into_values()
            .map(OwnDirectory::close)
            .collect();
        closed.into_iter().collect()
    }
}

/// Makes a file, or makes it longer; it is never shortened, as other jobs may use it.
fn lengthen(path: &PathBuf, length_bytes: u64) -> io::Result<()> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)?;
    if file.metadata()?.len() < length_bytes {
        file.set_len(length_bytes)?;
    }
    Ok(())
}

/// The job that writes files in full, one file after another by one worker, in large
/// operations. What is going to be checked is written in blocks of the part and with its
/// data, so that it is found to be right; parts of a block are never read. `None` when
/// there is nothing to write.
fn lay_down_job(part: &ProgramPart, lengths: &[u64]) -> Option<Job> {
    let is_checked = part.job.verify;
    let region = |(target, &length)| Region {
        target,
        offset_bytes: 0,
        length_bytes: match is_checked {
            true => length - length % part.job.block_size_bytes,
            false => length,
        },
    };
    let regions: Vec<Region> = (0..).zip(lengths).map(region).collect();
    let regions: Vec<Region> = regions
        .into_iter()
        .filter(|region| region.length_bytes > 0)
        .collect();
    let files = u32::try_from(regions.len())
        .ok()
        .filter(|&files| files > 0)?;
    let base = match is_checked {
        true => Job {
            block_size_bytes: part.job.block_size_bytes,
            regions,
            data: part.job.data,
            pattern: part.job.pattern.clone(),
            ..Job::default()
        },
        false => bulk("lay_down", regions),
    };
    Some(Job {
        name: "lay_down".to_owned(),
        access: Access::Sequential,
        action: Action::Write,
        regions_per_worker: files,
        file_order: FileOrder {
            choice: FileChoice::OneByOne,
            run_operations: 1,
        },
        open_files_max: Some(1),
        write_sync: WriteSync::None,
        sync_at_end: Some(SyncKind::Fsync),
        create: Create::Open,
        once: true,
        seed: part.job.seed.stream(u64::MAX),
        ..base
    })
}

/// Writes a file, and says what went wrong.
fn lay_down(
    job: Job,
    ledger: Option<&Ledger>,
    ground: &Ground,
    context: &mut Context<'_>,
) -> Result<Result<(), String>, SuiteError> {
    let request = Request {
        ledger,
        ..Request::new(PhaseKind::LayDown, job)
    };
    let phase = measure(context, ground, request)?;
    Ok(super::trial::wrong(&phase).map_or(Ok(()), Err))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest block, the largest operation and the lengths of what is written of
    /// files of these lengths.
    fn written(lengths: &[u64]) -> (u64, u64, Vec<u64>) {
        let part = ProgramPart {
            phase: "x".to_owned(),
            job: Job::default(),
            targets: Vec::new(),
            wave: 0,
            group: 0,
            reported_together: false,
            after: Vec::new(),
            delay_ns: (0, 0),
            ends: stiction_core::ProgramEnds::Itself,
            failure_ends_all: false,
            cache: stiction_core::CacheBefore::Drop,
            lay_down: true,
            verify_after: false,
            trace: None,
            options: BTreeMap::new(),
        };
        let job = lay_down_job(&part, lengths).unwrap();
        let regions = job.regions.iter().map(|region| region.length_bytes);
        (
            job.block_size_bytes,
            job.operation_bytes_max(),
            regions.collect(),
        )
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn files_are_laid_down_to_their_last_byte() {
        assert_eq!(written(&[8 * MIB]), (MIB, MIB, vec![8 * MIB]));
        let odd = 2 * MIB + 1000;
        assert_eq!(written(&[odd]), (8, MIB, vec![odd]));
        assert_eq!(written(&[1000]), (8, 1000, vec![1000]));
        let several = [36 << 10, 32 << 10, 36 << 10];
        assert_eq!(
            written(&several),
            (4096, 32 << 10, vec![36 << 10, 32 << 10, 36 << 10])
        );
    }
}
