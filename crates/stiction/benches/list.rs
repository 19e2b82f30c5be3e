//! How long it takes to list 10,000 sessions. At most 100 ms.
//!
//! `cargo xtask bench list`
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod past;

use std::process::ExitCode;

use testkit::sessions::nightly;

const SESSIONS: u64 = 10_000;
/// What the design allows.
const LIMIT_MS: f64 = 100.0;

fn main() -> ExitCode {
    let store = past::store((0..SESSIONS).map(|day| nightly(day, 1e6)));
    let what = format!("{SESSIONS} sessions");
    past::time(store.path(), &what, &["list"], LIMIT_MS)
}
