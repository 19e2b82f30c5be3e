//! A recording as rates over stretches of equal length.

use stiction_core::Recording;

/// Length of a stretch: five slices of the kernel's throttle, whose slice is 100 ms
/// (`throtl_slice` in block/blk-throttle.c), so that its bursts even out.
pub(super) const WINDOW_NS: u64 = 500_000_000;

/// What happened in one stretch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    pub(super) operations: u64,
    pub(super) bytes: u64,
    pub(crate) length_ns: u64,
}

impl Window {
    /// Bytes per second.
    pub(crate) fn byte_rate(&self) -> f64 {
        self.bytes as f64 * 1e9 / self.length_ns as f64
    }

    /// Operations per second.
    pub(crate) fn operation_rate(&self) -> f64 {
        self.operations as f64 * 1e9 / self.length_ns as f64
    }
}

/// The recording's intervals gathered into stretches of at least `length_ns`; a
/// shorter rest at the end is left out. With a length of 1 each interval is a stretch.
pub(crate) fn windows(recording: &Recording, length_ns: u64) -> Vec<Window> {
    let mut whole = Vec::new();
    let mut open = Window::default();
    for interval in &recording.intervals {
        open.operations = open.operations.saturating_add(interval.latencies.count());
        open.bytes = open.bytes.saturating_add(interval.bytes);
        open.length_ns = open.length_ns.saturating_add(interval.length_ns);
        if open.length_ns >= length_ns {
            whole.push(std::mem::take(&mut open));
        }
    }
    whole
}

/// The middle value, the lower one of two; `None` of nothing.
pub(crate) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// The rate that all but a tenth of the stretches (and always all but one) hold to
/// within `tolerance` or one operation, in operations per second; `None` when they do
/// not.
pub(super) fn flat_operation_rate(windows: &[Window], tolerance: f64) -> Option<f64> {
    let middle = median(windows.iter().map(Window::operation_rate))?;
    let off = windows
        .iter()
        .filter(|window| {
            let one_operation = 1e9 / window.length_ns as f64;
            (window.operation_rate() - middle).abs() > (middle * tolerance).max(one_operation)
        })
        .count();
    (middle > 0.0 && off <= (windows.len() / 10).max(1)).then_some(middle)
}
