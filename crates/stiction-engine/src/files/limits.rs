//! Refuses more files than can be, and orders of files that mean nothing.

use rustix::process::{Resource, getrlimit};
use stiction_core::{BackendKind, FileChoice, Job};

use crate::pattern;

/// Most regions of a job, all workers together.
const REGIONS_MAX: usize = 1 << 20;
/// What a worker has open besides: the three standard ones, a ring, a pipe.
const OTHER_DESCRIPTORS: u64 = 8;

/// How many of its files each worker of `job` has open at once.
pub(crate) fn open_at_once(job: &Job) -> u32 {
    let files = job.regions_per_worker;
    let most = job.open_files_max.map_or(files, |most| most.min(files));
    match job.file_order.choice {
        FileChoice::OneByOne if most < files => 1,
        _ => most,
    }
}

/// What is wrong with the files of `job`, and what would do.
pub(crate) fn problem(job: &Job) -> Option<String> {
    let files = job.regions_per_worker as usize;
    if files == 0 || !job.regions.len().is_multiple_of(files) {
        return Some(format!(
            "{} regions cannot be divided by {files} for each worker",
            job.regions.len()
        ));
    }
    if job.regions.len() > REGIONS_MAX {
        return Some(format!(
            "it has {} regions; {REGIONS_MAX} are possible",
            job.regions.len()
        ));
    }
    if job.open_files_max == Some(0) || job.file_order.run_operations == 0 {
        let reason =
            "0 files are to be open, or 0 operations to follow on each: 1 or more are possible";
        return Some(reason.to_owned());
    }
    if let FileChoice::Skewed(skew) = &job.file_order.choice {
        if open_at_once(job) < job.regions_per_worker {
            let reason = "files of which some are more likely than others are all open: \
                          leave the limit, or choose them in turn";
            return Some(reason.to_owned());
        }
        if let Some(reason) = pattern::skew_problem(skew) {
            return Some(reason.to_owned());
        }
    }
    if open_at_once(job) < job.regions_per_worker
        && job.pace.is_some_and(|pace| pace.by_way.is_some())
    {
        let reason = "reads and writes with a pace each go through files at their own speed: \
                      leave the limit of open files, or give both one pace";
        return Some(reason.to_owned());
    }
    too_many_open(job)
}

/// Each worker has a table of open files of its own, so the limit holds for each.
fn too_many_open(job: &Job) -> Option<String> {
    let needed = u64::from(open_at_once(job)) + OTHER_DESCRIPTORS;
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let opens_many = job.backend != BackendKind::Null && job.regions_per_worker > 1;
    (opens_many && needed > limit).then(|| {
        format!(
            "each worker has {} files open at once, and the limit is {limit}: raise it \
             (ulimit -n), or have fewer open",
            open_at_once(job)
        )
    })
}
