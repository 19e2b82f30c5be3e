//! bonnie as its user sees it, and beside the program that it does again.

use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use testkit::{LoopFilesystem, LoopKind, Throttle, ThrottleLimits};

use crate::counters::{phase, phases};
use crate::lab::{Lab, assert_empty, assert_fits, assert_says, entries, words};
use crate::running::Running;
use crate::signals::{journals, kept_phases};

/// 4 MiB, 1024 files, a little by bytes, and a few seeks.
const SMALL: [&str; 7] = ["bonnie", "-s", "4::200", "-n", "1", "-f", "8K"];
const IO_PHASES: [&str; 6] = ["putc", "put_block", "rewrite", "getc", "get_block", "seeks"];

fn small<'a>(more: &[&'a str], directory: &'a Path) -> Vec<&'a str> {
    let directory = directory.to_str().expect("a path of ASCII");
    [&SMALL[..], more, &[directory]].concat()
}

#[test]
fn a_run_shows_every_phase_and_leaves_nothing() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let text = lab.output(small(&["--runs=2"], directory.path()), 0);
    assert_fits(&text);
    assert_says(
        &text,
        &[
            "stiction bonnie",
            "2 runs: rates are medians",
            "One file: 1 thread, 8 KiB blocks, 4 MiB in all",
            "rewrite in place",
            "Many files: 1 (thousands of 1024",
            "delete, random",
        ],
    );
    assert!(!text.contains("+++"), "nothing is hidden for being fast");
    assert_empty(directory.path());
    let report = lab.json(["show", "latest"], 0);
    assert_eq!(report["workload"], "bonnie");
    assert_eq!(report["results"].as_array().unwrap().len(), 2);
    assert_eq!(phases(&report).len(), 24);
    let created = phase(&report, "create_random");
    assert_eq!(created["figures"]["operations_count"]["value"], 1024.0);
    assert_fits(&lab.output(["show", "latest"], 0));
    assert_says(&lab.output(["list"], 0), &["bonnie"]);
}

#[test]
fn each_program_prints_its_own_report() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    for (program, head, fields) in [
        ("bonnie", "Machine    MB K/sec %CPU", None),
        ("bonnie-64", "Machine    GB M/sec %CPU", None),
        (
            "1.03e",
            "Version 1.03e       ------Sequential Output",
            Some(27),
        ),
        ("1.96", "Concurrency   1     -Per Chr-", Some(48)),
        ("2.00a", "Name:Size etc        /sec %CP", Some(50)),
    ] {
        let classic = format!("--classic={program}");
        let more = [classic.as_str(), "-m", "box"];
        let text = lab.output(small(&more, directory.path()), 0);
        assert_says(&text, &[head]);
        let last = text.lines().last().unwrap();
        if let Some(fields) = fields {
            assert_eq!(last.split(',').count(), fields, "{last}");
            assert_eq!(last.split(',').filter(|field| *field == "box").count(), 1);
        } else {
            assert!(last.starts_with("box"), "{last}");
        }
        assert_empty(directory.path());
    }
    // The last session in another layout, and the same from a file.
    let line = lab.output(["show", "latest", "--layout", "bonnie++-csv-2.00a"], 0);
    let file = lab.store().join("results.csv");
    std::fs::write(&file, &line).unwrap();
    let file = file.to_str().unwrap();
    let table = |of: &str| lab.output(["show", of, "--layout", "bonnie++-2.00a"], 0);
    assert_eq!(table(file), table("latest"));
    let page = lab.output(["show", file, "--layout", "bonnie++-html"], 0);
    assert_says(&page, &["<table", "<td>box</td>"]);
    let row = lab.output(["show", file, "--layout", "bonnie-html"], 0);
    assert_eq!(row.matches("<TD>").count(), 14);
    // A line is imported as what it is.
    assert_says(&lab.output(["import", file], 0), &["bonnie++-csv"]);
}

#[test]
fn what_is_no_bonnie_session_has_no_such_layout() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let typed = "tiobench --size=1 --threads=1 --runs=1 --random=10 --dir";
    let typed: Vec<&str> = typed
        .split(' ')
        .chain([directory.path().to_str().unwrap()])
        .collect();
    lab.output(typed, 0);
    let talk = lab.talk(["show", "latest", "--layout", "bonnie"], 2);
    assert_says(&talk, &["is not a bonnie session"]);
    for wrong in [
        &["bonnie", "--chunk=3000"][..],
        &["bonnie", "--layout=bonnie"],
        &["bonnie", "-n", "1:2:3"],
        &["bonnie", "--quick", "--classic"],
    ] {
        lab.output(wrong, 2);
    }
}

#[test]
fn the_plan_has_every_choice() {
    let lab = Lab::new();
    let plan: serde_json::Value =
        serde_json::from_str(&lab.output(["bonnie", "--dump", "--seed=7", "--classic=bonnie"], 0))
            .unwrap();
    assert_eq!(plan["workload"], "bonnie");
    assert_eq!(plan["parameters"]["seekers"], 3);
    assert_eq!(plan["parameters"]["seeks"]["count"], 4000);
    assert_eq!(plan["parameters"]["chunk_bytes"], 8192);
}

/// In whatever phase it dies, what it leaves is one directory of ours.
#[test]
fn what_a_kill_leaves_is_cleaned() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    // 1.03e syncs nothing, so its phases are short.
    let typed = "bonnie --classic=1.03e -s 4::500 -f 8K -n 1:100:0:7 --runs=1000";
    let typed: Vec<&str> = typed
        .split(' ')
        .chain([directory.path().to_str().unwrap()])
        .collect();
    for finished in [0, 3, 7, 10] {
        lab.output(["list"], 0);
        let before = kept_phases(&lab);
        let mut run = Running::start(lab.process(&typed));
        run.until(directory.path(), || !entries(directory.path()).is_empty());
        run.until(&journals(&lab), || kept_phases(&lab) >= before + finished);
        run.send(Signal::KILL);
        run.end();
        assert_eq!(entries(directory.path()).len(), 1);
        assert_says(&lab.output(["clean"], 0), &["1 removed"]);
        assert_empty(directory.path());
    }
}

/// A program of Bonnie++'s with this on its stdin: its stdout, if it had nothing to say
/// on stderr.
fn accepted_by(program: &str, input: &str) -> String {
    use std::io::Write as _;
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}"));
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && complaint.is_empty(),
        "{program}: {complaint}"
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Beside Bonnie++ 2.00a on a device held to 10 MiB/s, past the page cache, by the one
/// phase for which its `-D` works: both find the ceiling, to within what the kernel's
/// slices of 100 ms and the sync leave open. Chunks are large, since the kernel lets a
/// small one go each tick at most. And its own converters take our line.
#[test]
fn root_bonnie_plus_plus_measures_the_same_and_reads_our_lines() {
    testkit::require_root!();
    testkit::require_program!("bonnie++");
    testkit::require_program!("mkfs.ext4");
    const KIB_PER_S: f64 = 10_240.0;
    let lab = Lab::new();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 256 << 20);
    let directory = filesystem.path().to_str().unwrap();
    let limits = ThrottleLimits {
        write_bytes_per_s: 10 << 20,
        ..ThrottleLimits::default()
    };
    let throttle = match Throttle::new(filesystem.device().device_number(), limits) {
        Ok(throttle) => throttle,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let theirs = Command::new("bonnie++")
        .args(["-d", directory, "-s", "12:1024k:50:5", "-r", "0", "-n", "0"])
        .args(["-f", "-D", "-u", "root", "-m", "box", "-q"])
        .output()
        .expect("bonnie++ runs");
    let theirs = String::from_utf8_lossy(&theirs.stdout).into_owned();
    let typed = "bonnie --classic=2.00a --layout bonnie++-csv-2.00a -f --direct -m box -s 12:1024k:50:5 -n 0";
    let typed: Vec<&str> = typed.split(' ').chain([directory]).collect();
    let ours = lab.output(typed, 0);
    drop(throttle);

    let line = theirs.lines().last().expect("a line");
    let block = |line: &str| -> f64 {
        let field = line.split(',').nth(11).expect("the rate of block writes");
        field
            .parse()
            .unwrap_or_else(|_| panic!("{field} in {line}"))
    };
    for (whose, rate) in [("theirs", block(line)), ("ours", block(&ours))] {
        assert!(
            (rate / KIB_PER_S - 1.0).abs() < 0.2,
            "{whose}: {rate} KiB/s"
        );
    }

    let file = lab.store().join("theirs.csv");
    std::fs::write(&file, line).unwrap();
    let read = lab.output(words([&"import", &file]), 0);
    assert_says(&read, &["bonnie++-csv"]);
    let report = lab.json(["show", "latest"], 0);
    let names: Vec<&str> = phases(&report)
        .iter()
        .map(|phase| phase["name"].as_str().unwrap())
        .collect();
    assert!(
        names.iter().all(|name| IO_PHASES.contains(name)),
        "{names:?}"
    );

    let table = accepted_by("bon_csv2txt", &ours);
    assert_says(&table, &[&format!("{:.1}m", block(&ours) / 1024.0)]);
    assert_says(&accepted_by("bon_csv2html", &ours), &["<table", "box"]);
}
