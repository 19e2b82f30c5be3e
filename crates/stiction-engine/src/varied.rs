//! Operations that differ from one to the next in more than their place: mixes of
//! reads and writes, several sizes, several files, runs after each jump, strides.

use stiction_core::{Access, Action, Seed, SizeMix};

use crate::draw::Draw;
use crate::follow_up::FollowUp;
use crate::order::Order;
use crate::request::{Completions, Request, Requests, Way};
use crate::rota::Rota;
use crate::sizes::Lengths;
use crate::skew::Skewed;
use crate::task::Task;
use crate::turnover::Turnover;

/// Numbers of the streams that are drawn from a worker's seed for offsets.
const PLACES_STREAM: u64 = 0;
const CHOICES_STREAM: u64 = 1;
const FILES_STREAM: u64 = 2;

/// Operations of a job that is more than [`Plain`](crate::request::Plain).
#[derive(Debug)]
pub(crate) struct Varied {
    /// By file.
    places: Box<[Place]>,
    /// Which file comes next; `None` when there is one.
    rota: Option<Rota>,
    turn: Turn,
    /// By way.
    lengths: [Lengths; Way::COUNT],
    draw: Draw,
    bytes_left: u64,
    /// What follows from these operations, and how many of them may still begin.
    follow_up: Option<FollowUp>,
    leads_left: u64,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
enum Turn {
    Always(Way),
    /// So many of a hundred are reads, the others writes.
    ReadsPercent(u8),
}

impl Varied {
    /// What `task` does, drawn from `seed`.
    pub(crate) fn new(task: &Task<'_>, seed: Seed) -> Self {
        let job = task.job;
        let turn = match job.action {
            Action::Read => Turn::Always(Way::Read),
            Action::Write => Turn::Always(Way::Write),
            Action::Trim | Action::TrimWrite => Turn::Always(Way::Trim),
            Action::Mixed { reads_percent } => Turn::ReadsPercent(reads_percent),
        };
        // In order, each way goes through a file on its own.
        let has_order = job.access == Access::Sequential || job.jump_percent.is_some();
        let each_its_own = has_order && matches!(turn, Turn::ReadsPercent(_));
        let rounds = if job.once { job.passes } else { u64::MAX };
        let rota = (task.files() > 1).then(|| Rota::new(task, rounds, seed.stream(FILES_STREAM)));
        let one_size = SizeMix::One(job.block_size_bytes);
        let lengths = |of: fn(&stiction_core::Sizes) -> &SizeMix| {
            Lengths::new(job.sizes.as_ref().map_or(&one_size, of))
        };
        Self {
            places: places(task, each_its_own, seed.stream(PLACES_STREAM)),
            bytes_left: bytes_limit(task, rota.as_ref()),
            rota,
            turn,
            lengths: [
                lengths(|sizes| &sizes.read),
                lengths(|sizes| &sizes.write),
                lengths(|sizes| &sizes.trim),
            ],
            draw: Draw::new(seed.stream(CHOICES_STREAM)),
            follow_up: FollowUp::of(job, task.depth),
            leads_left: task.leads,
        }
    }
}

fn bytes_limit(task: &Task<'_>, rota: Option<&Rota>) -> u64 {
    let job = task.job;
    // Reads that overlap move more than the region has, and rounds end by themselves.
    let counts = job.once && job.hop_bytes.is_none() && !rota.is_some_and(Rota::has_rounds);
    let once = if counts {
        let files = 0..task.files();
        files
            .map(|file| task.region_bytes(file))
            .fold(0, u64::saturating_add)
            .saturating_mul(job.passes)
    } else {
        u64::MAX
    };
    job.bytes_per_worker.unwrap_or(u64::MAX).min(once)
}

impl Requests for Varied {
    #[inline]
    fn next(&mut self) -> Option<Request> {
        if self.follow_up.is_some() {
            return self.lead_or_follow();
        }
        self.lead()
    }

    fn waits(&self) -> bool {
        self.follow_up.as_ref().is_some_and(FollowUp::waits)
    }

    #[inline]
    fn turnover(&mut self) -> Option<&mut Turnover> {
        self.rota.as_mut()?.turnover.as_mut()
    }

    fn written(&self) -> Vec<u32> {
        let several = self.rota.is_some();
        let files = (0..).zip(&self.places);
        files
            .filter(|(_, place)| place.is_written || !several)
            .map(|(file, _)| file)
            .collect()
    }
}

impl Completions for Varied {
    #[inline]
    fn ended(&mut self, request: Request, is_done: bool) {
        if let Some(follow_up) = &mut self.follow_up {
            follow_up.ended(request, is_done);
        }
    }
}

impl Varied {
    /// The next operation of those that do not follow from others.
    #[inline]
    fn lead(&mut self) -> Option<Request> {
        let way = match self.turn {
            Turn::Always(way) => way,
            Turn::ReadsPercent(percent) if self.draw.below(100) < percent.into() => Way::Read,
            Turn::ReadsPercent(_) => Way::Write,
        };
        self.next_of(way)
    }

    /// What follows from what is done, before anything else begins.
    fn lead_or_follow(&mut self) -> Option<Request> {
        let follow_up = self.follow_up.as_mut()?;
        if let Some(request) = follow_up.next() {
            return Some(request);
        }
        if !follow_up.may_lead() {
            return None;
        }
        let left = self.leads_left.checked_sub(1);
        let lead = left.and_then(|left| {
            self.leads_left = left;
            self.lead()
        });
        let follow_up = self.follow_up.as_mut()?;
        if lead.is_some() {
            follow_up.led();
            return lead;
        }
        follow_up.led_all();
        follow_up.next()
    }

    /// The next operation if it is one that goes `way`; `None` when there are no more.
    #[inline]
    pub(crate) fn next_of(&mut self, way: Way) -> Option<Request> {
        if self.bytes_left == 0 {
            return None;
        }
        let length = self.lengths[way as usize].next(&mut self.draw);
        loop {
            let file = match &mut self.rota {
                None => 0,
                Some(rota) => rota.next()?,
            };
            let place = &mut self.places[file as usize];
            let step = place.next(way, length, &mut self.draw);
            if let Some(rota) = &mut self.rota {
                place.follow(rota, file, way, step);
            }
            let Some((at, length_bytes)) = step else {
                if self.rota.is_some() {
                    continue;
                }
                return None;
            };
            self.bytes_left = self.bytes_left.saturating_sub(length_bytes.into());
            return Some(Request {
                offset_bytes: place.first_byte + at,
                length_bytes,
                file,
                way,
            });
        }
    }
}

/// One of the worker's files.
#[derive(Debug)]
struct Place {
    first_byte: u64,
    /// One for all ways, or one for each.
    orders: Box<[Order]>,
    /// Bytes after which the file was gone through, and how many of them are to come;
    /// kept where there are several files.
    pass_bytes: u64,
    pass_left: u64,
    is_written: bool,
}

/// The files of `task`.
fn places(task: &Task<'_>, each_its_own: bool, seed: Seed) -> Box<[Place]> {
    let count = if each_its_own { Way::COUNT as u64 } else { 1 };
    // Files are as long as others as a rule, and what they have in common is large.
    let mut like: Option<(u64, Skewed)> = None;
    let mut place = |file: u32| {
        let mut order = |order: u64| {
            let seed = seed.stream(u64::from(file) * Way::COUNT as u64 + order);
            Order::new(task, file, seed, each_its_own, &mut like)
        };
        let pass_bytes = match task.job.hop_bytes {
            None => task.region_bytes(file),
            Some(_) => u64::MAX,
        };
        Place {
            first_byte: task.first_byte(file),
            orders: (0..count).map(&mut order).collect(),
            pass_bytes,
            pass_left: pass_bytes,
            is_written: false,
        }
    };
    (0..task.files()).map(&mut place).collect()
}

impl Place {
    #[inline]
    fn next(&mut self, way: Way, length: u32, draw: &mut Draw) -> Option<(u64, u32)> {
        let order = if self.orders.len() == 1 {
            0
        } else {
            way as usize
        };
        self.orders[order].next(way, length, draw)
    }

    /// Notes what was done in this file, and whether it was gone through by that.
    #[inline]
    fn follow(&mut self, rota: &mut Rota, file: u32, way: Way, step: Option<(u64, u32)>) {
        if let Some((_, length_bytes)) = step {
            self.pass_left = self.pass_left.saturating_sub(length_bytes.into());
            if way != Way::Read {
                self.is_written = true;
                rota.wrote(file);
            }
            if self.pass_left > 0 {
                return;
            }
        }
        self.pass_left = self.pass_bytes;
        self.orders.iter_mut().for_each(Order::rewind);
        rota.through();
    }
}

#[cfg(test)]
mod tests;
