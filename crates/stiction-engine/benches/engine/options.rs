//! What the benchmark is asked for.

use crate::rows::ROWS;
use crate::start;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask bench engine [options]

  --rounds N      rounds, in each of which everything runs once (default 11)
  --seconds S     time of each run in a round (default 0.4)
  --rows A,B,...  only these rows (--list names them)
  --cpu N         the CPU on which everything runs (default 1, or 0 if there is one)
  --json          figures as JSON
  --list          the rows and what they are
";

/// What the benchmark does.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) rounds: usize,
    pub(crate) seconds: f64,
    /// Names of rows; empty for all.
    pub(crate) rows: Vec<String>,
    pub(crate) cpu: usize,
    pub(crate) json: bool,
}

impl Options {
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let several = std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1);
        let mut options = Self {
            rounds: 11,
            seconds: 0.4,
            rows: Vec::new(),
            cpu: usize::from(several),
            json: false,
        };
        // Cargo adds one of its own.
        let mut arguments = arguments.filter(|argument| argument != "--bench");
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or(format!("{argument}: a value is missing"))
            };
            match argument.as_str() {
                "--rounds" => options.rounds = number(&value()?)?,
                "--seconds" => options.seconds = number(&value()?)?,
                "--cpu" => options.cpu = number(&value()?)?,
                "--rows" => options.rows = value()?.split(',').map(str::to_owned).collect(),
                "--json" => options.json = true,
                other => return Err(format!("there is no option {other}\n\n{USAGE}")),
            }
        }
        if options.rounds == 0 || !(0.05..=60.0).contains(&options.seconds) {
            return Err("1 or more rounds, and 0.05 to 60 seconds, are possible".to_owned());
        }
        let known =
            |row: &&String| **row == start::NAME || ROWS.iter().any(|own| own.name == **row);
        match options.rows.iter().find(|row| !known(row)) {
            Some(unknown) => Err(format!("there is no row {unknown}; --list names them")),
            None => Ok(options),
        }
    }

    /// Whether the row called `name` is wanted.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|row| row == name)
    }
}

fn number<N: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<N, String> {
    text.parse().map_err(|error| format!("{text}: {error}"))
}
