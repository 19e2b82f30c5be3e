//! A random order.

use stiction_core::Seed;

/// `items` in an order drawn from `seed`, every one equally likely: Fisher and Yates's
/// shuffle.
#[must_use]
pub fn shuffled<T>(mut items: Vec<T>, seed: Seed) -> Vec<T> {
    for last in (1..items.len()).rev() {
        let draw = seed.stream(last as u64).0;
        let chosen = (u128::from(draw) * (last as u128 + 1)) >> 64;
        items.swap(last, chosen as usize);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of the six orders of three comes once in six on average; with five degrees
    /// of freedom, chi-squared exceeds 27.9 once in 25,000 times by chance.
    #[test]
    fn every_order_is_equally_likely() {
        let mut counts = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            *counts
                .entry(shuffled(vec![0, 1, 2], Seed(seed)))
                .or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        let chi_squared: f64 = counts
            .values()
            .map(|&count: &i32| (f64::from(count) - 1000.0).powi(2) / 1000.0)
            .sum();
        assert!(chi_squared < 27.9, "{counts:?}");
    }
}
