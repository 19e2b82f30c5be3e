//! The percent-from-baseline tables of the OSDL's test platform.
//!
//! For each thread count t, d(t) = 100 x (rate(t) / base(t) - 1). A row gives the
//! lowest and the highest d with their thread counts, and the unweighted mean of all.
//! The mean of ratios is not symmetric (+100 % and -50 % average to +25 %), so the
//! geometric mean stands beside it.

/// A percentage and where it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct At<K> {
    /// Percent difference from the baseline.
    pub percent: f64,
    /// The thread count, or the cell.
    pub at: K,
}

/// One row of such a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PercentRow<K> {
    /// The lowest difference; of equal ones the one given first.
    pub lowest: At<K>,
    /// The highest difference; of equal ones the one given first.
    pub highest: At<K>,
    /// The unweighted arithmetic mean over the thread counts, as in 2003.
    pub average_percent: f64,
    /// The difference of the geometric means: what the ratios really come to.
    pub geometric_percent: f64,
}

/// The row of `rates` against `baseline`, both as thread counts and rates; of
/// counts that both have. `None` when they share none, or when a rate is not above 0:
/// a failed run is no percentage.
#[must_use]
pub fn against_baseline(baseline: &[(u32, f64)], rates: &[(u32, f64)]) -> Option<PercentRow<u32>> {
    let mut ratios: Vec<(u32, f64)> = Vec::new();
    for &(threads, rate) in rates {
        let base = baseline.iter().find(|&&(count, _)| count == threads);
        let Some(&(_, base)) = base else {
            continue;
        };
        let positive = rate > 0.0 && base > 0.0;
        ratios.push((threads, positive.then(|| rate / base)?));
    }
    of_ratios(&ratios)
}

/// The row of ratios to the baseline, all above 0; `None` of none.
#[must_use]
pub fn of_ratios<K: Copy>(ratios: &[(K, f64)]) -> Option<PercentRow<K>> {
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    let first = *ratios.first()?;
    let extreme = |is_beyond: fn(f64, f64) -> bool| {
        let (at, ratio) = ratios.iter().copied().fold(first, |chosen, next| {
            if is_beyond(next.1, chosen.1) {
                next
            } else {
                chosen
            }
        });
        At {
            percent: percent(ratio),
            at,
        }
    };
    let n = ratios.len() as f64;
    let sum: f64 = ratios.iter().map(|&(_, ratio)| percent(ratio)).sum();
    let logs: f64 = ratios.iter().map(|&(_, ratio)| ratio.ln()).sum();
    Some(PercentRow {
        lowest: extreme(|next, chosen| next < chosen),
        highest: extreme(|next, chosen| next > chosen),
        average_percent: sum / n,
        geometric_percent: (logs / n).exp_m1() * 100.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_baseline_against_itself_is_zero_at_the_first_thread_count() {
        let base = [(1, 10.0), (2, 11.0), (4, 12.0), (8, 13.0)];
        let row = against_baseline(&base, &base).unwrap();
        assert_eq!((row.lowest.percent, row.lowest.at), (0.0, 1));
        assert_eq!((row.highest.percent, row.highest.at), (0.0, 1));
        assert_eq!((row.average_percent, row.geometric_percent), (0.0, 0.0));
    }

    /// The posted row `linux-2.6.0-test7 -67.07(8) 24.42(1) -33.23`, with the two
    /// thread counts that it does not print at their mean, which follows from it:
    /// (4 x -33.23 - -67.07 - 24.42) / 2 = -45.135.
    #[test]
    fn a_posted_row_comes_out_of_rates() {
        let base = [(1, 100.0), (2, 100.0), (4, 100.0), (8, 100.0)];
        let rates = [(1, 124.42), (2, 54.865), (4, 54.865), (8, 32.93)];
        let row = against_baseline(&base, &rates).unwrap();
        let text = format!(
            "{:.2}({}) {:.2}({}) {:.2}",
            row.lowest.percent,
            row.lowest.at,
            row.highest.percent,
            row.highest.at,
            row.average_percent
        );
        assert_eq!(text, "-67.07(8) 24.42(1) -33.23");
    }

    #[test]
    fn doubling_and_halving_cancel_in_the_geometric_mean_alone() {
        let row = against_baseline(&[(1, 4.0), (2, 4.0)], &[(1, 8.0), (2, 2.0)]).unwrap();
        assert_eq!(row.average_percent, 25.0);
        assert!(row.geometric_percent.abs() < 1e-12);
    }

    #[test]
    fn only_shared_thread_counts_and_no_failures() {
        let row = against_baseline(&[(1, 1.0), (2, 1.0)], &[(2, 3.0), (4, 9.0)]).unwrap();
        assert_eq!((row.lowest.at, row.highest.percent), (2, 200.0));
        assert_eq!(against_baseline(&[(1, 1.0)], &[(2, 1.0)]), None);
        assert_eq!(against_baseline(&[(1, 1.0)], &[(1, 0.0)]), None);
    }
}
