//! bonnie++, pg_test_fsync and dbench beside ours, in turn on one ext4.

use std::process::Command;

use serde_json::Value;

use super::figures::{digits, median, print, spread_percent};
use super::ground::{KINDS, text};
use super::{Lab, told};

/// One figure of both sides, each by rounds.
struct Pair {
    name: String,
    theirs: Vec<f64>,
    ours: Vec<f64>,
}

/// Figures by name, of one run.
type Figures = Vec<(String, f64)>;

/// Runs each beside ours and prints the ratios.
pub(super) fn run(lab: &Lab) -> Result<(), String> {
    let size_bytes = if lab.small { 1 << 30 } else { 6 << 30 };
    let place = text(&lab.ground.filesystem(KINDS[3], size_bytes)?);
    let bonnie = in_turn(
        lab,
        || bonnie_theirs(lab, &place),
        || bonnie_ours(lab, &place),
    )?;
    table("bonnie++ 2.00a, K/s and files/s", &bonnie);
    let methods = in_turn(
        lab,
        || fsync_theirs(lab, &place),
        || fsync_ours(lab, &place),
    )?;
    table("pg_test_fsync of PostgreSQL 15, operations/s", &methods);
    let clients = in_turn(
        lab,
        || dbench_theirs(lab, &place),
        || dbench_ours(lab, &place),
    )?;
    table(
        "dbench 4, calls/s (its script has another mix of calls than our load)",
        &clients,
    );
    Ok(())
}

/// Both sides by turns; who begins changes from round to round.
fn in_turn(
    lab: &Lab,
    theirs: impl Fn() -> Result<Figures, String>,
    ours: impl Fn() -> Result<Figures, String>,
) -> Result<Vec<Pair>, String> {
    let mut pairs: Vec<Pair> = Vec::new();
    for round in 0..lab.rounds {
        let (of_theirs, of_ours) = if round % 2 == 0 {
            let of_theirs = theirs()?;
            (of_theirs, ours()?)
        } else {
            let of_ours = ours()?;
            (theirs()?, of_ours)
        };
        for (side, figures) in [of_theirs, of_ours].into_iter().enumerate() {
            for (name, value) in figures {
                let known = pairs.iter().position(|pair| pair.name == name);
                let at = known.unwrap_or_else(|| {
                    pairs.push(Pair {
                        name,
                        theirs: Vec::new(),
                        ours: Vec::new(),
                    });
                    pairs.len() - 1
                });
                let pair = &mut pairs[at];
                let list = if side == 0 {
                    &mut pair.theirs
                } else {
                    &mut pair.ours
                };
                list.push(value);
            }
        }
    }
    Ok(pairs)
}

fn table(title: &str, pairs: &[Pair]) {
    let heads = [
        "",
        "theirs",
        "spread, %",
        "ours",
        "spread, %",
        "ours / theirs",
    ];
    let rows: Vec<Vec<String>> = pairs
        .iter()
        .map(|pair| {
            let (theirs, ours) = (median(&pair.theirs), median(&pair.ours));
            vec![
                pair.name.clone(),
                digits(theirs),
                digits(spread_percent(&pair.theirs)),
                digits(ours),
                digits(spread_percent(&pair.ours)),
                digits(ours.zip(theirs).map(|(ours, theirs)| ours / theirs)),
            ]
        })
        .collect();
    print(&format!("{title}:"), &heads, &rows);
}

/// Fields of the 50 of Bonnie++ 2.00a's lines that hold rates, from 0.
const FIELDS: [(usize, &str); 10] = [
    (11, "write"),
    (13, "rewrite"),
    (17, "read"),
    (19, "seeks"),
    (26, "create"),
    (28, "stat"),
    (30, "delete"),
    (32, "create, random"),
    (34, "stat, random"),
    (36, "delete, random"),
];

fn bonnie_size(lab: &Lab) -> (&'static str, &'static str) {
    if lab.small {
        ("256", "2:1000:1000:4")
    } else {
        ("2048", "64:4000:4000:64")
    }
}

fn bonnie_theirs(lab: &Lab, place: &str) -> Result<Figures, String> {
    let (size, files) = bonnie_size(lab);
    let mut command = Command::new("bonnie++");
    // Past the page cache: from memory most of it is over too soon to have a rate.
    command.args(["-D", "-d", place, "-s", size, "-n", files, "-r", "0"]);
    command.args(["-f", "-q"]);
    Ok(of_line(&told::output(command.args(["-u", "root"]))?))
}

fn bonnie_ours(lab: &Lab, place: &str) -> Result<Figures, String> {
    let (size, files) = bonnie_size(lab);
    let size = format!("{size}M");
    Ok(of_line(&lab.stiction(&[
        "bonnie",
        "--direct",
        "--classic=2.00a",
        "--layout=bonnie++-csv-2.00a",
        "--skip=per-char",
        "--size",
        &size,
        "--files",
        files,
        place,
    ])?))
}

/// The rates of the last line of CSV; what was over too soon has none.
fn of_line(text: &str) -> Figures {
    let line = text.lines().rfind(|line| line.starts_with("1.98,"));
    let fields: Vec<&str> = line.map_or_else(Vec::new, |line| line.split(',').collect());
    let field = |&(at, name): &(usize, &str)| {
        let value: f64 = fields.get(at)?.parse().ok()?;
        Some((name.to_owned(), value))
    };
    FIELDS.iter().filter_map(field).collect()
}

fn seconds(lab: &Lab) -> &'static str {
    if lab.small { "1" } else { "5" }
}

fn fsync_theirs(lab: &Lab, place: &str) -> Result<Figures, String> {
    let mut found = Vec::new();
    let known = std::fs::read_dir("/usr/lib/postgresql").map_err(|error| {
        format!("cannot look for pg_test_fsync in /usr/lib/postgresql: {error}; install postgresql")
    })?;
    for entry in known.flatten() {
        found.push(entry.path().join("bin/pg_test_fsync"));
    }
    let program = found
        .pop()
        .ok_or("install postgresql: it has pg_test_fsync")?;
    let file = format!("{place}/pg_test_fsync");
    let mut command = Command::new(program);
    Ok(of_methods(&told::output(command.args([
        "-s",
        seconds(lab),
        "-f",
        &file,
    ]))?))
}

fn fsync_ours(lab: &Lab, place: &str) -> Result<Figures, String> {
    let words = [
        "sync-methods",
        "--classic",
        "--seconds",
        seconds(lab),
        place,
    ];
    Ok(of_methods(&lab.stiction(&words)?))
}

/// The rates of both programs' table: `fdatasync  6690.359 ops/sec  149 usecs/op`, the
/// same words under `one` and under `two` writes.
fn of_methods(text: &str) -> Figures {
    let mut figures = Vec::new();
    let mut head = "";
    for line in text.lines() {
        if line.starts_with("Compare file sync methods") {
            head = if line.contains("two") {
                "2 x 8k, "
            } else {
                "1 x 8k, "
            };
        } else if !line.starts_with([' ', '(', '\t']) && !line.is_empty() {
            head = "";
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(at) = words.iter().position(|&word| word == "ops/sec") else {
            continue;
        };
        if let Some(value) = at.checked_sub(1).and_then(|at| words[at].parse().ok()) {
            figures.push((format!("{head}{}", words[..at - 1].join(" ")), value));
        }
    }
    figures
}

fn dbench_theirs(lab: &Lab, place: &str) -> Result<Figures, String> {
    let mut command = Command::new("dbench");
    let words = [
        "-D",
        place,
        "-t",
        if lab.small { "2" } else { "20" },
        CLIENTS,
    ];
    let text = told::output(command.args(words))?;
    Ok(of_clients(&text, if lab.small { 2.0 } else { 20.0 }))
}

/// 16 for each of two CPUs, as contest has them.
const CLIENTS: &str = "32";

/// All calls of dbench's table, a second.
fn of_clients(text: &str, seconds: f64) -> Figures {
    let rows = text
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("Operation"))
        .skip(2)
        .take_while(|line| !line.trim().is_empty());
    let calls: f64 = rows
        .filter_map(|row| row.split_whitespace().nth(1)?.parse::<f64>().ok())
        .sum();
    vec![("calls".to_owned(), calls / seconds)]
}

fn dbench_ours(lab: &Lab, place: &str) -> Result<Figures, String> {
    let mut words = vec![
        "contest",
        "--loads=dbench",
        "--command=true",
        "--runs=1",
        "--json",
        place,
    ];
    words.extend(lab.small.then_some("--quick"));
    let report: Value =
        serde_json::from_str(&lab.stiction(&words)?).map_err(|error| error.to_string())?;
    let phases = report["results"][0]["phases"].as_array();
    let alone = phases.and_then(|phases| phases.iter().find(|phase| phase["name"] == "load_alone"));
    let rate = alone.and_then(|phase| phase["figures"]["load_steps_per_s"]["value"].as_f64());
    let rate = rate.ok_or("contest has no rate of its clients alone")?;
    Ok(vec![("calls".to_owned(), rate)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_from_each_programs_words() {
        let line = "1.98,2.00a,x,1,1,64M,,8192,5,,,1000,9,900,8,,,+++++,+++,120.5,7,1,,,,,1701,29";
        let found = of_line(line);
        assert_eq!(found[0], ("write".to_owned(), 1000.0));
        assert_eq!(found[2], ("seeks".to_owned(), 120.5));
        assert_eq!(found[3], ("create".to_owned(), 1701.0));
        let methods = "Compare file sync methods using two 8kB writes:\n\
                       \x20       fsync        3923.202 ops/sec     255 usecs/op\n\
                       Non-sync'ed 8kB writes:\n\
                       \x20       write      550238.462 ops/sec       2 usecs/op\n";
        let found = of_methods(methods);
        assert_eq!(found[0], ("2 x 8k, fsync".to_owned(), 3923.202));
        assert_eq!(found[1], ("write".to_owned(), 550_238.462));
        let clients = " Operation      Count    AvgLat    MaxLat\n ----------\n \
                       NTCreateX      15805     0.174    64.283\n Close          11776  0.006\n\nThroughput\n";
        assert_eq!(of_clients(clients, 2.0), [("calls".to_owned(), 13790.5)]);
    }
}
