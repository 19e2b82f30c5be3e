//! Every benchmark, killed in each of its phases: `stiction clean` removes what is left.

use std::ops::RangeInclusive;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::contest::until_none_works_in;
use crate::lab::{Lab, assert_empty};
use crate::running::Running;
use crate::signals::{journals, kept_phases};

/// A command that goes on for longer than the test, and how many phases are whole when it
/// is killed, once for each number. `DIR` is the directory, `OTHER` another one.
type Case = (&'static str, RangeInclusive<usize>);

/// A directory in memory: phases are over soon, and what is left is there all the same.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").expect("a directory in memory")
}

/// Kills each command as soon as so many phases are whole.
fn killed_in_each_phase(cases: &[Case]) {
    for (command, phases) in cases {
        for whole in phases.clone() {
            let lab = Lab::new();
            let (folder, other) = (folder(), folder());
            lab.output(["list"], 0);
            let words = command.split_whitespace().map(|word| match word {
                "DIR" => folder.path().as_os_str().to_owned(),
                "OTHER" => other.path().as_os_str().to_owned(),
                word => word.into(),
            });
            let mut run = Running::start(lab.process(words));
            let has_begun = || !crate::lab::entries(&journals(&lab)).is_empty();
            run.until(&journals(&lab), || {
                has_begun() && kept_phases(&lab) >= whole
            });
            run.send(Signal::KILL);
            let ended = run.end();
            assert_eq!(ended.status.code(), None, "{command}: {ended:?}");
            until_none_works_in(folder.path());
            lab.output(["clean"], 0);
            assert_empty(folder.path());
            assert_empty(other.path());
        }
    }
}

#[test]
fn streams_leave_nothing() {
    killed_in_each_phase(&[
        ("quick --seconds=1 --size=4M DIR", 0..=6),
        (
            "tiobench --size=4 --threads=2 --random=100 --runs=500 --dir DIR",
            0..=4,
        ),
        (
            "tiobench --classic --size=4 --threads=2 --random=100 --runs=500 --dir DIR",
            1..=4,
        ),
        ("write-and-fsync --size=2M --files=2 --runs=500 DIR", 0..=1),
        ("time-read --size=2M --passes=2 --runs=500 DIR", 0..=2),
        (
            "parallel --size=2M --seconds=0.05 --runs=500 DIR OTHER",
            0..=2,
        ),
        ("pagecache --size=2M --seconds=0.02 --runs=500 DIR", 0..=11),
        ("ladder --size=2M --seconds=0.02 --runs=500 DIR", 0..=9),
        ("curve --size=2M --seconds=3600 DIR", 0..=1),
        (
            "ioping --count=1000000 --interval=1ms --file-size=2M DIR",
            0..=1,
        ),
    ]);
}

#[test]
fn files_and_calls_leave_nothing() {
    killed_in_each_phase(&[
        (
            "bonnie --size=2M:8k:100:2 --files=1:200:100:3 --runs=500 DIR",
            0..=12,
        ),
        (
            "bonnie --classic=2.00a --skip=per-char --size=2M:8k:100:2 --files=1:-1 --runs=500 DIR",
            5..=8,
        ),
        (
            "tree-move --same-filesystem --files=40 --directories=4 --size=1M --rounds=1 \
             --runs=500 --from DIR --to OTHER",
            0..=8,
        ),
        (
            "metadata --files=40 --size=1000 --threads=2 --depth=1 --branch=2 --sync=5 \
             --runs=500 DIR",
            0..=10,
        ),
        // All methods but for the first phase are alike.
        ("sync-methods --seconds=0.02 --runs=500 DIR", 0..=3),
    ]);
}

#[test]
fn contest_leaves_nothing() {
    killed_in_each_phase(&[
        (
            "contest --quick --units=2 --loads=none --runs=500 DIR",
            0..=2,
        ),
        (
            "contest --quick --units=2 --loads=cacherun --runs=500 DIR",
            1..=3,
        ),
        (
            "contest --quick --units=2 --loads=process --runs=500 DIR",
            1..=5,
        ),
        (
            "contest --quick --units=2 --loads=xtar --runs=500 DIR",
            1..=5,
        ),
        (
            "contest --quick --units=2 --loads=dbench --runs=500 DIR",
            1..=4,
        ),
        (
            "contest --quick --units=2 --memory=2 --loads=io-other --runs=500 \
             --other-dir OTHER DIR",
            1..=4,
        ),
        (
            "contest --quick --job=fsync-append --loads=read --memory=2 --runs=500 DIR",
            3..=4,
        ),
    ]);
}
