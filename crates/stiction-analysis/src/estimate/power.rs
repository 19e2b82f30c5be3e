//! What a t-test of so many blocks would see: power, number and effect, each from the
//! other two.
//!
//! [`plan`](super::plan) has the short formula for the signed-rank test; this is the exact
//! one for normal noise, which other programs print too. As theirs it leaves out the
//! chance of rejecting on the wrong side.

use statrs::distribution::{ContinuousCDF, Normal};
use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

use super::student::t_quantile;

/// What is tested, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TTest {
    /// Which runs are compared.
    pub design: Design,
    /// Whether changes to either side are looked for.
    pub sides: Sides,
    /// Chance of a false alarm, between 0 and 1.
    pub level: f64,
}

/// Which runs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// n blocks of one run a side. Effects are in standard deviations of a difference.
    Paired,
    /// n runs a side. Effects are in standard deviations of a run.
    Unpaired,
}

/// Whether changes to either side are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Only one.
    One,
    /// Either.
    Two,
}

/// What is searched for a number of blocks: below it no t-test is possible, above it no
/// plan.
const N: (f64, f64) = (2.0, 1e7);
/// And for an effect, in standard deviations.
const EFFECT: (f64, f64) = (1e-6, 1e3);

impl TTest {
    /// The chance of finding `effect` with `n`, which need not be whole. `None` of fewer
    /// than two and of an effect that is not above 0.
    #[must_use]
    pub fn power(&self, n: f64, effect: f64) -> Option<f64> {
        let sound = n >= N.0 && n.is_finite() && effect > 0.0 && effect.is_finite();
        let sound_level = self.level > 0.0 && self.level < 1.0;
        if !(sound && sound_level) {
            return None;
        }
        let samples = match self.design {
            Design::Paired => 1.0,
            Design::Unpaired => 2.0,
        };
        let sides = match self.sides {
            Sides::One => 1.0,
            Sides::Two => 2.0,
        };
        let freedom = samples * (n - 1.0);
        let critical = t_quantile(1.0 - self.level / sides, freedom);
        let off_centre = (n / samples).sqrt() * effect;
        Some(beyond(critical, freedom, off_centre))
    }

    /// How many it takes to find `effect` with the chance `power`, not rounded. `None` when
    /// two do already or ten million do not.
    #[must_use]
    pub fn n_needed(&self, power: f64, effect: f64) -> Option<f64> {
        rising_root(N, |n| Some(self.power(n, effect)? - power))
    }

    /// The smallest effect that `n` find with the chance `power`, in standard deviations.
    #[must_use]
    pub fn effect_seen(&self, n: f64, power: f64) -> Option<f64> {
        rising_root(EFFECT, |effect| Some(self.power(n, effect)? - power))
    }
}

/// Where a rising function is 0; `None` when that is not within the bounds.
fn rising_root((low, high): (f64, f64), of: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    if of(low)? > 0.0 || of(high)? < 0.0 {
        return None;
    }
    // Halved in logarithms: the bounds are far apart.
    let (mut low, mut high) = (low.ln(), high.ln());
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if of(middle.exp())? < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(f64::midpoint(low, high).exp())
}

/// The chance that Student's t with `freedom` degrees, off its centre by `off_centre`,
/// both above 0, lies beyond `t` > 0.
///
/// R. V. Lenth, "Algorithm AS 243: cumulative distribution function of the non-central t
/// distribution", Applied Statistics 38 (1989).
fn beyond(t: f64, freedom: f64, off_centre: f64) -> f64 {
    let normal = Normal::standard();
    // Where the series' first term leaves the range of numbers: the approximation of
    // Abramowitz and Stegun, 26.7.10.
    if off_centre > 37.0 {
        let s = 1.0 / (4.0 * freedom);
        let z = (t * (1.0 - s) - off_centre) / (1.0 + t * t * 2.0 * s).sqrt();
        return normal.sf(z);
    }
    let x = t * t / (t * t + freedom);
    let half = freedom / 2.0;
    let lambda = off_centre * off_centre;
    let rest = (freedom / (t * t + freedom)).powf(half);
    let ln_beta = std::f64::consts::PI.sqrt().ln() + ln_gamma(half) - ln_gamma(0.5 + half);
    let mut p = 0.5 * (-0.5 * lambda).exp();
    let mut q = (2.0 / std::f64::consts::PI).sqrt() * p * off_centre;
    let mut left = 0.5 - p;
    let mut a = 0.5;
    let mut x_odd = beta_reg(a, half, x);
    let mut g_odd = 2.0 * rest * (a * x.ln() - ln_beta).exp();
    let mut x_even = 1.0 - rest;
    let mut g_even = half * x * rest;
    let mut below = p * x_odd + q * x_even;
    for term in 1..10_000 {
        let term = f64::from(term);
        a += 1.0;
        x_odd -= g_odd;
        x_even -= g_even;
        g_odd *= x * (a + half - 1.0) / a;
        g_even *= x * (a + half - 0.5) / (a + 0.5);
        p *= lambda / (2.0 * term);
        q *= lambda / (2.0 * term + 1.0);
        left -= p;
        below += p * x_odd + q * x_even;
        if (2.0 * left * (x_odd - g_odd)).abs() < 1e-12 {
            break;
        }
    }
    (1.0 - below - normal.sf(off_centre)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: TTest = TTest {
        design: Design::Paired,
        sides: Sides::Two,
        level: 0.05,
    };

    #[test]
    fn the_three_questions_agree() {
        for n in [2.0, 5.0, 10.0, 33.3, 500.0] {
            let effect = USUAL.effect_seen(n, 0.8).unwrap();
            assert!((USUAL.power(n, effect).unwrap() - 0.8).abs() < 1e-9, "{n}");
            if n > N.0 {
                let found = USUAL.n_needed(0.8, effect).unwrap();
                assert!((found / n - 1.0).abs() < 1e-6, "{found} for {n}");
            }
        }
    }

    #[test]
    fn what_makes_no_sense_has_no_power() {
        for (n, effect) in [
            (1.0, 1.0),
            (10.0, 0.0),
            (10.0, -1.0),
            (f64::NAN, 1.0),
            (10.0, f64::INFINITY),
        ] {
            assert_eq!(USUAL.power(n, effect), None, "{n} {effect}");
        }
        assert_eq!(USUAL.n_needed(0.8, f64::NAN), None);
        assert_eq!(USUAL.n_needed(0.8, 100.0), None, "two are enough");
        assert_eq!(USUAL.n_needed(1.1, 1.0), None);
        assert!(USUAL.power(100.0, 50.0).unwrap() > 0.999_999, "far out");
    }
}
