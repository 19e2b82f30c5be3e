//! One worker from its first allocation to its last figure.

use stiction_core::{
    Access, Action, BackendKind, CpuTime, Depths, Job, Seed, SyncKind, Timing, WorkerSummary,
};

use crate::backend::{
    Backend, IoUring, Libaio, Mmap, Null, Psync, Remarks, Simulated, Single, Splice,
};
use crate::data::{Findings, Ledger, Payload};
use crate::drive::{Done, drive};
use crate::failure::Fault;
use crate::gate::{Gate, Start};
use crate::immediate::drive_immediate;
use crate::log::{Log, Signals, Tracks};
use crate::offsets::{Independent, Permutation, Sequential};
use crate::placement::{observed, place};
use crate::recorder::Series;
use crate::request::{Plain, Requests, Way};
use crate::skew::Skewed;
use crate::slots::Slots;
use crate::steered::{Steered, drive_steered, is_steered};
use crate::streams::Streams;
use crate::task::Task;
use crate::thread::{Usage, own_file_table};
use crate::turnover;
use crate::varied::Varied;
use crate::waiting::wait;
use crate::{EngineError, IoFailure, Mismatch, Target};

/// Numbers of the streams that a worker draws from its own seed.
const OFFSET_STREAM: u64 = 0;
const DATA_STREAM: u64 = 1;
const ARRIVALS_STREAM: u64 = 2;

/// What a worker hands back.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) summary: WorkerSummary,
    pub(crate) cpu: CpuTime,
    /// Nothing in them when there is one operation at a time.
    pub(crate) depths: Depths,
    pub(crate) failure: Option<Failed>,
    pub(crate) stopped: bool,
    /// Whether a job beside this one ended it.
    pub(crate) cut: bool,
    pub(crate) findings: Findings,
    pub(crate) mismatches: Vec<Mismatch>,
    pub(crate) series: Vec<Series>,
    /// When the worker was done with everything in its time, ns after the start.
    pub(crate) end_ns: u64,
    /// Transfers that took more than one call.
    pub(crate) continued: u64,
    /// Operations that were to begin, at a set pace.
    pub(crate) asked: u64,
    pub(crate) remarks: Remarks,
    /// Where it ran, of what it was asked to; see [`observed`].
    pub(crate) placed: Option<String>,
    pub(crate) steered: Steered,
}

/// A failure and when it was known, ns after the start.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) failure: IoFailure,
    pub(crate) at_ns: u64,
}

/// Runs one worker in the calling thread, `delay_ns` after the start; `None` when
/// there was no start.
///
/// # Errors
/// When it could not be made ready.
pub(crate) fn run(
    task: &Task<'_>,
    ledger: Option<&Ledger>,
    gate: &Gate,
    delay_ns: u64,
    signals: &Signals<'_>,
) -> Result<Option<Report>, EngineError> {
    let worker = Worker {
        task,
        ledger,
        gate,
        delay_ns,
        signals,
    };
    if let Some(Target::Simulated(_)) = task.target(0) {
        return worker.run::<Simulated>();
    }
    match task.job.backend {
        BackendKind::Psync => worker.run::<Single<Psync>>(),
        BackendKind::IoUring => worker.run::<IoUring>(),
        BackendKind::Libaio => worker.run::<Libaio>(),
        BackendKind::Mmap => worker.run::<Single<Mmap>>(),
        BackendKind::Splice => worker.run::<Single<Splice>>(),
        BackendKind::Null => worker.run::<Null>(),
    }
}

struct Worker<'a> {
    task: &'a Task<'a>,
    ledger: Option<&'a Ledger>,
    gate: &'a Gate,
    delay_ns: u64,
    signals: &'a Signals<'a>,
}

/// What is made before the start, whatever the backend.
struct Ready<S> {
    payload: Payload,
    slots: S,
    tracks: Tracks,
}

impl Worker<'_> {
    fn run<B: Backend>(&self) -> Result<Option<Report>, EngineError> {
        let arrival = self.gate.arrival();
        own_file_table();
        let placed = place(self.task.job, self.task.worker);
        let ready = placed.and_then(|()| self.make_ready()).and_then(|ready| {
            let early = (!self.task.job.open_in_time).then(|| self.prepare::<B>());
            Ok((ready, early.transpose()?))
        });
        if ready.is_err() {
            self.signals.fail();
        }
        drop(arrival);
        let (ready, early) = ready?;
        let Some(mut start) = self.gate.wait() else {
            return Ok(None);
        };
        start.delay_ns(self.delay_ns);
        let used_before = Usage::of_this_thread();
        let backend = early.map_or_else(|| self.prepare(), Ok);
        self.work(ready, backend, start, used_before).map(Some)
    }

    fn prepare<B: Backend>(&self) -> Result<B, EngineError> {
        let mut backend = B::prepare(self.task)?;
        Payload::prime(self.task, self.data_seed(), &mut backend);
        Ok(backend)
    }

    /// What the bytes of this worker's writes are drawn from.
    fn data_seed(&self) -> Seed {
        let seed = self.task.job.seed.stream(self.task.worker.into());
        seed.stream(DATA_STREAM)
    }

    fn make_ready<S: Slots>(&self) -> Result<Ready<S>, EngineError> {
        let job = self.task.job;
        Ok(Ready {
            payload: Payload::new(self.task, self.data_seed(), self.ledger)?,
            slots: S::new(self.task.depth),
            tracks: Tracks::new(job)
                .map_err(|none| none.of("latencies", "ask for fewer workers"))?,
        })
    }

    /// All that is measured, from the start on.
    fn work<B: Backend>(
        &self,
        ready: Ready<B::Slots>,
        backend: Result<B, EngineError>,
        start: Start,
        used_before: Usage,
    ) -> Result<Report, EngineError> {
        let Ready {
            mut payload,
            slots,
            tracks,
        } = ready;
        let mut log = Log::new(self.task.job, self.task.worker, start, tracks, self.signals);
        let mut backend = match backend {
            Ok(backend) => backend,
            Err(EngineError::Prepare(failure)) => return Ok(self.unopened(failure, log)),
            Err(error) => return Err(error),
        };
        let (mut done, written) = if self.delay_ns > 0 && !hold(&mut log) {
            (Done::nothing(log.now()), Vec::new())
        } else {
            self.operate(&mut backend, &mut payload, slots, &mut log)
        };
        let mut remarks = backend.remarks();
        if done.filled {
            let note = "there was no room for more: the filesystem or the quota is full";
            remarks.notes.push(note.to_owned());
        }
        let mut end = done.last;
        let mut used = Usage::since(used_before);
        self.sync_on_close(&mut done, &written, &mut backend, &mut payload, &log);
        if self.task.job.open_in_time {
            drop(backend);
            end = log.now();
            used = Usage::since(used_before);
        }
        Ok(self.report(done, end, used, remarks, payload, log))
    }

    /// Reads or writes, and syncs at the end if that is wanted; also says to which
    /// files it wrote.
    fn operate<B: Backend>(
        &self,
        backend: &mut B,
        payload: &mut Payload,
        slots: B::Slots,
        log: &mut Log<'_>,
    ) -> (Done, Vec<u32>) {
        let job = self.task.job;
        let seed = job.seed.stream(self.task.worker.into());
        let seed = seed.stream(OFFSET_STREAM);
        let task = self.task;
        let blocks = task.blocks(0);
        let (mut done, written) = match (plain_way(job), job.access, &job.skew) {
            _ if is_steered(job) => {
                let mut streams = Streams::new(task, seed, seed.stream(ARRIVALS_STREAM));
                let done = drive_steered(task, &mut streams, backend, payload, slots, log);
                (done, streams.written())
            }
            (Some(way), Access::Sequential, _) => {
                let mut requests = Plain::new(task, way, Sequential::new(blocks));
                timed(task, backend, &mut requests, payload, slots, log)
            }
            (Some(way), Access::RandomPermutation, _) => {
                let mut requests = Plain::new(task, way, Permutation::new(blocks, seed));
                timed(task, backend, &mut requests, payload, slots, log)
            }
            (Some(way), Access::RandomIndependent, None) => {
                let mut requests = Plain::new(task, way, Independent::new(blocks, seed));
                timed(task, backend, &mut requests, payload, slots, log)
            }
            (Some(way), Access::RandomIndependent, Some(skew)) => {
                let mut requests = Plain::new(task, way, Skewed::new(skew, blocks, seed));
                timed(task, backend, &mut requests, payload, slots, log)
            }
            (None, ..) => {
                let mut requests = Varied::new(task, seed);
                timed(task, backend, &mut requests, payload, slots, log)
            }
        };
        if job.until_full && done.fault.is_some_and(Fault::is_full) {
            done.fault = None;
            done.filled = true;
        }
        if let Some(kind) = job.sync_at_end {
            done.data_last = Some(done.last);
            self.sync_at_end(kind, &mut done, &written, backend, payload, log);
        }
        if done.fault.is_some() {
            self.signals.fail();
            done.last = log.now();
        }
        (done, written)
    }

    /// Syncs all files that were written to; those that are closed are opened for it.
    fn sync_at_end(
        &self,
        kind: SyncKind,
        done: &mut Done,
        written: &[u32],
        backend: &mut impl Backend,
        payload: &mut Payload,
        log: &mut Log<'_>,
    ) {
        for &file in written {
            let was_open = backend.is_open(file);
            if !was_open && let Err(fault) = backend.open(self.task, file) {
                done.fault = done.fault.or(Some(fault));
                return;
            }
            if !done.sync_now(file, kind, backend, payload, log) {
                return;
            }
            if !was_open {
                backend.close(file);
            }
        }
    }

    /// Syncs before files are closed, if that is wanted and there is no reason
    /// against it.
    fn sync_on_close(
        &self,
        done: &mut Done,
        written: &[u32],
        backend: &mut impl Backend,
        payload: &mut Payload,
        log: &Log<'_>,
    ) {
        let Some(kind) = self.task.job.sync_on_close else {
            return;
        };
        if done.fault.is_some() || log.was_stopped() {
            return;
        }
        let synced = written.iter().try_for_each(|&file| {
            // Those that are closed were synced when they were.
            match backend.is_open(file) {
                true => turnover::sync(file, kind, backend, payload),
                false => Ok(()),
            }
        });
        if let Err(fault) = synced {
            done.fault = Some(fault);
            self.signals.fail();
        }
    }

    fn report(
        &self,
        done: Done,
        end: u64,
        used: Usage,
        remarks: Remarks,
        payload: Payload,
        log: Log<'_>,
    ) -> Report {
        let ns = |ticks| log.since_start_ns(ticks);
        let findings = payload.into_findings();
        let failure = done.fault.map(|fault| Failed {
            failure: fault.of_task(self.task),
            at_ns: ns(done.last),
        });
        Report {
            summary: WorkerSummary {
                operations: done.operations,
                bytes: done.bytes,
                first_ns: ns(done.first),
                last_ns: ns(done.last),
                data_last_ns: done.data_last.map_or(0, ns),
                cpu_ns: used.cpu.total_ns,
                cpu_system_ns: used.cpu.system_ns,
                switches_voluntary: used.switches_voluntary,
                switches_involuntary: used.switches_involuntary,
                faults_minor: used.faults_minor,
                faults_major: used.faults_major,
                run_delay_ns: used.run_delay_ns,
            },
            cpu: used.cpu,
            depths: done.depths,
            failure,
            stopped: log.was_stopped(),
            cut: log.was_cut(),
            mismatches: findings.mismatches(self.task),
            findings,
            continued: done.continued,
            asked: done.asked,
            end_ns: ns(end),
            series: log.finish(done.operations, done.bytes),
            remarks,
            placed: observed(self.task.job),
            steered: done.steered,
        }
    }

    /// The report of a worker whose file could not be opened in its time.
    fn unopened(&self, failure: IoFailure, log: Log<'_>) -> Report {
        self.signals.fail();
        let at_ns = log.since_start_ns(log.now());
        Report {
            summary: WorkerSummary {
                first_ns: at_ns,
                last_ns: at_ns,
                ..WorkerSummary::default()
            },
            cpu: CpuTime::default(),
            depths: Depths::default(),
            failure: Some(Failed { failure, at_ns }),
            stopped: false,
            cut: false,
            findings: Findings::default(),
            mismatches: Vec::new(),
            continued: 0,
            asked: 0,
            end_ns: at_ns,
            series: log.finish(0, 0),
            remarks: Remarks::default(),
            placed: observed(self.task.job),
            steered: Steered::default(),
        }
    }
}

/// Waits until the worker is let go; false when it has to end before.
fn hold(log: &mut Log<'_>) -> bool {
    while log.is_early() && !log.is_over() {
        wait(log, log.released().min(log.next_event()));
        let now = log.now();
        if log.is_due(now) {
            log.attend(now, 0, 0);
        }
    }
    !log.is_over()
}

/// What each operation of `job` does, if all are of one way and size and no place
/// depends on the one before.
fn plain_way(job: &Job) -> Option<Way> {
    let varies = job.sizes.is_some()
        || job.stride.is_some()
        || job.hop_bytes.is_some()
        || job.cut_bytes.is_some()
        || job.run_operations > 1
        || job.jump_percent.is_some()
        || job.regions_per_worker > 1
        || job.read_back_every.is_some();
    match job.action {
        _ if varies => None,
        Action::Read => Some(Way::Read),
        Action::Write => Some(Way::Write),
        Action::Trim => Some(Way::Trim),
        Action::TrimWrite | Action::Mixed { .. } => None,
    }
}

/// The timed loop, compiled for the timing that the job needs.
fn timed<B: Backend>(
    task: &Task<'_>,
    backend: &mut B,
    requests: &mut impl Requests,
    payload: &mut Payload,
    slots: B::Slots,
    log: &mut Log<'_>,
) -> (Done, Vec<u32>) {
    // What is done between operations to data and files must not be in a latency.
    let exact = task.job.timing == Timing::Exact || !payload.is_idle() || task.turns_files_over();
    let done = if exact {
        drive::<_, _, true>(task, backend, requests, payload, slots, log)
    } else if backend.is_immediate() && !log.times_submission() {
        drive_immediate(task, backend, requests, payload, log)
    } else {
        drive::<_, _, false>(task, backend, requests, payload, slots, log)
    };
    (done, requests.written())
}
