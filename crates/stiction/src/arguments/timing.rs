//! Arguments about commands that are timed.

use std::path::PathBuf;

/// How commands are run, and what is read from them.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[command(next_help_heading = "Commands")]
pub(crate) struct Timing {
    /// Run commands by `sh -c`, for pipes and patterns; else they are started as they are
    #[arg(long)]
    pub(crate) shell: bool,
    /// A figure that the commands print: NAME[UNIT,more|less]=/REGEX/ with one group,
    /// stderr:/REGEX/, json:/POINTER, or file:PATH: before either
    #[arg(long = "metric", value_name = "SOURCE")]
    pub(crate) metrics: Vec<String>,
    /// Untimed runs before each timed one
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    pub(crate) warmup: u32,
    /// Drop the caches of the whole machine before each timed run (root)
    #[arg(long)]
    pub(crate) drop_caches: bool,
    /// Run each in an empty directory of its own, removed afterwards
    #[arg(long)]
    pub(crate) fresh_directory: bool,
    /// Directory to run in; once, or once for each command [default: .]
    #[arg(long = "directory", visible_alias = "dir", value_name = "DIR")]
    pub(crate) directories: Vec<PathBuf>,
    /// An exit code other than 0 is no failure
    #[arg(long)]
    pub(crate) ignore_failure: bool,
    /// Kill a command that takes longer: its run has failed
    #[arg(long, value_name = "TIME")]
    pub(crate) limit: Option<String>,
}
