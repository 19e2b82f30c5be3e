//! Corrections for many tests.

use stiction_analysis::estimate::correct::{benjamini_hochberg, holm};

use crate::assert_digits;

/// The fifteen p-values of Y. Benjamini and Y. Hochberg (1995), section 4, of a trial of
/// treatments after a heart attack.
const HEART: [f64; 15] = [
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
    0.6528, 0.7590, 1.000,
];

fn rejected(adjusted: &[f64]) -> usize {
    adjusted.iter().filter(|&&p| p <= 0.05).count()
}

/// The paper: their procedure rejects the four hypotheses with the smallest p-values,
/// where Bonferroni's and Hochberg's (and so Holm's) reject three.
#[test]
fn benjamini_and_hochberg_1995() {
    assert_eq!(rejected(&benjamini_hochberg(&HEART)), 4);
    assert_eq!(rejected(&holm(&HEART)), 3);
}

/// `p.adjust(p, "BH")` and `p.adjust(p, "holm")` of R 4.2.2 for the same, put in another
/// order.
#[test]
fn as_r_adjusts_them() {
    let discoveries = [
        0.0015,
        0.003,
        0.0095,
        0.035_625,
        0.0603,
        0.063_857_142_857,
        0.063_857_142_857,
        0.0645,
        0.0765,
        0.486,
        0.581_181_818_182,
        0.714_875,
        0.753_230_769_231,
        0.813_214_285_714,
        1.0,
    ];
    let family = [
        0.0015, 0.0056, 0.0247, 0.1140, 0.2211, 0.2780, 0.2780, 0.2780, 0.3213, 1.0, 1.0, 1.0, 1.0,
        1.0, 1.0,
    ];
    let order = [7, 0, 14, 3, 9, 1, 12, 5, 2, 11, 4, 13, 6, 10, 8];
    let shuffled = order.map(|index| HEART[index]);
    let (by_discoveries, by_family) = (benjamini_hochberg(&shuffled), holm(&shuffled));
    for (place, index) in order.into_iter().enumerate() {
        assert_digits(by_discoveries[place], discoveries[index], 11);
        assert_digits(by_family[place], family[index], 11);
    }
}
