//! The job files beside this: all are read, and none is there for nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use stiction_formats::fio::options::{Status, find};

use crate::all;

/// The job files, by path.
pub(crate) fn job_files() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/fio");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read_to_string(&path).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn every_job_file_is_read() {
    let files = job_files();
    assert!(files.len() >= 25);
    for (path, text) in files {
        let resolved = all(&text).unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display()));
        assert!(!resolved.jobs.is_empty());
    }
}

#[test]
fn the_files_use_most_features() {
    let mut features = BTreeSet::new();
    for (_, text) in job_files() {
        for job in all(&text).unwrap().jobs {
            for set in job.set {
                let option = find(set.option).unwrap();
                if let Status::Meant(feature) = option.status {
                    features.insert(feature);
                }
            }
        }
    }
    assert!(features.len() >= 18, "{features:?}");
}

#[test]
fn a_generated_file_of_many_sections() {
    // The shape of diskplorer's files: size=0 on a device, a group for each step.
    let mut text =
        "[global]\nruntime=30s\ntime_based=1\nramp_time=5\nfilename=/dev/sdz\ndirect=1\n\
        group_reporting\nioengine=io_uring\nsize=0\nrandom_generator=tausworthe64\nrandrepeat=0\n\
        thread\n"
            .to_owned();
    for step in 0..8 {
        let group = if step == 0 { "new_group\n" } else { "" };
        let depth = if step == 7 { 3 } else { 4 };
        text.push_str(&format!(
            "\n[max-31-{step}]\nreadwrite=randread\nblocksize=512\niodepth={depth}\n{group}"
        ));
    }
    let resolved = all(&text).unwrap();
    let depth: u32 = resolved.jobs.iter().map(|r| r.job.effective_depth()).sum();
    assert_eq!((resolved.jobs.len(), depth), (8, 31));
    assert!(
        resolved
            .jobs
            .iter()
            .all(|r| r.job.extent.size.is_none() && !r.job.chance.repeat)
    );
    assert!(
        resolved
            .jobs
            .iter()
            .all(|r| r.job.time.ramp.0 == 5_000_000_000)
    );
}
