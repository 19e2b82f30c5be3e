//! Published series, sums done by hand, and worlds of which the truth is known.

use super::*;

const SEED: Seed = Seed(20_021_130);

fn found(values: &[f64]) -> Vec<usize> {
    let points = change_points(values, &Rule::default(), SEED);
    points.iter().map(|change| change.at).collect()
}

/// Of 1, 2 | 10, 11, 12 by hand: across 9+10+11+8+9+10 = 57, twice its mean 19; before
/// the one distance 1; after (1+2+1)/3. E = 19 - 1 - 4/3, Q = 2*3/5 * E = 20.
#[test]
fn q_is_what_it_is_by_hand() {
    let q = statistics(&[1.0, 2.0, 10.0, 11.0, 12.0]);
    assert_eq!(q.len(), 6);
    assert!((q[2] - 20.0).abs() < 1e-9, "{q:?}");
    // 1 | 2, 10, 11, 12: across 1+9+10+11 = 31, twice its mean 15.5; after
    // (8+9+10+1+2+1)/6 = 31/6; Q = 4/5 * (31/2 - 31/6).
    assert!((q[1] - 0.8 * 31.0 / 3.0).abs() < 1e-9, "{q:?}");
    assert_eq!((q[0], q[5]), (0.0, 0.0));
}

/// As the formula has it, pair by pair.
fn statistic_by_pairs(values: &[f64], t: usize) -> f64 {
    let (x, y) = values.split_at(t);
    let mean = |pairs: Vec<f64>| match pairs.len() {
        0 => 0.0,
        n => pairs.iter().sum::<f64>() / n as f64,
    };
    let within = |side: &[f64]| {
        let pairs = (0..side.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        mean(pairs.map(|(i, j)| (side[i] - side[j]).abs()).collect())
    };
    let across = mean(
        x.iter()
            .flat_map(|a| y.iter().map(move |b| (a - b).abs()))
            .collect(),
    );
    let (n, m) = (x.len() as f64, y.len() as f64);
    n * m / (n + m) * (2.0 * across - within(x) - within(y))
}

#[test]
fn the_fast_sums_are_those_of_all_pairs() {
    let mut draws = Draws::new(SEED);
    for n in [2, 3, 7, 40, 90] {
        // Halves, so that there are ties.
        let values: Vec<f64> = (0..n).map(|_| 1e6 + draws.below(60) as f64 / 2.0).collect();
        let fast = statistics(&values);
        for (t, &q) in fast.iter().enumerate().take(n).skip(1) {
            let slow = statistic_by_pairs(&values, t);
            assert!((q - slow).abs() < 1e-7 * (1.0 + slow.abs()), "{n} {t}");
        }
    }
}

/// Every one of the 5040 orders of seven points, by brute force, against random ones: the
/// standard error of the share is 0.0025 where it is 0.05.
#[test]
fn the_test_of_the_maximum_is_that_of_all_orders() {
    let values = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.3];
    let largest = |values: &[f64]| {
        let q = (2..=5).map(|t| statistic_by_pairs(values, t));
        q.fold(f64::MIN, f64::max)
    };
    let observed = largest(&values);
    let (mut as_large, mut orders) = (0, 0);
    let mut order = values;
    permute(&mut order, 0, &mut |order| {
        orders += 1;
        as_large += u32::from(largest(order) >= observed * (1.0 - 1e-9));
    });
    assert_eq!(orders, 5040);
    let exact = f64::from(as_large) / 5040.0;
    let rule = Rule {
        alpha: 1.0,
        orders: 9999,
        fewest: 2,
        fewest_newest: 2,
    };
    let split = split(&values, true, &rule, &mut Draws::new(SEED)).unwrap();
    assert!((split.p - exact).abs() < 0.02, "{} {exact}", split.p);
    assert!((split.q - observed).abs() < 1e-9);
}

fn permute(values: &mut [f64; 7], from: usize, take: &mut impl FnMut(&[f64])) {
    if from == values.len() {
        take(values);
    }
    for other in from..values.len() {
        values.swap(from, other);
        permute(values, from + 1, take);
        values.swap(from, other);
    }
}

/// The flow of the Nile at Aswan, 1871 to 1970, as in R's data set `Nile`, mean 919.35. G. W.
/// Cobb, "The problem of the Nile: conditional solution to a changepoint problem",
/// Biometrika 65 (1978), puts the one change after 1898.
#[test]
fn the_nile_changed_once_after_1898() {
    const NILE: [u16; 100] = [
        1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960,
        1180, 799, 958, 1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694,
        940, 833, 701, 916, 692, 1020, 1050, 969, 831, 726, 456, 824, 702, 1120, 1100, 832, 764,
        821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759, 781, 865, 845, 944, 984, 897, 822,
        1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890, 744, 749, 838, 1050,
        918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
    ];
    let values: Vec<f64> = NILE.iter().map(|&flow| f64::from(flow)).collect();
    assert!((values.iter().sum::<f64>() / 100.0 - 919.35).abs() < 1e-9);
    let changes = change_points(&values, &Rule::default(), SEED);
    assert_eq!(changes.len(), 1);
    assert_eq!(
        1871 + changes[0].at,
        1899,
        "the first year at the new level"
    );
    assert!(changes[0].p <= 0.001 + 1e-9);
    assert!(!changes[0].provisional);
}

/// The two series of Apache Otava's own tests (`tests/series_test.py`), which expect changes
/// at 6 and at 4.
#[test]
fn the_series_of_otava_change_where_its_tests_say() {
    let one = [
        1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55,
    ];
    let two = [
        2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78,
    ];
    assert_eq!(found(&one), [6]);
    let four = Rule {
        fewest: 4,
        ..Rule::default()
    };
    assert_eq!(change_points(&two, &four, SEED)[0].at, 4);
}

fn noise(world: u64, n: usize, follows: f64) -> Vec<f64> {
    let mut draws = Draws::new(SEED.stream(world));
    let innovation = (1.0 - follows * follows).sqrt();
    let mut last = draws.normal();
    let mut next = || {
        last = follows * last + innovation * draws.normal();
        last
    };
    (0..n).map(|_| next()).collect()
}

/// In how many of `worlds` the changes found are such.
fn count(worlds: u64, values: impl Fn(u64) -> Vec<f64>, such: impl Fn(&[usize]) -> bool) -> usize {
    (0..worlds).filter(|&w| such(&found(&values(w)))).count()
}

/// At 1 % for the first split, more than 6 of 100 come by chance once in 3000 times.
#[test]
fn noise_has_no_changes() {
    for n in [30, 100] {
        let alarms = count(100, |w| noise(w, n, 0.0), |changes| !changes.is_empty());
        assert!(alarms <= 6, "{alarms} of 100 at {n}");
    }
    let two_modes = |w| {
        let mut draws = Draws::new(SEED.stream(w));
        (0..100)
            .map(|_| f64::from(u8::from(draws.uniform() < 0.3)) * 20.0 + draws.normal())
            .collect()
    };
    let alarms = count(100, two_modes, |changes| !changes.is_empty());
    assert!(alarms <= 6, "{alarms} of 100 with two modes");
}

/// Neighbours that resemble each other: the bound is 15 of 100.
#[test]
fn wandering_noise_has_few_changes() {
    for n in [50, 100] {
        let alarms = count(100, |w| noise(w, n, 0.5), |changes| !changes.is_empty());
        assert!(alarms <= 15, "{alarms} of 100 at {n}");
    }
}

/// Two standard deviations, within two points of the truth: at least 85 %.
#[test]
fn a_step_is_found_where_it_is() {
    for (n, at) in [(50, 25), (60, 49)] {
        let stepped = |w| {
            let mut values = noise(w, n, 0.0);
            values[at..].iter_mut().for_each(|value| *value -= 2.0);
            values
        };
        let near = |changes: &[usize]| changes.iter().any(|c| c.abs_diff(at) <= 2);
        let hits = count(40, stepped, near);
        assert!(hits >= 34, "{hits} of 40 at {at} of {n}");
    }
}

#[test]
fn several_steps_are_all_found() {
    let mut values = noise(1, 90, 0.0);
    values[30..60].iter_mut().for_each(|value| *value += 8.0);
    values[60..].iter_mut().for_each(|value| *value += 20.0);
    assert_eq!(found(&values), [30, 60]);
}

#[test]
fn the_newest_change_needs_three_points_and_is_provisional() {
    let old = noise(3, 30, 0.0);
    let with = |newest: usize| {
        let mut values = old.clone();
        values.extend((0..newest).map(|i| 12.0 + i as f64 / 10.0));
        change_points(&values, &Rule::default(), SEED)
    };
    assert!(with(2).is_empty(), "{:?}", with(2));
    let three = with(3);
    assert_eq!((three.len(), three[0].at), (1, 30));
    assert!(three[0].provisional);
    assert!(!with(5)[0].provisional);
}

#[test]
fn what_cannot_be_judged_has_no_changes() {
    for values in [
        vec![],
        vec![1.0],
        vec![1.0, 9.0, 1.0, 9.0, 1.0, 9.0, 1.0],
        vec![5.0; 60],
        vec![f64::NAN; 20],
        [vec![1.0; 20], vec![f64::INFINITY; 20]].concat(),
    ] {
        assert!(found(&values).is_empty(), "{values:?}");
    }
}

/// Whichever seed, the answer to the same question is the same.
#[test]
fn the_same_seed_gives_the_same_answer() {
    let values = noise(5, 60, 0.3);
    let one = change_points(&values, &Rule::default(), Seed(1));
    assert_eq!(one, change_points(&values, &Rule::default(), Seed(1)));
}

/// 0 for white noise to within 2/sqrt(n); exactly 2/3 and so on for short ones by hand.
#[test]
fn serial_correlation_by_hand() {
    // (1*-1 + -1*1 + 1*-1) / 4
    assert!((serial_correlation(&[1.0, -1.0, 1.0, -1.0]) + 0.75).abs() < 1e-12);
    // (2*1 + 1*-1 + -1*-2) / 10
    assert!((serial_correlation(&[2.0, 1.0, -1.0, -2.0]) - 0.3).abs() < 1e-12);
    assert_eq!(serial_correlation(&[0.0; 5]), 0.0);
}
