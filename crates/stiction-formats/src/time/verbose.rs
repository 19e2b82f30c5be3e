//! The block that `time --verbose` of GNU prints.

use stiction_core::{Measurement, Metric, metrics};

use super::{Figure, Timed, shapes};
use crate::number::{clock_s, decimal, integer};
use crate::page::Page;

/// What the block says in its lines, by the text before the last `: `.
const ELAPSED: &str = "Elapsed (wall clock) time (h:mm:ss or m:ss)";
const USER: &str = "User time (seconds)";
const SYSTEM: &str = "System time (seconds)";
const PERCENT: &str = "Percent of CPU this job got";
const COMMAND: &str = "Command being timed";
const RESIDENT: &str = "Maximum resident set size (kbytes)";

/// Counts, and what each is here.
const COUNTS: &[(&str, Metric)] = &[
    ("Major (requiring I/O) page faults", metrics::MAJOR_FAULTS),
    (
        "Minor (reclaiming a frame) page faults",
        metrics::MINOR_FAULTS,
    ),
    ("Voluntary context switches", metrics::SWITCHES_VOLUNTARY),
    (
        "Involuntary context switches",
        metrics::SWITCHES_INVOLUNTARY,
    ),
];

/// Lines that Linux fills with zeros, or that say nothing about speed.
const EMPTY: &[&str] = &[
    "Average shared text size (kbytes)",
    "Average unshared data size (kbytes)",
    "Average stack size (kbytes)",
    "Average total size (kbytes)",
    "Average resident set size (kbytes)",
    "Swaps",
    "File system inputs",
    "File system outputs",
    "Socket messages sent",
    "Socket messages received",
    "Signals delivered",
    "Page size (bytes)",
    "Exit status",
];

/// The block that begins on line `index`, and its length in lines.
pub(super) fn block(page: &Page, index: usize) -> Option<(Timed, usize)> {
    let mut fields = Vec::new();
    while page.is_open(index + fields.len()) {
        match field(page.text(index + fields.len())) {
            Some(found) => fields.push(found),
            None => break,
        }
    }
    let of = |name: &str| {
        fields
            .iter()
            .find(|(found, _)| *found == name)
            .map(|(_, value)| *value)
    };
    let seconds = |name: &str| Some(Figure::new(decimal(of(name)?)?, of(name)?));
    let mut counts: Vec<Measurement> = COUNTS
        .iter()
        .filter_map(|(name, metric)| {
            let text = of(name)?;
            let value = integer(text)? as f64;
            Some(Measurement::imported(metric.clone(), value, 1, text))
        })
        .collect();
    if let Some((kib, text)) = of(RESIDENT).and_then(|text| Some((integer(text)?, text))) {
        let bytes = kib as f64 * 1024.0;
        counts.push(Measurement::imported(metrics::RESIDENT_MAX, bytes, 1, text));
    }
    let timed = Timed {
        layout: "time-gnu-verbose",
        label: None,
        command: of(COMMAND).map(|command| command.trim_matches('"').to_owned()),
        elapsed_s: Figure::new(clock_s(of(ELAPSED)?)?, of(ELAPSED)?),
        user_s: seconds(USER)?,
        system_s: seconds(SYSTEM)?,
        percent: of(PERCENT).and_then(shapes::percent),
        counts,
    };
    Some((timed, fields.len()))
}

/// The name and value of a line of the block.
fn field(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    if let Some(command) = text.strip_prefix(COMMAND) {
        return Some((COMMAND, command.strip_prefix(": ")?));
    }
    let (name, value) = text.rsplit_once(": ")?;
    let is_known = [ELAPSED, USER, SYSTEM, PERCENT, RESIDENT].contains(&name)
        || COUNTS.iter().any(|(known, _)| *known == name)
        || EMPTY.contains(&name);
    is_known.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures of a published run, shortened.
    #[test]
    fn the_block_is_read_to_its_last_line() {
        let text = "\
        Command being timed: \"./tr --ponythreads 32\"
        User time (seconds): 2554.50
        System time (seconds): 630.74
        Percent of CPU this job got: 276%
        Elapsed (wall clock) time (h:mm:ss or m:ss): 19:12.89
        Average total size (kbytes): 0
        Maximum resident set size (kbytes): 5338212
        Major (requiring I/O) page faults: 0
        Minor (reclaiming a frame) page faults: 1334727
        Voluntary context switches: 495204614
        Involuntary context switches: 15847042
        Exit status: 0
";
        let page = Page::new(text);
        let (timed, lines) = block(&page, 0).unwrap();
        assert_eq!(lines, 12);
        assert_eq!(timed.command.as_deref(), Some("./tr --ponythreads 32"));
        assert_eq!(timed.elapsed_s.value, 1152.89);
        assert_eq!((timed.user_s.value, timed.system_s.value), (2554.5, 630.74));
        assert_eq!(timed.percent.unwrap().value, 276.0);
        let count = |metric: &Metric| {
            let found = timed.counts.iter().find(|m| m.metric == *metric);
            found.unwrap().value
        };
        assert_eq!(count(&metrics::RESIDENT_MAX), 5_338_212.0 * 1024.0);
        assert_eq!(count(&metrics::SWITCHES_VOLUNTARY), 495_204_614.0);
        assert_eq!(count(&metrics::SWITCHES_INVOLUNTARY), 15_847_042.0);
        assert_eq!(count(&metrics::MINOR_FAULTS), 1_334_727.0);
    }
}
