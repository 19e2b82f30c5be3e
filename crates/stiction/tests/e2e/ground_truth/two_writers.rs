//! The story of 2003: what was written in turns is read at a fraction of the rate.

use std::path::Path;

use serde_json::Value;
use stiction_core::Seed;
use testkit::{Disk, LoopFilesystem, LoopKind};

use super::figure;
use crate::counters::phase;
use crate::lab::{Lab, assert_empty, assert_says, squeezed};

/// Where the job files of docs/2003-story.md are.
fn jobs(name: &str) -> std::path::PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("the repository")
        .join("docs/2003-story")
        .join(name)
}

fn measured(lab: &Lab, name: &str, place: &Path) -> Value {
    let file = jobs(name);
    let words: [&std::ffi::OsStr; 5] = [
        "fio".as_ref(),
        file.as_os_str(),
        "--dir".as_ref(),
        place.as_os_str(),
        "--size=1m".as_ref(),
    ];
    lab.json(words, 0)
}

/// How far the files of the phase are intermingled, 0 to 1, by the formula of
/// `Layout::interleave_ratio`, from the counts in the report.
fn intermingled(phase: &Value) -> f64 {
    let layout = &phase["witnesses"]["layout"];
    let count = |name: &str| layout[name].as_f64().expect("a count");
    let least = count("owner_changes_min");
    (count("owner_changes") - least) / (count("owner_changes_max") - least)
}

/// xfs places each direct write that extends a file right behind the last one, whosever it
/// was. Each block of one file lies behind a block of the other then, and on a disk costs
/// a revolution: 4 KiB in 8.5 ms are 0.48 MB/s, where the platter passes 40.
#[test]
fn root_files_written_in_turn_are_read_at_a_block_a_revolution() {
    testkit::require_root!();
    testkit::require_program!(LoopKind::Xfs.mkfs());
    let lab = Lab::new();
    let disk = Disk::of_2003(Seed(2003));
    let filesystem = LoopFilesystem::on_disk(LoopKind::Xfs, 512 << 20, disk);
    let apart = measured(&lab, "one-after-the-other.fio", filesystem.path());
    let in_turn = measured(&lab, "in-turn.fio", filesystem.path());
    assert_empty(filesystem.path());

    let [a, b] = [&apart, &in_turn].map(|report| report["id"].as_str().expect("an id"));
    let said = squeezed(&lab.output(["explain", a, b], 0));
    assert_says(
        &said,
        &[
            "intermingled 0.00 in A and 1.00 in B",
            "more seeking for each byte in B",
        ],
    );

    let [apart, in_turn] = [&apart, &in_turn].map(|report| phase(report, "read"));
    assert_eq!(intermingled(apart), 0.0);
    assert!(intermingled(in_turn) > 0.99, "{}", intermingled(in_turn));
    let [fast, slow] = [apart, in_turn].map(|phase| figure(phase, "rate_bytes_per_s"));
    let block_a_revolution = 4096.0 / (60.0 / 7200.0 + 8192.0 / 40e6);
    // Readahead asks for many at once; those that arrive out of order cost more.
    let share = slow / block_a_revolution;
    assert!(
        (0.6..1.05).contains(&share),
        "{slow} of {block_a_revolution} bytes/s"
    );
    assert!(fast > 10.0 * slow, "{fast} against {slow} bytes/s");

    // Why it is slow, from one run a side: how the files lie comes first.
    let explained = lab.json(["explain", a, b], 0);
    let phases = explained["phases"].as_array().expect("phases").iter();
    let mut reads = phases.filter(|phase| phase["phase"] == "read");
    let first = &reads.next().expect("the read")["readings"][0];
    assert_eq!(first["theme"], "layout", "{first}");
    let text = lab.output(["explain", a, b], 0);
    let answer = text.trim_end().lines().last().unwrap_or_default();
    assert!(answer.contains("layout of the files"), "{text}");
}
