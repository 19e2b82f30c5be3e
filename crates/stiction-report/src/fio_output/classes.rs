//! How latencies and depths spread over fio's coarse classes.

use stiction_core::Depths;

use super::entry::Entry;
use super::spread::middles;

/// Upper ends of fio's classes in each unit; a latency belongs to the first that it is
/// below. The last of the milliseconds has no end.
const ENDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
const NS_PER_US: f64 = 1e3;
const NS_PER_MS: f64 = 1e6;

/// Shares of all operations by class of latency, percent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Classes {
    /// Below 1 us.
    pub(super) ns: Vec<(String, f64)>,
    /// From 1 us to below 1 ms.
    pub(super) us: Vec<(String, f64)>,
    /// From 1 ms on.
    pub(super) ms: Vec<(String, f64)>,
}

impl Classes {
    /// Of reads, writes and trims together.
    pub(super) fn of(entry: &Entry) -> Self {
        let (mut ns, mut us, mut ms) = ([0; 10], [0; 10], [0; 12]);
        for way in &entry.ways {
            for (latency_ns, count) in middles(&way.latencies) {
                if latency_ns < NS_PER_US {
                    ns[class_of(latency_ns)] += count;
                } else if latency_ns < NS_PER_MS {
                    us[class_of(latency_ns / NS_PER_US)] += count;
                } else {
                    ms[class_of(latency_ns / NS_PER_MS)] += count;
                }
            }
        }
        let total = entry.operations();
        Self {
            ns: named(&ns, total),
            us: named(&us, total),
            ms: named(&ms, total),
        }
    }
}

/// Shares of how deep queues were, percent, by the names that fio gives the classes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct DepthShares {
    /// Of operations, by how many were in flight.
    pub(super) in_flight: Vec<(String, f64)>,
    /// Of rounds, by how many operations they handed over.
    pub(super) handed_over: Vec<(String, f64)>,
    /// Of rounds, by how many complete operations they found.
    pub(super) taken_back: Vec<(String, f64)>,
}

impl DepthShares {
    pub(super) fn of(depths: &Depths) -> Self {
        const IN_FLIGHT: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
        const BATCH: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];
        let shares = |names: [&str; 7], counts: &[u64]| {
            let total: u64 = counts.iter().sum();
            // As in fio, what is there at all is at least 0.1.
            let percent = |&count: &u64| match count {
                0 => 0.0,
                count => (100.0 * count as f64 / total as f64).max(0.1),
            };
            let names = names.into_iter().map(str::to_owned);
            names.zip(counts.iter().map(percent)).collect()
        };
        Self {
            in_flight: shares(IN_FLIGHT, &depths.in_flight),
            handed_over: shares(BATCH, &depths.handed_over),
            taken_back: shares(BATCH, &depths.taken_back),
        }
    }
}

/// The place of `value` among the classes of its unit.
fn class_of(value: f64) -> usize {
    let beyond = 10 + usize::from(value >= 2000.0);
    ENDS.iter()
        .position(|&end| value < end as f64)
        .unwrap_or(beyond)
}

/// The classes by the names that fio gives them, in percent of `total`. As in fio, what
/// is there at all is at least 0.01.
fn named(counts: &[u64], total: u64) -> Vec<(String, f64)> {
    let ends = ENDS.iter().map(u64::to_string);
    let names = ends.chain(["2000".to_owned(), ">=2000".to_owned()]);
    let percent = |&count: &u64| match count {
        0 => 0.0,
        count => (100.0 * count as f64 / total as f64).max(0.01),
    };
    names.zip(counts.iter().map(percent)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `case` labels of `io_u_mark_lat_nsec`, `_usec` and `_msec` in fio 3.33's
    /// `io_u.c`.
    #[test]
    fn classes_end_where_fios_do() {
        for (value, name) in [
            (0.0, "2"),
            (1.9, "2"),
            (2.0, "4"),
            (3.9, "4"),
            (9.9, "10"),
            (10.0, "20"),
            (499.9, "500"),
            (750.0, "1000"),
            (999.9, "1000"),
            (1000.0, "2000"),
            (1999.9, "2000"),
            (2000.0, ">=2000"),
        ] {
            let mut counts = [0; 12];
            counts[class_of(value)] = 1;
            let classes = named(&counts, 1);
            let found = classes.iter().find(|class| class.1 > 0.0);
            assert_eq!(found.unwrap().0, name, "{value}");
        }
    }

    #[test]
    fn what_is_there_is_not_printed_as_nothing() {
        let classes = named(&[1, 99_999], 100_000);
        assert_eq!((classes[0].1, classes[1].1), (0.01, 99.999));
    }
}
