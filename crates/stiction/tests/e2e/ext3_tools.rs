//! write-and-fsync, time-read and their relatives.

use std::fs;

use testkit::scratch_folder;

use crate::lab::{Lab, assert_empty, assert_fits, words};
use crate::running::Running;
use crate::signals::{journals, kept_phases};

/// Everything that the import finds in a text: elapsed, user and system seconds.
fn imported(lab: &Lab, text: &str) -> Vec<[f64; 3]> {
    let folder = scratch_folder();
    let file = folder.path().join("times.txt");
    fs::write(&file, text).unwrap();
    let json = lab.json(words([&"import", &file]), 0);
    let id = json["files"][0]["sessions"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let session = lab.json(["show", &id], 0);
    let trials = session["results"].as_array().unwrap();
    let figure = |trial: &serde_json::Value, name: &str| {
        trial["phases"][0]["figures"][name]["value"]
            .as_f64()
            .unwrap()
    };
    trials
        .iter()
        .map(|trial| ["elapsed_s", "cpu_user_s", "cpu_system_s"].map(|name| figure(trial, name)))
        .collect()
}

#[test]
fn write_and_fsync_says_written_and_durable() {
    let (lab, folder) = (Lab::new(), scratch_folder());
    let arguments = ["write-and-fsync", "--size=4", "--chunk=64K", "--runs=2"];
    let arguments = arguments.map(std::ffi::OsString::from);
    let arguments = arguments.into_iter().chain([folder.path().into()]);
    let text = lab.output(arguments.clone(), 0);
    assert_fits(&text);
    assert!(
        text.contains("written  durable") || text.contains("written durable"),
        "{text}"
    );
    assert!(
        text.lines()
            .last()
            .unwrap()
            .contains("written and durable, median of 2")
    );
    let json = lab.json(arguments, 0);
    let figures = &json["results"][0]["phases"][0]["figures"];
    let value = |name: &str| figures[name]["value"].as_f64().unwrap();
    assert_eq!(value("bytes"), f64::from(4 << 20));
    assert_eq!(value("operations_count"), 64.0);
    assert!(value("until_written_s") < value("elapsed_s"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Two workers have a line each and one together, in each shell's layout, and the
/// import reads the times that were stored.
#[test]
fn classic_times_come_back_through_the_import() {
    let (lab, folder) = (Lab::new(), scratch_folder());
    for shell in ["zsh", "bash", "gnu"] {
        let arguments = words([
            &"write-and-fsync",
            &"--classic",
            &"-m2",
            &"-f",
            &"--files=2",
            &format!("--time={shell}"),
            &folder.path(),
        ]);
        let text = lab.output(arguments, 0);
        let times = imported(&lab, &text);
        assert_eq!(times.len(), 3, "{text}");
        let stored = lab.json(["show", "latest"], 0);
        assert!(stored.is_object());
        let [elapsed, ..] = times[2];
        assert!(
            times.iter().all(|[worker, ..]| *worker <= elapsed + 0.01),
            "{text}"
        );
    }
}

#[test]
fn time_read_reads_a_file_and_leaves_it() {
    let (lab, folder) = (Lab::new(), scratch_folder());
    let file = folder.path().join("theirs");
    fs::write(&file, vec![3; 1 << 20]).unwrap();
    let text = lab.output(words([&"time-read", &"--runs=1", &file]), 0);
    assert_fits(&text);
    let json = lab.json(words([&"time-read", &"--classic", &"-n1", &file]), 0);
    let figures = &json["results"][0]["phases"][0]["figures"];
    assert_eq!(figures["operations_count"]["value"], 255.0);
    assert_eq!(fs::read(&file).unwrap(), vec![3; 1 << 20]);
    let talk = lab.talk(words([&"time-read", &folder.path().join("none")]), 2);
    assert!(talk.contains("No such file"), "{talk}");
    let talk = lab.talk(["write-and-fsync", "--classic"], 2);
    assert!(talk.contains("must be told how much"), "{talk}");
}

#[test]
fn parallel_tells_each_all_and_how_far_apart() {
    let (lab, one, other) = (Lab::new(), scratch_folder(), scratch_folder());
    let places = words([&one.path(), &other.path()]);
    let options = ["parallel", "--size=2", "--block=64K", "--runs=1"];
    let arguments = || options.map(Into::into).into_iter().chain(places.clone());
    let text = lab.output(arguments(), 0);
    assert_fits(&text);
    assert_eq!(text.matches("The first ended").count(), 2, "{text}");
    let json = lab.json(arguments(), 0);
    let workers = json["results"][0]["phases"][1]["workers"]
        .as_array()
        .unwrap();
    assert_eq!(workers.len(), 2);
    let classic = ["parallel", "--classic", "--size=2"].map(Into::into);
    let text = lab.output(classic.into_iter().chain(places.clone()), 0);
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(
        text.starts_with(
            "Completed writing 4 mbytes across 2 devices using 4 blocks of 1048576 in "
        )
    );
    let file = one.path().join("f");
    fs::write(&file, "x").unwrap();
    let talk = lab.talk(words([&"parallel", &file, &other.path()]), 2);
    assert!(talk.contains("do not mix"), "{talk}");
    assert_eq!(fs::read(&file).unwrap(), b"x");
}

#[test]
fn pagecache_and_ladder_fit_the_screen_and_answer() {
    let (lab, folder) = (Lab::new(), scratch_folder());
    let text = lab.output(
        words([&"pagecache", &"--size=1", &"--seconds=20ms", &folder.path()]),
        0,
    );
    assert_fits(&text);
    assert!(text.contains("random touch"), "{text}");
    assert!(
        text.lines().last().unwrap().starts_with("A copy takes"),
        "{text}"
    );
    let text = lab.output(
        words([&"ladder", &"--size=1", &"--runs=1", &folder.path()]),
        0,
    );
    assert_fits(&text);
    for rung in ["cached", "uncached", "mmap", "direct", "io uring"] {
        assert!(text.contains(&format!("\n{rung} ")), "{rung} in\n{text}");
    }
    assert!(
        text.lines()
            .last()
            .unwrap()
            .contains("the page cache loses"),
        "{text}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let (lab, folder) = (Lab::new(), scratch_folder());
    let pipe = folder.path().join("pipe");
    let mode = rustix::fs::Mode::RWXU;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for command in ["time-read", "ladder", "parallel"] {
        lab.output(words([&command, &pipe]), 2);
    }
}

#[test]
fn tree_move_tells_moved_and_durable() {
    let (lab, from, to) = (Lab::new(), scratch_folder(), scratch_folder());
    let small = ["--files=40", "--size=1", "--runs=1"];
    let places = words([&"--from", &from.path(), &"--to", &to.path()]);
    let arguments = |more: &[&str]| {
        let words = ["tree-move"].iter().chain(&small).chain(more);
        let words: Vec<std::ffi::OsString> = words.map(Into::into).collect();
        words.into_iter().chain(places.clone())
    };
    let text = lab.output(arguments(&["--same-filesystem"]), 0);
    assert_fits(&text);
    assert!(
        text.lines()
            .last()
            .unwrap()
            .contains("every file came back"),
        "{text}"
    );
    let classic = lab.output(arguments(&["--same-filesystem", "--classic"]), 0);
    assert_eq!(imported(&lab, &classic).len(), 1, "{classic}");
    let refused = lab.output(arguments(&[]), 4);
    assert!(refused.contains("same filesystem"), "{refused}");
    assert_eq!(fs::read_dir(from.path()).unwrap().count(), 0);
}

/// Killed in whatever phase it is, each leaves at most what `clean` removes.
#[test]
fn what_a_kill_leaves_is_removed() {
    let directory = scratch_folder();
    let place = directory.path();
    let runs = "--runs=100000";
    for arguments in [
        words([
            &"write-and-fsync",
            &"--size=1",
            &"--chunk=4K",
            &runs,
            &place,
        ])
        .to_vec(),
        words([&"time-read", &"--size=1", &runs, &place]).to_vec(),
        words([
            &"parallel",
            &"--size=1",
            &"--read",
            &"--block=4K",
            &runs,
            &place,
        ])
        .to_vec(),
        words([&"pagecache", &"--size=1", &"--seconds=3600", &place]).to_vec(),
        words([&"ladder", &"--size=1", &runs, &place]).to_vec(),
        words([
            &"tree-move",
            &"--from",
            &place,
            &"--to",
            &place,
            &"--same-filesystem",
            &"--files=2000",
            &"--size=1",
            &runs,
        ])
        .to_vec(),
    ] {
        let lab = Lab::new();
        lab.output(["list"], 0);
        let mut run = Running::start(lab.process(&arguments));
        run.until(&journals(&lab), || kept_phases(&lab) > 0);
        run.send(rustix::process::Signal::KILL);
        run.end();
        lab.output(["clean"], 0);
        assert_empty(place);
    }
}
