//! The job files that stiction refuses, each with what it says.

use std::path::Path;
use std::process::Command;

use super::job_files;

/// The file, and what is said of it.
const REFUSED: [(&str, &str); 3] = [
    // fio takes a quarter of the file's size before it is made, which is nothing.
    ("part-of-a-file.fio", "give offsets in bytes"),
    ("trims.fio", "/dev/loop99 is not there"),
    ("backwards.fio", "sequential offsets only ascend"),
];

pub(crate) fn is_refused(file: &Path) -> bool {
    let name = file.file_name();
    REFUSED
        .iter()
        .any(|(refused, _)| name.is_some_and(|name| name == *refused))
}

/// What is refused says why, and nothing is written.
#[test]
fn what_is_refused_says_why() {
    let files = job_files();
    for (name, reason) in REFUSED {
        let file = files.iter().find(|file| file.ends_with(name));
        let folder = tempfile::tempdir().unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_stiction"))
            .env("STICTION_STORE", folder.path().join("store"))
            .args(["fio".as_ref(), file.expect(name).as_os_str()])
            .arg("--dir")
            .arg(folder.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        // Lines break anywhere.
        let without_blanks = |text: &str| text.split_whitespace().collect::<String>();
        for part in [reason, &format!("{name}:")] {
            let is_said = without_blanks(&said).contains(&without_blanks(part));
            assert!(is_said, "{name}: {said}");
        }
        let left = std::fs::read_dir(folder.path()).unwrap();
        let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == "store"), "{left:?}");
    }
}
