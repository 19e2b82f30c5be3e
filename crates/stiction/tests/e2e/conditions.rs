//! Files and data as they were asked for, and the age of filesystems, from the command
//! line to the journal.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use stiction_core::{Applied, Session, Trial, TrialOutcome};

use crate::lab::{Lab, assert_empty, assert_says, entries};
use crate::signals::journals;

/// What a command of blocks, run in `place`, leaves in the journal, whatever its verdict.
fn session(lab: &Lab, words: &[&str], place: &Path) -> Session {
    let output = lab.process(words).current_dir(place).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert!(
        [0, 1, 3, 4].contains(&output.status.code().unwrap()),
        "{talk}"
    );
    let journal = &entries(&journals(lab))[0];
    stiction_journal::read_journal(journal).unwrap().session
}

fn level(trial: &Trial, factor: &str) -> String {
    trial.cell.get(factor).unwrap().to_string()
}

/// In every combination; of what was never written, reads are known to be no reads.
#[test]
fn root_files_and_data_are_factors_of_a_specification() {
    const SPEC: &str = r#"
blocks = 1
workload = "tiobench"
arguments = "--size 4M --threads 1 --skip 0,1 --random 50 --runs 1"
scratch_size = "32MiB"
[factors]
filesystem = ["ext4"]
file_state = ["overwritten", "preallocated", "holes"]
compressibility = [0, 60]
"#;
    testkit::require_root!();
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let place = folder.path().join("place");
    fs::create_dir(&place).unwrap();
    let spec = folder.path().join("spec.toml");
    fs::write(&spec, format!("directory = {place:?}\n{SPEC}")).unwrap();
    let session = session(&lab, &["run", spec.to_str().unwrap()], &place);
    assert_empty(&place);
    assert_eq!(session.trials.len(), 6);
    for trial in &session.trials {
        assert_eq!(trial.outcome, TrialOutcome::Completed);
        let state = level(trial, "file_state");
        let percent = level(trial, "compressibility");
        let found: Vec<&Applied> = trial.conditions.iter().collect();
        assert!(found[0].is_in_force(), "{found:?}");
        let laid = trial.phase("lay_down").unwrap();
        assert_eq!(
            laid.job
                .as_ref()
                .unwrap()
                .shape
                .compress_percent
                .to_string(),
            percent
        );
        let read = trial.phase("read").unwrap();
        let never_written = if state == "overwritten" { 0 } else { 4 << 20 };
        assert_eq!(
            read.witnesses.unwritten_bytes,
            Some(never_written),
            "{state}"
        );
    }
    let report = lab.json(["show", session.header.id.as_str()], 0);
    for result in report["results"].as_array().unwrap() {
        let phases = result["phases"].as_array().unwrap();
        let read = phases.iter().find(|phase| phase["name"] == "read").unwrap();
        let caveats = read["caveats"].as_array().unwrap();
        let codes: BTreeSet<&str> = caveats
            .iter()
            .map(|caveat| caveat["code"].as_str().unwrap())
            .collect();
        let is_written = result["cell"]["file_state"] == "overwritten";
        assert_eq!(codes.contains("holes-read"), !is_written, "{read:#}");
        assert_eq!(result["conditions"].as_array().unwrap().len(), 2);
    }
}

/// A job of fio that checks what it reads needs files with its own data, and such trials
/// are skipped; others find their files as they were asked for.
#[test]
fn root_jobs_of_fio_take_conditions_or_say_why_not() {
    testkit::require_root!();
    let folder = testkit::scratch_folder();
    let jobs = folder.path().join("jobs.fio");
    let place = folder.path().join("place");
    fs::create_dir(&place).unwrap();
    let run = |text: &str| {
        fs::write(&jobs, text).unwrap();
        let lab = Lab::new();
        let (jobs, place) = (jobs.to_str().unwrap(), place.to_str().unwrap());
        let words = [
            "ab",
            "--blocks=1",
            "--scratch-size=32MiB",
            "--set=filesystem=ext4",
            "--a-set=file_state=overwritten",
            "--b-set=file_state=holes",
            "fio",
            "--dir",
            place,
            jobs,
        ];
        session(&lab, &words, folder.path())
    };
    let plain = run("[one]\nrw=randwrite\nbs=4k\nsize=1000k\nfilesize=1000001\nnrfiles=1\n");
    for trial in &plain.trials {
        assert_eq!(trial.outcome, TrialOutcome::Completed);
        assert!(trial.conditions[0].is_in_force(), "{:?}", trial.conditions);
    }
    let checked = run("[one]\nrw=read\nbs=4k\nsize=1m\nverify=crc32c\n");
    for trial in &checked.trials {
        let TrialOutcome::Skipped(reason) = &trial.outcome else {
            panic!("{:?}", trial.outcome);
        };
        assert_says(&reason.detail, &["file_state: a job checks what it reads"]);
    }
}

#[test]
fn root_an_aged_filesystem_is_told_with_the_trial() {
    testkit::require_root!();
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let place = folder.path().to_str().unwrap();
    let words = [
        "ab",
        "--blocks=2",
        "--scratch-size=32MiB",
        "--set=filesystem=ext4",
        "--a-set=file_age=none",
        "--b-set=file_age=60%x1",
        "--dir",
        place,
        "--",
        "true",
        "---",
        "true",
    ];
    let session = session(&lab, &words, folder.path());
    assert_empty(folder.path());
    let aged: Vec<&Applied> = session
        .trials
        .iter()
        .flat_map(|trial| &trial.settings)
        .filter(|applied| applied.asked.level == "60%x1")
        .collect();
    assert_eq!(aged.len(), 2);
    for applied in &aged {
        assert!(applied.is_in_force(), "{applied:?}");
        let mut figures = applied.also_changed.iter();
        let runs = figures.find(|moved| moved.name == "free_runs").unwrap();
        let (before, after): (u64, u64) =
            (runs.before.parse().unwrap(), runs.after.parse().unwrap());
        assert!(after > before, "{runs}");
    }
    // Each block has another history.
    assert_ne!(aged[0].also_changed, aged[1].also_changed);
}
