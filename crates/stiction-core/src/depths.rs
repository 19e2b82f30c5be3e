//! How deep a queue really was.

use serde::{Deserialize, Serialize};

/// How many classes there are.
const CLASSES: usize = 7;

/// How many operations were in flight, and how many went over and came back at a time,
/// in fio's classes. Jobs that keep one operation in flight have nothing to count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Depths {
    /// Operations by how many were in flight when they were handed over, themselves
    /// included: 1, from 2 on, from 4 on, 8, 16, 32, and from 64 on.
    pub in_flight: [u64; CLASSES],
    /// Rounds by how many operations they handed over: 0, up to 4, up to 8, 16, 32, 64,
    /// and more.
    pub handed_over: [u64; CLASSES],
    /// Rounds by how many complete operations they found, in the same classes.
    pub taken_back: [u64; CLASSES],
}

impl Depths {
    /// Counts `queued` operations that are handed over together, which makes `in_flight`.
    #[inline]
    pub fn hand_over(&mut self, queued: usize, in_flight: u32) {
        let class = in_flight.max(1).ilog2() as usize;
        self.in_flight[class.min(CLASSES - 1)] += queued as u64;
        self.handed_over[class_of_batch(queued as u64)] += 1;
    }

    /// Counts `found` complete operations that were found together.
    #[inline]
    pub fn take_back(&mut self, found: u64) {
        self.taken_back[class_of_batch(found)] += 1;
    }

    /// Adds what another counted.
    pub fn merge(&mut self, other: &Self) {
        for (ours, theirs) in [
            (&mut self.in_flight, &other.in_flight),
            (&mut self.handed_over, &other.handed_over),
            (&mut self.taken_back, &other.taken_back),
        ] {
            ours.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        }
    }

    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// 0, up to 4, up to 8, and so on.
#[inline]
fn class_of_batch(count: u64) -> usize {
    match count {
        0 => 0,
        1..=4 => 1,
        _ => ((count - 1).ilog2() as usize).min(CLASSES - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `case` labels of `io_u_mark_depth` and `__io_u_mark_map` in fio 3.33's
    /// `io_u.c`.
    #[test]
    fn classes_are_fios() {
        for (in_flight, class) in [
            (1, 0),
            (2, 1),
            (3, 1),
            (4, 2),
            (7, 2),
            (8, 3),
            (31, 4),
            (32, 5),
            (63, 5),
            (64, 6),
            (4096, 6),
        ] {
            let mut depths = Depths::default();
            depths.hand_over(1, in_flight);
            assert_eq!(depths.in_flight[class], 1, "{in_flight}");
        }
        for (count, class) in [
            (0, 0),
            (1, 1),
            (4, 1),
            (5, 2),
            (8, 2),
            (9, 3),
            (16, 3),
            (17, 4),
            (32, 4),
            (33, 5),
            (64, 5),
            (65, 6),
        ] {
            assert_eq!(class_of_batch(count), class, "{count}");
        }
    }

    #[test]
    fn operations_are_counted_once_each_and_rounds_too() {
        let mut depths = Depths::default();
        depths.hand_over(4, 4);
        depths.take_back(1);
        depths.hand_over(1, 4);
        depths.take_back(4);
        assert_eq!(depths.in_flight.iter().sum::<u64>(), 5);
        assert_eq!(depths.handed_over, [0, 2, 0, 0, 0, 0, 0]);
        assert_eq!(depths.taken_back, [0, 2, 0, 0, 0, 0, 0]);
        let mut both = depths;
        both.merge(&depths);
        assert_eq!(both.in_flight[2], 10);
    }
}
