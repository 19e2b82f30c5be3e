//! `stiction fio`: job files of fio, read with what they ask for from outside.

use std::io::Read as _;
use std::path::Path;

use stiction_formats::fio::lint::{Severity, lint};
use stiction_formats::fio::{
    CommandLine, FioError, JobFile, Machine, Resolved, Setting, Surroundings, parse, resolve,
    to_toml,
};
use stiction_report::json;

use crate::arguments::{FioArguments, FioCommand};
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// The jobs of a command line, or all that is wrong with them.
type Read = Result<Resolved, Vec<FioError>>;

/// Lints or converts.
pub(super) fn run(typed: &FioArguments, console: &Console) -> Result<Exit, Failure> {
    match &typed.command {
        FioCommand::Lint(fio) => say_what_happens(&fio.words, console),
        FioCommand::Convert(fio) => convert(&fio.words, console),
    }
}

fn say_what_happens(words: &[String], console: &Console) -> Result<Exit, Failure> {
    let machine = machine();
    let resolved = match read(words, machine)? {
        Ok(resolved) => resolved,
        Err(errors) => return refuse(&errors, console),
    };
    let lint = lint(&resolved, machine);
    let text = if console.json {
        json::fio_lint(&resolved, &lint)
    } else {
        stiction_report::fio_lint(&resolved, &lint, console.style())
    };
    console.data(&text)?;
    let fails =
        |finding: &stiction_formats::fio::lint::Finding| finding.severity == Severity::Failure;
    Ok(if lint.findings.iter().any(fails) {
        Exit::Error
    } else {
        Exit::Done
    })
}

fn convert(words: &[String], console: &Console) -> Result<Exit, Failure> {
    if console.json {
        return Err(
            Failure::new("convert writes TOML, which --json does not change")
                .advise("`stiction fio lint --json` has the jobs' figures as JSON."),
        );
    }
    match read(words, machine())? {
        Ok(resolved) => {
            console.data(&to_toml(&resolved))?;
            Ok(Exit::Done)
        }
        Err(errors) => {
            console.say(
                stiction_report::fio_errors(&errors, stiction_report::Style::Plain).trim_end(),
            );
            Ok(Exit::Error)
        }
    }
}

/// Prints what is wrong, where the answer was asked for.
fn refuse(errors: &[FioError], console: &Console) -> Result<Exit, Failure> {
    let text = if console.json {
        json::fio_errors(errors)
    } else {
        stiction_report::fio_errors(errors, console.style())
    };
    console.data(&text)?;
    Ok(Exit::Error)
}

/// Reads the file and options that the words name.
///
/// # Errors
/// When a file cannot be read, or a word is no file and no option of a job. What is
/// wrong inside is in the value.
fn read(words: &[String], machine: Machine) -> Result<Read, Failure> {
    let around = Surroundings {
        include: &|from, name| include(from, name),
        variable: &|name| std::env::var(name).ok(),
        machine,
    };
    let mut line = match CommandLine::parse(words, &around) {
        Ok(line) => line,
        Err(error) => return Ok(Err(vec![error])),
    };
    let sections = sections(&line.program)?;
    let parsed = match std::mem::take(&mut line.files).as_slice() {
        [] if line.jobs.is_empty() => {
            return Err(Failure::new("neither a job file nor --name=NAME is given"));
        }
        [] => Ok(JobFile::default()),
        [file] => parse(file, &text_of(file)?, &around),
        [_, second, ..] => {
            return Err(
                Failure::new(format!("{second}: there is a job file already"))
                    .advise("Give one; a line `include FILE` in it brings in another."),
            );
        }
    };
    let jobs = parsed.map(|file| file.with(line)).and_then(|file| {
        if sections.is_empty() {
            Ok(file)
        } else {
            file.only(&sections)
        }
    });
    Ok(match jobs {
        Ok(jobs) => resolve(&jobs),
        Err(error) => Err(vec![error]),
    })
}

/// The jobs that are chosen by name.
///
/// # Errors
/// For options that are about how the program fio runs.
fn sections(program: &[Setting]) -> Result<Vec<String>, Failure> {
    let mut sections = Vec::new();
    for setting in program {
        match (setting.name.as_str(), &setting.value) {
            ("section", Some(name)) => sections.push(name.clone()),
            ("section", None) => return Err(Failure::new("--section wants the name of a job")),
            (name, _) => {
                let what = format!("--{name} is about how fio runs, and not about a job");
                return Err(Failure::new(what).advise("Leave it out."));
            }
        }
    }
    Ok(sections)
}

/// The text of a job file; `-` is stdin.
fn text_of(file: &str) -> Result<String, Failure> {
    let text = if file == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    text.map_err(|error| Failure::new(format!("cannot read {file}: {error}")))
}

/// The text of an included file. As in fio, a name that is not there is looked up
/// beside the file that names it.
fn include(from: &str, name: &str) -> Result<String, String> {
    let beside = Path::new(from).with_file_name(name);
    let path = if Path::new(name).exists() {
        Path::new(name)
    } else {
        &beside
    };
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

/// This machine, as job files ask for it.
fn machine() -> Machine {
    let system = rustix::system::sysinfo();
    let memory_bytes = system.totalram as u64 * u64::from(system.mem_unit);
    Machine {
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64),
        page_size_bytes: rustix::param::page_size() as u64,
        memory_mib: memory_bytes >> 20,
    }
}
