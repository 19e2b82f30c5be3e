//! Specifications: those that are ready, the one to begin with, several workloads on
//! several targets, and what is said of them beforehand.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::lab::{Lab, assert_empty, assert_fits, assert_says, squeezed, words};

/// The folder of specifications that are ready.
fn ready() -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("crates/");
    crates.with_file_name("specs")
}

fn specs() -> Vec<PathBuf> {
    let entries = fs::read_dir(ready()).expect("specs/");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let mut specs: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    specs.sort();
    specs
}

/// Stdout of a command that is run in `folder` and ends with one of `codes`.
fn output_in(lab: &Lab, folder: &Path, typed: &[&str], codes: &[i32]) -> String {
    let output = lab.process(typed).current_dir(folder).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code().unwrap();
    assert!(codes.contains(&code), "{code}: {talk}");
    String::from_utf8(output.stdout).unwrap()
}

fn json_in(lab: &Lab, folder: &Path, typed: &[&str], codes: &[i32]) -> Value {
    let typed = [&["--json"], typed].concat();
    let text = output_in(lab, folder, &typed, codes);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn values(all: &Value, key: &str) -> Vec<String> {
    let all = all.as_array().unwrap().iter();
    all.map(|one| one[key].as_str().unwrap_or("").to_owned())
        .collect()
}

#[test]
fn every_ready_specification_is_planned() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let specs = specs();
    assert!(specs.len() >= 7, "{specs:?}");
    for spec in &specs {
        let spec = spec.to_str().unwrap();
        let plan = json_in(&lab, folder.path(), &["plan", spec], &[0]);
        let trials = plan["trials"].as_array().unwrap();
        let totals = &plan["totals"];
        assert_eq!(totals["trials_count"], trials.len(), "{spec}");
        let text = output_in(&lab, folder.path(), &["plan", spec], &[0]);
        assert_fits(&text);
        assert_says(&text, &["Trials", "Order", "Changes to the machine"]);
    }
    let spec = ready().join("filesystems.toml");
    let plan = json_in(&lab, folder.path(), &["plan", spec.to_str().unwrap()], &[0]);
    // 5 filesystems, 2 schedulers, 3 workloads, 6 blocks.
    assert_eq!(plan["trials"].as_array().unwrap().len(), 5 * 2 * 3 * 6);
    let changes = plan["parts"][0]["changes"].to_string();
    assert_says(
        &changes,
        &[
            "losetup",
            "queue/scheduler = none",
            "mke2fs",
            "mount -t ext4",
        ],
    );
    assert_empty(folder.path());
    assert!(lab.output(["list"], 0).contains("No sessions"));
}

#[test]
fn a_plan_adds_up_bytes_and_times() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let spec = folder.path().join("s.toml");
    let text = "blocks = 6\n[[workload]]\nname = 'write'\n[workload.job]\nrw = 'write'\n\
                bs = '64k'\nsize = '1M'\n[[workload]]\nname = 'timed'\n[workload.job]\n\
                rw = 'randread'\nsize = '1M'\nruntime = 2\ntime_based = true\n";
    fs::write(&spec, text).unwrap();
    let spec = spec.to_str().unwrap();
    let plan = json_in(&lab, folder.path(), &["plan", spec], &[0]);
    let totals = &plan["totals"];
    // Written as a job, and laid down for reads: 6 times 2 MiB.
    assert_eq!(totals["written_bytes"]["sum"], 12 << 20, "{totals:#}");
    assert_eq!(totals["written_bytes"]["unknown_count"], 0);
    assert_eq!(totals["read_bytes"]["unknown_count"], 6);
    assert_eq!(totals["duration_ns"]["sum"], 12_000_000_000_u64);
    assert_eq!(totals["duration_ns"]["unknown_count"], 6);
}

#[test]
fn several_workloads_on_several_targets_are_kept_apart() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let targets = ["a", "b"].map(|name| folder.path().join(name));
    for target in &targets {
        fs::create_dir(target).unwrap();
    }
    let spec = folder.path().join("s.toml");
    let text = format!(
        "blocks = 2\ntargets = [{:?}, {:?}]\n\
         [[workload]]\nname = 'threads'\nrun = 'tiobench'\n\
         arguments = '--size 1M --random 10'\n\
         [[workload]]\nname = 'own'\ncommand = 'true'\n\
         [[exclude]]\nworkload = 'own'\ntarget = {:?}\n\
         [factors]\nworkload.threads = [1, 2]\n",
        targets[0], targets[1], targets[1],
    );
    fs::write(&spec, &text).unwrap();
    let spec = spec.to_str().unwrap();
    // A command has no option that could be varied.
    let talk = lab.talk(["run", spec], 2);
    assert_says(&talk, &["s.toml:14:1", "a command of yours has no options"]);

    let (without, _) = text.split_once("[factors]").unwrap();
    fs::write(spec, without).unwrap();
    // Of one configuration on two targets these are compared; 2 blocks decide nothing.
    let text = squeezed(&lab.output(["run", spec], 3));
    assert_says(&text, &["cannot tell"]);
    let session = lab.json(["show", "latest"], 0);
    let trials = session["results"].as_array().unwrap().iter();
    let mut cells: Vec<String> = trials
        .map(|trial| {
            let level = |factor: &str| trial["cell"][factor].as_str().unwrap().to_owned();
            let target = level("target");
            let name = Path::new(&target).file_name().unwrap().to_string_lossy();
            format!("{} {name}", level("workload"))
        })
        .collect();
    cells.sort();
    cells.dedup();
    assert_eq!(cells, ["own a", "threads a", "threads b"]);
    let report = lab.output(["compare", "latest", "--factor", "target"], 3);
    assert_says(&report, &["CANNOT TELL"]);
    // Nothing of one workload is held against another.
    let talk = lab.talk(["compare", "latest", "--factor", "workload"], 4);
    assert!(!talk.contains("BETTER"), "{talk}");

    let options = without.replace(
        "[[exclude]]\nworkload = 'own'",
        "[[exclude]]\nworkload = 'threads'",
    );
    let options = options.replace(
        "command = 'true'",
        "run = 'tiobench'\narguments = '--size 1M'",
    );
    fs::write(spec, options + "[factors]\nworkload.threads = [1, 2]\n").unwrap();
    let plan = json_in(&lab, folder.path(), &["plan", spec], &[0]);
    let names = values(&plan["parts"], "configuration");
    assert_eq!(names, ["1", "1", "1", "2", "2", "2"]);
}

#[test]
fn a_job_that_fio_does_not_know_is_told_at_its_line() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let spec = folder.path().join("s.toml");
    for (text, parts) in [
        (
            "[[workload]]\nname = 'a'\n[workload.job]\nrw = 'read'\niodeph = 4\n",
            &[
                "s.toml:5:10",
                "`iodeph` is no option of fio",
                "did you mean `iodepth`?",
            ][..],
        ),
        (
            "[[workload]]\nname = 'a'\nrun = 'tiobench'\n[factors]\nworkload.thread = [1]\n",
            &[
                "s.toml:5:1",
                "no option --thread",
                "did you mean `threads`?",
            ],
        ),
        (
            "workload = 'quick'\n[factors]\nschedular = 'none'\n",
            &["s.toml:3:1", "no such factor", "3 | schedular = 'none'"],
        ),
    ] {
        fs::write(&spec, text).unwrap();
        assert_says(&lab.talk(words([&"plan", &spec]), 2), parts);
    }
}

#[test]
fn a_file_to_begin_with_is_written_once_and_fits_its_schema() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    output_in(&lab, folder.path(), &["new", "lab"], &[0]);
    let written = fs::read_to_string(folder.path().join("lab.toml")).unwrap();
    assert_eq!(written, lab.output(["run", "--example"], 0));
    assert_fits(&written);
    let again = lab
        .process(["new", "lab"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(2));
    assert_says(
        &squeezed(&String::from_utf8_lossy(&again.stderr)),
        &["lab.toml", "exists"],
    );
    output_in(&lab, folder.path(), &["plan", "lab.toml"], &[0]);

    let schema: Value = serde_json::from_str(&lab.output(["schema"], 0)).unwrap();
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();
    compiler.add_resource("lab.json", schema).unwrap();
    let schema = compiler.compile("lab.json", &mut schemas).unwrap();
    let check = |text: &str| {
        let document: Value = toml::from_str(text).unwrap();
        schemas
            .validate(&document, schema)
            .map_err(|error| error.to_string())
    };
    let texts = specs()
        .into_iter()
        .map(|path| fs::read_to_string(path).unwrap());
    for text in texts.chain([written]) {
        check(&text).unwrap_or_else(|error| panic!("{error} in\n{text}"));
    }
    for wrong in [
        "block = 3\n",
        "blocks = 'many'\n",
        "[[workload]]\nrun = 'quick'\n",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn root_the_smoke_specification_runs() {
    testkit::require_root!();
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let spec = ready().join("smoke.toml");
    let spec = spec.to_str().unwrap();
    let text = output_in(&lab, folder.path(), &["run", spec], &[3]);
    assert_says(&text, &["ext4", "ext2", "CANNOT TELL"]);
    assert_empty(folder.path());
    let session = lab.json(["show", "latest"], 0);
    let trials = session["results"].as_array().unwrap();
    assert_eq!(trials.len(), 4);
    for trial in trials {
        assert_eq!(trial["outcome"], "completed", "{trial:#}");
    }
    // What it took is known the next time.
    let plan = json_in(&lab, folder.path(), &["plan", spec], &[0]);
    for trial in plan["trials"].as_array().unwrap() {
        assert_eq!(trial["duration_is_of_earlier_session"], true, "{trial:#}");
    }
}

#[test]
fn root_what_was_skipped_is_no_failure() {
    testkit::require_root!();
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let spec = folder.path().join("s.toml");
    // btrfs has no journal that could be anywhere else.
    let text = "workload = 'tiobench'\narguments = '--size 1M --threads 1 --random 5'\n\
                blocks = 1\nscratch_size = '120MiB'\ndirectory = '.'\n\
                [factors]\nfilesystem = ['ext4', 'btrfs']\njournal = '8MiB'\n";
    fs::write(&spec, text).unwrap();
    let typed = ["run", spec.to_str().unwrap()];
    let text = squeezed(&output_in(&lab, folder.path(), &typed, &[4]));
    assert_says(&text, &["NOT RUN", "1 of 2 trials ran; 1 skipped", "btrfs"]);
    assert!(!text.contains("FAILED"), "{text}");
    let shown = squeezed(&lab.output(["show", "latest"], 0));
    assert_says(&shown, &["1 of 2 trials ran; 1 skipped"]);
    let compared = lab.json(["compare", "latest"], 4);
    assert_eq!(compared["outcome"], "not_comparable");
    assert_eq!(compared["candidates"][0]["rows"][0]["verdict"], "not_run");
}
