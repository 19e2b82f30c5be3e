//! The stages, cheapest first.

use super::leftovers::Ground;
use super::{Outcome, cargo, readme};
use crate::{layers, tidy};

/// One stage of the run.
pub(super) struct Stage {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) run: fn(&Ground) -> Outcome,
}

pub(super) const STAGES: &[Stage] = &[
    Stage {
        name: "fmt",
        what: "the layout of the code",
        run: |ground| cargo(ground, &["fmt", "--all", "--check"]).into(),
    },
    Stage {
        name: "layers",
        what: "which crate depends on which",
        run: |_| layers::run().into(),
    },
    Stage {
        name: "tidy",
        what: "rules about our own text",
        run: |_| tidy::run().into(),
    },
    Stage {
        name: "clippy",
        what: "lints, with warnings denied",
        run: clippy,
    },
    Stage {
        name: "unit",
        what: "unit, property and snapshot tests",
        run: |ground| nextest(ground, &format!("not ({END_TO_END}) and not ({ROOT})"), &[]),
    },
    Stage {
        name: "doc",
        what: "examples and links in the documentation",
        run: documentation,
    },
    Stage {
        name: "e2e",
        what: "the binary from end to end",
        run: |ground| nextest(ground, &format!("({END_TO_END}) and not ({ROOT})"), &[]),
    },
    Stage {
        name: "selftest",
        what: "the rules of verdicts, in simulated sessions",
        run: |ground| cargo(ground, SELFTEST).into(),
    },
    Stage {
        name: "readme",
        what: "the commands of the README, as written",
        run: |ground| readme::run(ground).into(),
    },
    Stage {
        name: "root",
        what: "tests on loop devices, one at a time",
        run: root,
    },
];

/// With the fixed seed of the program: it says the same each time.
const SELFTEST: &[&str] = &[
    "run",
    "--quiet",
    "--locked",
    "--package",
    "stiction",
    "--",
    "selftest",
    "stats",
];

/// The tests that drive the binary.
const END_TO_END: &str = "package(=stiction) and kind(test)";

/// The tests that need root and change the machine; .config/nextest.toml has the
/// same expression.
const ROOT: &str = "test(/(^|::)root_/)";

fn clippy(ground: &Ground) -> Outcome {
    let deny = ["--", "-D", "warnings"];
    let all = ["clippy", "--workspace", "--all-targets", "--locked"];
    cargo(ground, &[&all[..], &deny[..]].concat()).into()
}

fn documentation(ground: &Ground) -> Outcome {
    let links = [
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
        "--locked",
    ];
    let examples = ["test", "--workspace", "--doc", "--locked"];
    cargo(ground, &links)
        .and_then(|()| cargo(ground, &examples))
        .into()
}

fn root(ground: &Ground) -> Outcome {
    if is_root() {
        return nextest(ground, ROOT, &["--test-threads", "1"]);
    }
    let reason = "not started as root".to_owned();
    match std::env::var_os("CI") {
        // A machine that calls itself CI promises what the tests need.
        Some(_) => Outcome::Failed(reason),
        None => Outcome::Skipped(reason),
    }
}

/// Runs the tests that the filter selects, then looks for what they left behind.
fn nextest(ground: &Ground, filter: &str, options: &[&str]) -> Outcome {
    let run = [
        "nextest",
        "run",
        "--workspace",
        "--locked",
        "--profile",
        "ci",
    ];
    let select = ["--no-tests", "fail", "--filterset", filter];
    cargo(ground, &[&run[..], &select[..], options].concat())
        .and_then(|()| ground.is_clean())
        .into()
}

/// Whether the effective user is root, as the owner of our own /proc entry shows.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}
