//! When each operation of a set pace is to begin.

use stiction_core::{Arrivals, Rate, Seed};

use crate::draw::Draw;

const NS_PER_S: f64 = 1e9;

/// The moments of one worker, counted in the units of the rate: operations or bytes.
/// Only their sum is turned into time, so that errors do not add up.
#[derive(Debug)]
pub(crate) struct Schedule {
    per_s: f64,
    in_bytes: bool,
    arrivals: Arrivals,
    /// What is to have begun by the next moment.
    position: f64,
    /// The same before the last moment was given out.
    before: f64,
    /// What was given out at last, in the units of the rate.
    amount: f64,
    /// By how much all moments are later than they were, ns.
    shift_ns: u64,
    /// Which share of its first turn a worker waits, so that workers take turns.
    turn: Option<f64>,
    draw: Draw,
}

impl Schedule {
    /// The moments of worker `worker` of `workers`.
    pub(crate) fn new(
        rate: Rate,
        arrivals: Arrivals,
        worker: u32,
        workers: usize,
        seed: Seed,
    ) -> Self {
        let (per_s, in_bytes) = match rate {
            Rate::OperationsPerS(operations) => (operations, false),
            Rate::BytesPerS(bytes) => (bytes, true),
        };
        Self {
            per_s: per_s as f64,
            in_bytes,
            arrivals,
            shift_ns: 0,
            position: 0.0,
            before: 0.0,
            amount: 1.0,
            turn: Some(f64::from(worker) / workers.max(1) as f64),
            draw: Draw::new(seed),
        }
    }

    /// When the next operation, of `length_bytes`, is to begin: ns after the start.
    pub(crate) fn next(&mut self, length_bytes: u32) -> u64 {
        self.before = self.position;
        self.amount = if self.in_bytes {
            length_bytes.into()
        } else {
            1.0
        };
        let due = match self.arrivals {
            Arrivals::Fixed => {
                self.position += self.turn.take().unwrap_or(0.0) * self.amount;
                let due = self.position;
                self.position += self.amount;
                due
            }
            // The inverse of the exponential distribution.
            Arrivals::Poisson => {
                self.position -= self.draw.unit().ln() * self.amount;
                self.position
            }
        };
        (due / self.per_s * NS_PER_S) as u64 + self.shift_ns
    }

    /// Moves all moments to come by `ns`.
    pub(crate) fn shift(&mut self, ns: u64) {
        self.shift_ns += ns;
    }

    /// The last moment given out will not be used.
    pub(crate) fn take_back(&mut self) {
        self.position = self.before;
    }

    /// How many more operations were to begin by `now_ns` after the start, of the
    /// length of the last one.
    pub(crate) fn overdue(&self, now_ns: u64) -> u64 {
        let reached = now_ns.saturating_sub(self.shift_ns) as f64 / NS_PER_S * self.per_s;
        ((reached - self.position) / self.amount).max(0.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(rate: Rate, arrivals: Arrivals) -> Schedule {
        Schedule::new(rate, arrivals, 0, 1, Seed(1))
    }

    #[test]
    fn fixed_moments_are_even_and_do_not_drift() {
        let mut schedule = alone(Rate::OperationsPerS(3), Arrivals::Fixed);
        let moments: Vec<u64> = (0..7).map(|_| schedule.next(4096)).collect();
        assert_eq!(
            moments,
            [
                0,
                333_333_333,
                666_666_666,
                1_000_000_000,
                1_333_333_333,
                1_666_666_666,
                2_000_000_000
            ]
        );
        let far = (7..=3_000_000).map(|_| schedule.next(4096)).last();
        assert_eq!(far, Some(1_000_000_000_000_000));
    }

    #[test]
    fn workers_take_turns() {
        let first = |worker| {
            let rate = Rate::OperationsPerS(10);
            let mut schedule = Schedule::new(rate, Arrivals::Fixed, worker, 4, Seed(1));
            [schedule.next(512), schedule.next(512)]
        };
        assert_eq!(first(0), [0, 100_000_000]);
        assert_eq!(first(1), [25_000_000, 125_000_000]);
        assert_eq!(first(3), [75_000_000, 175_000_000]);
    }

    #[test]
    fn a_rate_in_bytes_waits_by_the_length() {
        let mut schedule = alone(Rate::BytesPerS(1_000_000), Arrivals::Fixed);
        let moments: Vec<u64> = [1000, 500, 2000, 1]
            .map(|length| schedule.next(length))
            .into();
        assert_eq!(moments, [0, 1_000_000, 1_500_000, 3_500_000]);
    }

    /// Kolmogorov and Smirnov: the gaps against 1 - exp(-x). Chance exceeds the bound
    /// once in 100,000 times: sqrt(-ln(alpha / 2) / 2 / n).
    #[test]
    fn poisson_gaps_are_exponential() {
        let n = 100_000;
        let mut schedule = alone(Rate::OperationsPerS(1000), Arrivals::Poisson);
        let mut last = 0;
        let mut gaps: Vec<f64> = (0..n)
            .map(|_| {
                let before = std::mem::replace(&mut last, schedule.next(4096));
                (last - before) as f64 / 1e6
            })
            .collect();
        gaps.sort_by(f64::total_cmp);
        let distance = gaps
            .iter()
            .zip(1..)
            .map(|(gap, rank)| ((1.0 - (-gap).exp()) - f64::from(rank) / f64::from(n)).abs())
            .fold(0.0, f64::max);
        let bound = (-(0.5e-5f64).ln() / 2.0 / f64::from(n)).sqrt();
        assert!(distance < bound, "{distance} of {bound}");
    }

    #[test]
    fn what_is_overdue_is_counted() {
        let mut schedule = alone(Rate::OperationsPerS(1000), Arrivals::Fixed);
        (0..10).for_each(|_| {
            schedule.next(512);
        });
        assert_eq!(schedule.overdue(10_000_000), 0);
        assert_eq!(schedule.overdue(500_000_000), 490);
        schedule.take_back();
        assert_eq!(schedule.overdue(500_000_000), 491);
    }
    #[test]
    fn a_shift_moves_all_that_is_to_come() {
        let mut schedule = alone(Rate::OperationsPerS(1000), Arrivals::Fixed);
        assert_eq!((schedule.next(512), schedule.next(512)), (0, 1_000_000));
        schedule.shift(500_000);
        assert_eq!(schedule.next(512), 2_500_000);
        assert_eq!(schedule.overdue(10_500_000), 7);
    }
}
