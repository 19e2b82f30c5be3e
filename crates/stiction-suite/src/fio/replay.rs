//! A trace, played: its steps in their order, each at its moment.
//!
//! The threads share one list and take its steps in turn, so that as many are under way
//! as there are threads. A latency counts from the moment at which the trace has the step:
//! what begins late because the ones before it took long is charged for that.

use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use stiction_core::{
    Caveat, Direction, Phase, PhaseKind, ProgramPart, Seed, SyncKind, TraceCall, TraceStep,
};
use stiction_engine::{Cause, IoFailure, Operation, Routine, Stopwatch, Target, Timetable};

use crate::open_file::{OpenFile, PageBuffer, Use};
use crate::perform::{Performance, perform};
use crate::{Context, EventsError, Ground};

/// Every so many bytes of what is written differ from every other write.
const SECTOR_BYTES: usize = 512;

/// A part that plays a trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replay<'a> {
    pub(super) part: &'a ProgramPart,
    /// Steps that may be under way at a time, a thread each.
    pub(super) in_flight: u32,
    pub(super) steps: &'a [TraceStep],
    /// The files of the steps.
    pub(super) targets: &'a [Target],
}

impl Replay<'_> {
    /// Plays it between witnesses; the failure to open a file leaves no phase.
    ///
    /// # Errors
    /// When the events could not keep the phase.
    pub(super) fn play(
        &self,
        ground: &Ground,
        caveats: Vec<Caveat>,
        context: &mut Context<'_>,
    ) -> Result<Result<Phase, IoFailure>, EventsError> {
        let opened: Result<Vec<_>, _> = (0..self.in_flight).map(|one| self.open(one)).collect();
        let opened = match opened {
            Ok(opened) => opened,
            Err(failure) => return Ok(Err(failure)),
        };
        let job = &self.part.job;
        let next = AtomicUsize::new(0);
        let (steps, seed) = (self.steps, job.seed);
        let workers = opened.into_iter().zip(0..);
        let routines = workers.map(|(files, worker)| -> Routine<'_> {
            let next = &next;
            let mut buffer = PageBuffer::new(longest(steps));
            fill(buffer.bytes(), seed.stream(worker));
            Box::new(move |stopwatch| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(step) = steps.get(number) else {
                        return Ok(());
                    };
                    let file = &files[usize::from(step.file)];
                    let buffer = &mut buffer.bytes()[..step.length_bytes as usize];
                    if step.call == TraceCall::Write {
                        mark(buffer, seed.stream(number as u64));
                    }
                    if !take(step, file, buffer, stopwatch)? {
                        return Ok(());
                    }
                }
            })
        });
        let performance = Performance {
            name: &self.part.phase,
            kind: PhaseKind::Measure,
            job: Some(job.clone()),
            asked_operations: self.asked_operations(),
            timetable: Timetable {
                counted: &[Direction::Read, Direction::Write, Direction::Trim],
                also: &[Direction::Sync, Direction::Lateness],
                interval_ns: job.interval_ns,
                duration_ns: job.duration_ns,
            },
            routines: routines.collect(),
            stacks: ground.stacks(),
            files: ground.paths(),
            writes_below: Vec::new(),
            direct_granted: job.direct.then_some(true),
            caveats,
            notes: vec![self.note()],
        };
        perform(context, performance).map(Ok)
    }

    /// The files, for one thread. A file that no step changes is opened for reading.
    fn open(&self, worker: u32) -> Result<Vec<OpenFile>, IoFailure> {
        let mut changed = vec![false; self.targets.len()];
        for step in self.steps.iter().filter(|step| step.changes()) {
            changed[usize::from(step.file)] = true;
        }
        let files = self.targets.iter().zip(changed);
        files
            .map(|(target, changed)| {
                let used = if changed { Use::Update } else { Use::Read };
                let path: PathBuf = target.path_to_open();
                if changed && is_ungranted_device(target) {
                    return Err(IoFailure {
                        worker,
                        operation: Operation::Open,
                        path,
                        offset_bytes: None,
                        cause: Cause::Errno(libc::EPERM),
                    });
                }
                OpenFile::open(&path, worker, used, self.part.job.direct)
            })
            .collect()
    }

    /// Operations that were to begin before the time was up; `None` where the trace has
    /// no moments.
    fn asked_operations(&self) -> Option<u64> {
        let end_ns = self.part.job.duration_ns.unwrap_or(u64::MAX);
        let timed = self.steps.iter().any(|step| step.is_timed);
        let asked = self.steps.iter().filter(|step| step.is_data());
        timed.then(|| asked.filter(|step| step.at_ns <= end_ns).count() as u64)
    }

    fn note(&self) -> String {
        let threads = match self.in_flight {
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads that take them in turn"),
        };
        let moments = if self.steps.iter().any(|step| step.is_timed) {
            "each at its moment, from which its latency counts"
        } else {
            "each as soon as it may"
        };
        format!(
            "a trace of {} steps, played by {threads} with pread and pwrite, {moments}; its \
             files stay open",
            self.steps.len()
        )
    }
}

/// Whether a target that is said to be a file is a device: those are only ever read.
fn is_ungranted_device(target: &Target) -> bool {
    let Target::File(path) = target else {
        return false;
    };
    let metadata = std::fs::metadata(path);
    metadata.is_ok_and(|metadata| metadata.file_type().is_block_device())
}

/// Waits for the moment of a step, takes it and records it. Returns whether there is time
/// for another.
fn take(
    step: &TraceStep,
    file: &OpenFile,
    buffer: &mut [u8],
    stopwatch: &mut Stopwatch<'_>,
) -> Result<bool, IoFailure> {
    let intended = step.is_timed.then(|| stopwatch.at(step.at_ns));
    if let Some(intended) = intended
        && !stopwatch.wait_until(intended)
    {
        return Ok(false);
    }
    let begun = stopwatch.now();
    if let Some(intended) = intended {
        stopwatch.record_lateness(intended, begun);
    }
    let at = step.offset_bytes;
    let direction = match step.call {
        TraceCall::Read => {
            let got = file.read_at(buffer, at)?;
            if got < buffer.len() {
                return Err(file.too_short(at, got, buffer.len()));
            }
            Direction::Read
        }
        TraceCall::Write => {
            file.write_at(buffer, at)?;
            Direction::Write
        }
        TraceCall::Trim => {
            file.punch(at, step.length_bytes.into())?;
            Direction::Trim
        }
        TraceCall::Fsync => {
            file.flush(SyncKind::Fsync)?;
            Direction::Sync
        }
        TraceCall::Fdatasync => {
            file.flush(SyncKind::Fdatasync)?;
            Direction::Sync
        }
    };
    let bytes = u64::from(step.length_bytes);
    stopwatch.record(direction, intended.unwrap_or(begun), bytes);
    Ok(!stopwatch.is_over())
}

/// Length of the longest step, bytes.
fn longest(steps: &[TraceStep]) -> usize {
    let lengths = steps.iter().map(|step| step.length_bytes);
    lengths.max().unwrap_or(0) as usize
}

/// Fills a buffer with bytes that do not compress.
fn fill(buffer: &mut [u8], seed: Seed) {
    for (word, bytes) in (0..).zip(buffer.chunks_mut(8)) {
        let drawn = seed.stream(word).0.to_le_bytes();
        bytes.copy_from_slice(&drawn[..bytes.len()]);
    }
}

/// Makes each sector differ from those of every other write.
fn mark(buffer: &mut [u8], seed: Seed) {
    for (sector, bytes) in (0..).zip(buffer.chunks_mut(SECTOR_BYTES)) {
        let drawn = seed.stream(sector).0.to_le_bytes();
        let length = bytes.len().min(drawn.len());
        bytes[..length].copy_from_slice(&drawn[..length]);
    }
}
