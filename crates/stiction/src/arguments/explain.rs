//! Arguments of `stiction explain`.

use std::ffi::OsString;

use super::sides::{NAMING, SidesArguments};

const EXAMPLES: &str = "\
Examples:
  stiction explain k3f9             Where the time of a session went; of `run`
                                    or `ab`: how its configurations differ
  stiction explain k3f9 m2p7        How the second differs from the first
  stiction explain k3f9 ext3 xfs    Two configurations of a session with more
  stiction explain k3f9 a b --taken-back c
                                    Whether the effect went where the change was
                                    taken back

";

/// What moved together with a difference, and the run that would prove it
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = format!("{EXAMPLES}{NAMING}"))]
pub(crate) struct ExplainArguments {
    #[command(flatten)]
    pub(crate) sides: SidesArguments,
    /// A third side, on which what makes B of A was taken back: a session, or a
    /// configuration of the one session given
    #[arg(long, value_name = "WHAT")]
    pub(crate) taken_back: Option<OsString>,
    /// Show every phase, counter and difference, not the first few
    #[arg(long)]
    pub(crate) all: bool,
}
