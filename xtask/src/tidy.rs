//! `cargo xtask tidy`: rules about our own text that no compiler checks.
//!
//! Each rule is a function from one file to its findings, and each is tested on a
//! planted violation. Rules look at code, comments and strings apart ([`source`]),
//! so that a rule may name what it forbids.

mod code;
mod links;
mod names;
mod source;
mod text;

use crate::workspace;
use source::Source;

/// One place that breaks one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    /// Counted from 1; 0 for the file as a whole.
    line: usize,
    message: String,
}

impl Finding {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
        }
    }
}

/// A rule's name, and the function that finds what breaks it.
type Rule = (&'static str, fn(&Source) -> Vec<Finding>);

const RULES: &[Rule] = &[
    ("whitespace", text::whitespace),
    ("length", text::length),
    ("registry-address", text::registry_address),
    ("private-path", text::private_path),
    ("dead-link", links::dead),
    ("names", names::vague),
    ("says-what-it-holds", code::says_what_it_holds),
    ("unfinished", code::unfinished),
    ("sleeping-test", code::sleeping_test),
    ("unwrap", code::unwrap),
    ("printing", code::printing),
    ("unsafe", code::unsafe_outside),
    ("ambient", code::ambient),
    ("root-tests", code::root_tests),
];

/// Files that are written by hand and read by people.
const TEXT: &[&str] = &["rs", "md", "toml", "sh", "sql"];

/// Checks every tracked text file; one line for each finding.
pub(crate) fn run() -> Result<(), String> {
    let mut report = Vec::new();
    for path in workspace::files()? {
        if !is_ours(&path) {
            continue;
        }
        let text = std::fs::read_to_string(workspace::root().join(&path))
            .map_err(|error| format!("{path}: {error}"))?;
        report.extend(check(&Source::new(&path, &text)));
    }
    if report.is_empty() {
        Ok(())
    } else {
        Err(report.join("\n"))
    }
}

/// Text of ours: not what a test captured or what another program wrote.
fn is_ours(path: &str) -> bool {
    let captured = ["/snapshots/", "/fixtures/", "/cmd/"]
        .iter()
        .any(|folder| path.contains(folder));
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    (TEXT.contains(&extension) && !captured) || path == ".ci/run"
}

fn check(source: &Source) -> Vec<String> {
    RULES
        .iter()
        .flat_map(|(rule, find)| {
            find(source).into_iter().map(move |finding| {
                let Finding { line, message } = finding;
                format!("{}:{line}: {message} [{rule}]", source.path)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_names_the_place_and_the_rule() {
        let source = Source::new("crates/x/src/a.rs", "//! A file.\nlet x = 1; \n");
        assert_eq!(
            check(&source),
            ["crates/x/src/a.rs:2: blanks at the end of the line [whitespace]"]
        );
    }

    #[test]
    fn captured_text_is_left_alone() {
        assert!(is_ours("README.md"));
        assert!(is_ours("crates/stiction-core/src/lib.rs"));
        assert!(is_ours(".ci/run"));
        assert!(!is_ours("crates/stiction-report/src/snapshots/a.md"));
        assert!(!is_ours("crates/stiction/tests/cmd/list.toml"));
        assert!(!is_ours("crates/stiction-formats/fixtures/tiobench.txt"));
    }
}
