//! Arguments of `stiction fio`: job files, and options as fio takes them.

use std::ffi::OsString;

use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  stiction fio lint jobs.fio        What will really happen: bytes, time,
                                    overlap, depth, cached or not
  stiction fio lint jobs.fio --section=reads --bs=64k
                                    One job of the file, with another block size
  stiction fio convert jobs.fio > jobs.toml
                                    The same jobs, every default spelt out

Options of jobs are fio's: --rw=randread --bs=4k. They beat the file, those
after --name=NAME make a job, and an option that fio has not is an error. The
exit status is 2 where a file has errors, or jobs that will fail as they stand.";

/// Read job files of fio: what they will do, and what they mean
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FioArguments {
    #[command(subcommand)]
    pub(crate) command: FioCommand,
}

/// What to do with a job file.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum FioCommand {
    /// Say what jobs will really do, before they do it; nothing is run
    Lint(FioWords),
    /// Write jobs as TOML, in words that say what they do
    Convert(FioWords),
}

/// A job file and options in fio's spelling.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct FioWords {
    /// The job file, `-` for stdin, and fio's options
    #[arg(
        value_name = "FILE|--OPTION=VALUE",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) words: Vec<String>,
}

/// Options of every command that may stand among fio's, and whether a value follows.
const OURS: [(&str, bool); 5] = [
    ("--json", false),
    ("--color", true),
    ("--store", true),
    ("--help", false),
    ("-h", false),
];

/// Puts our own options before the words that are fio's, so that they may stand
/// anywhere, as in every other command. fio has none of these names for a job.
pub(crate) fn ours_first(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_ours =
        |pair: &[OsString]| pair[0] == "fio" && (pair[1] == "lint" || pair[1] == "convert");
    let Some(fio) = arguments.windows(2).position(is_ours) else {
        return arguments;
    };
    let mut words = arguments.into_iter();
    let mut ours: Vec<OsString> = words.by_ref().take(fio + 2).collect();
    let mut rest = Vec::new();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        let name = text.split('=').next().unwrap_or("");
        match OURS.iter().find(|(ours, _)| *ours == name) {
            Some((_, takes_value)) => {
                let value_follows = *takes_value && !text.contains('=');
                ours.push(word);
                ours.extend(value_follows.then(|| words.next()).flatten());
            }
            None => rest.push(word),
        }
    }
    ours.extend(rest);
    ours
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn our_options_may_stand_among_fios() {
        assert_eq!(
            ours_first(words(
                "stiction fio lint a.fio --bs 4k --store dir --rw=read --json"
            )),
            words("stiction fio lint --store dir --json a.fio --bs 4k --rw=read")
        );
        assert_eq!(
            ours_first(words("stiction fio convert a.fio --color=never")),
            words("stiction fio convert --color=never a.fio")
        );
        assert_eq!(
            ours_first(words("stiction --store dir fio lint a.fio --json")),
            words("stiction --store dir fio lint --json a.fio")
        );
        let others = words("stiction show k3f9 --json");
        assert_eq!(ours_first(others.clone()), others);
    }
}
