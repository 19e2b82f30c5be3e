//! What the place lets us do, found by doing it.

use stiction_core::{
    Access, Action, BackendKind, Caveat, CaveatCode, Create, Data, Job, Region, Seed, StartOrder,
    TargetStack, WriteSync,
};
use stiction_engine::{Ended, EngineError, Progress, run};

use super::options::QuickParameters;
use crate::room::lives_in_memory;
use crate::{Context, Ground};

/// The ways of doing I/O that are open, and what to say about those that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Means {
    /// Whether the page cache can be avoided.
    pub(super) direct: bool,
    /// Whether many operations can be kept in flight by one thread.
    pub(super) ring: bool,
    /// Whether the file lives in memory, so that its cache is all there is.
    pub(super) in_memory: bool,
    /// For every phase: what was wanted and could not be had.
    pub(super) direct_caveat: Option<Caveat>,
    /// For the phases that would have used a ring.
    pub(super) ring_caveat: Option<Caveat>,
    /// For the phases, as far as they go another way without a doubt.
    pub(super) notes: Vec<String>,
}

/// Tries the means, best first, by writing a block with each. A device node, a
/// version or a right to open says nothing: filesystems take `O_DIRECT` and refuse the
/// write, and a container's filter answers only when io_uring is called.
pub(super) fn find(context: &Context<'_>, ground: &Ground, parameters: &QuickParameters) -> Means {
    let mut means = Means::default();
    let in_memory = ground.stacks().iter().find_map(|stack: &TargetStack| {
        stack
            .filesystem
            .as_ref()
            .filter(|filesystem| lives_in_memory(filesystem))
    });
    if let Some(filesystem) = in_memory {
        means.in_memory = true;
        means.notes.push(format!(
            "buffered: {} keeps its files in memory, where O_DIRECT changes nothing",
            filesystem.kind
        ));
    } else {
        match tried(context, ground, parameters, BackendKind::Psync, true) {
            Ok(()) => means.direct = true,
            Err(reason) => {
                means.direct_caveat = Some(Caveat::new(
                    CaveatCode::DirectRefused,
                    format!(
                        "{reason}; reads go through the page cache, emptied before each phase, and writes are \
                         synced in its course"
                    ),
                ));
            }
        }
    }
    if means.direct {
        match tried(context, ground, parameters, BackendKind::IoUring, true) {
            Ok(()) => means.ring = true,
            Err(reason) => {
                means.ring_caveat = Some(Caveat::new(
                    CaveatCode::BackendReplaced,
                    format!("{reason}; many operations in flight are as many threads instead"),
                ));
            }
        }
    } else {
        means.notes.push(
            "threads instead of io_uring, which hands buffered operations to threads of its own"
                .to_owned(),
        );
    }
    means
}

/// Whether a block can be written this way; the words for why not.
fn tried(
    context: &Context<'_>,
    ground: &Ground,
    parameters: &QuickParameters,
    backend: BackendKind,
    direct: bool,
) -> Result<(), String> {
    let job = one_block(parameters, backend, direct);
    let progress = Progress::new(1);
    match run(&job, ground.targets(), context.stop, &progress) {
        Ok(outcome) => match outcome.ended {
            Ended::Failed(failure) => Err(failure.to_string()),
            Ended::Planned | Ended::Stopped if direct && outcome.direct_granted == Some(false) => {
                Err("O_DIRECT is refused here".to_owned())
            }
            Ended::Planned | Ended::Stopped => Ok(()),
        },
        Err(EngineError::Unavailable(unavailable)) => Err(unavailable.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn one_block(parameters: &QuickParameters, backend: BackendKind, direct: bool) -> Job {
    Job {
        name: "try".to_owned(),
        access: Access::Sequential,
        action: Action::Write,
        block_size_bytes: parameters.random_block_size_bytes,
        depth: 1,
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: parameters.random_block_size_bytes,
        }],
        backend,
        direct,
        write_sync: WriteSync::None,
        sync_every: None,
        sync_at_end: None,
        create: Create::Truncate,
        data: Data::Unique,
        verify: false,
        operations_per_worker: Some(1),
        duration_ns: None,
        once: true,
        open_in_time: false,
        start: StartOrder::Together,
        interval_ns: parameters.interval_ns,
        timing: parameters.timing,
        seed: Seed(0),
    }
}
