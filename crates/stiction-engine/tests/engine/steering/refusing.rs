//! Courses that mean nothing.

use stiction_core::{
    Batches, Data, DepthSearch, Floor, Job, Rate, RatesByWay, ThinkTime, Tolerance,
};

use super::{MS, THINK, null_job, pace};
use crate::jobs::{file, read_job, try_run, write_job};

#[test]
fn courses_that_mean_nothing_are_refused() {
    let batches = |submit, complete_min, complete_max, refill_below| Batches {
        submit,
        complete_min,
        complete_max,
        refill_below,
    };
    let batched = |batches| Job {
        depth: 4,
        batches: Some(batches),
        ..null_job(1)
    };
    let thinking = |think| Job {
        think: Some(think),
        ..null_job(1)
    };
    let floor = |read, write, window_ns| Job {
        floor: Some(Floor {
            read,
            write,
            trim: None,
            window_ns,
        }),
        ..null_job(1)
    };
    let searching = |latency_ns_max, share_ppm, window_ns| Job {
        depth_search: Some(DepthSearch {
            latency_ns_max,
            share_ppm,
            window_ns,
            goes_on: true,
        }),
        ..null_job(1)
    };
    let paced = |by_way| Job {
        pace: Some(pace(Rate::OperationsPerS(1), Some(by_way))),
        ..null_job(1)
    };
    let some = Some(Rate::OperationsPerS(1));
    let refused = [
        (thinking(THINK), "not said when it pauses"),
        (
            thinking(ThinkTime {
                every_ns: Some(1),
                spin_ns: 6 * MS,
                ..THINK
            }),
            "computes for longer",
        ),
        (
            thinking(ThinkTime {
                every_operations: Some(0),
                ..THINK
            }),
            "after nothing",
        ),
        (batched(batches(0, 1, 1, None)), "have no operations"),
        (batched(batches(1, 2, 1, None)), "fewer completions at once"),
        (
            batched(batches(1, 1, 1, Some(4))),
            "begins again at its depth",
        ),
        (
            Job {
                batches: Some(batches(1, 1, 1, None)),
                ..read_job(1)
            },
            "no queue to batch for",
        ),
        (floor(None, None, 1), "must do is nothing"),
        (floor(None, some, 1), "must do what it does not"),
        (floor(some, None, 0), "done in 0 ns"),
        (searching(0, 1, 1), "bound or in a time of 0 ns"),
        (searching(1, 0, 1), "1 to 1,000,000"),
        (searching(1, 1_000_001, 1), "1 to 1,000,000"),
        (paced(RatesByWay::default()), "no rate at all"),
        (
            paced(RatesByWay {
                write: some,
                ..RatesByWay::default()
            }),
            "direction that it does not go",
        ),
        (
            Job {
                latency_ns_max: Some(0),
                ..null_job(1)
            },
            "allow 1 or more",
        ),
        (
            Job {
                data: Data::Stamped,
                tolerance: Tolerance {
                    writes: true,
                    ..Tolerance::default()
                },
                ..write_job(1)
            },
            "nobody knows what is in them",
        ),
    ];
    for (job, expected) in refused {
        let error = try_run(&job, &file("/does/not/exist"))
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}
