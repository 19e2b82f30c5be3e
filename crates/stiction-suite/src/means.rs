//! What the place lets us do, found by doing it.

use stiction_core::{
    Access, Action, BackendKind, Caveat, CaveatCode, Create, Data, Job, Region, Seed, StartOrder,
    WriteSync,
};
use stiction_engine::{Ended, Progress, run};

use crate::{Context, Ground};

/// The ways of doing I/O that are open, and what to say about those that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Means {
    /// Whether the page cache can be avoided.
    pub(crate) direct: bool,
    /// Whether many operations can be kept in flight by one thread.
    pub(crate) ring: bool,
    /// Whether the file lives in memory, so that its cache is all there is.
    pub(crate) in_memory: bool,
    /// For every phase: what was wanted and could not be had.
    pub(crate) direct_caveat: Option<Caveat>,
    /// For the phases that would have used a ring.
    pub(crate) ring_caveat: Option<Caveat>,
    /// For the same, where there are reasons to do without.
    pub(crate) ring_note: Option<String>,
    /// For the phases, as far as they go another way without a doubt.
    pub(crate) notes: Vec<String>,
}

/// Tries the means by writing a block with each. A device node, a version or a right to
/// open says nothing: filesystems take `O_DIRECT` and refuse the write, and a
/// container's filter answers only when io_uring is called.
pub(crate) fn find(context: &Context<'_>, ground: &Ground, block_size_bytes: u64) -> Means {
    let filesystems = ground
        .stacks()
        .iter()
        .filter_map(|stack| stack.filesystem.as_ref());
    let in_memory = filesystems
        .filter(|filesystem| filesystem.lives_in_memory())
        .map(|filesystem| filesystem.kind.as_str())
        .next();
    choose(in_memory, |backend| {
        tried(context, ground, block_size_bytes, backend)
    })
}

/// The best means of those that can be had, on a filesystem that lives in memory or on
/// another. `direct_with` tells whether `O_DIRECT` works with a backend.
fn choose(
    in_memory: Option<&str>,
    mut direct_with: impl FnMut(BackendKind) -> Result<(), Caveat>,
) -> Means {
    let mut means = Means::default();
    if let Some(kind) = in_memory {
        means.in_memory = true;
        means.notes.push(format!(
            "buffered: {kind} keeps its files in memory, where O_DIRECT changes nothing"
        ));
    } else {
        match direct_with(BackendKind::Psync) {
            Ok(()) => means.direct = true,
            Err(caveat) => {
                means.direct_caveat = Some(Caveat::new(
                    caveat.code,
                    format!(
                        "{}; reads go through the page cache, emptied before each phase, and \
                         writes are synced on their way",
                        caveat.detail
                    ),
                ));
            }
        }
    }
    if !means.direct {
        means.notes.push(
            "threads instead of io_uring, which hands buffered operations to threads of its own"
                .to_owned(),
        );
        return means;
    }
    match direct_with(BackendKind::IoUring) {
        Ok(()) => means.ring = true,
        Err(caveat) => {
            means.ring_caveat = Some(Caveat::new(
                CaveatCode::BackendReplaced,
                format!(
                    "{}; what would be many operations of one thread are many threads with one",
                    caveat.detail
                ),
            ));
        }
    }
    means
}

/// Whether a block can be written past the page cache this way; the doubt if not.
fn tried(
    context: &Context<'_>,
    ground: &Ground,
    block_size_bytes: u64,
    backend: BackendKind,
) -> Result<(), Caveat> {
    let job = one_block(block_size_bytes, backend);
    let refused = |detail: String| Caveat::new(CaveatCode::DirectRefused, detail);
    let outcome = run(&job, ground.targets(), context.stop, &Progress::new(1))
        .map_err(|error| refused(error.to_string()))?;
    if let Ended::Failed(failure) = outcome.ended {
        return Err(refused(failure.to_string()));
    }
    let doubts = [CaveatCode::DirectRefused, CaveatCode::DirectNotEffective];
    match outcome
        .caveats
        .into_iter()
        .find(|caveat| doubts.contains(&caveat.code))
    {
        Some(doubt) => Err(doubt),
        None => Ok(()),
    }
}

/// Whether the first block of the first target can be read past the page cache.
pub(crate) fn reads_direct(context: &Context<'_>, ground: &Ground) -> bool {
    let job = Job {
        action: Action::Read,
        create: Create::Open,
        ..one_block(4096, BackendKind::Psync)
    };
    let tried = run(&job, ground.targets(), context.stop, &Progress::new(1));
    tried.is_ok_and(|outcome| {
        let doubts = [CaveatCode::DirectRefused, CaveatCode::DirectNotEffective];
        let is_doubted = outcome.caveats.iter().any(|one| doubts.contains(&one.code));
        !is_doubted && !matches!(outcome.ended, Ended::Failed(_))
    })
}

fn one_block(block_size_bytes: u64, backend: BackendKind) -> Job {
    Job {
        name: "try".to_owned(),
        access: Access::Sequential,
        action: Action::Write,
        block_size_bytes,
        depth: 1,
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: block_size_bytes,
        }],
        backend,
        direct: true,
        write_sync: WriteSync::None,
        sync_every: None,
        create: Create::Truncate,
        data: Data::Unique,
        operations_per_worker: Some(1),
        duration_ns: None,
        once: true,
        start: StartOrder::Together,
        seed: Seed(0),
        ..Job::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused() -> Result<(), Caveat> {
        Err(Caveat::new(CaveatCode::DirectRefused, "no"))
    }

    #[test]
    fn the_best_means_raise_no_doubt() {
        let means = choose(None, |_| Ok(()));
        assert!(means.direct && means.ring && !means.in_memory);
        assert_eq!((means.direct_caveat, means.ring_caveat), (None, None));
    }

    /// As in a container whose filter refuses io_uring.
    #[test]
    fn without_a_ring_there_are_threads_and_a_caveat() {
        let means = choose(None, |backend| match backend {
            BackendKind::IoUring => refused(),
            _ => Ok(()),
        });
        assert!(means.direct && !means.ring);
        let caveat = means.ring_caveat.unwrap();
        assert_eq!(caveat.code, CaveatCode::BackendReplaced);
    }

    #[test]
    fn without_direct_io_no_ring_is_tried() {
        let mut asked = Vec::new();
        let means = choose(None, |backend| {
            asked.push(backend);
            refused()
        });
        assert_eq!(asked, [BackendKind::Psync]);
        assert!(!means.direct && !means.ring);
        assert_eq!(means.direct_caveat.unwrap().code, CaveatCode::DirectRefused);
    }

    #[test]
    fn in_memory_nothing_is_tried() {
        let means = choose(Some("tmpfs"), |_| panic!("nothing to try"));
        assert!(means.in_memory && !means.direct);
        assert!(means.notes[0].contains("tmpfs"));
    }
}
