//! Which rates are tried, and in which order. Pure: it is told what came of each.

use std::collections::{BTreeMap, VecDeque};

/// Rates are whole steps of a geometric series with so many to a decade, 2.9 % apart,
/// as in Renard's R80 of ISO 3, but exact to three digits. On a common series the rates of two runs, or of
/// two machines, are the same and can be compared.
const STEPS_PER_DECADE: f64 = 80.0;
/// Beyond the greatest rate of a closed loop an open one is raised by this many steps,
/// 12 %, at a time.
const RAISE_STEPS: i32 = 4;
/// And so many times at most.
const RAISES_MAX: u32 = 4;
/// Below the least rate of the sweep rates are halved so many times at most: 24 steps
/// are a factor of 1.995.
const HALVINGS_MAX: u32 = 3;
const HALF_STEPS: i32 = 24;

/// The rate at `step`, operations per second, to three digits and at least 1.
pub(super) fn rate_per_s(step: i32) -> u64 {
    let exact = 10f64.powf(f64::from(step) / STEPS_PER_DECADE);
    let unit = 10f64.powi((exact.log10().floor() as i32 - 2).max(0));
    ((exact / unit).round() * unit).max(1.0) as u64
}

/// The greatest step whose rate is not above `per_s`.
fn step_below(per_s: f64) -> i32 {
    (per_s.max(1.0).log10() * STEPS_PER_DECADE + 1e-9).floor() as i32
}

/// A search for the greatest rate that holds.
#[derive(Debug)]
pub(super) struct Search {
    sweep: VecDeque<i32>,
    /// What came of each step: whether it held.
    tried: BTreeMap<i32, bool>,
    raises: u32,
    halvings: u32,
    bisections: u32,
}

impl Search {
    /// A sweep of `points` rates, evenly spaced up to `maximum_per_s`, and then
    /// `bisections` at most between the last that held and the first that did not.
    pub(super) fn new(maximum_per_s: f64, points: u32, bisections: u32) -> Self {
        let share = |point| maximum_per_s * f64::from(point) / f64::from(points.max(1));
        let mut sweep: VecDeque<i32> = (1..=points.max(1)).map(|p| step_below(share(p))).collect();
        let mut last = None;
        sweep.retain(|&step| last.replace(step) != Some(step));
        Self {
            sweep,
            tried: BTreeMap::new(),
            raises: RAISES_MAX,
            halvings: HALVINGS_MAX,
            bisections,
        }
    }

    /// The step to try next; `None` when there is no more to learn.
    pub(super) fn next(&mut self) -> Option<i32> {
        if let Some(step) = self.sweep.pop_front() {
            return Some(step);
        }
        let broke = self.broke();
        match (self.held(), broke) {
            (Some(held), None) => {
                self.raises = self.raises.checked_sub(1)?;
                Some(held + RAISE_STEPS)
            }
            (None, Some(broke)) if broke >= HALF_STEPS => {
                self.halvings = self.halvings.checked_sub(1)?;
                Some(broke - HALF_STEPS)
            }
            (Some(held), Some(broke)) if broke - held > 1 => {
                self.bisections = self.bisections.checked_sub(1)?;
                Some(held + (broke - held) / 2)
            }
            _ => None,
        }
    }

    /// What came of `step`. The first rate of a sweep that breaks ends it.
    pub(super) fn tell(&mut self, step: i32, held: bool) {
        self.tried.insert(step, held);
        if !held {
            self.sweep.clear();
        }
    }

    /// The least step that did not hold.
    fn broke(&self) -> Option<i32> {
        let mut tried = self.tried.iter();
        tried.find(|(_, held)| !**held).map(|(step, _)| *step)
    }

    /// The greatest step that held and is below every one that did not.
    fn held(&self) -> Option<i32> {
        let below = self.broke().unwrap_or(i32::MAX);
        let held = self.tried.range(..below).filter(|(_, held)| **held);
        held.map(|(step, _)| *step).next_back()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(mut search: Search, capacity_per_s: u64) -> (Vec<u64>, Option<u64>) {
        let mut rates = Vec::new();
        while let Some(step) = search.next() {
            rates.push(rate_per_s(step));
            search.tell(step, rate_per_s(step) <= capacity_per_s);
            assert!(rates.len() < 100);
        }
        (rates, search.held().map(rate_per_s))
    }

    /// By hand: 10^(1/80) is 1.0292, and its powers to three digits.
    #[test]
    fn rates_are_a_series_that_all_share() {
        let all: Vec<u64> = (240..=248).map(rate_per_s).collect();
        assert_eq!(all, [1000, 1030, 1060, 1090, 1120, 1150, 1190, 1220, 1260]);
        assert_eq!(rate_per_s(320), 10_000);
        assert_eq!(rate_per_s(0), 1);
        assert_eq!(step_below(1000.0), 240);
        assert_eq!(rate_per_s(step_below(1029.0)), 1000);
    }

    #[test]
    fn a_sweep_ends_at_the_first_rate_that_breaks_and_is_bisected() {
        let (rates, held) = run(Search::new(10_000.0, 8, 8), 6_100);
        let sweep = [1220, 2440, 3650, 4870, 6130];
        assert_eq!(rates[..5], sweep);
        // 80 steps to the decade are 2.9 % apart: the last one that fits below 6100.
        assert_eq!(held, Some(5960));
        assert!(rates.len() <= 5 + 4, "{rates:?}");
    }

    #[test]
    fn a_rate_beyond_the_closed_loops_is_found() {
        let (rates, held) = run(Search::new(1000.0, 4, 8), 1300);
        assert_eq!(rates[..6], [244, 487, 750, 1000, 1120, 1260]);
        assert_eq!(held, Some(1300));
        let (rates, held) = run(Search::new(1000.0, 4, 8), u64::MAX);
        assert_eq!((rates.len(), held), (8, Some(1580)));
    }

    #[test]
    fn a_rate_below_the_sweep_is_found_or_none() {
        let (_, held) = run(Search::new(10_000.0, 4, 8), 1_000);
        assert_eq!(held, Some(1000));
        let (rates, held) = run(Search::new(10_000.0, 4, 8), 10);
        assert_eq!((rates.len(), held), (4, None));
        let (rates, held) = run(Search::new(1.0, 4, 8), 0);
        assert_eq!((rates, held), (vec![1], None));
    }
}
