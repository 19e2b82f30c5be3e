//! Arguments of `stiction compare`.

use super::shown::ShownArguments;
use super::sides::{NAMING, SidesArguments};

const EXAMPLES: &str = "\
Examples:
  stiction compare k3f9 m2p7        Two sessions
  stiction compare before after later
                                    Labels: two candidates against `before`
  stiction compare k3f9             The configurations of `run` or `ab`
  stiction compare k3f9 2.5.59 2.5.59-mm2
                                    Two kernels, or other labels, in one session
  stiction compare k3f9/2.5.59 m2p7/2.6.0
                                    One label of each of two sessions
  stiction compare 'nightly-*' --col kernel --row threads
                                    A side of each kernel, a row of each count
  stiction compare --baseline 6.9 tonight
  stiction compare mail.txt 2.5.59 2.5.59-mm2
                                    A file of tables, without storing it
  stiction compare before after --layout mail
                                    A report for a mailing list

";

/// Hold sessions, labels or factors against a baseline: worse, better, the same?
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}{NAMING}"))]
pub(crate) struct CompareArguments {
    #[command(flatten)]
    pub(crate) sides: SidesArguments,
    /// Keep the share of false claims at 5 %, not the chance of any: to look around
    #[arg(long)]
    pub(crate) browse: bool,
    #[command(flatten)]
    pub(crate) shown: ShownArguments,
}
