//! Where simulated sessions are made and judged.

use stiction_core::{Better, Seed};

use super::rules::Rules;
use crate::draws::Draws;
use crate::verdict::Verdict;

/// An effect of interest so small that nothing is the same: a verdict is then either a
/// claim that there is a difference, or none.
pub(super) const ANY_EFFECT: f64 = 1e-9;

/// What the properties are measured with.
pub(super) struct Lab<'a> {
    /// The rules under test.
    pub(super) rules: &'a Rules,
    /// Simulated sessions of each case.
    pub(super) replicates: u32,
    /// What all chance follows from.
    pub(super) seed: Seed,
}

impl Lab<'_> {
    /// What `session` gives for each replicate of a case, in their order. Each has a
    /// stream of chance of its own.
    pub(super) fn each<T>(&self, case: u64, session: impl Fn(&mut Draws) -> T) -> Vec<T> {
        let seed = self.seed.stream(case);
        (0..self.replicates)
            .map(|replicate| session(&mut Draws::new(seed.stream(u64::from(replicate)))))
            .collect()
    }

    /// The share of replicates of a case for which `session` holds.
    pub(super) fn share(&self, case: u64, session: impl Fn(&mut Draws) -> bool) -> f64 {
        let found = self.each(case, session);
        found.iter().filter(|&&holds| holds).count() as f64 / found.len() as f64
    }

    /// The verdict on one cell by itself.
    pub(super) fn verdict(
        &self,
        differences: &[f64],
        effect: f64,
        draws: &mut Draws,
    ) -> Option<Verdict> {
        let p = (self.rules.family_p)(&[differences], draws.seed())[0];
        let decided = (self.rules.decide)(differences, Better::More, effect, p);
        decided.map(|(_, verdict)| verdict)
    }

    /// Whether the rules say that there is a difference, of whatever size.
    pub(super) fn sees_a_difference(&self, differences: &[f64], draws: &mut Draws) -> bool {
        self.verdict(differences, ANY_EFFECT, draws)
            .is_some_and(|verdict| is_claim(&verdict))
    }
}

/// Whether a verdict says that the sides differ.
pub(super) fn is_claim(verdict: &Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Worse | Verdict::Better | Verdict::SlightlyWorse | Verdict::SlightlyBetter
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_depends_on_its_case_and_its_place_only() {
        let found = |replicates: u32, case: u64| {
            let lab = Lab {
                rules: &Rules::SHIPPED,
                replicates,
                seed: Seed(5),
            };
            lab.each(case, |draws| draws.normal().to_bits())
        };
        let all = found(101, 3);
        assert_eq!(all[..40], found(40, 3));
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]));
        assert_ne!(all, found(101, 4));
    }
}
