//! Arguments about what is done before trials.

use clap::ValueEnum;

/// How files stand in the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheWord {
    /// Written back and dropped
    Cold,
    /// Read in whole
    Warm,
    /// As whatever came before left them
    AsIs,
}

/// What is done about what would spoil a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpoilersWord {
    /// Run the trial, with a caveat
    Warn,
    /// Wait for it to pass
    Wait,
    /// Skip the trial
    Refuse,
    /// Do not look
    Ignore,
}

/// What is done before trials, so that their numbers are about what they say.
#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Preparation")]
pub(crate) struct PreparationArguments {
    /// Write SIZE of the target in order, then at random places until the rate is
    /// steady [default: all of a device, 1GiB in a directory]
    #[arg(long, value_name = "SIZE", num_args = 0..=1, require_equals = true)]
    pub(crate) precondition: Option<Option<String>>,
    /// Take no longer than TIME for that, steady or not [default: 10m]
    #[arg(long, value_name = "TIME")]
    pub(crate) precondition_max: Option<String>,
    /// Overwrite no more than SIZE for that [default: 16 times the range]
    #[arg(long, value_name = "SIZE")]
    pub(crate) precondition_max_bytes: Option<String>,
    /// Give unused blocks back first (discard): of a granted device or scratch space
    #[arg(long)]
    pub(crate) purge: bool,
    /// How files stand in the page cache before each measured phase [default: as-is]
    #[arg(long, value_enum, value_name = "STATE")]
    pub(crate) cache: Option<CacheWord>,
    /// Wait until the device is idle, for TIME at most [default: 30s]
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true)]
    pub(crate) settle: Option<Option<String>>,
    /// Other I/O, scrubs, timers, load, heat...: what to do about them [default: warn]
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        env = "STICTION_SPOILERS",
        hide_env_values = true
    )]
    pub(crate) spoilers: Option<SpoilersWord>,
    /// Run the same short thing first, after every COUNT blocks and last: did the
    /// machine change? [default: 4]
    #[arg(long, value_name = "COUNT", num_args = 0..=1, require_equals = true)]
    pub(crate) canary: Option<Option<u32>>,
}

impl PreparationArguments {
    /// These, and where one is not given what `other` says.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let own = self.clone();
        let other = other.clone();
        Self {
            precondition: own.precondition.or(other.precondition),
            precondition_max: own.precondition_max.or(other.precondition_max),
            precondition_max_bytes: own.precondition_max_bytes.or(other.precondition_max_bytes),
            purge: own.purge || other.purge,
            cache: own.cache.or(other.cache),
            settle: own.settle.or(other.settle),
            spoilers: own.spoilers.or(other.spoilers),
            canary: own.canary.or(other.canary),
        }
    }
}
