//! Arguments of `stiction baseline`.

use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  stiction baseline set 6.9 k3f9 m2p7
                                    Two sessions are the baseline `6.9`
  stiction baseline list
  stiction compare --baseline 6.9 tonight";

/// Name sessions to compare others with
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BaselineArguments {
    #[command(subcommand)]
    pub(crate) command: BaselineCommand,
}

/// What to do with baselines.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Call sessions NAME, in place of those that were called so
    Set {
        /// What to call them
        #[arg(value_name = "NAME")]
        name: String,
        /// Ids, or beginnings or last four characters of them, or labels
        #[arg(value_name = "SESSION", required = true)]
        sessions: Vec<String>,
    },
    /// List the baselines
    List,
    /// Forget a baseline; its sessions stay
    Remove {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
    },
}
