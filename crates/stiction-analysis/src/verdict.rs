//! What a comparison may say, and when it has to refuse.

use stiction_core::MetricClass;

/// The judgement on one metric of one cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// B is worse, by at least the smallest effect of interest.
    Worse,
    /// B is better, by at least the smallest effect of interest.
    Better,
    /// B is worse; the size may lie below the smallest effect of interest.
    SlightlyWorse,
    /// B is better; the size may lie below the smallest effect of interest.
    SlightlyBetter,
    /// The difference is smaller than the smallest effect of interest.
    Same,
    /// The data do not decide.
    CannotTell {
        /// What stands in the way, a sentence each. Never empty.
        reasons: Vec<String>,
        /// Runs a side, in blocks of one run of each side, that would be likely to
        /// decide; a lower bound where the spread is unknown.
        runs_needed: Option<u32>,
    },
    /// A side has no number where one had to be: it failed, or measured nothing.
    Failed {
        /// Whether A has a number, so that the failure is B's alone.
        only_b: bool,
        /// What failed, a sentence each. Never empty.
        reasons: Vec<String>,
    },
    /// A side was skipped: nothing was tried, so nothing failed.
    NotRun {
        /// Why, a sentence each. Never empty.
        reasons: Vec<String>,
    },
    /// The two numbers are not of the same thing.
    NotComparable {
        /// What differs, a sentence each. Never empty.
        reasons: Vec<String>,
    },
}

impl Verdict {
    /// The word that stands in a report: capitals for what calls for action.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Worse => "WORSE",
            Self::Better => "BETTER",
            Self::SlightlyWorse => "slightly worse",
            Self::SlightlyBetter => "slightly better",
            Self::Same => "SAME",
            Self::CannotTell { .. } => "CANNOT TELL",
            Self::Failed { .. } => "FAILED",
            Self::NotRun { .. } => "NOT RUN",
            Self::NotComparable { .. } => "NOT COMPARABLE",
        }
    }

    /// Why nothing is claimed; empty when something is.
    #[must_use]
    pub fn reasons(&self) -> &[String] {
        match self {
            Self::CannotTell { reasons, .. }
            | Self::Failed { reasons, .. }
            | Self::NotRun { reasons }
            | Self::NotComparable { reasons } => reasons,
            _ => &[],
        }
    }
}

/// What all verdicts of a comparison come to. The binary makes its exit code of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything that was judged is the same or better.
    NoRegression,
    /// Something is worse, or failed in B only.
    Regression,
    /// Nothing is known to be worse, and something could not be told.
    CannotTell,
    /// Nothing could be compared, or nothing ran.
    NotComparable,
}

impl Outcome {
    /// The outcome of all `verdicts` together.
    #[must_use]
    pub fn of<'a>(verdicts: impl IntoIterator<Item = &'a Verdict>) -> Self {
        let mut outcome = Self::NotComparable;
        for verdict in verdicts {
            match verdict {
                Verdict::Worse | Verdict::Failed { only_b: true, .. } => return Self::Regression,
                // A gate takes "slightly" for "cannot tell": the size straddles the margin.
                Verdict::CannotTell { .. }
                | Verdict::SlightlyWorse
                | Verdict::Failed { only_b: false, .. } => outcome = Self::CannotTell,
                Verdict::Better | Verdict::SlightlyBetter | Verdict::Same => {
                    if outcome == Self::NotComparable {
                        outcome = Self::NoRegression;
                    }
                }
                Verdict::NotRun { .. } | Verdict::NotComparable { .. } => {}
            }
        }
        outcome
    }
}

/// What a gate makes of what could not be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strictness {
    /// It stays what it is.
    #[default]
    Plain,
    /// It counts as a regression.
    Strict,
    /// It passes, and so does what could not be compared.
    Lenient,
}

impl Outcome {
    /// What a gate of this strictness makes of it, and what there is to say where that
    /// hides something.
    #[must_use]
    pub fn gated(self, strictness: Strictness) -> (Self, Option<&'static str>) {
        match (strictness, self) {
            (Strictness::Strict, Self::CannotTell) => (
                Self::Regression,
                Some("strict: what could not be told counts as a regression"),
            ),
            (Strictness::Lenient, Self::CannotTell) => (
                Self::NoRegression,
                Some("lenient: something could not be told, and passes"),
            ),
            (Strictness::Lenient, Self::NotComparable) => (
                Self::NoRegression,
                Some("lenient: nothing could be compared, and that passes"),
            ),
            _ => (self, None),
        }
    }
}

/// The smallest effects of interest, as shares: 0.03 is 3 %.
///
/// The defaults are the smallest changes that a person would act on: 3 % of a rate,
/// 5 % of a mean latency or of CPU time, 10 % of a p99. Maxima and what lies beyond
/// p99.9 rest on a handful of operations and are described, never judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effects {
    /// Of rates and of times for a fixed amount of work.
    pub throughput: f64,
    /// Of mean and median latencies.
    pub latency_mean: f64,
    /// Of p90 to p99.9.
    pub latency_tail: f64,
    /// Of CPU time.
    pub cpu: f64,
    /// Of a CPU share in addition, percentage points.
    pub cpu_points: f64,
    /// Of maxima and of what lies beyond p99.9; `None`, as by default, to describe them.
    pub latency_extreme: Option<f64>,
}

impl Default for Effects {
    fn default() -> Self {
        Self {
            throughput: 0.03,
            latency_mean: 0.05,
            latency_tail: 0.10,
            cpu: 0.05,
            cpu_points: 1.0,
            latency_extreme: None,
        }
    }
}

impl Effects {
    /// The smallest effect of interest for metrics of `class`; `None` for those that
    /// are described and not judged.
    #[must_use]
    pub fn of(&self, class: MetricClass) -> Option<f64> {
        match class {
            MetricClass::Throughput => Some(self.throughput),
            MetricClass::LatencyMean => Some(self.latency_mean),
            MetricClass::LatencyTail => Some(self.latency_tail),
            MetricClass::Cpu => Some(self.cpu),
            MetricClass::LatencyExtreme => self.latency_extreme,
            MetricClass::Descriptive => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Exit 3 becomes 1 for a strict gate; 3 and 4 become 0 for a lenient one, which says
    /// so.
    #[test]
    fn gates_differ_in_what_could_not_be_told() {
        use Outcome::{CannotTell, NoRegression, NotComparable, Regression};
        for (outcome, plain, strict, lenient) in [
            (NoRegression, NoRegression, NoRegression, NoRegression),
            (Regression, Regression, Regression, Regression),
            (CannotTell, CannotTell, Regression, NoRegression),
            (NotComparable, NotComparable, NotComparable, NoRegression),
        ] {
            assert_eq!(outcome.gated(Strictness::Plain), (plain, None));
            assert_eq!(outcome.gated(Strictness::Strict).0, strict);
            let (gated, said) = outcome.gated(Strictness::Lenient);
            assert_eq!((gated, said.is_some()), (lenient, gated != outcome));
        }
    }

    #[test]
    fn the_worst_verdict_decides() {
        let cannot = Verdict::CannotTell {
            reasons: vec!["1 run a side".to_owned()],
            runs_needed: None,
        };
        let failed = |only_b| Verdict::Failed {
            only_b,
            reasons: vec!["EIO".to_owned()],
        };
        let other = Verdict::NotComparable {
            reasons: vec!["block sizes".to_owned()],
        };
        for (verdicts, outcome) in [
            (vec![], Outcome::NotComparable),
            (vec![&other], Outcome::NotComparable),
            (vec![&other, &Verdict::Same], Outcome::NoRegression),
            (vec![&Verdict::Better, &cannot], Outcome::CannotTell),
            (vec![&cannot, &Verdict::Better], Outcome::CannotTell),
            (vec![&Verdict::SlightlyWorse], Outcome::CannotTell),
            (vec![&cannot, &Verdict::Worse], Outcome::Regression),
            (vec![&Verdict::Same, &failed(true)], Outcome::Regression),
            (vec![&Verdict::Same, &failed(false)], Outcome::CannotTell),
        ] {
            assert_eq!(
                Outcome::of(verdicts.iter().copied()),
                outcome,
                "{verdicts:?}"
            );
        }
    }
}
