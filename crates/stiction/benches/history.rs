//! How long the history of 1,000 sessions takes, each with ten figures of two phases: twenty
//! series of 1,000 points, half of them with a step. At most two seconds.
//!
//! `cargo xtask bench history`
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod past;

use std::process::ExitCode;

use stiction_core::{Measurement, PhaseKind, Seed, Session, metrics};
use testkit::sessions::nightly;

const SESSIONS: u64 = 1000;
/// What the design allows.
const LIMIT_MS: f64 = 2000.0;

fn main() -> ExitCode {
    let store = past::store((0..SESSIONS).map(session));
    let what = format!("{SESSIONS} sessions of 20 series");
    past::time(store.path(), &what, &["history", "--all"], LIMIT_MS)
}

fn session(day: u64) -> Session {
    let mut session = nightly(day, 1.0);
    let trial = &mut session.trials[0];
    let mut write = trial.phases.remove(0);
    for (number, name) in (0..).zip(["write", "read"]) {
        write.name = name.to_owned();
        write.kind = PhaseKind::Measure;
        let step = if number == 1 && day > 600 { 1.1 } else { 1.0 };
        let metrics = metrics::ALL.iter().filter(|metric| is_judged(metric));
        let figures = (0u64..).zip(metrics.take(10)).map(|(place, metric)| {
            let seed = Seed(day).stream(100 * number + place);
            let noise = 1.0 + 0.04 * (seed.0 as f64 / u64::MAX as f64 - 0.5);
            Measurement::new(metric.clone(), 1e6 * noise * step, 1)
        });
        write.measurements = figures.collect();
        trial.phases.push(write.clone());
    }
    session
}

fn is_judged(metric: &stiction_core::Metric) -> bool {
    stiction_analysis::history::is_judged(metric.class)
}
