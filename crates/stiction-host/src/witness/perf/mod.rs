//! What is recorded while a phase runs: each request on the devices under it, waits of
//! writers, and a profile of the CPUs; from the kernel's performance events.

mod collector;
mod depth;
mod devices;
mod format;
mod owners;
mod records;
mod requests;
mod rings;
mod sampled;
mod samples;
mod stalls;
mod symbols;
mod tracefs;
mod tracepoints;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use stiction_core::{TargetStack, WitnessCost, Witnesses};

use crate::Roots;
use collector::{Collected, Collector, Sources};
use requests::Traced;
use rings::{ProfileRings, TracepointRings};
use sampled::Sampled;

pub(super) use collector::now_ns;

/// What gives a witness that the kernel refuses.
const ADVICE: &str = "root has it, and who has CAP_PERFMON and may read tracefs";

/// Everything that records while a phase runs, with the thread that reads it.
#[derive(Debug)]
pub(super) struct Recorders {
    /// Until they are started.
    sources: Option<Sources>,
    thread: Option<(JoinHandle<Collected>, Sender<u64>)>,
    /// CPU time of that thread so far, ns.
    cpu_ns: Arc<AtomicU64>,
    missing: Vec<String>,
    took: Duration,
    end_ns: u64,
}

impl Recorders {
    /// Makes everything ready to record on the devices under `stacks`. What cannot be
    /// had is left out, and the next best taken for it.
    pub(super) fn open(stacks: &[TargetStack]) -> Self {
        let begun = Instant::now();
        let roots = Roots::live();
        let mut missing = Vec::new();
        let devices = devices::under(&roots, stacks);
        if devices.is_empty() {
            let reason = "requests on devices: the target stands on no block device that is known";
            missing.push(reason.to_owned());
        }
        let tracepoints = TracepointRings::open(&roots, &devices)
            .map_err(|error| missing.push(refused("block tracepoints", &error)))
            .ok();
        let profile = ProfileRings::open(&roots)
            .map_err(|error| missing.push(refused("profile", &error)))
            .ok();
        let sources = Sources {
            tracepoints,
            profile,
            sampled: None,
            devices,
        };
        Self {
            sources: Some(sources),
            thread: None,
            cpu_ns: Arc::new(AtomicU64::new(0)),
            missing,
            took: begun.elapsed(),
            end_ns: 0,
        }
    }

    /// Begins to record.
    pub(super) fn start(&mut self) {
        let begun = Instant::now();
        let roots = Roots::live();
        let Some(mut sources) = self.sources.take() else {
            return;
        };
        if sources.tracepoints.is_none() {
            let waits = "waits of writers: they are seen by a tracepoint alone";
            self.missing.push(waits.to_owned());
            sources.sampled = sampled(&roots, &sources.devices, &mut self.missing);
        }
        match run(roots, sources, Arc::clone(&self.cpu_ns)) {
            Ok(thread) => self.thread = thread,
            Err(error) => {
                let missing = format!("requests on devices, profile: {error}");
                self.missing.push(missing);
            }
        }
        self.took += begun.elapsed();
    }

    /// CPU time that reading took so far, ns: it is of our process and not of its work.
    pub(super) fn cpu_ns(&self) -> u64 {
        self.cpu_ns.load(Ordering::Relaxed)
    }

    /// Ends the recording: what comes later is not of the phase.
    pub(super) fn stop(&mut self) {
        self.end_ns = now_ns();
        if let Some((_, stop)) = &self.thread {
            // A thread that is gone has nothing to be told; its end is seen when joined.
            let _ = stop.send(self.end_ns);
        }
    }

    /// Enters what was recorded.
    pub(super) fn finish(self, seen: &mut Witnesses) {
        let begun = Instant::now();
        seen.unexplained.extend(self.missing);
        let Some((thread, _)) = self.thread else {
            return;
        };
        let Ok(collected) = thread.join() else {
            let reason = "requests on devices, profile: their thread ended in a panic";
            seen.unexplained.push(reason.to_owned());
            return;
        };
        let records = collected.records;
        collected.enter(seen);
        let beside = self.took + begun.elapsed();
        seen.costs.push(WitnessCost {
            witness: "events".to_owned(),
            beside_ns: u64::try_from(beside.as_nanos()).unwrap_or(u64::MAX),
            during_cpu_ns: self.cpu_ns.load(Ordering::Relaxed),
            records,
        });
    }
}

/// Starts the thread that reads; none where there is nothing to be read.
fn run(
    roots: Roots,
    sources: Sources,
    cpu_ns: Arc<AtomicU64>,
) -> io::Result<Option<(JoinHandle<Collected>, Sender<u64>)>> {
    if sources.are_none() {
        return Ok(None);
    }
    let (stop, stopped) = channel();
    sources.enable()?;
    let collector = Collector::new(roots, sources, cpu_ns);
    let thread = Builder::new()
        .name("witness".to_owned())
        .spawn(move || collector.run(&stopped))?;
    Ok(Some((thread, stop)))
}

fn sampled(roots: &Roots, devices: &[Traced], missing: &mut Vec<String>) -> Option<Sampled> {
    if devices.is_empty() {
        return None;
    }
    match Sampled::begin(roots, devices, now_ns()) {
        Ok(sampled) => Some(sampled),
        Err(error) => {
            missing.push(format!("counters of devices many times a second: {error}"));
            None
        }
    }
}

fn refused(what: &str, error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => format!("{what}: {error}; {ADVICE}"),
        _ => format!("{what}: {error}"),
    }
}
