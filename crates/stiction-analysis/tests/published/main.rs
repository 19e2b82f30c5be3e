//! The estimates against worked examples that others have published.
//!
//! Each test names its source and asserts the digits that stand there. Where a figure is
//! not printed anywhere, the program and version that gave it are named instead.

mod bootstrap;
mod components;
mod correct;
mod dip;
mod equivalence;
mod moments;
mod planning;
mod quantiles;
mod ranks;
mod signs;
mod trend;

/// Asserts that `found` is `published` to half a unit of the last of its `decimals`.
#[track_caller]
fn assert_digits(found: f64, published: f64, decimals: i32) {
    let half = 0.5 * 10f64.powi(-decimals) * (1.0 + 1e-9);
    assert!(
        (found - published).abs() <= half,
        "{found} for {published} at {decimals} decimals"
    );
}

/// Student's sleep data: extra hours of ten patients under two drugs, "The probable error
/// of a mean", Biometrika 6 (1908), p. 20; R's data set `sleep`.
const SLEEP: [[f64; 10]; 2] = [
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
];

/// The gain by the second drug over the first, patient by patient.
fn sleep_gain() -> Vec<f64> {
    let [first, second] = SLEEP;
    second
        .iter()
        .zip(first)
        // Tenths of hours, so that equal gains are equal in binary too.
        .map(|(b, a)| ((b - a) * 10.0).round() / 10.0)
        .collect()
}

/// Darwin's maize, crossed against self-fertilised, in eighths of an inch.
const MAIZE: [f64; 15] = [
    49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0, -48.0,
];
