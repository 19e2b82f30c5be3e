//! Limits of the process: told where they are met, and no death by signal.

use std::ffi::OsStr;
use std::process::Command;

use crate::lab::{Lab, PATIENCE, assert_empty, assert_says, binary, squeezed};

/// `stiction` where no file may grow beyond `bytes`.
fn limited(lab: &Lab, bytes: u64, arguments: &[&OsStr], code: i32) -> (String, String) {
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--fsize={bytes}"))
        .arg(binary())
        .args(arguments)
        .env("STICTION_STORE", lab.store());
    let mut command = assert_cmd::Command::from_std(command);
    // A death by SIGXFSZ has no exit code.
    let assert = command.timeout(PATIENCE).assert().code(code);
    let text = |bytes: &[u8]| squeezed(&String::from_utf8_lossy(bytes));
    let output = assert.get_output();
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn a_limit_of_the_file_size_is_kept_to() {
    testkit::require_program!("prlimit");
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let here = directory.path().as_os_str();
    let words = |text: &'static str| text.split(' ').map(OsStr::new);

    // A file that may be written is measured.
    let typed: Vec<&OsStr> = words("quick --seconds 1").chain([here]).collect();
    let (output, _) = limited(&lab, 1 << 20, &typed, 0);
    assert_says(&output, &["Saved as "]);
    // A larger one is refused, with the limit.
    let typed: Vec<&OsStr> = words("quick --size 2M").chain([here]).collect();
    let (_, talk) = limited(&lab, 1 << 20, &typed, 4);
    assert_says(&talk, &["1 MiB", "ulimit -f"]);
    let typed: Vec<&OsStr> = words("tiobench --size 2 --threads 1 --runs 1 -d")
        .chain([here])
        .collect();
    let (output, _) = limited(&lab, 1 << 20, &typed, 4);
    assert_says(&output, &["1 MiB", "ulimit -f", "Nothing was measured"]);
    assert_empty(directory.path());
}

/// Not even the store can be written then.
#[test]
fn a_limit_of_the_file_size_below_the_stores_own_files_is_told() {
    testkit::require_program!("prlimit");
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    for bytes in [0, 1, 512, 4096, 8192, 32_768] {
        let lab = Lab::new();
        // What can only not be written is read all the same, from the journals.
        let (output, talk) = limited(&lab, bytes, &[OsStr::new("list")], 0);
        assert_says(&talk, &["ulimit -f"]);
        assert_says(&output, &["No sessions"]);
        // With the limit gone the store is as good as new.
        assert!(lab.output(["list"], 0).contains("No sessions"));
    }
    lab.output(["list"], 0);
    let typed = ["quick", "--seconds", "1"].map(OsStr::new);
    let typed: Vec<&OsStr> = typed
        .into_iter()
        .chain([directory.path().as_os_str()])
        .collect();
    limited(&lab, 1, &typed, 2);
    assert_empty(directory.path());
    assert!(lab.output(["list"], 0).contains("No sessions"));
}
