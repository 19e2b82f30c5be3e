//! Numbers by chance, one after the other, from a seed.

use stiction_core::Seed;

/// What is drawn from one seed; the same seed gives the same numbers on every machine.
pub(crate) struct Draws {
    seed: Seed,
    drawn: u64,
}

impl Draws {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { seed, drawn: 0 }
    }

    fn bits(&mut self) -> u64 {
        self.drawn += 1;
        self.seed.stream(self.drawn).0
    }

    /// A number below `end`, which is above 0, each as likely as another to within
    /// `end` / 2^64.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.bits()) * end as u128) >> 64) as usize
    }

    /// Puts `items` into an order of which each is equally likely: Fisher and Yates's
    /// shuffle.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let chosen = self.below(last + 1);
            items.swap(last, chosen);
        }
    }

    /// A number between 0 and 1, neither included.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// A draw from the normal distribution of mean 0 and variance 1, by the method of Box
    /// and Muller.
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// A draw from the exponential distribution of mean 1.
    pub(crate) fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Whether something of this chance happens.
    pub(crate) fn happens(&mut self, chance: f64) -> bool {
        self.uniform() < chance
    }

    /// A seed for what draws by itself.
    pub(crate) fn seed(&mut self) -> Seed {
        Seed(self.bits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of the 24 orders of four comes once in 24 on average; with 23 degrees of
    /// freedom, chi-squared exceeds 61 less than once in 25,000 times by chance.
    #[test]
    fn every_order_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        let mut draws = Draws::new(Seed(7));
        for _ in 0..24_000 {
            let mut order = [0, 1, 2, 3];
            draws.shuffle(&mut order);
            *counts.entry(order).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 24);
        let apart = counts
            .values()
            .map(|&count: &i32| (f64::from(count) - 1000.0).powi(2) / 1000.0);
        assert!(apart.sum::<f64>() < 61.0, "{counts:?}");
    }

    /// Of 20,000 draws, the mean has a standard error of 0.007, the variance one of 0.01,
    /// and the share beyond 1.96 one of 0.0015.
    #[test]
    fn normal_draws_are_normal() {
        let mut draws = Draws::new(Seed(1));
        let all: Vec<f64> = (0..20_000).map(|_| draws.normal()).collect();
        let mean = all.iter().sum::<f64>() / 20_000.0;
        let variance = all.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        let beyond = all.iter().filter(|x| x.abs() > 1.96).count() as f64 / 20_000.0;
        assert!(mean.abs() < 0.028, "{mean}");
        assert!((variance - 1.0).abs() < 0.04, "{variance}");
        assert!((beyond - 0.05).abs() < 0.006, "{beyond}");
    }

    /// The moments of the exponential distribution, 1 and 2, and a share, of 20,000 draws
    /// within four standard errors: 0.007, 0.032 and 0.003.
    #[test]
    fn exponential_draws_are_exponential() {
        let mut draws = Draws::new(Seed(1));
        let all: Vec<f64> = (0..20_000).map(|_| draws.exponential()).collect();
        let mean = all.iter().sum::<f64>() / 20_000.0;
        let squares = all.iter().map(|x| x * x).sum::<f64>() / 20_000.0;
        let happened = (0..20_000).filter(|_| draws.happens(0.25)).count() as f64;
        assert!((mean - 1.0).abs() < 0.028, "{mean}");
        assert!((squares - 2.0).abs() < 0.13, "{squares}");
        assert!((happened / 20_000.0 - 0.25).abs() < 0.0123, "{happened}");
    }
}
