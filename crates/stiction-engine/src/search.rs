//! The search for the greatest depth at which latencies keep below a bound.
//!
//! Depths are doubled until one breaks the bound, and then the gap between the greatest
//! that kept it and the least that broke it is halved.

use std::fmt;

use stiction_core::{DepthSearch, PPM_WHOLE};

use crate::clock::Clock;

/// What a worker's search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthFound {
    /// The greatest depth that kept the bound; 0 when one operation at a time did not.
    pub depth: u32,
    /// The least that broke it; `None` when the job's depth kept it.
    pub broken_at: Option<u32>,
    /// Whether the search came to its end; otherwise these are what it knew when the
    /// worker ended.
    pub is_final: bool,
    /// Depths that were tried.
    pub tried: u32,
}

impl fmt::Display for DepthFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ended = if self.is_final {
            ""
        } else {
            ", as far as it was tried"
        };
        match (self.depth, self.broken_at) {
            (0, None) => f.write_str("no depth was tried long enough"),
            (0, Some(_)) => f.write_str("not even one operation at a time keeps the bound"),
            (depth, None) => write!(f, "depth {depth} keeps the bound{ended}"),
            (depth, Some(broken)) => {
                write!(
                    f,
                    "depth {depth} keeps the bound and {broken} does not{ended}"
                )
            }
        }
    }
}

/// A search that goes on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    latency_max: u64,
    share_ppm: u32,
    window: u64,
    goes_on: bool,
    /// The depth that is tried.
    depth: u32,
    depth_max: u32,
    found: DepthFound,
    /// When the present depth came into force, ticks.
    since: u64,
    operations: u64,
    kept: u64,
}

impl Search {
    pub(crate) fn new(search: DepthSearch, depth_max: u32, clock: Clock, now: u64) -> Self {
        Self {
            latency_max: clock.ticks(search.latency_ns_max),
            share_ppm: search.share_ppm,
            window: clock.ticks(search.window_ns),
            goes_on: search.goes_on,
            depth: 1,
            depth_max,
            found: DepthFound {
                depth: 0,
                broken_at: None,
                is_final: false,
                tried: 0,
            },
            since: now,
            operations: 0,
            kept: 0,
        }
    }

    /// How many operations may be in flight.
    pub(crate) fn depth(&self) -> u32 {
        self.depth
    }

    pub(crate) fn found(&self) -> DepthFound {
        self.found
    }

    /// Counts an operation; those that began at another depth say nothing of this one.
    #[inline]
    pub(crate) fn count(&mut self, begun: u64, end: u64) {
        if begun >= self.since {
            self.operations += 1;
            self.kept += u64::from(end - begun <= self.latency_max);
        }
    }

    /// Judges the present depth if it was tried long enough. Returns whether the worker
    /// has to end, as the search is done and nothing comes after.
    #[inline]
    pub(crate) fn look(&mut self, now: u64) -> bool {
        if self.found.is_final
            || self.operations == 0
            || now.saturating_sub(self.since) < self.window
        {
            return false;
        }
        self.judge(now)
    }

    fn judge(&mut self, now: u64) -> bool {
        let needed = u128::from(self.operations) * u128::from(self.share_ppm);
        let is_kept = u128::from(self.kept) * u128::from(PPM_WHOLE) >= needed;
        self.found.tried += 1;
        if is_kept {
            self.found.depth = self.depth;
        } else {
            self.found.broken_at = Some(self.depth);
        }
        let kept = self.found.depth;
        let next = match self.found.broken_at {
            None if kept < self.depth_max => Some((2 * kept).min(self.depth_max)),
            Some(broken) if kept + 1 < broken => Some(kept.midpoint(broken)),
            None | Some(_) => None,
        };
        self.found.is_final = next.is_none();
        self.depth = next.unwrap_or(kept.max(1));
        (self.since, self.operations, self.kept) = (now, 0, 0);
        // Without a depth that keeps the bound there is none to go on at.
        self.found.is_final && (!self.goes_on || kept == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Calibration;

    const MS: u64 = 1_000_000;

    /// Searches on a device that does one operation after another, a millisecond each:
    /// at depth n an operation takes n ms.
    fn searched(bound_ms: u64, depth_max: u32, goes_on: bool) -> (DepthFound, Vec<u32>, bool) {
        let clock = Calibration::begin().finish();
        let ms = |ms| clock.ticks(ms * MS);
        let asked = DepthSearch {
            latency_ns_max: bound_ms * MS,
            share_ppm: PPM_WHOLE,
            window_ns: 50 * MS,
            goes_on,
        };
        let mut search = Search::new(asked, depth_max, clock, 0);
        let (mut now, mut depths) = (0, vec![1]);
        for _ in 0..10_000 {
            now += ms(1);
            search.count(now.saturating_sub(ms(search.depth().into())), now);
            let is_over = search.look(now);
            if *depths.last().unwrap() != search.depth() {
                depths.push(search.depth());
            }
            if is_over {
                return (search.found(), depths, true);
            }
        }
        (search.found(), depths, false)
    }

    #[test]
    fn depths_are_doubled_and_then_halved_between() {
        let (found, depths, is_over) = searched(10, 64, false);
        assert_eq!(depths, [1, 2, 4, 8, 16, 12, 10, 11, 10]);
        assert_eq!((found.depth, found.broken_at), (10, Some(11)));
        assert!(is_over && found.is_final);
        assert_eq!(found.tried, 8);
        assert_eq!(
            found.to_string(),
            "depth 10 keeps the bound and 11 does not"
        );
    }

    #[test]
    fn the_depth_of_the_job_is_the_end() {
        let (found, depths, _) = searched(100, 6, false);
        assert_eq!(depths, [1, 2, 4, 6]);
        assert_eq!((found.depth, found.broken_at, found.tried), (6, None, 4));
    }

    #[test]
    fn a_bound_that_nothing_keeps_is_depth_0() {
        let (found, depths, is_over) = searched(0, 6, true);
        assert_eq!(
            (found.depth, found.broken_at, depths),
            (0, Some(1), vec![1])
        );
        assert!(is_over);
        let said = "not even one operation at a time keeps the bound";
        assert_eq!(found.to_string(), said);
    }

    #[test]
    fn who_goes_on_does_so_at_the_depth_that_was_found() {
        let (found, depths, is_over) = searched(3, 6, true);
        assert_eq!(
            (found.depth, *depths.last().unwrap(), is_over),
            (3, 3, false)
        );
    }

    /// Two of a million may break it: with 3 in 1000 that do, it is broken.
    #[test]
    fn a_share_may_break_the_bound() {
        let kept = |share_ppm, slow: u64| {
            let clock = Calibration::begin().finish();
            let asked = DepthSearch {
                latency_ns_max: MS,
                share_ppm,
                window_ns: MS,
                goes_on: false,
            };
            let mut search = Search::new(asked, 1, clock, 0);
            for number in 0..1000 {
                let latency_ms = if number < slow { 2 } else { 1 };
                search.count(0, clock.ticks(latency_ms * MS));
            }
            search.look(clock.ticks(2 * MS));
            search.found().depth == 1
        };
        assert!(kept(997_000, 3) && !kept(997_001, 3) && kept(990_000, 10));
    }
}
