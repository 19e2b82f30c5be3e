//! The comparison of two kernels that the layouts are shown by, for tests.
#![allow(dead_code, clippy::unwrap_used)]

use stiction_analysis::Verdict;
use stiction_analysis::compare::{
    AtCell, Change, Comparison, Control, Counts, Difference, EnvironmentDifference, EqualRange,
    Estimate, Fact, Family, Matrix, Method, Projection, Remark, RemarkCode, Replication, Row,
    RunOrder, Scale, Setup, SideFactor, SideValue, StallCounts, Stalls, Summary, SummaryTable,
    Unit,
};
use stiction_analysis::noise::Floor;
use stiction_core::{Cell, Direction, Level, Metric, Seed, SessionId, Subject, metrics};

const MIB: f64 = 1_048_576.0;

/// One row's numbers.
pub(crate) struct Numbers {
    pub(crate) a: f64,
    pub(crate) b: f64,
    /// Change in percent with its interval.
    pub(crate) change: [f64; 3],
    pub(crate) p: f64,
    pub(crate) verdict: Verdict,
}

pub(crate) fn side(value: f64) -> SideValue {
    SideValue {
        value,
        lowest: value,
        highest: value,
        runs: vec![value; 10],
        subject: Subject::Disk,
        printed: None,
        corrected: None,
    }
}

pub(crate) fn row(phase: &str, metric: Metric, cell: Cell, numbers: Numbers) -> Row {
    let [change, lowest, highest] = numbers.change;
    Row {
        cell,
        phase: phase.to_owned(),
        metric,
        a: Some(side(numbers.a)),
        b: Some(side(numbers.b)),
        change: Some(Change {
            scale: Scale::Percent,
            value: 100.0 * (numbers.b / numbers.a - 1.0),
            lowest: 100.0 * (numbers.b / numbers.a - 1.0),
            highest: 100.0 * (numbers.b / numbers.a - 1.0),
        }),
        blocks: Vec::new(),
        estimate: Some(Estimate {
            method: Method::Paired,
            change_percent: change,
            lowest_percent: lowest,
            highest_percent: highest,
            p_adjusted: numbers.p,
            blocks: 10,
            visible_percent: 2.1,
        }),
        effect_percent: Some(3.0),
        floor: None,
        floor_percent: None,
        verdict: Some(numbers.verdict),
        remarks: Vec::new(),
    }
}

pub(crate) fn threads(count: u32) -> Cell {
    Cell::new()
        .with("threads", count)
        .with("block_size_bytes", 131_072u32)
}

pub(crate) fn cannot_tell(reason: &str, runs_needed: u32) -> Verdict {
    Verdict::CannotTell {
        reasons: vec![reason.to_owned()],
        runs_needed: Some(runs_needed),
    }
}

fn rates() -> Vec<Row> {
    let rate = |threads_count, a: f64, b: f64, change, p, verdict| {
        let numbers = Numbers {
            a: a * MIB,
            b: b * MIB,
            change,
            p,
            verdict,
        };
        row(
            "random_read",
            metrics::RATE,
            threads(threads_count),
            numbers,
        )
    };
    vec![
        rate(1, 41.2, 41.0, [-0.5, -1.4, 0.6], 1.0, Verdict::Same),
        rate(2, 60.0, 59.8, [-0.3, -1.2, 0.7], 1.0, Verdict::Same),
        rate(4, 88.0, 60.2, [-31.6, -33.9, -29.1], 0.004, Verdict::Worse),
        rate(8, 96.3, 31.7, [-67.1, -68.0, -66.2], 0.004, Verdict::Worse),
    ]
}

fn latencies() -> Vec<Row> {
    let latency = |metric: Metric, a: f64, b: f64, verdict: Option<Verdict>| {
        let change = 100.0 * (b / a - 1.0);
        let numbers = Numbers {
            a: a * 1e6,
            b: b * 1e6,
            change: [change, change - 20.0, change + 20.0],
            p: 0.004,
            verdict: Verdict::Worse,
        };
        let judged = verdict.is_some();
        let mut row = row("random_read", metric, threads(8), numbers);
        row.verdict = verdict;
        if !judged {
            row.estimate = None;
        }
        row
    };
    vec![
        latency(metrics::LATENCY_MEAN, 11.8, 36.7, Some(Verdict::Worse)),
        latency(metrics::LATENCY_P99, 42.1, 310.4, Some(Verdict::Worse)),
        latency(metrics::LATENCY_P999, 88.0, 912.3, None),
        latency(metrics::LATENCY_MAX, 310.2, 4310.6, None),
    ]
}

fn writes() -> Vec<Row> {
    let write = |threads_count, a: f64, b: f64, change, p, verdict| {
        let numbers = Numbers {
            a: a * MIB,
            b: b * MIB,
            change,
            p,
            verdict,
        };
        row("write", metrics::RATE, threads(threads_count), numbers)
    };
    let reason = "after 10 blocks anything from -4.1 % to +1.4 % is possible";
    let mut small = write(
        4,
        12.0,
        11.7,
        [-2.5, -3.6, -1.4],
        0.012,
        Verdict::SlightlyWorse,
    );
    small.remarks.push(Remark {
        code: RemarkCode::Drift,
        text: "runs became slower with time (Kendall's tau -0.41)".to_owned(),
    });
    vec![
        write(
            1,
            1.43,
            1.41,
            [-1.4, -4.1, 1.4],
            0.41,
            cannot_tell(reason, 18),
        ),
        small,
        write(8, 11.9, 32.4, [172.7, 160.0, 187.0], 0.004, Verdict::Better),
    ]
}

fn id(text: &str) -> SessionId {
    let started = "2026-03-01T12:00:00Z".parse().unwrap();
    SessionId::new(started, u64::from(text.len() as u32))
}

/// 6.10-rc2 against 6.9 in ten blocks, one boot per run.
pub(crate) fn kernels() -> Comparison {
    let mut rows = rates();
    rows.extend(latencies());
    rows.extend(writes());
    Comparison {
        a: "6.9".to_owned(),
        b: "6.10-rc2".to_owned(),
        sessions: (vec![id("one")], vec![id("one")]),
        factors: vec![SideFactor {
            factor: "kernel".to_owned(),
            a: Some(Level::Text("6.9".to_owned())),
            b: Some(Level::Text("6.10-rc2".to_owned())),
        }],
        replication: Replication {
            unit: Unit::Boot,
            a: 10,
            b: 10,
            order: RunOrder::Interleaved,
        },
        environment: EnvironmentDifference {
            differs: vec![Difference {
                key: "kernel.release".to_owned(),
                a: "6.9".to_owned(),
                b: "6.10-rc2".to_owned(),
                named: true,
                allowed: false,
            }],
            only_a: Vec::new(),
            only_b: Vec::new(),
        },
        parameters: Vec::new(),
        rows,
        doubts: Vec::new(),
        unmatched: Vec::new(),
        decompositions: Vec::new(),
        shifts: Vec::new(),
        stalls: vec![Stalls {
            cell: threads(8),
            phase: "random_read".to_owned(),
            direction: Direction::Read,
            a: StallCounts {
                operations: 262_144,
                over_2s: 0,
                over_10s: 0,
            },
            b: StallCounts {
                operations: 262_144,
                over_2s: 3,
                over_10s: 0,
            },
            p: None,
        }],
        noise: Vec::new(),
        notes: Vec::new(),
    }
}

/// Lowest and highest with their threads, average, geometric mean and its interval, and
/// W/B/S/? of the random reads: (0.995 x 0.997 x 0.684 x 0.329)^(1/4) = 0.687.
fn table() -> SummaryTable {
    let at = |percent, threads: u32| {
        let cell = Cell::new().with("threads", threads);
        Some(AtCell { percent, cell })
    };
    let counts = |worse, same| Counts {
        worse,
        same,
        ..Counts::default()
    };
    SummaryTable {
        phase: "random_read".to_owned(),
        metric: metrics::RATE,
        fixed: Cell::new().with("block_size_bytes", 131_072u32),
        parameter: Some("threads".to_owned()),
        rows: vec![
            Summary {
                name: "6.9".to_owned(),
                repeats_baseline: true,
                cells: 4,
                lowest: at(-1.1, 8),
                highest: at(1.4, 1),
                average_percent: Some(0.1),
                geometric_percent: Some(0.1),
                geometric_interval_percent: Some((-0.6, 0.8)),
                counts: counts(0, 4),
            },
            Summary {
                name: "6.10-rc2".to_owned(),
                repeats_baseline: false,
                cells: 4,
                lowest: at(-67.1, 8),
                highest: at(-0.3, 2),
                average_percent: Some(-24.875),
                geometric_percent: Some(-31.26),
                geometric_interval_percent: Some((-32.2, -30.4)),
                counts: counts(2, 2),
            },
        ],
        equal: Some(EqualRange {
            lowest_percent: -7.2,
            highest_percent: 7.1,
            from: "from 12 A/A blocks".to_owned(),
        }),
    }
}

/// The same as a matrix of one candidate, with the table over thread counts.
pub(crate) fn matrix() -> Matrix {
    let mut comparison = kernels();
    comparison.rows[3].floor = Some(Floor {
        cell: threads(8),
        phase: "random_read".to_owned(),
        metric: metrics::RATE.name.to_string(),
        deviation: 0.012,
        blocks: 12,
        from: "calibration k3f9".to_owned(),
    });
    let fact = |key: &str, value: &str| Fact {
        key: key.to_owned(),
        value: value.to_owned(),
    };
    Matrix {
        baseline: "6.9".to_owned(),
        comparisons: vec![comparison],
        tables: vec![table()],
        projection: Projection::default(),
        family: Family {
            control: Control::AnyFalseAlarm,
            judged: 9,
            blocks: Some((10, 10)),
            visible_percent: Some((2.1, 2.1)),
            seed: Seed(4711),
        },
        setup: Setup {
            common: vec![
                fact("target.filesystem", "xfs"),
                fact("target.filesystem.mount_options", "rw,noatime"),
                fact("target.devices", "nvme0n1p2 nvme0n1"),
                fact("target.nvme0n1.scheduler", "mq-deadline"),
                fact("target.nvme0n1.queue.nr_requests", "256"),
                fact("cpu.online", "4"),
                fact("memory.total", "16 GiB"),
                fact("host_name", "bigbox"),
            ],
            commands: vec![(
                id("one"),
                [
                    "tiobench",
                    "--size",
                    "32768",
                    "--threads",
                    "1,2,4,8",
                    "--block",
                    "131072",
                ]
                .map(str::to_owned)
                .to_vec(),
            )],
        },
    }
}
