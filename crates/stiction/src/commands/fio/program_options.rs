//! Options about how fio the program runs: those that mean something here, those that
//! change nothing, and those that something else does.

use std::path::PathBuf;

use stiction_formats::fio::Setting;

use crate::arguments::FioFormat;
use crate::failure::Failure;

/// What was asked for about the run as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProgramOptions {
    /// Where the report goes instead of stdout.
    pub(super) output: Option<PathBuf>,
    /// In which format of fio; `None` for the report of our own.
    pub(super) format: Option<FioFormat>,
    /// Nothing may be written.
    pub(super) read_only: bool,
    /// What was read and changes nothing, with the reason.
    pub(super) without_effect: Vec<(String, &'static str)>,
}

/// Options that change nothing here.
const WITHOUT_EFFECT: [(&str, &str); 9] = [
    ("eta", "the live line is there where stderr is a terminal"),
    ("eta-newline", "the live line is one line"),
    ("eta-interval", "the live line has its own interval"),
    ("alloc-size", "memory is allocated as it is needed"),
    ("max-jobs", "jobs are threads, 65536 at most"),
    ("inflate-log", "logs are not compressed"),
    ("warnings-fatal", "what is wrong is an error anyway"),
    ("aux-path", "no auxiliary files are written"),
    ("status-interval", "every interval is kept with the session"),
];

/// Options of another command, and which.
const ELSEWHERE: [(&str, &str); 3] = [
    (
        "parse-only",
        "`stiction fio lint` reads the jobs and runs nothing.",
    ),
    (
        "showcmd",
        "`stiction fio convert` writes the jobs with every default.",
    ),
    ("version", "`stiction --version` says it."),
];

impl ProgramOptions {
    /// Sorts `program`.
    ///
    /// # Errors
    /// For options that ask for what is not done.
    pub(super) fn read(program: &[Setting]) -> Result<Self, Failure> {
        let mut options = Self::default();
        for setting in program {
            options.add(setting)?;
        }
        if let (Some(FioFormat::Terse), Some(version)) = (options.format, terse_version(program)) {
            options.format = Some(version?);
        }
        Ok(options)
    }

    fn add(&mut self, setting: &Setting) -> Result<(), Failure> {
        let name = setting.name.as_str();
        let value = setting.value.as_deref();
        let wanted = || Failure::new(format!("--{name} wants a value"));
        match name {
            "output" => self.output = Some(PathBuf::from(value.ok_or_else(wanted)?)),
            "output-format" => self.format = format(value.ok_or_else(wanted)?)?,
            "minimal" => self.format = Some(FioFormat::Terse),
            "terse-version" => {}
            "readonly" => self.read_only = true,
            _ => {
                let known = WITHOUT_EFFECT.iter().find(|(known, _)| *known == name);
                let Some((_, reason)) = known else {
                    return Err(refusal(name));
                };
                self.without_effect.push((format!("--{name}"), *reason));
            }
        }
        Ok(())
    }
}

/// The format of that name.
fn format(name: &str) -> Result<Option<FioFormat>, Failure> {
    match name {
        "normal" => Ok(None),
        "json" => Ok(Some(FioFormat::Json)),
        "json+" => Ok(Some(FioFormat::JsonPlus)),
        "terse" => Ok(Some(FioFormat::Terse)),
        _ => Err(
            Failure::new(format!("--output-format={name} is no format of fio"))
                .advise("Choose one of normal, json, json+ and terse."),
        ),
    }
}

/// The version of terse lines, where one is asked for.
fn terse_version(program: &[Setting]) -> Option<Result<FioFormat, Failure>> {
    let asked = program.iter().rev();
    let asked = asked.filter(|setting| setting.name == "terse-version");
    let version = asked.map(|setting| setting.value.as_deref()).next()?;
    Some(match version {
        Some("3") => Ok(FioFormat::Terse),
        Some("5") => Ok(FioFormat::Terse5),
        _ => Err(Failure::new("--terse-version is 3 or 5")),
    })
}

fn refusal(name: &str) -> Failure {
    let elsewhere = ELSEWHERE.iter().find(|(known, _)| *known == name);
    let failure = Failure::new(format!("--{name} is not done here"));
    failure.advise(elsewhere.map_or("Leave it out.", |(_, advice)| *advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    use stiction_formats::fio::{CommandLine, Machine, Surroundings};

    fn read(words: &str) -> Result<ProgramOptions, String> {
        let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
        let around = Surroundings {
            include: &|_, _| Err(String::new()),
            variable: &|_| None,
            machine: Machine {
                cpus: 1,
                page_size_bytes: 4096,
                memory_mib: 1,
            },
        };
        let line = CommandLine::parse(&words, &around).unwrap();
        ProgramOptions::read(&line.program).map_err(|failure| failure.to_string())
    }

    #[test]
    fn what_is_about_the_run_is_taken_and_what_is_not_done_is_refused() {
        let options = read("--output o.json --output-format=json --eta=never --readonly").unwrap();
        assert_eq!(options.output, Some("o.json".into()));
        assert_eq!(options.format, Some(FioFormat::Json));
        assert!(options.read_only);
        assert_eq!(options.without_effect[0].0, "--eta");
        let terse = |words| read(words).unwrap().format;
        assert_eq!(terse("--minimal"), Some(FioFormat::Terse));
        assert_eq!(
            terse("--terse-version=5 --minimal"),
            Some(FioFormat::Terse5)
        );
        assert_eq!(terse("--output-format=normal"), None);
        assert!(read("--minimal --terse-version=4").is_err());
        assert!(read("--client=host").unwrap_err().contains("--client"));
        assert!(read("--parse-only").unwrap_err().contains("fio lint"));
    }
}
