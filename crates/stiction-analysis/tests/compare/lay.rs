//! Sessions laid out in time: blocks, alternating sessions, boots.

use stiction_core::{
    Cell, Digest, Kernel, Level, Measurement, Metric, Session, SessionId, Trial, metrics,
};

use crate::sessions::{measured, with};

/// A measured session that began so many minutes after the others, on the boot of that
/// name.
pub(crate) fn begun(minute: i64, boot: &str, release: &str) -> Session {
    let mut session = measured(minute.unsigned_abs());
    let header = &mut session.header;
    header.started += jiff::SignedDuration::from_mins(minute);
    header.id = SessionId::new(header.started, minute.unsigned_abs());
    header.environment.kernel = Some(Kernel {
        release: release.to_owned(),
        boot: Some(Digest::of(boot.as_bytes())),
        ..Kernel::default()
    });
    session
}

/// A trial with one phase `read` and one figure.
pub(crate) fn trial(cell: Cell, metric: Metric, value: f64) -> Trial {
    with(
        cell,
        "read",
        vec![Measurement::new(metric, value, 1_000_000)],
    )
}

/// A session with recorded blocks of the configurations `a` and `b`, A first in all: who
/// recorded them drew their order.
pub(crate) fn in_blocks(metric: &Metric, values: &[(f64, f64)]) -> Session {
    let mut session = begun(0, "boot", "6.9");
    for (block, &(a, b)) in values.iter().enumerate() {
        for (name, value) in [("a", a), ("b", b)] {
            let cell = Cell::new().with("configuration", name);
            let mut trial = trial(cell, metric.clone(), value);
            trial.block = Some(block as u32);
            session.trials.push(trial);
        }
    }
    session
}

/// Rates about 1e8 that scatter by a percent, the second of each pair `factor` times as
/// high give or take a percent.
pub(crate) fn scattered(factor: f64, blocks: usize) -> Vec<(f64, f64)> {
    let wobble = [0.006, -0.009, 0.002, 0.009, -0.004, -0.002, 0.007, -0.006];
    (0..blocks)
        .map(|block| {
            let a = 1e8 * (1.0 + wobble[block % 8]);
            (a, a * factor * (1.0 + wobble[(block + 3) % 8]))
        })
        .collect()
}

/// One session of one run a figure, at each of these minutes.
pub(crate) fn runs(minutes: &[i64], boot: &str, release: &str, rates: &[f64]) -> Vec<Session> {
    let figures = minutes.iter().zip(rates).enumerate();
    figures
        .map(|(index, (&minute, &rate))| {
            let mut session = begun(minute, &format!("{boot} {index}"), release);
            session.trials.push(trial(Cell::new(), metrics::RATE, rate));
            session
        })
        .collect()
}

/// The level of a configuration.
pub(crate) fn level(name: &str) -> Level {
    name.into()
}
