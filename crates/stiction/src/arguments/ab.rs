//! Arguments of `stiction ab`.

use super::blocks::Blocking;
use super::machine::MachineArguments;
use super::timing::Timing;
use super::{Recording, ShownArguments};

const EXAMPLES: &str = "\
Examples:
  stiction ab -- sort big.txt --- sort -S 1G big.txt
                                    Two commands
  stiction ab --a /mnt/ext2 --b /mnt/ext4 metadata --quick
                                    One benchmark in two directories
  stiction ab --a '--block 4K' --b '--block 64K' tiobench --size 1G --dir /mnt
  stiction ab --a-set scheduler=mq-deadline --b-set scheduler=none \\
              tiobench --size 256M --dir /mnt
                                    On a loop device over a file in /mnt
  stiction ab --scratch /dev/sdx=S4EWNX0R --a-set filesystem=ext4 \\
              --b-set filesystem=xfs tiobench --size 4G --dir /mnt
                                    On a disk, which is destroyed
  stiction ab --a-prepare 'echo mq-deadline > /sys/block/vda/queue/scheduler' \\
              --b-prepare 'echo none > /sys/block/vda/queue/scheduler' \\
              tiobench --size 1G --dir /mnt

Options of ab stand before the benchmark; what follows it is what A and B have
in common. A is the baseline: a change is B relative to A.";

/// Run two things in blocks, one of each in an order that is drawn, and compare them
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES, override_usage = "\
stiction ab [OPTIONS] [--a ARGS] [--b ARGS] BENCHMARK [ARGS]...
       stiction ab [OPTIONS] -- COMMAND-A --- COMMAND-B")]
pub(crate) struct AbArguments {
    /// Arguments of the benchmark that are A's alone, in one word
    #[arg(
        long,
        value_name = "ARGS",
        allow_hyphen_values = true,
        default_value = ""
    )]
    pub(crate) a: String,
    /// Arguments of the benchmark that are B's alone, in one word
    #[arg(
        long,
        value_name = "ARGS",
        allow_hyphen_values = true,
        default_value = ""
    )]
    pub(crate) b: String,
    /// Names of A and of B [default: A and B]
    #[arg(long = "name", value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Carry this out before each run of A, untimed, by a shell
    #[arg(long, value_name = "COMMAND", help_heading = "Around each run")]
    pub(crate) a_prepare: Option<String>,
    /// Carry this out before each run of B
    #[arg(long, value_name = "COMMAND", help_heading = "Around each run")]
    pub(crate) b_prepare: Option<String>,
    /// Carry this out after each run of A, however it ended
    #[arg(long, value_name = "COMMAND", help_heading = "Around each run")]
    pub(crate) a_conclude: Option<String>,
    /// Carry this out after each run of B
    #[arg(long, value_name = "COMMAND", help_heading = "Around each run")]
    pub(crate) b_conclude: Option<String>,
    #[command(flatten)]
    pub(crate) timing: Timing,
    #[command(flatten)]
    pub(crate) blocking: Blocking,
    #[command(flatten)]
    pub(crate) machine: MachineArguments,
    /// Set this on the machine for A: scheduler=none, filesystem=xfs, memory=256MiB...
    #[arg(
        long,
        value_name = "FACTOR=LEVEL",
        help_heading = "Settings of the machine"
    )]
    pub(crate) a_set: Vec<String>,
    /// Set this on the machine for B
    #[arg(
        long,
        value_name = "FACTOR=LEVEL",
        help_heading = "Settings of the machine"
    )]
    pub(crate) b_set: Vec<String>,
    /// Set this on the machine for both
    #[arg(
        long,
        value_name = "FACTOR=LEVEL",
        help_heading = "Settings of the machine"
    )]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) shown: ShownArguments,
    #[command(flatten)]
    pub(crate) recording: Recording,
    /// The benchmark, and the arguments that A and B have in common; or two commands
    /// with `---` between them
    #[arg(
        value_name = "WORDS",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true
    )]
    pub(crate) words: Vec<String>,
}
