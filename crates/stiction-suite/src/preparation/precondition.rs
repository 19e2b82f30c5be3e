//! A range written in order, then at random places until the rate is steady.
//!
//! Flash that was never written, or was trimmed, is faster than flash in use: the Solid
//! State Storage Performance Test Specification of SNIA writes a device in order and then
//! with the workload, round by round, until the rate stays.

use stiction_core::{
    Access, Action, BackendKind, Create, Data, Direction, Job, Phase, PhaseKind, Precondition,
    Region, Seed, SkipCode, SkipReason, SteadyFigure, SteadyLimit, SteadyRule, SteadySense,
    SteadyStop, SyncEvery, SyncKind, TrialOutcome, format_bytes,
};
use stiction_host::space;

use crate::ground::on_ground;
use crate::means::{self, Means};
use crate::measure::{Request, ended_otherwise, measured};
use crate::room::reserve;
use crate::sizing::split;
use crate::{Context, Ground, Place, SuiteError};

/// Bytes of a write in order.
const FILL_BLOCK_BYTES: u64 = 1 << 20;
/// Writes in order that are in flight.
const FILL_DEPTH: u32 = 8;
/// Workers where one cannot have several writes in flight.
const WORKERS_MOST: u32 = 16;
/// Buffered bytes before they are written back.
const BACKLOG_BYTES: u64 = 16 << 20;

/// Preconditions place number `place`: a granted device, or a directory, where a file is
/// written and removed again. `Some` outcome when it did not come to its end; that it was
/// not steady in the end is none, and stands as a caveat in its phase.
///
/// # Errors
/// When the events could not keep a phase.
pub fn precondition(
    wanted: &Precondition,
    place: usize,
    seed: Seed,
    may_fill: bool,
    context: &mut Context<'_>,
) -> Result<Option<TrialOutcome>, SuiteError> {
    let range_bytes = match range(wanted, &context.places[place], may_fill) {
        Ok(bytes) => bytes,
        Err(reason) => return Ok(Some(TrialOutcome::Skipped(reason))),
    };
    let report = on_ground(context, &[place], 1, |ground, context| {
        let means = means::find(context, ground, wanted.block_size_bytes);
        if means.in_memory {
            let reason = "files in memory have no device to precondition";
            let reason = SkipReason::new(SkipCode::NotSupported, reason);
            return Ok(TrialOutcome::Skipped(reason));
        }
        let on = Writing {
            wanted,
            means: &means,
            range_bytes,
            seed,
            makes_file: ground.directory().is_some(),
        };
        on.carry_out(ground, context)
    })?;
    Ok(Some(report.outcome).filter(|outcome| *outcome != TrialOutcome::Completed))
}

/// How much is written, in whole blocks.
fn range(wanted: &Precondition, place: &Place, may_fill: bool) -> Result<u64, SkipReason> {
    let bytes = match place {
        Place::Device(device) => wanted.range_of_device(device.length_bytes()),
        Place::Directory(path) => {
            let space = space(path)
                .map_err(|error| SkipReason::new(SkipCode::NotSupported, error.to_string()))?;
            let room = reserve(may_fill).usable_bytes(space);
            let range = wanted.range_in_directory(room);
            if range > room {
                let detail = format!(
                    "{} are to be preconditioned in {}, and {} may be written there: give \
                     less, or free some space",
                    format_bytes(range),
                    path.display(),
                    format_bytes(room)
                );
                return Err(SkipReason::new(SkipCode::NoSpace, detail));
            }
            range
        }
        Place::File(path) => {
            let detail = format!(
                "{} is a file of yours, and is not overwritten to precondition it",
                path.display()
            );
            return Err(SkipReason::new(SkipCode::UnsafeTarget, detail));
        }
    };
    let block_bytes = wanted.block_size_bytes.max(1);
    let grid = match bytes / FILL_BLOCK_BYTES {
        0 => block_bytes,
        _ => FILL_BLOCK_BYTES.max(block_bytes),
    };
    match bytes / grid * grid {
        0 => Err(SkipReason::new(
            SkipCode::NoSpace,
            format!("{} are too little to precondition", format_bytes(bytes)),
        )),
        whole => Ok(whole),
    }
}

/// What the two jobs depend on.
struct Writing<'a> {
    wanted: &'a Precondition,
    means: &'a Means,
    range_bytes: u64,
    seed: Seed,
    makes_file: bool,
}

impl Writing<'_> {
    fn carry_out(
        &self,
        ground: &Ground,
        context: &mut Context<'_>,
    ) -> Result<TrialOutcome, SuiteError> {
        let filled = self.phase(self.fill(), ground, context)?;
        context.events.phase_finished(&filled)?;
        if let Some(outcome) = ended_otherwise(&filled) {
            return Ok(outcome);
        }
        let left_ns = self
            .wanted
            .duration_ns_max
            .saturating_sub(filled.elapsed_ns);
        if left_ns < self.wanted.round_ns {
            let note = "preconditioning: filling the range took all of the time, so nothing is \
                        known of a steady state; --precondition-max gives it more";
            context.events.note(note);
            return Ok(TrialOutcome::Completed);
        }
        let mut phase = self.phase(self.overwrite(left_ns), ground, context)?;
        phase.notes.push(snia_verdict(&phase, self.wanted.round_ns));
        context.events.phase_finished(&phase)?;
        Ok(ended_otherwise(&phase).unwrap_or(TrialOutcome::Completed))
    }

    fn phase(
        &self,
        job: Job,
        ground: &Ground,
        context: &mut Context<'_>,
    ) -> Result<Phase, SuiteError> {
        let request = Request {
            caveats: self.means.direct_caveat.iter().cloned().collect(),
            notes: self.means.notes.clone(),
            ..Request::new(PhaseKind::Prepare, job)
        };
        Ok(measured(context, ground, request)?)
    }

    fn fill(&self) -> Job {
        let block_size_bytes = FILL_BLOCK_BYTES.min(self.range_bytes);
        Job {
            name: "precondition_fill".to_owned(),
            access: Access::Sequential,
            block_size_bytes,
            depth: if self.means.ring { FILL_DEPTH } else { 1 },
            regions: vec![Region {
                target: 0,
                offset_bytes: 0,
                length_bytes: self.range_bytes,
            }],
            create: if self.makes_file {
                Create::Truncate
            } else {
                Create::Open
            },
            once: true,
            passes: self.wanted.fills.max(1).into(),
            duration_ns: Some(self.wanted.duration_ns_max),
            seed: self.seed.stream(0),
            ..self.writes(block_size_bytes, 1)
        }
    }

    fn overwrite(&self, left_ns: u64) -> Job {
        let block_size_bytes = self.wanted.block_size_bytes;
        let depth = self.wanted.depth.max(1);
        let (depth, workers) = if self.means.ring {
            (depth, 1)
        } else {
            (1, depth.min(WORKERS_MOST))
        };
        let regions = split(self.range_bytes, block_size_bytes, workers);
        let most_bytes = self.wanted.overwritten_bytes_max(self.range_bytes);
        let workers = regions.len() as u64;
        Job {
            name: "precondition".to_owned(),
            access: Access::RandomIndependent,
            block_size_bytes,
            depth,
            bytes_per_worker: Some((most_bytes / workers).max(block_size_bytes)),
            duration_ns: Some(left_ns),
            once: false,
            steady_stop: Some(SteadyStop {
                figure: SteadyFigure::Operations,
                sense: SteadySense::HalfWindow,
                limit: SteadyLimit::Ppm(self.wanted.tolerance_ppm),
                rounds: 2,
                round_ns: self.wanted.round_ns,
                ramp_ns: 0,
            }),
            seed: self.seed.stream(1),
            ..Job {
                regions,
                ..self.writes(block_size_bytes, workers)
            }
        }
    }

    /// What both have in common.
    fn writes(&self, block_size_bytes: u64, workers: u64) -> Job {
        let backlog = BACKLOG_BYTES / block_size_bytes.max(1) / workers;
        Job {
            action: Action::Write,
            data: Data::Unique,
            backend: if self.means.ring {
                BackendKind::IoUring
            } else {
                BackendKind::Psync
            },
            direct: self.means.direct,
            sync_every: (!self.means.direct).then(|| SyncEvery {
                writes: backlog.max(1),
                kind: SyncKind::Fdatasync,
            }),
            sync_at_end: Some(SyncKind::Fdatasync),
            interval_ns: self.wanted.round_ns,
            ..Job::default()
        }
    }
}

/// What SNIA's rule says of the rounds, beside our own, which decides.
fn snia_verdict(phase: &Phase, round_ns: u64) -> String {
    let writes = phase.recording(Direction::Write);
    let rates: Vec<f64> = writes
        .into_iter()
        .flat_map(|recording| &recording.intervals)
        // The last one is cut off.
        .filter(|interval| interval.length_ns >= round_ns)
        .map(|interval| interval.latencies.count() as f64 * 1e9 / interval.length_ns as f64)
        .collect();
    let rule = "SNIA's rule (5 rounds within 20 % of their mean, rising or falling by no more \
                than 10 %)";
    match SteadyRule::Snia.judge(&rates) {
        None => format!("{rule}: fewer than 5 rounds"),
        Some(seen) => match seen.reached_after {
            Some(rounds) => format!("{rule}: met after {rounds} rounds"),
            None => format!("{rule}: not met in {} rounds", rates.len()),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use stiction_core::{Histogram, Interval, Recording};

    use super::*;

    fn phase(operations: &[u64]) -> Phase {
        let interval = |(number, &count): (usize, &u64)| {
            let mut latencies = Histogram::new();
            (0..count).for_each(|_| latencies.record(1000));
            Interval {
                start_ns: number as u64 * 500_000_000,
                length_ns: 500_000_000,
                bytes: count * 4096,
                latencies,
            }
        };
        let mut phase = Phase::new("precondition", PhaseKind::Prepare);
        phase.recordings = vec![Recording {
            direction: Direction::Write,
            intervals: operations.iter().enumerate().map(interval).collect(),
        }];
        phase
    }

    /// By hand: 110, 100, 95, 98 and 97 lie within 15 of their mean of 100, a range of
    /// 15 %, and the line through them falls by 2.8 a round, 11.2 in all; the window after
    /// it, from 100 to 99, falls by less.
    #[test]
    fn the_verdict_of_snia_stands_beside_ours() {
        let falls = [400, 200, 110, 100, 95, 98, 97];
        let verdict = snia_verdict(&phase(&falls), 500_000_000);
        assert!(verdict.ends_with("not met in 7 rounds"), "{verdict}");
        let settles = [400, 200, 110, 100, 95, 98, 97, 99];
        let verdict = snia_verdict(&phase(&settles), 500_000_000);
        assert!(verdict.ends_with("met after 8 rounds"), "{verdict}");
        let verdict = snia_verdict(&phase(&[5, 5]), 500_000_000);
        assert!(verdict.ends_with("fewer than 5 rounds"), "{verdict}");
    }

    #[test]
    fn a_file_of_the_user_s_is_not_overwritten() {
        let place = Place::File(PathBuf::from("/etc/passwd"));
        let reason = range(&Precondition::default(), &place, false).unwrap_err();
        assert_eq!(reason.code, SkipCode::UnsafeTarget);
    }

    #[test]
    fn a_range_is_whole_blocks_of_what_there_is_room_for() {
        let folder = testkit::scratch_folder();
        let place = Place::Directory(folder.path().to_owned());
        let asked = |range_bytes| Precondition {
            range_bytes: Some(range_bytes),
            ..Precondition::default()
        };
        assert_eq!(range(&asked((5 << 20) + 4097), &place, false), Ok(5 << 20));
        assert_eq!(range(&asked(9000), &place, false), Ok(8192));
        for (bytes, code) in [(100, SkipCode::NoSpace), (u64::MAX, SkipCode::NoSpace)] {
            assert_eq!(range(&asked(bytes), &place, false).unwrap_err().code, code);
        }
    }
}
