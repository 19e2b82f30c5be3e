//! Power and spending: R's `power.t.test`, and the function of Lan and DeMets.

use stiction_analysis::estimate::looks;
use stiction_analysis::estimate::power::{Design, Sides, TTest};

use crate::assert_digits;

const TWO_SAMPLES: TTest = TTest {
    design: Design::Unpaired,
    sides: Sides::Two,
    level: 0.05,
};

/// R's help page, `power.t.test(n = 20, delta = 1)`: power = 0.8689528.
#[test]
fn power_of_twenty() {
    assert_digits(TWO_SAMPLES.power(20.0, 1.0).unwrap(), 0.868_952_8, 7);
}

/// R's help page, `power.t.test(power = .90, delta = 1)`: n = 22.02110, and one-sided
/// n = 17.84713.
#[test]
fn numbers_for_ninety_percent() {
    assert_digits(TWO_SAMPLES.n_needed(0.9, 1.0).unwrap(), 22.02110, 4);
    let one_sided = TTest {
        sides: Sides::One,
        ..TWO_SAMPLES
    };
    assert_digits(one_sided.n_needed(0.9, 1.0).unwrap(), 17.84713, 4);
}

/// `power.t.test(type = "paired")` of R 4.2.2 with n = 3, 5, 10, 30 and delta = 0.5, 1, 2;
/// its delta for n = 10 and a power of 0.8, and its n for delta = 0.5.
#[test]
fn powers_of_blocks() {
    let blocks = TTest {
        design: Design::Paired,
        ..TWO_SAMPLES
    };
    for (n, powers) in [
        (3.0, [0.078_931_477, 0.178_610_055, 0.470_747_706]),
        (5.0, [0.138_452_773, 0.401_320_285, 0.908_884_864]),
        (10.0, [0.292_828_567, 0.803_096_209, 0.999_841_987]),
        (30.0, [0.753_962_725, 0.999_563_600, 1.0]),
    ] {
        for (effect, power) in [0.5, 1.0, 2.0].into_iter().zip(powers) {
            assert_digits(blocks.power(n, effect).unwrap(), power, 8);
        }
    }
    assert_digits(blocks.effect_seen(10.0, 0.8).unwrap(), 0.996_002, 5);
    assert_digits(blocks.n_needed(0.8, 0.5).unwrap(), 33.367_20, 4);
}

/// Five equal looks with O'Brien and Fleming's spending, one-sided 2.5 % on each side; the
/// formula of Lan and DeMets (1983) in R 4.2.2, `4 * (1 - pnorm(qnorm(.9875) / sqrt(t)))`:
/// 0.00079, 0.00762, 0.02442 and 0.05 from the second look on.
#[test]
fn spending_at_five_equal_looks() {
    let both = |share: f64| 2.0 * looks::spent(share, 0.025);
    assert_digits(both(0.2), 1.077e-6, 8);
    assert_digits(both(0.4), 0.000_788_3, 7);
    assert_digits(both(0.6), 0.007_616_1, 7);
    assert_digits(both(0.8), 0.024_423_6, 7);
    assert_digits(both(1.0), 0.05, 12);
}

/// The looks of this program, by the same formula in R 4.2.2 with 5 % two-sided.
#[test]
fn spending_at_the_planned_looks() {
    let wanted = [
        (8, 0.000_088_575),
        (12, 0.001_282_805),
        (16, 0.004_203_216),
        (24, 0.018_050_52),
        (32, 0.026_374_88),
    ];
    for (look, (blocks, level)) in looks::planned(&looks::PLANNED, 0.05).iter().zip(wanted) {
        assert_eq!(look.blocks, blocks);
        assert_digits(look.level, level, 8);
    }
}
