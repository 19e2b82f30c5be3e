//! What one more block can tell.

use super::model::Step;

/// How many blocks of a commit are thought of together, when a build is weighed against
/// what its commit can tell.
const BLOCKS_TOGETHER: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];

/// Points and reach, in deviations, of the integral over the noise.
const POINTS: u32 = 40;
const REACH: f64 = 4.0;

/// Most that a block of a commit can tell for its cost, when the change lies at the
/// commit or before it with the chance `share`, and a build costs as much as
/// `build_blocks` blocks. In nats a block.
pub(super) fn gain_per_cost(share: f64, step: Step, build_blocks: f64) -> f64 {
    BLOCKS_TOGETHER
        .into_iter()
        .map(|blocks| {
            let distance = step.in_deviations() * blocks.sqrt();
            information(share, distance) / (build_blocks + blocks)
        })
        .fold(0.0, f64::max)
}

/// The mutual information, in nats, of a yes that has the chance `share`, and a number
/// that is normal about `distance` for yes and about 0 for no, with the deviation 1.
/// By Simpson's rule.
fn information(share: f64, distance: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return 0.0;
    }
    // Levels that far apart are told apart without fail.
    let distance = distance.min(4.0 * REACH);
    let width = (distance + 2.0 * REACH) / f64::from(POINTS);
    let mut sum = 0.0;
    for point in 0..=POINTS {
        let weight = match point {
            0 | POINTS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        sum += weight * density(share, distance, f64::from(point) * width - REACH);
    }
    sum * width / 3.0 / std::f64::consts::TAU.sqrt()
}

/// The integrand: each answer's density by the logarithm of how much likelier it
/// becomes.
fn density(share: f64, distance: f64, at: f64) -> f64 {
    let yes = (-0.5 * (at - distance).powi(2)).exp();
    let no = (-0.5 * at * at).exp();
    let both = share * yes + (1.0 - share) * no;
    let part = |chance: f64, own: f64| {
        if own > 0.0 {
            chance * own * (own / both).ln()
        } else {
            0.0
        }
    };
    part(share, yes) + part(1.0 - share, no)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Far apart, a block tells the whole of a coin's throw, ln 2; at one level it
    /// tells nothing. Near 0 it is share * (1 - share) * distance^2 / 2, the first term
    /// of its series.
    #[test]
    fn information_has_its_limits() {
        assert!((information(0.5, 12.0) - std::f64::consts::LN_2).abs() < 1e-3);
        assert!(information(0.5, 0.0).abs() < 1e-12);
        let small = information(0.3, 0.05);
        let series = 0.3 * 0.7 * 0.05f64.powi(2) / 2.0;
        assert!((small / series - 1.0).abs() < 0.01, "{small} {series}");
        assert_eq!(information(0.0, 1.0), 0.0);
        assert!(information(0.5, f64::INFINITY).is_finite());
    }

    #[test]
    fn even_splits_tell_most() {
        for distance in [0.5, 1.0, 3.0] {
            assert!(information(0.5, distance) > information(0.4, distance));
            assert!((information(0.4, distance) - information(0.6, distance)).abs() < 1e-9);
        }
    }
}
