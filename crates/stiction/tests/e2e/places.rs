//! Places and amounts that are odd: each is measured rightly or refused clearly, and
//! nothing of ours is left there.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use crate::counters::{asked_bytes, phases};
use crate::lab::{Lab, assert_empty, assert_says, words};

#[test]
fn a_name_with_blanks_and_bytes_that_are_no_text_is_measured() {
    let lab = Lab::new();
    let top = testkit::scratch_folder();
    let name = OsStr::from_bytes(b"a b\xff\x1b[31m\n\xc3\xa9");
    let directory = top.path().join(name);
    std::fs::create_dir(&directory).expect("a directory");

    let text = lab.output(
        words([&"quick", &"--seconds", &"1", &"--size", &"4M", &directory]),
        0,
    );
    assert_says(&text, &["Saved as ", "random read"]);
    let typed = [
        "tiobench",
        "--size=4",
        "--threads=2",
        "--random=50",
        "--runs=1",
        "-d",
    ];
    let text = lab.output(
        typed.iter().map(OsStr::new).chain([directory.as_os_str()]),
        0,
    );
    assert_says(&text, &["Best: write "]);
    // What a terminal would obey is not printed.
    let list = lab.output(["list"], 0);
    let printable = |c: char| c == '\n' || (' '..='~').contains(&c);
    assert!(list.chars().all(printable) && text.chars().all(printable));
    assert_empty(&directory);
}

#[test]
fn what_is_no_directory_is_refused_before_anything_is_made() {
    let lab = Lab::new();
    let top = testkit::scratch_folder();
    let file = top.path().join("file");
    std::fs::write(&file, "kept").expect("a file");
    let missing = top.path().join("missing");
    for (place, reason) in [(&file, "is not a directory"), (&missing, "os error 2")] {
        for arguments in [
            words([&"quick", place]),
            words([&"tiobench", &place_of(place)]),
        ] {
            let talk = lab.talk(arguments, 2);
            assert_says(&talk, &[&*place.to_string_lossy(), reason]);
        }
    }
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "kept");
    assert!(!missing.exists());
    assert!(lab.output(["list"], 0).contains("No sessions"));
}

fn place_of(path: &Path) -> std::ffi::OsString {
    let mut word = std::ffi::OsString::from("--dir=");
    word.push(path);
    word
}

#[test]
fn an_amount_of_nothing_is_refused() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let here = place_of(directory.path());
    let talk = lab.talk(words([&"quick", &"--size=0", &directory.path()]), 4);
    assert_says(&talk, &["0 B", "256 KiB or more"]);
    for (option, reason) in [
        ("--size=0", "0 bytes"),
        ("--threads=0", "1 to 65536"),
        ("--threads=65537", "1 to 65536"),
        ("--block=0", "1 byte to 1 GiB"),
        ("--random=0", "skip"),
    ] {
        let talk = lab.talk(words([&"tiobench", &option, &here]), 2);
        assert_says(&talk, &[reason]);
    }
    for option in ["--runs=0", "--size=many", "--threads=-1", "--block=4KB!"] {
        lab.talk(words([&"tiobench", &option, &here]), 2);
    }
    assert_empty(directory.path());
}

#[test]
fn blocks_are_held_against_sectors_and_files() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let here = place_of(directory.path());
    let tiobench = |options: &str, code: i32| {
        let typed = format!("tiobench --size=1 --threads=1 --random=10 --runs=1 {options}");
        let arguments = typed.split_whitespace().map(OsStr::new);
        lab.json(arguments.chain([here.as_os_str()]), code)
    };
    // 1048 whole blocks of 1000 bytes are in 1 MiB.
    let report = tiobench("--block=1000", 0);
    assert_eq!(asked_bytes(&report, &["write"]), 1_048_000);
    assert_eq!(asked_bytes(&report, &["random_read"]), 10_000);

    let refused = tiobench("--block=1000 --direct", 4);
    assert!(phases(&refused).is_empty());
    assert_says(&refused.to_string(), &["not a multiple", "O_DIRECT"]);

    let typed = ["tiobench", "--size=1", "--threads=1", "--block=2M"];
    let arguments = typed.iter().map(OsStr::new).chain([here.as_os_str()]);
    assert_says(&lab.talk(arguments, 2), &["larger than a thread's share"]);
    assert_empty(directory.path());
}

#[test]
fn more_than_there_is_room_for_is_refused() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let here = place_of(directory.path());
    let talk = lab.talk(words([&"quick", &"--size=100000T", &directory.path()]), 4);
    assert_says(&talk, &["do not fit", "smaller size"]);
    for mode in ["--runs=1", "--classic"] {
        let arguments = words([&"tiobench", &"--size=100000T", &"--threads=1", &mode, &here]);
        let text = crate::lab::squeezed(&lab.output(arguments, 4));
        assert_says(&text, &["may be written before it is 95 % full"]);
    }
    assert_empty(directory.path());
}

#[test]
fn thousands_of_threads_are_measured() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let arguments = words([
        &"tiobench",
        &"--runs=1",
        &"--size=16",
        &"--threads=4096",
        &"--random=4096",
        &place_of(directory.path()),
    ]);
    let report = lab.json(arguments, 0);
    for phase in phases(&report) {
        assert_eq!(phase["workers"].as_array().map(Vec::len), Some(4096));
        assert_eq!(phase["figures"]["bytes"]["value"], f64::from(16 << 20));
    }
    assert_eq!(phases(&report).len(), 4);
    assert_empty(directory.path());
}

/// As its driver did, each thread gets a whole megabyte at least; the report says so, and
/// is read back without a rest.
#[test]
fn a_classic_report_says_where_its_size_is_not_what_was_written() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let typed = [
        "tiobench",
        "--classic",
        "--size=4",
        "--threads=20",
        "--random=20",
    ];
    let here = place_of(directory.path());
    let text = lab.output(typed.iter().map(OsStr::new).chain([here.as_os_str()]), 0);
    assert_says(
        &text,
        &["File Size 4, Num Thr 20: the files had 20 MB in all."],
    );
    let report = lab.json(["show"], 0);
    assert_eq!(asked_bytes(&report, &["write"]), 20 << 20);

    let file = lab.store().join("report.txt");
    std::fs::write(&file, text).expect("a file");
    let imported = lab.json(words([&"import", &file]), 0);
    let unread = imported["files"][0]["unread"].as_array();
    assert_eq!(unread.map(Vec::len), Some(0), "{imported:#}");
}
