//! Each phase that writes files says where they lie.

use testkit::scratch_folder;

use crate::counters::phase;
use crate::lab::{Lab, assert_empty};

#[test]
fn every_phase_that_writes_has_the_layout_of_its_files() {
    let cases: [(&str, &[(&str, u64)]); 5] = [
        (
            "bonnie --size=2M:8k:100:2 --skip=per-char,random --files=1:2000:100:3 --runs=1 DIR",
            &[("put_block", 1), ("rewrite", 1), ("create_sequential", 512)],
        ),
        (
            "tree-move --same-filesystem --files=40 --directories=4 --size=1M --rounds=1 --runs=1 \
             --from DIR --to OTHER",
            &[
                ("lay_down", 40),
                ("copy_out", 40),
                ("sync_out", 40),
                ("copy_back", 40),
            ],
        ),
        (
            "metadata --files=30 --size=1000 --runs=1 --sync=5 DIR",
            &[("create", 30), ("sync_files", 30)],
        ),
        (
            // 60 headers and 2 sources; then 2 objects and what they are linked to.
            "contest --quick --units=2 --loads=none DIR",
            &[("lay_down", 62), ("job", 65)],
        ),
        (
            "write-and-fsync --size=2M --files=2 --runs=1 DIR",
            &[("write", 2)],
        ),
    ];
    for (command, expected) in cases {
        let (lab, folder, other) = (Lab::new(), scratch_folder(), scratch_folder());
        let words = command.split_whitespace().map(|word| match word {
            "DIR" => folder.path().as_os_str().to_owned(),
            "OTHER" => other.path().as_os_str().to_owned(),
            word => word.into(),
        });
        let report = lab.json(words, 0);
        for &(name, files) in expected {
            let layout = &phase(&report, name)["witnesses"]["layout"];
            assert_eq!(layout["files"], files, "{command}, {name}: {layout}");
        }
        assert_empty(folder.path());
        assert_empty(other.path());
    }
}
