//! What is done before trials, as it is asked for and shown.

use crate::lab::{Lab, assert_says, squeezed};

const IOPING: [&str; 6] = [
    "ioping",
    "--count",
    "3",
    "--interval",
    "0",
    "--file-size=1M",
];

fn ioping<'a>(folder: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = IOPING.into_iter().chain(more.iter().copied());
    words.chain([folder]).collect()
}

/// Two fills and 16 overwrites of 4 MiB take less than the 10 s that the half-window rule
/// needs, so the bound ends it, and that is said.
#[test]
fn a_range_is_preconditioned_and_shown() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let path = folder.path().to_str().unwrap();
    let more = ["--precondition=4M", "--precondition-max=5s", "--label=x"];
    lab.output(ioping(path, &more), 0);
    let shown = lab.output(["show", "x"], 0);
    let parts = [
        "precondition fill (prepare",
        "precondition (prepare",
        "! not-steady",
        "SNIA's rule",
    ];
    assert_says(&shown, &parts);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Not the first run alone: the others would be of a place that was asked to be
/// preconditioned, and is not.
#[test]
fn no_run_goes_on_where_there_is_no_room_to_precondition() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let path = folder.path().to_str().unwrap();
    let words = "tiobench --size 1M --threads 1 --random 10 --runs 2 --precondition=1024T --dir";
    let words: Vec<&str> = words.split(' ').chain([path]).collect();
    let text = lab.output(words, 4);
    assert_says(
        &squeezed(&text),
        &["run 1, and 1 more: skipped", "may be written there"],
    );
}

#[test]
fn a_directory_is_not_purged_and_nothing_runs() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let path = folder.path().to_str().unwrap();
    let text = lab.output(ioping(path, &["--purge"]), 4);
    assert_says(&squeezed(&text), &["is yours, and only what stiction made"]);
}

#[test]
fn words_that_say_nothing_are_refused() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let path = folder.path().to_str().unwrap();
    let talk = lab.talk(ioping(path, &["--precondition-max=5s"]), 2);
    assert!(talk.contains("`--precondition` asks for it"), "{talk}");
    let talk = lab.talk(ioping(path, &["--settle=soon"]), 2);
    assert!(talk.contains("soon"), "{talk}");
}

/// The table of a file is told from at its place, and stands in the plan; what is typed
/// goes before it.
#[test]
fn a_file_says_what_is_prepared() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let path = folder.path();
    let spec = path.join("spec.toml");
    let write = |table: &str| {
        let text = format!(
            "workload = 'ioping'\narguments = '--count 2 --interval 0 --file-size 1M'\n\
             directory = '{}'\n[preparation]\n{table}\n\
             [[configuration]]\nname = 'a'\n[[configuration]]\nname = 'b'\n",
            path.display()
        );
        std::fs::write(&spec, text).unwrap();
    };
    let file = spec.to_str().unwrap();
    write("cache = 'cold'\nsettle = '3s'\ncanary = 2\nspoilers = 'wait'");
    let told = lab.json(["run", file, "--dry-run", "--cache=warm"], 0);
    let expected = serde_json::json!({
        "cache": "warm",
        "settle_ns_max": 3_000_000_000u64,
        "canary": { "every": 2 },
    });
    // The surroundings of the tests say that spoilers are to be ignored.
    assert_eq!(told["plan"]["preparation"], expected);
    // 20 trials that wait for 3 s each at most, and six times 2 s of canaries: at first,
    // and after blocks 2, 4, 6, 8 and 10.
    assert_eq!(told["preparation"]["duration_ns_max"], 72_000_000_000u64);

    write("cache = 'lukewarm'");
    let talk = lab.talk(["run", file], 2);
    let expected = "spec.toml:4:1: cache: `lukewarm` is none of cold, warm, as-is";
    assert!(talk.contains(expected), "{talk}");
    write("purg = true");
    let talk = lab.talk(["run", file], 2);
    assert!(talk.contains("there is no key `purg` here"), "{talk}");
}

/// Without a word a session is looked after; the plan says so.
#[test]
fn spoilers_are_looked_for_unless_told_otherwise() {
    let lab = Lab::new();
    let folder = testkit::scratch_folder();
    let path = folder.path().to_str().unwrap();
    let mut looks = lab.stiction(ioping(path, &["--label=y"]));
    looks.env_remove("STICTION_SPOILERS").assert().success();
    let session = lab.json(["export", "y"], 0);
    let session = session["sessions"]
        .as_array()
        .map_or(&session, |all| &all[0]);
    let text = session.to_string();
    assert!(text.contains("\"spoilers\":\"warn\""), "{text}");
}
