//! fio's terse lines: one for each job, fields by their place, times in microseconds.

use std::fmt::Write as _;

use stiction_core::Session;

use super::FioOutputError;
use super::classes::{Classes, DepthShares};
use super::disks::{Disk, disks};
use super::entry::{Entry, aggregate_bytes_per_s, entries};
use super::json::share_of_aggregate;
use super::options::PERCENTILES_MAX;
use super::spread::Spread;
use super::way::Way;

/// Which of fio's terse layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerseVersion {
    /// `--terse-version=3`, fio's own default: reads and writes.
    V3,
    /// `--terse-version=5`: trims too, and samples of IOPS.
    V5,
}

/// The session as terse lines. Of disks whose queue is not counted there are no fields.
///
/// # Errors
/// When no phase has recordings.
pub fn terse(session: &Session, version: TerseVersion) -> Result<String, FioOutputError> {
    let entries = entries(session)?;
    let program = super::version(session);
    let disks = disks(session);
    let lines = entries
        .iter()
        .map(|entry| line(&program, &entries, entry, &disks, version));
    Ok(lines.collect())
}

/// The fields of a line.
struct Fields(String);

impl Fields {
    fn push(&mut self, field: impl std::fmt::Display) {
        // Writing to a string does not fail.
        let _ = write!(self.0, ";{field}");
    }

    /// What would end a field or a line early has no place in one.
    fn push_text(&mut self, text: &str) {
        self.push(text.replace([';', '\n', '\r'], " "));
    }

    fn push_float(&mut self, value: f64) {
        self.push(format_args!("{value:.6}"));
    }

    /// Nine fields, or none where not all are known.
    fn push_disk(&mut self, disk: &Disk) {
        const NS_PER_MS: u64 = 1_000_000;
        let traffic = &disk.traffic;
        if let (Some(queue), Some(busy)) = (traffic.queue, disk.busy_percent()) {
            self.push_text(&traffic.device);
            self.push(traffic.reads);
            self.push(traffic.writes);
            self.push(queue.read_merges);
            self.push(queue.write_merges);
            self.push(queue.read_ns / NS_PER_MS);
            self.push(queue.write_ns / NS_PER_MS);
            self.push(queue.queued_ns / NS_PER_MS);
            self.push(format_args!("{busy:.2}%"));
        }
    }

    /// Least, greatest, mean and deviation, us.
    fn push_latencies(&mut self, spread: Spread) {
        self.push(spread.min / 1000);
        self.push(spread.max / 1000);
        self.push_float(spread.mean / 1000.0);
        self.push_float(spread.deviation / 1000.0);
    }
}

fn line(
    program: &str,
    entries: &[Entry],
    entry: &Entry,
    disks: &[Disk],
    version: TerseVersion,
) -> String {
    let (number, ways) = match version {
        TerseVersion::V3 => (3, 2),
        TerseVersion::V5 => (5, 3),
    };
    let mut fields = Fields(number.to_string());
    fields.push_text(program);
    fields.push_text(&entry.name);
    fields.push(entry.group);
    fields.push(entry.errno);
    for (place, way) in entry.ways.iter().enumerate().take(ways) {
        let aggregate = aggregate_bytes_per_s(entries, entry.group, place);
        direction(&mut fields, entry, way, aggregate, version);
    }
    let (user, system) = entry.cpu_percent();
    fields.push(format_args!("{user:.6}%"));
    fields.push(format_args!("{system:.6}%"));
    fields.push(entry.switches);
    fields.push(entry.faults_major);
    fields.push(entry.faults_minor);
    for (_, share) in &DepthShares::of(&entry.depths).in_flight {
        fields.push(format_args!("{share:.1}%"));
    }
    classes(&mut fields, entry);
    disks.iter().for_each(|disk| fields.push_disk(disk));
    if let Some(description) = entry.options.description() {
        fields.push_text(description);
    }
    fields.0.push('\n');
    fields.0
}

fn direction(
    fields: &mut Fields,
    entry: &Entry,
    way: &Way,
    aggregate_bytes_per_s: f64,
    version: TerseVersion,
) {
    fields.push(way.bytes / 1024);
    fields.push(way.bytes_per_s() as u64 / 1024);
    fields.push(way.operations_per_s() as u64);
    fields.push(way.elapsed_ns / 1_000_000);
    let all = Spread::of_latencies(&way.latencies);
    fields.push_latencies(Spread::of_latencies(&way.submissions));
    fields.push_latencies(all);
    percentiles(fields, entry, way);
    fields.push_latencies(all);
    let bandwidth = way.bandwidth_kib_per_s(entry.sampled);
    let of_aggregate = share_of_aggregate(bandwidth, aggregate_bytes_per_s);
    fields.push(bandwidth.min);
    fields.push(bandwidth.max);
    fields.push(format_args!("{of_aggregate:.6}%"));
    fields.push_float(bandwidth.mean);
    fields.push_float(bandwidth.deviation);
    if version == TerseVersion::V5 {
        let iops = way.iops_samples(entry.sampled);
        fields.push(bandwidth.count);
        fields.push(iops.min);
        fields.push(iops.max);
        fields.push_float(iops.mean);
        fields.push_float(iops.deviation);
        fields.push(iops.count);
    }
}

/// Always as many fields as fio takes percentiles.
fn percentiles(fields: &mut Fields, entry: &Entry, way: &Way) {
    let asked = entry.options.percentiles();
    for percent in &asked {
        let ns = way.latencies.quantile_ns(percent / 100.0).unwrap_or(0);
        fields.push(format_args!("{percent:.6}%={}", ns / 1000));
    }
    for _ in asked.len()..PERCENTILES_MAX {
        fields.push("0%=0");
    }
}

/// Latencies by class. There is none for nanoseconds: they are in the first of the
/// microseconds.
fn classes(fields: &mut Fields, entry: &Entry) {
    let Classes { ns, mut us, ms } = Classes::of(entry);
    us[0].1 += ns.iter().map(|class| class.1).sum::<f64>();
    for (_, share) in us.iter().chain(&ms) {
        fields.push(format_args!("{share:.2}%"));
    }
}
