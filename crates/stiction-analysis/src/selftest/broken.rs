//! Broken rules go through the same harness, and it finds each of them out.

use stiction_core::{Better, SteadyRule};

use super::boots::Boots;
use super::rules::Decided;
use super::*;
use crate::bisect::{Scenario, Simulated};
use crate::compare::Estimate;
use crate::compare::decide::decide;
use crate::draws::Draws;
use crate::estimate::looks::Look;
use crate::estimate::trend::of_runs;
use crate::estimate::{plan, signed_rank};
use crate::history::divisive::{Rule, change_points};
use crate::verdict::Verdict;

/// So few are enough: what is broken is far out.
const REPLICATES: u32 = 100;

/// A property, and rules that it has to find outside its bound.
struct Broken {
    property: &'static str,
    rules: Rules,
}

/// At least one for each property.
const ALL: &[Broken] = &[
    Broken {
        property: "false alarms in blocks, nine worlds",
        // A is always first, so what drifts is taken for a difference.
        rules: Rules {
            b_first: |_, _| false,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "false alarms in blocks, nine worlds",
        // A, B, A, B: half of the drift is left.
        rules: Rules {
            b_first: |block, _| block % 2 == 1,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "95% intervals hold the truth, five shapes",
        rules: Rules {
            decide: with_an_interval_of_80_percent,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "a change is seen with the blocks planned for it",
        // As if blocks took half of the spread away.
        rules: Rules {
            plan: |deviation, effect| plan::blocks_needed(deviation / 2.0, effect),
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "SAME though it differs by the effect of interest",
        rules: Rules {
            decide: same_unless_significant,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "WORSE though nothing differs",
        rules: Rules {
            decide: without_a_test,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "any false alarm over 60 cells",
        rules: Rules {
            family_p: each_cell_by_itself,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "steady state declared too early, 95th percentile",
        rules: Rules {
            steady: SteadyRule::Snia,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "false alarms on equal kernels, runs per boot",
        rules: Rules {
            of_boots: each_run_for_itself,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "a verdict from one boot of each kernel",
        rules: Rules {
            of_boots: each_run_for_itself,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "intervals hold the truth, stopped when precise",
        rules: Rules {
            is_precise: until_something_is_seen,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "false alarms at planned looks",
        rules: Rules {
            looks: after_each_block,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "false share of claims when browsing 60 cells",
        rules: Rules {
            browse_p: each_cell_by_itself,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "changes in a series of independent noise",
        rules: Rules {
            changes: likeliest_split_as_if_given,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "changes in a series of autocorrelated noise",
        rules: Rules {
            changes: likeliest_split_as_if_given,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "a change of 2 spreads in a series is found",
        rules: Rules {
            changes: blind_near_the_ends,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "intervals hold the p99 of a typical run",
        rules: Rules {
            tail: of_operations,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "a drift of 2 spreads over 40 runs is told",
        rules: Rules {
            drifts: |runs| drifts_at(runs, 0.001),
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "a drift is told that is none",
        rules: Rules {
            drifts: |runs| drifts_at(runs, 0.5),
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "a search through 1024 commits is right",
        rules: Rules {
            search: blocks_for_each_step::<1>,
            ..Rules::SHIPPED
        },
    },
    Broken {
        property: "blocks of a search through 1024 commits",
        rules: Rules {
            search: blocks_for_each_step::<20>,
            ..Rules::SHIPPED
        },
    },
];

#[test]
fn every_property_has_a_rule_that_it_finds_out() {
    for property in PROPERTIES {
        assert!(
            ALL.iter().any(|broken| broken.property == property.name),
            "{}",
            property.name
        );
    }
}

fn measured(property: &Property, rules: &Rules) -> Row {
    property.measure_by(rules, REPLICATES, SEED)
}

#[test]
fn broken_rules_are_outside() {
    for broken in ALL {
        let mut properties = PROPERTIES.iter();
        let property = properties.find(|property| property.name == broken.property);
        let row = measured(property.expect("a property of that name"), &broken.rules);
        assert!(!row.holds(), "{} {:?}", row.property, row.worst());
    }
}

/// Otherwise the test above would say nothing.
#[test]
fn the_rules_in_use_are_inside_with_as_few_replicates() {
    for property in PROPERTIES {
        let row = measured(property, &Rules::SHIPPED);
        assert!(row.holds(), "{} {:?}", row.property, row.worst());
    }
}

fn with_an_interval_of_80_percent(
    differences: &[f64],
    better: Better,
    effect: f64,
    p: f64,
) -> Decided {
    let (estimate, verdict) = decide(differences, better, effect, p)?;
    let (lowest, highest) = signed_rank::interval(differences, 0.8)?;
    let percent = |d: f64| 100.0 * d.exp_m1();
    let narrow = Estimate {
        lowest_percent: percent(lowest),
        highest_percent: percent(highest),
        ..estimate
    };
    Some((narrow, verdict))
}

/// What tools without a test of equivalence do.
fn same_unless_significant(differences: &[f64], better: Better, effect: f64, p: f64) -> Decided {
    let (estimate, verdict) = decide(differences, better, effect, p)?;
    let verdict = if p > 0.05 { Verdict::Same } else { verdict };
    Some((estimate, verdict))
}

/// What a threshold in percent does.
fn without_a_test(differences: &[f64], better: Better, effect: f64, _: f64) -> Decided {
    decide(differences, better, effect, 0.0)
}

fn each_cell_by_itself(cells: &[&[f64]], _: Seed) -> Vec<f64> {
    let each = cells.iter();
    each.map(|cell| signed_rank::p_two_sided(cell)).collect()
}

/// Ten runs of one boot are ten repetitions: the commonest error.
fn each_run_for_itself(boots: &Boots) -> Option<Verdict> {
    let (a, b) = (boots.a.concat(), boots.b.concat());
    let differences: Vec<f64> = a.iter().zip(&b).map(|(a, b)| b - a).collect();
    let p = signed_rank::p_two_sided(&differences);
    Some(decide(&differences, Better::More, 0.03, p)?.1)
}

/// Ends a session as soon as there is something to report.
fn until_something_is_seen(differences: &[f64], _: f64) -> bool {
    let interval = signed_rank::interval(differences, 0.95);
    interval.is_some_and(|(lowest, highest)| lowest > 0.0 || highest < 0.0)
}

/// Each look has the whole level.
fn after_each_block() -> Vec<Look> {
    let look = |blocks| Look {
        blocks,
        spent: 0.05,
        level: 0.05,
    };
    (6..=32).map(look).collect()
}

/// A t-test of the split that was chosen for its looking worst.
fn likeliest_split_as_if_given(values: &[f64], _: f64, _: Seed) -> Vec<usize> {
    let moments = |values: &[f64]| {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (n, mean, squares)
    };
    let seen = |at: &usize| {
        let ((n, mean, squares), (m, other, others)) =
            (moments(&values[..*at]), moments(&values[*at..]));
        let variance = (squares + others) / (n + m - 2.0);
        (mean - other).abs() > 2.0 * (variance * (1.0 / n + 1.0 / m)).sqrt()
    };
    (5..=values.len() - 5).find(seen).into_iter().collect()
}

fn blind_near_the_ends(values: &[f64], alpha: f64, seed: Seed) -> Vec<usize> {
    let rule = Rule {
        alpha,
        fewest: 15,
        fewest_newest: 15,
        ..Rule::default()
    };
    let found = change_points(values, &rule, seed);
    found.into_iter().map(|change| change.at).collect()
}

/// The binomial interval of the percentile of all operations together.
fn of_operations(_: &[f64], all: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let error = 1.96 * (n * 0.99 * 0.01).sqrt();
    let at = |rank: f64| sorted.get(rank as usize).copied();
    at(n * 0.99 - error).zip(at(n * 0.99 + error))
}

fn drifts_at(runs: &[(usize, f64)], level: f64) -> bool {
    of_runs(runs).is_some_and(|trend| trend.p <= level)
}

/// Halving by the mean of a fixed number of blocks, against the middle of the step.
fn blocks_for_each_step<const BLOCKS: u32>(scenario: &Scenario, seed: Seed) -> Simulated {
    let mut draws = Draws::new(seed);
    let culprit = draws.below(scenario.commits);
    let (mut lowest, mut highest) = (0, scenario.commits - 1);
    let mut steps = 0.0;
    while lowest < highest {
        let place = lowest.midpoint(highest);
        let level = if place >= culprit {
            scenario.step_in_deviations
        } else {
            0.0
        };
        let sum: f64 = (0..BLOCKS).map(|_| level + draws.normal()).sum();
        if sum / f64::from(BLOCKS) > scenario.step_in_deviations / 2.0 {
            highest = place;
        } else {
            lowest = place + 1;
        }
        steps += 1.0;
    }
    Simulated {
        worlds: 1,
        right_share: f64::from(u8::from(lowest == culprit)),
        unsure_share: 0.0,
        blocks_mean: steps * f64::from(BLOCKS),
        builds_mean: steps,
    }
}
