//! contest: a job beside loads.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use testkit::scratch_folder;

use crate::lab::{Lab, assert_empty, assert_fits, assert_says, squeezed, words};
use crate::running::Running;
use crate::signals::{journals, kept_phases};

const SMALL: [&str; 4] = ["contest", "--quick", "--units=2", "--seed=7"];

fn small(more: &[&str], place: &Path) -> Vec<std::ffi::OsString> {
    let words = SMALL.iter().chain(more).map(Into::into);
    words.chain([place.into()]).collect()
}

#[test]
fn each_load_has_its_row_and_the_work_is_the_same() {
    let (lab, folder) = (Lab::new(), scratch_folder());
    let loads = "--loads=none,cacherun,process,io,read,list";
    let text = lab.output(small(&[loads, "--memory=2"], folder.path()), 0);
    assert_fits(&text);
    for load in [
        "no_load",
        "cacherun",
        "process_load",
        "io_load",
        "read_load",
        "list_load",
    ] {
        assert!(text.contains(&format!("\n{load} ")), "{load} in\n{text}");
    }
    assert!(
        text.lines()
            .any(|line| line.starts_with("job: buildsim, 2 units"))
    );
    assert_empty(folder.path());

    let json = lab.json(["show", "latest"], 0);
    for trial in json["results"].as_array().unwrap() {
        let phases = trial["phases"].as_array().unwrap();
        let job = phases.iter().find(|phase| phase["name"] == "job").unwrap();
        let figure = |name: &str| job["figures"][name]["value"].as_f64();
        // Two units of six processes with 4 MiB each.
        assert!(figure("minor_faults_count").unwrap() > 2.0 * 1024.0);
        assert!(figure("elapsed_s").unwrap() > 0.0);
        let has_load = !["no_load", "cacherun"].contains(&trial["cell"]["load"].as_str().unwrap());
        assert_eq!(figure("load_elapsed_s").is_some(), has_load, "{trial}");
        assert_eq!(
            phases.iter().any(|phase| phase["name"] == "drain"),
            has_load
        );
    }
    assert!(!text.contains("checksums differ"), "{text}");
}

#[test]
fn the_other_loads_run_and_leave_nothing() {
    let (lab, folder, other) = (Lab::new(), scratch_folder(), scratch_folder());
    let other_directory = format!("--other-dir={}", other.path().display());
    let loads = "--loads=io-halfmem,io-other,mem,ctar,xtar,dbench";
    let arguments = small(&[loads, "--memory=2", &other_directory], folder.path());
    let json = lab.json(arguments, 0);
    for trial in json["results"].as_array().unwrap() {
        assert_eq!(trial["outcome"], "completed", "{trial}");
        let phases = trial["phases"].as_array().unwrap();
        let job = phases.iter().find(|phase| phase["name"] == "job").unwrap();
        let figures = &job["figures"];
        let rate = [
            &figures["load_rate_bytes_per_s"],
            &figures["load_steps_per_s"],
        ];
        assert!(rate.iter().any(|figure| figure["value"].is_f64()), "{job}");
        let size = figures["load_file_size_bytes"]["value"].as_f64();
        let expected = match trial["cell"]["load"].as_str().unwrap() {
            "io_halfmem" => Some(1_048_576.0),
            "io_other" => Some(2_097_152.0),
            _ => None,
        };
        assert_eq!(size, expected);
    }
    assert_empty(folder.path());
    assert_empty(other.path());
}

#[test]
fn other_jobs_are_timed_too() {
    let (lab, folder, tree) = (Lab::new(), scratch_folder(), scratch_folder());
    fs::write(tree.path().join("made-by"), "sh").unwrap();
    fs::write(
        tree.path().join("Makefile"),
        "it:\n\tcp made-by it\nclean:\n\trm -f it\n",
    )
    .unwrap();
    let tree_option = format!("--tree={}", tree.path().display());
    for job in [
        &["--job=smallreads"][..],
        &["--job=fsync-append"],
        &["--job=compile", &tree_option],
        &["--command=true"],
    ] {
        let more = [&["--loads=none,cacherun"], job].concat();
        let text = lab.output(small(&more, folder.path()), 0);
        assert_says(&text, &["\nno_load ", "\ncacherun "]);
    }
    let entries: Vec<_> = fs::read_dir(tree.path()).unwrap().collect();
    assert_eq!(entries.len(), 2, "the tree of the user's is as it was");
    let text = lab.output(
        small(
            &["--loads=none", "--command=echo no >&2; exit 3"],
            folder.path(),
        ),
        2,
    );
    assert_says(&squeezed(&text), &["sh ended with exit status: 3", "no "]);
    assert_empty(folder.path());
}

/// All of the old layouts, and what the import finds in them again.
#[test]
fn classic_reports_come_back_through_the_import() {
    let (lab, folder) = (Lab::new(), scratch_folder());
    let arguments = small(
        &["--classic", "--loads=none,io", "--memory=2"],
        folder.path(),
    );
    let text = lab.output(arguments, 0);
    assert!(text.starts_with("no_load:\nKernel "), "{text}");
    let file = folder.path().join("report.txt");
    for layout in [
        "contest-0.34",
        "contest-0.34-summary",
        "contest-0.5x",
        "contest-0.61",
    ] {
        let text = lab.output(["show", "latest", "--layout", layout], 0);
        fs::write(&file, &text).unwrap();
        let read = Lab::new();
        let json = read.json(words([&"import", &file]), 0);
        let sessions = json["files"][0]["sessions"].as_array().unwrap();
        assert_eq!(sessions.len(), 1, "{text}");
        assert_eq!(
            json["files"][0]["unread"].as_array().map_or(0, Vec::len),
            0,
            "{text}"
        );
        let id = sessions[0]["id"].as_str().unwrap();
        let session = read.json(["show", id], 0);
        assert_eq!(session["results"].as_array().unwrap().len(), 2, "{text}");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let (lab, folder) = (Lab::new(), scratch_folder());
    for (arguments, code, says) in [
        (["--loads=io,io", "--runs=1"], 2, "name each load once"),
        (["--loads=io", "--jobs=0"], 2, "give 1 to 4096"),
        (["--loads=process", "--processes=1"], 2, "give 2 to 1000"),
        (
            ["--loads=io-other", "--runs=1"],
            2,
            "name it by --other-dir",
        ),
        (["--loads=none", "--job=compile"], 2, "--tree"),
        (["--loads=list", "--load-rate=1M"], 2, "that move bytes"),
        (["--loads=io", "--load-data=200%"], 2, "0% to 100%"),
    ] {
        let talk = lab.talk(small(&arguments, folder.path()), code);
        assert_says(&talk, &[says]);
    }
    let text = lab.output(small(&["--loads=io", "--memory=1000T"], folder.path()), 4);
    assert_says(&text, &["Nothing was measured"]);
    assert_empty(folder.path());
}

/// A load held to a rate keeps it: windows of half a second hold 4 MiB and one write of
/// 1 MiB more or less, where it would write hundreds.
#[test]
fn a_load_keeps_to_its_rate() {
    let (lab, folder) = (Lab::new(), scratch_folder());
    let more = [
        "--loads=io,read",
        "--memory=4",
        "--load-rate=8M",
        "--load-data=50%",
        "--command=sleep 0.5",
    ];
    let report = lab.json(small(&more, folder.path()), 0);
    for trial in report["results"].as_array().unwrap() {
        let phases = trial["phases"].as_array().unwrap();
        let job = phases.iter().find(|phase| phase["name"] == "job").unwrap();
        let rate = job["figures"]["load_rate_bytes_per_s"]["value"].as_f64();
        let mib_per_s = rate.unwrap() / 1_048_576.0;
        assert!(mib_per_s > 1.0 && mib_per_s < 11.0, "{mib_per_s}: {trial}");
    }
    assert_empty(folder.path());
}

/// Killed while the job runs: its processes end by themselves, and `clean` removes
/// what they made.
#[test]
fn nothing_survives_a_kill() {
    for (loads, whole) in [("none", 1), ("process", 3)] {
        let (lab, folder) = (Lab::new(), scratch_folder());
        lab.output(["list"], 0);
        let loads = format!("--loads={loads}");
        let typed = [
            "contest",
            "--quick",
            "--units=200",
            "--jobs=2",
            "--memory=1",
            &loads,
        ];
        let typed = typed.iter().map(Into::into).chain([folder.path().into()]);
        let typed: Vec<std::ffi::OsString> = typed.collect();
        let mut run = Running::start(lab.process(typed));
        // The job comes after the phases that are whole by then.
        run.until(&journals(&lab), || kept_phases(&lab) >= whole);
        let begun = Instant::now();
        while working_in(folder.path()) < 2 {
            assert!(begun.elapsed() < Duration::from_secs(60), "no job began");
            std::thread::yield_now();
        }
        run.send(rustix::process::Signal::KILL);
        run.end();
        until_none_works_in(folder.path());
        lab.output(["clean"], 0);
        assert_empty(folder.path());
    }
}

/// Waits until no process of a job works in `folder`: they end with their parent.
#[track_caller]
pub(crate) fn until_none_works_in(folder: &Path) {
    let begun = Instant::now();
    while working_in(folder) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "the job goes on");
        std::thread::yield_now();
    }
}

/// Processes of a job in `folder`: those that were told so.
fn working_in(folder: &Path) -> usize {
    let own = folder.to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        // One that ends meanwhile has no command line.
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .filter(|line| {
            let line = String::from_utf8_lossy(line);
            line.contains("contest-part") && line.contains(own)
        })
        .count()
}

/// A control group with a memory limit, removed when the test ends.
struct MemoryLimit(std::path::PathBuf);

impl MemoryLimit {
    /// `None` where no hierarchy gives such groups.
    fn new(bytes: u64) -> Option<Self> {
        let places = [
            ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            ("/sys/fs/cgroup", "memory.max"),
        ];
        places.into_iter().find_map(|(hierarchy, setting)| {
            let name = format!("stiction-test-{}", std::process::id());
            let group = Path::new(hierarchy).join(name);
            fs::create_dir(&group).ok()?;
            let limit = Self(group);
            fs::write(limit.0.join(setting), bytes.to_string()).ok()?;
            Some(limit)
        })
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        fs::remove_dir(&self.0).expect("a group without processes");
    }
}

/// Without swap more memory than there is can be touched under a limit alone, and is pages
/// of a file then, which take space.
#[test]
fn root_under_a_memory_limit_mem_needs_no_swap() {
    testkit::require_root!();
    let Some(limit) = MemoryLimit::new(96 << 20) else {
        testkit::skip!("no control group with a memory limit can be made");
    };
    let (lab, folder) = (Lab::new(), scratch_folder());
    let command = lab.process(small(
        &["--loads=mem", "--memory=96", "--json"],
        folder.path(),
    ));
    let inside = "echo $$ > \"$0/cgroup.procs\" && exec \"$@\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", inside]).arg(&limit.0);
    shell.arg(command.get_program()).args(command.get_args());
    shell.env("STICTION_STORE", lab.store());
    let ended = Running::start(shell).end();
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let report: serde_json::Value = serde_json::from_str(&ended.output).unwrap();
    let phases = report["results"][0]["phases"].as_array().unwrap();
    let job = phases.iter().find(|phase| phase["name"] == "job").unwrap();
    // 110 % of the limit, but for the swap of machines that have some.
    let layout = &job["witnesses"]["layout"]["file_bytes"];
    let has_swap = fs::read_to_string("/proc/swaps").unwrap().lines().count() > 1;
    assert!(has_swap || layout.as_u64() > Some(105 << 20), "{job}");
    assert!(job["witnesses"]["pages"]["dirtied_bytes"].is_u64());
    assert_empty(folder.path());
}
