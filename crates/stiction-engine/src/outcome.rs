//! What a job did: every operation, every worker, every doubt.

use std::collections::{BTreeMap, BTreeSet};

use stiction_core::{
    AllActive, Caveat, CaveatCode, CpuTime, Depths, Direction, Histogram, Interval, Job, Recording,
    WorkerSummary, format_duration_ns,
};

use crate::log::EndedBy;
use crate::placement;
use crate::recorder::{Merged, Series, merge};
use crate::tolerance;
use crate::worker::Report;
use crate::{Checked, DepthFound, IoFailure, Mismatch, Steady, Tolerated};

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every worker came to its planned end, or a job beside it ended it as planned.
    Planned,
    /// The stop flag was raised, or a job beside it failed that ends it then.
    Stopped,
    /// An operation failed, the first of them in time; the other workers were
    /// stopped then. What was done until then is in the outcome all the same.
    Failed(IoFailure),
}

/// What one worker did.
#[derive(Clone, Debug)]
pub struct WorkerOutcome {
    /// Operations, bytes and times.
    pub summary: WorkerSummary,
    /// CPU time of its thread during the measured time.
    pub cpu: CpuTime,
    /// How deep its queue really was; nothing in them when there was one operation at a
    /// time.
    pub depths: Depths,
    /// The operation that failed, if one did.
    pub failure: Option<IoFailure>,
    /// Operations that failed and after which it went on, by kind.
    pub tolerated: Vec<Tolerated>,
    /// What its search for a depth came to, if it had one.
    pub depth_found: Option<DepthFound>,
    /// What the blocks were that it checked and that may be as they are.
    pub checked: Checked,
    /// The first blocks that were not what had been written, at most
    /// [`MISMATCHES_KEPT`](crate::MISMATCHES_KEPT).
    pub mismatches: Vec<Mismatch>,
    /// All blocks that were not what had been written.
    pub mismatch_count: u64,
    series: Vec<Series>,
}

impl WorkerOutcome {
    fn of(report: Report) -> Self {
        Self {
            summary: report.summary,
            cpu: report.cpu,
            depths: report.depths,
            failure: report.failure.map(|failed| failed.failure),
            tolerated: report.steered.tolerated,
            depth_found: report.steered.depth_found,
            checked: report.findings.checked,
            mismatches: report.mismatches,
            mismatch_count: report.findings.mismatch_count,
            series: report.series,
        }
    }

    /// Latencies of this worker's operations of one direction; empty if it had none.
    #[must_use]
    pub fn latencies(&self, direction: Direction) -> Histogram {
        let mut kept = self.series.iter();
        kept.find(|series| series.direction == direction)
            .map_or_else(Histogram::new, Series::total)
    }
}

/// How a job kept its pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Operations that were to begin before the job ended.
    pub asked_operations: u64,
    /// Operations that were done.
    pub done_operations: u64,
}

impl Kept {
    /// The share of what was asked that was done, 0 to 1; 1 when nothing was asked.
    #[must_use]
    pub fn fraction(self) -> f64 {
        if self.asked_operations == 0 {
            return 1.0;
        }
        self.done_operations as f64 / self.asked_operations as f64
    }
}

/// Below this share of what was asked, a pace counts as missed.
const PACE_MISSED_FRACTION: f64 = 0.99;

/// What is known of a job beside what its workers say.
#[derive(Debug)]
pub(crate) struct Around {
    /// A line on the clock.
    pub(crate) clock: String,
    /// When the job began, ns after the start; `None` for never.
    pub(crate) began_ns: Option<u64>,
    /// From the call to the common start, ns.
    pub(crate) ready_ns: u64,
    pub(crate) ended_by: Option<EndedBy>,
    /// Whether the stop flag is raised.
    pub(crate) is_stopped: bool,
    /// What its rate came to, if it was to become steady and there was enough to judge.
    pub(crate) steady: Option<Option<Steady>>,
}

/// What a job did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Every operation by direction and interval, all workers together.
    pub recordings: Vec<Recording>,
    /// Each worker, in the order of the job's regions.
    pub workers: Vec<WorkerOutcome>,
    /// When it began, ns after those that began first of the jobs that ran together;
    /// `None` when it was ended before it began. All other times are counted from there.
    pub began_ns: Option<u64>,
    /// From the call until all workers were ready and let go, ns; until the first was,
    /// where they start one after another.
    pub ready_ns: u64,
    /// From the start of the workers to the end of the last one, ns; with the
    /// final sync, and with opening and closing if the job has them in time.
    pub elapsed_ns: u64,
    /// When every worker was active, to the intervals' edges; `None` when they
    /// never were for a whole interval.
    pub all_active: Option<AllActive>,
    /// How it kept its pace; `None` if it had none. By how much operations were late
    /// is a recording, [`Direction::Lateness`].
    pub pace: Option<Kept>,
    /// What its rate came to, if the job was to end when that is steady; `None` also
    /// when it ended before there was a window to judge.
    pub steady: Option<Steady>,
    /// How it ended.
    pub ended: Ended,
    /// Whether `O_DIRECT` was granted; `None` if the job did not ask.
    pub direct_granted: Option<bool>,
    /// How it was run: clock, flags of the rings, fall-backs taken.
    pub notes: Vec<String>,
    /// Doubts that arose while it ran.
    pub caveats: Vec<Caveat>,
}

impl Outcome {
    /// Adds up what the workers did, in the order of the job's regions.
    pub(crate) fn of(job: &Job, reports: Vec<Report>, around: &Around) -> Self {
        let elapsed_ns = reports
            .iter()
            .map(|report| report.end_ns)
            .max()
            .unwrap_or(0);
        let series: Vec<&Series> = reports.iter().flat_map(|report| &report.series).collect();
        let merged = merge(&series, job.interval_ns, elapsed_ns);
        Self {
            all_active: all_active(job, &merged, &reports),
            pace: pace(job, &reports),
            ended: ended(&reports, around),
            direct_granted: job.direct.then(|| {
                reports
                    .iter()
                    .all(|report| report.remarks.direct_granted == Some(true))
            }),
            notes: notes(job, &merged, &reports, around),
            caveats: caveats(job, &reports, around),
            began_ns: around.began_ns,
            steady: around.steady.flatten(),
            recordings: merged.recordings,
            workers: reports.into_iter().map(WorkerOutcome::of).collect(),
            ready_ns: around.ready_ns,
            elapsed_ns,
        }
    }

    /// Reads and writes completed.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.workers.iter().map(|w| w.summary.operations).sum()
    }

    /// Bytes read or written.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.workers.iter().map(|w| w.summary.bytes).sum()
    }

    /// What the blocks were that were checked and may be as they are.
    #[must_use]
    pub fn checked(&self) -> Checked {
        let workers = self.workers.iter();
        workers.fold(Checked::default(), |all, worker| all.plus(worker.checked))
    }

    /// Operations that failed and after which the workers went on, by kind. Those that
    /// were not expected are a doubt too.
    #[must_use]
    pub fn tolerated(&self) -> Vec<Tolerated> {
        tolerance::merged(self.workers.iter().flat_map(|worker| &worker.tolerated))
    }

    /// Blocks that were not what had been written.
    #[must_use]
    pub fn mismatch_count(&self) -> u64 {
        self.workers.iter().map(|w| w.mismatch_count).sum()
    }
}

fn pace(job: &Job, reports: &[Report]) -> Option<Kept> {
    job.pace.map(|_| Kept {
        asked_operations: reports.iter().map(|report| report.asked).sum(),
        done_operations: reports.iter().map(|report| report.summary.operations).sum(),
    })
}

/// How the job ended, by the first failure in time.
fn ended(reports: &[Report], around: &Around) -> Ended {
    let failures = reports.iter().filter_map(|report| report.failure.as_ref());
    let never_began = around.began_ns.is_none();
    let was_cut = never_began || reports.iter().any(|report| report.cut);
    match failures.min_by_key(|failed| failed.at_ns) {
        Some(failed) => Ended::Failed(failed.failure.clone()),
        None if reports.iter().any(|report| report.stopped) => Ended::Stopped,
        None if was_cut && around.ended_by.as_ref().is_some_and(|by| by.failed) => Ended::Stopped,
        None if never_began && around.ended_by.is_none() && around.is_stopped => Ended::Stopped,
        None => Ended::Planned,
    }
}

/// That another job ended this one, if one did.
fn ended_note(reports: &[Report], around: &Around) -> Option<String> {
    let EndedBy { job, failed } = around.ended_by.as_ref()?;
    let what = if *failed { "failed" } else { "ended" };
    if around.began_ns.is_none() {
        return Some(format!("it did not begin, as `{job}` {what} before"));
    }
    let was_cut = reports.iter().any(|report| report.cut);
    was_cut.then(|| format!("it was ended when `{job}` {what}"))
}

/// From the last worker's first operation to the first worker's last one. With
/// several workers both ends are moved inwards to edges of intervals, because only
/// there it is known what had moved.
fn all_active(job: &Job, merged: &Merged, reports: &[Report]) -> Option<AllActive> {
    let begin_ns = reports.iter().map(|report| report.summary.first_ns).max()?;
    let end_ns = reports.iter().map(|report| report.summary.last_ns).min()?;
    if let [only] = reports {
        return Some(AllActive {
            start_ns: begin_ns,
            end_ns,
            bytes: only.summary.bytes,
        });
    }
    if reports.len() < job.workers() {
        return None;
    }
    let first = begin_ns.div_ceil(merged.interval_ns);
    let end = end_ns / merged.interval_ns;
    let data = merged
        .recordings
        .iter()
        .filter(|one| one.direction.is_data());
    let whole = data.map(|one| one.intervals.get(first as usize..end as usize));
    let whole: Vec<&[Interval]> = whole.collect::<Option<_>>()?;
    (first < end && !whole.is_empty()).then(|| AllActive {
        start_ns: first * merged.interval_ns,
        end_ns: end * merged.interval_ns,
        bytes: whole
            .iter()
            .copied()
            .flatten()
            .map(|interval| interval.bytes)
            .sum(),
    })
}

/// What a reader may want to know of how the job was run.
fn notes(job: &Job, merged: &Merged, reports: &[Report], around: &Around) -> Vec<String> {
    let mut notes = vec![around.clock.clone()];
    notes.extend(ended_note(reports, around));
    notes.extend(around.steady.flatten().map(|steady| steady.to_string()));
    let said: BTreeSet<&String> = reports.iter().flat_map(|one| &one.remarks.notes).collect();
    notes.extend(said.into_iter().cloned());
    notes.extend(placed_notes(reports));
    let continued: u64 = reports.iter().map(|report| report.continued).sum();
    if continued > 0 {
        notes.push(format!(
            "{continued} operations moved their block in more than one call"
        ));
    }
    notes.extend(checked_notes(reports));
    notes.extend(steered_notes(reports));
    if merged.interval_ns > job.interval_ns {
        notes.push(format!(
            "latencies are kept by intervals of {} instead of {}, for want of memory",
            format_duration_ns(merged.interval_ns as f64),
            format_duration_ns(job.interval_ns as f64)
        ));
    }
    if let Some(every) = job
        .sync_every
        .filter(|every| every.writes < job.depth.into())
    {
        notes.push(format!(
            "at most {writes} writes were in flight, as there was a sync after every {writes}",
            writes = every.writes
        ));
    }
    notes
}

/// What became of pauses, searches and failures that were allowed.
fn steered_notes(reports: &[Report]) -> Vec<String> {
    let steered = || reports.iter().map(|report| &report.steered);
    let mut notes = Vec::new();
    let pauses: u64 = steered().map(|one| one.pauses.0).sum();
    if pauses > 0 {
        let paused_ns: u64 = steered().map(|one| one.pauses.1).sum();
        notes.push(format!(
            "workers paused {pauses} times, for {} in all",
            format_duration_ns(paused_ns as f64)
        ));
    }
    let found = (0..).zip(steered());
    let found = found.filter_map(|(worker, one)| Some((worker, one.depth_found?)));
    let told = found.take(PLACES_TOLD);
    notes.extend(told.map(|(worker, found): (u32, _)| format!("worker {worker}: {found}")));
    let kinds = tolerance::merged(steered().flat_map(|one| &one.tolerated));
    let expected = kinds.iter().filter(|kind| kind.expected);
    notes.extend(expected.map(|kind| format!("{kind}, as was expected")));
    notes
}

/// A doubt when a rate that was to become steady has not.
fn unsteady(steady: Option<Steady>) -> Option<Caveat> {
    let detail = match steady {
        Some(Steady {
            reached_ns: Some(_),
            ..
        }) => return None,
        Some(steady) => steady.to_string(),
        None => "it ended before there were enough rounds to call it steady".to_owned(),
    };
    Some(Caveat::new(CaveatCode::NotSteady, detail))
}

/// A doubt for failures after which workers went on.
fn failed_operations(reports: &[Report]) -> Option<Caveat> {
    let all = reports.iter().flat_map(|report| &report.steered.tolerated);
    let kinds = tolerance::merged(all.filter(|kind| !kind.expected));
    let said: Vec<String> = kinds.iter().map(ToString::to_string).collect();
    let detail = said.join("; ");
    (!said.is_empty()).then(|| Caveat::new(CaveatCode::OperationsFailed, detail))
}

/// Of how many workers it is told what they found, and of how many places.
const PLACES_TOLD: usize = 8;

/// Where the workers were, of what the job asks for, places that are alike together.
fn placed_notes(reports: &[Report]) -> Vec<String> {
    let mut places: BTreeMap<&String, u64> = BTreeMap::new();
    for place in reports.iter().filter_map(|report| report.placed.as_ref()) {
        *places.entry(place).or_default() += 1;
    }
    let told = places.iter().take(PLACES_TOLD);
    let mut notes: Vec<String> = told
        .map(|(place, workers)| match workers {
            1 => format!("1 worker had {place}"),
            _ => format!("{workers} workers had {place}"),
        })
        .collect();
    let untold: u64 = places.values().skip(PLACES_TOLD).sum();
    if untold > 0 {
        notes.push(format!("{untold} workers more had other places"));
    }
    notes
}

/// A doubt when a worker was not where it was to be when it ended.
fn misplaced(job: &Job, reports: &[Report]) -> Option<Caveat> {
    let apart = (0..).zip(reports).find_map(|(worker, report)| {
        let asked = placement::asked(job, worker);
        (report.placed != asked).then_some((worker, asked, &report.placed))
    });
    let (worker, asked, placed) = apart?;
    let text = |place: Option<&String>| place.map_or("nothing", String::as_str).to_owned();
    Some(Caveat::new(
        CaveatCode::FactorNotApplied,
        format!(
            "worker {worker} was to have {}, and had {} when it ended",
            text(asked.as_ref()),
            text(placed.as_ref())
        ),
    ))
}

/// What was found where it was not promised that the last write is there.
fn checked_notes(reports: &[Report]) -> Vec<String> {
    let checked = reports.iter().map(|report| report.findings.checked);
    let all = checked.fold(Checked::default(), Checked::plus);
    let notes = [
        (
            all.earlier,
            "blocks are of an earlier write than the last, which was not promised",
        ),
        (
            all.partial,
            "blocks hold parts of a write that was not promised",
        ),
        (all.unwritten, "blocks that were read were never written"),
        (
            all.uncounted,
            "blocks are good in themselves; whether they are of the last write is not known, \
             as nobody counted",
        ),
    ];
    let said = notes.into_iter().filter(|(blocks, _)| *blocks > 0);
    said.map(|(blocks, what)| format!("{blocks} {what}"))
        .collect()
}

/// Doubts of the workers, each once, and those that arise from them together.
fn caveats(job: &Job, reports: &[Report], around: &Around) -> Vec<Caveat> {
    let mut caveats: Vec<Caveat> = Vec::new();
    for caveat in reports.iter().flat_map(|report| &report.remarks.caveats) {
        if !caveats.contains(caveat) {
            caveats.push(caveat.clone());
        }
    }
    caveats.extend(misplaced(job, reports));
    caveats.extend(failed_operations(reports));
    caveats.extend(around.steady.and_then(unsteady));
    let mismatches: u64 = reports
        .iter()
        .map(|report| report.findings.mismatch_count)
        .sum();
    if let Some(first) = reports.iter().find_map(|report| report.mismatches.first()) {
        caveats.push(Caveat::new(
            CaveatCode::DataMismatch,
            format!("{mismatches} blocks are not what was written; the first: {first}"),
        ));
    }
    if let Some(kept) = pace(job, reports).filter(|kept| kept.fraction() < PACE_MISSED_FRACTION) {
        caveats.push(Caveat::new(
            CaveatCode::RateMissed,
            format!(
                "{} operations were to begin, and {} were done",
                kept.asked_operations, kept.done_operations
            ),
        ));
    }
    match ended(reports, around) {
        Ended::Planned => {}
        Ended::Stopped => caveats.push(Caveat::new(
            CaveatCode::Interrupted,
            format!("{} was stopped before its planned end", job.name),
        )),
        Ended::Failed(failure) => {
            caveats.push(Caveat::new(CaveatCode::EndedEarly, failure.to_string()));
        }
    }
    caveats
}
