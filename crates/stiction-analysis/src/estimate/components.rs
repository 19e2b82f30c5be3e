//! How much of the noise arises between boots, and how much between the runs of one.
//!
//! The one-way analysis of variance with random effects, as in S. R. Searle, G. Casella
//! and C. E. McCulloch, "Variance components" (1992), section 3.6; what follows for the
//! number of runs in a boot is that of T. Kalibera and R. Jones, "Rigorous benchmarking in
//! reasonable time", ISMM 2013.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::all_finite;

/// The variance of runs, taken apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Components {
    /// Variance between groups (boots), beyond what runs explain; 0 when they explain all.
    pub between: f64,
    /// Variance between the members (runs) of one group.
    pub within: f64,
    /// Mean square between groups.
    pub mean_square_between: f64,
    /// Groups.
    pub groups: usize,
    /// Members of all groups.
    pub members: usize,
}

impl Components {
    /// The components of `groups`, which may differ in size. `None` of fewer than two
    /// groups or no group with two members, of empty groups, and where some value is not
    /// finite.
    #[must_use]
    pub fn of(groups: &[Vec<f64>]) -> Option<Self> {
        let count = groups.len() as f64;
        let members: usize = groups.iter().map(Vec::len).sum();
        let sound = |group: &Vec<f64>| !group.is_empty() && all_finite(group);
        if groups.len() < 2 || members <= groups.len() || !groups.iter().all(sound) {
            return None;
        }
        let total = members as f64;
        let means: Vec<f64> = groups.iter().map(|group| mean(group)).collect();
        let grand = groups.iter().flatten().sum::<f64>() / total;
        let mut squares_between = 0.0;
        let mut squares_within = 0.0;
        let mut squared_sizes = 0.0;
        for (group, mean) in groups.iter().zip(means) {
            let size = group.len() as f64;
            squares_between += size * (mean - grand).powi(2);
            squares_within += group.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
            squared_sizes += size * size;
        }
        let mean_square_between = squares_between / (count - 1.0);
        let within = squares_within / (total - count);
        // The size of a group, where they are equal.
        let size = (total - squared_sizes / total) / (count - 1.0);
        Some(Self {
            between: ((mean_square_between - within) / size).max(0.0),
            within,
            mean_square_between,
            groups: groups.len(),
            members,
        })
    }

    /// The ratio of the mean squares; infinite when groups differ and members do not, 1
    /// when nothing differs.
    #[must_use]
    pub fn f(&self) -> f64 {
        if self.mean_square_between == self.within {
            1.0
        } else {
            self.mean_square_between / self.within
        }
    }

    /// The p-value of the hypothesis that groups do not differ, for normal noise.
    #[must_use]
    pub fn p(&self) -> f64 {
        let f = self.f();
        if f.is_infinite() {
            return 0.0;
        }
        let (between, within) = (self.groups - 1, self.members - self.groups);
        let distribution = FisherSnedecor::new(between as f64, within as f64)
            .expect("both degrees of freedom are above 0");
        distribution.sf(f)
    }

    /// How many runs in each boot give the narrowest interval for the time spent, when a
    /// boot costs `boot` and a run `run` in the same unit: 1 or more. `None` when boots do
    /// not differ, so that nothing speaks against all runs in one, or a cost is not above 0.
    #[must_use]
    pub fn runs_a_boot(&self, boot: f64, run: f64) -> Option<u32> {
        let runs = (boot / run * (self.within / self.between)).sqrt();
        let sound = boot > 0.0 && run > 0.0 && self.between > 0.0 && runs.is_finite();
        sound.then(|| (runs.round() as u32).max(1))
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 3 % between boots and 1 % within. A boot of 90 s and a run of 10 s:
    /// sqrt(9 * 1 / 9) = 1. Turned round, sqrt(9 * 9) = 9.
    #[test]
    fn the_level_with_most_noise_is_repeated() {
        let components = |between, within| Components {
            between,
            within,
            mean_square_between: 0.0,
            groups: 2,
            members: 4,
        };
        assert_eq!(components(9.0, 1.0).runs_a_boot(90.0, 10.0), Some(1));
        assert_eq!(components(1.0, 9.0).runs_a_boot(90.0, 10.0), Some(9));
        assert_eq!(components(9.0, 0.0).runs_a_boot(90.0, 10.0), Some(1));
        assert_eq!(components(0.0, 1.0).runs_a_boot(90.0, 10.0), None);
        assert_eq!(components(1.0, 1.0).runs_a_boot(0.0, 10.0), None);
        assert_eq!(components(1.0, 1.0).runs_a_boot(90.0, f64::NAN), None);
    }

    /// By hand: groups of 1 and 3 members. n0 = (4 - 10/4) / 1 = 1.5; the grand mean is
    /// 2.5; MS between = 1 (4 - 2.5)^2 + 3 (2 - 2.5)^2 = 3; MS within = 2 / 2 = 1.
    #[test]
    fn groups_may_differ_in_size() {
        let found = Components::of(&[vec![4.0], vec![1.0, 2.0, 3.0]]).unwrap();
        assert_eq!((found.mean_square_between, found.within), (3.0, 1.0));
        assert!((found.between - 2.0 / 1.5).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn what_cannot_be_taken_apart_has_no_components() {
        for groups in [
            vec![],
            vec![vec![1.0, 2.0]],
            vec![vec![1.0], vec![2.0]],
            vec![vec![1.0, 2.0, 3.0], vec![]],
            vec![vec![1.0, 2.0], vec![1.0, f64::NAN]],
            vec![vec![1.0, 2.0], vec![1.0, f64::INFINITY]],
        ] {
            assert_eq!(Components::of(&groups), None, "{groups:?}");
        }
        let equal = Components::of(&[vec![1.0, 1.0], vec![1.0, 1.0]]).unwrap();
        assert_eq!((equal.between, equal.within, equal.f()), (0.0, 0.0, 1.0));
        let apart = Components::of(&[vec![1.0, 1.0], vec![2.0, 2.0]]).unwrap();
        assert_eq!((apart.f(), apart.p()), (f64::INFINITY, 0.0));
    }
}
