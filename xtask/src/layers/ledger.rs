//! Every foreign crate has a line that says what it is for.

use std::collections::BTreeSet;

/// The record: a table whose first column names the crate in backquotes.
pub(super) const PATH: &str = "docs/adr/0002-dependencies.md";

/// Crates that are used and not recorded, or recorded and not used.
pub(super) fn check<'a>(record: &str, used: impl Iterator<Item = &'a str>) -> Vec<String> {
    let used: BTreeSet<&str> = used.collect();
    let recorded: BTreeSet<&str> = record.lines().filter_map(crate_of_row).collect();
    let unrecorded = used.difference(&recorded).map(|name| {
        format!("{name} is used and {PATH} does not say what for: add a line to its table")
    });
    let unused = recorded
        .difference(&used)
        .map(|name| format!("{PATH} has a line for {name}, which no manifest uses: remove it"));
    unrecorded.chain(unused).collect()
}

/// The crate that a table's row is about: the row starts "| `name` |".
fn crate_of_row(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("| `")?.split_once('`')?;
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = "\
| crate | version | for |
|---|---|---|
| `serde` | 1 | records |
| `statrs` | 0.18 | tests of significance |
";

    #[test]
    fn each_crate_in_use_needs_a_line_and_each_line_a_crate_in_use() {
        assert_eq!(
            check(RECORD, ["serde", "statrs", "serde"].into_iter()),
            Vec::<String>::new()
        );
        let wrong = check(RECORD, ["serde", "libc"].into_iter());
        assert_eq!(wrong.len(), 2);
        assert!(wrong[0].starts_with("libc is used and "));
        assert!(wrong[1].contains("a line for statrs, which no manifest uses"));
    }
}
