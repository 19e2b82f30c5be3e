//! Reading back what a job wrote, to hold it against what it was.

use stiction_core::{Access, Action, Job, Phase, PhaseKind, ProgramPart, Reserve, WriteSync};
use stiction_engine::Ledger;

use crate::measure::Request;

/// The reads that check what `part` wrote in `phase`.
///
/// A job that only writes is followed block by block: the same offsets come from the
/// same seed, as many as were written. Where reads were mixed in, whole regions are read.
pub(super) fn request<'a>(
    part: &ProgramPart,
    phase: &Phase,
    ledger: Option<&'a Ledger>,
) -> Request<'a> {
    let written = &part.job;
    let most = phase.workers.iter().map(|worker| worker.operations).max();
    let follows = written.action == Action::Write && written.jump_percent.is_none();
    let job = Job {
        name: format!("{} verify", written.name),
        access: if follows {
            written.access
        } else {
            Access::Sequential
        },
        jump_percent: None,
        skew: written.skew.clone().filter(|_| follows),
        run_operations: if follows { written.run_operations } else { 1 },
        stride: written.stride.filter(|_| follows),
        action: Action::Read,
        verify: true,
        operations_per_worker: most.filter(|_| follows),
        bytes_per_worker: None,
        duration_ns: None,
        once: !follows,
        passes: 1,
        run_in_place: written.run_in_place && follows,
        read_back_every: None,
        until_full: false,
        write_sync: WriteSync::None,
        sync_every: None,
        sync_at_end: None,
        sync_on_close: None,
        reserve: Reserve::None,
        pace: None,
        think: None,
        floor: None,
        latency_ns_max: None,
        depth_search: None,
        steady_stop: None,
        ramp_ns: 0,
        ..written.clone()
    };
    Request {
        name: format!("{} verify", part.phase),
        ledger,
        ..Request::new(PhaseKind::Verify, job)
    }
}
