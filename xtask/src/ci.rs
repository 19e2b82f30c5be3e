//! `cargo xtask ci`: every check and every test, cheapest first.
//!
//! The stages are a table. Each can be run alone (`--only fmt,tidy`); the first
//! failure ends the run unless `--keep-going` asks for the whole picture.

mod leftovers;
mod readme;
mod stages;

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use crate::workspace;
use leftovers::Ground;
use stages::{STAGES, Stage};

/// How a stage ended.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed(String),
    /// Not run, because.
    Skipped(String),
}

impl From<Result<(), String>> for Outcome {
    fn from(result: Result<(), String>) -> Self {
        match result {
            Ok(()) => Outcome::Passed,
            Err(reason) => Outcome::Failed(reason),
        }
    }
}

/// What was asked for on the command line.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    /// The stages to run, by name; all of them where none is named.
    only: Vec<String>,
    keep_going: bool,
    list: bool,
}

/// Runs the stages and prints how each of them ended, and how long it took.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let request = parse(arguments)?;
    if request.list {
        for stage in STAGES {
            println!("{:<8} {}", stage.name, stage.what);
        }
        return Ok(());
    }
    let ground = Ground::prepare()?;
    let mut finished = Vec::new();
    for stage in STAGES {
        if !request.only.is_empty() && !request.only.iter().any(|name| name == stage.name) {
            continue;
        }
        println!("==> {}: {}", stage.name, stage.what);
        let start = Instant::now();
        let outcome = (stage.run)(&ground.for_stage(stage.name)?);
        let failed = matches!(outcome, Outcome::Failed(_));
        finished.push((stage, outcome, start.elapsed()));
        if failed && !request.keep_going {
            break;
        }
    }
    conclude(&ground, &finished)
}

fn parse(arguments: &[String]) -> Result<Request, String> {
    let mut request = Request::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--keep-going" => request.keep_going = true,
            "--list" => request.list = true,
            "--only" => {
                let names = arguments.next().ok_or("--only needs the names of stages")?;
                request.only.extend(names.split(',').map(str::to_owned));
            }
            unknown => return Err(format!("ci has no option {unknown:?}")),
        }
    }
    let is_stage = |name: &str| STAGES.iter().any(|stage| stage.name == name);
    match request.only.iter().find(|name| !is_stage(name)) {
        Some(unknown) => Err(format!(
            "there is no stage {unknown:?}; cargo xtask ci --list names them"
        )),
        None => Ok(request),
    }
}

/// Prints the summary: stages with their times, and every test that was left out.
fn conclude(ground: &Ground, finished: &[(&Stage, Outcome, Duration)]) -> Result<(), String> {
    println!();
    for (stage, outcome, time) in finished {
        let (word, reason) = match outcome {
            Outcome::Passed => ("passed", ""),
            Outcome::Failed(reason) => ("FAILED", reason.as_str()),
            Outcome::Skipped(reason) => ("skipped", reason.as_str()),
        };
        let reason = reason.lines().next().unwrap_or("");
        let line = format!(
            "{:<8} {word:<8} {:>7.1} s  {reason}",
            stage.name,
            time.as_secs_f64()
        );
        println!("{}", line.trim_end());
    }
    for skip in ground.skipped()? {
        println!("left out: {skip}");
    }
    let failures: Vec<&str> = finished
        .iter()
        .filter(|(_, outcome, _)| matches!(outcome, Outcome::Failed(_)))
        .map(|(stage, _, _)| stage.name)
        .collect();
    if failures.is_empty() {
        Ok(())
    } else {
        Err(format!("ci failed: {}", failures.join(", ")))
    }
}

/// Runs cargo in the root; what it prints goes where ours goes.
fn cargo(ground: &Ground, arguments: &[&str]) -> Result<(), String> {
    let status = workspace::cargo()
        .args(arguments)
        .envs(ground.environment())
        .status()
        .map_err(|error| format!("cargo {}: {error}", arguments[0]))?;
    judge(arguments, status)
}

fn judge(arguments: &[&str], status: ExitStatus) -> Result<(), String> {
    if status.success() {
        Ok(())
    } else {
        Err(format!("cargo {}: {status}", arguments.join(" ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Request, String> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        parse(&arguments)
    }

    #[test]
    fn stages_are_chosen_by_name() {
        let request = parsed(&["--only", "fmt,tidy", "--keep-going"]).unwrap();
        assert_eq!(request.only, ["fmt", "tidy"]);
        assert!(request.keep_going);
        assert_eq!(parsed(&[]), Ok(Request::default()));
    }

    #[test]
    fn an_unknown_stage_or_option_is_refused() {
        for wrong in [&["--only", "fmt,tydi"][..], &["--only"], &["--fast"]] {
            assert!(parsed(wrong).is_err(), "{wrong:?} passed");
        }
    }

    #[test]
    fn stages_have_names_of_their_own() {
        for (place, stage) in STAGES.iter().enumerate() {
            let later = &STAGES[place + 1..];
            assert!(!later.iter().any(|other| other.name == stage.name));
        }
    }
}
