//! The list of sessions, and the account of an import.

mod build;

use build::{on, quick_session, session};
use stiction_core::{Caveat, CaveatCode, Subject, Summary};
use stiction_report::{
    ImportedFile, ImportedSession, Judged, Listed, Style, UnreadLine, import, list,
};

#[test]
fn a_list_has_a_line_for_what_it_is_and_one_for_its_figures() {
    let session = quick_session();
    let judged = Judged::by(&session, |_, _| on(Subject::Disk, ""));
    let mut summary = Summary::from(&session);
    summary.workload = "quick".to_owned();
    summary.label = Some("before".to_owned());
    let quick = Listed {
        summary,
        headline: judged.headline(),
        can_go_on: false,
    };
    let mut summary = Summary::from(&build::session_on("2.5.62", "ext3"));
    summary.workload = "tiobench".to_owned();
    summary.label = Some("a label that is long".to_owned());
    summary.trials.failed = 2;
    let failed = Listed {
        summary,
        headline: None,
        can_go_on: false,
    };
    let mut summary = Summary::from(&session);
    summary.outcome = None;
    summary.kernel_release = None;
    let cut_off = Listed {
        summary,
        headline: None,
        can_go_on: false,
    };
    let expected = "\
session (UTC)        what     label        on          outcome
20021130-105912-7000 quick    before       ext4 ~/data completed
  read: disk 3.05 GiB/s; write: disk 1.77 GiB/s; commit: disk 1.21 ms p50
20021130-105912-7000 tiobench a lab.. long ext3 /mnt   2 failed
  2.5.62
20021130-105912-7000 unknown               ext4 ~/data cut off
3 sessions
";
    assert_eq!(list(&[quick, failed, cut_off], Style::Plain), expected);
    assert_eq!(list(&[], Style::Plain), "No sessions\n");
}

fn unread(line: usize, text: &str, reason: &str) -> UnreadLine {
    UnreadLine {
        line,
        text: text.to_owned(),
        reason: reason.to_owned(),
    }
}

#[test]
fn an_import_says_what_it_could_not_read_and_where() {
    let file = ImportedFile {
        file: "post.txt".to_owned(),
        sessions: vec![ImportedSession {
            id: session().header.id,
            layout: "tiobench-posted".to_owned(),
            trials: 3,
            figures: 42,
            corrected: 12,
            caveats: vec![Caveat::new(
                CaveatCode::SummedOverRuns,
                "latencies were added up over 3 runs",
            )],
        }],
        unread: vec![
            unread(
                1,
                "Quad P3 Xeon (4GB ram)  8 GB files  4K blocksize  32 threads",
                "prose",
            ),
            unread(2, "Rate = MB/sec  latency in milliseconds", "prose"),
            unread(4, "and so on", "prose"),
            unread(20, "2.4.19  x  y", "2 fields where 7 are needed"),
        ],
        messages: vec!["the head of the second table is shifted by two columns".to_owned()],
    };
    let nothing = ImportedFile {
        file: "empty.txt".to_owned(),
        ..ImportedFile::default()
    };
    let expected = "\
post.txt
  20021130-105912-7000 tiobench-posted: 3 rows, 42 figures, 12 of them corrected
  ! summed-over-runs: latencies were added up over 3 runs
  the head of the second table is shifted by two columns
  not read, lines 1 to 2 (prose): Quad P3 Xeon (4GB ram).. blocksize  32 threads
  not read, line 4 (prose): and so on
  not read, line 20 (2 fields where 7 are needed): 2.4.19  x  y
empty.txt
  nothing in it was recognised
Read 42 figures in 1 session; 4 lines not read
";
    assert_eq!(import(&[file, nothing], Style::Plain), expected);
}
