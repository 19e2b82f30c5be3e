//! Configurations in blocks: commands, benchmarks and files, what ends them, what fails.

use std::fs;
use std::path::Path;

use rustix::process::Signal;
use serde_json::Value;
use testkit::{LoopFilesystem, LoopKind, Throttle, ThrottleLimits};

use crate::lab::{Lab, assert_empty, assert_fits, assert_says, entries, words};
use crate::running::Running;
use crate::signals::journals;

/// Where the metric of [`NOISY`] stands.
const FIGURE: &str = "v[count,more]=/^v=([0-9.]+)$/";

/// A program that prints the next of some numbers around 100, times its argument. What
/// comes next is counted in its directory, so that the same calls print the same.
const NOISY: &str = r#"
n=$(cat count 2>/dev/null || echo 0)
echo $((n + 1)) > count
awk -v seed="$n" -v by="$1" 'BEGIN {
    srand(seed); for (i = 0; i < 9; i++) noise += rand() - 0.5
    printf "v=%.6f\n", 100 * by * exp(noise / 100)
}'
"#;

fn noisy(directory: &Path) -> String {
    fs::write(directory.join("noisy.sh"), NOISY).unwrap();
    "sh noisy.sh".to_owned()
}

/// The row of the only candidate that is of a metric.
fn row<'a>(report: &'a Value, metric: &str) -> &'a Value {
    let rows = report["candidates"][0]["rows"].as_array();
    let mut rows = rows
        .unwrap_or_else(|| panic!("no rows in {report:#}"))
        .iter();
    let found = rows.find(|row| row["metric"] == metric);
    found.unwrap_or_else(|| panic!("no row of {metric} in {report:#}"))
}

/// The comparison as JSON, of a command that is run in `directory` and ends with any of
/// the codes of a comparison: other figures than ours are chance.
fn compared(lab: &Lab, arguments: &[&str], directory: &Path) -> Value {
    let mut command = lab.process(["--json"].iter().chain(arguments));
    let output = command.current_dir(directory).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    let code = output.status.code().unwrap();
    assert!([0, 1, 3].contains(&code), "{code}: {talk}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {talk}"))
}

#[test]
fn equal_things_are_never_worse_or_better() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let command = noisy(folder.path()) + " 1";
    for seed in ["1", "2", "3"] {
        let typed = ["run", "--command", &command, "--command", &command];
        let typed = [&typed[..], &["--metric", FIGURE, "--seed", seed]].concat();
        let report = compared(&lab, &typed, folder.path());
        let verdict = &row(&report, "v")["verdict"];
        assert!(
            *verdict == "same" || *verdict == "cannot_tell",
            "{report:#}"
        );
    }
}

#[test]
fn five_percent_less_is_worse_and_more_is_better() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    noisy(folder.path());
    for (by, expected) in [("0.95", "worse"), ("1.05", "better")] {
        let typed = ["ab", "--blocks=12", "--seed=4711", "--metric", FIGURE, "--"];
        let sides = ["sh", "noisy.sh", "1", "---", "sh", "noisy.sh", by];
        let report = compared(&lab, &[&typed[..], &sides].concat(), folder.path());
        let row = row(&report, "v");
        assert_eq!(row["verdict"], expected, "{row:#}");
        let change = row["estimate"]["change_percent"].as_f64().unwrap();
        let truth = 100.0 * (by.parse::<f64>().unwrap() - 1.0);
        assert!((change - truth).abs() < 1.0, "{change} for {truth}");
    }
}

#[test]
fn precise_figures_end_it_and_the_order_replays_from_its_seed() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let mut orders = Vec::new();
    for seed in ["1", "1", "2"] {
        let metric = "v[count,more]=/^v=([0-9]+)$/";
        let typed = [
            "run",
            "--command=echo v=5",
            "--command=echo v=6",
            "--blocks=7",
        ];
        // The elapsed time of a moment is known to within a factor of a thousand.
        let stop = ["--until-precise=100000", "--metric", metric, "--seed", seed];
        let report = compared(&lab, &[&typed[..], &stop].concat(), folder.path());
        assert_eq!(row(&report, "v")["estimate"]["blocks_count"], 6);
        let session = lab.json(["show", "latest"], 0);
        let trials = session["results"].as_array().unwrap().clone();
        let order: Vec<String> = trials.iter().map(|t| t["cell"].to_string()).collect();
        assert_eq!(order.len(), 12);
        orders.push(order);
    }
    assert_eq!(orders[0], orders[1]);
    assert_ne!(orders[0], orders[2]);
}

#[test]
fn a_missing_number_fails_and_only_the_candidates_is_a_regression() {
    let lab = Lab::new();
    let metric = "v[count,more]=/^v=([0-9.]+)$/";
    for (a, b, code, said) in [
        ("v=5", "w=5", 1, "every run of B failed"),
        ("v=5", "v=5\nv=6", 1, "every run of B failed"),
        ("w=5", "v=5", 3, "every run of A failed"),
    ] {
        let typed = [
            "run",
            "--blocks=6",
            "--metric",
            metric,
            "--shell",
            "--command",
        ];
        let [a, b] = [a, b].map(|text| format!("printf '{text}\\n'"));
        let typed = [&typed[..], &[&a, "--command", &b]].concat();
        let assert = lab.stiction(typed).assert().code(code);
        let output = assert.get_output();
        assert_says(&String::from_utf8_lossy(&output.stderr), &[said]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_says(&text, &["FAILED"]);
        assert_fits(&text);
    }
}

#[test]
fn a_single_command_is_timed_and_its_words_are_kept() {
    let lab = Lab::new();
    let metric = "rate[MB/s,more]=/rate ([0-9]+)/";
    let folder = testkit::scratch_folder();
    let directory = folder.path().to_str().unwrap();
    let typed = ["run", "--command=pwd", "--command=pwd", "--blocks=1"];
    let place = ["--fresh-directory", "--directory", directory];
    lab.stiction([&typed[..], &place].concat()).assert().code(3);
    assert_empty(folder.path());
    let kept = lab.output(["show", "latest"], 0);
    assert_says(&kept, &[".stiction-", directory]);

    let typed = [
        "run",
        "--shell",
        "--blocks=3",
        "--metric",
        metric,
        "--warmup=1",
    ];
    let typed = [
        &typed[..],
        &["--command=echo rate 5; exit 3", "--ignore-failure"],
    ]
    .concat();
    let text = lab.output(typed, 0);
    assert_says(&text, &["4.77 MiB/s", "elapsed", "3 runs", "exit 3"]);
    assert_fits(&text);
    let session = lab.json(["show", "latest"], 0);
    assert_eq!(session["results"].as_array().unwrap().len(), 3);
    let phases = session["results"][0]["phases"].as_array().unwrap();
    let names: Vec<&str> = phases.iter().map(|p| p["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["warm_up", "command"]);
}

#[test]
fn one_benchmark_in_two_directories_is_compared() {
    let lab = Lab::new();
    let [a, b] = [(); 2].map(|()| testkit::scratch_folder());
    let [one, two] = [&a, &b].map(|folder| folder.path().to_str().unwrap());
    let typed = [
        "ab",
        "--blocks=2",
        "--a",
        one,
        "--b",
        two,
        "--name=one",
        "--name=two",
    ];
    let benchmark = ["metadata", "--quick", "--files=20", "--threads=1"];
    let report = compared(&lab, &[&typed[..], &benchmark].concat(), a.path());
    assert_eq!(report["candidates"][0]["a"]["name"], "one");
    assert_eq!(
        row(&report, "operations_per_s")["phase"],
        "make_directories"
    );
    for folder in [a, b] {
        assert_empty(folder.path());
    }
}

#[test]
fn calibrate_tells_the_noise_of_a_benchmark_against_itself() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let benchmark = words([
        &"metadata",
        &"--quick",
        &"--files=20",
        &"--threads=1",
        &folder.path(),
    ]);
    let typed = words([&"calibrate", &"--blocks=2", &"--seed=5"]);
    let text = lab.output(typed.iter().chain(&benchmark), 0);
    assert_says(&text, &["against itself", "floor", "lag 1"]);
    assert_fits(&text);
    let json = words([&"--json", &"calibrate", &"--blocks=3", &"--seed=5"]);
    let text = lab.output(json.iter().chain(&benchmark), 0);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["schema"], "stiction-calibration");
    assert_eq!(report["rows"][0]["blocks_count"], 3);
    assert_empty(folder.path());
}

#[test]
fn the_budget_ends_it_and_too_few_blocks_are_told() {
    let lab = Lab::new();
    let typed = [
        "run",
        "--command=true",
        "--command=true",
        "--blocks=9",
        "--budget=1us",
    ];
    let talk = lab.talk(typed, 3);
    assert_says(&talk, &["Ended after 1 block: another takes about"]);
    let talk = lab.talk(["run", "--command=true", "--command=true", "--blocks=5"], 3);
    assert_says(
        &talk,
        &["5 blocks are too few for a verdict, which needs 6"],
    );
}

#[test]
fn a_plan_is_printed_and_nothing_is_run() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let touched = folder.path().join("touched");
    let command = format!("touch {}", touched.display());
    let typed = [
        "run",
        "--dry-run",
        "--blocks=3",
        "--command",
        &command,
        "--command=true",
    ];
    let plan = lab.json(typed, 0);
    assert_eq!(plan["schema"], "stiction-plan");
    assert_eq!(plan["trials"].as_array().unwrap().len(), 6);
    let configurations = &plan["plan"]["parameters"]["configurations"];
    assert_eq!(configurations[1]["command"], "true");
    assert!(!touched.exists());
    assert!(lab.output(["list"], 0).contains("No sessions"));
}

#[test]
fn a_file_says_what_to_run() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let spec = folder.path().join("spec.toml");
    let log = folder.path().join("log");
    let text = format!(
        "metrics = ['v[count,more]=/v=([0-9]+)/']\nblocks = 2\nlabel = 'tries'\n\
         conclude = 'echo off >> {log}'\n\
         [[configuration]]\nname = 'one'\ncommand = 'echo v=5'\nconclude = 'true'\n\
         [[configuration]]\nname = 'two'\ncommand = ['echo', 'v=6']\n\
         prepare = 'echo on >> {log}'\n",
        log = log.display()
    );
    fs::write(&spec, text).unwrap();
    let text = lab.output(words([&"run", &spec]), 3);
    assert_says(&text, &["one", "two", "CANNOT TELL"]);
    assert_eq!(fs::read_to_string(&log).unwrap(), "on\noff\non\noff\n");
    assert_says(&lab.output(["list"], 0), &["tries"]);

    let example = lab.output(["run", "--example"], 0);
    assert_says(
        &example,
        &["[[workload]]", "run = \"tiobench\"", "[factors]"],
    );
    assert_fits(&example);
}

#[test]
fn bad_input_is_2_and_says_where() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let spec = folder.path().join("s.toml");
    for (text, parts) in [
        (
            "blocks = 3\nblock = 4\n",
            &[
                "s.toml:2:1",
                "there is no key `block` here; did you mean `blocks`?",
            ][..],
        ),
        (
            "[[configuration]]\nname = 'a'\n",
            &["s.toml:2:8", "needs a command"],
        ),
        (
            "workload = 'list'\n[[configuration]]\nname = 'a'\n",
            &["s.toml:1:12", "does not measure"],
        ),
        (
            "workload = 'quick'\narguments = '--sice 4M'\n[[configuration]]\nname = 'a'\n",
            &["s.toml:1:12", "--sice"],
        ),
        (
            "[[configuration]]\nname = 'a'\ncommand = 'a | b'\n",
            &["s.toml:3:11", "only a shell"],
        ),
        (
            "order = 'ab'\n[[configuration]]\nname = 'a'\ncommand = 'true'\n",
            &["s.toml:1:9", "random and abba"],
        ),
        (
            "metrics = ['x']\n[[configuration]]\nname = 'a'\ncommand = 'true'\n",
            &["s.toml:1:12", "NAME[UNIT"],
        ),
    ] {
        fs::write(&spec, text).unwrap();
        assert_says(&lab.talk(words([&"run", &spec]), 2), parts);
    }
    for (typed, part) in [
        (&["run"][..], "required"),
        (&["run", "/no/such/spec"], "/no/such/spec"),
        (&["run", "--command=a|b"], "only a shell"),
        (&["run", "--command="], "it is empty"),
        (&["run", "--command=true", "--metric=x"], "NAME[UNIT"),
        (&["run", "--command=true", "--blocks=0"], "1..=1000"),
        (&["run", "--command=true", "--until-precise=-1"], "above 0"),
        (
            &["run", "--command=true", "--name=a", "--name=b"],
            "for 1 commands",
        ),
        (
            &["run", "--command=true", "--directory=/no/such"],
            "/no/such",
        ),
        (&["ab", "--", "true"], "`true` is no benchmark"),
        (&["ab", "--", "a", "---", "b", "---", "c"], "two commands"),
        (&["ab", "list"], "does not measure"),
        (&["ab", "tiobench", "--dump"], "--dry-run"),
        (
            &["ab", "--a=--block 4K", "--", "a", "---", "b"],
            "of a benchmark",
        ),
        (&["ab", "--warmup=1", "quick"], "behind its name"),
        (&["ab", "quick", "--json"], "before the benchmark"),
        (&["calibrate"], "required"),
    ] {
        assert_says(&lab.talk(typed, 2), &[part]);
    }
    assert!(lab.output(["list"], 0).contains("No sessions"));
}

/// A run of blocks that goes on and on, once two of them have ended.
fn long(lab: &Lab, folder: &Path) -> Running {
    lab.output(["list"], 0);
    let log = folder.join("log");
    let off = format!("--conclude=echo off >> {}", log.display());
    let typed = [
        "run",
        "--command=true",
        "--command=true",
        "--blocks=1000",
        &off,
    ];
    let mut run = Running::start(lab.process(typed));
    run.until(&journals(lab), || whole_trials(lab) >= 4);
    run
}

/// Trials whose ends are in the journals.
fn whole_trials(lab: &Lab) -> usize {
    let texts = entries(&journals(lab)).into_iter().map(|path| {
        // A journal may be made and renamed meanwhile.
        fs::read_to_string(path).unwrap_or_default()
    });
    texts
        .map(|text| text.matches("\"record\":\"trial_end\"").count())
        .sum()
}

#[test]
fn an_interrupted_run_compares_its_whole_blocks_and_is_concluded() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let run = long(&lab, folder.path());
    run.send(Signal::INT);
    let ended = run.end();
    assert_eq!(ended.status.code(), Some(130), "{ended:?}");
    assert_says(&ended.talk, &["Ended after", "of 1000 blocks"]);
    assert_says(&ended.output, &["A -> B"]);
    let session = lab.json(["show", "latest"], 0);
    assert_eq!(session["outcome"], "interrupted");
    let trials = session["results"].as_array().unwrap().len();
    let concluded = fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(concluded.lines().count(), trials);
}

#[test]
fn a_killed_run_keeps_its_whole_blocks() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let run = long(&lab, folder.path());
    run.send(Signal::KILL);
    run.end();
    let session = lab.json(["show", "latest"], 0);
    assert!(session["outcome"].is_null());
    let trials = session["results"].as_array().unwrap();
    assert!(trials.len() >= 4, "{session:#}");
    assert!(
        trials[..4]
            .iter()
            .all(|trial| trial["outcome"] == "completed")
    );
    // What was cut off fails nothing: its block is only not whole.
    let text = lab.output(["compare", "latest", "--factor", "configuration"], 3);
    assert_says(&text, &["CANNOT TELL"]);
}

/// The ceiling of a device is set by each side's own hook: 20 MB/s against 19.
#[test]
fn root_a_ceiling_that_is_five_percent_lower_is_found() {
    testkit::require_root!();
    let lab = Lab::new();
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 128 << 20);
    let (major, minor) = filesystem.device().device_number();
    let limits = ThrottleLimits {
        write_bytes_per_s: 20_000_000,
        ..ThrottleLimits::default()
    };
    let throttle = match Throttle::new((major, minor), limits) {
        Ok(throttle) => throttle,
        Err(reason) => testkit::skip!("{reason}"),
    };
    let ceiling = |option: &str, bytes_per_s: u64| {
        let group = throttle.path();
        let one = group.join("blkio.throttle.write_bps_device");
        let (file, key) = match one.exists() {
            true => (one, ""),
            false => (group.join("io.max"), "wbps="),
        };
        format!(
            "{option}=echo {major}:{minor} {key}{bytes_per_s} > {}",
            file.display()
        )
    };
    let hooks = [
        ceiling("--a-prepare", 20_000_000),
        ceiling("--b-prepare", 19_000_000),
    ];
    let typed = ["ab", "--blocks=8", "--seed=1", &hooks[0], &hooks[1]];
    let directory = filesystem.path().to_str().unwrap();
    let benchmark = [
        "write-and-fsync",
        "--size=20M",
        "--direct",
        "--no-sync",
        "--runs=1",
    ];
    let typed = [&typed[..], &benchmark, &[directory]].concat();
    let report = compared(&lab, &typed, filesystem.path());
    drop(throttle);
    let rate = row(&report, "rate_bytes_per_s");
    assert_eq!(rate["verdict"], "worse", "{rate:#}");
    let change = rate["estimate"]["change_percent"].as_f64().unwrap();
    assert!((change + 5.0).abs() < 1.5, "{change}");
}

/// A command that tells on what it runs, in every combination.
#[test]
fn root_settings_of_the_machine_are_in_force_and_put_back() {
    const SPEC: &str = r#"
blocks = 2
scratch_size = "32MiB"
shell = true
metrics = [
    'type[count,more]=/type=([0-9]+)/',
    'deadline[count,more]=/deadline=([0-9]+)/',
]
[factors]
filesystem = ["ext2", "ext4"]
scheduler = ["none", "mq-deadline"]
[[configuration]]
name = "told"
command = """
queue=/sys/dev/block/$(mountpoint -d .)/queue
echo type=$((1 + $(grep -c " $PWD ext4 " /proc/mounts)))
echo deadline=$((1 + $(grep -cF [mq-deadline] $queue/scheduler)))
"""
"#;
    testkit::require_root!();
    testkit::require_program!("mountpoint");
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let place = folder.path().join("place");
    fs::create_dir(&place).unwrap();
    let spec = folder.path().join("spec.toml");
    fs::write(&spec, format!("directory = {place:?}\n{SPEC}")).unwrap();
    lab.stiction(words([&"run", &spec])).assert().code(3);
    assert_empty(&place);
    let journal = &entries(&journals(&lab))[0];
    let session = stiction_journal::read_journal(journal).unwrap().session;
    assert_eq!(session.trials.len(), 2 * 4);
    for trial in &session.trials {
        let level = |factor: &str| trial.cell.get(factor).unwrap().to_string();
        assert!(
            trial
                .settings
                .iter()
                .all(stiction_core::Applied::is_in_force)
        );
        assert_eq!(trial.settings.len(), 2, "{:?}", trial.settings);
        assert!(trial.caveats.is_empty(), "{:?}", trial.caveats);
        let figure = |name: &str| {
            let mut figures = trial.phases.iter().flat_map(|phase| &phase.measurements);
            let figure = figures.find(|one| one.metric.name == name);
            figure.expect(name).value
        };
        // A figure of 0 would count as a run that did nothing.
        let is = |told: bool| if told { 2.0 } else { 1.0 };
        assert_eq!(figure("type"), is(level("filesystem") == "ext4"));
        assert_eq!(figure("deadline"), is(level("scheduler") == "mq-deadline"));
        let name = format!(
            "told filesystem={} scheduler={}",
            level("filesystem"),
            level("scheduler")
        );
        assert_eq!(level("configuration"), name);
    }
    // Over both filesystems.
    let report = lab.json(
        [
            "compare",
            session.header.id.as_str(),
            "--factor",
            "scheduler",
        ],
        3,
    );
    assert_eq!(report["candidates"].as_array().unwrap().len(), 1);
}

#[test]
fn root_what_the_machine_cannot_do_is_skipped_or_refused() {
    testkit::require_root!();
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let place = folder.path().to_str().unwrap();
    let beginning = ["ab", "--blocks=1", "--scratch-size=32MiB", "--dir", place];
    let end = ["--", "true", "---", "true"];
    let with = |settings: &[&str]| -> Vec<String> {
        let words = beginning.iter().chain(settings).chain(&end);
        words.map(|&word| word.to_owned()).collect()
    };
    let refused = with(&[
        "--set",
        "filesystem=ext2",
        "--b-set",
        "mount_options=data=journal",
    ]);
    lab.process(&refused).output().unwrap();
    let text = fs::read_to_string(&entries(&journals(&lab))[0]).unwrap();
    assert_says(
        &text,
        &[
            "not-supported",
            "the kernel refuses ext2 with `data=journal`",
        ],
    );
    for (setting, problem) in [
        ("sysctl.vm.dirty_ratio=5", "give --global-settings"),
        ("colour=red", "colour: there is no such factor"),
        ("scheduler", "give FACTOR=LEVEL"),
    ] {
        assert_says(&lab.talk(with(&["--a-set", setting]), 2), &[problem]);
    }
    assert_empty(folder.path());
}
