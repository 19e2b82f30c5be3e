//! Words and figures of an explanation.

use stiction_analysis::explain::{MovedCounter, Part, Per, Score, Theme};
use stiction_core::Cell;

use crate::cell::cell_text;
use crate::figure::{change, change_within, label};
use crate::outcome::title;

/// `random read, 8 threads`
pub(super) fn cell_and_phase(cell: &Cell, phase: &str) -> String {
    let (phase, cell) = (title(phase), cell_text(cell));
    if cell.is_empty() {
        phase
    } else {
        format!("{phase}, {cell}")
    }
}

/// A counter's name with what it was divided by: `flushes / MiB`.
pub(super) fn counter_name(name: &str, per: Per) -> String {
    match per {
        Per::Byte => format!("{name} / byte"),
        Per::Mebibyte => format!("{name} / MiB"),
        Per::Run | Per::Itself => name.to_owned(),
    }
}

/// The same of a counter that moved.
pub(super) fn name_of(counter: &MovedCounter) -> String {
    counter_name(counter.name, counter.per)
}

/// `rate -50.1 %`, with as many digits as its interval leaves.
pub(super) fn score_change(score: &Score) -> String {
    let name = label(&score.metric);
    if let Some(estimate) = &score.estimate {
        let interval = (estimate.lowest_percent, estimate.highest_percent);
        return format!(
            "{name} {}",
            change_within(estimate.change_percent, interval)
        );
    }
    match score.change_percent {
        Some(percent) => format!("{name} {}", change(percent)),
        None => name,
    }
}

/// A part of the time.
pub(super) fn part(part: Part) -> &'static str {
    match part {
        Part::User => "CPU time in user mode",
        Part::System => "CPU time in the kernel",
        Part::CpuWait => "waiting for a CPU",
        Part::WritebackWait => "being held back by writeback",
        Part::DeviceWait => "waiting while the device worked",
        Part::Unknown => "neither CPU nor device: not known",
    }
}

/// A theme in a few words.
pub(super) fn theme_words(theme: Theme) -> &'static str {
    match theme {
        Theme::JournaledData => "doubled writes: data that go through the journal (jbd2) first",
        Theme::WrittenMore => "doubled writes below the program",
        Theme::Layout => "another layout of the files",
        Theme::Merges => "requests of another size",
        Theme::Queue => "requests that take longer in the device or its queue",
        Theme::Cache => "answers from memory",
        Theme::Writeback => "writing back that holds writers, or falls at another time",
        Theme::Reclaim => "memory that is short",
        Theme::Cpu => "another price in CPU time",
        Theme::CpuTaken => "CPUs that were busy elsewhere",
    }
}
