//! fio's traces, played: against fio itself, and against arithmetic.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::lab::Lab;

/// Bytes and operations of reads and writes, as fio's JSON has them, and its syncs.
fn moved(json: &Value) -> [u64; 5] {
    let job = &json["jobs"][0];
    let of = |way: &str, figure: &str| job[way][figure].as_u64().unwrap();
    [
        of("read", "io_bytes"),
        of("read", "total_ios"),
        of("write", "io_bytes"),
        of("write", "total_ios"),
        of("sync", "total_ios"),
    ]
}

fn fio(folder: &Path, words: &[&str]) -> Value {
    let output = Command::new("fio")
        .args(["--name=a", "--output-format=json"])
        .args(words)
        .current_dir(folder)
        .output()
        .expect("fio starts");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap()
}

/// A lab, a place to play in, and a trace of these lines.
fn traced(text: &str) -> (Lab, TempDir, PathBuf) {
    let (lab, place) = (Lab::new(), TempDir::new().unwrap());
    let trace = lab.store().join("t.log");
    fs::write(&trace, text).unwrap();
    (lab, place, trace)
}

fn words(place: &Path, trace: &Path, options: &[&str]) -> Vec<String> {
    let trace = format!("--read_iolog={}", trace.display());
    let first = ["fio", "--dir", place.to_str().unwrap(), "--name=a", &trace];
    let all = first.iter().chain(options);
    all.map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_trace_that_fio_wrote_is_played_as_fio_plays_it() {
    let folder = TempDir::new().unwrap();
    let recorded = fio(
        folder.path(),
        &[
            "--rw=randrw",
            "--bsrange=1k-8k",
            "--bs_unaligned=1",
            "--size=300k",
            "--nrfiles=3",
            "--fsync=9",
            "--write_iolog=t.log",
        ],
    );
    let text = fs::read_to_string(folder.path().join("t.log")).unwrap();
    let played = fio(folder.path(), &["--read_iolog=t.log"]);
    let wanted = moved(&played);
    assert_eq!(wanted[..4], moved(&recorded)[..4]);
    for options in [
        &[][..],
        &["--replay_no_stall=1"],
        &["--ioengine=io_uring", "--iodepth=4"],
    ] {
        let (lab, place, trace) = traced(&text);
        let options = [options, &["--output-format=json"]].concat();
        let output = lab.output(words(place.path(), &trace, &options), 0);
        let json: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(moved(&json), wanted, "{options:?}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}

/// Operations at 0, 100 and 250 ms: at half the speed the last begins after 500 ms, and
/// at no time of their own all are done before that.
#[test]
fn operations_begin_at_their_moments() {
    let text = "fio version 3 iolog\n0 /x/a add\n0 /x/a write 0 4096\n100000 /x/a read 0 4096\n\
                250000 /x/a write 4096 512\n";
    let (lab, place, trace) = traced(text);
    let play = |options: &[&str]| {
        let report = lab.json(words(place.path(), &trace, options), 0);
        let phases = report["results"][0]["phases"].as_array().unwrap().clone();
        phases
            .into_iter()
            .find(|phase| phase["name"] == "a")
            .unwrap()
    };
    let elapsed_ns = |phase: &Value| phase["elapsed_ns"].as_u64().unwrap();
    assert!(elapsed_ns(&play(&[])) >= 250_000_000);
    let slow = play(&["--replay_time_scale=50"]);
    assert!(elapsed_ns(&slow) >= 500_000_000);
    let worker = &slow["workers"][0];
    assert_eq!(worker["operations"], 3);
    assert_eq!(worker["bytes"], 4096 + 4096 + 512);
    let late = |phase: &Value| phase["figures"].get("lateness_ns_mean").is_some();
    assert!(late(&slow));
    assert!(!late(&play(&["--replay_no_stall=1"])));
    // The time is up between the first and the second.
    let cut = play(&["--runtime=50ms"]);
    assert_eq!(cut["workers"][0]["operations"], 1);
}

#[test]
fn a_broken_trace_is_an_error_with_its_line() {
    let (lab, place, trace) = traced("fio version 3 iolog\n0 a add\n0 a raed 0 4096\n");
    let text = lab.output(words(place.path(), &trace, &[]), 2);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("t.log:3:1: `raed` is no action"), "{text}");
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}
