//! Help, manual pages and completions come from one set of definitions.

use crate::lab::{Lab, assert_fits};

/// The commands that `stiction WORDS --help` lists: the first words of the lines below
/// `Commands:`.
fn commands(lab: &Lab, words: &[&str]) -> Vec<String> {
    let help = lab.output(words.iter().copied().chain(["--help"]), 0);
    let below = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = below.take_while(|line| !line.trim().is_empty());
    let names = listed.filter_map(|line| {
        // A line that goes on stands further to the right.
        let rest = line.strip_prefix("  ")?;
        let name = rest.split(' ').next()?;
        (!name.is_empty()).then(|| name.to_owned())
    });
    names.collect()
}

/// All of them, and those below them, each as its words.
fn every_command(lab: &Lab) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = Vec::new();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(words) = open.pop() {
        let plain: Vec<&str> = words.iter().map(String::as_str).collect();
        for name in commands(lab, &plain) {
            open.push([words.clone(), vec![name]].concat());
        }
        all.push(words);
    }
    all
}

#[test]
fn help_lists_every_command_and_fits_a_terminal() {
    let lab = Lab::new();
    let all = every_command(&lab);
    for known in ["quick", "run", "plan", "compare", "completions"] {
        assert!(all.contains(&vec![known.to_owned()]), "{known} in {all:?}");
    }
    for command in all {
        let words = command.iter().map(String::as_str);
        assert_fits(&lab.output(words.chain(["--help"]), 0));
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let lab = Lab::new();
    let directory = lab.store().join("man");
    lab.output(
        [
            "man".as_ref(),
            "--directory".as_ref(),
            directory.as_os_str(),
        ],
        0,
    );
    for command in commands(&lab, &[]) {
        let page =
            std::fs::read_to_string(directory.join(format!("stiction-{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME"), "{command}");
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
    let main = lab.output(["man"], 0);
    assert!(main.contains(".TH stiction 1"));
}

#[test]
fn every_shell_gets_completions() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = lab.output(["completions", shell], 0);
        assert!(
            script.contains("tiobench") && script.contains("random-per-thread"),
            "{shell}"
        );
    }
}

/// The words of a line, by the shell of this machine.
fn split_as_a_shell_does(line: &str) -> Vec<String> {
    let script = format!("set -f; set -- {line}; printf '%s\\0' \"$@\"");
    let output = std::process::Command::new("sh")
        .args(["-c", &script])
        .output();
    let output = output.expect("a shell");
    assert!(output.status.success(), "{line}");
    let text = String::from_utf8(output.stdout).expect("words in UTF-8");
    text.split_terminator('\0').map(str::to_owned).collect()
}

/// Examples are lines of help that begin with the program's name.
#[test]
fn every_example_of_the_help_is_understood() {
    let lab = Lab::new();
    let mut examples = 0;
    for command in every_command(&lab) {
        let words = command.iter().map(String::as_str);
        let help = lab.output(words.chain(["--help"]), 0);
        for line in help.lines() {
            let Some(example) = line.strip_prefix("  stiction ") else {
                continue;
            };
            // What it means follows after more than one blank; a shell takes what
            // follows `>`.
            let typed = example.split("  ").next().expect("a first part");
            let is_closed = |before: &str| before.matches('\'').count().is_multiple_of(2);
            let typed = match typed.split_once(" > ") {
                Some((before, _)) if is_closed(before) => before,
                _ => typed,
            };
            // Two commands take all words that follow.
            if typed.contains(" --- ") {
                continue;
            }
            // A directory that every machine has.
            let typed = typed.replace("/mnt/data", ".");
            // An unknown word before it is refused, so that `--help` is not reached.
            let words = split_as_a_shell_does(typed.trim_end_matches('\\'));
            let words = words.iter().map(String::as_str);
            let explained = lab.output(words.chain(["--help"]), 0);
            assert!(explained.contains("Usage: "), "{typed}");
            examples += 1;
        }
    }
    assert!(examples >= 70, "{examples}");
}

#[test]
fn examples_keep_their_columns_in_help_and_manual() {
    let lab = Lab::new();
    let wanted = "  stiction quick --seconds 20 .     The same, shorter";
    let help = lab.output(["--help"], 0);
    assert!(help.lines().any(|line| line == wanted), "{help}");
    let page = lab.output(["man"], 0).replace("\\-", "-");
    let (_, kept) = page.split_once(".nf\n").unwrap();
    assert!(kept.lines().any(|line| line == wanted), "{page}");
}
