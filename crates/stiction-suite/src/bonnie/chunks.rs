//! The phases that go by chunks: written, read, rewritten in place, sought at random.

use std::path::PathBuf;

use stiction_core::{Access, Action, Create, Data, Direction, Job, Region, Seed, SyncKind};
use stiction_engine::{Routine, Timetable};

use super::options::BonniePhase;
use super::parameters::{BonnieParameters, SeekAmount, Updates};
use crate::open_file::{OpenFile, PageBuffer, Use};

/// Bytes of each worker's file.
pub(super) fn file_bytes(parameters: &BonnieParameters) -> u64 {
    parameters.size_bytes / u64::from(parameters.concurrency.max(1))
}

/// The job that writes or reads the files once, a worker each.
pub(super) fn job(parameters: &BonnieParameters, phase: BonniePhase, seed: Seed) -> Job {
    let writes = phase == BonniePhase::PutBlock;
    let regions = (0..parameters.concurrency).map(|target| Region {
        target,
        offset_bytes: 0,
        length_bytes: file_bytes(parameters),
    });
    Job {
        name: phase.name().to_owned(),
        access: Access::Sequential,
        action: if writes { Action::Write } else { Action::Read },
        block_size_bytes: parameters.chunk_bytes,
        regions: regions.collect(),
        direct: parameters.direct,
        create: if writes {
            Create::Truncate
        } else {
            Create::Open
        },
        data: parameters.data,
        sync_at_end: (writes && parameters.sync_at_end).then_some(SyncKind::Fsync),
        open_in_time: true,
        interval_ns: parameters.interval_ns,
        seed,
        ..Job::default()
    }
}

/// The job that writes the files where no phase does: real data, made durable.
pub(super) fn lay_down(parameters: &BonnieParameters, seed: Seed) -> Job {
    Job {
        name: "lay_down".to_owned(),
        data: Data::Unique,
        sync_at_end: Some(SyncKind::Fsync),
        ..job(parameters, BonniePhase::PutBlock, seed)
    }
}

/// What is recorded of a chunk that is read and written back.
pub(super) fn timetable(
    parameters: &BonnieParameters,
    duration_ns: Option<u64>,
) -> Timetable<'static> {
    Timetable {
        counted: &[Direction::Whole],
        also: &[Direction::Read, Direction::Write, Direction::Sync],
        interval_ns: parameters.interval_ns,
        duration_ns,
    }
}

/// Reads each chunk of the file, changes a byte of it and writes it back.
pub(super) fn rewrite(
    parameters: &BonnieParameters,
    path: PathBuf,
    worker: u32,
    direct: bool,
) -> Routine<'_> {
    Box::new(move |stopwatch| {
        let file = OpenFile::open(&path, worker, Use::Update, direct)?;
        let mut buffer = PageBuffer::new(parameters.chunk_bytes as usize);
        let chunks = file_bytes(parameters) / parameters.chunk_bytes;
        for chunk in 0..chunks {
            let at = chunk * parameters.chunk_bytes;
            let begun = stopwatch.now();
            if file.read_at(buffer.bytes(), at)? < buffer.bytes().len() {
                break;
            }
            let read = stopwatch.record(Direction::Read, begun, parameters.chunk_bytes);
            let changed = (chunk % parameters.chunk_bytes) as usize;
            buffer.bytes()[changed] = buffer.bytes()[changed].wrapping_add(1);
            file.write_at(buffer.bytes(), at)?;
            stopwatch.record(Direction::Write, read, parameters.chunk_bytes);
            stopwatch.record(Direction::Whole, begun, parameters.chunk_bytes);
            if stopwatch.is_over() {
                break;
            }
        }
        if parameters.sync_at_end && !stopwatch.was_stopped() {
            file.sync(stopwatch)?;
        }
        Ok(())
    })
}

/// How long the seekers go on; `None` when a count ends them.
pub(super) fn seeks_ns(parameters: &BonnieParameters) -> Option<u64> {
    match parameters.seeks {
        SeekAmount::Count(_) => None,
        SeekAmount::Duration(ns) => Some(ns),
    }
}

/// Reads chunks at random places of the file and writes every tenth back.
///
/// A count of seeks is shared out evenly beforehand; the old programs handed each out
/// through a pipe, at the price of a system call.
pub(super) fn seeks(
    parameters: &BonnieParameters,
    path: PathBuf,
    seeker: u32,
    direct: bool,
    seed: Seed,
) -> Routine<'_> {
    Box::new(move |stopwatch| {
        let file = OpenFile::open(&path, seeker, Use::Update, direct)?;
        let mut buffer = PageBuffer::new(parameters.chunk_bytes as usize);
        let chunks = file_bytes(parameters) / parameters.chunk_bytes;
        let count = match parameters.seeks {
            SeekAmount::Count(all) => share(all, parameters.seekers, seeker),
            SeekAmount::Duration(_) => u64::MAX,
        };
        for seek in 0..count {
            let draw = seed.stream(seek).0;
            let chunk = (u128::from(draw) * u128::from(chunks)) >> 64;
            let at = chunk as u64 * parameters.chunk_bytes;
            let begun = stopwatch.now();
            let got = file.read_at(buffer.bytes(), at)? as u64;
            let read = stopwatch.record(Direction::Read, begun, got);
            if updates(parameters.updates, seek, draw) {
                let changed = (seek % parameters.chunk_bytes) as usize;
                buffer.bytes()[changed] = buffer.bytes()[changed].wrapping_sub(1);
                file.write_at(buffer.bytes(), at)?;
                stopwatch.record(Direction::Write, read, parameters.chunk_bytes);
                if parameters.sync_each {
                    file.sync(stopwatch)?;
                }
            }
            stopwatch.record(Direction::Whole, begun, got);
            if stopwatch.is_over() {
                break;
            }
        }
        if parameters.sync_at_end && !stopwatch.was_stopped() {
            file.sync(stopwatch)?;
        }
        Ok(())
    })
}

/// The part of `all` that worker `worker` of `workers` does.
pub(super) fn share(all: u64, workers: u32, worker: u32) -> u64 {
    let workers = u64::from(workers.max(1));
    all / workers + u64::from(u64::from(worker) < all % workers)
}

fn updates(rule: Updates, seek: u64, draw: u64) -> bool {
    match rule {
        Updates::EveryTenth => seek.is_multiple_of(10),
        Updates::TenthAtRandom => draw.is_multiple_of(10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_whole() {
        assert_eq!(
            [0, 1, 2].map(|seeker| share(4000, 3, seeker)),
            [1334, 1333, 1333]
        );
        assert_eq!((0..7).map(|worker| share(5, 7, worker)).sum::<u64>(), 5);
    }

    #[test]
    fn every_tenth_is_written_back_from_the_first_on() {
        let written: Vec<u64> = (0..25)
            .filter(|&seek| updates(Updates::EveryTenth, seek, 7))
            .collect();
        assert_eq!(written, [0, 10, 20]);
        let draws = (0..100_000).map(|stream| Seed(3).stream(stream).0);
        let tenth = draws
            .filter(|&draw| updates(Updates::TenthAtRandom, 1, draw))
            .count();
        // Five standard deviations of 100,000 draws at a tenth.
        assert!((9526..=10_474).contains(&tenth), "{tenth}");
    }
}
