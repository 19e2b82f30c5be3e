//! What a specification means.

use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use stiction_analysis::Effects;
use stiction_core::{Conditions, Setting, parse_duration_ns, parse_size_bytes};
use stiction_formats::spec::{self, Line, Precise, Spanned, Spec, SpecConfiguration, SpecFile};
use stiction_suite::{CommandLine, Place};

use super::recorded;
use crate::arguments::{
    Blocking, Global, MachineArguments, OrderWord, Recording, RunArguments, Timing,
};
use crate::commands::Desk;
use crate::commands::altered::alterations;
use crate::commands::benchmark::{self, Named};
use crate::commands::blocked::{Blocked, Ready};
use crate::commands::meant::Meant;
use crate::commands::timed::{self, hook};
use crate::exit::Exit;
use crate::failure::Failure;

/// Reads the file; or the code to end with, where what is wrong has been said. What is
/// typed beside it goes before what it says.
pub(super) fn read(
    path: &Path,
    typed: &RunArguments,
    global: &Global,
    desk: &Desk<'_>,
) -> Result<Result<Blocked, Exit>, Failure> {
    if typed.timing != Timing::default() {
        return Err(Failure::new(
            "options about commands do not go with a file: it says them itself",
        ));
    }
    let text = desk.texts.text_of(path).map_err(|failure| {
        failure.advise("`stiction run --example` prints a file to begin with.")
    })?;
    let file = spec::read(&path.display().to_string(), &text)?;
    let reader = Reader {
        file: &file,
        spec: &file.spec,
        recording: Recording {
            label: typed.recording.label.clone().or(file.spec.label.clone()),
            seed: typed.recording.seed.or(file.spec.seed),
            ..typed.recording.clone()
        },
        global,
        desk,
    };
    let read = match &file.spec.factors {
        None => {
            let own = file.spec.configuration.iter();
            own.map(|one| reader.configuration(one)).collect()
        }
        Some(factors) => reader.combinations(factors, &typed.machine),
    };
    let all = match read.map(|all: Vec<_>| all.into_iter().collect::<Result<Vec<_>, Exit>>())? {
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

/// A file that is being understood.
struct Reader<'a> {
    file: &'a SpecFile,
    spec: &'a Spec,
    recording: Recording,
    global: &'a Global,
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

    fn configuration(&self, one: &SpecConfiguration) -> Result<Result<Ready, Exit>, Failure> {
        let meant = match (&self.spec.workload, &one.command) {
            (Some(_), Some(command)) => {
                let problem = "the file has a workload, so its configurations have no command";
                return Err(self.problem(command, problem));
            }
            (Some(workload), None) => match self.benchmark(workload, one)? {
                Ok(meant) => meant,
                Err(exit) => return Ok(Err(exit)),
            },
            (None, Some(command)) => self.command(command, one)?,
            (None, None) => {
                let problem = "the file has no workload, so each configuration needs a command";
                return Err(self.problem(&one.name, problem));
            }
        };
        let prepare = one.prepare.as_ref().or(self.spec.prepare.as_ref());
        let conclude = one.conclude.as_ref().or(self.spec.conclude.as_ref());
        Ok(Ok(Ready {
            name: one.name.as_ref().clone(),
            meant,
            alterations: None,
            conditions: Conditions::default(),
            prepare: prepare.map(|line| hook(line)),
            conclude: conclude.map(|line| hook(line)),
        }))
    }

    /// What is run, in every combination of the factors' levels.
    fn combinations<T>(
        &self,
        factors: &Spanned<T>,
        machine: &MachineArguments,
    ) -> Result<Vec<Result<Ready, Exit>>, Failure> {
        let nameless = SpecConfiguration {
            name: Spanned::new(factors.span(), String::new()),
            arguments: None,
            directory: None,
            command: None,
            prepare: None,
            conclude: None,
        };
        let one = self.spec.configuration.first().unwrap_or(&nameless);
        let size = self.spec.scratch_size.as_ref();
        if let Some(size) = size {
            parse_size_bytes(size.as_ref()).map_err(|error| self.problem(size, error))?;
        }
        let mut all = Vec::new();
        for combination in self.file.combinations()? {
            let levels = combination.levels.iter();
            let settings: Vec<Setting> = levels
                .map(|(factor, level)| Setting::new(factor, level))
                .collect();
            let size = size.map(|size| size.as_ref().as_str());
            let (alterations, conditions) = alterations(&settings, machine, size)
                .map_err(|failure| self.problem(factors, failure.message()))?;
            all.push(self.configuration(one)?.map(|ready| {
                Ready {
                    name: format!("{} {}", ready.name, combination.name)
                        .trim()
                        .to_owned(),
                    alterations: Some(alterations),
                    conditions,
                    ..ready
                }
            }));
        }
        Ok(all)
    }

    /// A benchmark with the arguments of all and its own.
    fn benchmark(
        &self,
        workload: &Spanned<String>,
        one: &SpecConfiguration,
    ) -> Result<Result<Meant, Exit>, Failure> {
        if let Some(metric) = self.spec.metrics.first() {
            return Err(self.problem(metric, "metrics are read from commands, not workloads"));
        }
        let mut words = vec![workload.as_ref().clone()];
        words.extend(self.words(self.spec.arguments.as_ref())?);
        words.extend(self.words(one.arguments.as_ref())?);
        let named = Named {
            words: &words,
            whose: one.name.as_ref(),
        };
        let read = benchmark::meant(&named, self.global, self.desk)
            .map_err(|failure| self.problem(workload, failure.message()))?;
        let mut meant = match read {
            Ok(meant) => meant,
            Err(exit) => return Ok(Err(exit)),
        };
        if let Some(directory) = one.directory.as_ref().or(self.spec.directory.as_ref()) {
            let [Place::Directory(place)] = &mut meant.places[..] else {
                let problem = "it does not work in one directory: name its places in `arguments`";
                return Err(self.problem(&one.name, problem));
            };
            *place = PathBuf::from(directory);
        }
        Ok(Ok(meant))
    }

    fn command(&self, command: &Spanned<Line>, one: &SpecConfiguration) -> Result<Meant, Failure> {
        if let Some(arguments) = one.arguments.as_ref().or(self.spec.arguments.as_ref()) {
            return Err(self.problem(
                arguments,
                "arguments are a workload's; write them behind the command",
            ));
        }
        let line = match (command.as_ref(), self.spec.shell) {
            (Line::Text(text), true) => CommandLine::Shell(text.clone()),
            (Line::Words(_), true) => {
                return Err(self.problem(command, "a command for a shell is one text"));
            }
            (_, false) => CommandLine::Words(self.words(Some(command))?),
        };
        let spec = self.spec;
        for metric in &spec.metrics {
            let read = metric
                .as_ref()
                .parse::<stiction_suite::command::MetricSource>();
            read.map_err(|error| self.problem(metric, error))?;
        }
        if let Some(limit) = &spec.limit {
            parse_duration_ns(limit.as_ref()).map_err(|error| self.problem(limit, error))?;
        }
        let directory = one.directory.as_ref().or(spec.directory.as_ref());
        let timing = Timing {
            shell: spec.shell,
            metrics: spec.metrics.iter().map(|m| m.as_ref().clone()).collect(),
            warmup: spec.warmup.unwrap_or(0),
            drop_caches: spec.drop_caches,
            fresh_directory: spec.fresh_directory,
            directories: directory.map(PathBuf::from).into_iter().collect(),
            ignore_failure: spec.ignore_failure,
            limit: spec.limit.as_ref().map(|limit| limit.as_ref().clone()),
        };
        timed::meant(line, (0, 1), &timing, &self.recording)
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
