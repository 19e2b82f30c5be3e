//! Whether one new point is like those before it.

use crate::estimate::plan::deviation;
use crate::estimate::student::t_quantile;

/// Chance that the next point of a steady series lies outside.
const OUTSIDE: f64 = 0.01;
/// Fewest points that tell what to expect.
pub(super) const FEWEST: usize = 5;

/// Where the next point after `points` is to lie: the interval that holds 99 of 100 single
/// new points of a normal series, mean and deviation being estimated from `points`. `None`
/// for fewer than five points.
///
/// G. J. Hahn and W. Q. Meeker, "Statistical intervals" (1991):
/// mean +- t(0.995, n - 1) s sqrt(1 + 1/n).
pub(super) fn next(points: &[f64]) -> Option<(f64, f64)> {
    if points.len() < FEWEST {
        return None;
    }
    let n = points.len() as f64;
    let mean = points.iter().sum::<f64>() / n;
    let t = t_quantile(1.0 - OUTSIDE / 2.0, n - 1.0);
    let half = t * deviation(points)? * (1.0 + 1.0 / n).sqrt();
    Some((mean - half, mean + half))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t(0.995, 4) is 4.604 in Student's table, so the half width for five points with the
    /// deviation 1.31 is 4.604 * 1.31 * sqrt(1.2) = 6.607.
    #[test]
    fn the_next_point_lies_where_the_table_of_t_says() {
        // Mean 50.1 and deviation 1.31: -1, 0, 0, 0, 1 have variance 1/2.
        let step = 1.31 * 2f64.sqrt();
        let points = [50.1 - step, 50.1, 50.1, 50.1, 50.1 + step];
        let (lowest, highest) = next(&points).unwrap();
        assert!((highest - 50.1 - 6.607).abs() < 0.002, "{highest}");
        assert!((50.1 - lowest - 6.607).abs() < 0.002, "{lowest}");
    }

    #[test]
    fn four_points_tell_nothing_and_equal_ones_expect_the_same() {
        assert_eq!(next(&[1.0; 4]), None);
        assert_eq!(next(&[2.0; 6]), Some((2.0, 2.0)));
    }
}
