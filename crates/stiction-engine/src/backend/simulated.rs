//! A device that is not there, in time that is not either: what queues of servers do
//! with operations, to the nanosecond, for tests of what the engine makes of it.

use std::collections::VecDeque;

use rustix::io::Errno;
use stiction_core::SyncKind;

use super::Backend;
use crate::clock::simulated::{advance_to, now_ns};
use crate::draw::Draw;
use crate::failure::Fault;
use crate::files::FileTable;
use crate::memory::Buffers;
use crate::request::Request;
use crate::simulation::{Service, SimulatedFault, Simulation};
use crate::slots::ManySlots;
use crate::task::Task;
use crate::{EngineError, Target};

/// One worker's device. First come, first served, by whichever server is free first.
pub(crate) struct Simulated {
    simulation: Simulation,
    buffers: Buffers,
    draw: Draw,
    /// When each server is free, ns.
    free_ns: Box<[u64]>,
    queued: Vec<(u32, Request)>,
    /// In the order in which they end.
    flying: VecDeque<Flying>,
    /// Operations that have begun.
    begun: u64,
}

/// An operation that is being served, or waits for it.
struct Flying {
    slot: u32,
    end_ns: u64,
    result: i32,
}

impl Simulated {
    /// Decides what becomes of everything that is queued.
    fn begin_queued(&mut self) {
        let now_ns = now_ns();
        for (slot, request) in self.queued.drain(..) {
            self.begun += 1;
            let number = self.begun;
            let stall_ns = self.simulation.stall_ns(number);
            if stall_ns > 0 {
                let begin_ns = least(&mut self.free_ns).map_or(now_ns, |free| (*free).max(now_ns));
                for free in &mut self.free_ns {
                    *free = (*free).max(begin_ns + stall_ns);
                }
            }
            let service_ns = service_ns(self.simulation.service, &mut self.draw);
            let Some(free) = least(&mut self.free_ns) else {
                continue;
            };
            let end_ns = (*free).max(now_ns) + service_ns;
            *free = end_ns;
            let result = match self.simulation.fault(number) {
                None => request.whole_result(),
                Some(SimulatedFault::Error { errno }) => -errno,
                Some(SimulatedFault::Short { bytes } | SimulatedFault::EndOfFile { bytes }) => {
                    bytes as i32
                }
            };
            let place = self.flying.partition_point(|other| other.end_ns <= end_ns);
            let flying = Flying {
                slot,
                end_ns,
                result,
            };
            self.flying.insert(place, flying);
        }
    }
}

/// The server that is free first.
fn least(free_ns: &mut [u64]) -> Option<&mut u64> {
    free_ns.iter_mut().min_by_key(|free| **free)
}

/// How long the next operation is served, ns; 1 at least.
fn service_ns(service: Service, draw: &mut Draw) -> u64 {
    match service {
        Service::Fixed { ns } => ns.max(1),
        Service::Exponential { mean_ns } => ((-draw.unit().ln() * mean_ns as f64) as u64).max(1),
    }
}

impl Backend for Simulated {
    type Slots = ManySlots;

    fn prepare(task: &Task<'_>) -> Result<Self, EngineError> {
        let Some(Target::Simulated(simulation)) = task.target(0) else {
            unreachable!("chosen for simulated targets only");
        };
        let seed = simulation.seed.stream(task.worker.into());
        Ok(Self {
            buffers: task.buffers()?,
            draw: Draw::new(seed),
            free_ns: vec![0; simulation.servers.max(1) as usize].into(),
            queued: Vec::with_capacity(task.depth as usize),
            flying: VecDeque::with_capacity(task.depth as usize),
            begun: 0,
            simulation: simulation.clone(),
        })
    }

    fn buffer(&mut self, slot: u32) -> &mut [u8] {
        self.buffers.slot(slot)
    }

    fn queue(&mut self, slot: u32, request: Request) {
        self.queued.push((slot, request));
    }

    fn commit(&mut self, wait_for: u32) -> Result<(), Errno> {
        self.begin_queued();
        let last = (wait_for as usize).min(self.flying.len()).checked_sub(1);
        if let Some(flying) = last.and_then(|last| self.flying.get(last)) {
            advance_to(flying.end_ns);
        }
        Ok(())
    }

    fn commit_for(&mut self, timeout_ns: u64) -> Result<(), Errno> {
        self.begin_queued();
        let until_ns = now_ns().saturating_add(timeout_ns);
        let first_ns = self.flying.front().map_or(until_ns, |flying| flying.end_ns);
        advance_to(until_ns.min(first_ns));
        Ok(())
    }

    fn reap(&mut self) -> Option<(u32, i32)> {
        let now_ns = now_ns();
        let ended = self.flying.pop_front_if(|flying| flying.end_ns <= now_ns)?;
        Some((ended.slot, ended.result))
    }

    /// The rest of a short operation comes at once, or never where the file has ended.
    fn transfer(&mut self, _slot: u32, request: Request, done: usize) -> i32 {
        let ends_at = self.simulation.ends_at();
        if ends_at == Some(done as u64) {
            return 0;
        }
        request.whole_result() - done as i32
    }

    fn files(&mut self) -> Option<&mut FileTable> {
        None
    }

    fn sync(&mut self, _file: u32, _kind: SyncKind) -> Result<(), Fault> {
        advance_to(now_ns().saturating_add(self.simulation.sync_ns));
        Ok(())
    }
}
