//! The table of exit codes, as `--help` prints it.

use crate::lab::{Lab, seed};

#[test]
fn done_is_0() {
    let lab = Lab::new();
    assert!(lab.output(["list"], 0).contains("No sessions"));
    assert!(lab.output(["--version"], 0).starts_with("stiction "));
}

#[test]
fn wrong_usage_is_2_and_says_what_to_do() {
    let lab = Lab::new();
    for words in [
        &[][..],
        &["quikc"],
        &["quick", "--second", "5"],
        &["tiobench", "--direc", "/x"],
    ] {
        let assert = lab.stiction(words).assert().code(2);
        assert!(assert.get_output().stdout.is_empty(), "{words:?}");
        assert!(!assert.get_output().stderr.is_empty(), "{words:?}");
    }
}

#[test]
fn an_error_is_2_and_names_the_path() {
    let lab = Lab::new();
    let assert = lab
        .stiction(["quick", "/no/such/directory"])
        .assert()
        .code(2);
    let talk = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(
        talk.contains("/no/such/directory") && talk.contains("os error 2"),
        "{talk}"
    );
    let assert = lab.stiction(["show", "zzzz"]).assert().code(2);
    let talk = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(
        talk.contains("`zzzz`") && talk.contains("stiction list"),
        "{talk}"
    );
}

/// A name that is mistyped keeps nothing of the files before it.
#[test]
fn an_import_that_ends_with_2_keeps_nothing_in_silence() {
    let lab = Lab::new();
    let files = [seed("tiobench-ext3-32-threads.txt"), "no-such-file".into()];
    let words = ["import".as_ref()]
        .into_iter()
        .chain(files.iter().map(|file| file.as_os_str()));
    let assert = lab.stiction(words).assert().code(2);
    let talk = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(talk.contains("no-such-file"), "{talk}");
    assert!(lab.output(["list"], 0).contains("No sessions"));
}

#[test]
fn a_classic_layout_is_text_and_no_json() {
    let lab = Lab::new();
    let file = seed("tiobench-ext3-32-threads.txt");
    lab.stiction(["import".as_ref(), file.as_os_str()])
        .assert()
        .code(0);
    lab.output(["show", "--layout", "posted"], 0);
    lab.output(["show", "--layout", "posted", "--json"], 2);
}

#[test]
fn single_runs_cannot_tell_which_is_3() {
    let lab = Lab::new();
    let file = seed("tiobench-ext3-32-threads.txt");
    lab.stiction([
        "compare".as_ref(),
        file.as_os_str(),
        "2.5.59".as_ref(),
        "2.5.59-mm2".as_ref(),
    ])
    .assert()
    .code(3);
}

#[test]
fn nothing_to_read_is_4() {
    let lab = Lab::new();
    let file = lab.store().join("prose.txt");
    std::fs::write(&file, "There is no table here.\n").unwrap();
    let text = lab.output(["import".as_ref(), file.as_os_str()], 4);
    assert!(text.contains("line 1"), "{text}");
}

#[test]
fn the_table_is_in_the_long_help() {
    let help = Lab::new().output(["--help"], 0);
    for line in [
        "0    done",
        "1    a regression",
        "2    wrong",
        "3    cannot tell",
        "4    not comparable",
        "130  interrupted",
    ] {
        assert!(help.contains(line), "{line}");
    }
}
