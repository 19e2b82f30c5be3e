//! A manifest names only what the code uses.

use super::Edge;

/// Why this edge should go, or nothing; `sources` is all the Rust text of its crate.
pub(super) fn check(edge: &Edge, sources: &str) -> Option<String> {
    let name = edge.to.replace('-', "_");
    let used = sources
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .any(|word| word == name);
    (!used).then(|| {
        format!(
            "{} names {} in its manifest, and its code never does: remove it there",
            edge.from, edge.to
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_that_no_code_names_is_found() {
        let edge = Edge {
            from: "stiction-engine".to_owned(),
            to: "signal-hook".to_owned(),
            ours: false,
            for_tests: false,
        };
        assert_eq!(check(&edge, "use signal_hook::flag;"), None);
        let wrong = check(&edge, "use signal_hook_registry::register;").expect("it is not used");
        assert!(wrong.starts_with("stiction-engine names signal-hook "));
    }
}
