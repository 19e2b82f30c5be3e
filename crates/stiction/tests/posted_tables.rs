//! Tables that were posted in 2002 and 2003, from their text to what is printed of
//! them: a reader finds in the comparison what the posters found by hand.

use stiction_analysis::compare::{CompareOptions, Side, matrix};
use stiction_core::{
    Environment, Provenance, RECORD_FORMAT_VERSION, Session, SessionHeader, SessionId,
};
use stiction_report::{Shown, Style};

macro_rules! posted {
    ($file:literal) => {
        include_str!(concat!("../../stiction-formats/tests/data/", $file))
    };
}

/// The first session of a text, as an import makes it.
fn session(text: &str) -> Session {
    let imported = stiction_formats::read(text);
    let first = imported.sessions.into_iter().next().unwrap();
    let started = "2003-02-04T12:00:00Z".parse().unwrap();
    Session {
        header: SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, 7),
            started,
            label: None,
            command: Vec::new(),
            provenance: Provenance::Imported {
                file: "post.txt".to_owned(),
                layout: first.layout,
            },
            plan: None,
            environment: Environment {
                stated: first.stated,
                ..Environment::default()
            },
            invocation: None,
            caveats: first.caveats,
        },
        trials: first.trials,
        end: None,
        resumptions: Vec::new(),
    }
}

const EVERYTHING: Shown = Shown {
    all: true,
    why: true,
};

/// What is printed of two labels of one text.
fn compared(text: &str, a: &str, b: &str) -> String {
    let session = session(text);
    let side = |label| Side::labelled(&session, label).unwrap();
    let found = matrix(&side(a), &[side(b)], &CompareOptions::default());
    stiction_report::comparison(&found, EVERYTHING, Style::Plain)
}

/// Whether the words of `line` stand in the report in this order, whatever the gaps.
fn says(report: &str, heading: &str, line: &str) -> bool {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, part) = report.split_once(heading).unwrap();
    squeeze(part).contains(line)
}

/// 2.5.59-mm2 writes 9.5 times and reads 3.7 times as fast as 2.5.59, CPU efficiency
/// 94 against 20; latencies had been added up over three runs.
#[test]
fn tiobench_of_three_kernels() {
    let text = posted!("tiobench-ext3-32-threads.txt");
    let report = compared(text, "2.5.59", "2.5.59-mm2");
    for line in [
        "? write rate 3.42 MiB/s 32.39 MiB/s +847 % 9.47x",
        "? write cpu efficiency 20 MiB/s/CPU 94 MiB/s/CPU +370 % 4.70x",
        "? write latency mean 27.992 ms 2.581 ms",
        "? read rate 9.50 MiB/s 35.28 MiB/s +271 % 3.71x",
    ] {
        assert!(says(&report, "2.5.59-mm2", line), "{line}\n{report}");
    }
    assert_eq!(report.lines().last(), Some("CANNOT TELL: all 6 figures"));
    let shown = stiction_report::show(
        &stiction_report::Judged::examine(&session(text)),
        Style::Plain,
    );
    assert!(says(
        &shown,
        "kernel 2.5.59-mm2",
        "corrected latency mean, latency over 2s, latency over 10s: printed as a sum over runs; \
         divided by 3"
    ));
    let doubt = "(summed-over-runs): latencies were printed as sums and divided by 3";
    assert!(says(&report, "Doubts", doubt), "{report}");
}

/// No difference in the CPU time of the compile, but under io_halfmem it waits 38 s
/// on ext2 and 196 s on ext3.
#[test]
fn contest_on_ext2_and_ext3() {
    let report = compared(posted!("contest-ext2-ext3.txt"), "ext2", "ext3");
    let halfmem = "\n  job, load io_halfmem";
    for line in [
        "of it CPU 268 s 266 s -1.1 %",
        "of it waiting 38 s 196 s +412 % 5.12x moved",
    ] {
        assert!(says(&report, halfmem, line), "{line}\n{report}");
    }
    assert!(says(
        &report,
        halfmem,
        "What changed the time is waiting; the CPU time hardly changed."
    ));
}

/// Two rows of the table are of one configuration: its noise is 26 points in one
/// cell and 6 in the average.
#[test]
fn percentages_with_a_kernel_that_stands_in_the_table_twice() {
    let report = compared(
        posted!("osdl-percent-from-baseline.txt"),
        "linux-2.6.0-test8",
        "linux-2.6.0-test9",
    );
    for line in [
        "change highest: 26.0 points over 2 runs",
        "change average: 5.99 points over 2 runs",
    ] {
        assert!(says(&report, "\nNoise: ", line), "{line}\n{report}");
    }
    assert!(says(&report, "\nWhy", "and this difference is no larger"));
    assert_eq!(report.lines().last(), Some("CANNOT TELL: all 3 figures"));
}

/// Moving a tree takes 4.8 times as long on 2.5.7.aa, with equal CPU time: waiting.
#[test]
fn moving_a_tree_on_two_kernels() {
    let report = compared(
        posted!("tree-move-and-bonnie.txt"),
        "2.5.7.virgin",
        "2.5.7.aa",
    );
    for line in [
        "? command elapsed, command testo 642.697 s 3077.58 s +379 % 4.79x",
        "of it CPU 81.3 s 81.0 s -0.4 %",
        "What changed the time is waiting; the CPU time hardly changed.",
    ] {
        assert!(says(&report, "2.5.7.aa", line), "{line}\n{report}");
    }
}

/// A quarter less CPU in 2.5.25 than in 2.4.19-rc1, and O_DIRECT takes a tenth of it.
#[test]
fn time_lines_of_four_disks() {
    let text = posted!("four-disks-time-lines.txt");
    let written = compared(text, "2.4.19-rc1+block_highmem", "2.5.25");
    for line in [
        "of it CPU 107 s 78.4 s -26.6 % moved",
        "What changed the time is CPU time; the waiting went the other way.",
    ] {
        assert!(says(&written, "\nWhat moved", line), "{line}\n{written}");
    }
    let direct = compared(text, "2.5.25", "2.5.25+O_DIRECT");
    let line = "of it CPU 78.4 s 6.84 s -91.3 % 0.087x moved";
    assert!(says(&direct, "\nWhat moved", line), "{direct}");
}
