//! Arguments of `stiction contest`.

use std::fmt;
use std::path::PathBuf;

use clap::ValueEnum;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction contest /mnt/data        Six loads, three times, in some minutes
  stiction contest --quick .        A small job and small loads, once
  stiction contest --loads none,io --memory 4G --runs 5 /mnt/data
  stiction contest --job compile --tree linux --config tinyconfig /mnt/data
  stiction contest --command 'git -C /mnt/repo status' --loads none,io /mnt/data
  stiction contest --classic --layout contest-0.61 /mnt/data
                                    As contest did it, with its report
  stiction show latest --layout contest-0.34

A job is timed while one load runs beside it: how much does a busy machine slow
down other work, and what is left of the load meanwhile? The job is a built-in
build that does the same work each time. It starts once the load is steady, and
a load that fails fails its run. docs/contest.md says what each load does.";

/// What runs beside the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadWord {
    /// Nothing, and nothing in the page cache
    None,
    /// Nothing, and all in the page cache
    Cacherun,
    /// Processes that hand data on in a ring of pipes
    Process,
    /// A file as large as the memory, written again and again
    #[value(alias = "io-fullmem")]
    Io,
    /// The same with a file half as large
    IoHalfmem,
    /// The same in the directory that --other-dir names
    IoOther,
    /// A file as large as the memory, read again and again
    Read,
    /// A tree that is listed again and again
    List,
    /// 110 % of the memory, touched again and again; needs swap
    Mem,
    /// An archive of a tree, made again and again
    Ctar,
    /// An archive of a tree, unpacked again and again
    Xtar,
    /// Clients that work with small files, as dbench's do
    Dbench,
}

/// The job that is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum JobWord {
    /// A built-in build of many small files, the same work each time
    Buildsim,
    /// The files of that build, read once, from the disk
    Smallreads,
    /// A thousand appends of 4 KiB, each synced
    FsyncAppend,
    /// A copy of --tree, made by make
    Compile,
}

/// What a load writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadDataWord {
    /// Zeros.
    Zeros,
    /// Random bytes.
    Random,
    /// Random bytes with so many percent of zeros.
    Percent(u8),
}

impl fmt::Display for LoadDataWord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zeros => formatter.write_str("zeros"),
            Self::Random => formatter.write_str("random"),
            Self::Percent(percent) => write!(formatter, "{percent}%"),
        }
    }
}

/// `zeros`, `random` or `60%`.
fn load_data(text: &str) -> Result<LoadDataWord, String> {
    match text {
        "zeros" => Ok(LoadDataWord::Zeros),
        "random" => Ok(LoadDataWord::Random),
        _ => text
            .strip_suffix('%')
            .and_then(|number| number.parse().ok())
            .filter(|&percent: &u8| percent <= 100)
            .map(LoadDataWord::Percent)
            .ok_or_else(|| "give zeros, random, or a share from 0% to 100%".to_owned()),
    }
}

/// A report of contest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContestLayout {
    /// The log of contest 0.34
    #[value(name = "contest-0.34")]
    V034,
    /// The tables in which results of contest 0.34 were posted
    #[value(name = "contest-0.34-summary")]
    V034Summary,
    /// The tables of contest 0.5x
    #[value(name = "contest-0.5x")]
    V05,
    /// The tables of contest 0.60 and 0.61
    #[value(name = "contest-0.61")]
    V061,
}

/// Time a job beside loads, as contest did
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ContestArguments {
    /// Directory to work in [default: the current one]
    #[arg(value_name = "DIR", help_heading = "Where")]
    pub(crate) directory: Option<PathBuf>,
    /// Another directory, on another disk, for the load io-other
    #[arg(long, value_name = "DIR", help_heading = "Where")]
    pub(crate) other_dir: Option<PathBuf>,

    /// The job that is timed
    #[arg(
        long,
        value_enum,
        value_name = "JOB",
        default_value = "buildsim",
        help_heading = "What"
    )]
    pub(crate) job: JobWord,
    /// Time this command of yours instead, by `sh -c`
    #[arg(
        long,
        value_name = "COMMAND",
        conflicts_with_all = ["job", "tree"],
        help_heading = "What"
    )]
    pub(crate) command: Option<String>,
    /// The tree to compile; a copy of it is
    #[arg(
        long,
        value_name = "DIR",
        required_if_eq("job", "compile"),
        help_heading = "What"
    )]
    pub(crate) tree: Option<PathBuf>,
    /// How it is configured: a file to be .config, or a goal such as tinyconfig
    #[arg(long, value_name = "CONFIG", requires = "tree", help_heading = "What")]
    pub(crate) config: Option<String>,
    /// What of it is made [default: make's default]
    #[arg(long, value_name = "GOAL", requires = "tree", help_heading = "What")]
    pub(crate) target: Option<String>,
    /// Loads, each in its turn [default: none,cacherun,process,io,read,list]
    #[arg(
        long,
        short = 'l',
        value_enum,
        value_name = "LOAD",
        value_delimiter = ',',
        help_heading = "What"
    )]
    pub(crate) loads: Vec<LoadWord>,
    /// Processes of the job at once [default: 4 for each CPU]
    #[arg(long, short = 'j', value_name = "COUNT", help_heading = "What")]
    pub(crate) jobs: Option<u32>,
    /// Units that the job builds [default: 64 for each CPU]
    #[arg(long, value_name = "COUNT", help_heading = "What")]
    pub(crate) units: Option<u32>,
    /// Rounds of hashing in each unit [default: measured once and kept beside
    /// the sessions]
    #[arg(long, value_name = "COUNT", help_heading = "What")]
    pub(crate) rounds: Option<u64>,
    /// As many processes in each unit as a compiler has, 24 and not 6
    #[arg(long, help_heading = "What")]
    pub(crate) full_fidelity: bool,
    /// Processes of the ring [default: 4 for each CPU]
    #[arg(long, value_name = "COUNT", help_heading = "What")]
    pub(crate) processes: Option<u32>,

    /// Loads are as large as a memory of SIZE, MiB [default: the memory's, or
    /// what fits]
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) memory: Option<String>,
    /// What io loads write: zeros, random, or how much of it compresses, such as
    /// 60% [default: zeros]
    #[arg(long, value_name = "WHAT", value_parser = load_data, help_heading = "How much")]
    pub(crate) load_data: Option<LoadDataWord>,
    /// Loads that move bytes move no more than so many a second
    #[arg(long, value_name = "SIZE", help_heading = "How much")]
    pub(crate) load_rate: Option<String>,
    /// Repetitions [default: 3; 1 with --quick or --classic]
    #[arg(long, value_name = "COUNT", help_heading = "How much")]
    pub(crate) runs: Option<u32>,
    /// A small job and small loads, once: to see how it goes
    #[arg(long, help_heading = "How much")]
    pub(crate) quick: bool,

    /// Start the job with the load and measure no load alone, as contest did
    #[arg(long, help_heading = "Being the old program")]
    pub(crate) classic: bool,
    /// Print a report of contest instead [default with --classic: contest-0.61]
    #[arg(
        long,
        value_enum,
        value_name = "LAYOUT",
        help_heading = "Being the old program"
    )]
    pub(crate) layout: Option<ContestLayout>,

    #[command(flatten)]
    pub(crate) recording: Recording,
}
