//! A table's own noise.

use super::reasons;
use crate::sessions::{imported, printed, with};
use stiction_analysis::compare::{CompareOptions, Side, compare};
use stiction_core::{Cell, metrics};

#[test]
fn a_configuration_that_stands_twice_shows_the_tables_own_noise() {
    let mut session = imported(1, "percent-from-baseline");
    for (kernel, highest) in [("test8", "30.62"), ("test9", "48.14"), ("test9", "22.12")] {
        let figures = vec![printed(metrics::CHANGE_HIGHEST, highest)];
        let cell = Cell::new().with("kernel", kernel);
        session.trials.push(with(cell, "random_read", figures));
    }
    let a = Side::labelled(&session, "test8").unwrap();
    let b = Side::labelled(&session, "test9").unwrap();
    let found = compare(&a, &b, &CompareOptions::default());
    assert_eq!(found.noise.len(), 1);
    assert!((found.noise[0].spread - 26.02).abs() < 1e-9);
    assert_eq!(
        reasons(&found)[1],
        "2 runs of one configuration lie 26.0 points apart, and this difference is no larger"
    );
}
