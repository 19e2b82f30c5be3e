//! `stiction contest`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum as _;
use stiction_core::Session;
use stiction_report::contest::{
    contest, contest_0_5, contest_0_34, contest_0_34_summary, contest_0_61, is_contest,
};
use stiction_report::{Judged, json};
use stiction_suite::contest::{Load, PART, rounds_for, run_part};
use stiction_suite::{Contest, ContestOptions, Place};

use super::recorded::Recorded;
use super::sizes::optional_bytes;
use super::{Desk, measure};
use crate::arguments::{ContestArguments, ContestLayout, LoadWord};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::Talk;

/// CPU time of the hashing in a unit of the built-in build, ns: a default run of six
/// loads then ends within ten minutes on two CPUs.
const UNIT_CPU_NS: u64 = 120_000_000;
/// Where the rounds that take that time on this machine are kept.
const ROUNDS_FILE: &str = "contest-rounds";

/// Measures and prints.
pub(super) fn run(typed: &ContestArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let workload = Contest {
        options: meant(typed, desk)?,
        helper: PathBuf::from("/proc/self/exe"),
    };
    let directory = typed.directory.clone().unwrap_or_else(|| ".".into());
    let rounds = workload.options.rounds;
    let measured = measure::run(
        &workload,
        &[Place::Directory(directory)],
        &typed.recording,
        command(typed, rounds),
        Talk::default(),
        desk,
    )?;
    let session = &measured.session;
    let layout = typed
        .layout
        .or(typed.classic.then_some(ContestLayout::V061));
    let text = match layout {
        _ if desk.console.json => json::session(&Judged::examine(session)),
        None => contest(&Judged::examine(session), desk.console.style()),
        Some(layout) => print(session, layout),
    };
    measured.conclude(&text, desk)
}

/// Does what a process of a job or of a load does, where that is what this one was
/// started for.
pub(crate) fn part(arguments: &[OsString]) -> Option<Result<(), Failure>> {
    let (first, words) = arguments.get(1..)?.split_first()?;
    (first == PART).then(|| {
        run_part(words, &mut std::io::stdout()).map_err(|error| Failure::new(error.to_string()))
    })
}

/// A stored session in a classic layout.
///
/// # Errors
/// When the session has no job beside a load.
pub(super) fn classic_report(session: &Session, layout: ContestLayout) -> Result<String, Failure> {
    if !is_contest(session) {
        return Err(
            Failure::new(format!("{} is not a contest session", session.header.id))
                .advise("Leave out --layout to see it in stiction's own."),
        );
    }
    Ok(print(session, layout))
}

fn print(session: &Session, layout: ContestLayout) -> String {
    match layout {
        ContestLayout::V034 => contest_0_34(session),
        ContestLayout::V034Summary => contest_0_34_summary(session),
        ContestLayout::V05 => contest_0_5(session),
        ContestLayout::V061 => contest_0_61(session),
    }
}

/// What the words mean.
fn meant(typed: &ContestArguments, desk: &Desk<'_>) -> Result<ContestOptions, Failure> {
    let rounds = match typed.rounds {
        Some(rounds) => rounds,
        None if typed.quick => 0,
        None => rounds(desk)?,
    };
    Ok(ContestOptions {
        classic: typed.classic,
        loads: typed.loads.iter().map(|word| load(*word)).collect(),
        memory_bytes: optional_bytes(typed.memory.as_ref(), 1 << 20)?,
        slots: typed.jobs,
        units: typed.units,
        rounds: (rounds > 0).then_some(rounds),
        full_fidelity: typed.full_fidelity,
        processes: typed.processes,
        runs: typed.runs,
        quick: typed.quick,
        may_fill: typed.recording.may_fill,
        ..ContestOptions::default()
    })
}

/// The rounds that were found on this machine, or are found now: all sessions of a store
/// do the same work.
fn rounds(desk: &Desk<'_>) -> Result<u64, Failure> {
    let path = desk.state.root().join(ROUNDS_FILE);
    let kept = std::fs::read_to_string(&path).ok();
    if let Some(rounds) = kept.and_then(|text| text.trim().parse().ok()) {
        return Ok(rounds);
    }
    let rounds = rounds_for(UNIT_CPU_NS);
    std::fs::create_dir_all(desk.state.root())
        .and_then(|()| std::fs::write(&path, format!("{rounds}\n")))
        .map_err(|error| {
            Failure::new(format!("cannot keep {}: {error}", path.display()))
                .advise("Name a directory to keep sessions in: --store DIR; or give --rounds.")
        })?;
    Ok(rounds)
}

fn load(word: LoadWord) -> Load {
    match word {
        LoadWord::None => Load::None,
        LoadWord::Cacherun => Load::Cacherun,
        LoadWord::Process => Load::Process,
        LoadWord::Io => Load::Io,
        LoadWord::Read => Load::Read,
        LoadWord::List => Load::List,
    }
}

fn command(typed: &ContestArguments, rounds: Option<u64>) -> Vec<String> {
    let loads: Vec<String> = typed
        .loads
        .iter()
        .filter_map(|load| Some(load.to_possible_value()?.get_name().to_owned()))
        .collect();
    Recorded::new("contest")
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .list("--loads", &loads)
        .value("--jobs", typed.jobs)
        .value("--units", typed.units)
        .value("--rounds", rounds)
        .switch("--full-fidelity", typed.full_fidelity)
        .value("--processes", typed.processes)
        .value("--memory", typed.memory.as_ref())
        .value("--runs", typed.runs)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
