//! The engine beside the floor and its peers: what an operation costs.
//!
//! Every row is one load. In each round everybody does every row once, in an order
//! drawn for the round, on one CPU; differences are taken within a round, where all
//! saw the same machine. The figure is CPU time of the process, which other work on
//! the machine disturbs less than time that passes.
//!
//! `cargo xtask bench engine [--rounds N] [--seconds S] [--rows A,B] [--cpu N] [--json]`
//!
//! Files are made below `target`, devices for the run; all go at its end, after an
//! interrupt too.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark prints what it measured"
)]

mod bare;
mod bare_ring;
mod options;
mod ours;
mod peers;
mod place;
mod rows;
mod sample;
mod spread;
mod start;
mod table;

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::thread::{CpuSet, sched_setaffinity};
use signal_hook::consts::{SIGINT, SIGTERM};
use stiction_core::Seed;

use options::Options;
use place::Places;
use rows::{Contender, Place, ROWS, Row};
use sample::Sample;
use start::Start;
use table::{Skipped, Table};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [start::CHILD, path] => start::child(Path::new(path)),
        [.., "--help" | "-h"] | [.., "--help" | "-h", "--bench"] => Ok(options::USAGE.to_owned()),
        [.., "--list"] | [.., "--list", "--bench"] => Ok(list()),
        _ => Options::parse(arguments.into_iter()).and_then(|options| measure(&options)),
    };
    match result {
        Ok(text) => {
            println!("{}", text.trim_end());
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("engine: {message}");
            ExitCode::from(2)
        }
    }
}

fn list() -> String {
    let rows = ROWS.iter().map(|row| (row.name, row.title));
    rows.chain([(start::NAME, start::TITLE)])
        .map(|(name, title)| format!("{name:20}{title}\n"))
        .collect()
}

fn measure(options: &Options) -> Result<String, String> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .map_err(|error| error.to_string())?;
    }
    let check = || match interrupted.load(Ordering::Relaxed) {
        true => Err("interrupted".to_owned()),
        false => Ok(()),
    };
    let wanted: Vec<&Row> = (ROWS.iter())
        .filter(|row| options.wants(row.name))
        .collect();
    let starts = options.wants(start::NAME);
    let files = wanted.iter().map(|row| row.load.place);
    let files = files.chain(starts.then_some(Place::SmallCached));
    let places = Places::make(Path::new(env!("CARGO_TARGET_TMPDIR")), files)?;
    let mut table = Table::new(options, places.folder());
    if starts {
        // Before this process binds itself to one CPU.
        for round in 0..options.rounds {
            check()?;
            progress(round, options.rounds, start::NAME);
            table.starts.push(one_start(&places)?);
        }
    }
    pin(options.cpu)?;
    let runs = runs(&wanted, &places, &mut table.skipped);
    // The first round warms up and is not kept.
    for round in 0..=options.rounds {
        progress(round, options.rounds + 1, "all rows");
        let mut samples = vec![None; runs.len()];
        for index in shuffled(runs.len(), round as u64) {
            check()?;
            let (row, contender) = runs[index];
            samples[index] = Some(one_run(row, contender, &places, options.seconds)?);
        }
        if round > 0 {
            table.rounds.push(samples.into_iter().flatten().collect());
        }
    }
    table.runs = runs;
    Ok(if options.json {
        table.json()
    } else {
        table.text()
    })
}

/// All that can be run, and why the rest cannot.
fn runs(
    wanted: &[&'static Row],
    places: &Places,
    skipped: &mut Vec<Skipped>,
) -> Vec<(&'static Row, Contender)> {
    let mut runs = Vec::new();
    for &row in wanted {
        if let Err(reason) = places.path(row.load.place) {
            skipped.push(Skipped::new(row.name, "", &reason));
            continue;
        }
        for &contender in row.contenders {
            match peers::missing(contender) {
                None => runs.push((row, contender)),
                Some(reason) => skipped.push(Skipped::new(row.name, contender.name(), reason)),
            }
        }
    }
    runs
}

fn one_run(
    row: &Row,
    contender: Contender,
    places: &Places,
    seconds: f64,
) -> Result<Sample, String> {
    let Row { name, load, .. } = row;
    let path = places.path(load.place)?;
    let length_bytes = load.place.length_bytes();
    load.place.warm(path)?;
    match contender {
        Contender::Bare => bare::run(load, path, length_bytes, seconds),
        Contender::Stiction => ours::run(load, path, length_bytes, seconds),
        Contender::Fio | Contender::FioTuned | Contender::FioReduced => {
            peers::fio(contender, load, path, length_bytes, seconds)
        }
        Contender::RingTool => peers::ring_tool(load, path),
    }
    .map_err(|error| format!("{name}: {error}"))
}

fn one_start(places: &Places) -> Result<(Start, Option<f64>), String> {
    let path = places.path(Place::SmallCached)?;
    let ours = start::ours(path)?;
    let fio = start::has_fio().then(|| start::fio(path)).transpose()?;
    Ok((ours, fio))
}

fn pin(cpu: usize) -> Result<(), String> {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| format!("cannot stay on CPU {cpu}: {error}"))
}

fn shuffled(count: usize, round: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&index| Seed(round).stream(index as u64).0);
    order
}

fn progress(round: usize, rounds: usize, what: &str) {
    eprintln!("engine: {what}, round {} of {rounds}", round + 1);
}
