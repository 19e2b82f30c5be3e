//! The rule about documents: the files that they point to are there.

use std::path::{Component, Path, PathBuf};

use super::Finding;
use super::source::Source;
use crate::workspace;

/// Every relative link, and every path of ours in backquotes, leads somewhere.
pub(super) fn dead(source: &Source) -> Vec<Finding> {
    if !source.path.ends_with(".md") {
        return Vec::new();
    }
    let folder = Path::new(&source.path).parent().unwrap_or(Path::new(""));
    let mut findings = Vec::new();
    for (number, line) in source.lines() {
        let links = links(line).map(|link| folder.join(link));
        let paths = paths(line).map(PathBuf::from);
        for path in links.chain(paths) {
            if !workspace::root().join(flatten(&path)).exists() {
                findings.push(Finding::new(
                    number,
                    format!("{}: there is no such file", path.display()),
                ));
            }
        }
    }
    findings
}

/// The targets of `[text](target)` that are files.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().unwrap_or(""))
        .filter(|target| !target.is_empty() && !target.contains(':'))
}

/// What stands in backquotes and begins with a folder of the workspace.
fn paths(line: &str) -> impl Iterator<Item = &str> {
    const FOLDERS: &[&str] = &["crates/", "docs/", "xtask/", ".config/", ".ci/"];
    line.split('`')
        .skip(1)
        .step_by(2)
        .filter(|quoted| FOLDERS.iter().any(|folder| quoted.starts_with(folder)))
        .filter(|quoted| !quoted.contains(['*', ' ']))
}

/// The path without `..`, which a link needs and a folder that is gone would break.
fn flatten(path: &Path) -> PathBuf {
    let mut flat = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                flat.pop();
            }
            other => flat.push(other),
        }
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_or_link_that_leads_nowhere_is_found() {
        let text = "\
See [the changes](../CHANGELOG.md#unreleased), [elsewhere](https://kernel.org/) and
[nothing](adr/none.md), `xtask/src/main.rs`, `crates/none/` and `docs/*.md`.
";
        let found = dead(&Source::new("docs/planted.md", text));
        let messages: Vec<&str> = found.iter().map(|f| f.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "docs/adr/none.md: there is no such file",
                "crates/none/: there is no such file"
            ]
        );
        assert!(found.iter().all(|finding| finding.line == 2));
    }

    #[test]
    fn only_documents_are_searched() {
        assert!(dead(&Source::new("a.rs", "// [x](none.md)\n")).is_empty());
    }
}
