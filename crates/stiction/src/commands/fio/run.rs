//! `stiction fio FILE`: the jobs of a file, run.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use stiction_core::{OptionWithoutEffect, Program, ProgramPlace, Seed};
use stiction_formats::fio::lint::{Code, Finding, Lint, Severity, lint};
use stiction_formats::fio::{
    FioError, Found, Nodes, ProgramGround, Resolved, Trace, TraceReader, program,
};
use stiction_host::{Refusal, Roots, numa_nodes, refuse_file_in_use};
use stiction_report::fio_output::requested_logs;
use stiction_report::{Judged, json};
use stiction_suite::{Fio, Place};

use super::program_options::ProgramOptions;
use super::read::{machine, read};
use super::refuse;
use crate::arguments::{FioRunArguments, Recording, ScratchDevice};
use crate::commands::meant::{Asked, Meant};
use crate::commands::{Desk, fio_output, measure, scratch};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// The longest line of a trace that is read, bytes: a path, and four short words.
const TRACE_LINE_BYTES_MAX: u64 = 8192;

/// Runs the jobs that the words name.
pub(super) fn run(typed: &FioRunArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let (asked, options) = meant(typed, desk)?;
    let meant = match asked {
        Asked::Meant(meant) => meant,
        Asked::Said(exit) => return Ok(exit),
        Asked::Nothing => return Ok(Exit::NothingToJudge),
    };
    let measured = meant.measure(desk)?;
    // Where nothing was recorded there is nothing to log, and the report says why.
    for log in requested_logs(&measured.session).unwrap_or_default() {
        output::replace(Path::new(&log.name), &log.text)
            .map_err(|failure| measured.unsaid(failure))?;
    }
    let judged = Judged::examine(&measured.session);
    let text = match options.format {
        Some(format) => fio_output::text(&measured.session, format)?,
        None if desk.console.json => json::session(&judged),
        None => stiction_report::fio_run(&judged, desk.console.style()),
    };
    match &options.output {
        Some(path) => measured.conclude_in(path, &text),
        None => measured.conclude(&text, desk),
    }
}

/// What the words mean, and what they say of the output.
///
/// # Errors
/// When they contradict each other or the machine.
pub(super) fn meant(
    typed: &FioRunArguments,
    desk: &Desk<'_>,
) -> Result<(Asked, ProgramOptions), Failure> {
    let machine = machine();
    let words = read(&typed.fio.words, machine, &desk.texts)?;
    let options = ProgramOptions::read(&words.program)?;
    if desk.console.json && options.format.is_some() {
        return Err(Failure::new(
            "--output-format and --json each ask for a format: choose one",
        ));
    }
    let resolved = match &words.jobs {
        Ok(resolved) => resolved,
        Err(errors) => return Ok((Asked::Said(refuse(errors, desk.console)?), options)),
    };
    let lint = lint(resolved, machine);
    if lint.findings.iter().any(stops) {
        return Ok((Asked::Said(fail(resolved, &lint, desk)?), options));
    }
    let seed = measure::seed(&typed.recording, desk)?;
    let scratch = scratch::named(&typed.scratch)?;
    let ground = Ground {
        typed,
        nodes: numa_nodes(&Roots::default()).map_err(Failure::new)?,
        scratch: &scratch,
    };
    let program = match ground.program(resolved, seed) {
        Ok(program) => program,
        Err(errors) => return Ok((Asked::Said(refuse(&errors, desk.console)?), options)),
    };
    if options.read_only {
        refuse_writes(&program)?;
    }
    let program = Program {
        doubts: doubts(&lint),
        may_fill: typed.recording.may_fill,
        without_effect: without_effect(&program, &options),
        ..program
    };
    for doubt in &program.doubts {
        desk.console.say(&format!("doubt: {doubt}"));
    }
    let places = places(&program, scratch, typed.wipe_signature.as_ref())?;
    let recording = Recording {
        seed: Some(seed.0),
        ..typed.recording.clone()
    };
    let meant = Meant::new(
        Fio { program },
        places,
        &recording,
        command(words.file.as_deref(), &typed.fio.words),
        |session, style| stiction_report::fio_run(&Judged::examine(session), style),
    );
    Ok((Asked::Meant(Box::new(meant)), options))
}

/// Whether a finding keeps the jobs from running. Blocks that are written again before
/// they are checked upset fio; here it is known which write was the last. And whether
/// files have a size is seen when they are looked at.
fn stops(finding: &Finding) -> bool {
    finding.severity == Severity::Failure
        && !matches!(finding.code, Code::VerifyRewrites | Code::NoSize)
}

/// Prints what will fail, where the answer was asked for.
fn fail(resolved: &Resolved, lint: &Lint, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let text = if desk.console.json {
        json::fio_lint(resolved, lint)
    } else {
        stiction_report::fio_lint(resolved, lint, desk.console.style())
    };
    desk.console.data(&text)?;
    Ok(Exit::Error)
}

/// What is outside of the job file.
struct Ground<'a> {
    typed: &'a FioRunArguments,
    nodes: Nodes,
    scratch: &'a [ScratchDevice],
}

impl Ground<'_> {
    fn program(&self, resolved: &Resolved, seed: Seed) -> Result<Program, Vec<FioError>> {
        let directory = self.typed.directory.to_string_lossy();
        let may_overwrite = |path: &str| {
            let granted = self.scratch.iter().map(|device| &device.path);
            let mut all = self.typed.may_overwrite.iter().chain(granted);
            all.any(|allowed| is_same(allowed, Path::new(path)))
        };
        let ground = ProgramGround {
            directory: &directory,
            look: &look,
            trace: &trace,
            may_overwrite: &may_overwrite,
            seed,
            nodes: &self.nodes,
        };
        program(resolved, &ground)
    }
}

/// Whether two names are of one file.
fn is_same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| fs::canonicalize(path);
    match (real(one), real(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// What lies at a path.
fn look(path: &str) -> Found {
    let kind = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => return Found::File(metadata.len()),
        Ok(metadata) if metadata.is_dir() => return Found::Directory,
        Ok(metadata) => metadata.file_type(),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Found::Nothing;
        }
        Err(error) => return Found::Other(format!("not to be looked at: {error}")),
    };
    if !kind.is_block_device() {
        return Found::Other("neither a file nor a block device".to_owned());
    }
    match File::open(path).and_then(|mut device| device.seek(SeekFrom::End(0))) {
        Ok(bytes) => Found::Device(bytes),
        Err(error) => Found::Other(format!("a device that cannot be opened: {error}")),
    }
}

/// The trace in a file, read line by line.
fn trace(path: &str) -> Result<Result<Trace, FioError>, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let mut file = BufReader::new(file);
    let mut reader = TraceReader::new(path);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A file that is no text has no lines; what is read of it is bounded.
        let mut rest = (&mut file).take(TRACE_LINE_BYTES_MAX);
        let read = rest.read_until(b'\n', &mut line);
        if read.map_err(|error| error.to_string())? == 0 {
            return Ok(reader.finish());
        }
        if let Err(error) = reader.line(&String::from_utf8_lossy(&line)) {
            return Ok(Err(error));
        }
    }
}

/// With `--readonly`, jobs that write are refused.
fn refuse_writes(program: &Program) -> Result<(), Failure> {
    let mut parts = program.parts.iter();
    match parts.find(|part| part.job.action.changes()) {
        None => Ok(()),
        Some(part) => Err(Failure::new(format!(
            "--readonly is given, and job `{}` writes",
            part.job.name
        ))
        .advise("Leave it out, or choose other jobs by --section.")),
    }
}

/// What lint has to say against the figures, in one line each.
fn doubts(lint: &Lint) -> Vec<String> {
    let found = lint.findings_with_jobs().into_iter();
    found
        .filter(|(finding, _)| finding.severity == Severity::Doubt)
        .map(|(finding, jobs)| format!("{}: [{}] {}", finding.place, jobs.join(", "), finding.what))
        .collect()
}

/// What was read and changes nothing, that of the command line included.
fn without_effect(program: &Program, options: &ProgramOptions) -> Vec<OptionWithoutEffect> {
    let of_line = options
        .without_effect
        .iter()
        .map(|(option, reason)| OptionWithoutEffect {
            option: option.clone(),
            place: "command line".to_owned(),
            reason: (*reason).to_owned(),
        });
    program
        .without_effect
        .iter()
        .cloned()
        .chain(of_line)
        .collect()
}

/// The places of the program. A device that is written to is held as long as its place
/// lives.
fn places(
    program: &Program,
    scratch: Vec<ScratchDevice>,
    wipe_signature: Option<&String>,
) -> Result<Vec<Place>, Failure> {
    let mut grants = scratch;
    let mut places = Vec::new();
    for place in &program.places {
        places.push(match place {
            ProgramPlace::Directory { path } => Place::Directory(path.into()),
            ProgramPlace::Device {
                path,
                may_write: true,
            } => {
                let granted = |device: &ScratchDevice| is_same(&device.path, Path::new(path));
                let Some(number) = grants.iter().position(granted) else {
                    let what = format!("{path} is a device, and was not handed over");
                    let advice = format!("Hand it over by --scratch {path}=SERIAL.");
                    return Err(Failure::new(what).advise(advice));
                };
                scratch::held(grants.remove(number), wipe_signature)?
            }
            ProgramPlace::File { path, may_write } => {
                if *may_write {
                    let refusal = |refusal: Refusal| Failure::new(refusal.to_string());
                    refuse_file_in_use(Path::new(path), &Roots::live()).map_err(refusal)?;
                }
                Place::File(path.into())
            }
            ProgramPlace::Device { path, .. } => Place::File(path.into()),
        });
    }
    if let Some(stray) = grants.first() {
        return Err(Failure::new(format!(
            "{} is handed over by --scratch, and no job writes to it",
            stray.path.display()
        )));
    }
    Ok(places)
}

/// Options whose values are paths, or begin with one.
const OF_PATHS: [&str; 12] = [
    "aux-path",
    "directory",
    "filename",
    "filename_format",
    "opendir",
    "output",
    "read_iolog",
    "replay_redirect",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
];

/// The command as it is recorded: the job file by its name alone, and the options
/// without paths, which the parameters have.
fn command(file: Option<&str>, typed: &[String]) -> Vec<String> {
    let mut command = vec!["stiction".to_owned(), "fio".to_owned()];
    let is_file = |word: &str| file == Some(word);
    let mut rest = typed.iter().peekable();
    while let Some(word) = rest.next() {
        let option = word.strip_prefix("--").unwrap_or_default();
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        if is_file(word) {
            let name = Path::new(word).file_name();
            command.extend(name.map(|name| name.to_string_lossy().into_owned()));
        } else if !OF_PATHS.contains(&name.trim()) {
            command.push(word.clone());
        } else if value.is_none() {
            // Its value may be the next word.
            rest.next_if(|next| !next.starts_with("--") && !is_file(next));
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(file: Option<&str>, typed: &str) -> String {
        let typed: Vec<String> = typed.split(' ').map(str::to_owned).collect();
        command(file, &typed).join(" ")
    }

    #[test]
    fn no_path_is_recorded() {
        let file = Some("/home/me/a.fio");
        for typed in [
            "/home/me/a.fio --bs=4k --filename=/home/me/x",
            "/home/me/a.fio --bs=4k --filename /home/me/x",
            "--directory /home/me /home/me/a.fio --bs=4k",
            "--write_bw_log=/home/me/x /home/me/a.fio --bs=4k",
            "--write_lat_log /home/me/a.fio --bs=4k --output=/home/me/r",
        ] {
            assert_eq!(
                recorded(file, typed),
                "stiction fio a.fio --bs=4k",
                "{typed}"
            );
        }
    }

    #[test]
    fn what_only_looks_like_a_path_stays() {
        let typed = "--name=a --output-format=json --bssplit 4k/50:8k/50";
        assert_eq!(recorded(None, typed), format!("stiction fio {typed}"));
    }
}
