//! Job files of fio, read with what they ask for from outside.

use std::path::{Path, PathBuf};

use stiction_formats::fio::{
    CommandLine, FioError, JobFile, Machine, Resolved, Setting, Surroundings, parse, resolve,
};

use crate::failure::Failure;
use crate::input::Texts;

/// The jobs of a command line, or all that is wrong with them.
pub(super) type Read = Result<Resolved, Vec<FioError>>;

/// What a command line comes to.
pub(super) struct Words {
    /// The jobs.
    pub(super) jobs: Read,
    /// The job file, as named; `None` where the command line has the jobs.
    pub(super) file: Option<String>,
    /// Options about how fio the program runs, other than `--section`.
    pub(super) program: Vec<Setting>,
}

/// Reads the file and options that the words name.
///
/// # Errors
/// When a file cannot be read, or a word is no file and no option of a job. What is
/// wrong inside is in the value.
pub(super) fn read(words: &[String], machine: Machine, texts: &Texts) -> Result<Words, Failure> {
    let around = Surroundings {
        include: &|from, name| include(from, name, texts),
        variable: &|name| std::env::var(name).ok(),
        machine,
    };
    let mut line = match CommandLine::parse(words, &around) {
        Ok(line) => line,
        Err(error) => {
            return Ok(Words {
                jobs: Err(vec![error]),
                file: None,
                program: Vec::new(),
            });
        }
    };
    let (sections, program) = sections(std::mem::take(&mut line.program))?;
    let files = std::mem::take(&mut line.files);
    let parsed = match files.as_slice() {
        [] if line.jobs.is_empty() => {
            return Err(Failure::new("neither a job file nor --name=NAME is given"));
        }
        [] => Ok(JobFile::default()),
        [file] => parse(file, &texts.text_of(Path::new(file))?, &around),
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
    Ok(Words {
        jobs: match jobs {
            Ok(jobs) => resolve(&jobs),
            Err(error) => Err(vec![error]),
        },
        file: files.into_iter().next(),
        program,
    })
}

/// The jobs that are chosen by name, and the other options of the program.
///
/// # Errors
/// When a name is missing.
fn sections(program: Vec<Setting>) -> Result<(Vec<String>, Vec<Setting>), Failure> {
    let mut sections = Vec::new();
    let mut others = Vec::new();
    for setting in program {
        match (setting.name.as_str(), &setting.value) {
            ("section", Some(name)) => sections.push(name.clone()),
            ("section", None) => return Err(Failure::new("--section wants the name of a job")),
            _ => others.push(setting),
        }
    }
    Ok((sections, others))
}

/// The path and the text of an included file. As in fio, a name that is not there is
/// looked up beside the file that names it.
fn include(from: &str, name: &str, texts: &Texts) -> Result<(String, String), String> {
    let mut path = PathBuf::from(name);
    if !texts.has(&path) {
        let beside = Path::new(from).with_file_name(name);
        if texts.has(&beside) {
            path = beside;
        }
    }
    let text = texts.read(&path).map_err(|error| error.to_string())?;
    Ok((path.to_string_lossy().into_owned(), text))
}

/// This machine, as job files ask for it.
pub(super) fn machine() -> Machine {
    let system = rustix::system::sysinfo();
    let memory_bytes = system.totalram as u64 * u64::from(system.mem_unit);
    Machine {
        cpus: std::thread::available_parallelism().map_or(1, |cpus| cpus.get() as u64),
        page_size_bytes: rustix::param::page_size() as u64,
        memory_mib: memory_bytes >> 20,
    }
}
