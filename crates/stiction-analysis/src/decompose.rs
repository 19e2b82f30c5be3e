//! Where the time went: CPU, or waiting.
//!
//! elapsed = CPU time + waiting, for one timed command or for each MiB that was
//! moved. When two sides differ, the term that moved says more than the total: the
//! same CPU time and more waiting is a matter of the disk, not of the code. Beside a
//! background load, the load's own rate tells whether the job waited in favour of
//! the load or whether both lost.

use stiction_core::{Cell, Measurement, Metric, Phase, metrics};

/// A term that contributes less than this share to a change of the total did not
/// move it.
const MOVED_SHARE: f64 = 0.10;
/// Totals within this share of each other did not move: the smallest change of a
/// rate or time worth acting on.
const SAME_SHARE: f64 = 0.03;
/// Loads are counted in whole files; the one in progress adds less than one more.
const FILE_IN_PROGRESS: f64 = 1.0;
const MIB: f64 = 1_048_576.0;

/// A value known to lie between two bounds, as far as printed digits tell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower bound.
    pub lowest: f64,
    /// The upper bound.
    pub highest: f64,
}

impl Range {
    pub(crate) fn new(lowest: f64, highest: f64) -> Self {
        Self { lowest, highest }
    }

    fn of(measurement: &Measurement) -> Self {
        let (lowest, highest) = measurement.printed_range();
        Self::new(lowest.max(0.0), highest)
    }

    /// The middle, the best single figure.
    #[must_use]
    pub fn middle(self) -> f64 {
        f64::midpoint(self.lowest, self.highest)
    }

    /// Whether all of this range lies above all of `other`.
    fn is_above(self, other: Self) -> bool {
        self.lowest > other.highest
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self::new(self.lowest + other.lowest, self.highest + other.highest)
    }

    fn minus(self, other: Self) -> Self {
        Self::new(self.lowest - other.highest, self.highest - other.lowest)
    }

    /// The product or quotient of two ranges that are not negative.
    fn times(self, other: Self) -> Self {
        Self::new(self.lowest * other.lowest, self.highest * other.highest)
    }

    pub(crate) fn scaled(self, factor: f64) -> Self {
        Self::new(self.lowest * factor, self.highest * factor)
    }

    fn inverse(self) -> Option<Self> {
        (self.lowest > 0.0).then(|| Self::new(1.0 / self.highest, 1.0 / self.lowest))
    }

    /// The mean of several; `None` of none.
    pub(crate) fn mean(ranges: &[Self]) -> Option<Self> {
        let sum = ranges.iter().copied().reduce(Self::plus)?;
        Some(sum.scaled(1.0 / ranges.len() as f64))
    }
}

/// What a breakdown is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// One run of a timed command.
    Run,
    /// One MiB that was moved.
    Mebibyte,
}

/// One side's time and its parts, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breakdown {
    /// Wall time.
    pub elapsed_s: Range,
    /// CPU time in user mode and in the kernel, of all threads.
    pub cpu_s: Range,
    /// Wall time in which no CPU was used; `None` when more CPU time than wall time
    /// was used, so that several CPUs worked at once and waiting overlaps them.
    pub waiting_s: Option<Range>,
    /// Rate of the background load, bytes per second, where there was one.
    pub load_bytes_per_s: Option<Range>,
}

/// The term that made the difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moved {
    /// The totals are the same.
    Nothing,
    /// CPU time alone.
    Cpu,
    /// Waiting alone.
    Waiting,
    /// Both, each by at least a tenth of the change.
    Both,
}

/// What the job's wait and the load's rate together say about the disk's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Efficiency {
    /// The job waits longer and the load moves less: the disk does less useful work.
    Lost,
    /// The job waits less and the load moves more: it does more.
    Gained,
    /// One wins what the other loses: a matter of fairness.
    Traded,
}

/// Both sides' times and what moved between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Decomposition {
    /// The cell.
    pub cell: Cell,
    /// The phase.
    pub phase: String,
    /// What the times are of.
    pub per: Per,
    /// A's times.
    pub a: Breakdown,
    /// B's times.
    pub b: Breakdown,
    /// The term that moved; `None` when waiting is not known on both sides.
    pub moved: Option<Moved>,
    /// What became of the disk's work, where a load ran beside the job and the
    /// figures are sharp enough to tell.
    pub efficiency: Option<Efficiency>,
}

impl Decomposition {
    /// B's CPU time over A's.
    #[must_use]
    pub fn cpu_ratio(&self) -> Option<f64> {
        let a = self.a.cpu_s.middle();
        (a > 0.0).then(|| self.b.cpu_s.middle() / a)
    }
}

/// Takes the times of both sides apart; `None` when a side does not tell both wall
/// time (or rate) and CPU time. Of several runs the mean is taken: times add.
#[must_use]
pub fn decompose(cell: &Cell, phase: &str, a: &[&Phase], b: &[&Phase]) -> Option<Decomposition> {
    // Work of a known size is compared by the MiB, so that sides that moved
    // different amounts can be compared; a command is compared as a whole.
    let has_rate = |phases: &[&Phase]| phases.iter().all(|p| p.value(&metrics::RATE).is_some());
    let per = if has_rate(a) && has_rate(b) {
        Per::Mebibyte
    } else {
        Per::Run
    };
    let a = breakdown(a, per)?;
    let b = breakdown(b, per)?;
    Some(Decomposition {
        cell: cell.clone(),
        phase: phase.to_owned(),
        per,
        moved: moved(&a, &b),
        efficiency: efficiency(&a, &b),
        a,
        b,
    })
}

/// The mean breakdown of several runs of one side.
fn breakdown(phases: &[&Phase], per: Per) -> Option<Breakdown> {
    let times: Option<Vec<(Range, Range)>> = phases.iter().map(|p| times(p, per)).collect();
    let (elapsed, cpu): (Vec<Range>, Vec<Range>) = times?.into_iter().unzip();
    let elapsed_s = Range::mean(&elapsed)?;
    let cpu_s = Range::mean(&cpu)?;
    let waiting = elapsed_s.minus(cpu_s);
    let loads: Vec<Range> = phases.iter().filter_map(|phase| load_rate(phase)).collect();
    let all_loaded = loads.len() == phases.len();
    Some(Breakdown {
        elapsed_s,
        cpu_s,
        waiting_s: (waiting.middle() >= 0.0).then_some(waiting),
        load_bytes_per_s: Range::mean(&loads).filter(|_| all_loaded),
    })
}

/// Wall time and CPU time of one run, in seconds.
fn times(phase: &Phase, per: Per) -> Option<(Range, Range)> {
    let range = |metric: &Metric| phase.measurement(metric).map(Range::of);
    let cpu_share = || range(&metrics::CPU_PERCENT).map(|percent| percent.scaled(0.01));
    let cpu_s = || Some(range(&metrics::CPU_USER)?.plus(range(&metrics::CPU_SYSTEM)?));
    match per {
        Per::Run => {
            let elapsed = range(&metrics::ELAPSED)?;
            let cpu = cpu_s().or_else(|| Some(cpu_share()?.times(elapsed)))?;
            Some((elapsed, cpu))
        }
        Per::Mebibyte => {
            let elapsed = range(&metrics::RATE)?.scaled(1.0 / MIB).inverse()?;
            let cpu = match (cpu_share(), cpu_s(), phase.value(&metrics::BYTES)) {
                (Some(share), _, _) => share.times(elapsed),
                (None, Some(seconds), Some(bytes)) if bytes > 0.0 => seconds.scaled(MIB / bytes),
                _ => return None,
            };
            Some((elapsed, cpu))
        }
    }
}

/// The rate of a background load: from its whole files, the one in progress and its
/// time where they are known, else as printed.
fn load_rate(phase: &Phase) -> Option<Range> {
    let files = phase.value(&metrics::LOAD_FILES);
    let size = phase.value(&metrics::LOAD_FILE_SIZE);
    let elapsed = phase.measurement(&metrics::LOAD_ELAPSED).map(Range::of);
    match (files, size, elapsed) {
        (Some(files), Some(size), Some(elapsed)) => {
            let per_second = elapsed.middle();
            let bytes = Range::new(files * size, (files + FILE_IN_PROGRESS) * size);
            (per_second > 0.0).then(|| bytes.scaled(1.0 / per_second))
        }
        _ => phase.measurement(&metrics::LOAD_RATE).map(Range::of),
    }
}

fn moved(a: &Breakdown, b: &Breakdown) -> Option<Moved> {
    let (waiting_a, waiting_b) = (a.waiting_s?, b.waiting_s?);
    let change = b.elapsed_s.middle() - a.elapsed_s.middle();
    if change.abs() <= a.elapsed_s.middle() * SAME_SHARE {
        return Some(Moved::Nothing);
    }
    let share = |a: Range, b: Range| (b.middle() - a.middle()) / change;
    let cpu = share(a.cpu_s, b.cpu_s) >= MOVED_SHARE;
    let waiting = share(waiting_a, waiting_b) >= MOVED_SHARE;
    Some(match (cpu, waiting) {
        (true, false) => Moved::Cpu,
        (false, true) => Moved::Waiting,
        // The two shares add up to 1, so at least one of them is a half.
        _ => Moved::Both,
    })
}

fn efficiency(a: &Breakdown, b: &Breakdown) -> Option<Efficiency> {
    let (waiting_a, waiting_b) = (a.waiting_s?, b.waiting_s?);
    let (load_a, load_b) = (a.load_bytes_per_s?, b.load_bytes_per_s?);
    let job_waits = (waiting_b.is_above(waiting_a), waiting_a.is_above(waiting_b));
    let load_moves = (load_b.is_above(load_a), load_a.is_above(load_b));
    match (job_waits, load_moves) {
        ((true, _), (_, true)) => Some(Efficiency::Lost),
        ((_, true), (true, _)) => Some(Efficiency::Gained),
        ((true, _), (true, _)) | ((_, true), (_, true)) => Some(Efficiency::Traded),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::PhaseKind;

    fn phase(measurements: Vec<Measurement>) -> Phase {
        Phase {
            measurements,
            ..Phase::new("job", PhaseKind::Measure)
        }
    }

    fn contest(time: f64, cpu: f64, files: f64, load_s: f64) -> Phase {
        phase(vec![
            Measurement::imported(metrics::ELAPSED, time, 1, format!("{time:.2}")),
            Measurement::imported(metrics::CPU_PERCENT, cpu, 1, format!("{cpu:.0}%"))
                .with_digits_cut(),
            Measurement::imported(metrics::LOAD_FILES, files, 1, format!("{files:.0}")),
            Measurement::imported(metrics::LOAD_FILE_SIZE, 257.0 * 1_024_000.0, 1, "257Mb"),
            Measurement::imported(metrics::LOAD_ELAPSED, load_s, 1, format!("{load_s:.0}")),
        ])
    }

    /// "Was writing number N": N - 1 files are whole. The test vector N = 33, S = 257,
    /// T = 307 gives 26.8 to 27.6 Mb/s of 1 024 000 bytes.
    #[test]
    fn a_load_lies_between_its_whole_files_and_one_more() {
        let side = breakdown(&[&contest(306.82, 87.0, 32.0, 307.0)], Per::Run).unwrap();
        let load = side.load_bytes_per_s.unwrap().scaled(1.0 / 1_024_000.0);
        assert!((load.lowest - 26.79).abs() < 0.01 && (load.highest - 27.63).abs() < 0.01);
    }

    #[test]
    fn ext3_waits_longer_while_its_load_writes_less() {
        let ext2 = contest(306.82, 87.0, 32.0, 307.0);
        let ext3 = contest(461.74, 57.0, 33.0, 465.0);
        let found = decompose(&Cell::new(), "job", &[&ext2], &[&ext3]).unwrap();
        assert_eq!(found.per, Per::Run);
        assert!((found.a.waiting_s.unwrap().middle() - 38.0).abs() < 0.5);
        assert!((found.b.waiting_s.unwrap().middle() - 196.0).abs() < 0.5);
        assert!((found.cpu_ratio().unwrap() - 1.0).abs() < 0.02);
        assert_eq!(found.moved, Some(Moved::Waiting));
        assert_eq!(found.efficiency, Some(Efficiency::Lost));
        let back = decompose(&Cell::new(), "job", &[&ext3], &[&ext2]).unwrap();
        assert_eq!(back.efficiency, Some(Efficiency::Gained));
    }

    #[test]
    fn a_load_that_wins_what_the_job_loses_is_a_trade() {
        let slow_load = contest(300.0, 80.0, 10.0, 300.0);
        let fast_load = contest(400.0, 60.0, 40.0, 400.0);
        let found = decompose(&Cell::new(), "job", &[&slow_load], &[&fast_load]).unwrap();
        assert_eq!(found.efficiency, Some(Efficiency::Traded));
    }

    #[test]
    fn work_is_taken_by_the_mebibyte() {
        let side = |rate: f64, cpu: f64| {
            phase(vec![
                Measurement::new(metrics::RATE, rate * MIB, 1),
                Measurement::new(metrics::CPU_PERCENT, cpu, 1),
            ])
        };
        let (a, b) = (side(10.0, 50.0), side(20.0, 50.0));
        let found = decompose(&Cell::new(), "read", &[&a], &[&b]).unwrap();
        assert_eq!(found.per, Per::Mebibyte);
        assert_eq!(found.a.elapsed_s.middle(), 0.1);
        assert_eq!(found.a.cpu_s.middle(), 0.05);
        assert_eq!(found.b.waiting_s.unwrap().middle(), 0.025);
        assert_eq!(found.moved, Some(Moved::Both));
    }

    #[test]
    fn several_cpus_at_once_hide_the_waiting() {
        let busy = phase(vec![
            Measurement::new(metrics::ELAPSED, 10.0, 1),
            Measurement::new(metrics::CPU_PERCENT, 195.0, 1),
        ]);
        let found = decompose(&Cell::new(), "job", &[&busy], &[&busy]).unwrap();
        assert_eq!((found.a.waiting_s, found.moved), (None, None));
        assert_eq!(found.a.cpu_s.middle(), 19.5);
    }

    #[test]
    fn without_cpu_there_is_nothing_to_take_apart() {
        let bare = phase(vec![Measurement::new(metrics::ELAPSED, 10.0, 1)]);
        assert_eq!(decompose(&Cell::new(), "job", &[&bare], &[&bare]), None);
        assert_eq!(decompose(&Cell::new(), "job", &[], &[]), None);
    }
}
