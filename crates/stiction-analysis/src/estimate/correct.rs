//! Corrections of p-values for their number, where blocks cannot be flipped together.
//!
//! Values that are not within 0 and 1, such as those that are no number, count as tests
//! that found nothing: as 1.

/// Holm's step-down: the chance of any false alarm stays at the level, whatever the
/// tests have to do with each other.
///
/// S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian
/// Journal of Statistics 6 (1979).
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p_values = sound(p_values);
    let count = p_values.len();
    let mut adjusted = vec![0.0; count];
    let mut floor = 0.0f64;
    for (rank, index) in from_smallest(&p_values).into_iter().enumerate() {
        floor = floor.max((count - rank) as f64 * p_values[index]).min(1.0);
        adjusted[index] = floor;
    }
    adjusted
}

/// The step-up of Benjamini and Hochberg: of what is at or below 5 % at most one in twenty
/// is false on average, for tests that are independent or move together.
///
/// Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the
/// Royal Statistical Society B 57 (1995).
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let p_values = sound(p_values);
    let count = p_values.len() as f64;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut ceiling = 1.0f64;
    for (before, index) in from_smallest(&p_values).into_iter().enumerate().rev() {
        ceiling = ceiling.min(count / (before + 1) as f64 * p_values[index]);
        adjusted[index] = ceiling;
    }
    adjusted
}

fn sound(p_values: &[f64]) -> Vec<f64> {
    let sound = |&p: &f64| if (0.0..=1.0).contains(&p) { p } else { 1.0 };
    p_values.iter().map(sound).collect()
}

fn from_smallest(p_values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| p_values[i].total_cmp(&p_values[j]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_test_needs_no_correction() {
        assert_eq!(holm(&[]), [0.0; 0]);
        assert_eq!(benjamini_hochberg(&[]), [0.0; 0]);
        assert_eq!(holm(&[0.03]), [0.03]);
        assert_eq!(benjamini_hochberg(&[0.03]), [0.03]);
    }

    #[test]
    fn equal_values_are_told_from_their_number_by_one_of_the_two() {
        assert_eq!(holm(&[0.01; 4]), [0.04; 4]);
        assert_eq!(benjamini_hochberg(&[0.01; 4]), [0.01; 4]);
    }

    #[test]
    fn what_is_no_p_value_counts_as_a_test_that_found_nothing() {
        for odd in [f64::NAN, f64::INFINITY, -1.0, 2.0] {
            assert_eq!(holm(&[0.01, odd]), [0.02, 1.0], "{odd}");
            assert_eq!(benjamini_hochberg(&[0.01, odd]), [0.02, 1.0], "{odd}");
        }
    }
}
