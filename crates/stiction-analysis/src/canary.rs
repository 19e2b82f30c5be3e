//! Short runs of the same thing, again and again in a session: where one of them did not
//! come to what the others did, the machine had changed, and the trials around it are
//! suspect.

use std::collections::BTreeMap;

use stiction_core::{Caveat, CaveatCode, Direction, Phase, PhaseKind, Session};

use crate::doubt::series;

/// Phases of canaries are called so.
const CANARY: &str = "canary_";
/// A canary that moved by less says nothing, however sure it is.
const MOVED_MIN: f64 = 0.02;
/// And one that moved by less than so many standard errors says nothing either.
const ERRORS_MIN: f64 = 3.0;
/// Standard deviation of a normal distribution over its median absolute deviation.
const SD_OVER_MAD: f64 = 1.4826;
/// Standard error of a median over that of a mean, of a normal distribution.
const MEDIAN_OVER_MEAN: f64 = 1.2533;
/// Readings from which on their median is the measure; of two it is the first.
const READINGS_MIN: usize = 3;

/// What one canary came to.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reading {
    /// The last trial that had ended when it ran; `None` before the first.
    after: Option<usize>,
    /// Median of the rates of its intervals, operations per second.
    rate: f64,
    /// Standard error of that, a share of it.
    error: f64,
}

impl Reading {
    /// The rate of a phase's intervals; the first holds its start, and is left out.
    fn of(phase: &Phase, after: Option<usize>) -> Option<Self> {
        let windows = series::windows(phase.recording(Direction::Read)?, 1);
        let rates: Vec<f64> = windows
            .iter()
            .skip(1)
            .map(series::Window::operation_rate)
            .collect();
        let rate = series::median(rates.iter().copied()).filter(|&rate| rate > 0.0)?;
        let mad = series::median(rates.iter().map(|one| (one - rate).abs()))?;
        let sd = SD_OVER_MAD * mad / rate;
        Some(Self {
            after,
            rate,
            error: MEDIAN_OVER_MEAN * sd / (rates.len() as f64).sqrt(),
        })
    }
}

/// The trials of `session` that a canary makes suspect, by their places in it, and why: all
/// between the one before a canary that was odd and the one after it.
///
/// A canary is odd that is further than 2 %, and further than three standard errors, from
/// the median of its kind in the session.
#[must_use]
pub fn suspects(session: &Session) -> BTreeMap<usize, Caveat> {
    let mut suspects = BTreeMap::new();
    for (name, readings) in readings(session) {
        let Some(usual) = usual(&readings) else {
            continue;
        };
        for (number, reading) in readings.iter().enumerate() {
            let Some(moved) = oddness(*reading, usual) else {
                continue;
            };
            let before = number
                .checked_sub(1)
                .and_then(|before| readings.get(before));
            let first = before.map_or(0, |one| one.after.map_or(0, |after| after + 1));
            let next = readings.get(number + 1).and_then(|one| one.after);
            let last = next.or(reading.after).unwrap_or(0);
            let what = name.trim_start_matches(CANARY);
            let detail = format!(
                "a canary run near it was {:+.1} % off what such runs usually come to in this \
                 session ({what}): the machine had changed",
                100.0 * moved
            );
            for trial in first..=last {
                let caveat = || Caveat::new(CaveatCode::Suspect, detail.clone());
                suspects.entry(trial).or_insert_with(caveat);
            }
        }
    }
    suspects
}

/// All canaries, by kind, in the order in which they ran.
fn readings(session: &Session) -> BTreeMap<&str, Vec<Reading>> {
    let mut all: BTreeMap<&str, Vec<Reading>> = BTreeMap::new();
    for (place, trial) in session.trials.iter().enumerate() {
        // Those that stand before the trial's own phases ran before it.
        let mut ended = false;
        let mut seen: Vec<&str> = Vec::new();
        for phase in &trial.phases {
            if !is_canary(phase) {
                ended |= phase.kind != PhaseKind::Prepare;
                continue;
            }
            // A second one of its kind in a trial follows it.
            ended |= seen.contains(&phase.name.as_str());
            seen.push(&phase.name);
            let after = if ended {
                Some(place)
            } else {
                place.checked_sub(1)
            };
            let reading = Reading::of(phase, after);
            all.entry(&phase.name).or_default().extend(reading);
        }
    }
    all
}

fn is_canary(phase: &Phase) -> bool {
    phase.kind == PhaseKind::Prepare && phase.name.starts_with(CANARY)
}

/// What the others are held against; `None` of a single one.
fn usual(readings: &[Reading]) -> Option<Reading> {
    match readings {
        [] | [_] => None,
        [first, ..] if readings.len() < READINGS_MIN => Some(*first),
        _ => {
            let rate = series::median(readings.iter().map(|one| one.rate))?;
            readings.iter().copied().find(|one| one.rate == rate)
        }
    }
}

/// How far it moved, if that is too far.
fn oddness(reading: Reading, usual: Reading) -> Option<f64> {
    let moved = reading.rate / usual.rate - 1.0;
    let sure = ERRORS_MIN * reading.error.hypot(usual.error);
    (moved.abs() > MOVED_MIN.max(sure)).then_some(moved)
}

#[cfg(test)]
mod tests {
    use stiction_core::{
        Cell, Environment, Histogram, Interval, Provenance, RECORD_FORMAT_VERSION, Recording,
        SessionHeader, SessionId, Trial,
    };

    use super::*;

    /// A canary whose intervals of 10 ms had so many reads, after a first with none.
    fn canary(reads: &[u64]) -> Phase {
        let mut phase = Phase::new("canary_device", PhaseKind::Prepare);
        let interval = |(number, &count): (usize, &u64)| {
            let mut latencies = Histogram::new();
            (0..count).for_each(|_| latencies.record(1000));
            Interval {
                start_ns: number as u64 * 10_000_000,
                length_ns: 10_000_000,
                bytes: count * 4096,
                latencies,
            }
        };
        phase.recordings = vec![Recording {
            direction: Direction::Read,
            intervals: [0].iter().chain(reads).enumerate().map(interval).collect(),
        }];
        phase
    }

    /// Trials of one measured phase each; `first` before them, and `after` some of them.
    fn session(count: usize, first: &[u64], after: &[(usize, &[u64])]) -> Session {
        let started = "2002-11-30T10:59:12Z".parse().unwrap();
        let trial = |number: usize| {
            let mut trial = Trial::new(Cell::new(), number as u32);
            trial.phases.extend((number == 0).then(|| canary(first)));
            trial.phases.push(Phase::new("write", PhaseKind::Measure));
            let own = after.iter().filter(|(place, _)| *place == number);
            trial.phases.extend(own.map(|(_, reads)| canary(reads)));
            trial
        };
        Session {
            header: SessionHeader {
                format_version: RECORD_FORMAT_VERSION,
                id: SessionId::new(started, 7),
                started,
                label: None,
                command: Vec::new(),
                invocation: None,
                provenance: Provenance::Measured,
                plan: None,
                environment: Environment::default(),
                caveats: Vec::new(),
            },
            trials: (0..count).map(trial).collect(),
            resumptions: Vec::new(),
            end: None,
        }
    }

    fn places(session: &Session) -> Vec<usize> {
        suspects(session).into_keys().collect()
    }

    const LEVEL: [u64; 5] = [100; 5];

    /// Canaries before trial 0 and after trials 1, 3 and 5; the one after trial 3 is 10 %
    /// slow, so all trials after the canary before it, up to the canary after it, are
    /// suspect: 2 to 5.
    #[test]
    fn trials_around_an_odd_canary_are_suspect() {
        let slow = [90; 5];
        let after: [(usize, &[u64]); 3] = [(1, &LEVEL), (3, &slow), (5, &LEVEL)];
        let odd = session(6, &LEVEL, &after);
        assert_eq!(places(&odd), [2, 3, 4, 5]);
        let caveat = &suspects(&odd)[&2];
        assert_eq!(caveat.code, CaveatCode::Suspect);
        let expected = "was -10.0 % off what such runs usually come to in this session (device)";
        assert!(caveat.detail.contains(expected), "{}", caveat.detail);
    }

    /// The same with the first and with the last one odd; 1 % is not odd.
    #[test]
    fn the_first_and_the_last_have_one_side() {
        let fast = [120; 5];
        let first = session(6, &fast, &[(1, &LEVEL), (3, &LEVEL), (5, &LEVEL)]);
        assert_eq!(places(&first), [0, 1]);
        let last = session(6, &LEVEL, &[(1, &LEVEL), (3, &LEVEL), (5, &fast)]);
        assert_eq!(places(&last), [4, 5]);
        let near = session(6, &LEVEL, &[(1, &[99; 5]), (3, &LEVEL), (5, &[101; 5])]);
        assert_eq!(places(&near), [0usize; 0]);
    }

    /// Of two the first is the measure: 10 % off, and nobody knows when.
    #[test]
    fn of_two_the_second_is_held_against_the_first() {
        let session = session(3, &LEVEL, &[(2, &[110; 5])]);
        assert_eq!(places(&session), [0, 1, 2]);
        let single = super::tests::session(3, &LEVEL, &[]);
        assert_eq!(places(&single), [0usize; 0]);
    }

    /// Rates that lie 20 apart: their median absolute deviation is 20 of 100, a standard
    /// error of 1.4826 x 1.2533 x 0.2 / sqrt 5 = 16.6 %, so that 10 % say nothing.
    #[test]
    fn what_is_noisy_is_not_odd() {
        let noisy = [80, 120, 80, 120, 100];
        let other = [70, 110, 70, 110, 90];
        let after: [(usize, &[u64]); 3] = [(1, &noisy), (3, &other), (5, &noisy)];
        assert_eq!(places(&session(6, &noisy, &after)), [0usize; 0]);
    }
}
