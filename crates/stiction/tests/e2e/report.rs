//! Reports printed again, from what is kept.

use testkit::scratch_folder;

use crate::lab::{Lab, assert_says, squeezed};

/// What the old program printed while it ran comes again from the session.
#[test]
fn a_classic_report_comes_again_letter_by_letter() {
    let cases = [
        (
            "ioping --classic --count=3 --interval=1ms --file-size=1M",
            "ioping",
        ),
        ("sync-methods --classic --seconds=0.01", "pg_test_fsync"),
        ("write-and-fsync --classic -m 1 -f", "zsh"),
        ("bonnie --classic=bonnie --size=1M:8k:10:2", "bonnie"),
        (
            "tiobench --classic --size=1 --threads=1 --random=10 --dir",
            "0.3.3",
        ),
        (
            "contest --classic --quick --units=2 --loads=none",
            "contest-0.61",
        ),
    ];
    for (command, layout) in cases {
        let (lab, folder) = (Lab::new(), scratch_folder());
        let words = command.split_whitespace().map(Into::into);
        let words: Vec<std::ffi::OsString> = words.chain([folder.path().into()]).collect();
        let printed = lab.output(words, 0);
        let again = lab.output(["report", "latest", "--layout", layout], 0);
        assert!(
            !again.is_empty() && printed.contains(again.trim_end()),
            "{printed}\n{again}"
        );
        assert_eq!(lab.output(["show", "latest", "--layout", layout], 0), again);
        let talk = lab.talk(["report", "latest", "--layout", "disk-test"], 2);
        assert_says(&talk, &["is not a session of parallel or pagecache"]);
    }
}

/// Without a layout it is the report of the workload, as it was printed.
#[test]
fn a_report_comes_again() {
    for command in [
        "metadata --files=10 --runs=1",
        "time-read --size=1M --runs=1",
        "pagecache --size=1M --seconds=0.01 --runs=1",
        "contest --quick --units=2 --loads=none",
    ] {
        let (lab, folder) = (Lab::new(), scratch_folder());
        let words = command.split_whitespace().map(Into::into);
        let words: Vec<std::ffi::OsString> = words.chain([folder.path().into()]).collect();
        let printed = lab.output(words, 0);
        let again = lab.output(["report"], 0);
        // The words that it was saved stand only where it was.
        let tables = |text: &str| {
            let lines = text.lines().filter(|line| !line.starts_with("Saved as"));
            squeezed(&lines.collect::<Vec<_>>().join("\n"))
        };
        assert_eq!(tables(&again), tables(&printed), "{command}");
    }
}
