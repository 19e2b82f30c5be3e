//! Events of all CPUs, each CPU with a ring.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use super::requests::Traced;
use super::tracefs::Tracefs;
use super::tracepoints::{self, Tracepoint};
use crate::Roots;
use crate::sys::perf::{self, Event, Ring};

/// Samples a second and CPU: no divisor of what kernels do at regular times.
pub(super) const PROFILE_HZ: u32 = 997;

/// Room for the records of one CPU.
const TRACE_BYTES: usize = 2 << 20;
const PROFILE_BYTES: usize = 512 << 10;
/// All rings of a kind together take no more than this; they cannot be swapped out.
const ALL_BYTES: usize = 64 << 20;
const FEWEST_BYTES: usize = 64 << 10;

/// Events, and the rings that they write into.
#[derive(Debug, Default)]
pub(super) struct Rings {
    events: Vec<OwnedFd>,
    rings: Vec<Ring>,
}

impl Rings {
    pub(super) fn enable(&self) -> io::Result<()> {
        let mut events = self.events.iter();
        events.try_for_each(|event| perf::enable(event.as_fd()))
    }

    /// Ends recording. What an event that cannot be ended still writes is beyond the end
    /// of the phase.
    pub(super) fn disable(&self) {
        for event in &self.events {
            let _ = perf::disable(event.as_fd());
        }
    }

    /// Hands the records of each CPU to `take`, in the order of that CPU.
    pub(super) fn drain(&mut self, bytes: &mut Vec<u8>, mut take: impl FnMut(&[u8])) {
        for ring in &mut self.rings {
            bytes.clear();
            ring.drain(bytes);
            take(bytes);
        }
    }

    fn add_ring(&mut self, event: OwnedFd, bytes: usize) -> io::Result<()> {
        self.rings.push(Ring::map(event.as_fd(), bytes)?);
        self.events.push(event);
        Ok(())
    }
}

/// Tracepoints of requests and of waiting writers.
#[derive(Debug)]
pub(super) struct TracepointRings {
    pub(super) rings: Rings,
    pub(super) tracepoints: Vec<Tracepoint>,
}

impl TracepointRings {
    /// Opens them; the kernel then passes them a little slower, on all CPUs.
    pub(super) fn open(roots: &Roots, devices: &[Traced]) -> io::Result<Self> {
        let tracefs = Tracefs::open()?;
        let mut tracepoints = tracepoints::of_devices(&tracefs, devices)?;
        tracepoints.push(tracepoints::of_writeback(&tracefs)?);
        let cpus = online(roots)?;
        let mut rings = Rings::default();
        for cpu in &cpus {
            let mut first: Option<usize> = None;
            for tracepoint in &tracepoints {
                let event = perf::open(
                    Event::Tracepoint {
                        id: tracepoint.id,
                        with_tasks: first.is_none(),
                    },
                    *cpu,
                )?;
                if let Some(filter) = &tracepoint.filter {
                    perf::set_filter(event.as_fd(), filter)?;
                }
                match first {
                    None => {
                        first = Some(rings.events.len());
                        rings.add_ring(event, size_bytes(TRACE_BYTES, cpus.len()))?;
                    }
                    Some(first) => {
                        perf::write_into_ring_of(event.as_fd(), rings.events[first].as_fd())?;
                        rings.events.push(event);
                    }
                }
            }
        }
        Ok(Self { rings, tracepoints })
    }
}

/// Samples of what runs on each CPU.
#[derive(Debug)]
pub(super) struct ProfileRings {
    pub(super) rings: Rings,
}

impl ProfileRings {
    /// Opens them.
    pub(super) fn open(roots: &Roots) -> io::Result<Self> {
        let cpus = online(roots)?;
        let mut rings = Rings::default();
        for cpu in &cpus {
            let event = perf::open(Event::Profile { hz: PROFILE_HZ }, *cpu)?;
            rings.add_ring(event, size_bytes(PROFILE_BYTES, cpus.len()))?;
        }
        Ok(Self { rings })
    }
}

/// A power of two, as rings are, that keeps all of them within bounds.
fn size_bytes(wanted: usize, cpus: usize) -> usize {
    let share = ALL_BYTES / cpus.max(1);
    let share = 1 << share.max(FEWEST_BYTES).ilog2();
    wanted.min(share)
}

/// The CPUs that are there: `0-3,8`.
fn online(roots: &Roots) -> io::Result<Vec<u32>> {
    let text = roots.text("/sys/devices/system/cpu/online")?;
    let cpus = ranges(&text).filter(|cpus| !cpus.is_empty());
    cpus.ok_or_else(|| {
        let problem = "/sys/devices/system/cpu/online cannot be read";
        io::Error::new(io::ErrorKind::InvalidData, problem)
    })
}

fn ranges(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        all.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_are_listed_in_ranges() {
        assert_eq!(ranges("0"), Some(vec![0]));
        assert_eq!(ranges("0-2,8"), Some(vec![0, 1, 2, 8]));
        assert_eq!(ranges("none"), None);
    }

    #[test]
    fn many_cpus_have_small_rings() {
        assert_eq!(size_bytes(TRACE_BYTES, 2), 2 << 20);
        assert_eq!(size_bytes(TRACE_BYTES, 96), 512 << 10);
        assert_eq!(size_bytes(TRACE_BYTES, 5000), 64 << 10);
    }
}
