//! fio's JSON, with or without bins.

use serde_json::{Map, Value, json};
use stiction_core::{CaveatCode, Histogram, Session};

use super::FioOutputError;
use super::bins;
use super::classes::{Classes, DepthShares};
use super::disks::{Disk, disks};
use super::entry::{Entry, aggregate_bytes_per_s, entries};
use super::spread::Spread;
use super::way::{WAYS, Way};
use crate::judged::Judged;

/// Whether latencies are there bin by bin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bins {
    /// `--output-format=json`.
    Without,
    /// `--output-format=json+`.
    With,
}

const NS_PER_MS: u64 = 1_000_000;

/// The session as fio's JSON.
///
/// # Errors
/// When no phase has recordings.
pub fn json(judged: &Judged<'_>, bins: Bins) -> Result<String, FioOutputError> {
    let session = judged.session();
    let entries = entries(session)?;
    let mut document = head(session);
    if let Some(entry) = entries.iter().find(|it| !it.options.global.is_empty()) {
        document.insert("global options".to_owned(), json!(entry.options.global));
    }
    let elapsed_s = elapsed_s(session);
    let jobs: Vec<Value> = entries
        .iter()
        .map(|entry| job(session, &entries, entry, elapsed_s, bins))
        .collect();
    document.insert("jobs".to_owned(), jobs.into());
    let disks: Vec<Value> = disks(session).iter().map(disk).collect();
    document.insert("disk_util".to_owned(), disks.into());
    document.insert("warnings".to_owned(), warnings(judged).into());
    let mut text =
        serde_json::to_string_pretty(&document).expect("maps with text for keys are JSON");
    text.push('\n');
    Ok(text)
}

/// What stands before the jobs.
fn head(session: &Session) -> Map<String, Value> {
    let at = session
        .end
        .as_ref()
        .map_or(session.header.started, |end| end.at);
    let mut head = Map::new();
    let mut set = |key: &str, value: Value| head.insert(key.to_owned(), value);
    set("fio version", super::version(session).into());
    set("timestamp", at.as_second().into());
    set("timestamp_ms", at.as_millisecond().into());
    // As ctime(3) has it, in UTC.
    set(
        "time",
        at.strftime("%a %b %e %H:%M:%S %Y").to_string().into(),
    );
    head
}

/// Whole seconds from the start of the session to its end, begun ones counted as fio
/// counts them.
fn elapsed_s(session: &Session) -> u64 {
    let phases = session.trials.iter().flat_map(|trial| &trial.phases);
    let end_ns = phases
        .map(|phase| phase.start_ns.saturating_add(phase.elapsed_ns))
        .max();
    end_ns.unwrap_or(0).div_ceil(1_000_000_000)
}

fn job(session: &Session, entries: &[Entry], entry: &Entry, elapsed_s: u64, bins: Bins) -> Value {
    let percentiles = entry.options.percentiles();
    let latencies = |latencies: &Histogram| latencies_of(latencies, &percentiles, bins);
    let start_ms = session.header.started.as_millisecond() + (entry.start_ns / NS_PER_MS) as i64;
    let mut job = Map::new();
    let mut set = |key: &str, value: Value| job.insert(key.to_owned(), value);
    set("jobname", entry.name.as_str().into());
    set("groupid", entry.group.into());
    set("job_start", start_ms.into());
    set("error", entry.errno.into());
    set("eta", 0.into());
    set("elapsed", elapsed_s.into());
    set("job options", json!(entry.options.own));
    let (mixed, each) = entry.options.is_mixed();
    if mixed {
        let way = entry.mixed();
        let aggregate = (0..WAYS.len())
            .map(|way| aggregate_bytes_per_s(entries, entry.group, way))
            .sum();
        set("mixed", direction(entry, &way, aggregate, latencies));
    }
    if each {
        for (place, (way, (_, name))) in entry.ways.iter().zip(WAYS).enumerate() {
            let aggregate = aggregate_bytes_per_s(entries, entry.group, place);
            set(name, direction(entry, way, aggregate, latencies));
        }
    }
    let syncs = entry.syncs.count();
    set(
        "sync",
        json!({"total_ios": syncs, "lat_ns": latencies(&entry.syncs)}),
    );
    set("job_runtime", (entry.workers_ns / NS_PER_MS).into());
    let (user, system) = entry.cpu_percent();
    set("usr_cpu", user.into());
    set("sys_cpu", system.into());
    set("ctx", entry.switches.into());
    set("majf", entry.faults_major.into());
    set("minf", entry.faults_minor.into());
    let depths = DepthShares::of(&entry.depths);
    set("iodepth_level", in_order(&depths.in_flight));
    set("iodepth_submit", in_order(&depths.handed_over));
    set("iodepth_complete", in_order(&depths.taken_back));
    let classes = Classes::of(entry);
    set("latency_ns", in_order(&classes.ns));
    set("latency_us", in_order(&classes.us));
    set("latency_ms", in_order(&classes.ms));
    set("latency_depth", entry.depth.into());
    set("latency_target", 0.into());
    set("latency_percentile", 100.0.into());
    set("latency_window", 0.into());
    if let Some(description) = &entry.description {
        set("desc", description.as_str().into());
    }
    Value::Object(job)
}

/// An object with its keys in the order given.
fn in_order(shares: &[(String, f64)]) -> Value {
    shares
        .iter()
        .map(|(name, share)| (name.clone(), Value::from(*share)))
        .collect::<Map<_, _>>()
        .into()
}

/// fio's `read`, `write` or `trim`.
fn direction(
    entry: &Entry,
    way: &Way,
    aggregate_bytes_per_s: f64,
    latencies: impl Fn(&Histogram) -> Value,
) -> Value {
    let bandwidth = way.bandwidth_kib_per_s(entry.sampled);
    let iops = way.iops_samples(entry.sampled);
    let of_aggregate = share_of_aggregate(bandwidth, aggregate_bytes_per_s);
    let bytes_per_s = way.bytes_per_s() as u64;
    let all = latencies(&way.latencies);
    json!({
        "io_bytes": way.bytes,
        "io_kbytes": way.bytes / 1024,
        "bw_bytes": bytes_per_s,
        "bw": bytes_per_s / 1024,
        "iops": way.operations_per_s(),
        "runtime": way.elapsed_ns / NS_PER_MS,
        "total_ios": way.operations(),
        "short_ios": 0,
        "drop_ios": 0,
        "slat_ns": latencies(&way.submissions),
        "clat_ns": all,
        "lat_ns": all,
        "bw_min": bandwidth.min,
        "bw_max": bandwidth.max,
        "bw_agg": of_aggregate,
        "bw_mean": bandwidth.mean,
        "bw_dev": bandwidth.deviation,
        "bw_samples": bandwidth.count,
        "iops_min": iops.min,
        "iops_max": iops.max,
        "iops_mean": iops.mean,
        "iops_stddev": iops.deviation,
        "iops_samples": iops.count,
    })
}

/// The mean of the bandwidth's samples as percent of what the group moved, 100 at most.
pub(super) fn share_of_aggregate(bandwidth: Spread, aggregate_bytes_per_s: f64) -> f64 {
    if bandwidth.count == 0 {
        return 0.0;
    }
    let aggregate_kib_per_s = aggregate_bytes_per_s / 1024.0;
    if aggregate_kib_per_s < 1.0 {
        return 100.0;
    }
    (100.0 * bandwidth.mean / aggregate_kib_per_s).min(100.0)
}

/// fio's object for latencies of any kind. Percentiles and bins are there when there
/// were any.
fn latencies_of(latencies: &Histogram, percentiles: &[f64], bins: Bins) -> Value {
    let spread = Spread::of_latencies(latencies);
    let mut object = Map::new();
    object.insert("min".to_owned(), spread.min.into());
    object.insert("max".to_owned(), spread.max.into());
    object.insert("mean".to_owned(), spread.mean.into());
    object.insert("stddev".to_owned(), spread.deviation.into());
    object.insert("N".to_owned(), spread.count.into());
    if spread.count == 0 {
        return object.into();
    }
    let percentile = |&percent: &f64| {
        let ns = latencies.quantile_ns(percent / 100.0).unwrap_or(0);
        (format!("{percent:.6}"), Value::from(ns))
    };
    let listed: Map<String, Value> = percentiles.iter().map(percentile).collect();
    object.insert("percentile".to_owned(), listed.into());
    if bins == Bins::With {
        let occupied = bins::occupied(latencies).into_iter();
        let counted: Map<String, Value> = occupied
            .map(|(index, count)| (bins::middle_ns(index).to_string(), count.into()))
            .collect();
        object.insert("bins".to_owned(), counted.into());
    }
    object.into()
}

/// fio's object for a disk. What its counters do not have is left out.
fn disk(disk: &Disk) -> Value {
    const SECTOR_BYTES: u64 = 512;
    let traffic = &disk.traffic;
    let mut object = json!({
        "name": traffic.device,
        "read_ios": traffic.reads,
        "write_ios": traffic.writes,
        "read_sectors": traffic.read_bytes / SECTOR_BYTES,
        "write_sectors": traffic.written_bytes / SECTOR_BYTES,
    });
    if let Some(queue) = traffic.queue {
        object["read_merges"] = queue.read_merges.into();
        object["write_merges"] = queue.write_merges.into();
        object["read_ticks"] = (queue.read_ns / NS_PER_MS).into();
        object["write_ticks"] = (queue.write_ns / NS_PER_MS).into();
        object["in_queue"] = (queue.queued_ns / NS_PER_MS).into();
    }
    if let Some(percent) = disk.busy_percent() {
        object["util"] = percent.into();
    }
    object
}

/// What there is to doubt, a sentence each: what fio would print between its results.
fn warnings(judged: &Judged<'_>) -> Vec<String> {
    let session = judged.session();
    let mut warnings: Vec<String> = Vec::new();
    let mut warn = |place: &str, code: CaveatCode, detail: &str| {
        let place = if place.is_empty() {
            String::new()
        } else {
            format!("{place}: ")
        };
        let warning = format!("{place}{code}: {detail}");
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    };
    for caveat in &session.header.caveats {
        warn("", caveat.code, &caveat.detail);
    }
    for (trial, phases) in judged.trials() {
        for caveat in &trial.caveats {
            warn("", caveat.code, &caveat.detail);
        }
        for judged in phases.iter().filter(|judged| judged.is_measured()) {
            for caveat in &judged.finding.caveats {
                warn(&judged.phase.name, caveat.code, &caveat.detail);
            }
        }
    }
    warnings
}
