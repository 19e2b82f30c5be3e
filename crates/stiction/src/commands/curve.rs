//! `stiction curve`.

use clap::ValueEnum;
use stiction_core::{Access, Action, Arrivals};
use stiction_report::{Judged, json};
use stiction_suite::{Curve, CurveOptions, EngineWanted, Place};

use super::{Desk, measure, scratch};
use crate::arguments::{ArrivalsWord, CurveArguments, Engine, ReadWrite, ScratchDevice};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::live::Talk;

/// Measures the curve and prints it.
pub(super) fn run(typed: &CurveArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let options = options(typed);
    let places = match &typed.scratch {
        Some(grant) => {
            let device = ScratchDevice::parse(grant).map_err(Failure::new)?;
            vec![scratch::held(device, typed.wipe_signature.as_ref())?]
        }
        None => vec![Place::Directory(typed.directory.clone())],
    };
    let measured = measure::run(
        &Curve { options },
        &places,
        &typed.recording,
        command(typed),
        Talk::default(),
        desk,
    )?;
    let judged = Judged::examine(&measured.session);
    let text = if desk.console.json {
        json::session(&judged)
    } else {
        stiction_report::curve(&judged, desk.console.style())
    };
    measured.conclude(&text, desk)
}

fn options(typed: &CurveArguments) -> CurveOptions {
    let (access, action) = pattern(typed.rw, typed.rwmixread);
    CurveOptions {
        access,
        action,
        block_size_bytes: typed.bs,
        limit: typed.limit,
        points: typed.points,
        seconds: typed.seconds,
        depth_max: typed.depth_max,
        arrivals: match typed.arrivals {
            ArrivalsWord::Poisson => Arrivals::Poisson,
            ArrivalsWord::Fixed => Arrivals::Fixed,
        },
        engine: match typed.engine {
            Engine::Auto => EngineWanted::Auto,
            Engine::Psync => EngineWanted::Psync,
            Engine::IoUring => EngineWanted::IoUring,
            Engine::Libaio => EngineWanted::Libaio,
        },
        runs: typed.runs,
        size_bytes: typed.size,
        may_fill: typed.recording.may_fill,
    }
}

fn pattern(rw: ReadWrite, reads_percent: u8) -> (Access, Action) {
    let mixed = Action::Mixed { reads_percent };
    match rw {
        ReadWrite::Read => (Access::Sequential, Action::Read),
        ReadWrite::Write => (Access::Sequential, Action::Write),
        ReadWrite::Rw => (Access::Sequential, mixed),
        ReadWrite::Randread => (Access::RandomPermutation, Action::Read),
        ReadWrite::Randwrite => (Access::RandomPermutation, Action::Write),
        ReadWrite::Randrw => (Access::RandomPermutation, mixed),
    }
}

/// The command as it is recorded: what was chosen, without path and serial number.
fn command(typed: &CurveArguments) -> Vec<String> {
    let mut words = vec!["stiction".to_owned(), "curve".to_owned()];
    words.push(format!("--rw={}", word(typed.rw)));
    if matches!(typed.rw, ReadWrite::Rw | ReadWrite::Randrw) {
        words.push(format!("--rwmixread={}", typed.rwmixread));
    }
    words.push(format!("--bs={}", typed.bs));
    words.extend(typed.limit.map(|limit| {
        let figure = limit.figure.as_str();
        format!("--limit={figure}={}ns", limit.at_most_ns)
    }));
    for (name, number) in [
        ("points", typed.points),
        ("seconds", typed.seconds),
        ("runs", typed.runs),
        ("depth-max", typed.depth_max),
    ] {
        words.push(format!("--{name}={number}"));
    }
    words.push(format!("--arrivals={}", word(typed.arrivals)));
    words.push(format!("--engine={}", word(typed.engine)));
    words.extend(typed.size.map(|bytes| format!("--size={bytes}")));
    words.extend(typed.recording.may_fill.then(|| "--may-fill".to_owned()));
    words
}

/// The word that was typed for a value.
fn word<V: ValueEnum + Copy>(value: V) -> String {
    let word = value.to_possible_value();
    word.map_or_else(String::new, |word| word.get_name().to_owned())
}
