//! Devices and faults whose behaviour is known beforehand, and what the program says
//! of them. What stands elsewhere:
//!
//! | truth | tests |
//! |---|---|
//! | a throttle, beside fio | `fio_agreement/rates.rs`, `subjects.rs` |
//! | a stall in an open and a closed loop | `stiction-engine/tests/engine/pacing.rs` |
//! | errors and what goes on after them | `stiction-engine/tests/engine/steering.rs`, `space.rs` |
//! | short reads and writes, a failing sync, ENOSPC on the way | `stiction-suite/tests/suite/root_trouble.rs` |
//! | a small or full filesystem | `space.rs`, `stiction-runner/tests/run.rs` |
//! | RLIMIT_FSIZE | `limits.rs`, `stiction-suite/tests/suite/trouble.rs` |
//! | lost and torn writes | `stiction-engine/tests/engine/surviving.rs`, `checking.rs` |
//! | layouts of files written in turn | `stiction-host/tests/root_witness.rs`, `two_writers.rs` here |

mod delays;
mod disk;
mod faults;
mod freezing;
mod throttles;
mod two_writers;

use std::path::Path;

use serde_json::Value;

use crate::lab::Lab;

/// A job of fio's words, read or written below `place`, before all other work of the
/// machine: what a busy one adds to a known latency is not looked for here.
fn fio(lab: &Lab, options: &str, place: &Path) -> Value {
    let ours = lab.process(words(options, place));
    let mut command = std::process::Command::new("nice");
    command.args(["-n", "-20"]).arg(ours.get_program());
    command.args(ours.get_args()).arg("--json");
    command.env("STICTION_STORE", lab.store());
    let ended = command.output().expect("nice, of the core utilities");
    let talk = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{options}: {talk}");
    serde_json::from_slice(&ended.stdout).expect("JSON")
}

fn words(options: &str, place: &Path) -> Vec<std::ffi::OsString> {
    let typed = ["fio", "--name=job"].into_iter();
    let typed = typed.chain(options.split_whitespace());
    typed
        .map(Into::into)
        .chain(["--dir".into(), place.as_os_str().to_owned()])
        .collect()
}

fn figure(phase: &Value, name: &str) -> f64 {
    let value = phase["figures"][name]["value"].as_f64();
    value.unwrap_or_else(|| panic!("no {name} in {phase:#}"))
}

/// What is said under the code of a doubt about the phase.
fn doubt<'a>(phase: &'a Value, code: &str) -> &'a str {
    let mut caveats = phase["caveats"].as_array().expect("caveats").iter();
    let found = caveats.find(|caveat| caveat["code"] == code);
    let found = found.unwrap_or_else(|| panic!("no {code} in {phase:#}"));
    found["detail"].as_str().expect("a sentence")
}
