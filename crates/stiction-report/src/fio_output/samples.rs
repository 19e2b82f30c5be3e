//! What moved in windows of equal length: fio's samples of bandwidth and IOPS, and
//! the lines of its logs.

use stiction_core::{Histogram, Recording};

/// What completed in one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Window {
    /// How much of the window the phase was there, ns.
    pub(super) length_ns: u64,
    pub(super) bytes: u64,
    pub(super) latencies: Histogram,
}

impl Window {
    pub(super) fn bytes_per_s(&self) -> f64 {
        per_s(self.bytes, self.length_ns)
    }

    pub(super) fn operations_per_s(&self) -> f64 {
        per_s(self.latencies.count(), self.length_ns)
    }
}

fn per_s(count: u64, length_ns: u64) -> f64 {
    if length_ns == 0 {
        return 0.0;
    }
    count as f64 * 1e9 / length_ns as f64
}

/// The windows of `window_ns` of a recording of a phase that began at `start_ns`, the
/// first window at `origin_ns` on the same clock. Windows in which nothing completed are
/// there with nothing in them. An interval belongs to the window that its middle falls
/// into, whole.
pub(super) fn windows(
    recording: &Recording,
    start_ns: u64,
    origin_ns: u64,
    window_ns: u64,
) -> Vec<Window> {
    let mut windows: Vec<Window> = Vec::new();
    for interval in &recording.intervals {
        let middle_ns = start_ns + interval.start_ns + interval.length_ns / 2;
        let place = (middle_ns.saturating_sub(origin_ns) / window_ns.max(1)) as usize;
        if windows.len() <= place {
            windows.resize(place + 1, Window::default());
        }
        let window = &mut windows[place];
        window.length_ns += interval.length_ns;
        window.bytes += interval.bytes;
        window.latencies.merge(&interval.latencies);
    }
    windows
}

/// Adds what others did in the same windows.
pub(super) fn add(windows: &mut Vec<Window>, others: &[Window]) {
    if windows.len() < others.len() {
        windows.resize(others.len(), Window::default());
    }
    for (window, other) in windows.iter_mut().zip(others) {
        window.length_ns = window.length_ns.max(other.length_ns);
        window.bytes += other.bytes;
        window.latencies.merge(&other.latencies);
    }
}

/// The windows that count as samples: all whole ones, as in fio; when there is none,
/// the longest there is.
pub(super) fn whole(windows: &[Window], window_ns: u64) -> Vec<&Window> {
    let whole: Vec<&Window> = windows
        .iter()
        .filter(|window| window.length_ns >= window_ns)
        .collect();
    if !whole.is_empty() {
        return whole;
    }
    let longest = windows.iter().max_by_key(|window| window.length_ns);
    longest.into_iter().filter(|it| it.length_ns > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use stiction_core::{Direction, Interval};

    const MS: u64 = 1_000_000;

    /// One operation of 1024 bytes for each number in an interval of 100 ms.
    fn recording(operations: &[u64]) -> Recording {
        let interval = |(place, &count): (u64, &u64)| {
            let mut latencies = Histogram::new();
            (0..count).for_each(|_| latencies.record(7));
            Interval {
                start_ns: place * 100 * MS,
                length_ns: 100 * MS,
                bytes: count * 1024,
                latencies,
            }
        };
        Recording {
            direction: Direction::Read,
            intervals: (0..).zip(operations).map(interval).collect(),
        }
    }

    #[test]
    fn a_window_holds_its_intervals_and_a_stall_is_there() {
        let recording = recording(&[1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 9]);
        let windows = windows(&recording, 40 * MS, 40 * MS, 500 * MS);
        let operations: Vec<u64> = windows.iter().map(|it| it.latencies.count()).collect();
        assert_eq!(operations, [15, 0, 9]);
        let whole = whole(&windows, 500 * MS);
        let rates: Vec<f64> = whole.iter().map(|it| it.operations_per_s()).collect();
        assert_eq!(rates, [30.0, 0.0], "the last is not whole");
        assert_eq!(whole[0].bytes_per_s(), 30.0 * 1024.0);
    }

    #[test]
    fn a_short_phase_is_one_sample() {
        let windows = windows(&recording(&[3, 5]), 0, 0, 500 * MS);
        let whole = whole(&windows, 500 * MS);
        assert_eq!(whole.len(), 1);
        assert_eq!(whole[0].operations_per_s(), 40.0);
    }

    #[test]
    fn those_who_run_together_are_added_window_by_window() {
        let mut both = windows(&recording(&[1; 10]), 0, 0, 500 * MS);
        // It began half a second later.
        let late = windows(&recording(&[2; 10]), 500 * MS, 0, 500 * MS);
        add(&mut both, &late);
        let rates: Vec<f64> = both.iter().map(Window::operations_per_s).collect();
        assert_eq!(rates, [10.0, 30.0, 20.0]);
    }
}
