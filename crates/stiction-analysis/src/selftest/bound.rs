//! What a property is held against, and what fewer replicates make of it.

/// Standard errors that the stated bounds allow for chance: 6.1 % is 5 % and 3.2 standard
/// errors of 4000 replicates, 7.1 % the same of 1000 to a tenth of a percent.
const ERRORS: f64 = 3.2;

/// Which side a measured figure has to keep to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// No larger.
    AtMost(f64),
    /// No smaller.
    AtLeast(f64),
}

impl Limit {
    /// Whether `value` keeps to it. What is not a number does not.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        match self {
            Self::AtMost(bound) => value <= bound,
            Self::AtLeast(bound) => value >= bound,
        }
    }

    /// The bound itself.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::AtMost(bound) | Self::AtLeast(bound) => bound,
        }
    }

    /// Whether `first` is further on the wrong side than `second`.
    pub(super) fn is_worse(self, first: f64, second: f64) -> bool {
        match self {
            Self::AtMost(_) => first > second,
            Self::AtLeast(_) => first < second,
        }
    }
}

/// What a figure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// A share of the replicates, of which chance makes more or less.
    Share,
    /// A relative size.
    Size,
    /// A mean number of blocks.
    Blocks,
}

/// A bound as it is stated, for a number of replicates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The limit.
    pub limit: Limit,
    /// Of what.
    pub figure: Figure,
    /// Replicates that it is stated for.
    pub replicates: u32,
}

impl Bound {
    /// The limit for so many replicates.
    ///
    /// A share p has the standard error sqrt(p (1 - p) / R). A stated bound B lies
    /// `ERRORS` of them beyond the truth that it allows, so with r < R replicates it
    /// moves out by `ERRORS * sqrt(B (1 - B)) * (1 / sqrt(r) - 1 / sqrt(R))`. Bounds of 0
    /// and of 1 say never and always, and do not move; neither do sizes and blocks.
    #[must_use]
    pub fn at(self, replicates: u32) -> Limit {
        if self.figure != Figure::Share || replicates >= self.replicates {
            return self.limit;
        }
        let bound = self.limit.value();
        let error = |replicates: u32| 1.0 / f64::from(replicates).sqrt();
        let more = error(replicates) - error(self.replicates);
        let moved = ERRORS * (bound * (1.0 - bound)).sqrt() * more;
        match self.limit {
            Limit::AtMost(bound) => Limit::AtMost((bound + moved).min(1.0)),
            Limit::AtLeast(bound) => Limit::AtLeast((bound - moved).max(0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(limit: Limit) -> Bound {
        Bound {
            limit,
            figure: Figure::Share,
            replicates: 4000,
        }
    }

    #[test]
    fn fewer_replicates_move_a_bound_by_their_binomial_error() {
        let alarms = share(Limit::AtMost(0.061));
        assert_eq!(alarms.at(4000), Limit::AtMost(0.061));
        assert_eq!(alarms.at(9000), Limit::AtMost(0.061));
        // sqrt(0.061 * 0.939) = 0.23933; 1/20 - 1/63.2456 = 0.034189; times 3.2.
        assert!((alarms.at(400).value() - (0.061 + 0.026184)).abs() < 1e-6);
        let coverage = share(Limit::AtLeast(0.939));
        assert!((coverage.at(400).value() - (0.939 - 0.026184)).abs() < 1e-6);
    }

    #[test]
    fn never_stays_never_and_a_size_is_no_share() {
        assert_eq!(share(Limit::AtMost(0.0)).at(10), Limit::AtMost(0.0));
        let blocks = Bound {
            figure: Figure::Blocks,
            ..share(Limit::AtMost(140.0))
        };
        assert_eq!(blocks.at(10), Limit::AtMost(140.0));
    }

    #[test]
    fn what_is_no_number_is_outside() {
        assert!(!Limit::AtMost(1.0).holds(f64::NAN) && !Limit::AtLeast(0.0).holds(f64::NAN));
        assert!(Limit::AtMost(1.0).holds(1.0) && Limit::AtLeast(1.0).holds(1.0));
    }
}
