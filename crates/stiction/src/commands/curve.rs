//! `stiction curve`.

use stiction_core::{Access, Action, Arrivals};
use stiction_report::Judged;
use stiction_suite::{Curve, CurveOptions, EngineWanted, Place};

use super::meant::Meant;
use super::recorded::Recorded;
use super::scratch;
use crate::arguments::{ArrivalsWord, CurveArguments, Engine, ReadWrite, ScratchDevice};
use crate::failure::Failure;

/// What the words mean.
///
/// # Errors
/// When a device cannot be had.
pub(super) fn meant(typed: &CurveArguments) -> Result<Meant, Failure> {
    let options = options(typed);
    let places = match &typed.scratch {
        Some(grant) => {
            let device = ScratchDevice::parse(grant).map_err(Failure::new)?;
            vec![scratch::held(device, typed.wipe_signature.as_ref())?]
        }
        None => vec![Place::Directory(typed.directory.clone())],
    };
    Ok(Meant::new(
        Curve { options },
        places,
        &typed.recording,
        command(typed),
        |session, style| stiction_report::curve(&Judged::examine(session), style),
    ))
}

fn options(typed: &CurveArguments) -> CurveOptions {
    let (access, action) = pattern(typed.rw, typed.rwmixread);
    CurveOptions {
        access,
        action,
        block_size_bytes: typed.bs,
        limit: typed.limit,
        quick: typed.quick,
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
    let is_mixed = matches!(typed.rw, ReadWrite::Rw | ReadWrite::Randrw);
    let limit = typed.limit.map(|limit| {
        let figure = limit.figure.as_str();
        format!("{figure}={}ns", limit.at_most_ns)
    });
    Recorded::new("curve")
        .choice("--rw", Some(&typed.rw))
        .value("--rwmixread", is_mixed.then_some(typed.rwmixread))
        .value("--bs", Some(typed.bs))
        .value("--limit", limit)
        .switch("--quick", typed.quick)
        .value("--points", typed.points)
        .value("--seconds", typed.seconds)
        .value("--runs", Some(typed.runs))
        .value("--depth-max", Some(typed.depth_max))
        .choice("--arrivals", Some(&typed.arrivals))
        .choice("--engine", Some(&typed.engine))
        .value("--size", typed.size)
        .switch("--may-fill", typed.recording.may_fill)
        .words()
}
