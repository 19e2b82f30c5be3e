//! Several candidates against one baseline: one family, tables, projections.

use crate::lay::{level, trial};
use crate::sessions::{imported, measured, printed, with};
use stiction_analysis::Verdict;
use stiction_analysis::compare::{CompareOptions, Counts, Matrix, Side, Summary, matrix};
use stiction_core::{Cell, Seed, Session, metrics};

/// Rates at 1, 2, 4 and 8 threads of each kernel, one run each.
fn table(kernels: &[(&str, [f64; 4])]) -> Session {
    let mut session = imported(1, "tiobench-0.3.3");
    for (kernel, rates) in kernels {
        for (threads, rate) in [1u32, 2, 4, 8].into_iter().zip(rates) {
            let cell = Cell::new().with("kernel", *kernel).with("threads", threads);
            session.trials.push(trial(cell, metrics::RATE, *rate));
        }
    }
    session
}

fn of_kernels(session: &Session) -> Matrix {
    let mut sides = Side::of_each_level(session, "kernel").unwrap();
    let baseline = sides.remove(0);
    matrix(&baseline, &sides, &CompareOptions::default())
}

/// The table of 2003: lowest, highest and average of each row come out of rates that have
/// them, with the two thread counts that it does not print at their mean.
#[test]
fn the_percent_table_of_2003_comes_out_to_the_digit() {
    let posted = [
        ("test7", -67.07, 24.42, -33.23),
        ("test8", -66.28, 30.62, -31.13),
        ("test8-mm1", 3.23, 170.62, 64.77),
        ("test9", -66.34, 48.14, -27.66),
        ("2.4.18", 93.48, 211.68, 156.81),
        ("2.4.19", 109.39, 216.11, 162.67),
        ("2.4.20", 111.40, 215.40, 163.98),
    ];
    let rates = posted.map(|(kernel, at_8, at_1, average)| {
        let between = (4.0 * average - at_8 - at_1) / 2.0;
        (
            kernel,
            [at_1, between, between, at_8].map(|percent| 100.0 + percent),
        )
    });
    let mut all = vec![("baseline", [100.0; 4])];
    all.extend(rates);
    let session = table(&all);
    let found = of_kernels(&session);
    let [table] = &found.tables[..] else {
        panic!("{:?}", found.tables);
    };
    assert_eq!(table.parameter.as_deref(), Some("threads"));
    for (row, (kernel, at_8, at_1, average)) in table.rows.iter().zip(posted) {
        let (lowest, highest) = (row.lowest.as_ref().unwrap(), row.highest.as_ref().unwrap());
        let text = format!(
            "{} {:.2}({}) {:.2}({}) {:.2}",
            row.name,
            lowest.percent,
            lowest.cell.integer("threads").unwrap(),
            highest.percent,
            highest.cell.integer("threads").unwrap(),
            row.average_percent.unwrap()
        );
        assert_eq!(
            text,
            format!("{kernel} {at_8:.2}(8) {at_1:.2}(1) {average:.2}")
        );
        let logs = [
            at_1,
            (4.0 * average - at_8 - at_1) / 2.0,
            (4.0 * average - at_8 - at_1) / 2.0,
            at_8,
        ]
        .map(|percent: f64| (1.0 + percent / 100.0).ln());
        let geometric = 100.0 * ((logs.iter().sum::<f64>() / 4.0).exp() - 1.0);
        assert!((row.geometric_percent.unwrap() - geometric).abs() < 1e-9);
        assert_eq!(row.geometric_interval_percent, None);
        assert_eq!(
            (row.cells, row.counts),
            (
                4,
                Counts {
                    cannot_tell: 4,
                    ..Counts::default()
                }
            )
        );
    }
    assert_eq!((found.family.judged, found.family.blocks), (0, None));
}

/// A baseline that stands in a table twice: what it shows against itself is noise.
#[test]
fn a_baseline_that_stands_twice_is_a_row_of_its_own() {
    let session = table(&[
        ("test9", [148.14, 80.0, 60.0, 33.66]),
        ("test9", [122.12, 80.0, 60.0, 33.54]),
        ("test10", [150.0, 90.0, 60.0, 33.0]),
    ]);
    let found = of_kernels(&session);
    let rows = &found.tables[0].rows;
    let named: Vec<_> = rows
        .iter()
        .map(|row| (row.name.as_str(), row.repeats_baseline))
        .collect();
    assert_eq!(named, [("test9", true), ("test10", false)]);
    let lowest = rows[0].lowest.as_ref().unwrap();
    assert!((lowest.percent - (122.12 / 148.14 - 1.0) * 100.0).abs() < 1e-9);
    assert_eq!(lowest.cell, Cell::new().with("threads", 1u32));
    // Root mean square of the four logarithms of ratios, times 1.02938 for the highest of
    // four draws: H. L. Harter's table.
    let squares: f64 = [122.12f64 / 148.14, 1.0, 1.0, 33.54 / 33.66]
        .iter()
        .map(|r| r.ln().powi(2))
        .sum();
    let reach = 1.02938 * (squares / 4.0).sqrt();
    let equal = found.tables[0].equal.as_ref().unwrap();
    assert_eq!(equal.from, "2 runs of the baseline");
    assert!(
        (equal.highest_percent / (reach.exp_m1() * 100.0) - 1.0).abs() < 0.05,
        "{equal:?}"
    );
}

/// Percentages of a baseline are told in points.
#[test]
fn figures_that_are_percentages_already_make_no_table() {
    let mut session = imported(1, "percent-from-baseline");
    for (kernel, average) in [("test8", "-31.13"), ("test9", "-27.66")] {
        let figures = vec![printed(metrics::CHANGE_AVERAGE, average)];
        let cell = Cell::new().with("kernel", kernel);
        session.trials.push(with(cell, "random_read", figures));
    }
    let found = of_kernels(&session);
    assert!(found.tables.is_empty());
    assert_eq!(found.comparisons[0].rows.len(), 1);
}

/// Recorded blocks of a baseline and candidates, rates at two thread counts.
fn blocks(candidates: &[(&str, f64)], blocks: u32) -> Session {
    let mut session = measured(1);
    for block in 0..blocks {
        for (name, factor) in [("base", 1.0)].iter().chain(candidates) {
            for threads in [1u32, 8] {
                let wobble = Seed(7)
                    .stream(u64::from(block * 8 + threads))
                    .stream(name.bytes().map(u64::from).sum());
                let rate = 1e8 * factor * (1.0 + (wobble.0 % 1000) as f64 / 1e5);
                let cell = Cell::new()
                    .with("configuration", *name)
                    .with("threads", threads);
                let mut trial = trial(cell, metrics::RATE, rate);
                trial.block = Some(block);
                session.trials.push(trial);
            }
        }
    }
    session
}

#[test]
fn candidates_are_judged_as_one_family() {
    let session = blocks(&[("slow", 0.9), ("even", 1.0), ("fast", 1.2)], 10);
    let base = Side::at_level(&session, "configuration", &level("base"));
    let side = |name| Side::at_level(&session, "configuration", &level(name));
    let options = CompareOptions::default();
    let found = matrix(&base, &[side("slow"), side("even"), side("fast")], &options);
    let verdicts = |index: usize| -> Vec<&Verdict> {
        found.comparisons[index]
            .rows
            .iter()
            .filter_map(|row| row.verdict.as_ref())
            .collect()
    };
    assert_eq!(verdicts(0), [&Verdict::Worse; 2]);
    assert_eq!(verdicts(1), [&Verdict::Same; 2]);
    assert_eq!(verdicts(2), [&Verdict::Better; 2]);
    assert_eq!(
        (found.family.judged, found.family.blocks),
        (6, Some((10, 10)))
    );
    assert_eq!(found.projection.column.as_deref(), Some("configuration"));
    assert_eq!(found.projection.row.as_deref(), Some("threads"));
    let summary = &found.tables[0].rows[0];
    assert_eq!(
        summary.counts,
        Counts {
            worse: 2,
            ..Counts::default()
        }
    );
    let (low, high) = summary.geometric_interval_percent.unwrap();
    assert!(
        low < -10.0 && high > -10.5 && low > -11.0 && high < -9.0,
        "{low} {high}"
    );
    let equal = found.tables[0].equal.as_ref().unwrap();
    assert_eq!(equal.from, "the blocks' own spread");
    assert!(
        equal.lowest_percent < 0.0 && equal.lowest_percent > -1.0,
        "{equal:?}"
    );
    // Alone a candidate has smaller p-values.
    let alone = matrix(&base, &[side("even")], &options);
    let p = |matrix: &Matrix, index: usize| {
        matrix.comparisons[index].rows[0]
            .estimate
            .unwrap()
            .p_adjusted
    };
    assert!(p(&alone, 0) <= p(&found, 1));
}

#[test]
fn a_configuration_that_repeats_the_baseline_stands_first_and_gives_the_noise() {
    let mut session = blocks(&[("slow", 0.9), ("again", 1.0)], 10);
    let one =
        |name: &str, size: u32| serde_json::json!({"name": name, "parameters": {"size": size}});
    session.header.plan.as_mut().unwrap().parameters =
        serde_json::json!({"configurations": [one("base", 1), one("slow", 2), one("again", 1)]});
    let mut sides = Side::of_each_level(&session, "configuration").unwrap();
    let base = sides.remove(0);
    let found = matrix(&base, &sides, &CompareOptions::default());
    let rows = &found.tables[0].rows;
    let named: Vec<_> = rows
        .iter()
        .map(|row| (row.name.as_str(), row.repeats_baseline))
        .collect();
    assert_eq!(named, [("again", true), ("slow", false)]);
    let equal = found.tables[0].equal.as_ref().unwrap();
    assert_eq!(
        equal.from,
        "10 A/A blocks, base and again are one configuration"
    );
}

/// A figure that one run does not have, such as the latency of a sync, leaves its cell with
/// fewer blocks than the others.
#[test]
fn a_cell_with_fewer_blocks_leaves_the_mean_of_all_without_an_interval() {
    let mut session = blocks(&[("slow", 0.9)], 10);
    let whole = of_configurations(&session);
    assert!(whole.geometric_interval_percent.is_some());
    session.trials[0].phases[0].measurements.clear();
    let found = of_configurations(&session);
    assert_eq!((found.cells, found.geometric_interval_percent), (2, None));
}

fn of_configurations(session: &Session) -> Summary {
    let mut sides = Side::of_each_level(session, "configuration").unwrap();
    let base = sides.remove(0);
    let mut found = matrix(&base, &sides, &CompareOptions::default());
    found.tables.remove(0).rows.remove(0)
}

/// The first trial of a block is of any configuration and of any number of threads: the
/// baseline is the first that was given all the same.
#[test]
fn levels_of_drawn_blocks_come_as_they_were_given() {
    let mut session = blocks(&[("candidate", 0.9)], 10);
    let given = ["base", "candidate"].map(|name| serde_json::json!({"name": name}));
    session.header.plan.as_mut().unwrap().parameters = serde_json::json!({"configurations": given});
    session.trials[..4].reverse();
    let names = |factor| -> Vec<String> {
        let sides = Side::of_each_level(&session, factor).unwrap();
        sides.into_iter().map(|side| side.name).collect()
    };
    assert_eq!(names("configuration"), ["base", "candidate"]);
    assert_eq!(names("threads"), ["1", "8"]);
}

#[test]
fn a_row_factor_makes_a_table_of_each_combination_of_the_others() {
    let mut session = measured(1);
    for configuration in ["a", "b"] {
        for block_size in [4096u32, 65536] {
            for threads in [1u32, 8] {
                let cell = Cell::new()
                    .with("configuration", configuration)
                    .with("block_size_bytes", block_size)
                    .with("threads", threads);
                session.trials.push(trial(cell, metrics::RATE, 1e8));
            }
        }
    }
    let mut sides = Side::of_each_level(&session, "configuration").unwrap();
    let a = sides.remove(0);
    let options = CompareOptions {
        row: Some("threads".to_owned()),
        ..CompareOptions::default()
    };
    let found = matrix(&a, &sides, &options);
    assert_eq!(found.projection.rest, ["block_size_bytes"]);
    let fixed: Vec<_> = found
        .tables
        .iter()
        .map(|table| table.fixed.to_string())
        .collect();
    assert_eq!(fixed, ["block_size_bytes=4096", "block_size_bytes=65536"]);
    assert!(
        found
            .tables
            .iter()
            .all(|table| table.parameter.as_deref() == Some("threads"))
    );
    // Without it the cells are the rows of one table.
    let whole = matrix(&a, &sides, &CompareOptions::default());
    assert_eq!((whole.tables.len(), whole.projection.row), (1, None));
    assert_eq!(whole.tables[0].rows[0].cells, 4);
}

#[test]
fn a_factor_with_one_level_makes_no_sides() {
    let session = table(&[("only", [1.0; 4])]);
    let error = Side::of_each_level(&session, "kernel").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`kernel` has not several levels in the session; it has kernel=only, threads=1, \
         threads=2, threads=4, threads=8"
    );
    // Whatever order they were seen in.
    let session = table(&[("old", [1.0; 4]), ("new", [1.0; 4])]);
    let error = Side::of_each_level(&session, "filesystem").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`filesystem` has not several levels in the session; it has kernel=old, kernel=new, \
         threads=1, threads=2, threads=4, threads=8"
    );
}
