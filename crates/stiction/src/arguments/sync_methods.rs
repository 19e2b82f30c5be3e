//! Arguments of `stiction sync-methods`.

use std::path::PathBuf;

use super::Recording;

const EXAMPLES: &str = "\
Examples:
  stiction sync-methods /mnt/data   By every call (1 min)
  stiction sync-methods --quick .   The same in a few seconds
  stiction sync-methods --classic .
                                    What pg_test_fsync does, in its layout

The first blocks of a file of 16 MiB are written over again and again, each time
made durable: by a call after the writes, by the flags that the file was opened
with, or by those of the write itself. Two calls are compared with the file
closed and opened in between, to see whether a sync reaches what was written by
another descriptor. If durable writes are as fast as `unsynced` ones, nothing
was made durable.";

/// What a durable write costs by each call that makes one
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SyncMethodsArguments {
    /// Directory to make the file in
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,
    /// Time of each test [default: 2, 5 with --classic]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) seconds: Option<String>,
    /// Repetitions [default: 1]
    #[arg(long, value_name = "COUNT")]
    pub(crate) runs: Option<u32>,
    /// A tenth of a second each: to see how it goes
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run the tests of pg_test_fsync, and print them as it does
    #[arg(long)]
    pub(crate) classic: bool,
    #[command(flatten)]
    pub(crate) recording: Recording,
}
