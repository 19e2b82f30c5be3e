//! Arguments of `stiction compare`.

use std::ffi::OsString;

const EXAMPLES: &str = "\
Examples:
  stiction compare k3f9 m2p7        Two sessions
  stiction compare before after     Two labels
  stiction compare k3f9 2.5.59 2.5.59-mm2
                                    Two kernels, or other labels, in one session
  stiction compare k3f9/2.5.59 m2p7/2.6.0
                                    One label of each of two sessions
  stiction compare mail.txt 2.5.59 2.5.59-mm2
                                    A file of tables, without storing it

A session is named by its id, a beginning of it, its last four characters or its
label. The first side is the baseline: a change is B relative to A.";

/// Put two sessions, or two labels of one, side by side
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArguments {
    /// A and B; or a session or file and two labels inside it
    #[arg(value_name = "WHAT", num_args = 2..=3, required = true)]
    pub(crate) operands: Vec<OsString>,
    /// What the comparison is about, such as kernel: the sides may then differ in
    /// nothing else
    #[arg(long, value_name = "FACTOR")]
    pub(crate) factor: Option<String>,
}
