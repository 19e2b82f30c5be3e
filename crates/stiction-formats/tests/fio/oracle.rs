//! fio itself, asked what it makes of the same.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use stiction_formats::fio::options::find;
use stiction_formats::fio::{Amount, CommandLine, FioJob, JobFile, Nanoseconds, Resolved, resolve};

use crate::data_files::job_files;
use crate::{all, around, with};

fn fio(arguments: &[&str]) -> Output {
    let mut command = Command::new("fio");
    command.args(arguments).current_dir(std::env::temp_dir());
    command.output().expect("fio starts")
}

/// The numbers that fio's parser prints for an option with each of `values`, all in one
/// run: fio takes its time to start.
fn printed(shared: &[&str], option: &str, values: &[&str]) -> Vec<u64> {
    let mut arguments = vec!["--debug=parse".to_owned(), "--parse-only".to_owned()];
    for value in values {
        arguments.push("--name=x".to_owned());
        arguments.extend(shared.iter().map(|&shared| shared.to_owned()));
        arguments.push(format!("--{option}={value}"));
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = fio(&arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let numbers: Vec<u64> = lines
        .windows(2)
        .filter(|pair| pair[0].contains(&format!("__handle_option={option},")))
        .map(|pair| {
            let number = pair[1].split_once("out=").expect("fio prints the number").1;
            number.trim().parse().unwrap()
        })
        .collect();
    assert_eq!(numbers.len(), values.len(), "{text}");
    numbers
}

#[test]
fn all_generic_options_of_fio_are_known() {
    testkit::require_program!("fio");
    let help = fio(&["--cmdhelp"]);
    let help = String::from_utf8_lossy(&help.stdout).into_owned();
    let names: BTreeSet<&str> = help
        .lines()
        .filter_map(|line| Some(line.split_once(':')?.0.trim()))
        .collect();
    assert!(names.len() > 200, "{names:?}");
    let unknown: Vec<_> = names.iter().filter(|name| find(name).is_none()).collect();
    assert_eq!(unknown, Vec::<&&str>::new());
}

#[test]
fn aliases_are_fios() {
    testkit::require_program!("fio");
    for (alias, name) in [
        ("readwrite", "rw"),
        ("blocksize", "bs"),
        ("timeout", "runtime"),
        ("io_limit", "io_size"),
        ("wait_for_previous", "stonewall"),
        ("iodepth_batch_complete", "iodepth_batch_complete_min"),
        ("ss_dur", "steadystate_duration"),
    ] {
        let help = fio(&[&format!("--cmdhelp={name}")]);
        assert!(
            String::from_utf8_lossy(&help.stdout).contains(alias),
            "{name}"
        );
        assert_eq!(find(alias).map(|option| option.name), Some(name));
    }
}

#[test]
fn sizes_are_fios_bytes() {
    testkit::require_program!("fio");
    let texts = [
        "4096", "4k", "4K", "4kB", "4Ki", "4KiB", "3m", "3MiB", "2g", "0x1000", "5mib", "010",
    ];
    for base in ["1024", "1000"] {
        let theirs = printed(&[&format!("--kb_base={base}")], "io_size", &texts);
        for (text, theirs) in texts.iter().zip(theirs) {
            let ours = with(&format!("kb_base={base}\nio_size={text}")).extent.io;
            let ours = ours.and_then(Amount::known_bytes);
            assert_eq!(ours, Some(theirs), "{base} {text}");
        }
    }
}

#[test]
fn times_are_fios() {
    testkit::require_program!("fio");
    type Read = fn(FioJob) -> Option<Nanoseconds>;
    let options: [(&str, &[&str], Read); 4] = [
        (
            "runtime",
            &["30", "30s", "1500ms", "2m", "1h", "100us", "1d"],
            |job| job.time.limit,
        ),
        ("ramp_time", &["5", "5s", "10ms"], |job| Some(job.time.ramp)),
        ("thinktime", &["30", "5ms", "2s"], |job| {
            job.think.map(|think| think.pause)
        }),
        ("latency_target", &["30", "5ms", "2s"], |job| {
            job.latency.target
        }),
    ];
    for (option, texts, read) in options {
        for (text, theirs_us) in texts.iter().zip(printed(&[], option, texts)) {
            let ours = read(with(&format!("{option}={text}")));
            assert_eq!(ours, Some(Nanoseconds(theirs_us * 1000)), "{option}={text}");
        }
    }
}

/// What fio takes and what it refuses; it may refuse less, never more.
#[test]
fn what_fio_refuses_is_refused() {
    testkit::require_program!("fio");
    let lines = [
        "iodepth 4",
        "=4",
        "rw=",
        "iodepth==4",
        "direct",
        "direct=2",
        "direct=yes",
        "bogus=1",
        "iodepth=0",
        "iodepth=abc",
        "rwmixread=101",
        "rw=foo",
        "rw=RandRead",
        "IODEPTH=4",
        "bs=0",
        "bsrange=4k",
        "sync=2",
        "random_distribution=zoned:60/10:30/20",
        "time_based=",
        "rw = randread",
        "size=(2",
        "fallocate=maybe",
        "nice=20",
        "kb_base=1001",
    ];
    let folder = tempfile_folder();
    for line in lines {
        let text = format!("[x]\nsize=1m\n{line}\n");
        let path = folder.join("line.fio");
        std::fs::write(&path, &text).unwrap();
        let output = fio(&["--parse-only", path.to_str().unwrap()]);
        assert!(!output.status.success(), "fio takes {line}");
        assert!(all(&text).is_err(), "{line}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// fio takes every job file, and the command line that it prints for each comes to the
/// same jobs as the file.
#[test]
fn the_job_files_are_fios_and_so_are_its_command_lines() {
    testkit::require_program!("fio");
    let files = job_files();
    let paths: Vec<&str> = files.iter().filter_map(|(path, _)| path.to_str()).collect();
    let output = fio(&[&["--parse-only"], &paths[..]].concat());
    assert!(output.status.success(), "{output:?}");
    let shown = fio(&[&["--showcmd"], &paths[..]].concat());
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), files.len(), "{shown}");
    for ((path, text), line) in files.iter().zip(lines) {
        let arguments: Vec<String> = line.split_whitespace().skip(1).map(str::to_owned).collect();
        let line = CommandLine::parse(&arguments, &around()).unwrap();
        assert!(line.files.is_empty() && line.program.is_empty());
        let from_line = resolve(&JobFile::default().with(line)).unwrap();
        let from_file = all(text).unwrap();
        let jobs = |resolved: Resolved| -> Vec<FioJob> {
            resolved
                .jobs
                .into_iter()
                .map(|resolved| resolved.job)
                .collect()
        };
        assert_eq!(jobs(from_line), jobs(from_file), "{}", path.display());
    }
}

fn tempfile_folder() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("stiction-fio-lines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
