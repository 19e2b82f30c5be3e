//! A paired comparison inside a search: of the two ends, of a culprit and its parent.

use stiction_core::{Better, BlockValues, Seed, Seek, SoughtMetric};

use crate::compare::Estimate;
use crate::compare::decide::{decide, family_p};
use crate::estimate::plan::FEWEST_BLOCKS;
use crate::verdict::Verdict;

/// What the blocks of two versions say about one metric.
#[derive(Clone, Debug, PartialEq)]
pub struct Ends {
    /// The blocks in which both sides have a number that has a logarithm.
    pub blocks: usize,
    /// The change from the reference to the candidate, where there are six blocks.
    pub estimate: Option<Estimate>,
    /// The verdict on the candidate.
    pub verdict: Verdict,
}

impl Ends {
    /// Whether the candidate shows the change that is sought, by at least the smallest
    /// effect of interest.
    #[must_use]
    pub fn show(&self, seek: Seek) -> bool {
        match seek {
            Seek::Worse => self.verdict == Verdict::Worse,
            Seek::Better => self.verdict == Verdict::Better,
        }
    }

    /// Whether the candidate differs that way, however little.
    #[must_use]
    pub fn lean(&self, seek: Seek) -> bool {
        let slight = match seek {
            Seek::Worse => Verdict::SlightlyWorse,
            Seek::Better => Verdict::SlightlyBetter,
        };
        self.show(seek) || self.verdict == slight
    }
}

/// The difference of one block toward the change that is sought; `None` where a side
/// is not above 0, or not finite.
pub(super) fn toward_change(values: BlockValues, metric: &SoughtMetric, seek: Seek) -> Option<f64> {
    let gain = gain(values, metric.better)?;
    Some(if seek == Seek::Worse { -gain } else { gain })
}

/// ln(candidate / reference), positive where the candidate is better.
fn gain(values: BlockValues, better: Better) -> Option<f64> {
    let usable = |value: f64| value.is_finite() && value > 0.0;
    if !usable(values.reference) || !usable(values.candidate) {
        return None;
    }
    let change = (values.candidate / values.reference).ln();
    Some(if better == Better::Less {
        -change
    } else {
        change
    })
}

/// What `blocks`, one entry a metric in each, say about each metric: judged together,
/// so that the chance of any false alarm is 5 %.
pub(super) fn judge(blocks: &[&[BlockValues]], metrics: &[SoughtMetric], seed: Seed) -> Vec<Ends> {
    let gains: Vec<Vec<f64>> = metrics
        .iter()
        .enumerate()
        .map(|(index, metric)| {
            let of_metric = blocks.iter().filter_map(|values| values.get(index));
            of_metric
                .filter_map(|&values| gain(values, metric.better))
                .collect()
        })
        .collect();
    let cells: Vec<&[f64]> = gains.iter().map(Vec::as_slice).collect();
    let adjusted = family_p(&cells, seed);
    let judged = metrics.iter().zip(&gains).zip(adjusted);
    judged
        .map(|((metric, gains), p)| one(blocks.len(), metric, gains, p))
        .collect()
}

fn one(blocks: usize, metric: &SoughtMetric, gains: &[f64], p: f64) -> Ends {
    let lost = blocks - gains.len();
    let decided = decide(gains, metric.better, metric.smallest_effect, p);
    let (estimate, verdict) = match decided {
        _ if lost > 0 => {
            let reasons = vec![format!(
                "{lost} of {blocks} blocks have a value that is not above 0"
            )];
            let only_b = false;
            (None, Verdict::Failed { only_b, reasons })
        }
        Some((estimate, verdict)) => (Some(estimate), verdict),
        None => {
            let verdict = Verdict::CannotTell {
                reasons: vec![format!("{blocks} blocks; {FEWEST_BLOCKS} are the fewest")],
                runs_needed: Some(FEWEST_BLOCKS),
            };
            (None, verdict)
        }
    };
    Ends {
        blocks: gains.len(),
        estimate,
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sought(better: Better) -> SoughtMetric {
        SoughtMetric {
            name: "m".to_owned(),
            better,
            smallest_effect: 0.03,
        }
    }

    fn values(reference: f64, candidate: f64) -> BlockValues {
        BlockValues {
            reference,
            candidate,
        }
    }

    #[test]
    fn differences_are_positive_toward_the_change() {
        let slower = values(10.0, 20.0);
        let ln_2 = std::f64::consts::LN_2;
        for (better, seek, want) in [
            (Better::Less, Seek::Worse, ln_2),
            (Better::Less, Seek::Better, -ln_2),
            (Better::More, Seek::Worse, -ln_2),
            (Better::More, Seek::Better, ln_2),
        ] {
            let found = toward_change(slower, &sought(better), seek).unwrap();
            assert!((found - want).abs() < 1e-12, "{better:?} {seek:?}");
        }
        for (reference, candidate) in [(0.0, 1.0), (1.0, 0.0), (1.0, f64::NAN), (-1.0, -1.0)] {
            let bad = values(reference, candidate);
            assert_eq!(
                toward_change(bad, &sought(Better::Less), Seek::Worse),
                None,
                "{bad:?}"
            );
        }
    }

    #[test]
    fn a_zero_is_a_failure_and_five_blocks_are_too_few() {
        let metrics = [sought(Better::Less)];
        let slower = [values(10.0, 11.0)];
        let zero = [values(10.0, 0.0)];
        let of = |blocks: &[&[BlockValues]]| judge(blocks, &metrics, Seed(0)).swap_remove(0);
        assert_eq!(of(&[&slower[..]; 8]).verdict, Verdict::Worse);
        assert_eq!(of(&[&slower[..]; 5]).verdict.word(), "CANNOT TELL");
        assert_eq!(of(&[]).verdict.word(), "CANNOT TELL");
        let mut blocks = [&slower[..]; 8];
        blocks[3] = &zero;
        assert_eq!(of(&blocks).verdict.word(), "FAILED");
    }
}
