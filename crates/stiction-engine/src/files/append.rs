//! Regions that begin where files end.

use std::path::Path;

use rustix::fs::stat;
use rustix::io::Errno;
use stiction_core::Job;

use crate::failure::{Fault, Operation};
use crate::{EngineError, Target};

/// `job` with each region moved behind the end that its file has now; a file that does
/// not exist ends at its start, and so does a device, which has no end to be moved.
///
/// # Errors
/// [`EngineError::Prepare`] when a file cannot be looked at.
pub fn at_file_ends(job: &Job, targets: &[Target]) -> Result<Job, EngineError> {
    let mut moved = job.clone();
    for region in &mut moved.regions {
        let end_bytes = match targets.get(region.target as usize) {
            Some(Target::File(path)) => end_of(path)?,
            // What is no target is told when the job is run.
            Some(Target::Device(_) | Target::Simulated(_)) | None => 0,
        };
        region.offset_bytes = region.offset_bytes.saturating_add(end_bytes);
    }
    Ok(moved)
}

fn end_of(path: &Path) -> Result<u64, EngineError> {
    match stat(path) {
        Ok(found) => Ok(found.st_size as u64),
        Err(Errno::NOENT) => Ok(0),
        Err(errno) => Err(Fault::new(Operation::Open, errno).of(0, path).into()),
    }
}
