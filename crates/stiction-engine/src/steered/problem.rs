//! Refuses courses that mean nothing.

use stiction_core::{
    BackendKind, Batches, Data, DepthSearch, Floor, Job, PPM_WHOLE, Rate, StartOrder, SteadyLimit,
    SteadyStop, ThinkTime,
};

use crate::backend::has_queue;

/// What is wrong with the course of `job`, and what would do.
pub(crate) fn problem(job: &Job) -> Option<String> {
    let found = pace(job)
        .or_else(|| job.think.and_then(think))
        .or_else(|| job.batches.and_then(|one| batches(job, one)))
        .or_else(|| job.floor.and_then(|one| floor(job, one)))
        .or_else(|| job.depth_search.and_then(search))
        .or_else(|| job.steady_stop.and_then(|one| steady(job, one)))
        .or_else(|| limits(job));
    found.map(str::to_owned)
}

fn first(rules: &[(bool, &'static str)]) -> Option<&'static str> {
    let broken = rules.iter().find(|(is_broken, _)| *is_broken);
    broken.map(|(_, reason)| *reason)
}

/// Whether any rate is one for a direction that `job` does not go.
fn is_elsewhere(job: &Job, [read, write, trim]: [Option<Rate>; 3]) -> bool {
    let action = job.action;
    (read.is_some() && !action.reads())
        || (write.is_some() && !action.writes())
        || (trim.is_some() && !action.trims())
}

fn is_zero(rate: Option<Rate>) -> bool {
    matches!(rate, Some(Rate::OperationsPerS(0) | Rate::BytesPerS(0)))
}

fn pace(job: &Job) -> Option<&'static str> {
    let pace = job.pace?;
    let rates = match pace.by_way {
        Some(by_way) => [by_way.read, by_way.write, by_way.trim],
        None => [Some(pace.rate), None, None],
    };
    first(&[
        (
            rates.into_iter().any(is_zero),
            "it is to begin 0 a second: 1 or more are possible",
        ),
        (
            rates == [None; 3],
            "its pace has no rate at all: give one, or leave the pace",
        ),
        (
            pace.by_way.is_some() && is_elsewhere(job, rates),
            "a rate is for a direction that it does not go",
        ),
    ])
}

fn think(think: ThinkTime) -> Option<&'static str> {
    let is_zero = |number| number == Some(0);
    first(&[
        (
            think.pause_ns == 0 || is_zero(think.every_operations) || is_zero(think.every_ns),
            "it pauses for 0 ns, or after nothing: 1 or more are possible",
        ),
        (
            think.every_operations.is_none() && think.every_ns.is_none(),
            "it is not said when it pauses: give operations, or a time",
        ),
        (
            think.spin_ns > think.pause_ns,
            "it computes for longer than it pauses: give a part of the pause",
        ),
    ])
}

fn batches(job: &Job, batches: Batches) -> Option<&'static str> {
    first(&[
        (
            !has_queue(job.backend) && job.backend != BackendKind::Null,
            "its backend has no queue to batch for: use io_uring or libaio, or leave batches",
        ),
        (
            batches.submit == 0 || batches.complete_max == 0,
            "its batches have no operations: 1 or more are possible",
        ),
        (
            batches.complete_max < batches.complete_min,
            "it takes fewer completions at once than it waits for",
        ),
        (
            batches.refill_below.is_some_and(|low| low >= job.depth),
            "it begins again at its depth: give less than the depth",
        ),
    ])
}

fn floor(job: &Job, floor: Floor) -> Option<&'static str> {
    let rates = [floor.read, floor.write, floor.trim];
    first(&[
        (
            floor.window_ns == 0,
            "its least is to be done in 0 ns: 1 or more are possible",
        ),
        (
            rates == [None; 3] || rates.into_iter().any(is_zero),
            "the least that it must do is nothing: give a rate, or leave it",
        ),
        (
            is_elsewhere(job, rates),
            "it must do what it does not: give the least for its own directions",
        ),
    ])
}

fn search(search: DepthSearch) -> Option<&'static str> {
    first(&[
        (
            search.latency_ns_max == 0 || search.window_ns == 0,
            "it searches with a bound or in a time of 0 ns: 1 or more are possible",
        ),
        (
            !(1..=PPM_WHOLE).contains(&search.share_ppm),
            "the share of operations that keep the bound is 1 to 1,000,000 of a million",
        ),
    ])
}

fn steady(job: &Job, stop: SteadyStop) -> Option<&'static str> {
    let is_nothing = matches!(stop.limit, SteadyLimit::Ppm(0) | SteadyLimit::PerS(0));
    first(&[
        (
            stop.rounds < 2 || stop.round_ns == 0,
            "it is judged by fewer than 2 rounds, or rounds of 0 ns",
        ),
        (
            is_nothing,
            "no rate is steady to the last operation: allow some distance",
        ),
        (
            job.start == StartOrder::OneAfterAnother,
            "its workers start one after another, and have no rate together",
        ),
    ])
}

fn limits(job: &Job) -> Option<&'static str> {
    first(&[
        (
            job.latency_ns_max == Some(0),
            "no operation is done in 0 ns: allow 1 or more",
        ),
        (
            job.data == Data::Stamped && job.action.writes() && job.tolerance.writes,
            "of stamped blocks whose writes fail nobody knows what is in them: end at the \
             first failure, or write other data",
        ),
    ])
}
