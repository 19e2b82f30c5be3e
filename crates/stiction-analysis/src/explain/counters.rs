//! Everything that stood beside a phase, as one list of counters.

use stiction_core::{BlockTrace, DeviceTraffic, Layout, Phase, Recording, RequestKind, Unit};

mod filesystems;
mod memory;
mod processors;

use super::counter::{Counter, Group, Per};

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;

/// Every counter that the witnesses of a phase have, and those of its workers. Amounts are
/// taken by the byte or the MiB that the phase moved, as sides that ran for a given time
/// did different amounts of work.
#[must_use]
pub fn counters(phase: &Phase) -> Vec<Counter> {
    let mut list = List::of(phase);
    let witnesses = &phase.witnesses;
    devices(&mut list, &witnesses.devices);
    traces(&mut list, &witnesses.block_traces);
    memory::add(&mut list, witnesses);
    filesystems::add(&mut list, &witnesses.filesystems);
    processors::add(&mut list, phase);
    if let Some(layout) = &witnesses.layout {
        lie(&mut list, layout);
    }
    list.counters
}

/// Bytes that the operations of a phase moved; 0 where none were.
pub(super) fn bytes_of(phase: &Phase) -> u64 {
    let data = phase
        .recordings
        .iter()
        .filter(|one| one.direction.is_data());
    let recorded: u64 = data.map(Recording::bytes).sum();
    let of_workers = || phase.workers.iter().map(|worker| worker.bytes).sum();
    match recorded {
        0 => of_workers(),
        bytes => bytes,
    }
}

struct List {
    counters: Vec<Counter>,
    /// Bytes that the phase moved.
    bytes: f64,
    elapsed_ns: f64,
}

impl List {
    fn of(phase: &Phase) -> Self {
        Self {
            counters: Vec::new(),
            bytes: bytes_of(phase) as f64,
            elapsed_ns: phase.elapsed_ns as f64,
        }
    }

    fn push(&mut self, name: &'static str, group: Group, unit: Unit, per: Per, value: f64) {
        if value.is_finite() {
            self.counters.push(Counter {
                name,
                group,
                unit,
                per,
                value,
            });
        }
    }

    /// Bytes, by the byte that was moved.
    fn bytes(&mut self, name: &'static str, group: Group, bytes: u64) {
        let bytes = bytes as f64;
        if self.bytes > 0.0 {
            self.push(name, group, Unit::Ratio, Per::Byte, bytes / self.bytes);
        } else {
            self.push(name, group, Unit::Bytes, Per::Run, bytes);
        }
    }

    /// A count, or a time in ns, by the MiB that was moved.
    fn amount(&mut self, name: &'static str, group: Group, unit: Unit, amount: f64) {
        if self.bytes > 0.0 {
            let value = amount * MIB / self.bytes;
            self.push(name, group, unit, Per::Mebibyte, value);
        } else {
            self.push(name, group, unit, Per::Run, amount);
        }
    }

    fn count(&mut self, name: &'static str, group: Group, count: u64) {
        self.amount(name, group, Unit::Count, count as f64);
    }

    fn time(&mut self, name: &'static str, group: Group, time_ns: u64) {
        self.amount(name, group, Unit::Nanoseconds, time_ns as f64);
    }

    /// A mean or a level; nothing where there is none.
    fn level(&mut self, name: &'static str, group: Group, unit: Unit, value: Option<f64>) {
        if let Some(value) = value {
            self.push(name, group, unit, Per::Itself, value);
        }
    }

    /// A share of `whole`, as percent.
    fn share(&mut self, name: &'static str, group: Group, part: f64, whole: f64) {
        let percent = (whole > 0.0).then(|| 100.0 * part / whole);
        self.level(name, group, Unit::Percent, percent);
    }
}

fn mean(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

fn devices(list: &mut List, devices: &[DeviceTraffic]) {
    if devices.is_empty() {
        return;
    }
    let sum = |of: fn(&DeviceTraffic) -> u64| devices.iter().map(of).fold(0, u64::saturating_add);
    let (reads, writes) = (sum(|d| d.reads), sum(|d| d.writes));
    let (read_bytes, written_bytes) = (sum(|d| d.read_bytes), sum(|d| d.written_bytes));
    list.bytes("bytes read by the device", Group::Device, read_bytes);
    list.bytes("bytes written by the device", Group::Device, written_bytes);
    list.count("reads of the device", Group::Device, reads);
    list.count("writes of the device", Group::Device, writes);
    let sizes = [
        ("size of a read", mean(read_bytes, reads)),
        ("size of a write", mean(written_bytes, writes)),
    ];
    for (name, size) in sizes {
        list.level(name, Group::Merges, Unit::Bytes, size);
    }
    let flushes: Option<u64> = devices.iter().map(|device| device.flushes).sum();
    if let Some(flushes) = flushes {
        list.count("flushes", Group::Device, flushes);
    }
    let busy: Option<u64> = devices.iter().filter_map(|device| device.busy_ns).max();
    if let Some(busy_ns) = busy {
        let elapsed_ns = list.elapsed_ns;
        list.share("device busy", Group::Device, busy_ns as f64, elapsed_ns);
    }
    let queues: Option<Vec<_>> = devices.iter().map(|device| device.queue).collect();
    let Some(queues) = queues else { return };
    let sum = |of: fn(&stiction_core::QueueTraffic) -> u64| queues.iter().map(of).sum::<u64>();
    list.level(
        "reads joined to another",
        Group::Merges,
        Unit::Percent,
        merged(sum(|queue| queue.read_merges), reads),
    );
    list.level(
        "writes joined to another",
        Group::Merges,
        Unit::Percent,
        merged(sum(|queue| queue.write_merges), writes),
    );
    let times = [
        ("time of a read", mean(sum(|queue| queue.read_ns), reads)),
        ("time of a write", mean(sum(|queue| queue.write_ns), writes)),
    ];
    for (name, time) in times {
        list.level(name, Group::Scheduler, Unit::Nanoseconds, time);
    }
    let depth = (list.elapsed_ns > 0.0).then(|| sum(|q| q.queued_ns) as f64 / list.elapsed_ns);
    list.level(
        "requests in the queue",
        Group::Scheduler,
        Unit::Ratio,
        depth,
    );
}

/// Requests one by one, of all devices together.
fn traces(list: &mut List, traces: &[BlockTrace]) {
    let kinds = [
        (
            RequestKind::Read,
            ["reads that jumped", "distance of a read's jump"],
            "reads of other programs",
        ),
        (
            RequestKind::Write,
            ["writes that jumped", "distance of a write's jump"],
            "writes of other programs",
        ),
    ];
    for (kind, [jumped, distance], of_others) in kinds {
        let seen: Vec<_> = traces.iter().filter_map(|trace| trace.kind(kind)).collect();
        if seen.is_empty() {
            continue;
        }
        let jumps: u64 = seen.iter().map(|one| one.jumps).sum();
        let sequential: u64 = seen.iter().map(|one| one.sequential).sum();
        let followers = (jumps + sequential) as f64;
        list.share(jumped, Group::Device, jumps as f64, followers);
        let passed = seen.iter().map(|one| one.jump_bytes).sum();
        list.level(distance, Group::Device, Unit::Bytes, mean(passed, jumps));
        let others = seen.iter().map(|one| one.others.requests).sum();
        list.count(of_others, Group::Device, others);
    }
    let requeues = traces.iter().map(|trace| trace.requeues).sum();
    if !traces.is_empty() {
        list.count(
            "requests handed back by the driver",
            Group::Scheduler,
            requeues,
        );
    }
}

/// The share of requests that were joined to another, percent.
fn merged(merges: u64, requests: u64) -> Option<f64> {
    let all = merges + requests;
    (requests > 0).then(|| 100.0 * merges as f64 / all as f64)
}

fn lie(list: &mut List, layout: &Layout) {
    let group = Group::Layout;
    if layout.placed_bytes > 0 {
        let per_gib = layout.extents as f64 * GIB / layout.placed_bytes as f64;
        list.level("runs per GiB", group, Unit::Count, Some(per_gib));
    }
    let run = layout.run_bytes_mean();
    list.level("mean run", group, Unit::Bytes, run);
    let woven = layout.interleave_ratio();
    list.level("intermingled", group, Unit::Ratio, woven);
    let seeks = layout.seek_bytes_per_byte();
    list.level("bytes passed over per byte", group, Unit::Ratio, seeks);
    let unwritten = layout.unwritten_bytes as f64;
    let placed = layout.placed_bytes as f64;
    list.share("allocated and never written", group, unwritten, placed);
}
