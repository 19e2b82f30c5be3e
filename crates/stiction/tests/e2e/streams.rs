//! Readers that go away, disks that are full under stdout, and no streams at all.

use std::fs::File;
use std::process::{Command, Stdio};

use crate::lab::{Lab, assert_empty, assert_says, binary, squeezed, words};

/// Ends a command whose stdout is `stream`: its code and what it said.
fn said(mut command: Command, stream: impl Into<Stdio>) -> (Option<i32>, String) {
    command.stdout(stream).stderr(Stdio::piped());
    let output = command.output().expect("stiction runs");
    let talk = squeezed(&String::from_utf8_lossy(&output.stderr));
    (output.status.code(), talk)
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let quick = words([&"quick", &"--seconds=1", &"--size=4M", &directory.path()]);
    for arguments in [&quick[..], &words([&"list"]), &words([&"--help"])] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        assert_eq!(
            said(lab.process(arguments), writer),
            (Some(0), String::new())
        );
    }
    assert_empty(directory.path());
}

#[test]
fn a_full_disk_under_stdout_is_told_and_the_session_kept() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let full = || {
        File::options()
            .write(true)
            .open("/dev/full")
            .expect("/dev/full")
    };
    let (code, talk) = said(lab.process(["list"]), full());
    assert_eq!(code, Some(2));
    assert_says(&talk, &["standard output", "os error 28"]);

    let quick = words([&"quick", &"--seconds=1", &"--size=4M", &directory.path()]);
    let (code, talk) = said(lab.process(quick), full());
    assert_eq!(code, Some(2));
    let (_, advice) = talk.split_once("`stiction ").expect("what to do");
    let (command, _) = advice.split_once('`').expect("a command");
    assert_says(&lab.output(command.split(' '), 0), &["sequential write"]);
    assert_empty(directory.path());
}

/// Files that are opened then get the numbers of stdin, stdout and stderr: nothing that
/// is printed may go into them.
#[test]
fn without_any_stream_the_session_is_kept_whole() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let status = Command::new("sh")
        .args(["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-"])
        .arg(binary())
        .args(words([
            &"quick",
            &"--seconds=1",
            &"--size=4M",
            &directory.path(),
        ]))
        .env("STICTION_STORE", lab.store())
        .status()
        .expect("sh runs");
    assert_eq!(status.code(), Some(0));
    assert_says(&lab.output(["show"], 0), &["completed", "commit (measure"]);
    assert_says(
        &lab.output(["store", "rebuild"], 0),
        &["1 session", "0 unreadable"],
    );
    assert_empty(directory.path());
}

#[test]
fn colours_are_for_terminals() {
    let lab = Lab::new();
    let file = crate::lab::seed("tiobench-ext3-32-threads.txt");
    let typed = words([&"compare", &file, &"2.5.59", &"2.5.59-mm2"]);
    let escape = |arguments: &[std::ffi::OsString]| lab.output(arguments, 3).contains('\x1b');
    assert!(!escape(&typed));
    let always = [&typed[..], &words([&"--color=always"])].concat();
    assert!(escape(&always));
}
