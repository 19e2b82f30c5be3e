//! The binary: arguments, terminal, live view, exit codes.
//!
//! Everything else lives in the library crates; this is the only place that reads
//! the command line, the environment variables and the home directory, and the
//! only one that prints.

mod arguments;
mod commands;
mod console;
mod exit;
mod failure;
mod input;
mod live;
mod output;
mod signals;
mod state;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use console::Console;
use exit::Exit;

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    if let Some(ended) = commands::contest_part(&typed) {
        return of_part(ended);
    }
    let is_probe = commands::is_bisect_probe(&typed);
    let typed = arguments::ours_first(arguments::with_default_command(typed, Path::is_dir));
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(error) if is_probe && error.use_stderr() => {
            // Nobody is left to tell when it cannot be printed.
            let _ = error.print();
            return Exit::BisectAbort.into();
        }
        Err(error) => error.exit(),
    };
    let console = Console::new(&arguments.global);
    if let Err(error) = signals::survive_file_size_limit() {
        console.say(&format!("stiction: cannot handle SIGXFSZ: {error}"));
    }
    match commands::run(&arguments, &typed, &console) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            console.say(&failure.to_string());
            match is_probe {
                true => Exit::BisectAbort.into(),
                false => failure.exit.into(),
            }
        }
    }
}

/// How a process ends that is a part of a benchmark.
fn of_part(ended: Result<(), failure::Failure>) -> ExitCode {
    let Err(failure) = ended else {
        return ExitCode::SUCCESS;
    };
    // Whoever started it reads this; nothing else can be done if it cannot be written.
    let _ = writeln!(std::io::stderr(), "{failure}");
    failure.exit.into()
}
