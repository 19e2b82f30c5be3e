//! Quantiles, medians and deviations: R's.

use stiction_analysis::estimate::quantiles::Definition::{Eight, Seven};
use stiction_analysis::estimate::quantiles::{median, quantile};

use crate::assert_digits;

const POWERS: [f64; 10] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0];

/// `quantile(2^(0:9), p, type = 7)` and `type = 8` of R 4.2.2.
#[test]
fn powers_of_two_by_both_definitions() {
    let wanted = [
        (0.10, 1.90, 1.366_666_667),
        (0.25, 5.00, 3.833_333_333),
        (0.50, 24.00, 24.0),
        (0.90, 281.60, 418.133_333_333),
        (0.95, 396.80, 512.0),
        (0.99, 488.96, 512.0),
    ];
    for (probability, seven, eight) in wanted {
        let found = |definition| quantile(&POWERS, probability, definition).unwrap();
        assert_digits(found(Seven), seven, 9);
        assert_digits(found(Eight), eight, 9);
    }
}

/// The five numbers of `summary(mtcars$mpg)`, printed all over R's manuals: 10.40, 15.43,
/// 19.20, 22.80, 33.90.
#[test]
fn miles_per_gallon() {
    let mpg = [
        21.0, 21.0, 22.8, 21.4, 18.7, 18.1, 14.3, 24.4, 22.8, 19.2, 17.8, 16.4, 17.3, 15.2, 10.4,
        10.4, 14.7, 32.4, 30.4, 33.9, 21.5, 15.5, 15.2, 13.3, 19.2, 27.3, 26.0, 30.4, 15.8, 19.7,
        15.0, 21.4,
    ];
    for (probability, printed) in [
        (0.0, 10.40),
        (0.25, 15.43),
        (0.5, 19.20),
        (0.75, 22.80),
        (1.0, 33.90),
    ] {
        assert_digits(quantile(&mpg, probability, Seven).unwrap(), printed, 2);
    }
    assert_digits(median(&mpg).unwrap(), 19.20, 9);
}
