//! Job files of fio: what each rule reads, held against fio itself where it is
//! installed.

mod conversion;
mod data_files;
mod groups;
mod hostile;
mod jobs;
mod linting;
mod oracle;
mod program;
mod reading;

use stiction_formats::fio::{FioError, FioJob, Machine, Resolved, Surroundings, parse, resolve};

/// A machine that no test runs on, so that nothing comes out right by chance.
const MACHINE: Machine = Machine {
    cpus: 6,
    page_size_bytes: 16384,
    memory_mib: 3000,
};

fn include(from: &str, name: &str) -> Result<(String, String), String> {
    let text = match name {
        "common.inc" => "[global]\nbs=64k\n[included]\nrw=write\nsize=1m\n".to_owned(),
        "self.inc" => "include self.inc\n".to_owned(),
        "bare.inc" => "iodepth=7\n".to_owned(),
        // Found in a directory, and includes a file that is not there.
        "outer.inc" => return Ok(("sub/outer.inc".to_owned(), "include gone.inc\n".to_owned())),
        // Ten of each next one, ten deep.
        "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" => {
            format!("include {}\n", name.parse::<u32>().unwrap() + 1).repeat(10)
        }
        "9" => "# nothing\n".to_owned(),
        _ => return Err(format!("no such file (asked for by {from})")),
    };
    Ok((name.to_owned(), text))
}

fn variable(name: &str) -> Option<String> {
    match name {
        "DEVICE" => Some("/dev/sdz".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn around() -> Surroundings<'static> {
    Surroundings {
        include: &include,
        variable: &variable,
        machine: MACHINE,
    }
}

fn all(text: &str) -> Result<Resolved, Vec<FioError>> {
    let file = parse("t.fio", text, &around()).map_err(|error| vec![error])?;
    resolve(&file)
}

/// The only job of a file that is right.
fn one(text: &str) -> FioJob {
    let mut jobs = all(text).unwrap_or_else(|errors| panic!("{errors:?}")).jobs;
    assert_eq!(jobs.len(), 1);
    jobs.remove(0).job
}

/// A job of these lines.
fn with(lines: &str) -> FioJob {
    one(&format!("[x]\nsize=1m\n{lines}\n"))
}

/// What is said about a file that is wrong, a line each.
fn wrong(text: &str) -> String {
    match all(text) {
        Ok(resolved) => panic!("nothing wrong with {resolved:?}"),
        Err(errors) => errors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n"),
    }
}

/// What is said about a job of these lines, the first of which is line 3.
fn refused(lines: &str) -> String {
    wrong(&format!("[x]\nsize=1m\n{lines}\n"))
}
