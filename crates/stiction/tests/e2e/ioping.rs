//! `stiction ioping`.

use crate::lab::{Lab, assert_empty, assert_fits, assert_says, words};

#[test]
fn requests_are_counted_without_the_first() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let small = ["ioping", "--quick", "--count", "12", "--file-size", "1M"];
    let typed = small.map(std::ffi::OsString::from).into_iter();
    let text = lab.output(typed.chain([directory.path().into()]), 0);
    assert_fits(&text);
    assert_says(&text, &["requests", "mdev", "a request: "]);
    let json = lab.json(["show", "latest"], 0);
    let phases = json["results"][0]["phases"].as_array().unwrap();
    let requests = phases
        .iter()
        .find(|phase| phase["name"] == "requests")
        .unwrap();
    assert_eq!(requests["figures"]["operations_count"]["value"], 12.0);
    assert_eq!(requests["workers"][0]["operations"], 13);
    assert_empty(directory.path());
}

#[test]
fn the_classic_text_has_a_line_for_each_request() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let small = [
        "ioping",
        "--classic",
        "--count",
        "2",
        "--interval",
        "200ms",
        "--write",
        "--size",
        "8K",
        "--file-size",
        "1M",
    ];
    let typed = small.map(std::ffi::OsString::from).into_iter();
    let text = lab.output(typed.chain([directory.path().into()]), 0);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("8 KiB >>> "), "{text}");
    assert!(
        lines[0].contains(": request=1 time=") && lines[0].ends_with("(warmup)"),
        "{text}"
    );
    assert_says(
        &text,
        &[
            ": request=3 time=",
            " ioping statistics ---",
            "2 requests completed in ",
            ", 16 KiB written, ",
            "generated 3 requests in ",
            "min/avg/max/mdev = ",
        ],
    );
    assert_empty(directory.path());
}

#[test]
fn intervals_without_sense_are_refused() {
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let typed = words([&"ioping", &"--interval", &"2h", &directory.path()]);
    assert_says(&lab.talk(typed, 2), &["interval", "1 ms to 1 h"]);
}
