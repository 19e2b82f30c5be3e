//! How quick's time is shared out among its phases.

use super::phase::QuickPhase;

/// Of the whole budget, kept back for what is not in any phase: looking at the
/// machine, dropping caches, the last sync, removing the file. Percent.
const RESERVE_PERCENT: u64 = 15;
/// A phase with less time than this would measure its own start.
const SLOT_NS_MIN: u64 = 20_000_000;

/// The time that `phase` may take when `elapsed_ns` of a session of `budget_ns` have
/// passed; `None` when there is too little left.
///
/// What is left is shared among this phase and those after it by their weights, so a
/// phase that overruns takes from all later ones and the end is kept.
pub(super) fn slot_ns(phase: QuickPhase, budget_ns: u64, elapsed_ns: u64) -> Option<u64> {
    let usable_ns = budget_ns / 100 * (100 - RESERVE_PERCENT);
    let left_ns = usable_ns.saturating_sub(elapsed_ns);
    let to_come: u64 = QuickPhase::ALL
        .into_iter()
        .skip_while(|&other| other != phase)
        .map(QuickPhase::weight)
        .sum();
    let slot_ns = u128::from(left_ns) * u128::from(phase.weight()) / u128::from(to_come.max(1));
    u64::try_from(slot_ns)
        .ok()
        .filter(|&slot_ns| slot_ns >= SLOT_NS_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    /// Every phase taking its whole slot ends with the reserve untouched.
    #[test]
    fn slots_add_up_to_the_budget_without_its_reserve() {
        for budget_ns in [S, 10 * S, 60 * S] {
            let end_ns = QuickPhase::ALL.into_iter().fold(0, |elapsed_ns, phase| {
                elapsed_ns + slot_ns(phase, budget_ns, elapsed_ns).unwrap()
            });
            let usable_ns = budget_ns / 100 * 85;
            assert!(end_ns <= usable_ns && end_ns > usable_ns - 10, "{end_ns}");
        }
    }

    #[test]
    fn a_phase_that_overruns_takes_from_the_later_ones() {
        let second = QuickPhase::ALL[1];
        let on_time = slot_ns(second, 60 * S, 10 * S).unwrap();
        let late = slot_ns(second, 60 * S, 40 * S).unwrap();
        assert!(late < on_time);
        assert_eq!(slot_ns(second, 60 * S, 51 * S), None);
        assert_eq!(slot_ns(second, 60 * S, u64::MAX), None);
    }
}
