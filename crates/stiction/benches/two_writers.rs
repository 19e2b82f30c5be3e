//! The story of 2003 on a modelled disk: two files written in turn and one after the
//! other, then read. docs/2003-story.md tells what it is about.
//!
//! `cargo xtask bench two-writers`
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use stiction_core::Seed;
use testkit::{Disk, LoopFilesystem, LoopKind};

const USAGE: &str =
    "options: --rounds N, --size SIZE of both files, --store DIR to keep the sessions in";
const DEVICE_BYTES: u64 = 1 << 30;

struct Options {
    rounds: u32,
    size: String,
    store: Option<PathBuf>,
}

/// The two ways of writing, and the job file of each.
const WAYS: [(&str, &str); 2] = [
    ("one after the other", "one-after-the-other.fio"),
    ("in turn", "in-turn.fio"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let options = options()?;
    let temporary = tempfile::tempdir()?;
    let store = options.store.as_deref().unwrap_or(temporary.path());
    let disk = Disk::of_2003(Seed(2003));
    let filesystem = LoopFilesystem::on_disk(LoopKind::Xfs, DEVICE_BYTES, disk);
    let mut rates: [Vec<f64>; 2] = Default::default();
    println!("round  written              intermingled  mean run, KiB  read, MB/s");
    for round in 0..options.rounds {
        // Who begins changes from round to round.
        let order = if round % 2 == 0 { [0, 1] } else { [1, 0] };
        for way in order {
            let (name, file) = WAYS[way];
            let report = run(store, file, &options.size, filesystem.path())?;
            let read = phase(&report, "read").ok_or("no phase `read`")?;
            let layout = &read["witnesses"]["layout"];
            let count = |name: &str| layout[name].as_f64().unwrap_or(f64::NAN);
            let least = count("owner_changes_min");
            let woven = (count("owner_changes") - least) / (count("owner_changes_max") - least);
            let run_kib = count("placed_bytes") / count("extents") / 1024.0;
            let rate = read["figures"]["rate_bytes_per_s"]["value"].as_f64();
            let rate = rate.ok_or("no rate")? / 1e6;
            println!("{round:>5}  {name:<19}  {woven:>12.4}  {run_kib:>13.1}  {rate:>10.2}");
            rates[way].push(rate);
        }
    }
    let [apart, in_turn] = rates.map(median);
    println!(
        "\nmedians: {apart:.2} MB/s one after the other, {in_turn:.3} MB/s in turn: {:.0} times",
        apart / in_turn
    );
    if let Some(store) = &options.store {
        let store = store.display();
        println!("the sessions: STICTION_STORE={store} stiction list");
    }
    Ok(())
}

fn options() -> Result<Options, Box<dyn Error>> {
    let mut options = Options {
        rounds: 4,
        size: "8m".to_owned(),
        store: None,
    };
    let mut typed = std::env::args().skip(1);
    while let Some(word) = typed.next() {
        let mut value = || typed.next().ok_or(format!("{word} wants a value; {USAGE}"));
        match word.as_str() {
            // Cargo's own.
            "--bench" => {}
            "--rounds" => options.rounds = value()?.parse()?,
            "--size" => options.size = value()?,
            "--store" => options.store = Some(value()?.into()),
            _ => return Err(format!("{word} is not known; {USAGE}").into()),
        }
    }
    Ok(options)
}

/// The report of one run of a job file.
fn run(store: &Path, file: &str, size: &str, place: &Path) -> Result<Value, Box<dyn Error>> {
    let jobs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/2003-story");
    let arguments: [OsString; 6] = [
        "fio".into(),
        jobs.join(file).into(),
        "--dir".into(),
        place.into(),
        format!("--size={size}").into(),
        "--json".into(),
    ];
    let label = format!("--label={}", file.trim_end_matches(".fio"));
    let ended = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(arguments)
        .arg(label)
        .env("STICTION_STORE", store)
        .output()?;
    if !ended.status.success() {
        return Err(String::from_utf8_lossy(&ended.stderr).into_owned().into());
    }
    Ok(serde_json::from_slice(&ended.stdout)?)
}

fn phase<'a>(report: &'a Value, name: &str) -> Option<&'a Value> {
    let phases = report["results"][0]["phases"].as_array()?;
    phases.iter().find(|phase| phase["name"] == name)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() % 2 {
        0 if middle > 0 => (values[middle - 1] + values[middle]) / 2.0,
        0 => f64::NAN,
        _ => values[middle],
    }
}
