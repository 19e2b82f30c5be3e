//! Arguments about blocks: how many, in which order, and what ends them.

use clap::ValueEnum;

/// The order inside a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderWord {
    /// Drawn anew for each block
    #[default]
    Random,
    /// Drawn for every other block and turned round in the next: ABBA or BAAB
    Abba,
}

/// Arguments of what is run in blocks.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Blocks")]
pub(crate) struct Blocking {
    /// Blocks: one run of everything in each [default: 10; at most that many where
    /// something else ends it: 30]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) blocks: Option<u32>,
    /// Stop when every rate and time is known to within PERCENT, after 6 blocks at
    /// least [default: half the smallest effect of interest]
    #[arg(
        long,
        value_name = "PERCENT",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with = "looks"
    )]
    pub(crate) until_precise: Option<Option<f64>>,
    /// Look after 8, 12, 16, 24 and 32 blocks, and stop when all is decided
    #[arg(long, conflicts_with = "blocks")]
    pub(crate) looks: bool,
    /// Begin no block that would not end in this time (20m)
    #[arg(long, value_name = "TIME")]
    pub(crate) budget: Option<String>,
    /// The order inside each block
    #[arg(long, value_enum, value_name = "ORDER", default_value = "random")]
    pub(crate) order: OrderWord,
    /// Say what would be done, as `plan` does, and stop
    #[arg(long, visible_alias = "dump")]
    pub(crate) dry_run: bool,
}
