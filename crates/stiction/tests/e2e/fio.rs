//! `stiction fio`: job files, read as fio reads them.

use std::path::PathBuf;

use crate::lab::{Lab, assert_fits};
use stiction_formats::fio::job::BlockSize;
use stiction_formats::fio::{Bytes, from_toml};

/// Writes a file beside the store.
fn file(lab: &Lab, name: &str, text: &str) -> PathBuf {
    let path = lab.store().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

const READS: &str = "[reads]\nrw=randread\nsize=1m\n[writes]\nrw=write\nsize=2m\n";

#[test]
fn lint_says_what_will_happen_and_runs_nothing() {
    let lab = Lab::new();
    let jobs = file(&lab, "jobs.fio", READS);
    let text = lab.output(["fio".as_ref(), "lint".as_ref(), jobs.as_os_str()], 0);
    assert_fits(&text);
    assert!(
        text.lines()
            .last()
            .unwrap()
            .starts_with("2 jobs, 3 MiB moved, no time limit: ")
    );
    let left: Vec<_> = std::fs::read_dir(lab.store()).unwrap().collect();
    assert_eq!(left.len(), 1, "only the job file: {left:?}");
}

#[test]
fn the_command_line_beats_the_file_and_chooses_among_its_jobs() {
    let lab = Lab::new();
    let jobs = file(&lab, "jobs.fio", READS);
    let jobs = jobs.to_str().unwrap();
    let lint = lab.json(
        [
            "fio",
            "lint",
            jobs,
            "--section=writes",
            "--numjobs",
            "3",
            "--bs=64k",
        ],
        0,
    );
    assert_eq!(lint["schema"], "stiction-fio-lint");
    assert_eq!(lint["jobs"].as_array().unwrap().len(), 1);
    assert_eq!(lint["jobs"][0]["name"], "writes");
    assert_eq!(lint["total"]["moved_bytes"], 3 * (2 << 20));
    let alone = lab.json(["fio", "lint", "--name=alone", "--size=4m", "--rw=read"], 0);
    assert_eq!(alone["total"]["moved_bytes"], 4 << 20);
}

#[test]
fn errors_in_the_file_end_with_2_and_name_their_lines() {
    let lab = Lab::new();
    let jobs = file(&lab, "bad.fio", "[x]\nsize=1m\nrww=read\n");
    let arguments = ["fio".as_ref(), "lint".as_ref(), jobs.as_os_str()];
    let text = lab.output(arguments, 2);
    assert_fits(&text);
    assert!(
        text.contains("bad.fio:3:1") && text.contains("did you mean `rw`?"),
        "{text}"
    );
    let convert = ["fio".as_ref(), "convert".as_ref(), jobs.as_os_str()];
    assert_eq!(lab.output(convert, 2), "", "half a conversion is none");
}

#[test]
fn jobs_that_will_fail_end_with_2() {
    let lab = Lab::new();
    let jobs = file(&lab, "odd.fio", "[x]\nsize=1m\ndirect=1\nbs=1000\n");
    let lint = lab.json(["fio".as_ref(), "lint".as_ref(), jobs.as_os_str()], 2);
    assert_eq!(lint["findings"][0]["severity"], "failure");
    assert_eq!(lint["findings"][0]["code"], "direct-unaligned");
}

#[test]
fn a_conversion_reads_back() {
    let lab = Lab::new();
    let jobs = file(&lab, "jobs.fio", READS);
    let arguments = ["fio".as_ref(), "convert".as_ref(), jobs.as_os_str()];
    let read = from_toml("jobs.toml", &lab.output(arguments, 0)).unwrap();
    assert_eq!(read.len(), 2);
    assert_eq!(read[1].name, "writes");
    assert_eq!(read[1].block.size.write, BlockSize::Fixed(Bytes(4096)));
}

#[test]
fn includes_are_beside_their_file_and_variables_are_the_environments() {
    let lab = Lab::new();
    file(&lab, "common.inc", "size=${STICTION_TEST_SIZE}\n");
    let jobs = file(&lab, "jobs.fio", "[x]\ninclude common.inc\n");
    let arguments = [
        "fio".as_ref(),
        "lint".as_ref(),
        jobs.as_os_str(),
        "--json".as_ref(),
    ];
    let assert = lab
        .stiction(arguments)
        .env("STICTION_TEST_SIZE", "3m")
        .assert()
        .code(0);
    let lint: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    assert_eq!(lint["jobs"][0]["region_each_bytes"], 3 << 20);
    let without = lab.output(arguments, 2);
    assert!(
        without.contains("STICTION_TEST_SIZE is not set"),
        "{without}"
    );
}

#[test]
fn what_is_not_about_jobs_is_refused_with_what_to_do() {
    let lab = Lab::new();
    let jobs = file(&lab, "jobs.fio", READS);
    let jobs = jobs.to_str().unwrap();
    for (words, said) in [
        (
            &["fio", "lint", jobs, "--output-format=json"][..],
            "--output-format",
        ),
        (&["fio", "lint", jobs, "--dir", "/mnt"], "--dir is for jobs"),
        (&["fio", "lint", jobs, jobs], "include FILE"),
        (&["fio", "lint", "/no/such.fio"], "/no/such.fio"),
        (&["fio", "lint", "--rw=read"], "--name=NAME"),
        (&["fio", "convert", jobs, "--json"], "TOML"),
    ] {
        let assert = lab.stiction(words).assert().code(2);
        let talk = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(talk.contains(said), "{words:?}: {talk}");
    }
}
