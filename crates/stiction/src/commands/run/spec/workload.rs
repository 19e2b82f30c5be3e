//! What one workload of a file means, in one directory, with options at levels.

use std::path::PathBuf;

use stiction_core::{Setting, parse_duration_ns};
use stiction_formats::spec::{Line, Spanned, SpecConfiguration, SpecWorkload, Workloads};
use stiction_suite::{CommandLine, Place};

use super::Reader;
use super::options::with_option;
use crate::arguments::Timing;
use crate::commands::benchmark::{self, Named};
use crate::commands::fio;
use crate::commands::meant::Meant;
use crate::commands::timed;
use crate::exit::Exit;
use crate::failure::Failure;

/// What the names of factors that are options of workloads begin with.
pub(super) const OPTION: &str = "workload.";

/// One trial's worth of work: which workload, for whom, where.
pub(super) struct Work<'a> {
    /// The configuration that it is for.
    pub(super) one: &'a SpecConfiguration,
    /// Where there are tables `[[workload]]`, which of them.
    pub(super) workload: Option<&'a SpecWorkload>,
    /// Where, unless the workload says so itself.
    pub(super) directory: Option<&'a str>,
    /// Options of the workload, by their factors' names.
    pub(super) varied: &'a [Setting],
}

impl Reader<'_> {
    /// What is to be run.
    pub(super) fn meant(&self, work: &Work<'_>) -> Result<Result<Meant, Exit>, Failure> {
        let one = work.one;
        if let Some(workload) = work.workload {
            return self.of_table(workload, work);
        }
        match (&self.spec.workload, &one.command) {
            (Some(_), Some(command)) => {
                let problem = "the file has a workload, so its configurations have no command";
                Err(self.problem(command, problem))
            }
            (Some(workload), None) => {
                let Workloads::One(name) = workload.as_ref() else {
                    return Err(self.problem(workload, "there is no [[workload]]"));
                };
                let arguments = [self.spec.arguments.as_ref(), one.arguments.as_ref()];
                self.benchmark(vec![name.clone()], &arguments, workload, work)
            }
            (None, Some(command)) => self.command(command, work).map(Ok),
            (None, None) => {
                let problem = "the file has no workload, so each configuration needs a command";
                Err(self.problem(&one.name, problem))
            }
        }
    }

    fn of_table(
        &self,
        workload: &SpecWorkload,
        work: &Work<'_>,
    ) -> Result<Result<Meant, Exit>, Failure> {
        if let Some(command) = &work.one.command {
            let problem = "the file has workloads, so its configurations have no command";
            return Err(self.problem(command, problem));
        }
        let own = workload.arguments.as_ref();
        if let Some(run) = &workload.run {
            let arguments = [own, work.one.arguments.as_ref()];
            return self.benchmark(vec![run.as_ref().clone()], &arguments, run, work);
        }
        if let Some(file) = &workload.fio {
            // Beside the specification, wherever that is run from.
            let path = self.folder.join(file.as_ref());
            let words = vec!["fio".to_owned(), path.display().to_string()];
            return self.benchmark(words, &[own], file, work);
        }
        if workload.job.is_some() {
            return self.job(workload, work);
        }
        let command = workload.command.as_ref();
        let command = command.expect("a workload has one of four");
        self.command(command, work).map(Ok)
    }

    /// A benchmark by its words, `place` is where the file names it.
    fn benchmark<T>(
        &self,
        mut words: Vec<String>,
        arguments: &[Option<&Spanned<Line>>],
        place: &Spanned<T>,
        work: &Work<'_>,
    ) -> Result<Result<Meant, Exit>, Failure> {
        for line in arguments.iter().flatten() {
            words.extend(self.words(Some(line))?);
        }
        for (option, setting) in options(work.varied) {
            words = with_option(&words, option, &setting.level)
                .map_err(|problem| self.problem_of_factor(&setting.factor, problem))?;
        }
        let is_fio = words.first().is_some_and(|word| word == "fio");
        if let (true, Some(directory)) = (is_fio, work.directory) {
            // Its jobs name their files below this directory.
            words.splice(1..1, ["run".to_owned(), format!("--dir={directory}")]);
        }
        let named = Named {
            words: &words,
            whose: work.one.name.as_ref(),
        };
        let read = benchmark::meant(&named, self.desk)
            .map_err(|failure| self.problem(place, failure.message()))?;
        let mut meant = match read {
            Ok(meant) => meant,
            Err(exit) => return Ok(Err(exit)),
        };
        if let (false, Some(directory)) = (is_fio, work.directory) {
            let [Place::Directory(place_of_work)] = &mut meant.places[..] else {
                let problem = "it does not work in one directory: name its places in `arguments`";
                return Err(self.problem(place, problem));
            };
            *place_of_work = PathBuf::from(directory);
        }
        Ok(Ok(meant))
    }

    /// One job in the words of fio.
    fn job(
        &self,
        workload: &SpecWorkload,
        work: &Work<'_>,
    ) -> Result<Result<Meant, Exit>, Failure> {
        let job = workload.job.as_ref().expect("it is a job");
        let mut words = vec![format!("--name={}", workload.name.as_ref())];
        let varied: Vec<_> = options(work.varied).collect();
        let keys = job.as_ref().iter();
        let keys: Vec<_> = keys
            .filter(|(key, _)| !varied.iter().any(|(option, _)| option == key))
            .collect();
        words.extend(
            keys.iter()
                .map(|(key, value)| format!("--{key}={}", value.as_ref())),
        );
        let level = |(option, setting): &(&str, &Setting)| format!("--{option}={}", setting.level);
        words.extend(varied.iter().map(level));
        if let Some(error) = fio::problems(&words, self.desk)?.first() {
            let place = error.place();
            let said = error.to_string();
            let said = match place {
                Some(place) => said.trim_start_matches(&format!("{place}: ")).to_owned(),
                None => said,
            };
            // The first word is the name; words count from 1.
            let number = place.and_then(|place| (place.line as usize).checked_sub(2));
            return Err(match number {
                Some(number) if number < keys.len() => self.problem(keys[number].1, said),
                Some(number) if number - keys.len() < varied.len() => {
                    self.problem_of_factor(&varied[number - keys.len()].1.factor, said)
                }
                _ => self.problem(job, said),
            });
        }
        let nothing_varies = Work {
            varied: &[],
            ..*work
        };
        words.insert(0, "fio".to_owned());
        self.benchmark(words, &[], job, &nothing_varies)
    }

    fn command(&self, command: &Spanned<Line>, work: &Work<'_>) -> Result<Meant, Failure> {
        let arguments = work.one.arguments.as_ref().or(self.spec.arguments.as_ref());
        if let Some(arguments) = arguments {
            return Err(self.problem(
                arguments,
                "arguments are a workload's; write them behind the command",
            ));
        }
        if let Some((_, setting)) = options(work.varied).next() {
            let problem = "a command of yours has no options that are known here";
            return Err(self.problem_of_factor(&setting.factor, problem));
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
        let timing = Timing {
            shell: spec.shell,
            metrics: spec.metrics.iter().map(|m| m.as_ref().clone()).collect(),
            warmup: spec.warmup.unwrap_or(0),
            drop_caches: spec.drop_caches,
            fresh_directory: spec.fresh_directory,
            directories: work.directory.map(PathBuf::from).into_iter().collect(),
            ignore_failure: spec.ignore_failure,
            limit: spec.limit.as_ref().map(|limit| limit.as_ref().clone()),
        };
        timed::meant(line, (0, 1), &timing, &self.recording)
    }
}

/// The options of a workload among factors, by their own names.
fn options(varied: &[Setting]) -> impl Iterator<Item = (&str, &Setting)> {
    varied
        .iter()
        .filter_map(|setting| Some((setting.factor.strip_prefix(OPTION)?, setting)))
}
