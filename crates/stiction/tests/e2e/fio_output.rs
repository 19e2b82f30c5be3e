//! Sessions in fio's formats, held against fio's own report of the same jobs, and given
//! to what reads fio's reports.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::lab::{Lab, entries};

/// A queue, a mix, syncs, clones and a barrier.
const JOBS: &str = "\
[global]
size=1m
bs=4k
[mix]
rw=randrw
ioengine=io_uring
iodepth=4
[syncs]
stonewall
rw=write
fsync=16
numjobs=2
group_reporting
";

/// A lab with a session of [`JOBS`], and the job file.
fn ran() -> (Lab, TempDir) {
    let lab = Lab::new();
    let place = TempDir::new().unwrap();
    std::fs::write(place.path().join("jobs.fio"), JOBS).unwrap();
    let directory = place.path().to_str().unwrap();
    let jobs = format!("{directory}/jobs.fio");
    lab.output(["fio", "--dir", directory, &jobs], 0);
    (lab, place)
}

/// What fio prints for the same job file.
fn fio(place: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("fio");
    command.args(arguments).arg("jobs.fio").current_dir(place);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Every path in a document with the type of what is there. Elements of a list share
/// theirs, and so do bins, whose keys are numbers.
fn shape(value: &Value, path: &str, shapes: &mut BTreeSet<(String, &'static str)>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "fraction",
        Value::Number(_) => "whole number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    };
    shapes.insert((path.to_owned(), kind));
    match value {
        Value::Array(list) => list.iter().for_each(|one| shape(one, path, shapes)),
        Value::Object(object) if !path.ends_with("/bins") => {
            for (key, one) in object {
                shape(one, &format!("{path}/{key}"), shapes);
            }
        }
        _ => {}
    }
}

fn shapes(text: &str) -> BTreeSet<(String, &'static str)> {
    let report: Value = serde_json::from_str(text).unwrap();
    let mut shapes = BTreeSet::new();
    shape(&report, "", &mut shapes);
    shapes
}

#[test]
fn every_key_of_fio_is_there_with_its_type() {
    testkit::require_program!("fio");
    let (lab, place) = ran();
    for format in ["json", "json+"] {
        let theirs = fio(place.path(), &[&format!("--output-format={format}")]);
        let ours = lab.output(["show", "--format", &format!("fio-{format}")], 0);
        let theirs = shapes(&theirs[theirs.find('{').unwrap()..]);
        let ours = shapes(&ours);
        let missing: Vec<_> = theirs.difference(&ours).collect();
        assert_eq!(missing, Vec::<&(String, &str)>::new(), "{format}");
        assert!(theirs.len() > 150, "{theirs:?}");
    }
}

/// Amounts do not depend on how fast anything was.
#[test]
fn amounts_are_fios() {
    testkit::require_program!("fio");
    let (lab, place) = ran();
    let theirs = fio(place.path(), &["--output-format=json"]);
    let theirs: Value = serde_json::from_str(&theirs[theirs.find('{').unwrap()..]).unwrap();
    let ours: Value =
        serde_json::from_str(&lab.output(["show", "--format", "fio-json"], 0)).unwrap();
    assert_eq!(ours["global options"], theirs["global options"]);
    for job in [0, 1] {
        let (theirs, ours) = (&theirs["jobs"][job], &ours["jobs"][job]);
        for key in ["jobname", "groupid", "error", "latency_depth"] {
            assert_eq!(ours[key], theirs[key], "{key}");
        }
        let moved = |job: &Value, key: &str| {
            job["read"][key].as_u64().unwrap() + job["write"][key].as_u64().unwrap()
        };
        for key in ["io_bytes", "io_kbytes", "total_ios"] {
            assert_eq!(moved(ours, key), moved(theirs, key), "{key}");
        }
        for (name, value) in theirs["job options"].as_object().unwrap() {
            assert_eq!(ours["job options"][name], *value, "{name}");
        }
    }
    // 256 writes a clone.
    let syncs = ours["jobs"][1]["sync"]["total_ios"].as_u64().unwrap();
    assert_eq!(syncs, 2 * 256 / 16);
}

#[test]
fn terse_lines_have_the_fields_of_fio() {
    testkit::require_program!("fio");
    let (lab, place) = ran();
    for (version, format) in [("3", "fio-terse"), ("5", "fio-terse-5")] {
        let version = format!("--terse-version={version}");
        let arguments = ["--output-format=terse", &version];
        let theirs = fio(place.path(), &arguments);
        let ours = lab.output(["show", "--format", format], 0);
        assert_eq!(ours.lines().count(), 2);
        for (theirs, ours) in theirs.lines().zip(ours.lines()) {
            let fields = |line: &str| line.split(';').map(form).collect::<Vec<_>>();
            assert_eq!(fields(ours), fields(theirs), "{ours}\n{theirs}");
        }
    }
}

/// A field with every number in it as `#`; of a percentile the percent stays.
fn form(field: &str) -> String {
    let (before, number) = match field.split_once("%=") {
        Some((percent, number)) => (format!("{percent}%="), number),
        None => (String::new(), field),
    };
    match number.trim_end_matches('%').parse::<f64>() {
        Ok(_) => {
            let decimals = number.split_once('.').map_or(0, |(_, rest)| rest.len());
            format!("{before}#.{decimals}")
        }
        Err(_) => "text".to_owned(),
    }
}

/// One of the scripts that Debian has beside fio, which are Python.
fn script(name: &str, arguments: &[&str], place: &Path) -> Output {
    let mut command = Command::new("/usr/bin/python3");
    command
        .arg(Path::new("/usr/bin").join(name))
        .args(arguments)
        .current_dir(place);
    command.output().unwrap()
}

/// Whether the scripts can run: some need a module beyond what Python has.
fn has_python(module: &str) -> bool {
    let mut command = Command::new("/usr/bin/python3");
    let imported = command.args(["-c", &format!("import {module}")]).output();
    imported.is_ok_and(|output| output.status.success())
}

#[test]
fn the_script_that_takes_bins_apart_takes_ours() {
    testkit::require_program!("fio_jsonplus_clat2csv");
    if !has_python("six") {
        testkit::skip!("Python's module six is not there");
    }
    let (lab, place) = ran();
    let report = place.path().join("report.json");
    let path = report.to_str().unwrap();
    let printed = lab.output(["show", "--format", "fio-json+", "--output", path], 0);
    assert_eq!(printed, "");
    let made = script(
        "fio_jsonplus_clat2csv",
        &["report.json", "r.csv"],
        place.path(),
    );
    assert!(made.status.success(), "{made:?}");
    let checked = script(
        "fio_jsonplus_clat2csv",
        &["report.json", "r.csv", "--validate"],
        place.path(),
    );
    assert!(checked.status.success(), "{checked:?}");
    let words = String::from_utf8_lossy(&checked.stdout);
    assert_eq!(words, "r_job0.csv validated\nr_job1.csv validated\n");
    // The last line of its table counts every write of the second job.
    let table = std::fs::read_to_string(place.path().join("r_job1.csv")).unwrap();
    let heads: Vec<&str> = table.lines().next().unwrap().split(", ").collect();
    let column = heads
        .iter()
        .position(|head| *head == "write_clat_ns_cumulative");
    let cumulative = table.lines().skip(1).filter_map(|line| {
        let cell = line.split(", ").nth(column.unwrap())?;
        cell.trim().parse::<u64>().ok()
    });
    assert_eq!(cumulative.max(), Some(512));
}

#[test]
fn the_script_that_plots_logs_reads_ours() {
    testkit::require_program!("fio2gnuplot");
    let (lab, place) = ran();
    let prefix = place.path().join("run");
    let prefix = prefix.to_str().unwrap();
    let files = lab.output(["export", "latest", "--logs", prefix], 0);
    let expected: Vec<String> = ["bw", "iops", "lat", "clat", "clat_hist"]
        .iter()
        .map(|kind| format!("{prefix}_{kind}.1.log"))
        .collect();
    let listed: Vec<&str> = files.lines().take(5).collect();
    assert_eq!(listed, expected);
    let plots = place.path().join("plots");
    std::fs::create_dir(&plots).unwrap();
    let arguments = ["-k", "-p", "run_bw.*.log", "-d", "plots"];
    let plotted = script("fio2gnuplot", &arguments, place.path());
    assert!(plotted.status.success(), "{plotted:?}");
    let words = String::from_utf8_lossy(&plotted.stdout);
    assert!(words.contains("run_bw.1.log"), "{words}");
    // One data point for each job: both were over within one window.
    let averages: Vec<PathBuf> = entries(&plots);
    let average = averages
        .iter()
        .find(|path| path.extension().is_some_and(|it| it == "average"));
    let average = std::fs::read_to_string(average.expect("a table of averages")).unwrap();
    let points: Vec<&str> = average
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    let log = std::fs::read_to_string(format!("{prefix}_bw.2.log")).unwrap();
    assert!(points.len() >= 2, "{average}");
    assert!(
        log.lines().all(|line| line.split(", ").count() == 5),
        "{log}"
    );
}

#[test]
fn what_is_written_is_read_back() {
    let (lab, place) = ran();
    let report = place.path().join("report.json");
    let path = report.to_str().unwrap();
    lab.output(["show", "--format", "fio-json+", "--output", path], 0);
    let ours = lab.json(["show"], 0);
    lab.output(["import", path, "--label", "back"], 0);
    let back = lab.json(["show", "back"], 0);
    assert_eq!(back["workload"], "fio-json+");
    let phase = |report: &Value, name: &str| {
        let phases = report["results"][0]["phases"].as_array().unwrap();
        let found = phases.iter().find(|phase| phase["name"] == name);
        found
            .unwrap_or_else(|| panic!("{name} in {report}"))
            .clone()
    };
    for name in ["mix", "syncs"] {
        let (ours, back) = (phase(&ours, name), phase(&back, name));
        let figure = |phase: &Value, metric: &str| phase["figures"][metric]["value"].as_f64();
        for metric in ["bytes", "operations_count"] {
            assert_eq!(figure(&back, metric), figure(&ours, metric), "{metric}");
        }
        for (metric, share) in [
            // Whole bytes per second of each direction, and whole milliseconds.
            ("rate_bytes_per_s", 1e-3),
            ("operations_per_s", 1e-3),
            ("latency_ns_mean", 1e-6),
            ("latency_ns_max", 1e-6),
            // fio's bins are 1.6 % wide.
            ("latency_ns_p50", 0.017),
        ] {
            let (ours, back) = (
                figure(&ours, metric).unwrap(),
                figure(&back, metric).unwrap(),
            );
            assert!(
                (ours - back).abs() <= share * ours,
                "{metric}: {ours} {back}"
            );
        }
    }
}

#[test]
fn formats_that_contradict_each_other_are_refused() {
    let (lab, _place) = ran();
    let talk = lab.talk(["show", "--format", "fio-json", "--json"], 2);
    assert!(talk.contains("choose one"), "{talk}");
    let talk = lab.talk(["show", "--format", "fio-json", "--layout", "0.3.3"], 2);
    assert!(talk.contains("cannot be used with"), "{talk}");
    let talk = lab.talk(["export", "latest", "--logs", "x", "--window", "0s"], 2);
    assert!(talk.contains("above 0"), "{talk}");
    let table = crate::lab::seed("contest-ext2-ext3.txt");
    lab.output(["import", table.to_str().unwrap(), "--label", "table"], 0);
    let talk = lab.talk(["show", "table", "--format", "fio-json"], 2);
    assert!(
        talk.contains("no phase of this session has a record"),
        "{talk}"
    );
}
