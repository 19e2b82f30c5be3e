//! Every figure of the posted tables, as printed, and what a right reading of them
//! says.

mod figures;
mod readings;

use stiction_core::{Cell, Measurement, Metric, Phase, Trial};
use stiction_formats::{Imported, ImportedSession, read};

const CONTEST_TABLES: &str = include_str!("../data/contest-ext2-ext3.txt");
const CONTEST_LOG_EXT2: &str = include_str!("../data/contest-log-ext2.txt");
const CONTEST_LOG_EXT3: &str = include_str!("../data/contest-log-ext3.txt");
const CONTEST_LOG_EXT3_QUOTED: &str = include_str!("../data/contest-log-ext3-quoted-wrapped.txt");
const FOUR_DISKS: &str = include_str!("../data/four-disks-time-lines.txt");
const OSDL: &str = include_str!("../data/osdl-percent-from-baseline.txt");
const TIOBENCH: &str = include_str!("../data/tiobench-ext3-32-threads.txt");
const TREE_MOVE: &str = include_str!("../data/tree-move-and-bonnie.txt");

/// The session of a file of which every line is read.
fn session(text: &str) -> ImportedSession {
    let Imported {
        mut sessions,
        unread,
        ..
    } = read(text);
    assert_eq!(unread, [], "every line is read");
    assert_eq!(sessions.len(), 1);
    sessions.remove(0)
}

/// The trials whose cells have all `levels`.
fn trials<'a>(session: &'a ImportedSession, levels: &[(&str, &str)]) -> Vec<&'a Trial> {
    let has = |cell: &Cell| {
        levels.iter().all(|(factor, level)| {
            cell.get(factor).map(ToString::to_string).as_deref() == Some(*level)
        })
    };
    session
        .trials
        .iter()
        .filter(|trial| has(&trial.cell))
        .collect()
}

/// The phase `name` of the one trial with these levels.
fn phase<'a>(session: &'a ImportedSession, levels: &[(&str, &str)], name: &str) -> &'a Phase {
    let found: Vec<&Phase> = trials(session, levels)
        .into_iter()
        .filter_map(|trial| trial.phase(name))
        .collect();
    assert_eq!(found.len(), 1, "{levels:?} {name}");
    found[0]
}

fn measurement<'a>(phase: &'a Phase, metric: &Metric) -> &'a Measurement {
    phase
        .measurement(metric)
        .unwrap_or_else(|| panic!("{} of {phase:?}", metric.name))
}

fn value(phase: &Phase, metric: &Metric) -> f64 {
    measurement(phase, metric).value
}

/// Asserts that two values agree to nine digits.
#[track_caller]
fn assert_close(got: f64, wanted: f64) {
    assert!(
        (got - wanted).abs() <= wanted.abs() * 1e-9 + 1e-12,
        "{got} is not {wanted}"
    );
}
