//! Arguments of `stiction new`.

use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  stiction new lab                  Write lab.toml, with comments
  stiction new lab disks.toml       The same under another name
  stiction plan lab.toml            What it would do
  stiction run lab.toml             Do it

A file that is there is never overwritten.";

/// Write files to begin with
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct NewArguments {
    #[command(subcommand)]
    pub(crate) what: NewCommand,
}

/// What to write.
#[derive(Clone, Debug, clap::Subcommand)]
pub(crate) enum NewCommand {
    /// A commented specification for `stiction run`
    Lab {
        /// Where
        #[arg(value_name = "FILE", default_value = "lab.toml")]
        file: PathBuf,
    },
}
