//! Kendall's tau: R.

use stiction_analysis::estimate::trend::trend;

use crate::assert_digits;

/// Lightness and quality of canned tuna: Hollander and Wolfe (1973), p. 185, and R's help
/// page of `cor.test`: T = 26, p-value = 0.1194, tau = 0.4444444.
#[test]
fn canned_tuna() {
    let lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1];
    let quality = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8];
    let mut order: Vec<usize> = (0..9).collect();
    order.sort_by(|&i, &j| f64::total_cmp(&lightness[i], &lightness[j]));
    let found = trend(&order.iter().map(|&i| quality[i]).collect::<Vec<_>>()).unwrap();
    assert_digits(found.tau, 0.444_444_4, 7);
    assert_digits(found.p, 0.1194, 4);
    assert_digits(found.p, 0.119_438_932_981, 11);
}

/// The level of Lake Huron from 1875 to 1972, R's data set, with ties:
/// `cor.test(LakeHuron, 1:98, method = "kendall", exact = FALSE, continuity = TRUE)` of
/// R 4.2.2 prints tau = -0.354366707503 and a p-value of 2.471805e-07.
#[test]
fn lake_huron() {
    let feet = [
        580.38, 581.86, 580.97, 580.80, 579.79, 580.39, 580.42, 580.82, 581.40, 581.32, 581.44,
        581.68, 581.17, 580.53, 580.01, 579.91, 579.14, 579.16, 579.55, 579.67, 578.44, 578.24,
        579.10, 579.09, 579.35, 578.82, 579.32, 579.01, 579.00, 579.80, 579.83, 579.72, 579.89,
        580.01, 579.37, 578.69, 578.19, 578.67, 579.55, 578.92, 578.09, 579.37, 580.13, 580.14,
        579.51, 579.24, 578.66, 578.86, 578.05, 577.79, 576.75, 576.75, 577.82, 578.64, 580.58,
        579.48, 577.38, 576.90, 576.94, 576.24, 576.84, 576.85, 576.90, 577.79, 578.18, 577.51,
        577.23, 578.42, 579.61, 579.05, 579.26, 579.22, 579.38, 579.10, 577.95, 578.12, 579.75,
        580.85, 580.41, 579.96, 579.61, 578.76, 578.18, 577.21, 577.13, 579.10, 578.25, 577.91,
        576.89, 575.96, 576.80, 577.68, 578.38, 578.52, 579.74, 579.31, 579.89, 579.96,
    ];
    let found = trend(&feet).unwrap();
    assert_digits(found.tau, -0.354_366_707_503, 11);
    assert_digits(found.p, 2.471_805e-7, 13);
}
