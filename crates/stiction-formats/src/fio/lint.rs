//! What a job file will really do, said before it does it. Pure: sizes of devices
//! and files are not known here, and what depends on them is said to.

mod doubts;
mod forecast;
mod overlap;

use super::error::Place;
use super::ini::Machine;
use super::resolve::{Resolved, ResolvedJob};
use super::units::{Bytes, Nanoseconds};

/// What a job file will do, and what to think about before.
#[derive(Clone, Debug, PartialEq)]
pub struct Lint {
    /// A forecast for each job, in their order.
    pub jobs: Vec<Forecast>,
    /// All jobs together.
    pub total: Total,
    /// What to think about, in the order of the jobs, the worst of each first.
    pub findings: Vec<Finding>,
}

impl Lint {
    /// The findings, each once with the names of all jobs that it is about: what stands
    /// in `[global]` is found in every job.
    #[must_use]
    pub fn findings_with_jobs(&self) -> Vec<(&Finding, Vec<&str>)> {
        let mut findings: Vec<(&Finding, Vec<&str>)> = Vec::new();
        for finding in &self.findings {
            match findings
                .iter_mut()
                .find(|(known, _)| known.is_like(finding))
            {
                Some((_, jobs)) => jobs.push(&finding.job),
                None => findings.push((finding, vec![&finding.job])),
            }
        }
        findings
    }
}

/// What one job will do.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Its name.
    pub name: String,
    /// Where its section starts.
    pub place: Place,
    /// Clones.
    pub clones: u32,
    /// Which run of jobs between barriers it belongs to, from 0.
    pub wave: u32,
    /// Bytes of the region of one clone; `None`: as large as the target.
    pub region_each: Option<Bytes>,
    /// Bytes that one clone moves, loops counted, before its amount ends it; `None`:
    /// time ends it, or the size of the target decides.
    pub moved_each: Option<Bytes>,
    /// Bytes that all clones move.
    pub moved: Option<Bytes>,
    /// Bytes that are read back for checking, all clones together.
    pub read_back: Option<Bytes>,
    /// Bytes of files that must be there first: laid out if they are not.
    pub laid_out: Option<Bytes>,
    /// What ends it.
    pub end: End,
    /// The longest it takes, warm-up and delay counted; `None`: no limit is set.
    pub time_most: Option<Nanoseconds>,
    /// Operations in flight as asked for, all clones together.
    pub depth_asked: u64,
    /// Operations in flight that come of it, all clones together.
    pub depth_effective: u64,
    /// Where its I/O ends up.
    pub reaches: Reaches,
}

/// What ends a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The amount of I/O.
    Amount,
    /// The time, however often it comes round.
    Time,
    /// Amount or time, whichever is first.
    AmountOrTime,
    /// The device or file system is full.
    Full,
}

/// Where the I/O of a job ends up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaches {
    /// The device, by `O_DIRECT`.
    Device,
    /// The page cache, dropped before the start.
    ColdCache,
    /// The page cache, as it is.
    WarmCache,
    /// Nothing: the null engine.
    Nothing,
}

/// All jobs together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Total {
    /// Workers, at most at a time.
    pub workers_most: u64,
    /// Bytes moved; `None` if one of them is not known.
    pub moved: Option<Bytes>,
    /// The longest it takes: waves one after another; `None` if one has no limit.
    pub time_most: Option<Nanoseconds>,
}

/// Something to think about.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// Which rule.
    pub code: Code,
    /// How bad.
    pub severity: Severity,
    /// The job.
    pub job: String,
    /// Where what causes it stands.
    pub place: Place,
    /// What will happen.
    pub what: String,
    /// What to change, where there is something to change.
    pub advice: String,
}

impl Finding {
    /// Whether it says the same of the same place, be it of another job.
    fn is_like(&self, other: &Self) -> bool {
        let said = |of: &Self| (of.code, of.severity, of.what.clone(), of.advice.clone());
        self.place == other.place && said(self) == said(other)
    }
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It will fail, or report failures that are none.
    Failure,
    /// The figures will not mean what they seem to.
    Doubt,
    /// Good to know.
    Note,
}

/// The rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Code {
    /// `iodepth` with an engine that does one at a time.
    DepthWithoutEffect,
    /// I/O through the page cache.
    Cached,
    /// The page cache is not dropped before.
    WarmCache,
    /// `runtime` without `time_based`.
    RuntimeIsCeiling,
    /// No size, on a file that does not exist yet.
    NoSize,
    /// Warm-up as long as the run.
    RampTooLong,
    /// Warm-up counts towards the amount.
    RampCountsAmount,
    /// A mix of reads and writes where there is none to mix.
    MixIgnored,
    /// Reads and writes wait for each other.
    MixTied,
    /// Clones of one job on the same blocks.
    ClonesOverlap,
    /// Jobs that run at the same time on the same blocks.
    JobsOverlap,
    /// Blocks are written twice before they are checked.
    VerifyRewrites,
    /// Checks that overlapping writers upset.
    VerifyOverlap,
    /// Nothing is checked.
    VerifyNothing,
    /// Block larger than the region.
    BlockBeyondRegion,
    /// A part of a block at the end of the region.
    RegionRest,
    /// Sizes or offsets that `O_DIRECT` does not take.
    DirectUnaligned,
    /// Buffered writes that nothing waits for.
    NotDurable,
    /// A sync outside of the time.
    SyncOutsideTime,
    /// Writes that repeat their data.
    PayloadRepeats,
    /// The same random choices in every run.
    SeedRepeats,
    /// A rate: when operations are due, and what late ones cost.
    RateOpen,
    /// A log with a line for every operation.
    LogWithoutInterval,
    /// A device is overwritten.
    DeviceOverwritten,
    /// A size that fio reads otherwise than people.
    SizeMisread,
    /// An option that changes nothing.
    OptionWithoutEffect,
}

impl Code {
    /// The rule's name, as text: `depth-without-effect`.
    #[must_use]
    pub fn name(self) -> String {
        let mut name = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_ascii_uppercase() && !name.is_empty() {
                name.push('-');
            }
            name.push(c.to_ascii_lowercase());
        }
        name
    }
}

/// Says what the jobs will do on a machine like `machine`.
#[must_use]
pub fn lint(resolved: &Resolved, machine: Machine) -> Lint {
    let waves = waves(resolved);
    let jobs: Vec<Forecast> = resolved
        .jobs
        .iter()
        .zip(&waves)
        .map(|(job, wave)| forecast::of(job, *wave))
        .collect();
    let mut findings = Vec::new();
    for (index, job) in resolved.jobs.iter().enumerate() {
        let mut found = doubts::of(job, &jobs[index], machine);
        found.extend(overlap::of(index, resolved, &waves));
        found.sort_by_key(|finding| finding.severity);
        findings.append(&mut found);
    }
    Lint {
        total: forecast::total(resolved, &jobs),
        jobs,
        findings,
    }
}

/// The run of jobs between barriers that each job belongs to.
pub(super) fn waves(resolved: &Resolved) -> Vec<u32> {
    let mut wave = 0;
    resolved
        .jobs
        .iter()
        .enumerate()
        .map(|(index, job)| {
            if job.job.phase.after_all && index > 0 {
                wave += 1;
            }
            wave
        })
        .collect()
}

/// Makes findings about one job.
struct Notes<'a> {
    job: &'a ResolvedJob,
    found: Vec<Finding>,
}

impl<'a> Notes<'a> {
    fn new(job: &'a ResolvedJob) -> Self {
        Self {
            job,
            found: Vec::new(),
        }
    }

    /// Adds a finding whose cause is `option`, if it is set, else the section.
    fn add(
        &mut self,
        (severity, code): (Severity, Code),
        option: &str,
        what: impl Into<String>,
        advice: impl Into<String>,
    ) {
        self.found.push(Finding {
            code,
            severity,
            job: self.job.job.name.clone(),
            place: self.job.place_of(option).clone(),
            what: what.into(),
            advice: advice.into(),
        });
    }
}

/// Whether an option was set for a job.
fn is_set(job: &ResolvedJob, option: &str) -> bool {
    job.set.iter().any(|set| set.option == option)
}
