//! An explanation as JSON.

use serde::Serialize;
use stiction_analysis::compare::RunOrder;
use stiction_analysis::decompose::{Per as TimePer, Range};
use stiction_analysis::explain::{
    Attribution, Check, Explanation, Fate, Identity, Lie, Likely, MovedCounter, NextRun, Per,
    PhaseExplanation, Reading, Score, SymbolChange, Symbols, TakenBackPhase, Theme, TimeSplit,
    Together,
};
use stiction_core::{Cell, Unit};

use super::{document, method_key, verdict_key};

#[derive(Serialize)]
struct ExplanationView<'a> {
    a: &'a str,
    b: Option<&'a str>,
    others: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    attribution: Option<AttributionView<'a>>,
    differs: Vec<LikelyView<'a>>,
    phases: Vec<PhaseView<'a>>,
    next: Vec<NextView<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct AttributionView<'a> {
    things: &'a [String],
    one_thing: Option<&'a str>,
    order: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    taken_back_in: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    taken_back: Vec<BackView<'a>>,
}

#[derive(Serialize)]
struct BackView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    fate: &'static str,
    is_sure: bool,
    b_percent: f64,
    back_percent: f64,
}

#[derive(Serialize)]
struct LikelyView<'a> {
    key: &'a str,
    a: &'a str,
    b: &'a str,
    weight: u32,
    reason: &'a str,
    factor: Option<&'a str>,
}

#[derive(Serialize)]
struct PhaseView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    runs_a_count: u32,
    runs_b_count: u32,
    order: &'static str,
    score: Option<ScoreView<'a>>,
    times: SidesView<TimeView<'a>>,
    checks: Vec<CheckView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<CountersView>,
    layout: SidesView<LieView>,
    functions: FunctionsView<'a>,
    readings: Vec<ReadingView<'a>>,
}

#[derive(Serialize)]
struct SidesView<T> {
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<T>,
}

#[derive(Serialize)]
struct ScoreView<'a> {
    /// Its name says the unit of the values.
    metric: &'a str,
    value_a: f64,
    value_b: Option<f64>,
    change_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_percent_lowest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_percent_highest: Option<f64>,
    verdict: Option<&'static str>,
}

#[derive(Serialize)]
struct TimeView<'a> {
    per: &'static str,
    workers_count: f64,
    whole_s: f64,
    user_s: Option<f64>,
    system_s: Option<f64>,
    cpu_wait_s: Option<f64>,
    writeback_wait_s: Option<f64>,
    device_wait_s_lowest: Option<f64>,
    device_wait_s_highest: Option<f64>,
    unknown_s_lowest: Option<f64>,
    unknown_s_highest: Option<f64>,
    unseen: &'a [&'static str],
}

#[derive(Serialize)]
struct CheckView {
    side: &'static str,
    identity: &'static str,
    left: f64,
    right: f64,
    holds: bool,
}

#[derive(Serialize)]
struct CountersView {
    seen_count: u32,
    tested_count: u32,
    method: Option<&'static str>,
    repetitions_count: u32,
    blocks_needed_count: Option<u32>,
    moved: Vec<CounterView>,
    differing: Vec<CounterView>,
}

#[derive(Serialize)]
struct CounterView {
    name: &'static str,
    group: &'static str,
    unit: Unit,
    per: &'static str,
    value_a: f64,
    value_b: f64,
    over_noise_ratio: Option<f64>,
    p_adjusted: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    within: Option<WithinView>,
}

#[derive(Serialize)]
struct WithinView {
    tau: f64,
    p_adjusted: f64,
}

#[derive(Serialize)]
struct LieView {
    files: f64,
    runs_per_gib_count: f64,
    run_bytes_mean: f64,
    interleave_ratio: Option<f64>,
    seek_bytes_per_byte_ratio: f64,
}

#[derive(Serialize)]
struct FunctionsView<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    most: Vec<ShareView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gained: Vec<FunctionView<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lost: Vec<FunctionView<'a>>,
}

#[derive(Serialize)]
struct ShareView<'a> {
    function: &'a str,
    share_percent: f64,
}

#[derive(Serialize)]
struct FunctionView<'a> {
    function: &'a str,
    a_percent: f64,
    b_percent: f64,
    difference_percent: f64,
    difference_percent_lowest: f64,
    difference_percent_highest: f64,
}

#[derive(Serialize)]
struct ReadingView<'a> {
    theme: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct NextView<'a> {
    what: &'a str,
    is_command: bool,
    shows: &'a str,
}

/// Everything that an explanation has. Schema `stiction-explanation`.
#[must_use]
pub fn explanation(explanation: &Explanation) -> String {
    let view = ExplanationView {
        a: &explanation.a,
        b: explanation.b.as_deref(),
        others: &explanation.others,
        attribution: explanation.attribution.as_ref().map(attribution),
        differs: explanation.differs.iter().map(likely).collect(),
        phases: explanation.phases.iter().map(phase).collect(),
        next: explanation.next.iter().map(next).collect(),
        notes: &explanation.notes,
    };
    document("stiction-explanation", view)
}

fn order_key(order: RunOrder) -> &'static str {
    match order {
        RunOrder::Interleaved => "interleaved",
        RunOrder::OneSideFirst => "one_side_first",
        RunOrder::NotInterleaved => "not_interleaved",
    }
}

fn attribution(attribution: &Attribution) -> AttributionView<'_> {
    let back = attribution.taken_back.as_ref();
    let phases = back.into_iter().flat_map(|back| &back.phases);
    AttributionView {
        things: &attribution.things,
        one_thing: attribution.one_thing(),
        order: order_key(attribution.order),
        taken_back_in: back.map(|back| back.name.as_str()),
        taken_back: phases.map(back_view).collect(),
    }
}

fn back_view(phase: &TakenBackPhase) -> BackView<'_> {
    BackView {
        cell: &phase.cell,
        phase: &phase.phase,
        fate: match phase.fate {
            Fate::Went => "went",
            Fate::Partly => "partly",
            Fate::Stayed => "stayed",
        },
        is_sure: phase.is_sure,
        b_percent: phase.b_percent,
        back_percent: phase.back_percent,
    }
}

fn likely(likely: &Likely) -> LikelyView<'_> {
    LikelyView {
        key: &likely.difference.key,
        a: &likely.difference.a,
        b: &likely.difference.b,
        weight: likely.weight,
        reason: likely.reason,
        factor: likely.factor.as_deref(),
    }
}

fn phase(phase: &PhaseExplanation) -> PhaseView<'_> {
    let (times_a, times_b) = &phase.times;
    let (lie_a, lie_b) = &phase.lie;
    let sides = [("a", &phase.checks.0), ("b", &phase.checks.1)];
    let checks = sides
        .iter()
        .flat_map(|(side, checks)| checks.iter().map(|one| check(side, one)));
    PhaseView {
        cell: &phase.cell,
        phase: &phase.phase,
        runs_a_count: phase.runs.0,
        runs_b_count: phase.runs.1,
        order: order_key(phase.order),
        score: phase.score.as_ref().map(score),
        times: SidesView {
            a: times_a.as_ref().map(time),
            b: times_b.as_ref().map(time),
        },
        checks: checks.collect(),
        counters: phase.together.as_ref().map(counters),
        layout: SidesView {
            a: lie_a.as_ref().map(lie),
            b: lie_b.as_ref().map(lie),
        },
        functions: functions(&phase.symbols),
        readings: phase.readings.iter().map(reading).collect(),
    }
}

fn score(score: &Score) -> ScoreView<'_> {
    let estimate = score.estimate.as_ref();
    ScoreView {
        metric: &score.metric.name,
        value_a: score.a,
        value_b: score.b,
        change_percent: score.change_percent,
        change_percent_lowest: estimate.map(|one| one.lowest_percent),
        change_percent_highest: estimate.map(|one| one.highest_percent),
        verdict: score.verdict.as_ref().map(verdict_key),
    }
}

fn time(time: &TimeSplit) -> TimeView<'_> {
    let lowest = |range: Option<Range>| range.map(|range| range.lowest);
    let highest = |range: Option<Range>| range.map(|range| range.highest);
    TimeView {
        per: match time.per {
            TimePer::Run => "run",
            TimePer::Mebibyte => "mebibyte",
        },
        workers_count: time.workers,
        whole_s: time.total_s,
        user_s: time.user_s,
        system_s: time.system_s,
        cpu_wait_s: time.cpu_wait_s,
        writeback_wait_s: time.writeback_wait_s,
        device_wait_s_lowest: lowest(time.device_wait_s),
        device_wait_s_highest: highest(time.device_wait_s),
        unknown_s_lowest: lowest(time.unknown_s),
        unknown_s_highest: highest(time.unknown_s),
        unseen: &time.unseen,
    }
}

fn check(side: &'static str, check: &Check) -> CheckView {
    CheckView {
        side,
        identity: match check.identity {
            Identity::RateAndSize => "rate_and_size",
            Identity::DepthAndLatency => "depth_and_latency",
            Identity::QueueAndTime => "queue_and_time",
            Identity::TraceAndCounters => "trace_and_counters",
            Identity::ProcessorsAndTime => "processors_and_time",
        },
        left: check.left,
        right: check.right,
        holds: check.holds(),
    }
}

fn counters(together: &Together) -> CountersView {
    CountersView {
        seen_count: together.seen,
        tested_count: together.tested,
        method: together.method.map(method_key),
        repetitions_count: together.repetitions,
        blocks_needed_count: together.blocks_needed,
        moved: together.moved.iter().map(counter).collect(),
        differing: together.differing.iter().map(counter).collect(),
    }
}

fn counter(counter: &MovedCounter) -> CounterView {
    CounterView {
        name: counter.name,
        group: counter.group.as_str(),
        unit: counter.unit,
        per: match counter.per {
            Per::Byte => "byte",
            Per::Mebibyte => "mebibyte",
            Per::Run => "run",
            Per::Itself => "itself",
        },
        value_a: counter.a,
        value_b: counter.b,
        over_noise_ratio: counter.over_noise.filter(|over| over.is_finite()),
        p_adjusted: counter.p_adjusted,
        within: counter.within.map(|within| WithinView {
            tau: within.tau,
            p_adjusted: within.p_adjusted,
        }),
    }
}

fn lie(lie: &Lie) -> LieView {
    LieView {
        files: lie.files,
        runs_per_gib_count: lie.runs_per_gib,
        run_bytes_mean: lie.run_bytes_mean,
        interleave_ratio: lie.interleave_ratio,
        seek_bytes_per_byte_ratio: lie.seek_bytes_per_byte,
    }
}

fn functions(symbols: &Symbols) -> FunctionsView<'_> {
    let none = FunctionsView {
        state: "unseen",
        most: Vec::new(),
        gained: Vec::new(),
        lost: Vec::new(),
    };
    match symbols {
        Symbols::Unseen => none,
        Symbols::One(most) => FunctionsView {
            state: "one_side",
            most: most
                .iter()
                .map(|(function, percent)| ShareView {
                    function,
                    share_percent: *percent,
                })
                .collect(),
            ..none
        },
        Symbols::Changed { gained, lost, .. } => FunctionsView {
            state: "both_sides",
            gained: gained.iter().map(function).collect(),
            lost: lost.iter().map(function).collect(),
            ..none
        },
    }
}

fn function(change: &SymbolChange) -> FunctionView<'_> {
    FunctionView {
        function: &change.name,
        a_percent: change.a_percent,
        b_percent: change.b_percent,
        difference_percent: change.points(),
        difference_percent_lowest: change.interval_points.0,
        difference_percent_highest: change.interval_points.1,
    }
}

fn reading(reading: &Reading) -> ReadingView<'_> {
    ReadingView {
        theme: match reading.theme {
            Theme::JournaledData => "journaled_data",
            Theme::WrittenMore => "written_more",
            Theme::Layout => "layout",
            Theme::Merges => "merges",
            Theme::Queue => "queue",
            Theme::Cache => "cache",
            Theme::Writeback => "writeback",
            Theme::Reclaim => "reclaim",
            Theme::Cpu => "cpu",
            Theme::CpuTaken => "cpu_taken",
        },
        text: &reading.text,
    }
}

fn next(next: &NextRun) -> NextView<'_> {
    NextView {
        what: &next.what,
        is_command: next.is_command,
        shows: &next.shows,
    }
}
