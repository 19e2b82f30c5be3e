//! What kind of data reaches the files.

use std::collections::HashSet;
use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use stiction_core::{BackendKind, Data, DataShape, Job};
use stiction_engine::EngineError;
use testkit::scratch_folder;

use crate::jobs::{content, file, files, run, try_run, with_workers, write_job};

const BLOCKS: u64 = 512;

/// What `job` writes, one file after the other.
fn written(job: &Job) -> Vec<u8> {
    let directory = scratch_folder();
    let workers = job.regions.len() as u32;
    run(job, &files(directory.path(), workers));
    let contents = (0..workers).map(|worker| content(&directory.path().join(format!("f{worker}"))));
    contents.collect::<Vec<_>>().concat()
}

fn distinct_pages(data: &[u8]) -> usize {
    data.chunks(4096).collect::<HashSet<_>>().len()
}

fn shaped(compress_percent: u8, dedupe_percent: u8, refill: bool) -> Job {
    Job {
        shape: DataShape {
            compress_percent,
            dedupe_percent,
            refill,
        },
        ..write_job(BLOCKS)
    }
}

#[test]
fn files_compress_and_repeat_as_asked() {
    let data = written(&with_workers(shaped(40, 25, true), 2, BLOCKS));
    let pages = 2 * BLOCKS as usize;
    assert_eq!(data.len(), pages * 4096);
    // No page of one worker is one of the other's; a quarter of each repeats.
    assert_eq!(distinct_pages(&data), pages - pages / 4);
    let compressed: usize = data.chunks(4096).map(zlib_bytes).sum();
    let left = compressed as f64 / data.len() as f64;
    assert!((left - 0.6).abs() < 0.02, "{left} is left of 0.6");
}

fn zlib_bytes(data: &[u8]) -> usize {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().len()
}

#[test]
fn blocks_larger_than_a_page_are_shaped_page_by_page() {
    let mut job = with_workers(
        Job {
            block_size_bytes: 65_536,
            ..shaped(0, 50, true)
        },
        1,
        64,
    );
    assert_eq!(distinct_pages(&written(&job)), 512);
    job.shape.dedupe_percent = 0;
    assert_eq!(distinct_pages(&written(&job)), 1024);
}

/// Without refilling there are as many blocks as buffers, each fresh and random.
#[test]
fn buffers_that_are_not_refilled_are_written_again() {
    for (backend, depth) in [
        (BackendKind::Psync, 1),
        (BackendKind::Mmap, 1),
        (BackendKind::IoUring, 4),
    ] {
        for open_in_time in [false, true] {
            let job = Job {
                backend,
                depth,
                open_in_time,
                ..shaped(0, 0, false)
            };
            let data = written(&job);
            let distinct = distinct_pages(&data);
            assert!((1..=depth as usize).contains(&distinct), "{distinct}");
            assert!(zlib_bytes(&data[..4096]) > 4096);
        }
    }
}

#[test]
fn a_pattern_fills_every_block_from_its_start() {
    let pattern = b"stiction!".to_vec();
    let block: Vec<u8> = pattern.iter().copied().cycle().take(4096).collect();
    for (backend, depth) in [(BackendKind::Psync, 1), (BackendKind::IoUring, 8)] {
        let job = Job {
            backend,
            depth,
            data: Data::Pattern,
            pattern: pattern.clone(),
            ..write_job(BLOCKS)
        };
        assert!(written(&job).chunks(4096).all(|found| found == block));
    }
}

#[test]
fn shares_beyond_everything_and_empty_patterns_are_refused() {
    let wrong = [
        shaped(101, 0, true),
        shaped(0, 101, true),
        Job {
            data: Data::Pattern,
            ..write_job(BLOCKS)
        },
    ];
    for job in wrong {
        let result = try_run(&job, &file("/nonexistent/f"));
        assert!(matches!(result, Err(EngineError::Job { .. })), "{result:?}");
    }
}
