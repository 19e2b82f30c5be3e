//! Requests of devices, from their issue to their end.

use std::collections::{BTreeMap, HashMap};

use stiction_core::{BlockTrace, Histogram, KindTrace, RequestKind, SizeCount, TraceSource};

use super::depth::Depth;
use super::owners::{Owner, Whose};

const SECTOR_BYTES: u64 = 512;
/// Other programs at most that are named.
const PROGRAMS: usize = 8;

/// A device whose requests are followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Traced {
    pub(super) name: String,
    pub(super) number: (u32, u32),
    pub(super) source: TraceSource,
}

/// A request, as a tracepoint shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) device: (u32, u32),
    pub(super) kind: RequestKind,
    pub(super) sector: u64,
    pub(super) sectors: u64,
}

/// The requests of all devices under a phase.
#[derive(Debug)]
pub(super) struct Requests {
    devices: Vec<Device>,
}

impl Requests {
    pub(super) fn new(devices: Vec<Traced>, start_ns: u64) -> Self {
        let new = |traced| Device::new(traced, start_ns);
        Self {
            devices: devices.into_iter().map(new).collect(),
        }
    }

    /// The driver got a request, that `owner` brought about.
    pub(super) fn issued(&mut self, time_ns: u64, request: &Request, owner: &Owner) {
        if let Some(device) = self.device(request) {
            device.issued(time_ns, request, owner);
        }
    }

    /// The driver gave a request back undone, to get it again later.
    pub(super) fn requeued(&mut self, time_ns: u64, request: &Request) {
        if let Some(device) = self.device(request) {
            device.requeued(time_ns, request);
        }
    }

    /// Some or all of a request is done.
    pub(super) fn completed(&mut self, time_ns: u64, request: &Request, failed: bool) {
        if let Some(device) = self.device(request) {
            device.completed(time_ns, request, failed);
        }
    }

    /// What each device was asked, up to `end_ns`.
    pub(super) fn finish(self, end_ns: u64, lost_records: u64) -> Vec<BlockTrace> {
        let devices = self.devices.into_iter();
        devices
            .map(|device| device.finish(end_ns, lost_records))
            .collect()
    }

    fn device(&mut self, request: &Request) -> Option<&mut Device> {
        let mut devices = self.devices.iter_mut();
        devices.find(|device| device.traced.number == request.device)
    }
}

/// A request in the hands of its driver.
#[derive(Clone, Copy, Debug)]
struct Held {
    issued_ns: u64,
    sectors: u64,
}

type Key = (RequestKind, u64);

#[derive(Debug)]
struct Device {
    traced: Traced,
    /// By kind and first sector; several where the same place is asked for at once.
    held: HashMap<Key, Vec<Held>>,
    /// Given back by the driver, and counted already.
    handed_back: HashMap<Key, u32>,
    kinds: BTreeMap<RequestKind, Kind>,
    depth: Depth,
    programs: HashMap<String, u64>,
    requeues: u64,
    unmatched: u64,
}

impl Device {
    fn new(traced: Traced, start_ns: u64) -> Self {
        Self {
            traced,
            held: HashMap::new(),
            handed_back: HashMap::new(),
            kinds: BTreeMap::new(),
            depth: Depth::new(start_ns),
            programs: HashMap::new(),
            requeues: 0,
            unmatched: 0,
        }
    }

    fn issued(&mut self, time_ns: u64, request: &Request, owner: &Owner) {
        let key = (request.kind, request.sector);
        let held = Held {
            issued_ns: time_ns,
            sectors: request.sectors,
        };
        self.held.entry(key).or_default().push(held);
        self.depth.more(time_ns);
        if let Some(times) = self.handed_back.get_mut(&key) {
            *times -= 1;
            if *times == 0 {
                self.handed_back.remove(&key);
            }
            return;
        }
        self.kind(request.kind).issued(request, owner.whose);
        if owner.whose == Whose::Other {
            match self.programs.get_mut(&owner.name) {
                Some(count) => *count += 1,
                None => drop(self.programs.insert(owner.name.clone(), 1)),
            }
        }
    }

    /// A driver that never had it says so too when it cannot take it: that is nothing.
    fn requeued(&mut self, time_ns: u64, request: &Request) {
        let key = (request.kind, request.sector);
        let Some(held) = self.held.get_mut(&key) else {
            return;
        };
        held.pop();
        if held.is_empty() {
            self.held.remove(&key);
        }
        *self.handed_back.entry(key).or_default() += 1;
        self.requeues += 1;
        self.depth.less(time_ns);
    }

    fn completed(&mut self, time_ns: u64, request: &Request, failed: bool) {
        let key = (request.kind, request.sector);
        let Some(held) = self.held.get_mut(&key) else {
            // The end of a sequence whose flush, which is a request of its own, was all
            // that the device had to do.
            let is_empty = request.sectors == 0 && request.kind != RequestKind::Flush;
            self.unmatched += u64::from(!is_empty);
            return;
        };
        let first = held.remove(0);
        if held.is_empty() {
            self.held.remove(&key);
        }
        let is_part = request.sectors > 0 && request.sectors < first.sectors;
        if is_part {
            let rest = (request.kind, request.sector + request.sectors);
            self.held.entry(rest).or_default().push(Held {
                sectors: first.sectors - request.sectors,
                ..first
            });
            return;
        }
        self.depth.less(time_ns);
        let taken_ns = time_ns.saturating_sub(first.issued_ns);
        self.kind(request.kind).completed(taken_ns, failed);
    }

    fn kind(&mut self, kind: RequestKind) -> &mut Kind {
        self.kinds.entry(kind).or_insert_with(|| Kind::new(kind))
    }

    fn finish(self, end_ns: u64, lost_records: u64) -> BlockTrace {
        let mut programs: Vec<(String, u64)> = self.programs.into_iter().collect();
        programs.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        programs.truncate(PROGRAMS);
        let unfinished = self.held.values().map(|held| held.len() as u64).sum();
        BlockTrace {
            device: self.traced.name,
            device_number: self.traced.number,
            source: self.traced.source,
            kinds: self.kinds.into_values().map(Kind::finish).collect(),
            depth: self.depth.finish(end_ns),
            other_programs: programs,
            requeues: self.requeues,
            unmatched: self.unmatched,
            unfinished,
            lost_records,
        }
    }
}

/// The requests of one kind.
#[derive(Debug)]
struct Kind {
    trace: KindTrace,
    latencies: Histogram,
    sizes: BTreeMap<u64, u64>,
    /// Where the request before ended, sectors.
    end: Option<u64>,
}

impl Kind {
    fn new(kind: RequestKind) -> Self {
        Self {
            trace: KindTrace::new(kind),
            latencies: Histogram::new(),
            sizes: BTreeMap::new(),
            end: None,
        }
    }

    fn issued(&mut self, request: &Request, whose: Whose) {
        let bytes = request.sectors * SECTOR_BYTES;
        self.trace.all.count(bytes);
        match whose {
            Whose::Ours => {}
            Whose::Kernel => self.trace.kernel.count(bytes),
            Whose::Other => self.trace.others.count(bytes),
        }
        *self.sizes.entry(bytes).or_default() += 1;
        if request.sectors == 0 {
            return;
        }
        match self.end {
            Some(end) if end == request.sector => self.trace.sequential += 1,
            Some(end) => {
                let jump = end.abs_diff(request.sector).saturating_mul(SECTOR_BYTES);
                self.trace.jumps += 1;
                self.trace.jump_bytes = self.trace.jump_bytes.saturating_add(jump);
            }
            None => {}
        }
        self.end = Some(request.sector + request.sectors);
    }

    fn completed(&mut self, taken_ns: u64, failed: bool) {
        self.latencies.record(taken_ns);
        self.trace.errors += u64::from(failed);
    }

    fn finish(self) -> KindTrace {
        let sizes = self.sizes.into_iter();
        KindTrace {
            total_ns: self.latencies.sum_ns(),
            completed: self.latencies.count(),
            latencies: Some(self.latencies),
            sizes: sizes
                .map(|(bytes, requests)| SizeCount { bytes, requests })
                .collect(),
            ..self.trace
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DISK: (u32, u32) = (254, 0);

    fn requests() -> Requests {
        let traced = Traced {
            name: "vda".to_owned(),
            number: DISK,
            source: TraceSource::Requests,
        };
        Requests::new(vec![traced], 0)
    }

    fn read(sector: u64, sectors: u64) -> Request {
        Request {
            device: DISK,
            kind: RequestKind::Read,
            sector,
            sectors,
        }
    }

    fn owner(whose: Whose, name: &str) -> Owner {
        Owner {
            whose,
            name: name.to_owned(),
        }
    }

    fn only(requests: Requests, end_ns: u64) -> BlockTrace {
        requests.finish(end_ns, 0).pop().unwrap()
    }

    #[test]
    fn a_request_takes_from_its_issue_to_its_end() {
        let (mut all, ours) = (requests(), owner(Whose::Ours, "stiction"));
        all.issued(100, &read(0, 8), &ours);
        all.issued(150, &read(8, 8), &ours);
        all.completed(400, &read(8, 8), false);
        all.completed(600, &read(0, 8), true);
        let trace = only(all, 1000);
        let kind = trace.kind(RequestKind::Read).unwrap();
        assert_eq!((kind.all.requests, kind.all.bytes), (2, 8192));
        assert_eq!((kind.completed, kind.total_ns, kind.errors), (2, 750, 1));
        assert_eq!((kind.sequential, kind.jumps), (1, 0));
        let latencies = kind.latencies.as_ref().unwrap();
        assert_eq!(
            (latencies.min_ns(), latencies.max_ns()),
            (Some(250), Some(500))
        );
        // 100 to 600 one, of which 150 to 400 two.
        assert_eq!(trace.depth.held_ns.iter().sum::<u64>(), 750);
        assert_eq!((trace.depth.max, trace.unfinished), (2, 0));
        assert_eq!(
            kind.sizes,
            [SizeCount {
                bytes: 4096,
                requests: 2
            }]
        );
    }

    /// What virtio does when its ring is full: the time counts from the second issue, the
    /// request once, and the device did not have it in between.
    #[test]
    fn a_request_that_was_handed_back_is_one_request() {
        let (mut all, ours) = (requests(), owner(Whose::Ours, "stiction"));
        all.issued(100, &read(64, 8), &ours);
        all.requeued(110, &read(64, 8));
        all.issued(300, &read(64, 8), &ours);
        all.completed(350, &read(64, 8), false);
        // One that the driver never got before it was handed back.
        all.requeued(360, &read(512, 8));
        all.issued(370, &read(512, 8), &ours);
        all.completed(380, &read(512, 8), false);
        let trace = only(all, 1000);
        let kind = trace.kind(RequestKind::Read).unwrap();
        assert_eq!(
            (kind.all.requests, kind.completed, kind.total_ns),
            (2, 2, 60)
        );
        assert_eq!(
            (trace.requeues, trace.depth.max, trace.unmatched),
            (1, 1, 0)
        );
        assert_eq!(trace.depth.held_ns.iter().sum::<u64>(), 70);
    }

    #[test]
    fn the_same_place_may_be_asked_for_twice_at_once() {
        let (mut all, ours) = (requests(), owner(Whose::Ours, "stiction"));
        all.issued(100, &read(64, 8), &ours);
        all.issued(120, &read(64, 8), &ours);
        all.completed(200, &read(64, 8), false);
        all.completed(230, &read(64, 8), false);
        let trace = only(all, 1000);
        let kind = trace.kind(RequestKind::Read).unwrap();
        assert_eq!(
            (kind.all.requests, kind.completed, kind.total_ns),
            (2, 2, 210)
        );
        assert_eq!((kind.jumps, kind.jump_bytes), (1, 4096));
        assert_eq!((trace.requeues, trace.depth.max), (0, 2));
    }

    #[test]
    fn a_request_may_end_in_parts() {
        let (mut all, ours) = (requests(), owner(Whose::Ours, "stiction"));
        all.issued(0, &read(0, 16), &ours);
        all.completed(10, &read(0, 8), false);
        all.completed(30, &read(8, 8), false);
        let trace = only(all, 100);
        let kind = trace.kind(RequestKind::Read).unwrap();
        assert_eq!((kind.completed, kind.total_ns, trace.unmatched), (1, 30, 0));
    }

    #[test]
    fn what_began_before_or_ends_after_is_counted_as_that() {
        let (mut all, ours) = (requests(), owner(Whose::Ours, "stiction"));
        all.completed(10, &read(0, 8), false);
        let flushed = Request {
            kind: RequestKind::Write,
            ..read(0, 0)
        };
        all.completed(20, &flushed, false);
        all.issued(30, &read(8, 8), &ours);
        let elsewhere = Request {
            device: (7, 0),
            ..read(0, 8)
        };
        all.issued(30, &elsewhere, &ours);
        let trace = only(all, 100);
        assert_eq!((trace.unmatched, trace.unfinished), (1, 1));
        assert_eq!(trace.kinds.len(), 1);
    }

    #[test]
    fn others_are_told_apart_and_named() {
        let mut all = requests();
        for (at, whose, name) in [
            (0, Whose::Ours, "stiction"),
            (800, Whose::Kernel, "kworker"),
            (1600, Whose::Other, "backup"),
            (1608, Whose::Other, "backup"),
            (16, Whose::Other, "updatedb"),
        ] {
            all.issued(at, &read(at, 8), &owner(whose, name));
        }
        let trace = only(all, 10_000);
        let kind = &trace.kinds[0];
        assert_eq!(kind.all.requests, 5);
        assert_eq!((kind.others.requests, kind.others.bytes), (3, 3 * 4096));
        assert_eq!(kind.kernel.requests, 1);
        let named = |name: &str, count| (name.to_owned(), count);
        assert_eq!(
            trace.other_programs,
            [named("backup", 2), named("updatedb", 1)]
        );
        // 8 to 800, 808 to 1600, 1616 back to 16.
        assert_eq!((kind.sequential, kind.jumps), (1, 3));
        assert_eq!(kind.jump_bytes, (792 + 792 + 1600) * 512);
    }
}
