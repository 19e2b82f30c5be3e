//! Arguments of `stiction run`.

use std::path::PathBuf;

use super::blocks::Blocking;
use super::machine::MachineArguments;
use super::timing::Timing;
use super::{Recording, ShownArguments};

const EXAMPLES: &str = "\
Examples:
  stiction run --command 'sort big.txt' --command 'sort -S 1G big.txt'
                                    Two commands, timed in 10 blocks
  stiction run --command ./bench --metric 'tps[/s,more]=/tps = ([0-9.]+)/'
                                    A figure that the command prints
  stiction new lab                  A commented file to begin with
  stiction plan lab.toml            What it would do
  stiction run lab.toml             Configurations of any measuring command
  stiction run --resume latest      What was cut off, from where it was

Every block holds each command once, in an order that is drawn: what drifts
cannot take sides. Several are compared with the first, with a verdict on each
figure. A number that is missing, or may mean two (12K; 1,234), fails its run.";

pub(super) const PLAN_EXAMPLES: &str = "\
Examples:
  stiction plan lab.toml            What `stiction run lab.toml` would do
  stiction plan lab.toml --blocks 6 --json
                                    With fewer blocks, for a script
  stiction plan --command ./a --command ./b

Takes what `run` takes, looks at the machine, and changes nothing. Times are
those that are set, or that the same trials took in an earlier session; what
only the run can tell is a question mark.";

/// Time commands, or run configurations of a file, in blocks, and compare them
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArguments {
    /// File that says what to run (TOML; --example prints one)
    #[arg(
        value_name = "SPEC",
        required_unless_present_any = ["commands", "example", "resume"],
        conflicts_with = "commands"
    )]
    pub(crate) spec: Option<PathBuf>,
    /// Go on with a session that was cut off or interrupted, of any measuring command:
    /// what had finished stands, the rest follows as planned
    #[arg(
        long,
        value_name = "SESSION",
        conflicts_with_all = [
            "spec", "commands", "example", "blocks", "until_precise", "looks", "budget",
            "dry_run", "label", "seed"
        ]
    )]
    pub(crate) resume: Option<String>,
    /// Time this command; repeat to compare others with the first
    #[arg(long = "command", value_name = "COMMAND")]
    pub(crate) commands: Vec<String>,
    /// Name of a command, in their order [default: A, B, C...]
    #[arg(long = "name", value_name = "NAME", requires = "commands")]
    pub(crate) names: Vec<String>,
    /// Carry this out before each run, untimed, by a shell; once, or once for each
    /// command
    #[arg(long, value_name = "COMMAND", requires = "commands")]
    pub(crate) prepare: Vec<String>,
    /// Carry this out after each run, however it ended; once, or once for each command
    #[arg(long, value_name = "COMMAND", requires = "commands")]
    pub(crate) conclude: Vec<String>,
    /// Print a commented SPEC, as `new lab` writes it, and stop
    #[arg(long)]
    pub(crate) example: bool,
    #[command(flatten)]
    pub(crate) timing: Timing,
    #[command(flatten)]
    pub(crate) blocking: Blocking,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    #[command(flatten)]
    pub(crate) shown: ShownArguments,
    #[command(flatten)]
    pub(crate) recording: Recording,
}
