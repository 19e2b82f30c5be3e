//! fio itself, asked what it makes of the same.

use std::collections::BTreeSet;
use std::process::{Command, Output};

use stiction_formats::fio::options::find;
use stiction_formats::fio::{Amount, resolve};

use crate::data_files::job_files;
use crate::{all, around, with};

fn fio(arguments: &[&str]) -> Output {
    let mut command = Command::new("fio");
    command.args(arguments).current_dir(std::env::temp_dir());
    command.output().expect("fio starts")
}

/// The number that fio's parser prints for an option.
fn printed(lines: &[&str], option: &str) -> u64 {
    let mut arguments = vec!["--debug=parse", "--parse-only", "--name=x"];
    arguments.extend(lines);
    let output = fio(&arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut after = text
        .lines()
        .skip_while(|line| !line.contains(&format!("__handle_option={option},")));
    after
        .find_map(|line| line.split_once("out=")?.1.trim().parse().ok())
        .unwrap_or_else(|| panic!("fio prints no {option}: {text}"))
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
    for base in ["1024", "1000"] {
        for text in [
            "4096", "4k", "4K", "4kB", "4Ki", "4KiB", "3m", "3MiB", "2g", "0x1000", "5mib", "010",
        ] {
            let base_option = format!("--kb_base={base}");
            let size = format!("--io_size={text}");
            let theirs = printed(&[&base_option, &size], "io_size");
            let ours = with(&format!("kb_base={base}\nio_size={text}")).extent.io;
            assert_eq!(
                ours.and_then(Amount::known_bytes),
                Some(theirs),
                "{base} {text}"
            );
        }
    }
}

#[test]
fn times_are_fios() {
    testkit::require_program!("fio");
    for text in ["30", "30s", "1500ms", "2m", "1h", "100us", "1d"] {
        let theirs_us = printed(&[&format!("--runtime={text}")], "runtime");
        let ours_ns = with(&format!("runtime={text}")).time.limit.unwrap().0;
        assert_eq!(ours_ns, theirs_us * 1000, "runtime={text}");
    }
    for text in ["30", "5ms", "2s"] {
        let theirs_us = printed(&[&format!("--thinktime={text}")], "thinktime");
        let ours_ns = with(&format!("thinktime={text}")).think.unwrap().pause.0;
        assert_eq!(ours_ns, theirs_us * 1000, "thinktime={text}");
        let theirs_us = printed(&[&format!("--latency_target={text}")], "latency_target");
        let ours_ns = with(&format!("latency_target={text}"))
            .latency
            .target
            .unwrap()
            .0;
        assert_eq!(ours_ns, theirs_us * 1000, "latency_target={text}");
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

#[test]
fn the_job_files_are_fios() {
    testkit::require_program!("fio");
    for (path, text) in job_files() {
        let output = fio(&["--parse-only", path.to_str().unwrap()]);
        assert!(output.status.success(), "{}", path.display());
        let shown = fio(&["--showcmd", path.to_str().unwrap()]);
        let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
        let file = stiction_formats::fio::parse("t.fio", &text, &around()).unwrap();
        let names: Vec<String> = resolve(&file)
            .unwrap()
            .jobs
            .into_iter()
            .map(|r| r.job.name)
            .collect();
        let theirs: Vec<&str> = shown
            .split("--name=")
            .skip(1)
            .filter_map(|rest| rest.split_whitespace().next())
            .collect();
        assert_eq!(names, theirs, "{}", path.display());
    }
}

fn tempfile_folder() -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("stiction-fio-lines-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
