//! Text for terminals has 80 columns, whatever is in it.

use std::ffi::OsString;

use testkit::{LoopFilesystem, LoopKind};

use crate::lab::{Lab, assert_fits, seed, words};

const SEEDS: [&str; 8] = [
    "contest-ext2-ext3.txt",
    "contest-log-ext2.txt",
    "contest-log-ext3-quoted-wrapped.txt",
    "contest-log-ext3.txt",
    "four-disks-time-lines.txt",
    "osdl-percent-from-baseline.txt",
    "tiobench-ext3-32-threads.txt",
    "tree-move-and-bonnie.txt",
];

#[test]
fn root_measured_sessions_fit_a_terminal() {
    testkit::require_root!();
    let lab = Lab::new();
    // A long name on a stack of several layers.
    let filesystem = LoopFilesystem::new(LoopKind::Ext4, 256 << 20);
    let directory = filesystem
        .path()
        .join("n".repeat(120))
        .join("d".repeat(120));
    std::fs::create_dir_all(&directory).expect("a directory");
    let here = |typed: &str| {
        let typed = typed.split(' ').map(OsString::from);
        typed.chain([directory.clone().into()]).collect::<Vec<_>>()
    };
    let long = "label".repeat(30);
    for label in ["one", &long] {
        let typed = format!("quick --seconds=1 --size=8M --label={label}");
        assert_fits(&lab.output(here(&typed), 0));
    }
    for typed in [
        "tiobench --size=8,16 --threads=1,16 --block=4K,64K --random=50 --runs=2 --label=two -d",
        "tiobench --size=8 --threads=1 --block=1M --runs=1 --random=5 --direct -c -d",
    ] {
        assert_fits(&lab.output(here(typed), 0));
    }
    assert_fits(&lab.output(here("tiobench --size=8T --threads=1 --dir"), 4));

    assert_fits(&lab.output(["list"], 0));
    for name in ["one", "two", &long, "latest"] {
        assert_fits(&lab.output(["show", name], 0));
    }
    for (a, b, code) in [
        ("one", long.as_str(), 3),
        ("two", "two", 3),
        ("one", "two", 4),
    ] {
        let text = lab.output(["compare", a, b], code);
        assert!(!text.is_empty());
        assert_fits(&text);
    }
    assert_fits(&lab.output(["clean"], 0));
    assert_fits(&lab.output(["delete", "one"], 0));
}

#[test]
fn imported_sessions_fit_a_terminal() {
    let lab = Lab::new();
    for name in SEEDS {
        assert_fits(&lab.output(words([&"import", &seed(name)]), 0));
        assert_fits(&lab.output(["show"], 0));
    }
    assert_fits(&lab.output(["list"], 0));
    for (name, a, b) in [
        ("tiobench-ext3-32-threads.txt", "2.5.59", "2.5.59-mm2"),
        ("contest-ext2-ext3.txt", "ext2", "ext3"),
    ] {
        let text = lab.output(words([&"compare", &seed(name), &a, &b]), 3);
        assert!(!text.is_empty());
        assert_fits(&text);
    }
}
