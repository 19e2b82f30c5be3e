//! What the counters of a device tell when they are read many times a second: the next
//! best to seeing each request (`Documentation/block/stat.rst`).

use std::io;

use stiction_core::{BlockTrace, KindTrace, RequestCount, RequestKind, TraceSource};

use super::depth::Depth;
use super::requests::Traced;
use crate::Roots;

const SECTOR_BYTES: u64 = 512;
const NS_PER_MS: u64 = 1_000_000;

/// The numbers of one reading of `/sys/block/X/stat`.
type Counters = Vec<u64>;

/// Where the counters of each kind are: requests, sectors, time in ms.
const KINDS: [(RequestKind, usize, Option<usize>, usize); 4] = [
    (RequestKind::Read, 0, Some(2), 3),
    (RequestKind::Write, 4, Some(6), 7),
    (RequestKind::Discard, 11, Some(13), 14),
    (RequestKind::Flush, 15, None, 16),
];
const IN_FLIGHT: usize = 8;
/// What kernels before 4.18 have.
const FEWEST: usize = 11;

/// Devices whose counters are read.
#[derive(Debug)]
pub(super) struct Sampled {
    devices: Vec<Device>,
}

#[derive(Debug)]
struct Device {
    traced: Traced,
    before: Counters,
    after: Counters,
    depth: Depth,
}

impl Sampled {
    /// Reads them for the first time.
    pub(super) fn begin(roots: &Roots, devices: &[Traced], now_ns: u64) -> io::Result<Self> {
        let mut all = Vec::new();
        for traced in devices {
            let before = counters(roots, &traced.name)?;
            all.push(Device {
                traced: Traced {
                    source: TraceSource::Sampled,
                    ..traced.clone()
                },
                after: before.clone(),
                before,
                depth: Depth::new(now_ns),
            });
        }
        Ok(Self { devices: all })
    }

    /// Reads them again.
    pub(super) fn look(&mut self, roots: &Roots, now_ns: u64) {
        for device in &mut self.devices {
            // A device that is gone stays at what it had come to.
            let Ok(after) = counters(roots, &device.traced.name) else {
                continue;
            };
            let in_flight = after[IN_FLIGHT].try_into().unwrap_or(u32::MAX);
            device.depth.set(now_ns, in_flight);
            device.after = after;
        }
    }

    /// What they grew by.
    pub(super) fn finish(self, end_ns: u64) -> Vec<BlockTrace> {
        self.devices
            .into_iter()
            .map(|device| BlockTrace {
                kinds: KINDS
                    .iter()
                    .filter_map(|place| device.kind(*place))
                    .collect(),
                device: device.traced.name,
                device_number: device.traced.number,
                source: device.traced.source,
                depth: device.depth.finish(end_ns),
                other_programs: Vec::new(),
                requeues: 0,
                unmatched: 0,
                unfinished: 0,
                lost_records: 0,
            })
            .collect()
    }
}

impl Device {
    /// `None` for kinds that were not asked for.
    fn kind(
        &self,
        (kind, requests, sectors, ms): (RequestKind, usize, Option<usize>, usize),
    ) -> Option<KindTrace> {
        let grown = |at: usize| {
            let (before, after) = (self.before.get(at)?, self.after.get(at)?);
            after.checked_sub(*before)
        };
        let requests = grown(requests).filter(|requests| *requests > 0)?;
        let sectors = sectors.and_then(grown).unwrap_or(0);
        Some(KindTrace {
            all: RequestCount {
                requests,
                bytes: sectors * SECTOR_BYTES,
            },
            total_ns: grown(ms)? * NS_PER_MS,
            completed: requests,
            ..KindTrace::new(kind)
        })
    }
}

fn counters(roots: &Roots, device: &str) -> io::Result<Counters> {
    let text = roots.text(format!("/sys/class/block/{device}/stat"))?;
    let numbers: Result<Counters, _> = text.split_ascii_whitespace().map(str::parse).collect();
    numbers
        .ok()
        .filter(|numbers| numbers.len() >= FEWEST)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "its counters cannot be read"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "/sys/class/block/sda/stat";

    #[test]
    fn means_are_of_what_the_counters_grew_by() {
        let first = "100 0 800 50 10 0 80 20 0 0 70 0 0 0 0 5 4\n";
        let top = testkit::machine::lay_out(&format!("{STAT}: {first}"));
        let roots = Roots::at(top.path());
        let traced = Traced {
            name: "sda".to_owned(),
            number: (8, 0),
            source: TraceSource::Requests,
        };
        let mut sampled = Sampled::begin(&roots, &[traced], 0).unwrap();
        let second = "104 0 864 58 10 0 80 20 3 0 99 0 0 0 0 6 6\n";
        std::fs::write(top.path().join(&STAT[1..]), second).unwrap();
        sampled.look(&roots, 1_000_000);
        let traces = sampled.finish(3_000_000);
        let trace = &traces[0];
        assert_eq!(trace.source, TraceSource::Sampled);
        assert_eq!(trace.kinds.len(), 2, "nothing was written: {trace:?}");
        let read = trace.kind(RequestKind::Read).unwrap();
        assert_eq!((read.all.requests, read.all.bytes), (4, 64 * 512));
        assert_eq!(read.mean_ns(), Some(2e6));
        assert_eq!(read.latencies, None);
        assert_eq!(trace.kind(RequestKind::Flush).unwrap().mean_ns(), Some(2e6));
        assert_eq!((trace.depth.max, trace.depth.mean()), (3, Some(2.0)));
    }

    #[test]
    fn a_device_without_counters_is_an_error() {
        let top = testkit::machine::lay_out("/sys/class/block/sda/stat: 1 2 3\n");
        let traced = Traced {
            name: "sda".to_owned(),
            number: (8, 0),
            source: TraceSource::Requests,
        };
        assert!(Sampled::begin(&Roots::at(top.path()), &[traced], 0).is_err());
    }
}
