//! `cargo xtask bench classic`: the classic benchmarks on loop devices, and beside the
//! programs that they come from. docs/classic-runs.md says what each table shows.

mod beside;
mod contest;
mod figures;
mod ground;
mod told;
mod tree_move;

use std::path::PathBuf;
use std::process::Command;

use ground::Ground;

use crate::workspace;

const USAGE: &str = "\
Usage: cargo xtask bench classic [--part PART]... [--rounds COUNT] [--small]

  contest    a job beside a writer, on ext2, ext3 (ordered and journal) and ext4
  tree-move  a tree moved between two of them and back
  beside     bonnie++, pg_test_fsync and dbench beside ours, on one ext4
  time       how long a contest takes that names no load

It needs root, and bonnie++, dbench and postgresql for `beside`. What it makes lies in
/var/tmp/stiction-bench-classic, and is gone afterwards.
";

/// What every part is given.
struct Lab {
    stiction: PathBuf,
    ground: Ground,
    /// How often everything is done; the things compared take turns.
    rounds: usize,
    /// Sizes to see that it works.
    small: bool,
}

impl Lab {
    /// What stiction prints; its sessions are kept as long as the ground is.
    fn stiction(&self, words: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.stiction);
        command.env("STICTION_STORE", self.ground.path("store"));
        told::output(command.args(words))
    }
}

/// Runs the parts that are named, or all.
pub(super) fn run(arguments: &[String]) -> Result<(), String> {
    let mut parts = Vec::new();
    let (mut rounds, mut small) = (None, false);
    let mut words = arguments.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "--part" => parts.push(words.next().ok_or(USAGE)?),
            "--rounds" => {
                let count = words.next().and_then(|count| count.parse().ok());
                rounds = Some(count.filter(|&count| count > 0).ok_or(USAGE)?);
            }
            "--small" => small = true,
            _ => return Err(USAGE.to_owned()),
        }
    }
    if parts.is_empty() {
        parts.extend(["contest", "tree-move", "beside", "time"]);
    }
    let lab = Lab {
        stiction: built()?,
        ground: Ground::make()?,
        rounds: rounds.unwrap_or(if small { 2 } else { 5 }),
        small,
    };
    for part in parts {
        match part {
            "contest" => contest::filesystems(&lab)?,
            "tree-move" => tree_move::run(&lab)?,
            "beside" => beside::run(&lab)?,
            "time" => contest::time(&lab)?,
            _ => return Err(USAGE.to_owned()),
        }
    }
    Ok(())
}

/// The program in the release profile.
fn built() -> Result<PathBuf, String> {
    told::output(workspace::cargo().args([
        "build",
        "--quiet",
        "--locked",
        "--release",
        "--package",
        "stiction",
    ]))?;
    Ok(workspace::target().join("release/stiction"))
}
