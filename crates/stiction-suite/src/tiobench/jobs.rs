//! From a cell and a phase to a job.

use stiction_core::{
    Access, Action, Cell, Create, Data, Job, Region, Seed, StartOrder, SyncEvery, SyncKind,
};

use super::amounts::{
    classic_file_bytes, even_file_bytes, file_regions, random_operations, raw_regions,
};
use super::options::{RandomAmount, TiobenchMode, TiobenchPhase};
use super::parameters::TiobenchParameters;

/// The numbers of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Threads.
    pub(super) threads: u32,
    /// Bytes of an operation.
    pub(super) block_size_bytes: u64,
    /// Bytes of each thread's file or region.
    pub(super) file_bytes: u64,
}

impl Shape {
    /// The numbers of `cell`; `None` for a cell that no plan of tiobench holds.
    pub(super) fn of(parameters: &TiobenchParameters, cell: &Cell) -> Option<Self> {
        let number = |factor| u64::try_from(cell.integer(factor)?).ok();
        let threads = u32::try_from(number("threads")?).ok()?;
        let block_size_bytes = number("block_size_bytes")?;
        let total_bytes = number("file_size_bytes")?;
        let file_bytes = match parameters.variant {
            TiobenchMode::Classic { .. } => classic_file_bytes(total_bytes, threads),
            TiobenchMode::Default => even_file_bytes(total_bytes, threads, block_size_bytes),
        };
        Some(Self {
            threads,
            block_size_bytes,
            file_bytes,
        })
    }

    /// The threads' regions: on `devices` shared raw devices, or each on a file.
    pub(super) fn regions(
        self,
        parameters: &TiobenchParameters,
        devices: Option<u32>,
    ) -> Vec<Region> {
        match devices {
            Some(devices) => raw_regions(
                self.threads,
                devices,
                self.file_bytes,
                parameters.raw.gap_bytes,
                parameters.raw.gap_first,
            ),
            None => file_regions(self.threads, self.file_bytes),
        }
    }
}

/// The job of one phase.
///
/// The time holds opening, the final sync and closing, as tiotest's does.
pub(super) fn job(
    parameters: &TiobenchParameters,
    phase: TiobenchPhase,
    block_size_bytes: u64,
    regions: Vec<Region>,
    on_devices: bool,
    seed: Seed,
) -> Job {
    let writes = matches!(phase, TiobenchPhase::Write | TiobenchPhase::RandomWrite);
    let random = matches!(
        phase,
        TiobenchPhase::RandomWrite | TiobenchPhase::RandomRead
    );
    let amount = Amount::of(parameters, phase, regions.len());
    Job {
        name: phase.name().to_owned(),
        access: if random {
            parameters.random_access
        } else {
            Access::Sequential
        },
        action: if writes { Action::Write } else { Action::Read },
        block_size_bytes,
        depth: 1,
        regions,
        backend: parameters.backend,
        direct: parameters.direct,
        write_sync: if writes {
            parameters.write_sync
        } else {
            Default::default()
        },
        sync_every: sync_every(parameters, phase),
        sync_at_end: writes.then_some(SyncKind::Fsync),
        create: if phase == TiobenchPhase::Write && !on_devices {
            Create::Truncate
        } else {
            Create::Open
        },
        data: parameters.data,
        verify: parameters.verify && !writes,
        operations_per_worker: amount.operations,
        duration_ns: amount.duration_ns,
        once: amount.once,
        open_in_time: true,
        start: if phase == TiobenchPhase::Write && parameters.one_writer_at_a_time {
            StartOrder::OneAfterAnother
        } else {
            StartOrder::Together
        },
        interval_ns: parameters.interval_ns,
        timing: parameters.timing,
        seed,
        ..Job::default()
    }
}

/// The job that writes the files when the write phase is left out: reading holes
/// would measure memory. The data is always real.
pub(super) fn lay_down(mut write: Job) -> Job {
    write.name = "lay_down".to_owned();
    if write.data == Data::Zeros {
        write.data = Data::Unique;
    }
    write.start = StartOrder::Together;
    write
}

/// When a worker ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Amount {
    operations: Option<u64>,
    duration_ns: Option<u64>,
    once: bool,
}

impl Amount {
    fn of(parameters: &TiobenchParameters, phase: TiobenchPhase, threads: usize) -> Self {
        if matches!(phase, TiobenchPhase::Write | TiobenchPhase::Read) {
            return Self {
                operations: None,
                duration_ns: None,
                once: true,
            };
        }
        let threads = u32::try_from(threads).unwrap_or(u32::MAX);
        match parameters.random {
            RandomAmount::Total(total) => Self::operations(random_operations(total, threads)),
            RandomAmount::PerThread(each) => Self::operations(each),
            RandomAmount::Duration(duration_ns) => Self {
                operations: None,
                duration_ns: Some(duration_ns),
                // A second pass through a file in the page cache would be read from there.
                once: phase == TiobenchPhase::RandomRead && !parameters.direct,
            },
        }
    }

    fn operations(each: u64) -> Self {
        Self {
            operations: Some(each),
            duration_ns: None,
            once: false,
        }
    }
}

/// The syncs in the course of a phase.
fn sync_every(parameters: &TiobenchParameters, phase: TiobenchPhase) -> Option<SyncEvery> {
    let writes = match phase {
        TiobenchPhase::RandomWrite => parameters.random_writes_per_sync?,
        _ => return None,
    };
    Some(SyncEvery {
        writes,
        kind: SyncKind::Fdatasync,
    })
}
