//! All workers' series together, in the form that is stored.

use stiction_core::{Direction, Histogram, Interval, Recording};

use super::packed::Series;

/// Most intervals in a recording; a job that asks for more gets longer ones.
const INTERVALS_MAX: u64 = 4096;

/// What [`merge`] makes.
#[derive(Debug)]
pub(crate) struct Merged {
    pub(crate) recordings: Vec<Recording>,
    /// Length of the recordings' intervals, ns: a multiple of what was asked for.
    pub(crate) interval_ns: u64,
}

/// Merges the series of all workers into one recording for each direction.
///
/// `elapsed_ns` is where the last interval ends.
pub(crate) fn merge(series: &[&Series], asked_interval_ns: u64, elapsed_ns: u64) -> Merged {
    let scale = Scale::of(series, asked_interval_ns, elapsed_ns);
    let mut recordings = Vec::new();
    for direction in Direction::ALL {
        let of_direction = series.iter().filter(|one| one.direction == direction);
        if of_direction.clone().all(|one| one.packed.is_empty()) {
            continue;
        }
        let mut intervals = scale.empty_intervals();
        for one in of_direction {
            for packed in one.intervals() {
                let interval = &mut intervals[scale.index(packed.index, one.shift)];
                interval.bytes += packed.exact.bytes;
                packed.add_to(&mut interval.latencies);
            }
        }
        recordings.push(Recording {
            direction,
            intervals,
        });
    }
    Merged {
        recordings,
        interval_ns: scale.interval_ns,
    }
}

/// The common interval of all series.
struct Scale {
    /// Each interval stands for 2 to the power of this many of the job's.
    shift: u32,
    interval_ns: u64,
    elapsed_ns: u64,
}

impl Scale {
    fn of(series: &[&Series], asked_interval_ns: u64, elapsed_ns: u64) -> Self {
        let longest = series.iter().map(|one| one.shift).max().unwrap_or(0);
        let too_many =
            |shift: u32| elapsed_ns / lengthened(asked_interval_ns, shift) >= INTERVALS_MAX;
        let shift = (longest..u64::BITS - 1)
            .find(|&shift| !too_many(shift))
            .unwrap_or(u64::BITS - 1);
        Self {
            shift,
            interval_ns: lengthened(asked_interval_ns, shift),
            elapsed_ns,
        }
    }

    fn count(&self) -> u64 {
        self.elapsed_ns.div_ceil(self.interval_ns).max(1)
    }

    /// Where interval `index` of a series with `shift` goes. An operation that ends
    /// at the very end of the job belongs to the last interval.
    fn index(&self, index: u64, shift: u32) -> usize {
        (index >> (self.shift - shift)).min(self.count() - 1) as usize
    }

    fn empty_intervals(&self) -> Vec<Interval> {
        let interval = |index| {
            let start_ns = index * self.interval_ns;
            Interval {
                start_ns,
                length_ns: self.interval_ns.min(self.elapsed_ns - start_ns),
                bytes: 0,
                latencies: Histogram::new(),
            }
        };
        (0..self.count()).map(interval).collect()
    }
}

fn lengthened(interval_ns: u64, shift: u32) -> u64 {
    interval_ns.saturating_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::super::Track;
    use super::*;

    fn series(direction: Direction, intervals: &[(u64, &[u64])]) -> Series {
        let bytes = if direction == Direction::Sync {
            0
        } else {
            4096
        };
        let mut track = Track::new(direction, 1 << 16).unwrap();
        let mut current = 0;
        for (index, latencies) in intervals {
            track.cut(current, *index);
            current = *index;
            latencies
                .iter()
                .for_each(|&latency_ns| track.record(latency_ns, bytes));
        }
        track.finish(current)
    }

    #[test]
    fn workers_are_added_up_and_gaps_are_intervals_too() {
        let first = series(Direction::Write, &[(0, &[10, 20]), (3, &[30])]);
        let second = series(Direction::Write, &[(0, &[40])]);
        let sync = series(Direction::Sync, &[(3, &[500])]);
        let merged = merge(&[&first, &second, &sync], 100, 350);
        assert_eq!(merged.interval_ns, 100);
        assert_eq!(merged.recordings.len(), 2);

        let write = &merged.recordings[0];
        assert_eq!(write.direction, Direction::Write);
        let shape = |interval: &Interval| {
            let count = interval.latencies.count();
            (interval.start_ns, interval.length_ns, interval.bytes, count)
        };
        assert_eq!(
            write.intervals.iter().map(shape).collect::<Vec<_>>(),
            [
                (0, 100, 3 * 4096, 3),
                (100, 100, 0, 0),
                (200, 100, 0, 0),
                (300, 50, 4096, 1)
            ]
        );
        assert_eq!(write.total().sum_ns(), 100);

        let sync = &merged.recordings[1];
        assert_eq!((sync.operations(), sync.bytes()), (1, 0));
    }

    #[test]
    fn the_longest_intervals_set_the_measure() {
        let fine = series(
            Direction::Read,
            &[(0, &[1]), (1, &[2]), (2, &[3]), (3, &[4])],
        );
        let coarse = Series {
            shift: 1,
            ..series(Direction::Read, &[(0, &[5]), (1, &[6])])
        };
        let merged = merge(&[&fine, &coarse], 100, 400);
        assert_eq!(merged.interval_ns, 200);
        let counts: Vec<u64> = merged.recordings[0]
            .intervals
            .iter()
            .map(|interval| interval.latencies.count())
            .collect();
        assert_eq!(counts, [3, 3]);
    }

    #[test]
    fn an_hour_in_milliseconds_is_not_kept_by_the_millisecond() {
        let one = series(Direction::Read, &[(0, &[1]), (3_599_999, &[2])]);
        let merged = merge(&[&one], 1_000_000, 3_600_000_000_000);
        // 3,600,000 intervals halved ten times are 3516.
        assert_eq!(merged.interval_ns, 1_024_000_000);
        assert_eq!(merged.recordings[0].intervals.len(), 3516);
        assert_eq!(merged.recordings[0].operations(), 2);
    }

    #[test]
    fn an_operation_at_the_very_end_is_counted() {
        let one = series(Direction::Read, &[(0, &[1]), (3, &[2])]);
        let merged = merge(&[&one], 100, 300);
        assert_eq!(merged.recordings[0].intervals.len(), 3);
        assert_eq!(merged.recordings[0].operations(), 2);
    }
    /// Ten million operations of four workers: every multiple of 100 ns below a second,
    /// once, in an order that mixes them (a factor without a common divisor). Each of the
    /// 50 intervals of each worker has 50,000 of them.
    #[test]
    fn ten_million_operations_are_all_there_and_in_their_places() {
        const ALL: u64 = 10_000_000;
        let latency_ns = |number: u64| number * 7_654_321 % ALL * 100;
        let (mut series, mut whole) = (Vec::new(), Histogram::new());
        for worker in 0..4 {
            let mut track = Track::new(Direction::Read, 1 << 23).unwrap();
            for interval in 0..50 {
                track.cut(interval.max(1) - 1, interval);
                for number in 0..ALL / 200 {
                    let number = (worker * 50 + interval) * (ALL / 200) + number;
                    track.record(latency_ns(number), 512);
                    whole.record(latency_ns(number));
                }
            }
            series.push(track.finish(49));
        }
        let series: Vec<&Series> = series.iter().collect();
        let merged = merge(&series, 1_000_000, 50_000_000);
        assert_eq!(merged.interval_ns, 1_000_000);
        let recording = &merged.recordings[0];
        assert_eq!(recording.intervals.len(), 50);
        for interval in &recording.intervals {
            let both = (interval.latencies.count(), interval.bytes);
            assert_eq!(both, (200_000, 200_000 * 512));
        }
        assert_eq!(
            (recording.operations(), recording.bytes()),
            (ALL, ALL * 512)
        );
        let total = recording.total();
        assert!(total == whole);
        // The sum of all multiples, and the one below which so many are.
        assert_eq!(total.sum_ns(), ALL / 2 * (ALL - 1) * 100);
        assert_eq!(total.min_ns(), Some(0));
        assert_eq!(total.max_ns(), Some(999_999_900));
        for share in [0.5, 0.9, 0.99, 0.999, 0.99999] {
            let exact = share * 1e9;
            let found = total.quantile_ns(share).unwrap() as f64;
            assert!((found / exact - 1.0).abs() < 0.004, "{share}: {found}");
        }
    }
}
