//! The thread that empties the rings while a phase runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;
use std::{io, process};

use rustix::time::{ClockId, clock_gettime};
use stiction_core::{BlockTrace, Profile, Witnesses, WritebackStall};

use super::owners::{Owners, ProgramName, Whose};
use super::records::{Record, call_chain, raw, records};
use super::requests::{Requests, Traced};
use super::rings::{PROFILE_HZ, ProfileRings, TracepointRings};
use super::sampled::Sampled;
use super::samples::Samples;
use super::stalls::Stalls;
use super::tracepoints::{Told, Tracepoint, of_record};
use crate::Roots;

/// How long rings fill between two drains.
const DRAIN_EVERY: Duration = Duration::from_millis(20);
/// How long counters are left alone between two looks, where there are no rings.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// Now, on the clock that records carry, ns.
pub(in crate::witness) fn now_ns() -> u64 {
    ns(ClockId::Monotonic)
}

fn ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// From where records come.
#[derive(Debug)]
pub(super) struct Sources {
    pub(super) tracepoints: Option<TracepointRings>,
    pub(super) profile: Option<ProfileRings>,
    /// In place of tracepoints.
    pub(super) sampled: Option<Sampled>,
    pub(super) devices: Vec<Traced>,
}

impl Sources {
    pub(super) fn are_none(&self) -> bool {
        self.tracepoints.is_none() && self.profile.is_none() && self.sampled.is_none()
    }

    pub(super) fn enable(&self) -> io::Result<()> {
        if let Some(profile) = &self.profile {
            profile.rings.enable()?;
        }
        if let Some(tracepoints) = &self.tracepoints {
            tracepoints.rings.enable()?;
        }
        Ok(())
    }

    fn disable(&self) {
        if let Some(tracepoints) = &self.tracepoints {
            tracepoints.rings.disable();
        }
        if let Some(profile) = &self.profile {
            profile.rings.disable();
        }
    }
}

/// What one record of a tracepoint, or about a process, comes to.
#[derive(Clone, Copy, Debug)]
struct Happened {
    time_ns: u64,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Told { pid: u32, tid: u32, told: Told },
    Forked { pid: u32, parent: u32 },
    Named { pid: u32, name: ProgramName },
    Exited { pid: u32 },
}

/// What a record from the rings of tracepoints comes to, if to anything.
fn happened(record: &Record<'_>, tracepoints: &[Tracepoint]) -> Option<Happened> {
    let (time_ns, what) = match *record {
        Record::Lost(_) => return None,
        Record::Named { pid, name, time_ns } => {
            let name = ProgramName::new(name);
            (time_ns, What::Named { pid, name })
        }
        Record::Fork {
            pid,
            parent,
            time_ns,
        } => (time_ns, What::Forked { pid, parent }),
        Record::Exit { pid, time_ns } => (time_ns, What::Exited { pid }),
        Record::Sample {
            pid,
            tid,
            time_ns,
            rest,
            ..
        } => {
            let fields = raw(rest);
            let told = of_record(tracepoints, fields)?.told(fields);
            (time_ns, What::Told { pid, tid, told })
        }
    };
    Some(Happened { time_ns, what })
}

/// Everything that was recorded of a phase.
#[derive(Debug)]
pub(super) struct Collected {
    block_traces: Vec<BlockTrace>,
    stalls: Option<Vec<WritebackStall>>,
    profile: Option<Profile>,
    /// Records that were read.
    pub(super) records: u64,
}

impl Collected {
    pub(super) fn enter(self, seen: &mut Witnesses) {
        seen.block_traces = self.block_traces;
        seen.writeback_stalls = self.stalls;
        seen.profile = self.profile;
    }
}

/// Empties the rings, and keeps what matters.
#[derive(Debug)]
pub(super) struct Collector {
    roots: Roots,
    sources: Sources,
    cpu_ns: Arc<AtomicU64>,
    start_ns: u64,
    owners: Owners,
    requests: Requests,
    stalls: Stalls,
    samples: Samples,
    /// Records of all CPUs that wait for older ones of others.
    waiting: Vec<Happened>,
    bytes: Vec<u8>,
    records: u64,
    lost: u64,
}

impl Collector {
    pub(super) fn new(roots: Roots, sources: Sources, cpu_ns: Arc<AtomicU64>) -> Self {
        let start_ns = now_ns();
        Self {
            owners: Owners::new(roots.clone(), process::id()),
            requests: Requests::new(sources.devices.clone(), start_ns),
            roots,
            sources,
            cpu_ns,
            start_ns,
            stalls: Stalls::default(),
            samples: Samples::default(),
            waiting: Vec::new(),
            bytes: Vec::new(),
            records: 0,
            lost: 0,
        }
    }

    /// Goes on until it is told when the phase ended.
    pub(super) fn run(mut self, stopped: &Receiver<u64>) -> Collected {
        let every = match self.sources.sampled {
            Some(_) => LOOK_EVERY,
            None => DRAIN_EVERY,
        };
        // A record gets its time a little before its place in the ring: what is older
        // than the last drain is all there.
        let mut settled_ns = self.start_ns;
        let end_ns = loop {
            match stopped.recv_timeout(every) {
                Ok(end_ns) => break end_ns,
                Err(RecvTimeoutError::Disconnected) => break now_ns(),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let drained_ns = now_ns();
            self.drain();
            self.work_off(settled_ns);
            settled_ns = drained_ns;
            self.look(drained_ns);
            let used_ns = ns(ClockId::ThreadCPUTime);
            self.cpu_ns.store(used_ns, Ordering::Relaxed);
        };
        self.sources.disable();
        self.drain();
        self.work_off(end_ns);
        self.look(end_ns);
        self.finish(end_ns)
    }

    fn look(&mut self, now_ns: u64) {
        if let Some(sampled) = &mut self.sources.sampled {
            sampled.look(&self.roots, now_ns);
            self.records += 1;
        }
    }

    fn drain(&mut self) {
        self.drain_tracepoints();
        self.drain_profile();
    }

    fn drain_tracepoints(&mut self) {
        let Some(all) = &mut self.sources.tracepoints else {
            return;
        };
        let tracepoints = &all.tracepoints;
        let (waiting, lost) = (&mut self.waiting, &mut self.lost);
        let read = &mut self.records;
        all.rings.drain(&mut self.bytes, |bytes| {
            for record in records(bytes) {
                *read += 1;
                match record {
                    Record::Lost(count) => *lost += count,
                    other => waiting.extend(happened(&other, tracepoints)),
                }
            }
        });
    }

    fn drain_profile(&mut self) {
        let Some(profile) = &mut self.sources.profile else {
            return;
        };
        let (owners, samples) = (&mut self.owners, &mut self.samples);
        let (read, start_ns) = (&mut self.records, self.start_ns);
        profile.rings.drain(&mut self.bytes, |bytes| {
            for record in records(bytes) {
                *read += 1;
                match record {
                    Record::Sample {
                        pid,
                        time_ns,
                        is_user,
                        rest,
                        ..
                    } if time_ns >= start_ns => {
                        let chain = match is_user {
                            true => Vec::new(),
                            false => call_chain(rest).collect(),
                        };
                        samples.take(owners.of(pid, b""), chain);
                    }
                    Record::Lost(count) => samples.lost += count,
                    _ => {}
                }
            }
        });
    }

    /// Takes what waits and is not younger than `until_ns`, in the order of time.
    fn work_off(&mut self, until_ns: u64) {
        self.waiting.sort_by_key(|happened| happened.time_ns);
        let ready = self
            .waiting
            .partition_point(|happened| happened.time_ns <= until_ns);
        let (owners, requests) = (&mut self.owners, &mut self.requests);
        for Happened { time_ns, what } in self.waiting.drain(..ready) {
            match what {
                What::Forked { pid, parent } => owners.forked(pid, parent),
                What::Named { pid, name } => owners.named(pid, name.text()),
                What::Exited { pid } => owners.exited(pid),
                What::Told { .. } if time_ns < self.start_ns => {}
                What::Told { pid, tid, told } => match told {
                    Told::Issued(request, program) => {
                        let owner = owners.of(pid, program.text());
                        requests.issued(time_ns, &request, owner);
                    }
                    Told::Requeued(request) => requests.requeued(time_ns, &request),
                    Told::Completed(request, failed) => {
                        requests.completed(time_ns, &request, failed);
                    }
                    Told::Paused(pause_ms) => {
                        let is_ours = owners.of(pid, b"").whose == Whose::Ours;
                        self.stalls
                            .paused(owners.thread_name(tid), is_ours, pause_ms);
                    }
                },
            }
        }
    }

    fn finish(self, end_ns: u64) -> Collected {
        let is_traced = self.sources.tracepoints.is_some();
        Collected {
            block_traces: match self.sources.sampled {
                Some(sampled) => sampled.finish(end_ns),
                None if is_traced => self.requests.finish(end_ns, self.lost),
                None => Vec::new(),
            },
            stalls: is_traced.then(|| self.stalls.finish()),
            profile: self
                .sources
                .profile
                .is_some()
                .then(|| self.samples.finish(PROFILE_HZ)),
            records: self.records,
        }
    }
}
