//! write-and-fsync, time-read and their relatives.

use std::fs;

use testkit::scratch_folder;

use crate::lab::{Lab, assert_fits, words};

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
