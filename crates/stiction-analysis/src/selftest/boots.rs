//! Two kernels that were booted in turns, as the sessions that a machine would have kept.

use std::time::Duration;

use stiction_core::{
    Cell, Digest, Environment, Kernel, Measurement, Phase, PhaseKind, Plan, Provenance,
    RECORD_FORMAT_VERSION, Seed, Session, SessionHeader, SessionId, Trial, metrics,
};

use crate::compare::{CompareOptions, Side, compare};
use crate::draws::Draws;
use crate::verdict::Verdict;

/// Blocks of a boot of each kernel, with one session in each.
#[derive(Clone, Debug)]
pub(super) struct Boots {
    /// The boots of each kernel, each with its runs: deviations on logarithms.
    pub(super) a: Vec<Vec<f64>>,
    pub(super) b: Vec<Vec<f64>>,
    /// Whether B was booted first, block by block.
    pub(super) b_first: Vec<bool>,
}

impl Boots {
    /// So many boots of equal kernels with so many runs in each, which differ by
    /// `between` from boot to boot and by `within` from run to run.
    pub(super) fn equal(
        boots: usize,
        runs: usize,
        (between, within): (f64, f64),
        draws: &mut Draws,
    ) -> Self {
        let boot = |draws: &mut Draws| -> Vec<f64> {
            let level = between * draws.normal();
            (0..runs).map(|_| level + within * draws.normal()).collect()
        };
        Self {
            a: (0..boots).map(|_| boot(draws)).collect(),
            b: (0..boots).map(|_| boot(draws)).collect(),
            b_first: (0..boots).map(|_| draws.happens(0.5)).collect(),
        }
    }
}

/// The verdict of `compare` on the sessions of `boots`.
pub(super) fn compared(boots: &Boots) -> Option<Verdict> {
    let of_a: Vec<Session> = sessions("6.9", &boots.a, |block| boots.b_first[block]);
    let of_b: Vec<Session> = sessions("6.10", &boots.b, |block| !boots.b_first[block]);
    let joined = |name, sessions| Side::joined(name, Vec::from_iter(sessions));
    let a = joined("6.9", of_a.iter().map(Side::whole))?;
    let b = joined("6.10", of_b.iter().map(Side::whole))?;
    let found = compare(&a, &b, &CompareOptions::default());
    found.rows.into_iter().find_map(|row| row.verdict)
}

/// A session for each boot of a kernel, the first or the second of its block.
fn sessions(release: &str, boots: &[Vec<f64>], is_second: impl Fn(usize) -> bool) -> Vec<Session> {
    let boots = boots.iter().enumerate();
    boots
        .map(|(block, runs)| session(release, 2 * block + usize::from(is_second(block)), runs))
        .collect()
}

/// The session on the boot of that number, which began at that hour.
fn session(release: &str, boot: usize, runs: &[f64]) -> Session {
    let first: SessionHeader = header();
    let started = first.started + Duration::from_secs(3600 * boot as u64);
    let kernel = Kernel {
        release: release.to_owned(),
        boot: Some(Digest::of(&boot.to_le_bytes())),
        ..Kernel::default()
    };
    Session {
        header: SessionHeader {
            id: SessionId::new(started, boot as u64),
            started,
            environment: Environment {
                kernel: Some(kernel),
                ..Environment::default()
            },
            ..first
        },
        trials: runs.iter().enumerate().map(trial).collect(),
        end: None,
        resumptions: Vec::new(),
    }
}

fn header() -> SessionHeader {
    let started = "2002-11-30T00:00:00Z".parse().expect("a time");
    SessionHeader {
        format_version: RECORD_FORMAT_VERSION,
        id: SessionId::new(started, 0),
        started,
        label: None,
        command: Vec::new(),
        provenance: Provenance::Measured,
        plan: Some(Plan {
            workload: "simulated".to_owned(),
            parameters: serde_json::Value::Null,
            seed: Seed(0),
            preparation: stiction_core::Preparation::default(),
            trials: Vec::new(),
        }),
        environment: Environment::default(),
        caveats: Vec::new(),
        invocation: None,
    }
}

/// A run that reads at about 100 MB/s, the deviation from which is given.
fn trial((repetition, deviation): (usize, &f64)) -> Trial {
    let rate = Measurement::new(metrics::RATE, 1e8 * deviation.exp(), 1);
    let phase = Phase {
        measurements: vec![rate],
        ..Phase::new("read", PhaseKind::Measure)
    };
    Trial {
        phases: vec![phase],
        ..Trial::new(Cell::new(), repetition as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: every boot of B is 10 % slower than the boots of A beside it.
    #[test]
    fn boots_in_turns_are_blocks_of_boots() {
        let mut boots = Boots {
            a: vec![vec![0.001, -0.001, 0.0]; 6],
            b: vec![vec![-0.101, -0.1, -0.099]; 6],
            b_first: vec![true, false, false, true, true, false],
        };
        assert_eq!(compared(&boots), Some(Verdict::Worse));
        for boots in [&mut boots.a, &mut boots.b] {
            boots.truncate(1);
        }
        assert!(matches!(compared(&boots), Some(Verdict::CannotTell { .. })));
    }
}
