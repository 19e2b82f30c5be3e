//! One candidate against the baseline, as JSON.

use serde::Serialize;
use stiction_analysis::compare::{
    Comparison, Difference, Doubt, Replication, RunOrder, Scale, Shift, ShiftPoint, SideFactor,
    StallCounts, Stalls, Unit, Unmatched,
};
use stiction_analysis::decompose::{Breakdown, Decomposition, Efficiency, Moved, Per, Range};
use stiction_analysis::noise::Repeat;
use stiction_core::{Cell, Direction, Level, SessionId};

use super::outcome;
use super::row::{RowView, row};

/// One candidate against the baseline.
#[derive(Serialize)]
pub(super) struct CandidateView<'a> {
    outcome: &'static str,
    a: SideName<'a>,
    b: SideName<'a>,
    replication: ReplicationView,
    factors: Vec<FactorView<'a>>,
    environment_differs: Vec<DifferenceView<'a>>,
    environment_known_of_a_only: &'a [String],
    environment_known_of_b_only: &'a [String],
    parameters_differ: Vec<DifferenceView<'a>>,
    notes: &'a [String],
    rows: Vec<RowView<'a>>,
    doubts: Vec<DoubtView<'a>>,
    unmatched: Vec<UnmatchedView<'a>>,
    times: Vec<TimesView<'a>>,
    shifts: Vec<ShiftView<'a>>,
    stalls: Vec<StallsView<'a>>,
    noise: Vec<NoiseView<'a>>,
}

/// How often each side was repeated.
#[derive(Serialize)]
struct ReplicationView {
    unit: &'static str,
    a_count: u32,
    b_count: u32,
    order: &'static str,
}

#[derive(Serialize)]
struct SideName<'a> {
    name: &'a str,
    sessions: &'a [SessionId],
}

#[derive(Serialize)]
struct FactorView<'a> {
    factor: &'a str,
    a: &'a Option<Level>,
    b: &'a Option<Level>,
}

#[derive(Serialize)]
struct DifferenceView<'a> {
    key: &'a str,
    a: &'a str,
    b: &'a str,
    named: bool,
    allowed: bool,
}

/// A doubt about one phase of one cell, of the first run that has it.
#[derive(Serialize)]
struct DoubtView<'a> {
    side: &'static str,
    cell: &'a Cell,
    phase: &'a str,
    code: &'static str,
    detail: &'a str,
    runs_count: u32,
}

#[derive(Serialize)]
struct UnmatchedView<'a> {
    side: &'static str,
    cell: &'a Cell,
    #[serde(skip_serializing_if = "Option::is_none")]
    phase: Option<&'a str>,
    reason: &'a str,
}

/// The parts of the time of one phase, per run or per MiB that was moved.
#[derive(Serialize)]
struct TimesView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    per: &'static str,
    a: TimeView,
    b: TimeView,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    io_efficiency: Option<&'static str>,
}

#[derive(Serialize)]
struct TimeView {
    elapsed_s: RangeView,
    cpu_s: RangeView,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_s: Option<RangeView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    load_bytes_per_s: Option<RangeView>,
}

/// What a figure lies between.
#[derive(Serialize)]
struct RangeView {
    lowest: f64,
    highest: f64,
}

/// How each percentile of one direction's latencies shifts.
#[derive(Serialize)]
struct ShiftView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    direction: Direction,
    points: Vec<PointView>,
}

#[derive(Serialize)]
struct PointView {
    percentile: f64,
    a_ns: f64,
    b_ns: f64,
    change_percent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_percent_lowest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_percent_highest: Option<f64>,
}

/// Operations of one direction that stalled.
#[derive(Serialize)]
struct StallsView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    direction: Direction,
    a: CountsView,
    b: CountsView,
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<f64>,
}

#[derive(Serialize)]
struct CountsView {
    operations: u64,
    over_2s_count: u64,
    over_10s_count: u64,
}

#[derive(Serialize)]
struct NoiseView<'a> {
    cell: &'a Cell,
    phase: &'a str,
    metric: &'a str,
    run_values: &'a [f64],
    #[serde(flatten)]
    spread: SpreadView,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum SpreadView {
    SpreadPercent(f64),
    SpreadPoints(f64),
}

/// All of one candidate.
pub(super) fn candidate(comparison: &Comparison) -> CandidateView<'_> {
    let environment = &comparison.environment;
    let (sessions_a, sessions_b) = &comparison.sessions;
    CandidateView {
        outcome: outcome(comparison.outcome()),
        a: SideName {
            name: &comparison.a,
            sessions: sessions_a,
        },
        b: SideName {
            name: &comparison.b,
            sessions: sessions_b,
        },
        replication: replication(comparison.replication),
        factors: comparison.factors.iter().map(factor).collect(),
        environment_differs: environment.differs.iter().map(difference).collect(),
        environment_known_of_a_only: &environment.only_a,
        environment_known_of_b_only: &environment.only_b,
        parameters_differ: comparison.parameters.iter().map(difference).collect(),
        notes: &comparison.notes,
        rows: comparison.rows.iter().map(row).collect(),
        doubts: comparison.doubts.iter().map(doubt).collect(),
        unmatched: comparison.unmatched.iter().map(unmatched).collect(),
        times: comparison.decompositions.iter().map(times).collect(),
        shifts: comparison.shifts.iter().map(shift).collect(),
        stalls: comparison.stalls.iter().map(stalls).collect(),
        noise: comparison.noise.iter().map(noise).collect(),
    }
}

fn replication(found: Replication) -> ReplicationView {
    ReplicationView {
        unit: match found.unit {
            Unit::Run => "run",
            Unit::Session => "session",
            Unit::Boot => "boot",
            Unit::Machine => "machine",
        },
        a_count: found.a,
        b_count: found.b,
        order: match found.order {
            RunOrder::Interleaved => "interleaved",
            RunOrder::OneSideFirst => "one_side_first",
            RunOrder::NotInterleaved => "not_interleaved",
        },
    }
}

fn shift(found: &Shift) -> ShiftView<'_> {
    let point = |point: &ShiftPoint| PointView {
        percentile: point.percentile,
        a_ns: point.a_ns,
        b_ns: point.b_ns,
        change_percent: point.change_percent,
        change_percent_lowest: point.interval_percent.map(|(lowest, _)| lowest),
        change_percent_highest: point.interval_percent.map(|(_, highest)| highest),
    };
    ShiftView {
        cell: &found.cell,
        phase: &found.phase,
        direction: found.direction,
        points: found.points.iter().map(point).collect(),
    }
}

fn stalls(found: &Stalls) -> StallsView<'_> {
    let counts = |counts: StallCounts| CountsView {
        operations: counts.operations,
        over_2s_count: counts.over_2s,
        over_10s_count: counts.over_10s,
    };
    StallsView {
        cell: &found.cell,
        phase: &found.phase,
        direction: found.direction,
        a: counts(found.a),
        b: counts(found.b),
        p: found.p,
    }
}

fn factor(side: &SideFactor) -> FactorView<'_> {
    FactorView {
        factor: &side.factor,
        a: &side.a,
        b: &side.b,
    }
}

fn difference(difference: &Difference) -> DifferenceView<'_> {
    DifferenceView {
        key: &difference.key,
        a: &difference.a,
        b: &difference.b,
        named: difference.named,
        allowed: difference.allowed,
    }
}

fn doubt(doubt: &Doubt) -> DoubtView<'_> {
    DoubtView {
        side: side_word(doubt.in_a),
        cell: &doubt.cell,
        phase: &doubt.phase,
        code: doubt.caveat.code.as_str(),
        detail: &doubt.caveat.detail,
        runs_count: doubt.runs,
    }
}

fn side_word(in_a: bool) -> &'static str {
    if in_a { "a" } else { "b" }
}

fn unmatched(unmatched: &Unmatched) -> UnmatchedView<'_> {
    UnmatchedView {
        side: side_word(unmatched.in_a),
        cell: &unmatched.cell,
        phase: unmatched.phase.as_deref(),
        reason: &unmatched.reason,
    }
}

fn times(found: &Decomposition) -> TimesView<'_> {
    TimesView {
        cell: &found.cell,
        phase: &found.phase,
        per: match found.per {
            Per::Run => "run",
            Per::Mebibyte => "mebibyte",
        },
        a: time(&found.a),
        b: time(&found.b),
        moved: found.moved.map(|moved| match moved {
            Moved::Nothing => "nothing",
            Moved::Cpu => "cpu",
            Moved::Waiting => "waiting",
            Moved::Both => "both",
        }),
        io_efficiency: found.efficiency.map(|efficiency| match efficiency {
            Efficiency::Lost => "lost",
            Efficiency::Gained => "gained",
            Efficiency::Traded => "traded",
        }),
    }
}

fn time(side: &Breakdown) -> TimeView {
    let range = |range: Range| RangeView {
        lowest: range.lowest,
        highest: range.highest,
    };
    TimeView {
        elapsed_s: range(side.elapsed_s),
        cpu_s: range(side.cpu_s),
        waiting_s: side.waiting_s.map(range),
        load_bytes_per_s: side.load_bytes_per_s.map(range),
    }
}

fn noise(repeat: &Repeat) -> NoiseView<'_> {
    NoiseView {
        cell: &repeat.cell,
        phase: &repeat.phase,
        metric: &repeat.metric.name,
        run_values: &repeat.values,
        spread: match repeat.scale {
            Scale::Percent => SpreadView::SpreadPercent(repeat.spread),
            Scale::Points => SpreadView::SpreadPoints(repeat.spread),
        },
    }
}
