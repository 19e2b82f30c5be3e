//! `/proc/diskstats` (`Documentation/admin-guide/iostats.rst`).

use stiction_core::{DeviceTraffic, QueueTraffic};

/// Unit of the sector counts, whatever the device's own blocks are.
const SECTOR_BYTES: u64 = 512;
const NS_PER_MS: u64 = 1_000_000;

/// Counters of one device since it came up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) reads: u64,
    pub(super) sectors_read: u64,
    pub(super) writes: u64,
    pub(super) sectors_written: u64,
    pub(super) busy_ms: Option<u64>,
    pub(super) queue: Option<Queue>,
    /// Since Linux 5.5.
    pub(super) flushes: Option<u64>,
}

/// What partitions have not before Linux 2.6.25.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Queue {
    read_merges: u64,
    read_ms: u64,
    write_merges: u64,
    write_ms: u64,
    queued_ms: u64,
}

/// The counters of the device `name`.
///
/// A line has 14 fields up to Linux 4.17, 18 with discards since 4.18, 20 with
/// flushes since 5.5; partitions had 7 before 2.6.25.
pub(super) fn counters(diskstats: &str, name: &str) -> Option<Counters> {
    diskstats.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        (*fields.get(2)? == name).then(|| of_fields(&fields[3..]))?
    })
}

fn of_fields(fields: &[&str]) -> Option<Counters> {
    let field = |index: usize| fields.get(index)?.parse::<u64>().ok();
    if fields.len() == 4 {
        return Some(Counters {
            reads: field(0)?,
            sectors_read: field(1)?,
            writes: field(2)?,
            sectors_written: field(3)?,
            ..Counters::default()
        });
    }
    Some(Counters {
        reads: field(0)?,
        sectors_read: field(2)?,
        writes: field(4)?,
        sectors_written: field(6)?,
        busy_ms: Some(field(9)?),
        queue: Some(Queue {
            read_merges: field(1)?,
            read_ms: field(3)?,
            write_merges: field(5)?,
            write_ms: field(7)?,
            queued_ms: field(10)?,
        }),
        flushes: field(15),
    })
}

/// What the device moved between two readings; `None` when it was replaced by
/// another in between, so that a counter ran backwards.
pub(super) fn traffic(name: &str, before: &Counters, after: &Counters) -> Option<DeviceTraffic> {
    Some(DeviceTraffic {
        source: format!("/proc/diskstats {name}"),
        device: name.to_owned(),
        reads: grown(before.reads, after.reads)?,
        read_bytes: grown(before.sectors_read, after.sectors_read)?.checked_mul(SECTOR_BYTES)?,
        writes: grown(before.writes, after.writes)?,
        written_bytes: grown(before.sectors_written, after.sectors_written)?
            .checked_mul(SECTOR_BYTES)?,
        flushes: match (before.flushes, after.flushes) {
            (Some(before), Some(after)) => Some(grown(before, after)?),
            _ => None,
        },
        busy_ns: match (before.busy_ms, after.busy_ms) {
            (Some(before), Some(after)) => Some(grown(before, after)?.checked_mul(NS_PER_MS)?),
            _ => None,
        },
        queue: match (before.queue, after.queue) {
            (Some(before), Some(after)) => Some(queued(before, after)?),
            _ => None,
        },
    })
}

fn queued(before: Queue, after: Queue) -> Option<QueueTraffic> {
    let ns = |before, after| grown(before, after)?.checked_mul(NS_PER_MS);
    Some(QueueTraffic {
        read_merges: grown(before.read_merges, after.read_merges)?,
        write_merges: grown(before.write_merges, after.write_merges)?,
        read_ns: ns(before.read_ms, after.read_ms)?,
        write_ns: ns(before.write_ms, after.write_ms)?,
        queued_ns: ns(before.queued_ms, after.queued_ms)?,
    })
}

/// The times are of 32 bits everywhere and wrap after 49 days; on 32-bit kernels
/// all counters do. A device that was replaced starts from near 0 as well: a wrap
/// is believed only from the upper half into the lower.
fn grown(before: u64, after: u64) -> Option<u64> {
    const WRAP: u64 = 1 << 32;
    if after >= before {
        return Some(after - before);
    }
    ((WRAP / 2..WRAP).contains(&before) && after < WRAP / 2).then(|| after + WRAP - before)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of Linux 6.18, 4.19, 3.16 and 2.6.18.
    const LINES: &str = "\
 254       0 vda 5171 1363 407206 3037 11412 9180 1128176 22540 0 6968 27016 1176 0 6114112 99 1301 1340
   8       0 sda 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
   8      16 sdb 100 200 300 400 500 600 700 800 900 1000 1100
   8      17 sdb1 21 22 23 24
   8      18 sdb2 21 x 23 24
   8      19 sdb3 1 2 3
";

    #[test]
    fn every_generation_of_lines_reads() {
        let vda = counters(LINES, "vda").unwrap();
        let expected = Counters {
            reads: 5171,
            sectors_read: 407_206,
            writes: 11412,
            sectors_written: 1_128_176,
            busy_ms: Some(6968),
            queue: Some(Queue {
                read_merges: 1363,
                read_ms: 3037,
                write_merges: 9180,
                write_ms: 22540,
                queued_ms: 27016,
            }),
            flushes: Some(1301),
        };
        assert_eq!(vda, expected);
        let sda = counters(LINES, "sda").unwrap();
        assert_eq!(
            (sda.sectors_written, sda.busy_ms, sda.flushes),
            (7, Some(10), None)
        );
        assert_eq!(counters(LINES, "sdb").unwrap().busy_ms, Some(1000));
        let partition = counters(LINES, "sdb1").unwrap();
        assert_eq!(
            (partition.sectors_read, partition.sectors_written),
            (22, 24)
        );
        assert_eq!(partition.queue, None);
    }

    #[test]
    fn cut_lines_and_absent_devices_give_nothing() {
        assert_eq!(counters(LINES, "sdb2"), None);
        assert_eq!(counters(LINES, "sdb3"), None);
        assert_eq!(counters(LINES, "sd"), None);
        assert_eq!(counters("", "sda"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_line_gives_an_answer(line in "[a-z0-9 \n]{0,80}", name in "[a-z]{1,3}") {
            if let Some(found) = counters(&line, &name) {
                let growth = traffic(&name, &Counters::default(), &found);
                proptest::prop_assert!(growth.is_none_or(|growth| growth.reads == found.reads));
            }
        }
    }

    #[test]
    fn bytes_are_sectors_of_512() {
        let after = Counters {
            sectors_written: 8,
            sectors_read: 2048,
            busy_ms: Some(3),
            ..Counters::default()
        };
        let before = Counters {
            busy_ms: Some(0),
            ..Counters::default()
        };
        let traffic = traffic("x", &before, &after).unwrap();
        assert_eq!(traffic.written_bytes, 4096);
        assert_eq!(traffic.read_bytes, 1 << 20);
        assert_eq!(traffic.busy_ns, Some(3_000_000));
        assert_eq!(traffic.flushes, None);
    }

    #[test]
    fn a_wrapped_counter_grows_and_a_new_device_does_not() {
        assert_eq!(grown(u64::from(u32::MAX), 4), Some(5));
        assert_eq!(grown(1000, 10), None);
        assert_eq!(grown(1 << 40, 10), None);
    }
}
