//! `stiction contest`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum as _;
use clap::builder::PossibleValue;
use stiction_core::Session;
use stiction_report::Judged;
use stiction_report::contest::{
    contest, contest_0_5, contest_0_34, contest_0_34_summary, contest_0_61, is_contest,
};
use stiction_suite::contest::{JobWanted, Load, LoadData, PART, rounds_for, run_part};
use stiction_suite::{Contest, ContestOptions, Place};

use super::Desk;
use super::meant::Meant;
use super::recorded::Recorded;
use super::sizes::optional_bytes;
use crate::arguments::{ContestArguments, ContestLayout, JobWord, LoadDataWord, LoadWord};
use crate::failure::Failure;

/// CPU time of the hashing in a unit of the built-in build, ns: a default run of six
/// loads then ends within ten minutes on two CPUs.
const UNIT_CPU_NS: u64 = 120_000_000;
/// Where the rounds that take that time on this machine are kept.
const ROUNDS_FILE: &str = "contest-rounds";

/// What the words mean.
///
/// # Errors
/// For a size that does not read, or when the amount of work cannot be kept.
pub(super) fn meant(typed: &ContestArguments, desk: &Desk<'_>) -> Result<Meant, Failure> {
    let workload = Contest {
        options: options(typed, desk)?,
        helper: PathBuf::from("/proc/self/exe"),
    };
    let rounds = workload.options.rounds;
    let classic = typed.classic.then_some(ContestLayout::V061);
    let layout = typed.layout.or(classic);
    Ok(Meant::new(
        workload,
        places(typed),
        &typed.recording,
        command(typed, rounds),
        move |session, style| match layout {
            None => contest(&Judged::examine(session), style),
            Some(layout) => print(session, layout),
        },
    ))
}

/// Where the job works, where the other load does, and the tree that is compiled.
fn places(typed: &ContestArguments) -> Vec<Place> {
    let directory = typed.directory.clone().unwrap_or_else(|| ".".into());
    let compiled = typed
        .tree
        .as_ref()
        .filter(|_| typed.job == JobWord::Compile);
    let others = typed.other_dir.iter().chain(compiled).cloned();
    std::iter::once(directory)
        .chain(others)
        .map(Place::Directory)
        .collect()
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

fn options(typed: &ContestArguments, desk: &Desk<'_>) -> Result<ContestOptions, Failure> {
    let rounds = match typed.rounds {
        Some(rounds) => rounds,
        None if typed.quick || typed.job != JobWord::Buildsim || typed.command.is_some() => 0,
        None => rounds(desk)?,
    };
    Ok(ContestOptions {
        classic: typed.classic,
        job: job(typed),
        has_other: typed.other_dir.is_some(),
        loads: typed.loads.iter().map(|word| load(*word)).collect(),
        memory_bytes: optional_bytes(typed.memory.as_ref(), 1 << 20)?,
        load_data: match typed.load_data {
            None | Some(LoadDataWord::Zeros) => LoadData::Zeros,
            Some(LoadDataWord::Random) => LoadData::Random,
            Some(LoadDataWord::Percent(percent)) => LoadData::Compressible { percent },
        },
        load_rate_bytes_per_s: optional_bytes(typed.load_rate.as_ref(), 1)?,
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

fn job(typed: &ContestArguments) -> JobWanted {
    match (&typed.command, typed.job) {
        (Some(command), _) => JobWanted::Command(command.clone()),
        (None, JobWord::Buildsim) => JobWanted::Buildsim,
        (None, JobWord::Smallreads) => JobWanted::SmallReads,
        (None, JobWord::FsyncAppend) => JobWanted::FsyncAppend,
        (None, JobWord::Compile) => JobWanted::Compile {
            config: typed.config.clone(),
            goal: typed.target.clone(),
        },
    }
}

fn load(word: LoadWord) -> Load {
    match word {
        LoadWord::None => Load::None,
        LoadWord::Cacherun => Load::Cacherun,
        LoadWord::Process => Load::Process,
        LoadWord::Io => Load::Io,
        LoadWord::Read => Load::Read,
        LoadWord::List => Load::List,
        LoadWord::IoHalfmem => Load::IoHalf,
        LoadWord::IoOther => Load::IoOther,
        LoadWord::Mem => Load::Memory,
        LoadWord::Ctar => Load::CreateArchive,
        LoadWord::Xtar => Load::ExtractArchive,
        LoadWord::Dbench => Load::Clients,
    }
}

fn command(typed: &ContestArguments, rounds: Option<u64>) -> Vec<String> {
    let loads: Vec<String> = typed
        .loads
        .iter()
        .filter_map(|load| Some(load.to_possible_value()?.get_name().to_owned()))
        .collect();
    let job = typed.job.to_possible_value();
    let job = job.filter(|_| typed.job != JobWord::Buildsim);
    Recorded::new("contest")
        .value("--job", job.as_ref().map(PossibleValue::get_name))
        .value("--command", typed.command.as_ref())
        .value("--config", typed.config.as_ref())
        .value("--target", typed.target.as_ref())
        .switch("--classic", typed.classic)
        .switch("--quick", typed.quick)
        .list("--loads", &loads)
        .value("--jobs", typed.jobs)
        .value("--units", typed.units)
        .value("--rounds", rounds)
        .switch("--full-fidelity", typed.full_fidelity)
        .value("--processes", typed.processes)
        .value("--memory", typed.memory.as_ref())
        .value("--load-data", typed.load_data)
        .value("--load-rate", typed.load_rate.as_ref())
        .value("--runs", typed.runs)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
