//! The files of a program: where they are, how they come to be, what they hold.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

use rustix::fs::OFlags;
use stiction_core::{
    Access, Action, BackendKind, Create, Data, FileChoice, FileOrder, Job, PhaseKind, Program,
    ProgramPart, ProgramPlace, ProgramTarget, Region, SkipCode, SkipReason, SyncKind, TargetStack,
    WriteSync,
};
use stiction_engine::{Ledger, Target};
use stiction_host::{HostError, OwnDirectory};

use crate::ground::refusal;
use crate::measure::{Request, measure};
use crate::{Context, Ground, Place, SuiteError};

/// Length of the blocks that files are laid down in.
const LAY_DOWN_BYTES: u64 = 1 << 20;

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
            if planned.lay_down && !is_filled {
                empty.push((target.clone(), named.length_bytes));
            }
            if planned.lay_down || planned.job.action.writes() {
                self.filled.insert(path.clone());
            }
        }
        if empty.is_empty() {
            return Ok(Ok(()));
        }
        let stacks = self.ground(program, &[part], context.stacks);
        let (targets, lengths): (Vec<Target>, Vec<u64>) = empty.into_iter().unzip();
        let ground = Ground::of(targets, stacks.stacks().to_vec());
        for job in lay_down_jobs(planned, &lengths) {
            if let Err(message) = lay_down(job, ledger, &ground, context)? {
                return Ok(Err(message));
            }
        }
        Ok(Ok(()))
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

/// The jobs that write files in full, one file after another by one worker: in large
/// blocks that fit into all of them, and then what these leave at the ends, those of one
/// length together. What is going to be checked is written in blocks of the part and with
/// its data, so that it is found to be right; parts of a block are never read.
fn lay_down_jobs(part: &ProgramPart, lengths: &[u64]) -> Vec<Job> {
    let smallest = lengths.iter().copied().min().unwrap_or(0).max(1);
    let block = if part.job.verify {
        part.job.block_size_bytes
    } else {
        LAY_DOWN_BYTES.min(1 << smallest.ilog2())
    };
    let mut whole: Vec<Region> = Vec::new();
    let mut rests: BTreeMap<u64, Vec<Region>> = BTreeMap::new();
    for (target, &length) in (0..).zip(lengths) {
        let rest = length % block;
        let region = |offset_bytes, length_bytes| Region {
            target,
            offset_bytes,
            length_bytes,
        };
        whole.push(region(0, length - rest));
        rests
            .entry(rest)
            .or_default()
            .push(region(length - rest, rest));
    }
    whole.retain(|region| region.length_bytes > 0);
    rests.remove(&0);
    if part.job.verify {
        rests.clear();
    }
    let whole = (!whole.is_empty()).then_some((block, whole));
    let each = whole.into_iter().chain(rests);
    each.map(|(block, regions)| lay_down_job(part, block, regions))
        .collect()
}

/// A job that writes these regions.
fn lay_down_job(part: &ProgramPart, block_size_bytes: u64, regions: Vec<Region>) -> Job {
    let is_checked = part.job.verify;
    Job {
        name: "lay_down".to_owned(),
        access: Access::Sequential,
        action: Action::Write,
        block_size_bytes,
        regions_per_worker: u32::try_from(regions.len()).unwrap_or(u32::MAX).max(1),
        regions,
        file_order: FileOrder {
            choice: FileChoice::OneByOne,
            run_operations: 1,
        },
        open_files_max: Some(1),
        write_sync: WriteSync::None,
        sync_at_end: Some(SyncKind::Fsync),
        create: Create::Open,
        data: if is_checked {
            part.job.data
        } else {
            Data::Unique
        },
        pattern: if is_checked {
            part.job.pattern.clone()
        } else {
            Vec::new()
        },
        once: true,
        seed: part.job.seed.stream(u64::MAX),
        ..Job::default()
    }
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

    /// What is written of each file, by the jobs that write files of these lengths.
    fn written(lengths: &[u64]) -> Vec<(u64, Vec<u64>)> {
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
        let jobs = lay_down_jobs(&part, lengths).into_iter();
        jobs.map(|job| {
            let lengths = job.regions.iter().map(|region| region.length_bytes);
            (job.block_size_bytes, lengths.collect())
        })
        .collect()
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn files_are_laid_down_to_their_last_byte() {
        assert_eq!(written(&[8 * MIB]), [(MIB, vec![8 * MIB])]);
        assert_eq!(
            written(&[2 * MIB + 1000]),
            [(MIB, vec![2 * MIB]), (1000, vec![1000])]
        );
        assert_eq!(written(&[1000]), [(512, vec![512]), (488, vec![488])]);
        let several = [36 << 10, 32 << 10, 36 << 10];
        assert_eq!(
            written(&several),
            [(32 << 10, vec![32 << 10; 3]), (4096, vec![4096; 2])]
        );
    }
}
