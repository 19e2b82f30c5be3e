//! Rank tests: R, exactRankTests and benchstat.

use stiction_analysis::estimate::{rank_sum, signed_rank};

use crate::{assert_digits, sleep_gain};

/// Depression scores of nine patients at two visits: Hollander and Wolfe (1973), p. 29.
#[expect(clippy::approx_constant, reason = "the published figure is 3.14")]
const DEPRESSION: [[f64; 9]; 2] = [
    [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30],
    [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29],
];

fn depression() -> Vec<f64> {
    let [first, second] = DEPRESSION;
    first.iter().zip(second).map(|(a, b)| a - b).collect()
}

/// R's help page of `wilcox.test`, one-sided: V = 40, p-value = 0.01953.
#[test]
fn depression_scores_one_sided() {
    assert_digits(signed_rank::p_above(&depression()), 0.01953, 5);
}

/// `wilcox.test(..., paired = TRUE, conf.int = TRUE)` of R 4.2.2 at 95 % and at 90 %.
#[test]
fn depression_scores_with_intervals() {
    let interval = |confidence| signed_rank::interval(&depression(), confidence).unwrap();
    let (lowest, highest) = interval(0.95);
    assert_digits(lowest, 0.010, 6);
    assert_digits(highest, 0.786, 6);
    let (lowest, highest) = interval(0.90);
    assert_digits(lowest, 0.175, 6);
    assert_digits(highest, 0.726, 6);
    assert_digits(signed_rank::hodges_lehmann(&depression()).unwrap(), 0.46, 6);
}

/// Student's sleep data have ties and a zero: `wilcox.exact` of exactRankTests (Debian's
/// build for R 4.2.2) prints V = 45, p-value = 0.00390625.
#[test]
fn sleep_has_ties_and_a_zero() {
    assert_digits(signed_rank::p_two_sided(&sleep_gain()), 0.003_906_25, 8);
}

/// Permeability of the human chorioamnion: Hollander and Wolfe (1973), p. 69, and R's help
/// page of `wilcox.test`: W = 35, one-sided p-value = 0.1272. The interval is that of
/// R 4.2.2 with `conf.int = TRUE`.
#[test]
fn permeability_of_the_chorioamnion() {
    let term = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
    let earlier = [1.15, 0.88, 0.90, 0.74, 1.21];
    assert_digits(rank_sum::p_two_sided(&earlier, &term), 2.0 * 0.1272, 4);
    let (lowest, highest) = rank_sum::interval(&earlier, &term, 0.95).unwrap();
    assert_digits(lowest, -0.15, 6);
    assert_digits(highest, 0.76, 6);
    let typical = rank_sum::hodges_lehmann(&earlier, &term).unwrap();
    assert_digits(typical, 0.305, 6);
}

/// Diastolic blood pressure of treated and untreated men, with many ties: the data set
/// `bloodp` of exactRankTests, after the manual of StatXact. `wilcox.exact` (Debian's build
/// for R 4.2.2) gives 0.0989 two-sided.
#[test]
fn blood_pressures_with_many_ties() {
    let treated = [94.0, 108.0, 110.0, 90.0];
    let others = [
        80.0, 94.0, 85.0, 90.0, 90.0, 90.0, 108.0, 94.0, 78.0, 105.0, 88.0,
    ];
    let p = rank_sum::p_two_sided(&others, &treated);
    // R adds up the patterns as far from the centre; we double the smaller tail.
    assert_digits(p, 2.0 * 0.054_212_454_212, 9);
}

/// The example in the documentation of benchstat (golang.org/x/perf/cmd/benchstat): four
/// old and five new runs give p = 0.016 for `GobEncode` and 0.286 for `JSONEncode`.
#[test]
fn the_rows_of_benchstat() {
    let gob = [
        &[13_552_735.0, 13_553_943.0, 13_606_356.0, 13_683_198.0][..],
        &[
            11_773_189.0,
            11_942_588.0,
            11_786_159.0,
            11_628_583.0,
            11_815_924.0,
        ],
    ];
    let json = [
        &[32_395_067.0, 32_334_214.0, 31_992_891.0, 31_735_022.0][..],
        &[
            32_036_529.0,
            32_156_552.0,
            31_288_355.0,
            31_559_706.0,
            31_765_634.0,
        ],
    ];
    assert_digits(rank_sum::p_two_sided(gob[0], gob[1]), 0.016, 3);
    assert_digits(rank_sum::p_two_sided(json[0], json[1]), 0.286, 3);
    let mean = |runs: &[f64]| runs.iter().sum::<f64>() / runs.len() as f64;
    let percent = (mean(gob[1]) / mean(gob[0]) - 1.0) * 100.0;
    assert_digits(percent, -13.31, 2);
}
