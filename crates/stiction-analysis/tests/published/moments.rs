//! Means, deviations and serial correlations: NIST's univariate data.

use stiction_analysis::estimate::plan::deviation;
use stiction_analysis::history::divisive::serial_correlation;

use crate::assert_digits;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn lag_one(values: &[f64]) -> f64 {
    let mean = mean(values);
    let residuals: Vec<f64> = values.iter().map(|value| value - mean).collect();
    serial_correlation(&residuals)
}

/// NIST, Statistical Reference Datasets, univariate, Michelson: a hundred measurements of
/// the speed of light of 1879, thousands of km/s. Mean 299.8524, standard deviation
/// 0.0790105478190518, correlation of neighbours 0.535199668621283.
#[test]
fn the_speed_of_light() {
    let above = [
        850.0, 740.0, 900.0, 1070.0, 930.0, 850.0, 950.0, 980.0, 980.0, 880.0, 1000.0, 980.0,
        930.0, 650.0, 760.0, 810.0, 1000.0, 1000.0, 960.0, 960.0, 960.0, 940.0, 960.0, 940.0,
        880.0, 800.0, 850.0, 880.0, 900.0, 840.0, 830.0, 790.0, 810.0, 880.0, 880.0, 830.0, 800.0,
        790.0, 760.0, 800.0, 880.0, 880.0, 880.0, 860.0, 720.0, 720.0, 620.0, 860.0, 970.0, 950.0,
        880.0, 910.0, 850.0, 870.0, 840.0, 840.0, 850.0, 840.0, 840.0, 840.0, 890.0, 810.0, 810.0,
        820.0, 800.0, 770.0, 760.0, 740.0, 750.0, 760.0, 910.0, 920.0, 890.0, 860.0, 880.0, 720.0,
        840.0, 850.0, 850.0, 780.0, 890.0, 840.0, 780.0, 810.0, 760.0, 810.0, 790.0, 810.0, 820.0,
        850.0, 870.0, 870.0, 810.0, 740.0, 810.0, 940.0, 950.0, 800.0, 810.0, 870.0,
    ];
    let values = above.map(|above| 299.0 + above / 1000.0);
    assert_digits(mean(&values), 299.8524, 12);
    assert_digits(deviation(&values).unwrap(), 0.079_010_547_819_051_8, 12);
    assert_digits(lag_one(&values), 0.535_199_668_621_283, 12);
}

/// The same collection, NumAcc1: three integers whose squares do not fit a float's digits.
/// Mean 10000002, standard deviation 1, correlation of neighbours -0.5.
#[test]
fn three_large_integers() {
    let values = [10_000_001.0, 10_000_003.0, 10_000_002.0];
    assert_eq!(mean(&values), 10_000_002.0);
    assert_eq!(deviation(&values), Some(1.0));
    assert_eq!(lag_one(&values), -0.5);
}

/// The same collection, NumAcc2 to NumAcc4: 1001 values that alternate around a base of
/// 1.2, 1000000.2 and 10000000.2. Standard deviation 0.1, correlation of neighbours -0.999.
#[test]
fn alternating_values_with_many_leading_digits() {
    // The certified digits less those that a sum of 1001 such floats loses.
    for (base, decimals) in [(1.2, 12), (1_000_000.2, 8), (10_000_000.2, 6)] {
        let mut values = vec![base];
        for _ in 0..500 {
            values.extend([base - 0.1, base + 0.1]);
        }
        assert_digits(mean(&values), base, decimals);
        assert_digits(deviation(&values).unwrap(), 0.1, decimals);
        assert_digits(lag_one(&values), -0.999, decimals - 1);
    }
}
