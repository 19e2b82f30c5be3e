//! Who works on the same blocks at the same time.

use std::ops::Range;

use super::super::job::{Engine, FioJob};
use super::super::resolve::Resolved;
use super::super::units::Amount;
use super::forecast::region_bytes;
use super::{Code, Finding, Notes, Severity};

/// Whether all clones of a job use the same files: named ones, or a pattern without
/// the clone's number.
pub(super) fn shares_files(job: &FioJob) -> bool {
    let targets = &job.targets;
    if targets.below.is_some() || !targets.names.is_empty() {
        return targets.directories.len() <= 1;
    }
    targets
        .name_format
        .as_ref()
        .is_some_and(|format| !format.contains("$jobnum"))
}

/// Where the region of the first clone lies in each file, where that is known; a
/// region without a known size reaches to the end.
fn region(job: &FioJob) -> Option<Range<u64>> {
    let start = job.extent.offset.map_or(Some(0), Amount::known_bytes)?;
    let files = u64::from(job.targets.files.max(1));
    Some(match region_bytes(job) {
        Some(bytes) => start..start.saturating_add(bytes / files),
        None => start..u64::MAX,
    })
}

pub(super) fn of(index: usize, resolved: &Resolved, waves: &[u32]) -> Vec<Finding> {
    let this = &resolved.jobs[index];
    let mut notes = Notes::new(this);
    if this.job.engine == Engine::Null {
        return notes.found;
    }
    clones(&this.job, &mut notes);
    // Each pair once, at the later job.
    for (other, wave) in resolved.jobs[..index].iter().zip(waves) {
        let chained = [&other.job, &this.job]
            .iter()
            .any(|job| job.phase.after.is_some());
        if *wave == waves[index] && !chained {
            jobs(&other.job, &this.job, &mut notes);
        }
    }
    notes.found
}

fn clones(job: &FioJob, notes: &mut Notes<'_>) {
    if job.clones < 2 || !shares_files(job) {
        return;
    }
    let apart = match (job.extent.offset_step, region_bytes(job)) {
        (Some(Amount::Bytes(step)), Some(bytes)) => step.0 >= bytes,
        // A share of the target that all clones' steps fit in.
        (Some(Amount::Percent(step)), _) => match job.extent.size {
            Some(Amount::Percent(size)) => step >= size,
            _ => false,
        },
        _ => false,
    };
    if apart {
        return;
    }
    let writes = job.pattern.action.writes() || job.pattern.action.trims();
    let sequential = job.pattern.order == super::super::job::Order::Sequential;
    let what = match (writes, sequential) {
        (true, _) => "all clones write the same region of the same files",
        (false, true) => {
            "all clones read the same blocks in the same order: one of them fetches, the others \
             find them in a cache"
        }
        (false, false) => "all clones read the same region of the same files",
    };
    let severity = if writes || sequential {
        Severity::Doubt
    } else {
        Severity::Note
    };
    notes.add(
        (severity, Code::ClonesOverlap),
        "numjobs",
        what,
        "set offset_increment to the size, or leave filename out so that each has its own file",
    );
    if writes && job.verify.is_some() {
        notes.add(
            (Severity::Failure, Code::VerifyOverlap),
            "verify",
            "clones overwrite each other's blocks, which fio then reports as failed checks",
            "give each clone a region of its own by offset_increment",
        );
    }
}

fn jobs(one: &FioJob, other: &FioJob, notes: &mut Notes<'_>) {
    let (this, that) = (&other.targets, &one.targets);
    let same_files = this.directories == that.directories
        && this.names.iter().any(|name| that.names.contains(name));
    if !same_files || one.engine == Engine::Null {
        return;
    }
    let (Some(a), Some(b)) = (region(one), region(other)) else {
        return;
    };
    if a.start >= b.end || b.start >= a.end {
        return;
    }
    let writes = |job: &FioJob| job.pattern.action.writes() || job.pattern.action.trims();
    let severity = if writes(one) || writes(other) {
        Severity::Doubt
    } else {
        Severity::Note
    };
    notes.add(
        (severity, Code::JobsOverlap),
        "filename",
        format!(
            "it works at the same time as `{}` on the same part of the same file",
            one.name
        ),
        "set stonewall to run it afterwards, or offset and size to keep them apart",
    );
    if (one.verify.is_some() && writes(other)) || (other.verify.is_some() && writes(one)) {
        notes.add(
            (Severity::Failure, Code::VerifyOverlap),
            "verify",
            format!(
                "`{}` and this job overwrite each other's blocks, which fio then reports as \
                 failed checks",
                one.name
            ),
            "keep their regions apart",
        );
    }
}
