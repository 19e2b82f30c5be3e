//! What witnesses cost: the same reads with nothing beside them, with counters, and with
//! everything recorded, one after the other in every round.
//!
//! `cargo xtask bench witness [--rounds COUNT] [--seconds SECONDS]`. It needs root for
//! zram and for recording; what cannot be had is printed.

// A program that prints what it found.
#![allow(clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};

use stiction_core::{Access, Action, Job, Region, Seed, TargetStack, WitnessLevel};
use stiction_engine::{Progress, StopFlag, Target, run};
use stiction_host::{FactOptions, Witness, observe_target};
use testkit::Zram;

const BLOCK_BYTES: u64 = 4096;
const LENGTH_BYTES: u64 = 64 << 20;

/// A row of the table.
struct Row {
    name: &'static str,
    path: PathBuf,
    direct: bool,
    stack: TargetStack,
}

/// What one level did in one round.
struct Did {
    operations_per_s: f64,
    beside_ms: f64,
    during_cpu_ms: f64,
}

fn main() -> Result<(), String> {
    let (rounds, seconds) = options()?;
    let folder = testkit::scratch_folder();
    let cached = folder.path().join("file");
    fs::write(&cached, vec![7; LENGTH_BYTES as usize]).map_err(|error| error.to_string())?;
    let mut rows = vec![row("page cache", &cached, false)?];
    let zram = Zram::new(LENGTH_BYTES);
    match &zram {
        Ok(zram) => rows.push(row("zram", zram.path(), true)?),
        Err(reason) => println!("no zram: {reason}"),
    }
    println!("4 KiB random reads by one worker, {rounds} rounds of {seconds} s each, medians");
    println!("row         level  operations/s  of none  before and after  CPU of threads");
    for row in &rows {
        measure(row, rounds, seconds)?;
    }
    Ok(())
}

fn options() -> Result<(usize, f64), String> {
    let (mut rounds, mut seconds) = (9, 2.0);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = |text: Option<String>| text.and_then(|text| text.parse::<f64>().ok());
        match word.as_str() {
            "--rounds" => rounds = value(words.next()).ok_or("--rounds COUNT")? as usize,
            "--seconds" => seconds = value(words.next()).ok_or("--seconds SECONDS")?,
            // cargo says what it calls.
            "--bench" => {}
            other => return Err(format!("{other}: give --rounds COUNT, --seconds SECONDS")),
        }
    }
    Ok((rounds.max(1), seconds))
}

fn row(name: &'static str, path: &Path, direct: bool) -> Result<Row, String> {
    let stack = observe_target(path, FactOptions::default()).map_err(|error| error.to_string())?;
    Ok(Row {
        name,
        path: path.to_owned(),
        direct,
        stack,
    })
}

/// Prints a line for each level.
fn measure(row: &Row, rounds: usize, seconds: f64) -> Result<(), String> {
    let mut did: Vec<(WitnessLevel, Vec<Did>)> = WitnessLevel::ALL
        .into_iter()
        .map(|level| (level, Vec::new()))
        .collect();
    // The first run of a process is slower.
    once(row, WitnessLevel::None, seconds / 4.0)?;
    for round in 0..rounds {
        for place in 0..did.len() {
            let turn = (place + round) % did.len();
            let (level, all) = &mut did[turn];
            all.push(once(row, *level, seconds)?);
        }
    }
    let of_none: Vec<f64> = did[0].1.iter().map(|one| one.operations_per_s).collect();
    for (level, all) in &did {
        let ratios = all.iter().zip(&of_none);
        let ratio = median(
            ratios
                .map(|(one, none)| one.operations_per_s / none)
                .collect(),
        );
        let of = |figure: fn(&Did) -> f64| median(all.iter().map(figure).collect());
        println!(
            "{:<11} {:<6} {:>12.0} {:>8.4} {:>14.2} ms {:>12.2} ms",
            row.name,
            level.as_str(),
            of(|one| one.operations_per_s),
            ratio,
            of(|one| one.beside_ms),
            of(|one| one.during_cpu_ms)
        );
    }
    Ok(())
}

fn once(row: &Row, level: WitnessLevel, seconds: f64) -> Result<Did, String> {
    let job = Job {
        name: "bench".to_owned(),
        access: Access::RandomIndependent,
        action: Action::Read,
        block_size_bytes: BLOCK_BYTES,
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: LENGTH_BYTES,
        }],
        direct: row.direct,
        duration_ns: Some((seconds * 1e9) as u64),
        once: false,
        interval_ns: 100_000_000,
        seed: Seed(1),
        ..Job::default()
    };
    let targets = [Target::File(row.path.clone())];
    let files = std::slice::from_ref(&row.path);
    let witness = Witness::begin(level, std::slice::from_ref(&row.stack), files);
    let outcome = run(&job, &targets, &StopFlag::new(), &Progress::new(1));
    let seen = witness.finish();
    let outcome = outcome.map_err(|error| error.to_string())?;
    let ms = |ns: u64| ns as f64 / 1e6;
    Ok(Did {
        operations_per_s: outcome.operations() as f64 / (outcome.elapsed_ns as f64 / 1e9),
        beside_ms: ms(seen.costs.iter().map(|cost| cost.beside_ns).sum()),
        during_cpu_ms: ms(seen.costs.iter().map(|cost| cost.during_cpu_ns).sum()),
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}
