//! What a right reading of the tables of 2002 and 2003 says comes out of comparing
//! them as they were posted.

use std::path::Path;

use stiction_analysis::Verdict;
use stiction_analysis::compare::{CompareOptions, Comparison, Row, Side, compare};
use stiction_analysis::decompose::{Decomposition, Efficiency, Moved};
use stiction_core::{
    Environment, Metric, Provenance, RECORD_FORMAT_VERSION, Session, SessionHeader, SessionId,
    metrics,
};

/// The "Mb" of contest: 1000 KiB.
const CONTEST_MB: f64 = 1_024_000.0;

fn import(name: &str) -> Session {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stiction-formats/tests/data");
    let text = std::fs::read_to_string(data.join(name)).expect(name);
    let mut sessions = stiction_formats::read(&text).sessions;
    let imported = sessions.pop().expect("a session in the text");
    let number = name
        .bytes()
        .fold(0, |sum, byte| sum * 31 % 99_991 + u64::from(byte));
    let started: jiff::Timestamp = "2002-11-30T10:59:12Z".parse().expect("a time");
    Session {
        header: SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, number),
            started,
            label: Some(name.to_owned()),
            command: Vec::new(),
            provenance: Provenance::Imported {
                file: name.to_owned(),
                layout: imported.layout,
            },
            plan: None,
            environment: Environment {
                stated: imported.stated,
                ..Environment::default()
            },
            invocation: None,
            caveats: imported.caveats,
        },
        trials: imported.trials,
        end: None,
        resumptions: Vec::new(),
    }
}

fn labels(session: &Session, a: &str, b: &str) -> Comparison {
    let side = |label| Side::labelled(session, label).expect(label);
    compare(&side(a), &side(b), &CompareOptions::default())
}

fn row<'a>(comparison: &'a Comparison, phase: &str, metric: &Metric) -> &'a Row {
    let rows = &comparison.rows;
    rows.iter()
        .find(|row| row.phase == phase && row.metric == *metric)
        .unwrap_or_else(|| panic!("no {phase} {} in {rows:?}", metric.name))
}

fn loaded<'a>(comparison: &'a Comparison, load: &str) -> &'a Decomposition {
    let all = &comparison.decompositions;
    all.iter()
        .find(|d| {
            d.cell
                .get("load")
                .is_some_and(|level| level.to_string() == load)
        })
        .unwrap_or_else(|| panic!("no {load} in {all:?}"))
}

#[track_caller]
fn about(found: f64, wanted: f64, give_or_take: f64) {
    assert!(
        (found - wanted).abs() <= give_or_take,
        "{found} is not {wanted}"
    );
}

/// Nothing is claimed where each figure stands for one run.
fn claims_nothing(comparison: &Comparison) {
    for row in &comparison.rows {
        let refused = row.verdict.as_ref().is_none_or(|verdict| {
            matches!(verdict, Verdict::CannotTell { .. }) && !verdict.reasons().is_empty()
        });
        assert!(refused, "{row:?}");
    }
}

#[test]
fn ext3_loses_efficiency_and_no_cpu() {
    let (ext2, ext3) = (
        import("contest-log-ext2.txt"),
        import("contest-log-ext3.txt"),
    );
    let found = compare(
        &Side::whole(&ext2),
        &Side::whole(&ext3),
        &CompareOptions::default(),
    );
    claims_nothing(&found);
    assert_eq!(found.unmatched, []);
    for decomposition in &found.decompositions {
        about(decomposition.cpu_ratio().unwrap(), 1.0, 0.02);
    }
    let half = loaded(&found, "io_halfmem");
    about(half.a.waiting_s.unwrap().middle(), 38.0, 0.5);
    about(half.b.waiting_s.unwrap().middle(), 196.0, 0.5);
    about(
        half.a.load_bytes_per_s.unwrap().middle() / CONTEST_MB,
        27.0,
        0.5,
    );
    about(
        half.b.load_bytes_per_s.unwrap().middle() / CONTEST_MB,
        18.5,
        0.1,
    );
    assert_eq!(half.moved, Some(Moved::Waiting));
    assert_eq!(half.efficiency, Some(Efficiency::Lost));
    let full = loaded(&found, "io_fullmem");
    about(full.a.waiting_s.unwrap().middle(), 57.0, 0.5);
    about(full.b.waiting_s.unwrap().middle(), 146.0, 0.5);
    assert_eq!(full.efficiency, Some(Efficiency::Lost));
    // No load wrote beside the others, and the time of the compile alone is its CPU's.
    assert_eq!(loaded(&found, "no_load").efficiency, None);
    about(
        loaded(&found, "no_load").a.waiting_s.unwrap().middle(),
        1.0,
        0.5,
    );
}

#[test]
fn the_table_and_the_log_of_contest_say_the_same() {
    let table = import("contest-ext2-ext3.txt");
    let from_table = labels(&table, "ext2", "ext3");
    assert_eq!(from_table.factors[0].factor, "filesystem");
    let (ext2, ext3) = (
        import("contest-log-ext2.txt"),
        import("contest-log-ext3.txt"),
    );
    let from_logs = compare(
        &Side::whole(&ext2),
        &Side::whole(&ext3),
        &CompareOptions::default(),
    );
    for load in ["no_load", "process_load", "io_halfmem", "io_fullmem"] {
        let (table, log) = (loaded(&from_table, load), loaded(&from_logs, load));
        assert_eq!(
            (table.a.waiting_s, table.b.cpu_s),
            (log.a.waiting_s, log.b.cpu_s)
        );
    }
    // The log as it was quoted and broken by mail is the log.
    let mailed = import("contest-log-ext3-quoted-wrapped.txt");
    let same = compare(
        &Side::whole(&ext3),
        &Side::whole(&mailed),
        &CompareOptions::default(),
    );
    assert!(
        same.rows
            .iter()
            .all(|row| row.change.is_none_or(|change| change.value == 0.0))
    );
}

#[test]
fn mm2_writes_9_5_times_and_reads_3_7_times_as_fast() {
    let session = import("tiobench-ext3-32-threads.txt");
    let found = labels(&session, "2.5.59", "2.5.59-mm2");
    claims_nothing(&found);
    let times = |phase| {
        row(&found, phase, &metrics::RATE)
            .change
            .unwrap()
            .ratio()
            .unwrap()
    };
    about(times("write"), 9.5, 0.05);
    about(times("read"), 3.7, 0.05);
    let efficiency = row(&found, "write", &metrics::CPU_EFFICIENCY);
    let mib = |value: f64| value / f64::from(1 << 20);
    assert_eq!(mib(efficiency.a.as_ref().unwrap().value), 20.0);
    assert_eq!(mib(efficiency.b.as_ref().unwrap().value), 94.0);
    // The posted averages are sums over three runs; what is compared are their thirds.
    let latency = row(&found, "write", &metrics::LATENCY_MEAN);
    about(latency.a.as_ref().unwrap().value, 83.976e6 / 3.0, 1.0);
    about(latency.b.as_ref().unwrap().value, 7.742e6 / 3.0, 1.0);
    let corrected = latency.b.as_ref().unwrap().corrected.as_deref();
    assert!(
        corrected.is_some_and(|why| why.contains("divided by 3")),
        "{corrected:?}"
    );
}

#[test]
fn the_tree_moves_4_8_times_as_long_for_waiting_alone() {
    let session = import("tree-move-and-bonnie.txt");
    let found = labels(&session, "2.5.7.virgin", "2.5.7.aa");
    claims_nothing(&found);
    let elapsed = row(&found, "command", &metrics::ELAPSED);
    about(elapsed.change.unwrap().ratio().unwrap(), 4.8, 0.05);
    let time = found
        .decompositions
        .iter()
        .find(|d| d.phase == "command")
        .unwrap();
    about(time.cpu_ratio().unwrap(), 1.0, 0.01);
    assert_eq!(time.moved, Some(Moved::Waiting));
}

#[test]
fn the_percent_table_shows_its_own_noise() {
    let session = import("osdl-percent-from-baseline.txt");
    let found = labels(&session, "linux-2.6.0-test8", "linux-2.6.0-test9");
    let spread = |metric: &Metric| {
        let mut repeats = found.noise.iter();
        let repeat = repeats
            .find(|repeat| repeat.metric == *metric)
            .expect("a repeat");
        assert_eq!(repeat.cell.get("kernel"), Some(&"linux-2.6.0-test9".into()));
        repeat.spread
    };
    about(spread(&metrics::CHANGE_HIGHEST), 26.0, 0.05);
    about(spread(&metrics::CHANGE_AVERAGE), 6.0, 0.05);
    // So "test8 -> test9" says nothing, and the row says so itself.
    let average = row(&found, "random_read", &metrics::CHANGE_AVERAGE);
    let reasons = average.verdict.as_ref().unwrap().reasons();
    let noise = reasons
        .iter()
        .find(|reason| reason.contains("6.0 points apart"));
    assert!(
        noise.is_some_and(|reason| reason.ends_with("this difference is no larger")),
        "{reasons:?}"
    );
}

#[test]
fn four_disks_take_a_quarter_less_cpu_and_o_direct_a_tenth_of_it() {
    let session = import("four-disks-time-lines.txt");
    let cpu = |a: &str, b: &str| {
        let found = labels(&session, a, b);
        claims_nothing(&found);
        found.decompositions[0].cpu_ratio().unwrap()
    };
    let highmem = "2.4.19-rc1+block_highmem";
    about(1.0 - cpu(highmem, "2.5.25"), 0.266, 0.001);
    about(1.0 - cpu(highmem, "2.5.25+some stuff"), 0.270, 0.001);
    about(cpu("2.5.25", "2.5.25+O_DIRECT"), 0.1, 0.015);
    // The two kernels below ran different commands.
    let other = labels(&session, highmem, "2.4.19-rc1");
    assert_eq!((other.rows.len(), other.unmatched.len()), (0, 2));
}
