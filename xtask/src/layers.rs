//! `cargo xtask layers`: which crate may depend on which.
//!
//! Each crate exists because what it may *not* depend on keeps a promise: a report
//! cannot measure, because it cannot reach the engine. The promises are the table
//! in [`table`]; here the manifests are held against it, and against the record of
//! why each foreign crate is used ([`ledger`]).

mod ledger;
mod table;
mod unused;

use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata};

use crate::workspace;
use table::{LAYERS, Layer, TEST_CRATES};

/// One line `from = { .. to .. }` of one manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Edge {
    from: String,
    to: String,
    /// Whether `to` is a crate of this workspace.
    ours: bool,
    /// Whether only the tests of `from` use it.
    for_tests: bool,
}

/// Holds every manifest against the table; one line for each edge that it forbids.
pub(crate) fn run() -> Result<(), String> {
    let metadata = workspace::metadata()?;
    let members: Vec<String> = metadata
        .workspace_packages()
        .iter()
        .map(|package| package.name.to_string())
        .collect();
    let edges = edges(&metadata);

    let mut wrong = check_members(LAYERS, &members);
    wrong.extend(edges.iter().filter_map(|edge| check_edge(LAYERS, edge)));
    for member in &members {
        let sources = sources(&metadata, member)?;
        let own = edges.iter().filter(|edge| edge.from == *member);
        wrong.extend(own.filter_map(|edge| unused::check(edge, &sources)));
    }
    let record = std::fs::read_to_string(workspace::root().join(ledger::PATH))
        .map_err(|error| format!("{}: {error}", ledger::PATH))?;
    let used = edges
        .iter()
        .filter(|edge| !edge.ours)
        .map(|edge| edge.to.as_str());
    wrong.extend(ledger::check(&record, used));
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("\n"))
    }
}

/// All Rust text of one of our crates.
fn sources(metadata: &Metadata, name: &str) -> Result<String, String> {
    let root = workspace::root();
    let folder = metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name == name)
        .and_then(|package| {
            package
                .manifest_path
                .parent()?
                .as_std_path()
                .strip_prefix(&root)
                .ok()
        })
        .ok_or_else(|| format!("{name} has no folder in the workspace"))?
        .to_path_buf();
    let mut all = String::new();
    for path in workspace::files()? {
        if path.ends_with(".rs") && Path::new(&path).starts_with(&folder) {
            let text = std::fs::read_to_string(root.join(&path));
            all += &text.map_err(|error| format!("{path}: {error}"))?;
        }
    }
    Ok(all)
}

fn edges(metadata: &Metadata) -> Vec<Edge> {
    metadata
        .workspace_packages()
        .iter()
        .flat_map(|package| {
            package.dependencies.iter().map(|dependency| Edge {
                from: package.name.to_string(),
                to: dependency.name.clone(),
                ours: dependency.path.is_some(),
                for_tests: dependency.kind == DependencyKind::Development,
            })
        })
        .collect()
}

/// A crate without a place in the table has promised nothing.
fn check_members(layers: &[Layer], members: &[String]) -> Vec<String> {
    members
        .iter()
        .filter(|member| !layers.iter().any(|layer| layer.name == **member))
        .map(|member| {
            format!(
                "{member} has no place among the layers: say what it may depend on, and why it \
                 exists, in {}",
                table::PATH
            )
        })
        .collect()
}

/// Why this edge is forbidden, or nothing.
fn check_edge(layers: &[Layer], edge: &Edge) -> Option<String> {
    let layer = layers.iter().find(|layer| layer.name == edge.from)?;
    let allowed: Vec<&str> = match (edge.ours, edge.for_tests) {
        (true, false) => layer.ours.to_vec(),
        (true, true) => [layer.ours, &["testkit"]].concat(),
        (false, false) => layer.foreign.concat(),
        (false, true) => [&layer.foreign.concat(), TEST_CRATES].concat(),
    };
    if allowed.contains(&edge.to.as_str()) {
        return None;
    }
    let kind = if edge.for_tests {
        ", even in tests"
    } else {
        ""
    };
    let allowed = match allowed.as_slice() {
        [] => "nothing".to_owned(),
        some => some.join(", "),
    };
    Some(format!(
        "{} must not depend on {}{kind}: it {}. Of this kind it may use: {allowed}. If the edge \
         is right, change {} and record why in docs/adr/",
        edge.from,
        edge.to,
        layer.promise,
        table::PATH
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edge(from: &str, to: &str, ours: bool, for_tests: bool) -> Edge {
        Edge {
            from: from.to_owned(),
            to: to.to_owned(),
            ours,
            for_tests,
        }
    }

    #[test]
    fn an_edge_against_the_flow_is_refused_with_its_reason() {
        let wrong = check_edge(
            LAYERS,
            &edge("stiction-report", "stiction-engine", true, false),
        )
        .expect("a report never measures");
        assert!(wrong.starts_with("stiction-report must not depend on stiction-engine: it "));
        assert!(wrong.contains("may use: stiction-core, "));
    }

    #[test]
    fn a_foreign_crate_out_of_place_is_refused() {
        for (from, to) in [
            ("stiction-engine", "rusqlite"),
            ("stiction-report", "libc"),
            ("stiction-analysis", "rustix"),
            ("stiction-core", "clap"),
            ("stiction-formats", "rusqlite"),
            ("stiction-host", "rusqlite"),
            ("stiction-store", "libm"),
        ] {
            let wrong = check_edge(LAYERS, &edge(from, to, false, false));
            assert!(wrong.is_some(), "{from} -> {to} passed");
        }
    }

    #[test]
    fn tests_may_use_what_only_tests_need_and_no_more() {
        let allowed = [
            edge("stiction-report", "insta", false, true),
            edge("stiction-engine", "testkit", true, true),
        ];
        for edge in &allowed {
            assert_eq!(check_edge(LAYERS, edge), None);
        }
        let forbidden = [
            edge("stiction-report", "insta", false, false),
            edge("stiction-engine", "testkit", true, false),
            edge("stiction-report", "stiction-store", true, true),
        ];
        for edge in &forbidden {
            assert!(check_edge(LAYERS, edge).is_some(), "{edge:?} passed");
        }
    }

    #[test]
    fn the_binary_may_use_every_layer() {
        for layer in LAYERS
            .iter()
            .filter(|layer| layer.name.starts_with("stiction-"))
        {
            let edge = edge("stiction", layer.name, true, false);
            assert_eq!(check_edge(LAYERS, &edge), None);
        }
    }

    #[test]
    fn a_crate_without_a_place_is_an_error() {
        let members = ["stiction-core".to_owned(), "stiction-extra".to_owned()];
        let wrong = check_members(LAYERS, &members);
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].starts_with("stiction-extra has no place"));
    }

    #[test]
    fn the_table_has_no_cycle() {
        // Layers are listed from the bottom up: each uses only those above it in the list.
        for (place, layer) in LAYERS.iter().enumerate() {
            for below in layer.ours {
                assert!(
                    LAYERS[..place].iter().any(|other| other.name == *below),
                    "{} uses {below}, which does not stand before it",
                    layer.name
                );
            }
        }
    }
}
