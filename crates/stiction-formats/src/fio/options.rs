//! Every option that job files use, and what stiction makes of it.

mod table;

pub use table::all;

/// One option of fio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FioOption {
    /// The name that fio's manual uses.
    pub name: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
    /// What its value looks like.
    pub kind: Kind,
    /// What becomes of it.
    pub status: Status,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Anything; read further where it is used.
    Text,
    /// Nothing, 0 or 1: the name alone sets it.
    Flag,
    /// 0 or 1, always written.
    Bool,
    /// A whole number between the two.
    Integer(i64, i64),
    /// One to three whole numbers between the two, for reads, writes, trims.
    Integers(i64, i64),
    /// A size of at least so many bytes.
    Size(u64),
    /// A size, or percent of the target.
    Amount,
    /// One to three sizes of at least so many bytes, for reads, writes, trims.
    Sizes(u64),
    /// One size or a range of two.
    SizeRange,
    /// One to three ranges of sizes, for reads, writes, trims.
    SizeRanges,
    /// A time; a bare number counts so many ns.
    Time(u64),
    /// One time or a range of two; a bare number counts so many ns.
    TimeRange(u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// Decimal numbers between `:`, each from 0 to 100.
    Percentages,
}

/// What becomes of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It decides something of this feature.
    Meant(Feature),
    /// It is read and changes nothing, because of this.
    Accepted(&'static str),
    /// It is refused, because of this.
    Refused(&'static str),
}

/// The features that job files ask for, by what breaks without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Order and direction of the I/O, and the mix.
    Pattern,
    /// Names, clones, CPUs, priorities.
    Jobs,
    /// Sizes of blocks.
    BlockSize,
    /// How I/O is submitted.
    Engine,
    /// Direct, synchronous, and the engine's switches.
    Flags,
    /// Operations in flight, and batches.
    Depth,
    /// Region and amount.
    Extent,
    /// Files and devices.
    Targets,
    /// Time and warm-up.
    Duration,
    /// What is reported together, and percentiles.
    Report,
    /// Order of the jobs, and what ends them.
    Phases,
    /// Seeds, and whether blocks repeat.
    Coverage,
    /// Checking of what was written.
    Verify,
    /// The page cache.
    Cache,
    /// How files come to be.
    Layout,
    /// What is written.
    Payload,
    /// Syncs.
    Durability,
    /// Logs over time.
    Series,
    /// Rates.
    Rate,
    /// Skewed offsets.
    Distribution,
    /// What happens after an error.
    Errors,
    /// Steady state.
    SteadyState,
    /// What `k` means.
    Units,
    /// Latency limits.
    LatencyLimit,
    /// Pauses.
    ThinkTime,
    /// Traces.
    Replay,
}

/// The option of a name or alias.
#[must_use]
pub fn find(name: &str) -> Option<&'static FioOption> {
    all().find(|option| option.name == name || option.aliases.contains(&name))
}

/// The name or alias nearest to `name`, if it is near: a third of its letters at most
/// differ.
#[must_use]
pub fn nearest(name: &str) -> Option<&'static str> {
    // Longer than any option: nothing is near, and comparing would only cost time.
    if name.len() > 64 {
        return None;
    }
    let all = all();
    let names =
        all.flat_map(|option| std::iter::once(option.name).chain(option.aliases.iter().copied()));
    crate::nearest::nearest(name, names)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_name_stands_once() {
        let mut seen = BTreeSet::new();
        for option in all() {
            for name in std::iter::once(&option.name).chain(option.aliases) {
                assert!(seen.insert(*name), "{name} twice");
            }
        }
    }

    #[test]
    fn reasons_are_phrases() {
        for option in all() {
            if let Status::Accepted(reason) | Status::Refused(reason) = option.status {
                assert!(
                    reason.len() > 10 && !reason.ends_with('.'),
                    "{}",
                    option.name
                );
            }
        }
    }

    #[test]
    fn slips_find_their_name() {
        assert_eq!(nearest("iodeph"), Some("iodepth"));
        assert_eq!(nearest("IODEPTH"), Some("iodepth"));
        assert_eq!(nearest("time-based"), Some("time_based"));
        assert_eq!(nearest("block_size"), Some("blocksize"));
        assert_eq!(nearest("qwertzuiop"), None);
    }

    #[test]
    fn distance_is_levenshteins() {}
}
