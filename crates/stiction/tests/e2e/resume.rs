//! Sessions that were cut off, and go on.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;
use testkit::{ScratchLoop, TmpfsMount};

use crate::lab::{Lab, assert_empty, assert_says, squeezed, words};
use crate::running::Running;
use crate::signals::{journals, kept_phases};

/// A job that notes its argument, and kills who runs it where `kill` names the number of
/// notes that there are then.
const JOB: &str = r#"
echo "$1" >> notes
n=$(wc -l < notes)
runs() { test "$(cat /proc/$1/comm)" = stiction; }
who=$PPID
runs $who || who=$(awk '{print $4}' /proc/$who/stat)
if grep -qx "$n" kill && runs $who; then kill -9 $who; fi
"#;

/// Two commands in `blocks` blocks that are killed in their runs of these numbers, from 1.
struct Jobs {
    lab: Lab,
    folder: tempfile::TempDir,
}

impl Jobs {
    fn killed_in(runs: &[u32]) -> Self {
        let jobs = Self {
            lab: Lab::new(),
            folder: testkit::scratch_folder(),
        };
        fs::write(jobs.path("job.sh"), JOB).unwrap();
        let numbers: String = runs.iter().map(|number| format!("{number}\n")).collect();
        fs::write(jobs.path("kill"), numbers).unwrap();
        jobs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn notes(&self) -> Vec<String> {
        let notes = fs::read_to_string(self.path("notes")).unwrap_or_default();
        notes.lines().map(str::to_owned).collect()
    }

    /// Runs it in `directory`: the code it ends with, none where it is killed, and what it
    /// says.
    fn run(&self, arguments: &[&str], directory: &Path) -> (Option<i32>, String, String) {
        let mut command = self.lab.process(arguments);
        let output = command.current_dir(directory).output().unwrap();
        let text = |bytes: &[u8]| squeezed(&String::from_utf8_lossy(bytes));
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }

    fn exported(&self) -> Value {
        let text = self.lab.output(["export", "latest"], 0);
        let exported: Value = serde_json::from_str(&text).unwrap();
        exported["session"].clone()
    }

    /// The session is complete, in the order of its plan, each trial once.
    fn assert_whole(&self, trials: usize) {
        let session = self.exported();
        assert_eq!(session["end"]["outcome"], "completed");
        let all = session["trials"].as_array().unwrap();
        assert_eq!(all.len(), trials);
        let planned = session["header"]["plan"]["trials"].as_array().unwrap();
        for (trial, planned) in all.iter().zip(planned) {
            assert_eq!(trial["outcome"], "completed");
            for key in ["cell", "repetition", "block"] {
                assert_eq!(trial[key], planned[key]);
            }
        }
        let words = &session["header"]["invocation"];
        assert!(words.is_null(), "what was typed is not exported: {words}");
    }
}

/// It ends with a verdict, whichever it is: the figures are chance.
#[track_caller]
fn assert_judged(code: Option<i32>, talk: &str) {
    assert!(
        [Some(0), Some(1), Some(3)].contains(&code),
        "{code:?}: {talk}"
    );
}

#[test]
fn killed_twice_it_is_completed_and_nothing_runs_twice_that_had_finished() {
    let jobs = Jobs::killed_in(&[1, 7, 8]);
    let here = jobs.folder.path();
    let typed = [
        "run",
        "--blocks=6",
        "--command",
        "sh job.sh A",
        "--command",
        "sh job.sh B",
    ];
    let (code, ..) = jobs.run(&typed, here);
    assert_eq!(code, None, "killed");
    assert_says(
        &jobs.lab.output(["list"], 0),
        &["cut off", "stiction run --resume "],
    );
    assert_says(
        &squeezed(&jobs.lab.output(["show", "latest"], 0)),
        &["The run was cut off", "` goes on with it."],
    );
    // From another directory: its commands are relative to where they were typed.
    for _ in 0..2 {
        let (code, ..) = jobs.run(&["run", "--resume", "latest"], Path::new("/"));
        assert_eq!(code, None, "killed");
    }
    let (code, output, talk) = jobs.run(&["run", "--resume", "latest"], Path::new("/"));
    assert_judged(code, &talk);
    assert_says(&output, &["elapsed"]);
    assert_eq!(jobs.notes().len(), 12 + 3);
    jobs.assert_whole(12);
    let shown = squeezed(&jobs.lab.output(["show", "latest"], 0));
    assert_says(
        &shown,
        &[
            "later: 0 trials stood, 1 trial began anew",
            "later: 5 trials stood, 1 trial began anew",
        ],
    );
    assert!(!shown.contains("--resume"), "{shown}");
    let report = jobs.lab.json(["show", "latest"], 0);
    assert_eq!(report["resumptions"].as_array().unwrap().len(), 3);
    assert!(report["can_go_on"].is_null());
    let (code, _, talk) = jobs.run(&["run", "--resume", "latest"], here);
    assert_eq!(code, Some(2));
    assert_says(&talk, &["cannot go on: it is complete"]);
}

/// The file of the configurations may be gone, and other options are not taken.
#[test]
fn what_is_needed_is_in_the_session() {
    let jobs = Jobs::killed_in(&[3]);
    let here = jobs.folder.path();
    let spec = r#"
blocks = 6
[[configuration]]
name = "a"
command = "sh job.sh A"
[[configuration]]
name = "b"
command = "sh job.sh B"
"#;
    fs::write(jobs.path("spec.toml"), spec).unwrap();
    let (code, ..) = jobs.run(&["run", "spec.toml"], here);
    assert_eq!(code, None, "killed");
    fs::remove_file(jobs.path("spec.toml")).unwrap();
    for option in ["--blocks=8", "--seed=1", "spec.toml"] {
        let (code, ..) = jobs.run(&["run", "--resume=latest", option], here);
        assert_eq!(code, Some(2), "{option}");
    }
    let (code, _, talk) = jobs.run(&["run", "--resume", "latest", "--json"], here);
    assert_judged(code, &talk);
    assert_eq!(jobs.notes().len(), 13);
    jobs.assert_whole(12);
}

/// Trials that are in no blocks.
#[test]
fn an_interrupted_benchmark_goes_on() {
    let lab = Lab::new();
    lab.output(["list"], 0);
    let directory = testkit::scratch_folder();
    let typed = words([
        &"tiobench",
        &"--size=4",
        &"--threads=1,2",
        &"--random=100",
        &"--runs=4",
        &"--dir",
        &directory.path(),
    ]);
    let mut run = Running::start(lab.process(typed));
    run.until(&journals(&lab), || kept_phases(&lab) > 4);
    run.send(Signal::INT);
    let ended = run.end();
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
    assert_says(&squeezed(&ended.output), &["--resume"]);
    lab.output(["run", "--resume", "latest"], 0);
    let report = lab.json(["show", "latest"], 0);
    assert_eq!(report["outcome"], "completed");
    let results = report["results"].as_array().unwrap();
    assert_eq!(results.len(), 8);
    assert!(results.iter().all(|trial| trial["outcome"] == "completed"));
    assert_eq!(report["resumptions"].as_array().unwrap().len(), 1);
    assert_empty(directory.path());
}

#[test]
fn what_would_not_be_the_same_is_refused_with_the_difference() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let jobs = folder.path().join("jobs.fio");
    let text = "[x]\nrw=read\nsize=${SIZE}\nruntime=3600\ntime_based\n";
    fs::write(&jobs, text).unwrap();
    lab.output(["list"], 0);
    let mut command = lab.process(words([
        &"fio",
        &"run",
        &jobs,
        &"--directory",
        &folder.path(),
    ]));
    command.env("SIZE", "2m");
    let mut run = Running::start(command);
    let begun = || !crate::lab::entries(&journals(&lab)).is_empty();
    run.until(&journals(&lab), begun);
    run.send(Signal::KILL);
    run.end();
    let mut again = lab.stiction(["run", "--resume", "latest"]);
    let assert = again.env("SIZE", "1m").assert().code(2);
    let talk = squeezed(&String::from_utf8_lossy(&assert.get_output().stderr));
    assert_says(
        &talk,
        &["its words make another plan", "2097152", "1048576"],
    );

    // Nor what was measured elsewhere.
    let other = Lab::new();
    let file = other.store().join("session.json");
    fs::write(&file, lab.output(["export", "latest"], 0)).unwrap();
    other.output(words([&"import", &file]), 0);
    let talk = other.talk(["run", "--resume", "latest"], 2);
    assert_says(&talk, &["does not hold what it takes to go on"]);
    lab.output(["clean"], 0);
}

#[test]
fn one_that_is_being_run_is_left_alone() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    lab.output(["list"], 0);
    let typed = words([&"quick", &"--seconds=3600", &"--size=8M", &directory.path()]);
    let mut run = Running::start(lab.process(typed));
    run.until(&journals(&lab), || kept_phases(&lab) > 0);
    let name = crate::lab::entries(&journals(&lab)).remove(0);
    let id = name.file_stem().unwrap().to_string_lossy().into_owned();
    let talk = lab.talk(["run", "--resume", &id], 2);
    assert_says(&talk, &["still going on"]);
    run.send(Signal::KILL);
    run.end();
    lab.output(["clean"], 0);
    assert_empty(directory.path());
}

/// Wherever in its changes to the machine it is killed: what they were is put back, and the
/// session is completed.
#[test]
fn root_killed_at_its_changes_it_puts_back_and_goes_on() {
    testkit::require_root!();
    for changes in [1, 3, 4, 6, 8, 11] {
        let jobs = Jobs::killed_in(&[]);
        jobs.lab.output(["list"], 0);
        let undo = jobs.lab.store().join("undo");
        fs::create_dir(&undo).unwrap();
        let typed = [
            "ab",
            "--blocks=2",
            "--scratch-size=32MiB",
            "--set=filesystem=ext2",
            "--a-set=scheduler=none",
            "--b-set=scheduler=mq-deadline",
            "--",
            "true",
            "---",
            "true",
        ];
        let mut command = jobs.lab.process(typed);
        command.current_dir(jobs.folder.path());
        let mut run = Running::start(command);
        let written = || -> usize {
            let texts = crate::lab::entries(&undo).into_iter();
            // A file may have got another name meanwhile.
            let texts = texts.map(|path| fs::read_to_string(path).unwrap_or_default());
            texts.map(|text| text.matches('\n').count()).sum()
        };
        run.until(&undo, || written() > changes);
        run.send(Signal::KILL);
        run.end();
        let (code, _, talk) = jobs.run(&["run", "--resume", "latest"], Path::new("/"));
        assert_judged(code, &talk);
        jobs.assert_whole(4);
        let mounts = fs::read_to_string("/proc/mounts").unwrap();
        let folder = jobs.folder.path().to_str().unwrap();
        assert!(!mounts.contains(folder), "{mounts}");
        assert_eq!(crate::lab::entries(&undo), Vec::<PathBuf>::new());
        let mut left = crate::lab::entries(jobs.folder.path());
        left.retain(|path| !path.ends_with("job.sh") && !path.ends_with("kill"));
        assert_eq!(left, Vec::<PathBuf>::new());
    }
}

/// The disk under the store fills up in the middle of a run, and has room again later.
#[test]
fn root_a_full_disk_is_told_and_the_session_goes_on_when_it_has_room() {
    testkit::require_root!();
    let jobs = Jobs::killed_in(&[]);
    let tmpfs = TmpfsMount::new(1 << 20);
    let store = tmpfs.path().join("store");
    let fill = tmpfs.path().join("fill");
    let filling = format!(
        "sh job.sh A; if test $(wc -l < notes) -ge 5; then head -c 2M /dev/zero > {}; fi; true",
        fill.display()
    );
    let here = jobs.folder.path();
    let at = ["--store", store.to_str().unwrap()];
    let run = |words: &[&str]| jobs.run(&[&at[..], words].concat(), here);
    let typed = [
        "run",
        "--shell",
        "--blocks=6",
        "--command",
        &filling,
        "--command",
        "sh job.sh B",
    ];
    let (code, output, talk) = run(&typed);
    assert_eq!(code, Some(2), "{talk}");
    assert_says(&output, &["elapsed"]);
    assert_says(
        &talk,
        &["not kept whole", "No space left on device", "run --resume "],
    );
    let (code, output, talk) = run(&["list"]);
    assert_eq!(code, Some(0), "it can be read: {talk}");
    assert_says(&output, &["cut off", "1 session"]);
    fs::remove_file(&fill).unwrap();
    fs::write(jobs.path("notes"), "").unwrap();
    let (code, _, talk) = run(&["run", "--resume", "latest"]);
    // The job that fills the disk does so again in its fifth run.
    let _ = fs::remove_file(&fill);
    assert!(code.is_some(), "{talk}");
    for _ in 0..3 {
        fs::write(jobs.path("notes"), "").unwrap();
        if run(&["list"]).1.contains("completed") {
            break;
        }
        run(&["run", "--resume", "latest"]);
        let _ = fs::remove_file(&fill);
    }
    let (_, output, _) = run(&["export", "latest"]);
    let exported: Value = serde_json::from_str(&output).unwrap();
    let session = &exported["session"];
    assert_eq!(session["end"]["outcome"], "completed");
    assert_eq!(session["trials"].as_array().unwrap().len(), 12);
}

/// What concludes a trial is the user's: it is shown, and carried out on their word.
#[test]
fn what_concludes_a_killed_trial_is_not_lost() {
    for by_resume in [false, true] {
        let jobs = Jobs::killed_in(&[2]);
        let here = jobs.folder.path();
        let typed = [
            "run",
            "--blocks=6",
            "--command=sh job.sh A",
            "--command=sh job.sh B",
            "--prepare=touch flag",
            "--conclude=rm flag",
        ];
        let (code, ..) = jobs.run(&typed, here);
        assert_eq!(code, None, "killed");
        assert!(jobs.path("flag").exists());
        if by_resume {
            let (code, _, talk) = jobs.run(&["run", "--resume", "latest"], here);
            assert_judged(code, &talk);
            assert_says(&talk, &["carrying out `rm flag` in "]);
        } else {
            for _ in 0..2 {
                let (code, output, _) = jobs.run(&["restore"], Path::new("/"));
                assert_eq!(code, Some(0));
                assert_says(
                    &output,
                    &["not carried out: `rm flag` in ", "--run-concludes"],
                );
            }
            let (code, output, talk) = jobs.run(&["restore", "--run-concludes"], Path::new("/"));
            assert_eq!(code, Some(0), "{talk}");
            assert_says(&talk, &["carrying out `rm flag` in "]);
            assert_says(&output, &["carried out `rm flag`"]);
        }
        assert!(!jobs.path("flag").exists());
        let (_, output, _) = jobs.run(&["restore"], here);
        assert_says(&output, &["Nothing was left behind"]);
    }
}

#[test]
fn a_limit_is_one_on_what_prepares_too() {
    let jobs = Jobs::killed_in(&[]);
    let typed = [
        "run",
        "--blocks=1",
        "--command=true",
        "--prepare=sleep 1000",
        "--limit=100ms",
        "--json",
    ];
    let (code, output, talk) = jobs.run(&typed, jobs.folder.path());
    assert_eq!(code, Some(2), "{talk}");
    assert_says(
        &output,
        &["prepare command: it had not ended after 0.1 s and was killed"],
    );
}

/// A device that is handed over: held, mounted, given back, and gone on with.
#[test]
fn root_a_granted_device_is_the_ground() {
    testkit::require_root!();
    let jobs = Jobs::killed_in(&[7]);
    let here = jobs.folder.path();
    let device = ScratchLoop::new(32 << 20);
    let serial = device.backing_file().to_str().unwrap().to_owned();
    let node = device.path().to_str().unwrap().to_owned();
    // The job is where it was written, whatever the trial's directory is.
    let job = format!("cd {} && sh job.sh x", here.display());
    let spec = format!(
        "shell = true\nblocks = 6\nscratch = {{ device = {node:?}, serial = {serial:?} }}\n\
         [factors]\nfilesystem = [\"ext2\", \"ext4\"]\n\
         [[configuration]]\nname = \"job\"\ncommand = {job:?}\n",
    );
    fs::write(jobs.path("spec.toml"), &spec).unwrap();
    let wrong = spec.replace(&serial, "S123");
    fs::write(jobs.path("wrong.toml"), wrong).unwrap();
    let (code, _, talk) = jobs.run(&["run", "wrong.toml"], here);
    assert_eq!(code, Some(2));
    assert_says(&talk, &["wrong.toml:3:", "another serial number"]);

    let (code, _, talk) = jobs.run(&["run", "spec.toml"], here);
    assert_eq!(code, None, "killed: {talk}");
    let (code, _, talk) = jobs.run(&["run", "--resume", "latest"], here);
    assert_eq!(code, Some(2));
    assert_says(&talk, &["holds ext", "--wipe-signature ext"]);
    let holds = match talk.contains("holds ext2") {
        true => "ext2",
        false => "ext4",
    };
    let wipe = format!("--wipe-signature={holds}");
    let (code, _, talk) = jobs.run(&["run", "--resume", "latest", &wipe], here);
    assert_judged(code, &talk);
    jobs.assert_whole(12);
    assert_eq!(jobs.notes().len(), 13);
    let session = jobs.exported();
    let told = &session["trials"][0]["targets"][0]["filesystem"]["source"];
    assert_eq!(*told, node.as_str());
    // It is as it was granted, and can be granted by `ab` too.
    let typed = [
        "ab",
        "--blocks=1",
        &format!("--scratch={node}={serial}"),
        "--a-set=filesystem=ext2",
        "--b-set=filesystem=ext3",
        "--",
        "true",
        "---",
        "true",
    ];
    let (code, _, talk) = jobs.run(&typed, here);
    assert!(code == Some(3) || code == Some(0), "{code:?}: {talk}");
    let recorded = jobs.exported()["header"].to_string();
    assert!(recorded.contains(&node) && !recorded.contains(&format!("={serial}")));
}
