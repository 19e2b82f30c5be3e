//! A disk as it was in 2003, as a model: one head, one arm, one request at a time.

use std::time::{Duration, Instant};

use stiction_core::Seed;

const NS_PER_S: u128 = 1_000_000_000;

/// What a disk is made of. Each file of the file system is such a disk of its own, as
/// large as the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Time of a seek to the next track, ns.
    pub seek_least_ns: u64,
    /// What a seek over the whole disk takes beyond that, ns. In between it grows with
    /// the square root of the distance, as an arm does that speeds up half the way and
    /// slows down the other half.
    pub seek_stroke_ns: u64,
    /// Time of a revolution, ns.
    pub revolution_ns: u64,
    /// Rate at which data pass under the head, bytes per second.
    pub bytes_per_s: u64,
    /// Where the platter stands at first.
    pub seed: Seed,
}

impl Disk {
    /// 7200 revolutions per minute, 40 MB/s, seeks of 0.8 to 12.8 ms: a desktop disk of 2003.
    #[must_use]
    pub fn of_2003(seed: Seed) -> Self {
        Self {
            seek_least_ns: 800_000,
            seek_stroke_ns: 12_000_000,
            revolution_ns: 60_000_000_000 / 7200,
            bytes_per_s: 40_000_000,
            seed,
        }
    }

    /// Time from a seek's begin until the head rests on a place so far away, ns.
    fn seek_ns(&self, distance_bytes: u64, capacity_bytes: u64) -> u64 {
        if distance_bytes == 0 {
            return 0;
        }
        let share = distance_bytes as f64 / capacity_bytes.max(distance_bytes) as f64;
        self.seek_least_ns + (self.seek_stroke_ns as f64 * share.sqrt()).round() as u64
    }

    /// Time that so many bytes take to pass under the head, ns.
    fn transfer_ns(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * NS_PER_S / u128::from(self.bytes_per_s)) as u64
    }

    /// When in a revolution a place passes under the head, ns.
    fn passes_at_ns(&self, offset_bytes: u64) -> u64 {
        self.transfer_ns(offset_bytes) % self.revolution_ns
    }
}

/// Where the head of a disk is, and until when it is busy.
///
/// The platter turns only while the disk works. So a row of requests takes the same time
/// in every run, however slow the machine around is, and the next place in order waits for
/// nothing, as it would behind a read-ahead buffer.
#[derive(Debug)]
pub(super) struct Head {
    disk: Disk,
    position_bytes: u64,
    /// Time into the revolution, ns.
    turned_ns: u64,
    free_at: Option<Instant>,
    /// By how much answers came too late, on a machine that has other work: taken off what
    /// the next request waits.
    late: Duration,
}

impl Head {
    pub(super) fn new(disk: Disk) -> Self {
        let turned_ns = disk.seed.stream(0).0 % disk.revolution_ns;
        let passed = u128::from(turned_ns) * u128::from(disk.bytes_per_s) / NS_PER_S;
        Self {
            disk,
            // On the first track, where the platter stands.
            position_bytes: passed as u64,
            turned_ns,
            free_at: None,
            late: Duration::ZERO,
        }
    }

    pub(super) fn disk(&self) -> Disk {
        self.disk
    }

    /// Moves the head over a piece of the disk; how long that takes.
    fn pass_over(&mut self, offset_bytes: u64, length_bytes: u64, capacity_bytes: u64) -> Duration {
        let disk = self.disk;
        let seek = disk.seek_ns(offset_bytes.abs_diff(self.position_bytes), capacity_bytes);
        let wait = if seek == 0 {
            0
        } else {
            let there_ns = (self.turned_ns + seek) % disk.revolution_ns;
            let passes_ns = disk.passes_at_ns(offset_bytes);
            (passes_ns + disk.revolution_ns - there_ns) % disk.revolution_ns
        };
        let whole = seek + wait + disk.transfer_ns(length_bytes);
        self.turned_ns = (self.turned_ns + whole) % disk.revolution_ns;
        self.position_bytes = offset_bytes + length_bytes;
        Duration::from_nanos(whole)
    }

    /// Takes a request that arrives `now`, behind those that came before it: how long the
    /// disk works on it, and when it is done.
    pub(super) fn take(
        &mut self,
        now: Instant,
        (offset_bytes, length_bytes): (u64, u64),
        capacity_bytes: u64,
    ) -> (Duration, Instant) {
        let works = self.pass_over(offset_bytes, length_bytes, capacity_bytes);
        let begins = self.free_at.map_or(now, |free_at| free_at.max(now));
        let made_up = self.late.min(works);
        self.late -= made_up;
        let done = begins + works - made_up;
        self.free_at = Some(done);
        (works, done)
    }

    /// A request that was to be done at `done` is answered `now`.
    pub(super) fn answered(&mut self, done: Instant, now: Instant) {
        self.late += now.saturating_duration_since(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: u64 = 40_000_000_000;
    const REVOLUTION_MS: f64 = 60_000.0 / 7200.0;

    fn head() -> Head {
        Head::new(Disk::of_2003(Seed(7)))
    }

    fn milliseconds(duration: Duration) -> f64 {
        duration.as_secs_f64() * 1e3
    }

    #[test]
    fn what_follows_in_order_takes_its_transfer_alone() {
        let mut head = head();
        head.pass_over(0, 4096, CAPACITY);
        for block in 1..1000_u64 {
            let took = head.pass_over(block * 65_536 - 61_440, 65_536, CAPACITY);
            // 65 536 bytes at 40 MB/s.
            assert_eq!(took, Duration::from_nanos(1_638_400));
        }
    }

    #[test]
    fn a_block_that_is_skipped_costs_a_revolution() {
        let mut head = head();
        head.pass_over(0, 4096, CAPACITY);
        for block in 1..1000_u64 {
            let took = milliseconds(head.pass_over(block * 8192, 4096, CAPACITY));
            // The block that is skipped passes in 0.1024 ms, the shortest seek takes 0.8:
            // the one wanted has gone by, and is read a revolution after it passed.
            let expected = REVOLUTION_MS + 2.0 * 4096.0 / 40e3;
            assert!((took - expected).abs() < 1e-3, "{took} ms, not {expected}");
        }
    }

    /// Between two places drawn at random the root of the distance, in lengths of the disk, is
    /// 8/15 on average (the integral of 2(1-x)sqrt(x)), so that a seek takes 7.2 ms; half a
    /// revolution is 4.167 ms, and 4 KiB pass in 0.102 ms: 87.2 requests per second.
    #[test]
    fn random_blocks_come_at_the_rate_that_arithmetic_gives() {
        let mut head = head();
        let blocks = CAPACITY / 4096;
        let count = 20_000;
        let spent: Duration = (0..count)
            .map(|number| head.pass_over(Seed(1).stream(number).0 % blocks * 4096, 4096, CAPACITY))
            .sum();
        let rate = count as f64 / spent.as_secs_f64();
        let mean_ms = 0.8 + 12.0 * 8.0 / 15.0 + REVOLUTION_MS / 2.0 + 4096.0 / 40e3;
        // One request's deviation is 3.6 ms: that of the mean of 20 000 is 0.22 %.
        assert!((rate * mean_ms / 1e3 - 1.0).abs() < 0.01, "{rate} /s");
        assert!((rate - 87.2).abs() < 0.9, "{rate} /s");
    }

    #[test]
    fn requests_are_served_in_the_order_in_which_they_came() {
        let now = Instant::now();
        let mut head = head();
        head.pass_over(0, 0, CAPACITY);
        let (works, first) = head.take(now, (0, 40_000), CAPACITY);
        assert_eq!((works, first - now), (Duration::from_millis(1), works));
        let (works, second) = head.take(now, (40_000, 40_000), CAPACITY);
        assert_eq!(second, first + works);
        let later = second + Duration::from_secs(1);
        let (works, third) = head.take(later, (0, 4096), CAPACITY);
        assert_eq!(third, later + works, "an idle disk begins at once");
        let late = Duration::from_micros(300);
        head.answered(third, third + late);
        let (works, fourth) = head.take(third + late, (CAPACITY / 2, 4096), CAPACITY);
        assert_eq!(fourth, third + works, "what came too late is made up for");
    }

    #[test]
    fn the_same_seed_and_requests_take_the_same_time() {
        let run = |seed| {
            let mut head = Head::new(Disk::of_2003(Seed(seed)));
            (0..100_u64)
                .map(|number| head.pass_over(number * 7 % 64 * 100_000, 4096, CAPACITY))
                .collect::<Vec<_>>()
        };
        assert_eq!(run(1), run(1));
        assert_ne!(run(1), run(2));
    }
}
