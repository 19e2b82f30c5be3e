//! Arguments of `stiction fio`: job files, and options as fio takes them.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Subcommand;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction fio jobs.fio             Run it; files lie here and are removed
  stiction fio --name=r --rw=randread --size=1G --runtime=10 --time_based
                                    Without a file, as on fio's command line
  stiction fio jobs.fio --section=reads --bs=64k --dir /mnt/data
                                    One job of the file, with another block size
  stiction fio jobs.fio --output-format=json --output=results.json
                                    For what reads fio's results
  stiction fio lint jobs.fio        What will really happen: bytes, time,
                                    overlap, depth, cached or not
  stiction fio convert jobs.fio > jobs.toml
                                    The same jobs, every default spelt out

Options of jobs are fio's: --rw=randread --bs=4k. They beat the file, those
after --name=NAME make a job, and an option that fio has not is an error. The
exit status is 2 where a file has errors, or jobs that will fail as they stand.";

const RUN_EXAMPLES: &str = "\
Examples:
  stiction fio jobs.fio             Files without a directory= lie here
  stiction fio --dir /mnt jobs.fio  They lie in /mnt
  stiction fio jobs.fio --may-overwrite /data/old.img
                                    The job file names a file that is there
  stiction fio --scratch /dev/sdx=S4EWNX0R device.fio
                                    A whole device, overwritten: see SAFETY.md

Whatever cannot be done as the file asks is refused, with its line, before
anything is written. Files that are made lie in a directory of their own and are
removed. Reads of files and devices that were there are allowed; writes only to
those that you name.";

const LINT_EXAMPLES: &str = "\
Examples:
  stiction fio lint jobs.fio        Every job, and what to think about
  stiction fio lint jobs.fio --section=reads --bs=64k
                                    One job of the file, with another block size
  stiction fio lint --name=r --rw=read --size=1G --ioengine=libaio --iodepth=8
                                    Without a file; says that the depth is 1

In the table: region is what one clone works on; moves, the bytes of all clones,
? where time or the target decides; depth, operations in flight of all clones;
on, what answers. A failure keeps jobs from running (status 2); a doubt is that
figures will not mean what they seem to; a note is good to know.";

const CONVERT_EXAMPLES: &str = "\
Examples:
  stiction fio convert jobs.fio > jobs.toml
                                    Every setting in words, with its unit
  stiction fio convert --name=r --rw=randread --size=1G
                                    What fio's defaults make of these three

fio's defaults that shape the result are comments above each job.";

/// Run job files of fio, say what they will do, or what they mean
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FioArguments {
    #[command(subcommand)]
    pub(crate) command: FioCommand,
}

/// What to do with a job file.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum FioCommand {
    /// Run jobs; `run` may be left out
    Run(Box<FioRunArguments>),
    /// Say what jobs will really do, before they do it; nothing is run
    #[command(after_help = LINT_EXAMPLES)]
    Lint(FioWords),
    /// Write jobs as TOML, in words that say what they do
    #[command(after_help = CONVERT_EXAMPLES)]
    Convert(FioWords),
}

/// Where jobs may work, what is recorded, and the jobs.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = RUN_EXAMPLES)]
pub(crate) struct FioRunArguments {
    /// Directory for files without `directory=`, and what relative paths begin at
    #[arg(
        long = "dir",
        value_name = "DIR",
        default_value = ".",
        help_heading = "Where"
    )]
    pub(crate) directory: PathBuf,
    /// Let jobs overwrite this file, which is there and which they name
    #[arg(long, value_name = "FILE", help_heading = "Where")]
    pub(crate) may_overwrite: Vec<PathBuf>,
    /// Give a block device over to be overwritten, with its serial number
    #[arg(long, value_name = "DEVICE=SERIAL", help_heading = "Where")]
    pub(crate) scratch: Vec<OsString>,
    /// Destroy this signature on the device (ext4, lvm, gpt; as the refusal names it)
    #[arg(
        long,
        value_name = "SIGNATURE",
        help_heading = "Where",
        requires = "scratch"
    )]
    pub(crate) wipe_signature: Option<String>,
    #[command(flatten)]
    pub(crate) recording: Recording,
    #[command(flatten)]
    pub(crate) fio: FioWords,
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

/// Options of ours that may stand among fio's words, and whether a value follows.
const OURS: [(&str, bool); 5] = [
    ("--json", false),
    ("--color", true),
    ("--store", true),
    ("--help", false),
    ("-h", false),
];

/// The same for `run` only.
const OURS_OF_RUN: [(&str, bool); 9] = [
    ("--dir", true),
    ("--may-overwrite", true),
    ("--scratch", true),
    ("--wipe-signature", true),
    ("--label", true),
    ("--seed", true),
    ("--keep-serial-numbers", false),
    ("--keep-host-name", false),
    ("--may-fill", false),
];

/// The first of `words` that is an option of `run` only.
pub(crate) fn option_of_run(words: &[String]) -> Option<&str> {
    let names = words
        .iter()
        .map(|word| word.split('=').next().unwrap_or(""));
    names
        .into_iter()
        .find(|name| OURS_OF_RUN.iter().any(|(ours, _)| ours == name))
}

/// Puts `run` in where `fio`, at `place` among the arguments, is followed by jobs, and
/// our own options before the words that are fio's, so that they may stand anywhere, as
/// in every other command. fio has none of these names for a job.
pub(crate) fn ours_first(mut arguments: Vec<OsString>, place: usize) -> Vec<OsString> {
    if arguments.get(place).is_none_or(|word| word != "fio") || arguments.len() == place + 1 {
        return arguments;
    }
    let first = arguments[place + 1].to_string_lossy().into_owned();
    let is_command = ["run", "lint", "convert"].contains(&first.as_str());
    if !is_command && ["--help", "-h"].contains(&first.as_str()) {
        return arguments;
    }
    if !is_command {
        arguments.insert(place + 1, "run".into());
    }
    let runs = arguments[place + 1] == "run";
    let mut words = arguments.into_iter();
    let mut ours: Vec<OsString> = words.by_ref().take(place + 2).collect();
    let mut rest = Vec::new();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        let name = text.split('=').next().unwrap_or("");
        let of_run = OURS_OF_RUN.iter().filter(|_| runs);
        match OURS.iter().chain(of_run).find(|(ours, _)| *ours == name) {
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
        let moved = |text: &str, place| ours_first(words(text), place);
        assert_eq!(
            moved(
                "stiction fio lint a.fio --bs 4k --store dir --rw=read --json",
                1
            ),
            words("stiction fio lint --store dir --json a.fio --bs 4k --rw=read")
        );
        assert_eq!(
            moved("stiction fio convert a.fio --color=never", 1),
            words("stiction fio convert --color=never a.fio")
        );
        assert_eq!(
            moved("stiction --store dir fio lint a.fio --json", 3),
            words("stiction --store dir fio lint --json a.fio")
        );
        let others = words("stiction show k3f9 --json");
        assert_eq!(ours_first(others.clone(), 1), others);
    }

    #[test]
    fn jobs_alone_mean_that_they_are_run() {
        let moved = |text: &str| ours_first(words(text), 1);
        assert_eq!(
            moved("stiction fio a.fio --bs=4k --dir /mnt --label x"),
            words("stiction fio run --dir /mnt --label x a.fio --bs=4k")
        );
        assert_eq!(
            moved("stiction fio --name=a --rw=read"),
            words("stiction fio run --name=a --rw=read")
        );
        assert_eq!(
            moved("stiction fio lint --dir a.fio"),
            words("stiction fio lint --dir a.fio"),
            "lint has no such option"
        );
        for kept in ["stiction fio", "stiction fio --help", "stiction fio run -h"] {
            assert_eq!(moved(kept), words(kept));
        }
    }
}
