//! Job options on a command line: `--name=x --rw=randread --direct=1 file.fio`.

use super::error::{FioError, Place};
use super::ini::{JobFile, Section, Setting, Surroundings, read_setting};
use super::options::{self, Kind};

/// Arguments of `fio`, sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandLine {
    /// Options before the first `--name`: every job takes them on.
    pub shared: Vec<Setting>,
    /// A job for each `--name`, with the options after it.
    pub jobs: Vec<Section>,
    /// Job files, in their order.
    pub files: Vec<String>,
    /// Options of the program rather than of a job (`--output-format=json`), for the
    /// caller to understand: name and value.
    pub program: Vec<Setting>,
}

/// Options of fio the program, and whether a value may follow as an argument of
/// its own.
const PROGRAM: &[(&str, bool)] = &[
    ("append-terse", false),
    ("alloc-size", true),
    ("aux-path", true),
    ("bandwidth-log", false),
    ("client", true),
    ("cmdhelp", false),
    ("cpuclock-test", false),
    ("crctest", false),
    ("daemonize", true),
    ("debug", true),
    ("enghelp", false),
    ("eta", true),
    ("eta-interval", true),
    ("eta-newline", true),
    ("help", false),
    ("idle-prof", true),
    ("inflate-log", true),
    ("latency-log", false),
    ("max-jobs", true),
    ("memcpytest", false),
    ("merge-blktrace-only", false),
    ("minimal", false),
    ("output", true),
    ("output-format", true),
    ("parse-only", false),
    ("readonly", false),
    ("remote-config", true),
    ("section", true),
    ("server", false),
    ("showcmd", false),
    ("status-interval", true),
    ("terse-version", true),
    ("timeout", true),
    ("trigger", true),
    ("trigger-file", true),
    ("trigger-remote", true),
    ("trigger-timeout", true),
    ("version", false),
    ("warnings-fatal", false),
];

impl CommandLine {
    /// Sorts `arguments`, those after the program's name.
    ///
    /// # Errors
    /// A word that starts with one `-`, a missing value, or an unset variable.
    pub fn parse(arguments: &[String], around: &Surroundings<'_>) -> Result<Self, FioError> {
        let mut line = Self::default();
        let mut rest = arguments.iter().enumerate().peekable();
        while let Some((index, argument)) = rest.next() {
            let place = Place::at(None, index, 0);
            let Some(option) = argument.strip_prefix("--") else {
                if argument.starts_with('-') && argument.len() > 1 {
                    return Err(FioError::Syntax {
                        place,
                        what: format!("`{argument}` has one `-`"),
                        advice: "write options with two: --option=value".to_owned(),
                    });
                }
                line.files.push(argument.clone());
                continue;
            };
            let mut setting = read_setting(option, &place.moved(2), around)?;
            let is_program = PROGRAM.iter().find(|(name, _)| *name == setting.name);
            let wants_value =
                is_program.map_or_else(|| needs_value(&setting.name), |(_, value)| *value);
            if setting.value.is_none()
                && wants_value
                && let Some((next, value)) = rest.next_if(|(_, next)| !next.starts_with("--"))
            {
                setting.value = Some(value.clone());
                setting.value_place = Place::at(None, next, 0);
            }
            line.place(setting, is_program.is_some());
        }
        Ok(line)
    }

    /// Puts a setting where it belongs.
    fn place(&mut self, setting: Setting, is_program: bool) {
        if is_program && setting.name != "timeout" {
            self.program.push(setting);
        } else if setting.name == "name" {
            self.jobs.push(Section {
                name: setting.value.unwrap_or_default(),
                place: setting.place,
                settings: Vec::new(),
            });
        } else {
            match self.jobs.last_mut() {
                Some(job) => job.settings.push(setting),
                None => self.shared.push(setting),
            }
        }
    }
}

/// Whether an option of a job takes a value in the next argument when it has no `=`.
fn needs_value(name: &str) -> bool {
    options::find(name).is_none_or(|option| !matches!(option.kind, Kind::Flag))
}

impl JobFile {
    /// Adds the jobs of a command line, and its shared options to every job: the
    /// command line beats the file.
    #[must_use]
    pub fn with(mut self, line: CommandLine) -> Self {
        self.sections.extend(line.jobs);
        self.overrides.extend(line.shared);
        self
    }

    /// Only the named jobs, with all `[global]` sections.
    ///
    /// # Errors
    /// [`FioError::NoJob`] for a name that no job has.
    pub fn only(mut self, names: &[String]) -> Result<Self, FioError> {
        if let Some(missing) = names
            .iter()
            .find(|name| !self.sections.iter().any(|section| section.name == **name))
        {
            let known: Vec<&str> = self
                .sections
                .iter()
                .filter(|section| !section.is_global())
                .map(|section| section.name.as_str())
                .collect();
            return Err(FioError::NoJob {
                file: format!("the selection `{missing}`"),
                reason: format!("the jobs are {}", known.join(", ")),
            });
        }
        self.sections
            .retain(|section| section.is_global() || names.contains(&section.name));
        Ok(self)
    }
}
