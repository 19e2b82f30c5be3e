//! Text for terminals has 80 columns, whatever is in it.

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
    let quick = |label: &str| {
        let label = format!("--label={label}");
        words([&"quick", &"--seconds=1", &"--size=8M", &label, &directory])
    };
    let long = "label".repeat(30);
    assert_fits(&lab.output(quick("one"), 0));
    assert_fits(&lab.output(quick(&long), 0));
    let refused = words([&"quick", &"--size=10T", &directory]);
    lab.talk(refused, 4);

    let typed =
        "tiobench --size=8,16 --threads=1,16 --block=4K,64K --random=50 --runs=2 --label=two";
    let tiobench: Vec<_> = typed.split(' ').map(Into::into).collect();
    let tiobench = [tiobench, words([&"-d", &directory]).to_vec()].concat();
    assert_fits(&lab.output(&tiobench, 0));
    assert_fits(&lab.output(
        [
            "tiobench",
            "--size=8",
            "--threads=1",
            "--block=1M",
            "--runs=1",
            "--random=5",
            "--direct",
            "--check-consistency",
            "--dir",
            &*directory.to_string_lossy(),
        ],
        0,
    ));

    assert_fits(&lab.output(["list"], 0));
    for name in ["one", "two", &long, "latest"] {
        assert_fits(&lab.output(["show", name], 0));
    }
    for (a, b) in [("one", long.as_str()), ("two", "two"), ("one", "two")] {
        let assert = lab.stiction(["compare", a, b]).assert();
        assert_fits(&String::from_utf8_lossy(&assert.get_output().stdout));
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
        (
            "contest-ext2-ext3.txt",
            "2.4.20-pre7-rmap14a-xfs-uml-custom12d(EXT2)",
            "2.4.20-pre7-rmap14a-xfs-uml-custom12d(EXT3)",
        ),
    ] {
        let assert = lab
            .stiction(words([&"compare", &seed(name), &a, &b]))
            .assert();
        let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
        assert_fits(&text);
    }
}
