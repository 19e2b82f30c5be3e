//! What a specification means.

mod options;
mod workload;

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use stiction_analysis::Effects;
use stiction_core::{Cell, Conditions, Setting, parse_duration_ns, parse_size_bytes};
use stiction_formats::spec::{
    self, Combination, Line, Precise, Spanned, Spec, SpecCombination, SpecConfiguration, SpecFile,
};
use stiction_host::{Alterations, GrantedDevice};

use super::recorded;
use crate::arguments::{
    Blocking, MachineArguments, OrderWord, PreparationArguments, Recording, RunArguments,
    ScratchDevice, Timing, WitnessWord,
};
use crate::commands::Desk;
use crate::commands::altered::{alterations, granted};
use crate::commands::blocked::{Blocked, Ready};
use crate::commands::preparation;
use crate::commands::timed::hook;
use crate::exit::Exit;
use crate::failure::Failure;
use workload::{OPTION, Work};

/// Reads the file; or the code to end with, where what is wrong has been said. What is
/// typed beside it goes before what it says.
pub(super) fn read(
    path: &Path,
    typed: &RunArguments,
    desk: &Desk<'_>,
) -> Result<Result<Blocked, Exit>, Failure> {
    if typed.timing != Timing::default() {
        return Err(Failure::new(
            "options about commands do not go with a file: it says them itself",
        ));
    }
    let text = desk
        .texts
        .text_of(path)
        .map_err(|failure| failure.advise("`stiction new lab` writes a file to begin with."))?;
    let file = spec::read(&path.display().to_string(), &text)?;
    let in_file = match &file.spec.preparation {
        Some(table) => {
            preparation::in_file(table.as_ref()).map_err(|problem| file.problem(table, &problem))?
        }
        None => PreparationArguments::default(),
    };
    let reader = Reader {
        folder: path.parent().unwrap_or(Path::new("")),
        file: &file,
        spec: &file.spec,
        recording: Recording {
            label: typed.recording.label.clone().or(file.spec.label.clone()),
            seed: typed.recording.seed.or(file.spec.seed),
            preparation: typed.recording.preparation.or(&in_file),
            witness: match &file.spec.witness {
                Some(word) if typed.recording.witness.is_none() => Some(witness(&file, word)?),
                _ => typed.recording.witness,
            },
            ..typed.recording.clone()
        },
        desk,
    };
    let all = match reader.all(&typed.machine)? {
        Ok(all) => all,
        Err(exit) => return Ok(Err(exit)),
    };
    let blocking = reader.blocking(&typed.blocking)?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let mut command = recorded("run", &blocking).words();
    command.push(name.to_string_lossy().into_owned());
    Ok(Ok(Blocked {
        all,
        blocking,
        recording: reader.recording,
        shown: typed.shown,
        command,
        effects: Effects::default(),
        is_calibration: false,
    }))
}

/// Trials of one block at most. All of them are planned before the first is run.
const BLOCK_TRIALS_MAX: usize = 1000;

/// What the only configuration is called where the file names none.
const ONLY: &str = "all";

/// A configuration as the file states it.
struct Stated {
    name: String,
    one: SpecConfiguration,
    /// Its level of each factor.
    levels: Combination,
    /// What of them is of the machine.
    alterations: Option<Alterations>,
    /// What of them shapes what the workload writes.
    conditions: Conditions,
    /// What of them is an option of the workload.
    varied: Vec<Setting>,
}

/// A configuration of which the file says nothing.
fn nameless(place: Range<usize>, name: &str) -> SpecConfiguration {
    SpecConfiguration {
        name: Spanned::new(place, name.to_owned()),
        arguments: None,
        directory: None,
        command: None,
        prepare: None,
        conclude: None,
    }
}

fn too_many() -> Failure {
    Failure::new(format!(
        "its configurations, workloads and targets make more than {BLOCK_TRIALS_MAX} in each block"
    ))
    .advise("Leave some out by [[exclude]], or run them in several sessions.")
}

fn witness(file: &SpecFile, word: &Spanned<String>) -> Result<WitnessWord, Failure> {
    WitnessWord::from_str(word.as_ref(), false).map_err(|_| {
        let problem = format!("`{}` is no level: none, light or full", word.as_ref());
        Failure::from(file.problem(word, &problem))
    })
}

/// A file that is being understood.
struct Reader<'a> {
    /// Where it lies.
    folder: &'a Path,
    file: &'a SpecFile,
    spec: &'a Spec,
    recording: Recording,
    desk: &'a Desk<'a>,
}

impl Reader<'_> {
    fn problem<T>(&self, value: &Spanned<T>, problem: impl std::fmt::Display) -> Failure {
        Failure::from(self.file.problem(value, &problem.to_string()))
    }

    fn words(&self, line: Option<&Spanned<Line>>) -> Result<Vec<String>, Failure> {
        let Some(line) = line else {
            return Ok(Vec::new());
        };
        let words = line.as_ref().words();
        words.map_err(|error| self.problem(line, error))
    }

    fn problem_of_factor(&self, factor: &str, problem: impl std::fmt::Display) -> Failure {
        Failure::from(self.file.problem_of_factor(factor, &problem.to_string()))
    }

    /// Everything that is run in each block, the baseline first.
    fn all(&self, machine: &MachineArguments) -> Result<Result<Vec<Ready>, Exit>, Failure> {
        let own = self.spec.configuration.iter().map(|one| &one.command);
        let tables = self.file.workloads().iter().map(|one| &one.command);
        let has_commands = own.chain(tables).any(Option::is_some);
        if let (Some(metric), false) = (self.spec.metrics.first(), has_commands) {
            return Err(self.problem(metric, "metrics are read from commands, not workloads"));
        }
        let mut all = Vec::new();
        for stated in self.stated(machine)? {
            match self.variants(&stated)? {
                Ok(variants) => all.extend(variants),
                Err(exit) => return Ok(Err(exit)),
            }
        }
        if all.len() > BLOCK_TRIALS_MAX {
            return Err(too_many());
        }
        if all.is_empty() {
            return Err(Failure::new("[[exclude]] leaves nothing to run"));
        }
        Ok(Ok(all))
    }

    /// The device that the file, or who runs it, hands over.
    fn granted(&self, machine: &MachineArguments) -> Result<Option<GrantedDevice>, Failure> {
        let Some(scratch) = &self.spec.scratch else {
            return granted(machine, None);
        };
        if self.spec.scratch_size.is_some() {
            let problem = "the device is taken whole: leave scratch_size out";
            return Err(self.problem(scratch, problem));
        }
        let named = ScratchDevice {
            path: PathBuf::from(&scratch.as_ref().device),
            serial: scratch.as_ref().serial.clone(),
        };
        granted(machine, Some(named)).map_err(|failure| self.problem(scratch, failure.message()))
    }

    /// The configurations: those that have names of their own, or the combinations of
    /// factors.
    fn stated(&self, machine: &MachineArguments) -> Result<Vec<Stated>, Failure> {
        let spec = self.spec;
        let Some(factors) = &spec.factors else {
            let plain = |one: SpecConfiguration| Stated {
                name: one.name.as_ref().clone(),
                one,
                levels: Combination::new(),
                alterations: None,
                conditions: Conditions::default(),
                varied: Vec::new(),
            };
            if let Some(scratch) = &spec.scratch {
                let problem = "what is tried on a device are the settings in [factors]";
                return Err(self.problem(scratch, problem));
            }
            let only = || nameless(spec.workload.as_ref().map_or(0..0, Spanned::span), ONLY);
            return Ok(match &spec.configuration[..] {
                [] => vec![plain(only())],
                all => all.iter().cloned().map(plain).collect(),
            });
        };
        let one = spec.configuration.first().cloned();
        let one = one.unwrap_or_else(|| nameless(factors.span(), ""));
        let size = spec.scratch_size.as_ref();
        if let Some(size) = size {
            parse_size_bytes(size.as_ref()).map_err(|error| self.problem(size, error))?;
        }
        let size = size.map(|size| size.as_ref().as_str());
        let machine = MachineArguments {
            global_settings: machine.global_settings || spec.global_settings,
            ..machine.clone()
        };
        let device = self.granted(&machine)?;
        let mut all = Vec::new();
        for SpecCombination { name, levels } in self.file.combinations()? {
            let settings = levels.iter().map(|(name, level)| Setting::new(name, level));
            let (varied, settings): (Vec<_>, Vec<_>) =
                settings.partition(|setting| setting.factor.starts_with(OPTION));
            let read = alterations(&settings, &machine, size, device.as_ref());
            let (alterations, conditions) = read.map_err(|failure| {
                // What is wrong begins with the factor that it is wrong with.
                let message = failure.message();
                let factor = message.split([':', ' ']).next().unwrap_or_default();
                self.problem_of_factor(factor, &message)
            })?;
            all.push(Stated {
                name: format!("{} {name}", one.name.as_ref()).trim().to_owned(),
                one: one.clone(),
                levels,
                alterations: Some(alterations).filter(|some| !some.settings().is_empty()),
                conditions,
                varied,
            });
        }
        // Where one stands on scratch space, so do all: else that would be what is compared.
        let on_scratch = |one: &Stated| {
            let alterations = one.alterations.as_ref();
            alterations.is_some_and(|some| some.scratch_bytes().is_some())
        };
        if all.iter().any(on_scratch) {
            for one in &mut all {
                let own = match one.alterations.take() {
                    Some(own) => own,
                    None => alterations(&[], &machine, size, device.as_ref())?.0,
                };
                one.alterations = Some(own.on_scratch_space());
            }
        }
        Ok(all)
    }

    /// A configuration with every workload on every target.
    fn variants(&self, stated: &Stated) -> Result<Result<Vec<Ready>, Exit>, Failure> {
        let spec = self.spec;
        let workloads = self.file.workloads();
        let workloads: Vec<_> = match workloads {
            [] => vec![None],
            all => all.iter().map(Some).collect(),
        };
        let own = stated.one.directory.as_ref().or(spec.directory.as_ref());
        if let (Some(target), Some(_)) = (spec.targets.first(), own) {
            return Err(self.problem(target, "there are `targets` and a `directory`"));
        }
        let directories: Vec<Option<&str>> = match &spec.targets[..] {
            [] => vec![own.map(String::as_str)],
            all => all.iter().map(|one| Some(one.as_ref().as_str())).collect(),
        };
        let prepare = stated.one.prepare.as_ref().or(spec.prepare.as_ref());
        let conclude = stated.one.conclude.as_ref().or(spec.conclude.as_ref());
        let mut all = Vec::new();
        for directory in &directories {
            for workload in &workloads {
                let mut at = Cell::new();
                let name = workload.map_or("", |one| one.name.as_ref().as_str());
                if workloads.len() > 1 {
                    at = at.with("workload", name);
                }
                let target = directory.filter(|_| directories.len() > 1);
                if let Some(target) = target {
                    at = at.with("target", target);
                }
                let target = target.unwrap_or_default();
                if self.file.leaves_out(&stated.levels, name, target) {
                    continue;
                }
                let meant = self.meant(&Work {
                    one: &stated.one,
                    workload: *workload,
                    directory: *directory,
                    varied: &stated.varied,
                })?;
                let meant = match meant {
                    Ok(meant) => meant,
                    Err(exit) => return Ok(Err(exit)),
                };
                if all.len() == BLOCK_TRIALS_MAX {
                    return Err(too_many());
                }
                all.push(Ready {
                    name: stated.name.clone(),
                    at,
                    varied: stated.varied.clone(),
                    meant,
                    alterations: stated.alterations.clone(),
                    conditions: stated.conditions.clone(),
                    prepare: prepare.map(|line| hook(line)),
                    conclude: conclude.map(|line| hook(line)),
                });
            }
        }
        Ok(Ok(all))
    }

    /// What is said of blocks: typed, or in the file.
    fn blocking(&self, typed: &Blocking) -> Result<Blocking, Failure> {
        let spec = self.spec;
        let order = match &spec.order {
            Some(word) if typed.order == OrderWord::default() => {
                OrderWord::from_str(word.as_ref(), false)
                    .map_err(|_| self.problem(word, "no such order: there are random and abba"))?
            }
            _ => typed.order,
        };
        if let Some(budget) = &spec.budget {
            parse_duration_ns(budget.as_ref()).map_err(|error| self.problem(budget, error))?;
        }
        let precise = match spec.until_precise {
            Some(Precise::Switch(true)) => Some(None),
            Some(Precise::Percent(percent)) => Some(Some(percent)),
            Some(Precise::Switch(false)) | None => None,
        };
        let ends = typed.until_precise.is_some() || typed.looks;
        Ok(Blocking {
            blocks: typed.blocks.or(spec.blocks),
            until_precise: typed.until_precise.or(precise.filter(|_| !ends)),
            looks: typed.looks || (spec.looks && !ends),
            budget: typed
                .budget
                .clone()
                .or_else(|| spec.budget.as_ref().map(|text| text.as_ref().clone())),
            order,
            dry_run: typed.dry_run,
        })
    }
}
