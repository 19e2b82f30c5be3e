//! The estimates in worlds of which the truth is known. Seeds are fixed: the same
//! numbers come out each time.

use stiction_analysis::estimate::{dip, looks, max_t, modes, signed_rank, trend};
use stiction_core::Seed;

const WORLDS: u64 = 4000;

/// Normal draws from a seed, by the method of Box and Muller.
struct Normal {
    seed: Seed,
    drawn: u64,
}

impl Normal {
    fn of(world: u64) -> Self {
        let seed = Seed(20_021_130).stream(world);
        Self { seed, drawn: 0 }
    }

    fn uniform(&mut self) -> f64 {
        self.drawn += 1;
        // 53 bits, never 0.
        ((self.seed.stream(self.drawn).0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn next(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The differences of `blocks` blocks of two equal sides, on a machine that gets
/// slower by as much as its noise with every run. `random` orders each block by
/// chance; else A is always first.
fn drifting(world: u64, blocks: usize, random: bool) -> Vec<f64> {
    let mut draws = Normal::of(world);
    let mut run = 0.0;
    let mut next = |draws: &mut Normal| {
        run += 1.0;
        draws.next() - run
    };
    (0..blocks)
        .map(|_| {
            let first = next(&mut draws);
            let second = next(&mut draws);
            let swapped = random && draws.uniform() < 0.5;
            if swapped {
                first - second
            } else {
                second - first
            }
        })
        .collect()
}

fn share(holds: impl Fn(u64) -> bool) -> f64 {
    (0..WORLDS).filter(|&world| holds(world)).count() as f64 / WORLDS as f64
}

/// Equal sides are called different in at most one comparison of twenty, whatever
/// drifts, as long as the order inside blocks is random.
#[test]
fn random_order_inside_blocks_holds_the_level_under_drift() {
    for blocks in [6, 8, 10] {
        let alarms = share(|world| {
            max_t::adjusted_p(&[drifting(world, blocks, true)], Seed(world))[0] <= 0.05
        });
        assert!(alarms <= 0.061, "{blocks} blocks: {alarms}");
    }
}

/// With A always first the drift is taken for a difference: such blocks are refused.
#[test]
fn a_fixed_order_inside_blocks_takes_drift_for_a_difference() {
    let alarms =
        share(|world| max_t::adjusted_p(&[drifting(world, 10, false)], Seed(world))[0] <= 0.05);
    assert!(alarms > 0.3, "{alarms}");
}

/// One alarm or more over twenty cells of nothing, in at most one comparison of twenty.
#[test]
fn many_cells_raise_no_more_alarms_than_one() {
    let worlds = WORLDS / 8;
    let alarms = (0..worlds)
        .filter(|&world| {
            let cells: Vec<Vec<f64>> = (0..20)
                .map(|cell| drifting(world * 20 + cell, 8, true))
                .collect();
            let adjusted = max_t::adjusted_p(&cells, Seed(world));
            adjusted.iter().any(|&p| p <= 0.05)
        })
        .count();
    let share = alarms as f64 / worlds as f64;
    // Two standard errors of 500 worlds above 5 %.
    assert!(
        share <= 0.05 + 2.0 * (0.05 * 0.95 / worlds as f64).sqrt(),
        "{share}"
    );
}

/// The exact interval covers the truth as often as it says.
#[test]
fn intervals_cover_the_truth() {
    for blocks in [6, 10, 16] {
        let covered = share(|world| {
            let mut draws = Normal::of(world);
            let differences: Vec<f64> = (0..blocks).map(|_| 0.5 + draws.next()).collect();
            let interval = signed_rank::interval(&differences, 0.95);
            interval.is_some_and(|(lowest, highest)| lowest <= 0.5 && 0.5 <= highest)
        });
        assert!(covered >= 0.939, "{blocks} blocks: {covered}");
    }
}

/// Intervals of twelve cells that move together cover all twelve truths at once.
#[test]
fn intervals_of_many_cells_cover_all_truths_together() {
    for blocks in [8, 11] {
        let worlds = 600;
        let covered = (0..worlds)
            .filter(|&world| {
                let mut draws = Normal::of(world);
                let shared: Vec<f64> = (0..blocks).map(|_| draws.next()).collect();
                let cells: Vec<Vec<f64>> = (0..12)
                    .map(|cell| {
                        let own = |shared: &f64| f64::from(cell) + shared + draws.next();
                        shared.iter().map(own).collect()
                    })
                    .collect();
                let found = max_t::intervals(&cells, 0.95, Seed(world));
                found.iter().enumerate().all(|(cell, interval)| {
                    interval.is_some_and(|(lowest, highest)| {
                        (lowest..=highest).contains(&(cell as f64))
                    })
                })
            })
            .count();
        let share = covered as f64 / worlds as f64;
        // Two standard errors of 600 worlds below 95 %.
        assert!(share >= 0.932, "{blocks} blocks: {share}");
    }
}

/// Runs that get slower by two standard deviations over a session of forty are seen to
/// drift; runs that do not are seldom.
#[test]
fn a_drift_over_a_session_is_seen() {
    let drifts = |world: u64, total: f64| {
        let mut draws = Normal::of(world);
        let runs: Vec<(usize, f64)> = (0..40)
            .map(|run| {
                let noise = draws.next() - total * f64::from(run) / 39.0;
                let first = draws.uniform() < 0.5;
                // Two configurations a factor of two apart, in no particular order.
                let level = if first { 1.0 } else { 2.0 };
                (usize::from(first), level * (0.02 * noise).exp())
            })
            .collect();
        trend::of_runs(&runs).is_some_and(|trend| trend.p <= 0.05)
    };
    let worlds = WORLDS / 4;
    let share = |total: f64| {
        (0..worlds).filter(|&world| drifts(world, total)).count() as f64 / worlds as f64
    };
    let (found, falsely) = (share(2.0), share(0.0));
    assert!(found >= 0.91, "{found}");
    assert!(falsely <= 0.065, "{falsely}");
}

/// Noise with a single mode seldom shows two; runs on two levels mostly do.
#[test]
fn modes_are_seen_where_there_are_some() {
    for (runs, few) in [(12, 3), (20, 4), (40, 8)] {
        let reference = dip::Reference::of(runs, Seed(1));
        let several = |world: u64, apart: f64| {
            let mut draws = Normal::of(world);
            let values: Vec<f64> = (0..runs)
                .map(|run| {
                    let level = if run < few { apart } else { 0.0 };
                    (0.01 * (draws.next() + level)).exp()
                })
                .collect();
            modes::modes(&values, &reference).len() > 1
        };
        let falsely = share(|world| several(world, 0.0));
        assert!(falsely <= 0.03, "{runs} runs: {falsely}");
        let found = share(|world| several(world, 10.0));
        assert!(found >= 0.99, "{runs} runs: {found}");
    }
}

/// Planned looks raise no more alarms than one look at the end, and a change of one
/// standard deviation ends them early: after 17.7 blocks of 32 where it was first measured.
#[test]
fn planned_looks_hold_the_level_and_end_early() {
    let planned = looks::planned(&looks::PLANNED, 0.05);
    let ends = |world: u64, shift: f64| {
        let mut draws = Normal::of(world);
        let differences: Vec<f64> = (0..32).map(|_| shift + draws.next()).collect();
        planned.iter().find_map(|look| {
            let seen = &differences[..look.blocks as usize];
            // A margin of 0: nothing is shown to be the same.
            let p = signed_rank::p_two_sided(seen);
            look.ending(seen, 0.0, p).map(|_| look.blocks)
        })
    };
    let worlds = WORLDS / 2;
    let alarms = (0..worlds)
        .filter(|&world| ends(world, 0.0).is_some())
        .count();
    let share = alarms as f64 / worlds as f64;
    assert!(share <= 0.061, "{share}");
    let blocks: u32 = (0..worlds)
        .map(|world| ends(world, 1.0).unwrap_or(32))
        .sum();
    let mean = f64::from(blocks) / worlds as f64;
    assert!((mean - 17.7).abs() < 0.5, "{mean}");
}

/// An interval that is looked at after every block and taken when it is narrow covers the
/// truth nearly as often as one of a fixed number of blocks.
#[test]
fn stopping_when_precise_keeps_the_coverage() {
    for wanted in [0.4, 0.6] {
        let covered = share(|world| {
            let mut draws = Normal::of(world);
            let mut differences = Vec::new();
            while differences.len() < 30 && !looks::is_precise(&differences, wanted) {
                differences.push(0.5 + draws.next());
            }
            let interval = signed_rank::interval(&differences, 0.95);
            interval.is_some_and(|(lowest, highest)| lowest <= 0.5 && 0.5 <= highest)
        });
        assert!(covered >= 0.915, "{wanted}: {covered}");
    }
}
