//! Student's t: for normal noise, beside the exact tests and to check them against what
//! others publish.
//!
//! Student, "The probable error of a mean", Biometrika 6 (1908); B. L. Welch, "The
//! generalization of Student's problem when several different population variances are
//! involved", Biometrika 34 (1947), with Satterthwaite's degrees of freedom.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::plan::deviation;

/// An estimate with the error that is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Student {
    /// The estimate.
    pub estimate: f64,
    /// Its standard error, above 0.
    pub standard_error: f64,
    /// Degrees of freedom of the error, above 0; not whole where variances differ.
    pub freedom: f64,
}

/// What a side's runs come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Their mean.
    pub mean: f64,
    /// Their sample standard deviation.
    pub deviation: f64,
    /// How many there are, 2 or more.
    pub n: u32,
}

impl Moments {
    /// The moments of `values`; `None` of fewer than two, or of some that are not finite.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let deviation = deviation(values).filter(|deviation| deviation.is_finite())?;
        Some(Self {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            deviation,
            n: values.len() as u32,
        })
    }
}

impl Student {
    /// The mean of `differences`; `None` of fewer than two, of equal ones, and of some
    /// that are not finite.
    #[must_use]
    pub fn paired(differences: &[f64]) -> Option<Self> {
        let Moments { mean, deviation, n } = Moments::of(differences)?;
        Self::sound(mean, deviation / f64::from(n).sqrt(), f64::from(n) - 1.0)
    }

    /// How far the mean of `b` lies above that of `a`, with variances of their own; `None`
    /// where neither side has any spread.
    #[must_use]
    pub fn unpaired(a: Moments, b: Moments) -> Option<Self> {
        let share = |side: Moments| side.deviation.powi(2) / f64::from(side.n);
        let freedom_of = |side: Moments| share(side).powi(2) / (f64::from(side.n) - 1.0);
        let variance = share(a) + share(b);
        let freedom = variance.powi(2) / (freedom_of(a) + freedom_of(b));
        Self::sound(b.mean - a.mean, variance.sqrt(), freedom)
    }

    fn sound(estimate: f64, standard_error: f64, freedom: f64) -> Option<Self> {
        let sound = estimate.is_finite()
            && standard_error > 0.0
            && standard_error.is_finite()
            && freedom > 0.0;
        sound.then_some(Self {
            estimate,
            standard_error,
            freedom,
        })
    }

    /// The estimate in standard errors.
    #[must_use]
    pub fn t(&self) -> f64 {
        self.estimate / self.standard_error
    }

    /// The p-value of the hypothesis that the truth is `hypothesis` or less.
    #[must_use]
    pub fn p_above(&self, hypothesis: f64) -> f64 {
        let t = (self.estimate - hypothesis) / self.standard_error;
        distribution(self.freedom).sf(t)
    }

    /// The p-value of the hypothesis that the truth is `hypothesis` or more.
    #[must_use]
    pub fn p_below(&self, hypothesis: f64) -> f64 {
        let t = (self.estimate - hypothesis) / self.standard_error;
        distribution(self.freedom).cdf(t)
    }

    /// The p-value of the hypothesis that the truth is 0.
    #[must_use]
    pub fn p_two_sided(&self) -> f64 {
        (2.0 * distribution(self.freedom).sf(self.t().abs())).min(1.0)
    }

    /// The interval that covers the truth with `confidence`, 0 to 1 exclusive.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> (f64, f64) {
        let reach = self.standard_error * t_quantile(f64::midpoint(1.0, confidence), self.freedom);
        (self.estimate - reach, self.estimate + reach)
    }
}

/// The quantile of Student's t with `freedom` degrees, above 0, at a `probability` of 0.5
/// to 1 exclusive: R's `qt`.
///
/// Found by halving: statrs' own inverse does not end for some degrees of freedom (0.19.1,
/// twenty million at 95 %).
#[must_use]
pub fn t_quantile(probability: f64, freedom: f64) -> f64 {
    let distribution = distribution(freedom);
    // The upper tail keeps its digits where the lower one rounds to 1.
    let beyond = 1.0 - probability;
    let mut high = 1.0;
    while distribution.sf(high) > beyond && high < f64::MAX / 2.0 {
        high *= 2.0;
    }
    let mut low = 0.0;
    // Each step adds a bit; a float has 53.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if distribution.sf(middle) > beyond {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

fn distribution(freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom above 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed tables of t: two-sided 20 % and 5 %.
    #[test]
    fn quantiles_agree_with_the_printed_tables() {
        for (freedom, at_80, at_975) in [
            (1.0, 1.376, 12.706),
            (2.0, 1.061, 4.303),
            (5.0, 0.920, 2.571),
            (9.0, 0.883, 2.262),
            (30.0, 0.854, 2.042),
            (1e7, 0.842, 1.960),
        ] {
            for (probability, table) in [(0.8, at_80), (0.975, at_975)] {
                let found = t_quantile(probability, freedom);
                assert!((found - table).abs() < 6e-4, "{freedom}: {found}");
            }
        }
        assert!(t_quantile(0.5, 4.0).abs() < 1e-15);
        // R: qt(1 - 1e-9, 3).
        assert!((t_quantile(1.0 - 1e-9, 3.0) / 1_033.109_684 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn without_spread_or_numbers_there_is_no_t() {
        for values in [
            &[][..],
            &[1.0],
            &[2.0, 2.0, 2.0],
            &[1.0, f64::NAN],
            &[1.0, f64::INFINITY],
        ] {
            assert_eq!(Student::paired(values), None, "{values:?}");
        }
        let still = Moments {
            mean: 1.0,
            deviation: 0.0,
            n: 5,
        };
        assert_eq!(Student::unpaired(still, still), None);
    }
}
