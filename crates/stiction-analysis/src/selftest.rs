//! The rules held against worlds of which the truth is known.
//!
//! Each [`Property`] says what a rule has to keep to, simulates sessions in which the
//! answer is known, has them judged by the code that judges real ones, and counts.
//! Properties know nothing of each other and can be measured at the same time.

mod boots;
mod bound;
mod lab;
mod properties;
mod rules;
mod worlds;

#[cfg(test)]
mod broken;

use stiction_core::Seed;

pub use bound::{Bound, Figure, Limit};
use lab::Lab;
pub use properties::PROPERTIES;
use rules::Rules;

/// How many replicates are simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A fraction of what the bounds are stated for; they are wider by the binomial
    /// error of that.
    Quick,
    /// As many as the bounds are stated for.
    Full,
}

/// The seed of the published table.
pub const SEED: Seed = Seed(20_021_130);

/// Something that the rules have to keep to.
pub struct Property {
    /// What is measured.
    pub name: &'static str,
    /// What it has to keep to, and the replicates of the full size.
    pub bound: Bound,
    /// Replicates of the quick size.
    pub quick_replicates: u32,
    /// Simulates, and counts: one reading for each case.
    measure: fn(&Lab<'_>) -> Vec<Reading>,
}

/// What was measured in one case of a property.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The case, such as `two modes, 10 blocks`; empty where there is one only.
    pub case: String,
    /// The figure.
    pub value: f64,
}

/// What a property came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What was measured.
    pub property: &'static str,
    /// What it is held against, as stated.
    pub bound: Bound,
    /// What it is held against with so many replicates.
    pub limit: Limit,
    /// Simulated sessions of each case.
    pub replicates: u32,
    /// What was measured, case by case. Never empty.
    pub readings: Vec<Reading>,
}

impl Property {
    /// Simulates by `seed`.
    #[must_use]
    pub fn measure(&self, size: Size, seed: Seed) -> Row {
        let replicates = match size {
            Size::Quick => self.quick_replicates,
            Size::Full => self.bound.replicates,
        };
        self.measure_by(&Rules::SHIPPED, replicates, seed)
    }

    fn measure_by(&self, rules: &Rules, replicates: u32, seed: Seed) -> Row {
        let lab = Lab {
            rules,
            replicates,
            seed,
        };
        Row {
            property: self.name,
            bound: self.bound,
            limit: self.bound.at(replicates),
            replicates,
            readings: (self.measure)(&lab),
        }
    }
}

impl Row {
    /// The reading that is furthest on the wrong side; `None` without any.
    #[must_use]
    pub fn worst(&self) -> Option<&Reading> {
        let worse = |a: &Reading, b: &Reading| {
            // What is no number is worse than any.
            a.value.is_nan() || self.limit.is_worse(a.value, b.value)
        };
        self.readings.iter().reduce(|worst, reading| {
            if worse(reading, worst) && !worst.value.is_nan() {
                reading
            } else {
                worst
            }
        })
    }

    /// Whether all cases keep to the limit. A property without cases does not.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.worst()
            .is_some_and(|worst| self.limit.holds(worst.value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f64]) -> Row {
        let limit = Limit::AtMost(0.05);
        let reading = |&value: &f64| Reading {
            case: value.to_string(),
            value,
        };
        Row {
            property: "a property",
            bound: Bound {
                limit,
                figure: Figure::Share,
                replicates: 10,
            },
            limit,
            replicates: 10,
            readings: values.iter().map(reading).collect(),
        }
    }

    #[test]
    fn the_worst_case_decides() {
        assert_eq!(row(&[0.01, 0.05, 0.02]).worst().unwrap().value, 0.05);
        assert!(row(&[0.01, 0.05, 0.02]).holds());
        assert!(!row(&[0.01, 0.051, 0.02]).holds());
        let not_a_number = row(&[0.01, f64::NAN, 0.9]);
        assert!(not_a_number.worst().unwrap().value.is_nan() && !not_a_number.holds());
        assert!(!row(&[]).holds(), "nothing was measured");
    }
}
