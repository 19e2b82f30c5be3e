//! The rule about names: a file, module or type is called after what it holds.

use super::Finding;
use super::source::Source;

/// Names that say nothing about what is inside.
const VAGUE: &[&str] = &[
    "util", "utils", "helper", "helpers", "common", "manager", "managers", "misc",
];

/// No file, module or type is called by a word that fits everything.
pub(super) fn vague(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for part in source.path.split('/') {
        let stem = part.split_once('.').map_or(part, |(stem, _)| stem);
        if stem.split(['_', '-']).any(is_vague) {
            findings.push(Finding::new(
                0,
                format!("{part}: call it after what it holds"),
            ));
        }
    }
    for (number, line) in source.code() {
        if let Some(name) = declared(line).filter(|name| words(name).iter().any(|w| is_vague(w))) {
            findings.push(Finding::new(
                number,
                format!("{name}: call it after what it holds"),
            ));
        }
    }
    findings
}

fn is_vague(word: &str) -> bool {
    VAGUE.contains(&word.to_ascii_lowercase().as_str())
}

/// The module or type that a line of code declares.
fn declared(line: &str) -> Option<&str> {
    let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    words.find(|word| {
        matches!(
            *word,
            "mod" | "struct" | "enum" | "trait" | "type" | "union"
        )
    })?;
    words.find(|word| !word.is_empty())
}

/// The words of a name in snake or camel case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c.is_uppercase() {
            words.push(String::new());
        }
        if c != '_' {
            words.last_mut().expect("never empty").push(c);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [Finding; 0] = [];

    #[test]
    fn vague_files_modules_and_types_are_found() {
        for path in [
            "crates/stiction-core/src/utils.rs",
            "crates/stiction-core/src/time_helpers.rs",
            "crates/stiction/tests/common/mod.rs",
            "crates/stiction-misc/src/lib.rs",
        ] {
            assert_eq!(vague(&Source::new(path, "")).len(), 1, "{path} passed");
        }
        for code in [
            "pub(crate) mod helpers;",
            "pub struct DeviceManager {",
            "enum IoUtil<T> {",
            "trait Common {}",
        ] {
            let found = vague(&Source::new("crates/x/src/a.rs", code));
            assert_eq!(found.len(), 1, "{code} passed");
        }
    }

    #[test]
    fn names_that_only_sound_alike_pass() {
        let code = "struct Utilisation;\nmod commit;\nfn common() {}\n// mod utils;\n";
        assert_eq!(vague(&Source::new("crates/x/src/miscount.rs", code)), NONE);
    }
}
