//! How a comparison is shown.

/// How a comparison is shown.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct ShownArguments {
    /// How the comparison is laid out
    #[arg(
        long,
        value_name = "LAYOUT",
        default_value = "text",
        conflicts_with = "json"
    )]
    pub(crate) layout: ComparisonLayout,
    /// List every figure: those that are the same, and those only described, too
    #[arg(long)]
    pub(crate) all: bool,
    /// Tell where the time of every phase went
    #[arg(long)]
    pub(crate) why: bool,
}

/// The layouts of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ComparisonLayout {
    /// Verdicts first, the worst of them first
    #[default]
    Text,
    /// Plain text of 78 columns with a subject, ready to send
    Mail,
    /// Markdown, each table in a fenced block
    Markdown,
    /// One line for each figure, units in the names
    Csv,
    /// The percent-from-baseline tables of 2003
    Osdl,
    /// XML for CI systems, one test case for each judged figure
    Junit,
}
