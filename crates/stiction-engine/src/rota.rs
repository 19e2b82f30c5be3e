//! Which of its files a worker turns to next.
//!
//! A worker goes through its files in rounds: each file once, or without end where
//! files are chosen by chance and all are open. At any time some of the files are
//! active; one that was gone through makes room for the next.

use stiction_core::{FileChoice, Seed};

use crate::draw::Draw;
use crate::offsets::Offsets as _;
use crate::skew::Skewed;
use crate::task::Task;
use crate::turnover::Turnover;

/// What stands among the active files in place of one that is none any more.
const GONE: u32 = u32::MAX;

/// The order of one worker's files.
#[derive(Debug)]
pub(crate) struct Rota {
    files: u32,
    choice: Choice,
    active: Vec<u32>,
    /// Places in `active` without a file.
    gone: usize,
    /// The place of the file that is worked on.
    at: usize,
    /// Operations on one file before another one is chosen, and how many of them are
    /// to come.
    run: u32,
    run_left: u32,
    /// How many files are active at most.
    width: u32,
    /// The first file that was not active in this round.
    coming: u32,
    /// Rounds that may still begin.
    rounds_left: u64,
    /// Whether a file that was gone through rests until the next round.
    rests: bool,
    /// `None` where all files stay open.
    pub(crate) turnover: Option<Turnover>,
}

#[derive(Debug)]
enum Choice {
    InTurn,
    OneByOne,
    Random(Draw),
    Skewed(Skewed),
}

impl Rota {
    /// Over the files of `task`, in so many rounds.
    pub(crate) fn new(task: &Task<'_>, rounds: u64, seed: Seed) -> Self {
        let (job, files, open) = (task.job, task.files(), task.open_files());
        let choice = match &job.file_order.choice {
            FileChoice::InTurn => Choice::InTurn,
            FileChoice::OneByOne => Choice::OneByOne,
            FileChoice::Random => Choice::Random(Draw::new(seed)),
            FileChoice::Skewed(skew) => Choice::Skewed(Skewed::new(skew, files.into(), seed)),
        };
        let by_chance = matches!(choice, Choice::Random(_) | Choice::Skewed(_));
        let width = match choice {
            Choice::OneByOne => 1,
            _ => open,
        };
        Self {
            files,
            choice,
            active: (0..width).collect(),
            gone: 0,
            at: 0,
            run: job.file_order.run_operations,
            run_left: job.file_order.run_operations,
            width,
            coming: width,
            rounds_left: rounds.saturating_sub(1),
            rests: !by_chance || open < files,
            turnover: (open < files).then(|| Turnover::new(files, open, task.depth)),
        }
        .begun()
    }

    /// With the first file chosen.
    fn begun(mut self) -> Self {
        self.choose_by_chance();
        self
    }

    /// The file of the next operation; `None` when the last round is over.
    pub(crate) fn next(&mut self) -> Option<u32> {
        if self.active.len() == self.gone && !self.begin_round() {
            return None;
        }
        if self.run_left == 0 || self.active[self.at] == GONE {
            self.run_left = self.run;
            self.move_on();
        }
        self.run_left -= 1;
        let file = self.active[self.at];
        if let Some(turnover) = &mut self.turnover {
            turnover.want(file);
        }
        Some(file)
    }

    /// Whether it comes to an end, or begins anew, by itself.
    pub(crate) fn has_rounds(&self) -> bool {
        self.rests
    }

    /// The last operation was a write to `file`.
    #[inline]
    pub(crate) fn wrote(&mut self, file: u32) {
        if let Some(turnover) = &mut self.turnover {
            turnover.wrote(file);
        }
    }

    /// The file that the last operation was on has been gone through.
    pub(crate) fn through(&mut self) {
        if !self.rests {
            return;
        }
        let file = self.active[self.at];
        if let Some(turnover) = &mut self.turnover {
            turnover.leave(file);
        }
        if self.coming < self.files {
            self.active[self.at] = self.coming;
            self.coming += 1;
            // The newcomer waits for its turn, unless it is the only one.
            self.run_left = 0;
        } else if matches!(self.choice, Choice::InTurn) {
            self.active[self.at] = GONE;
            self.gone += 1;
        } else {
            self.active.swap_remove(self.at);
            self.at = 0;
            self.run_left = 0;
        }
    }

    fn move_on(&mut self) {
        match self.choice {
            Choice::InTurn => self.move_to_next(),
            // The one that is active.
            Choice::OneByOne => {}
            Choice::Random(_) | Choice::Skewed(_) => self.choose_by_chance(),
        }
    }

    fn move_to_next(&mut self) {
        if self.gone > self.active.len() / 2 {
            let before = &self.active[..=self.at];
            let left_before = before.iter().filter(|&&file| file != GONE).count();
            self.active.retain(|&file| file != GONE);
            self.gone = 0;
            // What stood at the place before is the last of those before the next.
            self.at = left_before.checked_sub(1).unwrap_or(self.active.len() - 1);
        }
        loop {
            self.at = if self.at + 1 < self.active.len() {
                self.at + 1
            } else {
                0
            };
            if self.active[self.at] != GONE {
                return;
            }
        }
    }

    fn choose_by_chance(&mut self) {
        match &mut self.choice {
            Choice::InTurn | Choice::OneByOne => {}
            Choice::Random(draw) => self.at = draw.below(self.active.len() as u64) as usize,
            Choice::Skewed(skewed) => self.at = skewed.next() as usize,
        }
    }

    /// Makes the first files active again; false when that was the last round.
    fn begin_round(&mut self) -> bool {
        let Some(left) = self.rounds_left.checked_sub(1) else {
            return false;
        };
        self.rounds_left = left;
        self.active.clear();
        self.active.extend(0..self.width);
        self.gone = 0;
        self.coming = self.width;
        self.at = 0;
        self.run_left = self.run;
        self.choose_by_chance();
        true
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::{FileOrder, Job, Region, Skew, SkewShape};

    use super::*;

    fn rota(choice: FileChoice, run_operations: u32, open: Option<u32>, rounds: u64) -> Rota {
        let region = Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: 4096,
        };
        let job = Job {
            regions: vec![region; 4],
            regions_per_worker: 4,
            file_order: FileOrder {
                choice,
                run_operations,
            },
            open_files_max: open,
            ..Job::default()
        };
        Rota::new(&Task::new(&job, &[], 0), rounds, Seed(3))
    }

    /// The files of the operations when file `n` has `lengths[n]` in each round.
    fn all(mut rota: Rota, lengths: [u32; 4]) -> Vec<u32> {
        let mut left = lengths;
        let mut files = Vec::new();
        while let Some(file) = rota.next() {
            files.push(file);
            let left = &mut left[file as usize];
            *left -= 1;
            if *left == 0 {
                *left = lengths[file as usize];
                rota.through();
            }
        }
        files
    }

    #[test]
    fn files_take_turns_and_the_longer_ones_go_on_alone() {
        assert_eq!(
            all(rota(FileChoice::InTurn, 1, None, 1), [1, 3, 2, 5]),
            [0, 1, 2, 3, 1, 2, 3, 1, 3, 3, 3]
        );
        assert_eq!(
            all(rota(FileChoice::InTurn, 2, None, 1), [3, 2, 1, 5]),
            [0, 0, 1, 1, 2, 3, 3, 0, 3, 3, 3]
        );
    }

    #[test]
    fn a_round_begins_when_all_files_are_gone_through() {
        assert_eq!(
            all(rota(FileChoice::InTurn, 1, None, 2), [1, 2, 1, 1]),
            [0, 1, 2, 3, 1, 0, 1, 2, 3, 1]
        );
        assert_eq!(
            all(rota(FileChoice::OneByOne, 1, None, 2), [1, 2, 1, 1]),
            [0, 1, 1, 2, 3, 0, 1, 1, 2, 3]
        );
    }

    #[test]
    fn a_file_that_was_gone_through_makes_room_for_the_next() {
        assert_eq!(
            all(rota(FileChoice::InTurn, 1, Some(2), 1), [2, 3, 1, 2]),
            [0, 1, 0, 1, 2, 1, 3, 3]
        );
        assert_eq!(
            all(rota(FileChoice::OneByOne, 1, Some(2), 1), [2, 1, 1, 1]),
            [0, 0, 1, 2, 3]
        );
    }

    #[test]
    fn by_chance_each_file_has_its_share() {
        let n = 40_000;
        let skew = Skew {
            shape: SkewShape::Zipf {
                exponent_ppm: 1_000_000,
            },
            scattered: false,
        };
        // 1 + 1/2 + 1/3 + 1/4 = 25/12.
        let zipf = [12.0 / 25.0, 6.0 / 25.0, 4.0 / 25.0, 3.0 / 25.0];
        for (choice, shares) in [
            (FileChoice::Random, [0.25; 4]),
            (FileChoice::Skewed(skew), zipf),
        ] {
            for run in [1, 5] {
                let mut rota = rota(choice.clone(), run, None, u64::MAX);
                let mut counts = [0u32; 4];
                let files: Vec<u32> = (0..n).map(|_| rota.next().unwrap()).collect();
                assert!(
                    files
                        .chunks(run as usize)
                        .all(|run| run.iter().all(|file| *file == run[0]))
                );
                files.iter().for_each(|&file| counts[file as usize] += 1);
                for (count, share) in counts.into_iter().zip(shares) {
                    let found = f64::from(count) / f64::from(n);
                    // Five standard deviations of n / run draws, at most.
                    let tolerance = 2.5 / (f64::from(n) / f64::from(run)).sqrt();
                    assert!((found - share).abs() < tolerance, "{found} of {share}");
                }
            }
        }
    }

    #[test]
    fn by_chance_in_a_window_each_file_comes_once_a_round() {
        let mut files = all(rota(FileChoice::Random, 1, Some(2), 3), [5, 1, 7, 2]);
        files.sort_unstable();
        let counts = [0, 1, 2, 3].map(|file| files.iter().filter(|one| **one == file).count());
        assert_eq!(counts, [15, 3, 21, 6]);
    }
}
