//! Kernels, of which the boot is the repetition, whatever was run on each.

use super::{Reading, readings};
use crate::selftest::boots::Boots;
use crate::selftest::lab::{Lab, is_claim};
use crate::verdict::Verdict;

/// Spreads between boots and between the runs of one, on logarithms.
const SPREADS: (f64, f64) = (0.03, 0.01);

/// How often equal kernels are said to differ, by boots and runs in each.
pub(super) fn false_alarms(lab: &Lab<'_>) -> Vec<Reading> {
    let name = |(boots, runs): &(usize, usize)| format!("{boots} boots of {runs} runs");
    readings([(6, 2), (8, 3)], name, |number, (boots, runs)| {
        lab.share(number, |draws| {
            let equal = Boots::equal(boots, runs, SPREADS, draws);
            (lab.rules.of_boots)(&equal).is_some_and(|verdict| is_claim(&verdict))
        })
    })
}

/// How often anything is said, be it that they are the same, of one boot of each.
pub(super) fn one_boot(lab: &Lab<'_>) -> Vec<Reading> {
    let name = |runs: &usize| format!("{runs} runs in it");
    readings([6, 10], name, |number, runs| {
        lab.share(number, |draws| {
            let equal = Boots::equal(1, runs, SPREADS, draws);
            let verdict = (lab.rules.of_boots)(&equal);
            !matches!(verdict, Some(Verdict::CannotTell { .. }))
        })
    })
}
