//! A tree that is moved from one filesystem to another and back.

use serde_json::Value;

use super::Lab;
use super::figures::{digits, median, print, spread_percent};
use super::ground::{KINDS, text};

/// Numbers of the filesystems in [`KINDS`] between which a tree is moved.
const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 3), (1, 3)];

/// Phases of a move, as they are called in reports.
const PHASES: [&str; 6] = [
    "copy_out",
    "delete_out",
    "sync_out",
    "copy_back",
    "delete_back",
    "sync_back",
];

/// Moves trees between pairs of filesystems, in turn.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    let size_bytes = if lab.small { 256 << 20 } else { 2 << 30 };
    let places: Vec<String> = KINDS
        .iter()
        .map(|&kind| Ok(text(&lab.ground.filesystem(kind, size_bytes)?)))
        .collect::<Result<_, String>>()?;
    let mut command = vec!["tree-move", "--rounds", "1", "--runs", "1", "--json"];
    command.extend(lab.small.then_some("--quick"));
    // Times of each phase of each pair.
    let mut times = vec![vec![Vec::new(); PHASES.len()]; PAIRS.len()];
    for round in 0..lab.rounds {
        for turn in 0..PAIRS.len() {
            let pair = (round + turn) % PAIRS.len();
            let (from, to) = PAIRS[pair];
            let ends = ["--from", &places[from], "--to", &places[to]];
            let json = lab.stiction(&[&command[..], &ends].concat())?;
            for (of_phase, time) in times[pair].iter_mut().zip(read(&json)?) {
                of_phase.push(time);
            }
        }
    }
    let title = format!(
        "`stiction {} --from A --to B`, {} rounds, seconds:",
        command.join(" "),
        lab.rounds
    );
    let heads: Vec<&str> = ["from", "to"]
        .into_iter()
        .chain(PHASES)
        .chain(["all", "spread, %"])
        .collect();
    let rows: Vec<Vec<String>> = PAIRS.iter().zip(&times).map(row).collect();
    print(&title, &heads, &rows);
    Ok(())
}

fn row((&(from, to), times): (&(usize, usize), &Vec<Vec<f64>>)) -> Vec<String> {
    let rounds = times.first().map_or(0, Vec::len);
    let whole: Vec<f64> = (0..rounds)
        .map(|round| times.iter().map(|phase| phase[round]).sum())
        .collect();
    let mut row = vec![KINDS[from].name.to_owned(), KINDS[to].name.to_owned()];
    row.extend(times.iter().map(|phase| digits(median(phase))));
    row.push(digits(median(&whole)));
    row.push(digits(spread_percent(&whole)));
    row
}

/// Seconds of each phase.
fn read(json: &str) -> Result<Vec<f64>, String> {
    let report: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let phases = report["results"][0]["phases"].as_array();
    let time = |name: &&str| {
        let phase = phases?.iter().find(|phase| phase["name"] == **name)?;
        phase["figures"]["elapsed_s"]["value"].as_f64()
    };
    PHASES
        .iter()
        .map(|name| time(name).ok_or_else(|| format!("tree-move has no time of {name}")))
        .collect()
}
