//! Rules about any text: blanks, length, addresses.

use super::Finding;
use super::source::Source;

/// Above this a file holds more than one idea.
const LINES_MAX: usize = 600;

/// Files that may be longer, each with its reason.
const TALL: &[(&str, &str)] = &[];

/// No tabs, no blanks at the end of a line, no foreign line ends, a final newline.
pub(super) fn whitespace(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in source.text.split('\n').zip(1..).map(|(l, n)| (n, l)) {
        if line.ends_with('\r') {
            findings.push(Finding::new(number, "a carriage return ends the line"));
        } else if line.ends_with([' ', '\t']) {
            findings.push(Finding::new(number, "blanks at the end of the line"));
        } else if line.contains('\t') {
            findings.push(Finding::new(
                number,
                "a tab; write blanks, or \\t in a string",
            ));
        }
    }
    if !source.text.is_empty() && !source.text.ends_with('\n') {
        findings.push(Finding::new(0, "the last line has no end"));
    }
    findings
}

/// A file holds one idea.
pub(super) fn length(source: &Source) -> Vec<Finding> {
    let lines = source.lines().count();
    let excused = TALL.iter().any(|(path, _)| *path == source.path);
    if !source.is_rust() || excused || lines <= LINES_MAX {
        return Vec::new();
    }
    vec![Finding::new(
        0,
        format!("{lines} lines, over {LINES_MAX}: does the file hold more than one idea?"),
    )]
}

/// Package registries are reached by their clients, as each machine has them set up.
pub(super) fn registry_address(source: &Source) -> Vec<Finding> {
    const HOSTS: &[&str] = &[
        "crates.io",
        "pypi.org",
        "pythonhosted.org",
        "npmjs.org",
        "npmjs.com",
        "deb.debian.org",
        "proxy.golang.org",
    ];
    let names_one = |line: &str| {
        line.split("://").skip(1).any(|address| {
            let host = address
                .split(['/', ' ', ')', '"', '>'])
                .next()
                .unwrap_or("");
            HOSTS.iter().any(|known| host.ends_with(known))
        })
    };
    source
        .lines()
        .filter(|(_, line)| names_one(line))
        .map(|(number, _)| Finding::new(number, "the address of a package registry"))
        .collect()
}

/// Paths that exist on one machine only.
pub(super) fn private_path(source: &Source) -> Vec<Finding> {
    const STARTS: &[&str] = &[
        concat!("/wo", "rk/"),
        concat!("/tmp/", "wt/"),
        concat!("/ro", "ot/"),
    ];
    source
        .lines()
        .filter(|(_, line)| STARTS.iter().any(|start| line.contains(start)))
        .map(|(number, _)| Finding::new(number, "a path of one person's machine"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [Finding; 0] = [];

    fn lines(findings: &[Finding]) -> Vec<usize> {
        findings.iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn stray_blanks_are_found() {
        let text = "good\nblank \n\ttab\r\nb\tc\nend";
        let source = Source::new("a.md", text);
        assert_eq!(lines(&whitespace(&source)), [2, 3, 4, 0]);
        assert_eq!(whitespace(&Source::new("a.md", "good\n\nlines\n")), NONE);
        assert_eq!(whitespace(&Source::new("a.md", "")), NONE);
    }

    #[test]
    fn a_long_file_is_found() {
        let line = "// one\n";
        let full = Source::new("a.rs", &line.repeat(LINES_MAX));
        let over = Source::new("a.rs", &line.repeat(LINES_MAX + 1));
        let prose = Source::new("a.md", &line.repeat(LINES_MAX + 1));
        assert_eq!(length(&full), NONE);
        assert_eq!(length(&over).len(), 1);
        assert_eq!(length(&prose), NONE);
    }

    #[test]
    fn every_excused_file_is_there_and_long() {
        for (path, _) in TALL {
            let text = std::fs::read_to_string(crate::workspace::root().join(path)).unwrap();
            assert!(text.lines().count() > LINES_MAX, "{path} needs no excuse");
        }
    }

    #[test]
    fn a_registry_address_is_found() {
        let planted = concat!("see https:/", "/crates.io/crates/serde and\ncrates.io\n");
        assert_eq!(lines(&registry_address(&Source::new("a.md", planted))), [1]);
        let elsewhere = "see https://kernel.org/doc\n";
        assert_eq!(registry_address(&Source::new("a.md", elsewhere)), NONE);
    }

    #[test]
    fn a_private_path_is_found() {
        let planted = concat!("in /home\nin /wo", "rk/main\n");
        assert_eq!(lines(&private_path(&Source::new("a.md", planted))), [2]);
        assert_eq!(private_path(&Source::new("a.md", "in /srv/data\n")), NONE);
    }
}
