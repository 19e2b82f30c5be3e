//! Development tasks: `cargo xtask ci`, `tidy`, `layers`, `bench`.
//!
//! Small on purpose and free of the other crates, so that the checks still build
//! when the product does not.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

mod bench;
mod ci;
mod layers;
mod tidy;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "\
Usage: cargo xtask <task> [options]

  ci [--only STAGE,...] [--keep-going] [--list]
                        every check and every test, cheapest first
  tidy                  what the compiler and clippy do not check in our own text
  layers                which crate may depend on which
  bench [NAME [ARG...]] run one benchmark of our own code, or list them
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Every task ends in silence or in one message for the person who started it.
fn run(arguments: &[String]) -> Result<(), String> {
    let (task, rest) = arguments.split_first().ok_or(USAGE)?;
    match task.as_str() {
        "ci" => ci::run(rest),
        "tidy" => tidy::run(),
        "layers" => layers::run(),
        "bench" => bench::run(rest),
        "help" | "--help" | "-h" => {
            print!("{USAGE}");
            Ok(())
        }
        unknown => Err(format!("there is no task {unknown:?}\n\n{USAGE}")),
    }
}
