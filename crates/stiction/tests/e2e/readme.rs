//! What the README and the help texts tell people to type does what they say.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::lab::{Lab, assert_empty, assert_fits, assert_says};

const README: &str = include_str!("../../../../README.md");

/// The commands of the README's `console` blocks.
fn commands() -> Vec<&'static str> {
    let blocks = README.split("```console\n").skip(1);
    let lines = blocks
        .filter_map(|rest| rest.split("```").next())
        .flat_map(str::lines);
    lines.filter_map(|line| line.strip_prefix("$ ")).collect()
}

/// The first command of the README: what cargo runs is the binary under test. It takes
/// its minute.
#[test]
fn the_readmes_main_job_runs_as_written() {
    let commands = commands();
    let [main, check] = &commands[..] else {
        panic!("two commands: {commands:?}");
    };
    let arguments = main.strip_prefix("cargo run --release -- ");
    let arguments = arguments.expect("cargo runs it").split(' ');
    let lab = Lab::new();
    let directory = testkit::scratch_folder();
    let assert = lab
        .stiction(arguments)
        .current_dir(directory.path())
        .assert()
        .code(0);
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    assert_fits(&text);
    assert_says(
        &text,
        &[
            "sequential write",
            "random read 32 deep",
            "A commit takes",
            "Saved as",
        ],
    );
    let last = text.lines().last().expect("lines");
    assert!(last.starts_with("read: "), "{last}");
    assert_empty(directory.path());

    // The second is what runs this test.
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = root.join(check);
    let mode = script.metadata().expect("the script").permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "{check} can be run");
    let ci = std::fs::read_to_string(root.join(".ci/run")).expect(".ci/run");
    assert!(ci.contains(check), "{ci}");
}

#[test]
fn every_link_of_the_readme_leads_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let links = README
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next());
    let links: Vec<&str> = links.collect();
    assert!(links.len() >= 6, "{links:?}");
    for link in links {
        assert!(root.join(link).exists(), "{link}");
    }
}

/// Examples are lines of help that begin with the program's name.
#[test]
fn every_example_of_the_help_is_understood() {
    let lab = Lab::new();
    let mut examples = 0;
    for command in ["", "quick", "tiobench", "compare", "import"] {
        let words = [command, "--help"];
        let help = lab.output(words.iter().filter(|word| !word.is_empty()), 0);
        for line in help.lines() {
            let Some(example) = line.strip_prefix("  stiction ") else {
                continue;
            };
            // What it means follows after more than one blank; a shell takes what
            // follows `>`.
            let typed = example.split("  ").next().expect("a first part");
            let typed = typed.split(" > ").next().expect("a first part");
            // A directory that every machine has.
            let typed = typed.replace("/mnt/data", ".");
            // An unknown word before it is refused, so that `--help` is not reached.
            let explained = lab.output(typed.split(' ').chain(["--help"]), 0);
            assert!(explained.contains("Usage: "), "{typed}");
            examples += 1;
        }
    }
    assert!(examples >= 20, "{examples}");
}
