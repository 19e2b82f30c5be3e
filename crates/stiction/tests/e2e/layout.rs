//! `stiction layout` against filefrag, and where there is nothing to tell.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::process::Command;

use crate::lab::{Lab, assert_fits, assert_says, words};

/// The lines of a map without the blanks that stand where nothing is said.
fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

#[test]
fn root_the_view_of_filefrag_is_what_filefrag_prints() {
    testkit::require_root!();
    testkit::require_program!("filefrag");
    let lab = Lab::new();
    for kind in [testkit::LoopKind::Ext4, testkit::LoopKind::Xfs] {
        testkit::require_program!(kind.mkfs());
        let filesystem = testkit::LoopFilesystem::new(kind, 512 << 20);
        let paths = ["a", "b"].map(|name| filesystem.path().join(name));
        for round in 0..5_u64 {
            for path in &paths {
                let file = File::options()
                    .create(true)
                    .truncate(false)
                    .write(true)
                    .open(path);
                let file = file.unwrap();
                file.write_all_at(&[7; 5000], round * 20_000).unwrap();
                file.sync_all().unwrap();
            }
        }
        let theirs = Command::new("filefrag")
            .arg("-v")
            .args(&paths)
            .output()
            .unwrap();
        let ours = lab.output(
            words([&"layout", &"--view", &"filefrag", &paths[0], &paths[1]]),
            0,
        );
        assert_eq!(
            lines(&ours),
            lines(&String::from_utf8(theirs.stdout).unwrap())
        );

        let text = lab.output(words([&"layout", &paths[0], &paths[1]]), 0);
        assert_fits(&text);
        assert_says(&text, &["holes", "in 2 files"]);
        let json = lab.json(words([&"layout", &paths[0], &paths[1]]), 0);
        // Five pieces of 5000 bytes, one every 20 000, are in the blocks 0 and 1, 4 to 6, 9
        // and 10, 14 and 15, 19 and 20 of 4096 bytes; the last block ends with the file.
        let hole = json["files"][0]["hole_bytes"].as_u64().unwrap();
        assert_eq!(hole, (20 - 10) * 4096);
    }
}

#[test]
fn root_where_a_filesystem_has_no_map_nothing_is_measured() {
    testkit::require_root!();
    let lab = Lab::new();
    let tmpfs = testkit::TmpfsMount::new(1 << 20);
    let path = tmpfs.path().join("file");
    fs::write(&path, [1; 4096]).unwrap();
    for view in ["summary", "bmap"] {
        let text = lab.output(words([&"layout", &"--view", &view, &path]), 3);
        assert_says(&text, &["not measured"]);
    }
    let json = lab.json(words([&"layout", &path]), 3);
    assert!(json["together"].is_null() && json["files"][0]["layout"].is_null());
}

#[test]
fn what_is_no_file_is_refused() {
    let lab = Lab::new();
    let talk = lab.talk(["layout", "/"], 2);
    assert_says(
        &talk,
        &["cannot ask for the extents of /", "not a regular file"],
    );
    let talk = lab.talk(["layout", "/no/such/file"], 2);
    assert_says(&talk, &["/no/such/file", "check the path"]);
}
