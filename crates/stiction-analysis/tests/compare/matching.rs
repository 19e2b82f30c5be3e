//! What is held against what.

use super::{only_row, whole};
use crate::sessions::{cell, imported, measured, read_at};
use stiction_analysis::compare::{CompareOptions, Favours, Side, compare};
use stiction_analysis::{AnalysisError, Outcome};
use stiction_core::{Cell, PlannedTrial, Session};

#[test]
fn cells_are_matched_by_their_factors_and_the_rest_is_listed() {
    let mut a = measured(1);
    let mut b = measured(2);
    for threads in [1u32, 2] {
        a.trials
            .push(read_at(Cell::new().with("threads", threads), 1e8));
    }
    for threads in [2u32, 4] {
        b.trials
            .push(read_at(Cell::new().with("threads", threads), 2e8));
    }
    let found = whole(&a, &b);
    let row = only_row(&found);
    assert_eq!(row.cell, Cell::new().with("threads", 2u32));
    assert!((row.change.unwrap().value - 100.0).abs() < 1e-9);
    assert_eq!(row.change.unwrap().favours(&row.metric), Some(Favours::B));
    let alone: Vec<_> = found
        .unmatched
        .iter()
        .map(|u| (u.cell.to_string(), u.in_a))
        .collect();
    assert_eq!(
        alone,
        [
            ("threads=1".to_owned(), true),
            ("threads=4".to_owned(), false)
        ]
    );
}

#[test]
fn a_factor_that_tells_the_sides_apart_is_no_part_of_the_cell() {
    let mut a = measured(1);
    let mut b = measured(2);
    a.trials
        .push(read_at(cell().with("directory", "/mnt/a"), 1e8));
    b.trials
        .push(read_at(cell().with("directory", "/mnt/b"), 1e8));
    let found = whole(&a, &b);
    assert_eq!(only_row(&found).cell, cell());
    assert_eq!(found.factors[0].factor, "directory");
    assert_eq!(found.factors[0].b, Some("/mnt/b".into()));
}

#[test]
fn parameters_never_tell_sides_apart() {
    let mut a = measured(1);
    let mut b = measured(2);
    a.trials
        .push(read_at(Cell::new().with("threads", 4u32), 1e8));
    b.trials
        .push(read_at(Cell::new().with("threads", 8u32), 1e8));
    let found = whole(&a, &b);
    assert_eq!((found.rows.len(), found.unmatched.len()), (0, 2));
    assert_eq!(found.outcome(), Outcome::NotComparable);
}

#[test]
fn two_levels_of_one_session_are_two_sides() {
    let mut session = imported(1, "contest-table");
    for (kernel, options, rate) in [("2.5.59", "", 3.42), ("2.5.59-mm2", "mm", 32.39)] {
        let mut cell = cell().with("kernel", kernel);
        if !options.is_empty() {
            cell = cell.with("options", options);
        }
        session.trials.push(read_at(cell, rate));
    }
    let a = Side::labelled(&session, "kernel=2.5.59").unwrap();
    let b = Side::labelled(&session, "2.5.59-MM2").unwrap();
    let found = compare(&a, &b, &CompareOptions::default());
    assert_eq!(
        (found.a.as_str(), found.b.as_str()),
        ("2.5.59", "2.5.59-mm2")
    );
    let factors: Vec<_> = found
        .factors
        .iter()
        .map(|side| side.factor.as_str())
        .collect();
    assert_eq!(factors, ["kernel", "options"]);
    assert_eq!(
        found.notes,
        ["options differs too: a difference cannot be put down to kernel alone"]
    );
    assert!((only_row(&found).change.unwrap().ratio().unwrap() - 9.4708).abs() < 1e-4);
}

#[test]
fn labels_that_mean_nothing_or_two_things_are_refused_with_what_there_is() {
    let mut session = measured(1);
    let cell = Cell::new()
        .with("kernel", "ext3")
        .with("filesystem", "ext3");
    session.trials.push(read_at(cell, 1.0));
    let none = Side::labelled(&session, "xfs").unwrap_err();
    assert_eq!(
        none.to_string(),
        "nothing in the session is labelled `xfs`; it has filesystem=ext3, kernel=ext3"
    );
    let two = Side::labelled(&session, "ext3").unwrap_err();
    assert!(matches!(two, AnalysisError::AmbiguousLabel { .. }), "{two}");
}

/// A session of combinations of two factors, of which the plan has these and those after
/// the first `ran` did not come to their turn.
fn combinations(all: &[(&str, &str)], ran: usize) -> Session {
    let mut session = measured(1);
    let cells = all.iter().map(|(filesystem, scheduler)| {
        Cell::new()
            .with(
                "configuration",
                format!("{filesystem} {scheduler}").as_str(),
            )
            .with("filesystem", *filesystem)
            .with("scheduler", *scheduler)
    });
    let cells: Vec<Cell> = cells.collect();
    let plan = session.header.plan.as_mut().unwrap();
    plan.parameters = serde_json::json!({"factors": ["filesystem", "scheduler"]});
    plan.trials = cells
        .iter()
        .map(|cell| PlannedTrial::new(cell.clone(), 0))
        .collect();
    let trials = cells.into_iter().take(ran);
    session.trials = trials.map(|cell| read_at(cell, 1e8)).collect();
    session
}

/// Cells of the rows, and what stands alone with the reason.
fn by_scheduler(session: &Session) -> (Vec<String>, Vec<String>) {
    let sides = Side::of_each_level(session, "scheduler").unwrap();
    let found = compare(&sides[0], &sides[1], &CompareOptions::default());
    assert_eq!(found.factors.len(), 1, "{:?}", found.factors);
    let rows = found.rows.iter().map(|row| row.cell.to_string());
    let alone = found.unmatched.iter();
    let alone = alone.map(|one| format!("{}: {}", one.cell, one.reason));
    (rows.collect(), alone.collect())
}

#[test]
fn of_combinations_that_were_left_out_nothing_is_paired() {
    let balanced = [
        ("ext4", "none"),
        ("ext4", "kyber"),
        ("xfs", "none"),
        ("btrfs", "none"),
    ];
    let (rows, alone) = by_scheduler(&combinations(&balanced, 4));
    assert_eq!(rows, ["filesystem=ext4"]);
    assert_eq!(
        alone,
        [
            "filesystem=xfs: kyber has no such cell",
            "filesystem=btrfs: kyber has no such cell"
        ]
    );
    // Each side has one filesystem, and not the same: that is no other name for the
    // scheduler.
    let (rows, alone) = by_scheduler(&combinations(&[("ext4", "none"), ("xfs", "kyber")], 2));
    assert!(rows.is_empty(), "{rows:?}");
    assert_eq!(alone.len(), 2, "{alone:?}");
    // What was planned and never ran is not left out.
    let cut_off = [
        ("ext4", "none"),
        ("xfs", "none"),
        ("xfs", "kyber"),
        ("ext4", "kyber"),
    ];
    let session = combinations(&cut_off, 3);
    let sides = Side::of_each_level(&session, "scheduler").unwrap();
    let found = compare(&sides[0], &sides[1], &CompareOptions::default());
    assert!(found.unmatched.is_empty(), "{:?}", found.unmatched);
}
