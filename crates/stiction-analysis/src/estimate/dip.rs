//! The dip: how far a sample is from having a single mode.
//!
//! It is the largest distance between the sample's distribution function and the closest
//! one that is convex up to some mode and concave from there on. The least possible is
//! 1 / 2n. J. A. Hartigan and P. M. Hartigan, "The dip test of unimodality", Annals of
//! Statistics 13 (1985); P. M. Hartigan, "Algorithm AS 217", Applied Statistics 34 (1985).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use stiction_core::Seed;

use crate::draws::Draws;

/// Samples that a reference is made of: the standard error of a p-value of 0.05 is 0.0034.
const SAMPLES: u64 = 4000;

/// The dip of `values`, in any order, between 1 / 2n and 1/4; `None` of nothing and of
/// some that are not finite.
#[must_use]
pub fn dip(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !super::all_finite(values) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    Some(of_sorted(&sorted))
}

/// The dips of samples of a uniform distribution, the unimodal one with the largest dips:
/// what a dip is held against. The same `seed` gives the same reference.
#[derive(Clone, Debug)]
pub struct Reference {
    n: usize,
    /// In rising order.
    dips: Vec<f64>,
}

impl Reference {
    /// The reference for samples of `n`, at least 1.
    #[must_use]
    pub fn of(n: usize, seed: Seed) -> Self {
        let n = n.max(1);
        let mut sample = vec![0.0; n];
        let mut dips: Vec<f64> = (0..SAMPLES)
            .map(|number| {
                let mut draws = Draws::new(seed.stream(number));
                sample.fill_with(|| draws.uniform());
                sample.sort_by(f64::total_cmp);
                of_sorted(&sample)
            })
            .collect();
        dips.sort_by(f64::total_cmp);
        Self { n, dips }
    }

    /// The size of the samples that it is for.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// The p-value of the hypothesis that a sample of [`n`](Self::n) with this dip comes
    /// from a distribution with a single mode. Never 0.
    #[must_use]
    pub fn p(&self, dip: f64) -> f64 {
        let below = self.dips.partition_point(|&other| other < dip);
        (self.dips.len() - below + 1) as f64 / (self.dips.len() + 1) as f64
    }
}

/// References of several sizes, each made when it is first asked for.
#[derive(Debug)]
pub struct References {
    seed: Seed,
    by_n: RefCell<BTreeMap<usize, Rc<Reference>>>,
}

impl References {
    /// References that follow from `seed`.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            by_n: RefCell::default(),
        }
    }

    /// The one for samples of `n`.
    #[must_use]
    pub fn of(&self, n: usize) -> Rc<Reference> {
        let mut by_n = self.by_n.borrow_mut();
        let made = || Rc::new(Reference::of(n, self.seed));
        Rc::clone(by_n.entry(n).or_insert_with(made))
    }
}

/// The distribution function rises by 1 (an n-th) at each value: from `index` just before
/// it to `index` + 1 at it. What is convex has to pass below the former, what is concave
/// above the latter.
fn of_sorted(x: &[f64]) -> f64 {
    let n = x.len();
    let mut dip = 1.0f64;
    let (mut low, mut high) = (0, n - 1);
    loop {
        let convex = hull(x, low, high, Side::Below);
        let concave = hull(x, low, high, Side::Above);
        let Some(gap) = widest_gap(x, &convex, &concave) else {
            break;
        };
        if gap.width <= dip {
            break;
        }
        // Outside the gap the hulls stand; how far they are from the steps is a dip.
        for pair in convex.windows(2).take_while(|pair| pair[1] <= gap.low) {
            dip = dip.max(largest_step_over(x, pair[0], pair[1]));
        }
        for pair in concave.windows(2).filter(|pair| pair[0] >= gap.high) {
            dip = dip.max(largest_step_under(x, pair[0], pair[1]));
        }
        if (gap.low, gap.high) == (low, high) {
            break;
        }
        (low, high) = (gap.low, gap.high);
    }
    dip / (2 * n) as f64
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Below,
    Above,
}

/// The corners, by index, of the greatest convex function below the steps from `low` to
/// `high`, or of the least concave one above them.
fn hull(x: &[f64], low: usize, high: usize, side: Side) -> Vec<usize> {
    let mut corners: Vec<usize> = Vec::new();
    for next in low..=high {
        while let [.., before, last] = corners[..] {
            // Whether the way over `last` bends to the wrong side, or not at all.
            let first_slope = (x[next] - x[last]) * (last - before) as f64;
            let second_slope = (x[last] - x[before]) * (next - last) as f64;
            let keeps = match side {
                Side::Below => first_slope < second_slope,
                Side::Above => first_slope > second_slope,
            };
            if keeps {
                break;
            }
            corners.pop();
        }
        corners.push(next);
    }
    corners
}

/// Where the two hulls are furthest apart, and the corners on its two sides.
struct Gap {
    width: f64,
    /// A corner of the convex hull.
    low: usize,
    /// A corner of the concave hull.
    high: usize,
}

/// The widest gap at a corner of either hull; `None` when neither has one between its ends.
fn widest_gap(x: &[f64], convex: &[usize], concave: &[usize]) -> Option<Gap> {
    let mut widest: Option<Gap> = None;
    let mut take = |gap: Gap| {
        if widest
            .as_ref()
            .is_none_or(|widest| gap.width > widest.width)
        {
            widest = Some(gap);
        }
    };
    for &corner in inner(concave) {
        let (before, after) = around(convex, corner);
        if let Some(rise) = rise_between(x, before, after, corner) {
            take(Gap {
                width: (corner - before + 1) as f64 - rise,
                low: before,
                high: corner,
            });
        }
    }
    for &corner in inner(convex) {
        let (before, after) = around(concave, corner);
        if let Some(rise) = rise_between(x, before, after, corner) {
            take(Gap {
                width: rise - (corner as f64 - before as f64 - 1.0),
                low: corner,
                high: after,
            });
        }
    }
    widest
}

fn inner(corners: &[usize]) -> &[usize] {
    corners
        .get(1..corners.len().saturating_sub(1))
        .unwrap_or(&[])
}

/// The corners at or before `index` and after it.
fn around(corners: &[usize], index: usize) -> (usize, usize) {
    let after = corners.partition_point(|&corner| corner <= index);
    (corners[after - 1], corners[after])
}

/// By how much the line from `first` to `last` rises up to `index`; `None` when it is
/// upright.
fn rise_between(x: &[f64], first: usize, last: usize, index: usize) -> Option<f64> {
    let run = x[last] - x[first];
    (run > 0.0).then(|| (x[index] - x[first]) * (last - first) as f64 / run)
}

/// How far the steps rise over the line between two corners of the convex hull; 1 at least.
fn largest_step_over(x: &[f64], first: usize, last: usize) -> f64 {
    (first..=last)
        .filter_map(|index| Some((index - first + 1) as f64 - rise_between(x, first, last, index)?))
        .fold(1.0, f64::max)
}

/// How far the line between two corners of the concave hull is above the steps.
fn largest_step_under(x: &[f64], first: usize, last: usize) -> f64 {
    (first..=last)
        .filter_map(|index| {
            Some(rise_between(x, first, last, index)? - (index as f64 - first as f64 - 1.0))
        })
        .fold(1.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_spacing_has_the_least_dip_and_two_heaps_the_greatest() {
        for n in [1, 2, 5, 40] {
            let even: Vec<f64> = (0..n).map(f64::from).collect();
            assert_eq!(dip(&even), Some(1.0 / f64::from(2 * n)), "{n}");
        }
        assert_eq!(dip(&[3.0; 7]), Some(1.0 / 14.0));
        assert_eq!(dip(&[0.0, 0.0, 1.0, 1.0]), Some(0.25));
        let heaps: Vec<f64> = (0..40)
            .map(|i| f64::from(i % 2) + f64::from(i) * 1e-9)
            .collect();
        assert!(dip(&heaps).unwrap() > 0.24);
    }

    #[test]
    fn scale_and_order_do_not_matter() {
        let values = [4.0, 1.0, 1.5, 9.0, 9.5, 9.1, 3.0, 1.1, 2.0];
        let moved = values.map(|x| 1000.0 - 7.0 * x);
        let (found, other) = (dip(&values).unwrap(), dip(&moved).unwrap());
        assert!((found - other).abs() < 1e-12, "{found} {other}");
    }

    #[test]
    fn nothing_and_what_is_no_number_have_no_dip() {
        for odd in [&[][..], &[f64::NAN], &[1.0, f64::INFINITY]] {
            assert_eq!(dip(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_reference_follows_from_its_seed() {
        let (one, other) = (Reference::of(12, Seed(1)), Reference::of(12, Seed(1)));
        assert_eq!(one.dips, other.dips);
        assert_eq!(one.n(), 12);
        assert_eq!(one.p(1.0 / 24.0), 1.0, "no dip is smaller");
        assert_eq!(one.p(0.25), 1.0 / 4001.0);
        let several = References::new(Seed(1));
        assert_eq!(several.of(12).dips, one.dips);
        assert!(Rc::ptr_eq(&several.of(12), &several.of(12)));
    }
}
