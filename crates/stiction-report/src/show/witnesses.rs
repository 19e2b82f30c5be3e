//! What stood beside a phase and what it saw, in words.

use stiction_core::{
    CpuTime, DeviceTraffic, PageTraffic, Residency, SystemCpu, Witnesses, format_bytes,
    format_count, format_duration_ns,
};

use super::counters::counters;
use crate::layout::layout_text;

/// What the witnesses saw, by name.
pub(super) fn witnesses(witnesses: &Witnesses) -> Vec<(&'static str, String)> {
    let mut facts: Vec<(&'static str, String)> = witnesses
        .devices
        .iter()
        .map(|traffic| ("device", traffic_text(traffic)))
        .collect();
    facts.extend(cached("cached", witnesses));
    if let Some(bytes) = witnesses.unwritten_bytes.filter(|&bytes| bytes > 0) {
        facts.push(("unwritten", format_bytes(bytes)));
    }
    if let Some(granted) = witnesses.direct_granted {
        let text = if granted { "granted" } else { "refused" };
        facts.push(("O_DIRECT", text.to_owned()));
    }
    if let Some(text) = cpu(witnesses) {
        facts.push(("CPU", text));
    }
    // Records that are older than the pressure of the rest have this alone.
    if let (Some(ns), None) = (witnesses.io_pressure_ns, &witnesses.pressure) {
        facts.push(("I/O stalls", format_duration_ns(ns as f64)));
    }
    facts.extend(witnesses.pages.map(|pages| ("memory", pages_text(pages))));
    match (&witnesses.layout, witnesses.extents) {
        (Some(layout), _) => facts.push(("layout", layout_text(layout))),
        (None, Some(extents)) => facts.push(("extents", extents.to_string())),
        (None, None) => {}
    }
    facts.extend(counters(witnesses));
    facts.extend(
        witnesses
            .missing
            .iter()
            .map(|text| ("not seen", text.clone())),
    );
    facts
}

fn traffic_text(traffic: &DeviceTraffic) -> String {
    let mut text = format!(
        "{} read {} in {} reads, wrote {} in {} writes",
        traffic.device,
        format_bytes(traffic.read_bytes),
        format_count(traffic.reads as f64),
        format_bytes(traffic.written_bytes),
        format_count(traffic.writes as f64),
    );
    if let Some(flushes) = traffic.flushes {
        text.push_str(&format!(", {} flushes", format_count(flushes as f64)));
    }
    if let Some(busy_ns) = traffic.busy_ns {
        text.push_str(&format!(", busy {}", format_duration_ns(busy_ns as f64)));
    }
    text.push_str(&format!(" ({})", traffic.source));
    text
}

/// What memory management did; of rare things only those that happened.
fn pages_text(pages: PageTraffic) -> String {
    let mut text = format!(
        "{} became dirty, {} written back, {} left dirty",
        format_bytes(pages.dirtied_bytes),
        format_bytes(pages.written_back_bytes),
        format_bytes(pages.dirty_after_bytes + pages.writeback_after_bytes),
    );
    if pages.reclaim_stalls > 0 {
        let stalls = format_count(pages.reclaim_stalls as f64);
        text.push_str(&format!(", {stalls} waits for free memory"));
    }
    for (bytes, what) in [
        (pages.refaulted_bytes, "read again"),
        (pages.swapped_out_bytes, "to swap"),
        (pages.swapped_in_bytes, "from swap"),
    ] {
        if bytes > 0 {
            text.push_str(&format!(", {} {what}", format_bytes(bytes)));
        }
    }
    text
}

fn cached(name: &'static str, witnesses: &Witnesses) -> Option<(&'static str, String)> {
    let say = |when, residency: Residency| {
        let dirty = match residency.dirty_bytes {
            0 => String::new(),
            bytes => format!(", {} not written back", format_bytes(bytes)),
        };
        format!(
            "{when} {:.0} % of {}{dirty}",
            100.0 * residency.fraction(),
            format_bytes(residency.file_bytes)
        )
    };
    let parts: Vec<String> = [
        witnesses.residency_before.map(|seen| say("before", seen)),
        witnesses.residency_after.map(|seen| say("after", seen)),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| (name, parts.join("; ")))
}

fn cpu(witnesses: &Witnesses) -> Option<String> {
    let time = |ns: u64| format_duration_ns(ns as f64);
    let mut parts = Vec::new();
    if let Some(CpuTime {
        total_ns,
        user_ns,
        system_ns,
    }) = witnesses.process_cpu
    {
        parts.push(format!(
            "process {} (user {}, system {})",
            time(total_ns),
            time(user_ns),
            time(system_ns)
        ));
    }
    if let Some(share) = witnesses.busiest_worker_cpu_fraction {
        parts.push(format!("busiest worker {:.0} %", 100.0 * share));
    }
    if let Some(system) = witnesses.system_cpu {
        let SystemCpu {
            io_wait_ns,
            steal_ns,
            busiest_cpu_fraction,
            ..
        } = system;
        parts.push(format!(
            "machine {} busy, {} waiting for I/O, {} stolen, busiest CPU {:.0} %",
            time(system.busy_ns()),
            time(io_wait_ns),
            time(steal_ns),
            100.0 * busiest_cpu_fraction
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}
