//! `stiction ab`: two things in blocks.

use stiction_analysis::Effects;
use stiction_core::{Cell, Conditions, Setting};
use stiction_formats::words;
use stiction_host::Alterations;
use stiction_suite::CommandLine;

use super::Desk;
use super::altered::{alterations, granted, setting};
use super::benchmark::{self, Named};
use super::blocked::{Blocked, Ready};
use super::meant::Meant;
use super::run::{letter, recorded};
use super::timed::{self, hook};
use crate::arguments::{AbArguments, MachineArguments, Recording, ScratchDevice, Timing};
use crate::exit::Exit;
use crate::failure::Failure;

/// What stands between the two commands.
const BETWEEN: &str = "---";

/// Runs both and compares them.
pub(super) fn run(typed: &AbArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    if !matches!(typed.names.len(), 0 | 2) {
        return Err(Failure::new("--name: give two names, A's first"));
    }
    // No benchmark has such an argument.
    let sides = if typed.words.iter().any(|word| word == BETWEEN) {
        commands(typed)?
    } else {
        match benchmarks(typed, desk)? {
            Ok(sides) => sides,
            Err(exit) => return Ok(exit),
        }
    };
    let hooks = [
        (&typed.a_prepare, &typed.a_conclude),
        (&typed.b_prepare, &typed.b_conclude),
    ];
    let altered = both_altered(typed)?;
    let mut all = Vec::new();
    let each = sides.into_iter().zip(hooks).zip(altered).enumerate();
    for (number, ((meant, (prepare, conclude)), (alterations, conditions))) in each {
        let name = typed.names.get(number).cloned();
        all.push(Ready {
            name: name.unwrap_or_else(|| letter(number)),
            at: Cell::new(),
            varied: Vec::new(),
            alterations,
            conditions,
            prepare: prepare.as_deref().map(hook),
            conclude: conclude.as_deref().map(hook),
            meant,
        });
    }
    let command = command(recorded_with_settings(typed), &all);
    let recording = joined(&typed.recording, &all[0].meant.recording);
    Blocked {
        all,
        blocking: typed.blocking.clone(),
        recording,
        shown: typed.shown,
        command,
        effects: Effects::default(),
        is_calibration: false,
    }
    .run(desk)
}

/// What is set on the machine for A and for B. Where one stands on scratch space, so does
/// the other: else that would be what is compared.
fn both_altered(typed: &AbArguments) -> Result<[(Option<Alterations>, Conditions); 2], Failure> {
    let device = granted(&typed.machine, None)?;
    let read = |own: &[String]| -> Result<(Alterations, Conditions), Failure> {
        let words = typed.set.iter().chain(own);
        let settings: Vec<Setting> = words.map(|word| setting(word)).collect::<Result<_, _>>()?;
        alterations(&settings, &typed.machine, None, device.as_ref())
    };
    let both = [read(&typed.a_set)?, read(&typed.b_set)?];
    let is_on_scratch = both.iter().any(|(one, _)| one.scratch_bytes().is_some());
    Ok(both.map(|(one, conditions)| {
        let altered = match is_on_scratch {
            true => Some(one.on_scratch_space()),
            false => Some(one).filter(|one| !one.settings().is_empty()),
        };
        (altered, conditions)
    }))
}

fn recorded_with_settings(typed: &AbArguments) -> Vec<String> {
    let mut recorded = recorded("ab", &typed.blocking);
    let options = [
        ("--set", &typed.set),
        ("--a-set", &typed.a_set),
        ("--b-set", &typed.b_set),
    ];
    for (option, words) in options {
        for word in words {
            recorded = recorded.value(option, Some(word));
        }
    }
    recorded
        .value("--scratch-size", typed.machine.scratch_size.as_ref())
        .switch("--global-settings", typed.machine.global_settings)
        .value("--scratch", device_alone(&typed.machine))
        .words()
}

/// The device that is handed over, without its serial number.
fn device_alone(machine: &MachineArguments) -> Option<String> {
    let typed = ScratchDevice::parse(machine.scratch_device.as_ref()?);
    Some(typed.ok()?.path.display().to_string())
}

/// Two sides as they are recorded, after the words that are about both.
pub(super) fn command(mut words: Vec<String>, sides: &[Ready]) -> Vec<String> {
    for (side, before) in sides.iter().zip(["--", BETWEEN]) {
        words.push(before.to_owned());
        words.extend(side.meant.command.iter().cloned());
    }
    words
}

/// What is recorded: as typed for all, else as typed for the benchmark.
pub(super) fn joined(all: &Recording, benchmark: &Recording) -> Recording {
    Recording {
        label: all.label.clone().or_else(|| benchmark.label.clone()),
        seed: all.seed.or(benchmark.seed),
        witness: all.witness.or(benchmark.witness),
        preparation: all.preparation.or(&benchmark.preparation),
        keep_serial_numbers: all.keep_serial_numbers || benchmark.keep_serial_numbers,
        keep_host_name: all.keep_host_name || benchmark.keep_host_name,
        may_fill: all.may_fill || benchmark.may_fill,
    }
}

/// The two sides of `-- COMMAND-A --- COMMAND-B`.
fn commands(typed: &AbArguments) -> Result<[Meant; 2], Failure> {
    if !(typed.a.is_empty() && typed.b.is_empty()) {
        return Err(Failure::new("--a and --b are arguments of a benchmark")
            .advise("Write the commands out: stiction ab -- COMMAND-A --- COMMAND-B"));
    }
    let mut parts = typed.words.split(|word| word == BETWEEN);
    let (Some(a), Some(b), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(
            Failure::new(format!("give two commands with `{BETWEEN}` between them"))
                .advise("stiction run --command A --command B --command C compares more."),
        );
    };
    let line = |words: &[String]| match typed.timing.shell {
        true => CommandLine::Shell(words.join(" ")),
        false => CommandLine::Words(words.to_vec()),
    };
    let meant =
        |number, words| timed::meant(line(words), (number, 2), &typed.timing, &typed.recording);
    Ok([meant(0, a)?, meant(1, b)?])
}

/// The two sides of one benchmark; or the code to end with, where what is wrong with a
/// file has been said.
fn benchmarks(typed: &AbArguments, desk: &Desk<'_>) -> Result<Result<[Meant; 2], Exit>, Failure> {
    if typed.timing != Timing::default() {
        return Err(Failure::new("an option about commands, and a benchmark")
            .advise("What is for the benchmark goes behind its name."));
    }
    let side = |name: &'static str, own: &str| {
        let mut words = typed.words.clone();
        words.extend(words::split(own)?);
        let named = Named {
            words: &words,
            whose: name,
        };
        benchmark::meant(&named, desk)
    };
    let (a, b) = (side("A", &typed.a)?, side("B", &typed.b)?);
    Ok(match (a, b) {
        (Ok(a), Ok(b)) => Ok([a, b]),
        (Err(exit), _) | (_, Err(exit)) => Err(exit),
    })
}
