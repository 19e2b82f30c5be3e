//! Broken rules go through the same harness, and it finds each of them out.

use stiction_core::{Better, SteadyRule};

use super::rules::Decided;
use super::*;
use crate::compare::Estimate;
use crate::compare::decide::decide;
use crate::estimate::{plan, signed_rank};
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
