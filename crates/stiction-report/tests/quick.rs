//! The one screen of `stiction quick`.

mod build;

use build::{doubting, on, quick_session, session};
use stiction_analysis::doubt::Finding;
use stiction_core::{
    Caveat, CaveatCode, Phase, PhaseOutcome, Session, SessionEnd, SessionOutcome, SkipCode,
    SkipReason, Subject, Trial, TrialOutcome,
};
use stiction_report::{Judged, Style, quick};

fn screen(session: &Session, finding: impl Fn(&Phase) -> Finding) -> String {
    let judged = Judged::by(session, |_, phase| finding(phase));
    quick(&judged, Style::Plain)
}

#[test]
fn a_sound_run_is_one_screen() {
    let expected = "\
stiction quick ~/data                                       20021130-105912-7000
ext4 (noatime) on nvme0n1p2 (Example SSD 1TB, 932 GiB, PCIe 8.0 GT/s x4,
scheduler none, write-back cache)
kernel 6.12.9, 8 CPUs, 32 GiB memory

                     what       rate      ops     p50     p99   p99.9     max
sequential write     disk 1.77 GiB/s 1.81 k/s 4.20 ms 9.90 ms 21.0 ms 38.0 ms
sequential read      disk 3.05 GiB/s 3.12 k/s 2.50 ms 3.10 ms 4.05 ms 5.20 ms
random read 1 deep   disk 45.7 MiB/s 11.7 k/s 82.1 us  121 us  290 us 4.10 ms
random read 32 deep  disk 1.03 GiB/s  269 k/s  117 us  240 us  612 us 5.30 ms
random write 1 deep  disk  190 MiB/s 48.6 k/s 18.4 us 41.0 us  377 us 9.10 ms
random write 32 deep disk  812 MiB/s  208 k/s  140 us  430 us 2.90 ms 14.0 ms
commit               disk               812/s 1.21 ms 4.50 ms 9.80 ms 21.0 ms
1 MiB sequential, 4 KiB random, direct; a commit is a 4 KiB write + fdatasync

Commits: half within 1.21 ms, 1 in 100 over 4.50 ms; one writer makes 812/s.
No doubts: in every phase the device moved what was asked.
Saved as 20021130-105912-7000; `stiction show 7000` has every figure.
read: disk 3.05 GiB/s; write: disk 1.77 GiB/s; commit: disk 1.21 ms p50
";
    let text = screen(&quick_session(), |_| {
        on(Subject::Disk, "it moved all of it")
    });
    assert_eq!(text, expected);
}

#[test]
fn each_number_has_the_word_for_what_was_measured() {
    let mut session = quick_session();
    session.trials[0].phases[4].outcome = PhaseOutcome::Failed {
        message: "write data/1 at 4096: Input/output error (errno 5)".to_owned(),
    };
    let text = screen(&session, |phase| match phase.name.as_str() {
        "sequential_read" => on(Subject::Cache, "the device read 0 B of 1 GiB asked"),
        "random_read_deep" => on(
            Subject::Limiter,
            "the rate is 99 % of io.max of /sys/fs/cgroup/x",
        ),
        "commit" => doubting(
            on(Subject::Disk, ""),
            Caveat::new(CaveatCode::TooFewSamples, "90 operations: no p99"),
        ),
        _ => on(Subject::Disk, ""),
    });
    let (_, below) = text.split_once("\n\n").unwrap();
    assert_eq!(
        below,
        "                     what          rate      ops     p50     p99   p99.9     max
sequential write     disk    1.77 GiB/s 1.81 k/s 4.20 ms 9.90 ms 21.0 ms 38.0 ms
sequential read      cache   3.05 GiB/s 3.12 k/s 2.50 ms 3.10 ms 4.05 ms 5.20 ms
random read 1 deep   disk    45.7 MiB/s 11.7 k/s 82.1 us  121 us  290 us 4.10 ms
random read 32 deep  limiter 1.03 GiB/s  269 k/s  117 us  240 us  612 us 5.30 ms
random write 1 deep  failed
random write 32 deep disk     812 MiB/s  208 k/s  140 us  430 us 2.90 ms 14.0 ms
commit               disk                  812/s 1.21 ms 4.50 ms 9.80 ms 21.0 ms
1 MiB sequential, 4 KiB random, direct; a commit is a 4 KiB write + fdatasync

Commits: half within 1.21 ms, 1 in 100 over 4.50 ms; one writer makes 812/s.
- random write depth 1 failed: write data/1 at 4096: Input/output error (errno
  5)
- sequential read (cache): the device read 0 B of 1 GiB asked.
- random read 32 deep (limiter): the rate is 99 % of io.max of /sys/fs/cgroup/x.
- commit (too-few-samples): 90 operations: no p99.
Saved as 20021130-105912-7000; `stiction show 7000` has every figure.
read: cache 3.05 GiB/s; write: disk 1.77 GiB/s; commit: disk 1.21 ms p50
"
    );
}

#[test]
fn the_screen_has_24_lines_however_much_there_is_to_doubt() {
    let long = "the device read 0 B of 1 GiB asked and ".repeat(9);
    let text = screen(&quick_session(), |phase| {
        CaveatCode::ALL.iter().fold(
            on(Subject::Unknown, &format!("{} {long}", phase.name)),
            |finding, &code| doubting(finding, Caveat::new(code, long.clone())),
        )
    });
    assert!(text.lines().count() <= 24, "{text}");
    assert!(text.contains(" more: `stiction show "));
}

#[test]
fn a_run_without_numbers_says_why() {
    let mut session = session();
    session.trials = vec![Trial {
        outcome: TrialOutcome::Skipped(SkipReason::new(
            SkipCode::NoSpace,
            "3 MiB are free, and 16 MiB are needed",
        )),
        ..Trial::new(stiction_core::Cell::new(), 0)
    }];
    let text = screen(&session, |_| on(Subject::Disk, ""));
    assert_eq!(
        text.lines().last(),
        Some("Nothing was measured: 3 MiB are free, and 16 MiB are needed")
    );
}

#[test]
fn an_interrupted_run_says_so_and_shows_what_had_finished() {
    let mut session = quick_session();
    session.trials[0].phases.truncate(2);
    session.end = Some(SessionEnd {
        outcome: SessionOutcome::Interrupted,
        at: session.header.started,
        message: None,
    });
    let text = screen(&session, |_| on(Subject::Disk, ""));
    assert!(text.contains("\n- The run was interrupted; what had finished is shown.\n"));
    assert_eq!(
        text.lines().last(),
        Some("read: disk 3.05 GiB/s; write: disk 1.77 GiB/s")
    );
}
