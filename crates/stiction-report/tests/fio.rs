//! What is said of job files.

#[path = "build/fio.rs"]
mod fio;

use fio::{RING, linted, read};
use stiction_report::{Style, WIDTH, fio_errors, fio_lint, json};

const TWO_WAVES: &str = "\
[global]
size=64m
[reads]
rw=randread
numjobs=4
iodepth=32
time_based
runtime=30
[writes]
stonewall
rw=write
direct=1
bs=1m
verify=md5
";

fn text(jobs: &str) -> String {
    let (resolved, lint) = linted(jobs);
    fio_lint(&resolved, &lint, Style::Plain)
}

#[test]
fn a_job_has_a_line_and_the_sum_comes_last() {
    let text = text(RING);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..3],
        [
            "job   clones region   moves depth longest ends by        on",
            "reads      2 64 MiB 128 MiB    16  30.0 s amount or time device",
            "  reads: lays out 128 MiB",
        ]
    );
    assert_eq!(
        lines.last(),
        Some(&"1 job, 128 MiB moved, 30.0 s at most: 0 failures, 1 doubt, 0 notes")
    );
}

#[test]
fn findings_name_their_place_and_what_to_change() {
    let text = text(TWO_WAVES);
    assert!(
        text.contains(
            "doubt jobs.fio:6:1: [reads] iodepth=32 comes to 1: this ioengine does one\n      \
             operation at a time\n      use io_uring"
        ),
        "{text}"
    );
    assert!(text.contains("4 not 128"), "{text}");
    assert!(
        text.contains("writes: reads back to check 64 MiB"),
        "{text}"
    );
    let waves: Vec<&str> = text
        .lines()
        .take(3)
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    assert_eq!(waves, ["wave", "1", "2"]);
    assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
}

#[test]
fn a_default_names_the_jobs_that_it_is_in_force_for() {
    let text = text(TWO_WAVES);
    let of_one = "\n  direct=0: I/O goes through the page cache (reads)\n";
    assert!(text.contains(of_one), "{text}");
    let of_all = "\n  ioengine=psync: one pread or pwrite at a time, whatever iodepth says\n";
    assert!(text.contains(of_all), "{text}");
}

#[test]
fn errors_stand_with_their_lines_and_are_counted() {
    let errors = read("[x]\nsize=1m\nrw=wrte\nfoo=1\n").unwrap_err();
    let text = fio_errors(&errors, Style::Plain);
    assert!(text.starts_with("error jobs.fio:"), "{text}");
    assert!(text.contains("jobs.fio:3:4: rw=wrte"), "{text}");
    assert!(text.contains("jobs.fio:4:1: `foo` is no option"), "{text}");
    assert!(text.ends_with("\nIt does not run: 2 errors\n"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&json::fio_errors(&errors)).unwrap();
    let lines: Vec<_> = (json["errors"].as_array().unwrap().iter())
        .map(|error| error["line_number"].as_u64().unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.contains(&3) && lines.contains(&4), "{lines:?}");
    assert_eq!(json["jobs"], serde_json::json!([]));
}
