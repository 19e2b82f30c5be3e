//! How many requests a device has in hand, over time.

use stiction_core::DepthCourse;

/// Slices at most: when one more is needed, two and two become one.
const SLICES: usize = 128;
/// Slices at first.
const SLICE_NS: u64 = 1_000_000;

/// The course so far.
#[derive(Clone, Debug)]
pub(super) struct Depth {
    start_ns: u64,
    now_ns: u64,
    in_hand: u32,
    course: DepthCourse,
}

impl Depth {
    pub(super) fn new(start_ns: u64) -> Self {
        Self {
            start_ns,
            now_ns: start_ns,
            in_hand: 0,
            course: DepthCourse {
                slice_ns: SLICE_NS,
                ..DepthCourse::default()
            },
        }
    }

    /// From `now_ns` on so many are in hand. Moments come in order.
    pub(super) fn set(&mut self, now_ns: u64, in_hand: u32) {
        self.advance(now_ns);
        self.in_hand = in_hand;
        self.course.max = self.course.max.max(in_hand);
    }

    pub(super) fn more(&mut self, now_ns: u64) {
        self.set(now_ns, self.in_hand + 1);
    }

    pub(super) fn less(&mut self, now_ns: u64) {
        self.set(now_ns, self.in_hand.saturating_sub(1));
    }

    pub(super) fn finish(mut self, end_ns: u64) -> DepthCourse {
        self.advance(end_ns);
        self.course.length_ns = self.now_ns - self.start_ns;
        self.course
    }

    fn advance(&mut self, now_ns: u64) {
        while self.now_ns < now_ns {
            let at_ns = self.now_ns - self.start_ns;
            let mut slice = (at_ns / self.course.slice_ns) as usize;
            while slice >= SLICES {
                self.halve();
                slice /= 2;
            }
            let slice_end_ns = self.start_ns + (slice as u64 + 1) * self.course.slice_ns;
            let until_ns = now_ns.min(slice_end_ns);
            let held_ns = &mut self.course.held_ns;
            if held_ns.len() <= slice {
                held_ns.resize(slice + 1, 0);
            }
            held_ns[slice] += u64::from(self.in_hand) * (until_ns - self.now_ns);
            self.now_ns = until_ns;
        }
    }

    fn halve(&mut self) {
        let held_ns = &self.course.held_ns;
        self.course.held_ns = held_ns.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.course.slice_ns *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slice_has_the_time_that_was_held_in_it() {
        let mut depth = Depth::new(500);
        depth.more(500 + SLICE_NS / 2);
        depth.more(500 + SLICE_NS);
        depth.less(500 + 3 * SLICE_NS);
        depth.less(500 + 3 * SLICE_NS + 10);
        let course = depth.finish(500 + 4 * SLICE_NS);
        assert_eq!(
            course.held_ns,
            [SLICE_NS / 2, 2 * SLICE_NS, 2 * SLICE_NS, 10]
        );
        assert_eq!((course.max, course.length_ns), (2, 4 * SLICE_NS));
    }

    /// An hour with three in hand, however it is sliced.
    #[test]
    fn long_courses_have_long_slices() {
        const HOUR_NS: u64 = 3_600_000_000_000;
        let mut depth = Depth::new(0);
        depth.set(0, 3);
        let course = depth.finish(HOUR_NS);
        assert!((SLICES / 2..=SLICES).contains(&course.held_ns.len()));
        assert_eq!(course.mean(), Some(3.0));
        assert!(course.means().all(|mean| (mean - 3.0).abs() < 1e-9));
    }

    #[test]
    fn a_moment_before_the_last_changes_nothing_of_what_was() {
        let mut depth = Depth::new(100);
        depth.set(300, 1);
        depth.set(200, 2);
        assert_eq!(depth.finish(400).held_ns, [200]);
    }
}
