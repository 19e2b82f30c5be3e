//! `stiction fio FILE`: job files, run. The figures are held against fio's own in
//! `fio_agreement.rs`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;
use testkit::{ScratchLoop, require_root};

use crate::counters::Counters;
use crate::lab::{Lab, assert_fits, assert_says, squeezed};

const MIB: u64 = 1 << 20;

/// A store, a place to work in, and job files beside it.
struct Bench {
    lab: Lab,
    place: TempDir,
}

impl Bench {
    fn new() -> Self {
        Self {
            lab: Lab::new(),
            place: TempDir::new().unwrap(),
        }
    }

    fn job_file(&self, text: &str) -> PathBuf {
        let path = self.lab.store().join("jobs.fio");
        fs::write(&path, text).unwrap();
        path
    }

    /// The words of a run of `text` in the place, with `options`.
    fn words(&self, text: &str, options: &[&str]) -> Vec<std::ffi::OsString> {
        let file = self.job_file(text);
        let words = [OsStr::new("fio"), file.as_os_str(), OsStr::new("--dir")];
        let words = words.into_iter().chain([self.place.path().as_os_str()]);
        let options = options.iter().map(OsStr::new);
        words.chain(options).map(OsStr::to_owned).collect()
    }

    fn output(&self, text: &str, options: &[&str], code: i32) -> String {
        self.lab.output(self.words(text, options), code)
    }

    /// The same with its lines joined.
    fn said(&self, text: &str, options: &[&str], code: i32) -> String {
        squeezed(&self.output(text, options, code))
    }

    fn json(&self, text: &str, options: &[&str], code: i32) -> Value {
        self.lab.json(self.words(text, options), code)
    }

    /// Names of what lies in the place.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.place.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name());
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }
}

fn phases(report: &Value) -> &Vec<Value> {
    report["results"][0]["phases"].as_array().unwrap()
}

fn phase<'a>(report: &'a Value, name: &str) -> &'a Value {
    let mut phases = phases(report).iter();
    let found = phases.find(|phase| phase["name"] == name);
    found.unwrap_or_else(|| panic!("no phase {name} in {report}"))
}

fn figure(phase: &Value, name: &str) -> f64 {
    phase["figures"][name]["value"].as_f64().unwrap()
}

const WAVES: &str = "\
[global]
size=2m
[first]
rw=write
bs=64k
[beside]
rw=randread
bs=4k
[second]
stonewall
rw=read
bs=128k
gtod_reduce=1
";

#[test]
fn jobs_are_shown_with_their_figures_and_nothing_is_left() {
    let bench = Bench::new();
    let text = bench.output(WAVES, &[], 0);
    assert_fits(&text);
    assert_says(
        &text,
        &[
            "first: sequential writes of 64 KiB, psync, buffered",
            "beside: random reads of 4 KiB",
            "--- wave 2",
            "second: sequential reads of 128 KiB",
            "group 0: first, beside",
            "ioengine=psync",
            "gtod_reduce (",
        ],
    );
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("first: "), "{last}");
    assert_eq!(bench.left(), Vec::<String>::new());
    assert_eq!(bench.lab.output(["show"], 0), text);
}

#[test]
fn jobs_of_a_wave_share_their_witnesses_and_waves_follow_each_other() {
    let bench = Bench::new();
    let report = bench.json(WAVES, &[], 0);
    let names: Vec<&str> = phases(&report)
        .iter()
        .map(|phase| phase["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["lay_down", "first", "beside", "lay_down", "second"]);
    for (name, others_read, others_wrote) in [("first", 2 * MIB, 0), ("beside", 0, 2 * MIB)] {
        let beside = &phase(&report, name)["witnesses"]["beside"];
        assert_eq!(beside["jobs"], 1);
        assert_eq!(beside["read_bytes"], others_read);
        assert_eq!(beside["written_bytes"], others_wrote);
        let codes = phase(&report, name)["caveats"].as_array().unwrap();
        assert!(codes.iter().any(|one| one["code"] == "shared-witness"));
        // Files are each job's own: those that are written begin as holes, which the
        // reads beside them never meet.
        assert!(codes.iter().all(|one| one["code"] != "holes-read"));
        let seen = &phase(&report, name)["witnesses"];
        assert_eq!(seen["residency_before"]["file_bytes"], 2 * MIB);
    }
    let second = phase(&report, "second");
    assert_eq!(second["witnesses"]["beside"], Value::Null);
    for first in ["first", "beside"] {
        let first = phase(&report, first);
        let end = first["start_ns"].as_u64().unwrap() + first["elapsed_ns"].as_u64().unwrap();
        assert!(end <= second["start_ns"].as_u64().unwrap());
    }
}

#[test]
fn a_command_line_alone_is_a_job_file() {
    let bench = Bench::new();
    let place = bench.place.path().to_str().unwrap();
    let report = bench.lab.json(
        [
            "fio",
            "--dir",
            place,
            "--name=a",
            "--rw=randread",
            "--size=1m",
            "--numjobs=2",
            "--eta=never",
            "--label",
            "mine",
        ],
        0,
    );
    let reads = phase(&report, "a");
    assert_eq!(figure(reads, "bytes"), 2.0 * MIB as f64);
    assert_eq!(reads["workers"].as_array().unwrap().len(), 2);
    assert_eq!(report["label"], "mine");
}

#[test]
fn what_cannot_be_done_is_refused_with_its_line_before_anything_is_written() {
    let bench = Bench::new();
    for (line, reason) in [
        ("write_iolog=trace", "the timed loop makes no list"),
        ("rw=read:-4k", "sequential offsets only ascend"),
        ("offset=10%", "has no size yet"),
        ("iodepht=3", "did you mean `iodepth`?"),
        ("filename=/dev/nothing-here", "is not there"),
        ("filename=/proc/self/fd/0/x", "is no directory"),
    ] {
        let jobs = format!("[first]\nrw=write\nsize=1m\n[x]\nsize=1m\n{line}\n");
        let text = bench.said(&jobs, &[], 2);
        assert_says(&text, &["jobs.fio:6", reason, "It does not run: 1 error"]);
        assert_eq!(bench.left(), Vec::<String>::new(), "{line}");
    }
    assert!(bench.lab.output(["list"], 0).contains("No sessions"));
}

#[test]
fn jobs_that_will_fail_do_not_run() {
    let bench = Bench::new();
    let text = bench.said("[x]\nsize=4k\nbs=64k\n", &[], 2);
    assert_says(&text, &["a block of 64KiB does not fit", "1 failure"]);
    assert!(bench.lab.output(["list"], 0).contains("No sessions"));
}

#[test]
fn written_blocks_are_read_back_and_checked() {
    let bench = Bench::new();
    let jobs = "[x]\nrw=randwrite\nbs=8k\nsize=1m\nnumber_ios=40\nverify=crc32c\n";
    let text = bench.said(jobs, &[], 0);
    assert_says(&text, &["read back 320 KiB: all as it was written"]);
    let report = bench.json(jobs, &["--do_verify=0"], 0);
    assert_eq!(phases(&report).len(), 1, "nothing is read back");
}

/// What one run wrote is checked by another, which has no ledger of it.
#[test]
fn a_file_is_checked_by_a_later_run() {
    let bench = Bench::new();
    let old = bench.place.path().join("old");
    fs::write(&old, vec![0; 256 << 10]).unwrap();
    let path = old.to_str().unwrap();
    let options = "bs=4k\nsize=256k\nfilename=old\nverify=crc32c\n";
    let writes = format!("[w]\nrw=randwrite\ndo_verify=0\n{options}");
    let reads = format!("[r]\nrw=read\n{options}");
    bench.output(&writes, &["--may-overwrite", path], 0);
    bench.output(&reads, &[], 0);
    let mut content = fs::read(&old).unwrap();
    content[9000] ^= 0b101;
    fs::write(&old, content).unwrap();
    let said = bench.said(&reads, &[], 2);
    assert_says(
        &said,
        &["offset 8192", "2 flipped bits, the first in byte 808"],
    );
}

/// A leave is for one file, not for all of its name.
#[test]
fn a_file_of_the_same_name_elsewhere_is_not_overwritten() {
    let bench = Bench::new();
    let other = TempDir::new().unwrap();
    fs::write(bench.place.path().join("old"), [1; 8192]).unwrap();
    fs::write(other.path().join("old"), [2; 8192]).unwrap();
    let writes = "[w]\nrw=write\nfilename=old\nsize=8k\n";
    let words = bench.words(writes, &["--may-overwrite", "old"]);
    let mut run = bench.lab.process(words);
    let ended = run.current_dir(other.path()).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    assert_eq!(fs::read(bench.place.path().join("old")).unwrap(), [1; 8192]);
}

#[test]
fn a_report_that_cannot_be_written_is_still_to_be_had() {
    let bench = Bench::new();
    let job = "[x]\nrw=write\nsize=64k\n";
    let log = "[x]\nrw=write\nsize=64k\nwrite_bw_log=/dev/null/x\n";
    for (text, options) in [(job, &["--output=/dev/null/x"][..]), (log, &[])] {
        let said = bench.lab.talk(bench.words(text, options), 2);
        assert_says(&said, &["cannot write /dev/null/x", "The session is kept"]);
    }
}

#[test]
fn what_never_ends_is_no_job_file() {
    let bench = Bench::new();
    let said = bench.lab.talk(["fio", "/dev/zero"], 2);
    assert_says(&said, &["/dev/zero", "more than 16 MiB"]);
    let said = bench.said("include /dev/zero\n", &[], 2);
    assert_says(&said, &["jobs.fio:1", "more than 16 MiB"]);
}

#[test]
fn an_included_file_includes_what_lies_beside_it() {
    let bench = Bench::new();
    let folder = bench.lab.store().join("inner");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("one.inc"), "include two.inc\n").unwrap();
    fs::write(folder.join("two.inc"), "[x]\nrw=write\nsize=64k\n").unwrap();
    let report = bench.json("include inner/one.inc\n", &[], 0);
    assert_eq!(figure(phase(&report, "x"), "bytes"), 65536.0);
}

#[test]
fn files_that_were_there_are_read_and_overwritten_only_with_leave() {
    let bench = Bench::new();
    let old = bench.place.path().join("old");
    let content: Vec<u8> = (0..MIB).map(|byte| byte as u8).collect();
    fs::write(&old, &content).unwrap();
    let reads = bench.json("[r]\nrw=read\nfilename=old\n", &[], 0);
    assert_eq!(figure(phase(&reads, "r"), "bytes"), MIB as f64);
    assert_eq!(phases(&reads).len(), 1, "it is not laid down");

    let writes = "[w]\nrw=write\nbs=4k\nfilename=old\nsize=8k\noffset=4k\n";
    let path = old.to_str().unwrap();
    let text = bench.said(writes, &[], 2);
    assert_says(&text, &["jobs.fio:4", "--may-overwrite"]);
    assert_eq!(fs::read(&old).unwrap(), content);

    bench.output(writes, &["--may-overwrite", path], 0);
    let after = fs::read(&old).unwrap();
    assert_eq!(after.len(), content.len());
    assert_eq!(after[..4096], content[..4096]);
    assert_ne!(after[4096..12288], content[4096..12288]);
    assert_eq!(after[12288..], content[12288..]);
    assert_eq!(bench.left(), ["old"]);
}

#[test]
fn root_a_file_under_a_loop_device_is_not_overwritten() {
    require_root!();
    let bench = Bench::new();
    let device = ScratchLoop::new(MIB);
    let file = device.backing_file();
    let before = fs::read(file).unwrap();
    let path = file.to_str().unwrap();
    let writes = format!("[w]\nrw=write\nfilename={path}\nsize=64k\n");
    let words = bench.words(&writes, &["--may-overwrite", path]);
    let said = bench.lab.talk(words, 2);
    assert_says(&said, &[path, "is a loop device over it", &device.name()]);
    assert_eq!(fs::read(file).unwrap(), before);
}

#[test]
fn options_of_fio_the_program_are_taken_or_refused() {
    let bench = Bench::new();
    let jobs = "[w]\nrw=write\nsize=64k\n";
    let words = bench.words(jobs, &["--readonly"]);
    assert_says(&bench.lab.talk(words, 2), &["--readonly", "job `w` writes"]);
    let words = bench.words(jobs, &["--parse-only"]);
    assert_says(&bench.lab.talk(words, 2), &["stiction fio lint"]);
    let words = bench.words(jobs, &["--server"]);
    assert_says(&bench.lab.talk(words, 2), &["--server is not done here"]);
    assert_eq!(bench.left(), Vec::<String>::new());
}

/// What scripts around fio ask for: its JSON in a file, and its logs.
#[test]
fn results_are_written_in_fios_formats() {
    let bench = Bench::new();
    let jobs = "\
[w]
rw=write
bs=4k
size=256k
write_bw_log=w
log_avg_msec=100
";
    let out = TempDir::new().unwrap();
    let words = bench.words(jobs, &["--output-format=json", "--output=results.json"]);
    let mut command = bench.lab.stiction(words);
    let ran = command.current_dir(out.path()).assert().code(0);
    assert_eq!(ran.get_output().stdout, b"");
    let text = fs::read_to_string(out.path().join("results.json")).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["jobs"][0]["jobname"], "w");
    assert_eq!(json["jobs"][0]["write"]["io_bytes"], 256 << 10);
    assert_eq!(json["jobs"][0]["write"]["total_ios"], 64);
    assert_eq!(json["jobs"][0]["job options"]["bs"], "4k");
    let log = fs::read_to_string(out.path().join("w_bw.1.log")).unwrap();
    assert!(log.lines().count() > 0, "{log}");
    let terse = bench.output(jobs.split("write_bw").next().unwrap(), &["--minimal"], 0);
    assert!(terse.starts_with("3;fio-"), "{terse}");
    let words = bench.words(jobs, &["--output-format=json", "--json"]);
    assert_says(&bench.lab.talk(words, 2), &["choose one"]);
}

/// What lint doubts is said at once, and kept with the session.
#[test]
fn doubts_are_said_and_kept() {
    let bench = Bench::new();
    let jobs = "[x]\nrw=randread\nsize=1m\niodepth=16\n";
    let words = bench.words(jobs, &[]);
    assert_says(&bench.lab.talk(words, 0), &["doubt: ", "jobs.fio:4"]);
    let report: Value = bench.lab.json(["show"], 0);
    let kept = report["results"][0]["caveats"].as_array().unwrap();
    assert!(
        kept.iter().any(|one| one["code"] == "job-file"
            && one["detail"].as_str().unwrap().contains("jobs.fio:4"))
    );
}

/// A wait, a delay and an end that others depend on.
#[test]
fn jobs_wait_for_each_other_and_end_each_other() {
    let bench = Bench::new();
    let jobs = "\
[global]
size=1m
[short]
rw=write
exitall
exit_what=all
[endless]
rw=randread
time_based
runtime=60
[later]
stonewall
rw=read
";
    let report = bench.json(jobs, &[], 0);
    let names: Vec<&Value> = phases(&report).iter().map(|phase| &phase["name"]).collect();
    assert_eq!(
        names,
        ["lay_down", "short", "endless"],
        "exit_what=all ends later waves"
    );

    let jobs = "\
[global]
size=256k
[first]
rw=write
[second]
rw=read
wait_for=first
[late]
rw=read
startdelay=20ms
";
    let report = bench.json(jobs, &[], 0);
    let start = |name| phase(&report, name)["start_ns"].as_u64().unwrap();
    let first_ns = phase(&report, "first")["elapsed_ns"].as_u64().unwrap();
    assert!(start("second") >= start("first") + first_ns);
    assert!(start("late") >= start("first") + 20_000_000);
}

fn device_job(device: &Path, rw: &str) -> String {
    format!(
        "[x]\nrw={rw}\nbs=64k\ndirect=1\nsize=4m\nfilename={}\n",
        device.display()
    )
}

#[test]
fn root_devices_are_read_freely_and_written_only_when_handed_over() {
    testkit::require_root!();
    let device = ScratchLoop::new(16 * MIB);
    let bench = Bench::new();
    let before = Counters::of(&device.name());
    let report = bench.json(&device_job(device.path(), "read"), &[], 0);
    assert_eq!(figure(phase(&report, "x"), "bytes"), 4.0 * MIB as f64);
    let text = bench.said(&device_job(device.path(), "write"), &[], 2);
    assert_says(&text, &["jobs.fio:6", "--scratch", "would destroy what"]);
    let beyond = device_job(device.path(), "read").replace("4m", "17m");
    let text = bench.said(&beyond, &[], 2);
    assert_says(&text, &["the region ends at byte 17825792"]);
    assert_eq!(Counters::of(&device.name()).since(before).written_bytes, 0);

    let serial = device.backing_file().display();
    let grant = format!("--scratch={}={serial}", device.path().display());
    let report = bench.json(&device_job(device.path(), "write"), &[&grant], 0);
    let written = Counters::of(&device.name()).since(before).written_bytes;
    assert_eq!(figure(phase(&report, "x"), "bytes"), 4.0 * MIB as f64);
    assert_eq!(written, 4 * MIB);
    let words = bench.words(&device_job(device.path(), "read"), &[&grant]);
    assert_says(&bench.lab.talk(words, 2), &["no job writes to it"]);
}
