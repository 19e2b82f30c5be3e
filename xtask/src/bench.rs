//! `cargo xtask bench`: the measurements of our own code.
//!
//! A benchmark is a cargo bench target without the harness, in the crate that it
//! measures; this finds it by name and runs it in the release profile. It prints
//! what it measured on standard output; arguments after its name are its own.

mod classic;

use cargo_metadata::{Metadata, TargetKind};

use crate::workspace;

/// The one that is no bench target.
const CLASSIC: &str = "classic";

#[derive(Debug, PartialEq, Eq)]
struct Bench {
    package: String,
    name: String,
}

/// Runs the benchmark that the first argument names; lists them all without one.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let benches = find(&workspace::metadata()?);
    if let Some((CLASSIC, rest)) = arguments
        .split_first()
        .map(|(name, rest)| (name.as_str(), rest))
    {
        return classic::run(rest);
    }
    let Some((name, rest)) = arguments.split_first() else {
        for bench in &benches {
            println!("{:<16} {}", bench.name, bench.package);
        }
        println!("{CLASSIC:<16} the whole program, on filesystems of its own");
        return Ok(());
    };
    let bench = benches
        .iter()
        .find(|bench| bench.name == *name)
        .ok_or_else(|| {
            let names: Vec<&str> = benches.iter().map(|bench| bench.name.as_str()).collect();
            format!(
                "there is no benchmark {name:?}; there are: {}",
                names.join(", ")
            )
        })?;
    let status = workspace::cargo()
        .args(["bench", "--quiet", "--locked"])
        .args(["--package", &bench.package, "--bench", &bench.name, "--"])
        .args(rest)
        .status()
        .map_err(|error| format!("cargo bench: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("the benchmark {name} failed: {status}"))
    }
}

fn find(metadata: &Metadata) -> Vec<Bench> {
    let mut benches: Vec<Bench> = metadata
        .workspace_packages()
        .iter()
        .flat_map(|package| {
            package
                .targets
                .iter()
                .filter(|target| target.kind.contains(&TargetKind::Bench))
                .map(|target| Bench {
                    package: package.name.to_string(),
                    name: target.name.clone(),
                })
        })
        .collect();
    benches.sort_by(|a, b| a.name.cmp(&b.name));
    benches
}
