//! Every estimate on numbers that are none, infinite, zero, equal or missing: none panics,
//! none returns a p-value outside 0 and 1, and what is not finite decides nothing.

use proptest::prelude::*;
use stiction_analysis::estimate::{
    bootstrap, components, correct, dip, equivalence, geometric, looks, max_t, modes, outliers,
    plan, quantiles, rank_sum, shift, sign_flip, signed_rank, student, trend, typical,
};
use stiction_core::Seed;

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -3.0f64..3.0,
        2 => (-2i32..3).prop_map(f64::from),
        1 => prop::sample::select(vec![
            f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::MIN_POSITIVE,
        ]),
    ]
}

fn some_numbers() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(any_number(), 0..15)
}

fn is_p(p: f64) -> bool {
    (0.0..=1.0).contains(&p)
}

fn is_ordered((lowest, highest): (f64, f64)) -> bool {
    lowest <= highest && lowest.is_finite() && highest.is_finite()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn differences(values in some_numbers(), margin in any_number()) {
        let finite = values.iter().all(|value| value.is_finite());
        let p = signed_rank::p_two_sided(&values);
        let flipped = sign_flip::p_two_sided(&values).unwrap();
        prop_assert!(is_p(p) && is_p(signed_rank::p_above(&values)) && is_p(flipped));
        prop_assert!(is_p(equivalence::p_signed_rank(&values, margin)));
        let interval = signed_rank::interval(&values, 0.95);
        prop_assert!(interval.is_none_or(is_ordered));
        let estimates = [
            signed_rank::hodges_lehmann(&values),
            quantiles::median(&values),
            quantiles::quantile(&values, 0.9, quantiles::Definition::Eight),
        ];
        for estimate in estimates {
            prop_assert_eq!(estimate.is_some(), finite && !values.is_empty());
        }
        if !finite {
            prop_assert!(p == 1.0 && flipped == 1.0 && interval.is_none());
            prop_assert!(!equivalence::is_shown(&values, 1e9, 0.05));
            prop_assert!(!looks::is_precise(&values, 1e9));
            prop_assert_eq!(plan::deviation(&values), None);
            prop_assert_eq!(student::Student::paired(&values), None);
            prop_assert_eq!(trend::trend(&values), None);
            prop_assert_eq!(dip::dip(&values), None);
        }
        prop_assert!(trend::trend(&values).is_none_or(|trend| is_p(trend.p)));
        prop_assert!(student::Student::paired(&values).is_none_or(|t| is_p(t.p_two_sided())));
    }

    #[test]
    fn sides(a in some_numbers(), b in some_numbers()) {
        prop_assert!(is_p(rank_sum::p_two_sided(&a, &b)));
        prop_assert!(rank_sum::interval(&a, &b, 0.95).is_none_or(is_ordered));
        let groups = [a.clone(), b];
        let found = components::Components::of(&groups);
        prop_assert!(found.is_none_or(|c| is_p(c.p()) && c.between >= 0.0 && c.within >= 0.0));
        prop_assert!(found.is_none_or(|c| c.runs_a_boot(60.0, 10.0) != Some(0)));
        prop_assert!(typical::typical(&a, 0.95).is_none_or(|run| run.value > 0.0));
        prop_assert_eq!(outliers::are_far(&a).len(), a.len());
        prop_assert!(correct::holm(&a).into_iter().all(is_p));
        prop_assert!(correct::benjamini_hochberg(&a).into_iter().all(is_p));
    }

    #[test]
    fn cells(
        cells in (0usize..9).prop_flat_map(|blocks| {
            prop::collection::vec(prop::collection::vec(any_number(), blocks), 0..5)
        })
    ) {
        let seed = Seed(1);
        prop_assert!(max_t::adjusted_p(&cells, seed).into_iter().all(is_p));
        let intervals = max_t::intervals(&cells, 0.95, seed);
        prop_assert!(intervals.into_iter().flatten().all(is_ordered));
        prop_assert_eq!(shift::shifts(&cells, 0.95, seed).len(), cells.len());
        let summary = geometric::summary(&cells, 0.95);
        prop_assert!(summary.is_none_or(|found| found.mean.is_finite()));
    }
}

#[test]
fn many_odd_runs() {
    let reference = dip::Reference::of(24, Seed(1));
    for odd in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let mut values = vec![5.0; 24];
        values[7] = odd;
        assert_eq!(modes::modes(&values, &reference), [], "{odd}");
        let figure = |blocks: &[usize]| blocks.iter().map(|&block| values[block].ln()).sum();
        assert_eq!(
            bootstrap::interval(24, figure, 0.95, Seed(1)),
            None,
            "{odd}"
        );
    }
}
