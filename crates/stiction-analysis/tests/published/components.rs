//! The analysis of variance: NIST's data, and components of variance.

use stiction_analysis::estimate::components::Components;

use crate::assert_digits;

/// The certified values are correct to so many digits as a sum of floats allows.
#[track_caller]
fn assert_certified(found: f64, certified: f64, relative: f64) {
    let off = (found / certified - 1.0).abs();
    assert!(off < relative, "{found} for {certified}");
}

/// NIST, Statistical Reference Datasets, analysis of variance, SiRstv: the resistivity of
/// silicon by five instruments. Lower level of difficulty.
#[test]
fn resistivity_of_silicon() {
    let instruments = [
        vec![196.3052, 196.1240, 196.1890, 196.2569, 196.3403],
        vec![196.3042, 196.3825, 196.1669, 196.3257, 196.0422],
        vec![196.1303, 196.2005, 196.2889, 196.0343, 196.1811],
        vec![196.2795, 196.1748, 196.1494, 196.1485, 195.9885],
        vec![196.2119, 196.1051, 196.1850, 196.0052, 196.2090],
    ];
    let found = Components::of(&instruments).unwrap();
    assert_certified(found.mean_square_between, 1.278_656_54e-2, 1e-9);
    assert_certified(found.within, 1.083_182_8e-2, 1e-9);
    assert_certified(found.f(), 1.180_462_374_402_55, 1e-8);
}

/// The same collection, AtmWtAg: the atomic weight of silver by two instruments, whose
/// seven leading digits are the same. Average level of difficulty.
#[test]
fn atomic_weight_of_silver() {
    let instruments = [
        vec![
            107.868_156_8,
            107.868_146_5,
            107.868_157_2,
            107.868_178_5,
            107.868_144_6,
            107.868_190_3,
            107.868_152_6,
            107.868_149_4,
            107.868_161_6,
            107.868_158_7,
            107.868_151_9,
            107.868_148_6,
            107.868_141_9,
            107.868_156_9,
            107.868_150_8,
            107.868_167_2,
            107.868_138_5,
            107.868_151_8,
            107.868_166_2,
            107.868_142_4,
            107.868_136_0,
            107.868_133_3,
            107.868_161_0,
            107.868_147_7,
        ],
        vec![
            107.868_107_9,
            107.868_134_4,
            107.868_151_3,
            107.868_119_7,
            107.868_160_4,
            107.868_138_5,
            107.868_164_2,
            107.868_136_5,
            107.868_115_1,
            107.868_108_2,
            107.868_151_7,
            107.868_144_8,
            107.868_119_8,
            107.868_148_2,
            107.868_133_4,
            107.868_160_9,
            107.868_110_1,
            107.868_151_2,
            107.868_146_9,
            107.868_136_0,
            107.868_125_4,
            107.868_126_1,
            107.868_145_0,
            107.868_136_8,
        ],
    ];
    let found = Components::of(&instruments).unwrap();
    assert_certified(found.mean_square_between, 3.638_341_875e-9, 1e-4);
    assert_certified(found.within, 2.281_559_329_710_14e-10, 1e-4);
    assert_certified(found.f(), 15.946_733_567_793, 1e-4);
}

/// The same collection, SmLs01 to SmLs03: nine treatments of 21, 201 and 2001 values with
/// one leading digit, F = 21, 201 and 2001. The file lists them as base + 0.3, -0.1, +0.1...
#[test]
fn simulated_treatments() {
    let bases = [1.4, 1.3, 1.5, 1.3, 1.5, 1.3, 1.5, 1.3, 1.5];
    for members in [21, 201, 2001] {
        let treatment = |base: f64| -> Vec<f64> {
            let step = |index: usize| match index {
                0 => 0.0,
                odd if odd % 2 == 1 => -0.1,
                _ => 0.1,
            };
            (0..members).map(|index| base + step(index)).collect()
        };
        let found = Components::of(&bases.map(treatment)).unwrap();
        assert_certified(found.within, 0.01, 1e-9);
        assert_certified(found.f(), members as f64, 1e-9);
    }
}

/// The yield of dyestuff from six batches of five, O. L. Davies, "Statistical methods in
/// research and production" (1947), the first example of D. Bates' lme4: the variance of
/// batches is 1764.05 and that within them 2451.25; `anova` of R 4.2.2 prints F = 4.59827
/// and p = 0.0043975.
#[test]
fn batches_of_dyestuff() {
    let batches = [
        [1545.0, 1440.0, 1440.0, 1520.0, 1580.0],
        [1540.0, 1555.0, 1490.0, 1560.0, 1495.0],
        [1595.0, 1550.0, 1605.0, 1510.0, 1560.0],
        [1445.0, 1440.0, 1595.0, 1465.0, 1545.0],
        [1595.0, 1630.0, 1515.0, 1635.0, 1625.0],
        [1520.0, 1455.0, 1450.0, 1480.0, 1445.0],
    ];
    let found = Components::of(&batches.map(Vec::from)).unwrap();
    assert_digits(found.between, 1764.05, 2);
    assert_digits(found.within, 2451.25, 2);
    assert_digits(found.f(), 4.59827, 5);
    assert_digits(found.p(), 0.004_397_5, 7);
}
