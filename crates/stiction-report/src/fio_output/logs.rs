//! fio's logs: a line for each window and direction.

use std::fmt::Write as _;

use stiction_core::{Histogram, Session};

use super::FioOutputError;
use super::bins;
use super::entry::{Entering, Entry, entries_by};
use super::options::Options;
use super::samples::Window;
use super::way::{SampleWindows, Way};

const NS_PER_MS: u64 = 1_000_000;

/// One log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFile {
    /// Its name as fio makes it, after the prefix: `PREFIX_bw.1.log`.
    pub name: String,
    /// Its lines.
    pub text: String,
}

/// What a log is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogKind {
    /// KiB/s.
    Bandwidth,
    /// Operations per second.
    Iops,
    /// Mean latency, ns.
    Latency,
    /// The same again, under the name that most readers look for.
    Completion,
    /// Mean time of the call that hands operations over, ns; where it was timed.
    Submission,
    /// How many latencies were in each of fio's buckets.
    Histogram,
}

impl LogKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Bandwidth,
        Self::Iops,
        Self::Latency,
        Self::Completion,
        Self::Submission,
        Self::Histogram,
    ];

    /// What it is called in the name of its file.
    fn as_str(self) -> &'static str {
        match self {
            Self::Bandwidth => "bw",
            Self::Iops => "iops",
            Self::Latency => "lat",
            Self::Completion => "clat",
            Self::Submission => "slat",
            Self::Histogram => "clat_hist",
        }
    }
}

/// The logs of every job of the session, numbered from 1 in the order of the jobs. Empty
/// ones are left out.
///
/// Windows are `window_ns` long, and no shorter than the intervals that were recorded;
/// `None` is as long as those.
///
/// # Errors
/// When no phase has recordings.
pub fn logs(
    session: &Session,
    prefix: &str,
    kinds: &[LogKind],
    window_ns: Option<u64>,
) -> Result<Vec<LogFile>, FioOutputError> {
    let mut files = Vec::new();
    for (number, entry) in (1..).zip(logged(session, &|_| window_ns)?) {
        for &kind in kinds {
            let name = format!("{prefix}_{}.{number}.log", kind.as_str());
            add(&mut files, name, text(&entry, kind));
        }
    }
    Ok(files)
}

/// The logs that a job file asks for by `write_bw_log` and its like, with the prefixes,
/// windows and numbers that it asks for.
///
/// # Errors
/// When no phase has recordings.
pub fn requested_logs(session: &Session) -> Result<Vec<LogFile>, FioOutputError> {
    let averaged = logged(session, &|options| options.window_ns("log_avg_msec"))?;
    let counted = logged(session, &|options| options.window_ns("log_hist_msec"))?;
    let mut files = Vec::new();
    for (number, (averaged, counted)) in (1..).zip(averaged.iter().zip(&counted)) {
        for (option, kinds) in REQUESTS {
            let Some(prefix) = averaged.options.get(option) else {
                continue;
            };
            let prefix = if prefix.is_empty() {
                &averaged.name
            } else {
                prefix
            };
            for &kind in *kinds {
                let (kind_name, entry) = match kind {
                    LogKind::Histogram => (kind.as_str(), counted),
                    _ => (kind.as_str(), averaged),
                };
                let name = if averaged.options.get("per_job_logs") == Some("0") {
                    format!("{prefix}_{kind_name}.log")
                } else {
                    format!("{prefix}_{kind_name}.{number}.log")
                };
                add(&mut files, name, text(entry, kind));
            }
        }
    }
    Ok(files)
}

/// The options that ask for logs, and which.
const REQUESTS: &[(&str, &[LogKind])] = &[
    ("write_bw_log", &[LogKind::Bandwidth]),
    ("write_iops_log", &[LogKind::Iops]),
    (
        "write_lat_log",
        &[LogKind::Latency, LogKind::Completion, LogKind::Submission],
    ),
    ("write_hist_log", &[LogKind::Histogram]),
];

/// Every job by itself, in windows that are no shorter than its intervals.
fn logged(
    session: &Session,
    window_ns: &dyn Fn(&Options) -> Option<u64>,
) -> Result<Vec<Entry>, FioOutputError> {
    let shortest_ns = interval_ns(session);
    let sampled =
        |options: &Options| SampleWindows::same(window_ns(options).unwrap_or(0).max(shortest_ns));
    let entering = Entering {
        together: false,
        sampled: &sampled,
    };
    entries_by(session, entering)
}

/// Adds a log, to the end of what has its name already; nothing where it has no lines.
fn add(files: &mut Vec<LogFile>, name: String, text: String) {
    match files.iter_mut().find(|file| file.name == name) {
        Some(file) => file.text.push_str(&text),
        None if text.is_empty() => {}
        None => files.push(LogFile { name, text }),
    }
}

/// The longest of the intervals in which phases were recorded, ns: 1 where there are
/// none.
fn interval_ns(session: &Session) -> u64 {
    let phases = session.trials.iter().flat_map(|trial| &trial.phases);
    let jobs = phases.filter_map(|phase| phase.job.as_ref());
    jobs.map(|job| job.interval_ns).max().unwrap_or(0).max(1)
}

fn text(entry: &Entry, kind: LogKind) -> String {
    let windows = |way: &Way| match kind {
        LogKind::Submission => way.submitted.len(),
        _ => way.bandwidth.len(),
    };
    let count = entry.ways.iter().map(windows).max().unwrap_or(0);
    let mut text = String::new();
    for place in 0..count {
        for (direction, way) in entry.ways.iter().enumerate() {
            let windows = match kind {
                LogKind::Submission => &way.submitted,
                _ => &way.bandwidth,
            };
            if let Some(window) = windows.get(place).filter(|window| window.length_ns > 0) {
                // All but the last end where their window does.
                let window_ns = entry.sampled.bandwidth_ns;
                let to_end_ns = if place + 1 == count {
                    window.length_ns
                } else {
                    window_ns
                };
                let end_ns = place as u64 * window_ns + to_end_ns;
                line(
                    &mut text,
                    kind,
                    end_ns / NS_PER_MS,
                    direction,
                    window,
                    entry,
                );
            }
        }
    }
    text
}

/// Time, value, direction, block size and priority; where windows are averaged, fio's
/// block size is 0.
fn line(
    text: &mut String,
    kind: LogKind,
    end_ms: u64,
    direction: usize,
    window: &Window,
    entry: &Entry,
) {
    let mean = || window.latencies.mean_ns().map(|ns| ns as u64);
    let value = match kind {
        LogKind::Bandwidth => Some((window.bytes_per_s() / 1024.0) as u64),
        LogKind::Iops => Some(window.operations_per_s() as u64),
        LogKind::Latency | LogKind::Completion | LogKind::Submission => mean(),
        LogKind::Histogram => {
            if window.latencies.count() > 0 {
                let size = entry.block_size_bytes;
                let _ = write!(text, "{end_ms}, {direction}, {size}");
                counts(text, &window.latencies);
            }
            None
        }
    };
    if let Some(value) = value {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{end_ms}, {value}, {direction}, 0, 0");
    }
}

/// The count of every bucket, occupied or not.
fn counts(text: &mut String, latencies: &Histogram) {
    let mut counts = vec![0u64; bins::COUNT];
    for (index, count) in bins::occupied(latencies) {
        counts[index] = count;
    }
    for count in counts {
        let _ = write!(text, ", {count}");
    }
    text.push('\n');
}
