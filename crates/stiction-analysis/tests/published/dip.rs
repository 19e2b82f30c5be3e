//! The dip test: the R package diptest.

use stiction_analysis::estimate::dip::{Reference, dip};
use stiction_core::Seed;

use crate::assert_digits;

/// How well 63 members of a faculty of statistics were thought of: J. A. Hartigan and P. M.
/// Hartigan (1985); the vignette of M. Maechler's diptest prints D = 0.059524 and a p-value
/// of 0.08672.
#[test]
fn a_faculty_of_statistics() {
    let ratings = [
        30.0, 33.0, 35.0, 36.0, 37.0, 37.0, 39.0, 39.0, 39.0, 39.0, 39.0, 40.0, 40.0, 40.0, 40.0,
        41.0, 42.0, 43.0, 43.0, 43.0, 44.0, 44.0, 45.0, 45.0, 46.0, 46.0, 47.0, 47.0, 48.0, 48.0,
        48.0, 49.0, 50.0, 50.0, 51.0, 52.0, 52.0, 53.0, 53.0, 53.0, 53.0, 53.0, 54.0, 54.0, 57.0,
        57.0, 59.0, 60.0, 60.0, 60.0, 61.0, 61.0, 61.0, 61.0, 62.0, 62.0, 62.0, 62.0, 63.0, 66.0,
        70.0, 72.0, 72.0,
    ];
    let found = dip(&ratings).unwrap();
    assert_digits(found, 0.059_524, 6);
    let p = Reference::of(63, Seed(1)).p(found);
    // Three standard errors of 4000 samples.
    assert!((p - 0.08672).abs() < 3.0 * 0.0045, "{p}");
}

/// The annual precipitation of 70 cities, R's data set `precip`: `dip.test` of diptest
/// 0.76 prints D = 0.0357142857 and a p-value of 0.7725.
#[test]
fn precipitation_of_cities() {
    let inches = [
        7.0, 7.2, 7.8, 7.8, 11.5, 13.0, 14.0, 14.6, 15.0, 15.2, 16.2, 17.2, 17.4, 20.7, 22.9, 24.7,
        25.9, 29.1, 30.2, 30.2, 30.6, 30.8, 31.0, 31.4, 31.7, 32.5, 33.4, 34.4, 35.0, 35.1, 35.9,
        35.9, 36.1, 36.2, 36.2, 37.0, 37.0, 37.6, 38.7, 38.8, 38.9, 39.0, 39.9, 40.2, 40.2, 40.8,
        40.8, 41.8, 42.5, 42.5, 42.6, 42.7, 42.8, 43.1, 43.4, 44.7, 45.5, 46.0, 46.4, 48.2, 48.3,
        48.5, 49.1, 49.2, 54.5, 54.7, 56.8, 59.2, 59.8, 67.0,
    ];
    let found = dip(&inches).unwrap();
    assert_digits(found, 0.035_714_285_7, 10);
    let p = Reference::of(70, Seed(1)).p(found);
    assert!((p - 0.7725).abs() < 3.0 * 0.0067, "{p}");
}

/// The table `qDiptab` of diptest 0.76, from a million samples: the 90 % and 95 % quantiles
/// of the dip of uniform samples.
#[test]
fn quantiles_of_uniform_samples() {
    for (n, at_90, at_95) in [
        (10, 0.130_462, 0.139_611),
        (20, 0.097_235, 0.105_130),
        (50, 0.064_913, 0.070_274),
    ] {
        let reference = Reference::of(n, Seed(2));
        for (quantile, p) in [(at_90, 0.10), (at_95, 0.05)] {
            let found = reference.p(quantile);
            let error = (p * (1.0f64 - p) / 4000.0).sqrt();
            assert!((found - p).abs() < 3.0 * error, "{n}: {found} for {p}");
        }
    }
}
