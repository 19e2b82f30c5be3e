//! Arguments of `stiction calibrate`.

use super::Recording;
use super::blocks::Blocking;

const EXAMPLES: &str = "\
Examples:
  stiction calibrate tiobench --size 1G --dir /mnt
  stiction calibrate --blocks 20 metadata --quick /mnt

The benchmark runs twice in each block, against itself: how far the two lie
apart is the noise of this machine, device and benchmark. Comparisons of the
same benchmark use it to say which changes they could see.";

/// Run a benchmark against itself, to learn how far equal things lie apart here
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CalibrateArguments {
    #[command(flatten)]
    pub(crate) blocking: Blocking,
    #[command(flatten)]
    pub(crate) recording: Recording,
    /// The benchmark and its arguments
    #[arg(
        value_name = "BENCHMARK",
        trailing_var_arg = true,
        allow_hyphen_values = true,
        required = true
    )]
    pub(crate) benchmark: Vec<String>,
}
