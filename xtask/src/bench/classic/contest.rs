//! contest on each filesystem, and the time of one that names no load.

use std::time::Instant;

use serde_json::Value;

use super::Lab;
use super::figures::{digits, median, print, spread_percent};
use super::ground::{KINDS, text};

/// What one round on one filesystem came to.
#[derive(Clone, Debug, Default)]
struct Round {
    alone_s: f64,
    loaded_s: f64,
    cpu_alone_s: f64,
    cpu_loaded_s: f64,
    load_mib_per_s: f64,
    kept: f64,
}

/// The story of 2002: by how much a writer slows a build down on ext2 and on ext3.
pub(super) fn filesystems(lab: &Lab) -> Result<(), String> {
    let size_bytes = if lab.small { 512 << 20 } else { 6 << 30 };
    let places: Vec<String> = KINDS
        .iter()
        .map(|&kind| Ok(text(&lab.ground.filesystem(kind, size_bytes)?)))
        .collect::<Result<_, String>>()?;
    let mut command = vec!["contest", "--loads", "none,io", "--runs", "1", "--json"];
    let size = if lab.small {
        ["--quick", "--memory=64M"]
    } else {
        ["--memory=2G", "--seed=1"]
    };
    command.extend(size);
    let mut rounds = vec![Vec::new(); KINDS.len()];
    for round in 0..lab.rounds {
        // Each filesystem is first as often as any other.
        for turn in 0..KINDS.len() {
            let kind = (round + turn) % KINDS.len();
            let words = [&command[..], &[&places[kind]]].concat();
            rounds[kind].push(read(&lab.stiction(&words)?)?);
        }
    }
    let title = format!(
        "`stiction {} DIR`, {} rounds:",
        command.join(" "),
        lab.rounds
    );
    let heads = [
        "filesystem",
        "alone, s",
        "beside io, s",
        "spread, %",
        "slowdown",
        "CPU alone, s",
        "CPU beside, s",
        "load, MiB/s",
        "kept, %",
    ];
    let rows: Vec<Vec<String>> = KINDS
        .iter()
        .zip(&rounds)
        .map(|(kind, rounds)| row(kind.name, rounds))
        .collect();
    print(&title, &heads, &rows);
    Ok(())
}

fn row(name: &str, rounds: &[Round]) -> Vec<String> {
    let all = |figure: fn(&Round) -> f64| rounds.iter().map(figure).collect::<Vec<f64>>();
    let middle = |figure| digits(median(&all(figure)));
    vec![
        name.to_owned(),
        middle(|round| round.alone_s),
        middle(|round| round.loaded_s),
        digits(spread_percent(&all(|round| round.loaded_s))),
        middle(|round| round.loaded_s / round.alone_s),
        middle(|round| round.cpu_alone_s),
        middle(|round| round.cpu_loaded_s),
        middle(|round| round.load_mib_per_s),
        middle(|round| 100.0 * round.kept),
    ]
}

fn read(json: &str) -> Result<Round, String> {
    let report: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
    let figure = |load: &str, phase: &str, name: &str| {
        let trial = report["results"]
            .as_array()?
            .iter()
            .find(|trial| trial["cell"]["load"] == load)?;
        let phases = trial["phases"].as_array()?;
        let phase = phases.iter().find(|found| found["name"] == phase)?;
        phase["figures"][name]["value"].as_f64()
    };
    let wanted = |load: &str, phase: &str, name: &str| {
        let found = figure(load, phase, name);
        found.ok_or_else(|| format!("contest has no {name} of {phase} under {load}"))
    };
    let cpu = |load: &str| -> Result<f64, String> {
        Ok(wanted(load, "job", "cpu_user_s")? + wanted(load, "job", "cpu_system_s")?)
    };
    let rate = |phase: &str| wanted("io_load", phase, "load_rate_bytes_per_s");
    Ok(Round {
        alone_s: wanted("no_load", "job", "elapsed_s")?,
        loaded_s: wanted("io_load", "job", "elapsed_s")?,
        cpu_alone_s: cpu("no_load")?,
        cpu_loaded_s: cpu("io_load")?,
        load_mib_per_s: rate("job")? / f64::from(1 << 20),
        kept: rate("job")? / rate("load_alone")?,
    })
}

/// How long all of the usual loads take, once.
pub(super) fn time(lab: &Lab) -> Result<(), String> {
    let place = lab.ground.path("contest");
    std::fs::create_dir(&place).map_err(|error| format!("{}: {error}", place.display()))?;
    let place = text(&place);
    let mut words = vec!["contest", &place];
    words.extend(lab.small.then_some("--quick"));
    let begun = Instant::now();
    let report = lab.stiction(&words)?;
    println!(
        "\nA contest that names no load took {:.0} s:\n\n{report}",
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}
