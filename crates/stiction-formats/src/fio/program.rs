//! Resolved job files to programs of our own jobs: what runs, where, in which order.
//!
//! Pure: what lies at a path, what the user allowed and where chance comes from are
//! asked of the caller. Everything that cannot be done as asked is an error with its
//! place, so that nothing is written before all of it is known to be possible.

mod course;
mod distribution;
mod files;
mod nodes;
mod places;
mod refusals;
mod shape;
mod trace;
mod work;

use std::collections::BTreeMap;

use stiction_core::{
    CacheBefore, Job, OptionWithoutEffect, Program, ProgramDefault, ProgramEnds, ProgramPart,
    ProgramTarget, Seed,
};

use super::error::{FioError, Place};
use super::job::{EndEnds, FioJob};
use super::lint::waves;
use super::resolve::{Resolved, ResolvedJob};
use super::trace::Trace;
pub use nodes::Nodes;
use places::Places;

/// A trace as it was read. The inner error is about a line of it; the outer one says why
/// the file cannot be read.
pub type TraceRead = Result<Result<Trace, FioError>, String>;

/// What is outside of a job file and decides what it comes to.
#[derive(Clone, Copy)]
pub struct ProgramGround<'a> {
    /// The directory that files without `directory=` lie in.
    pub directory: &'a str,
    /// What lies at a path.
    pub look: &'a dyn Fn(&str) -> Found,
    /// Whether the user said that what lies at this path may be overwritten; the path is
    /// the one that is written to, with `directory` before what the job file says.
    pub may_overwrite: &'a dyn Fn(&str) -> bool,
    /// The trace in a file.
    pub trace: &'a dyn Fn(&str) -> TraceRead,
    /// Seed of the jobs that are not to repeat themselves (`randrepeat=0`).
    pub seed: Seed,
    /// The CPUs of this machine's NUMA nodes.
    pub nodes: &'a Nodes,
}

/// What lies at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A regular file of so many bytes.
    File(u64),
    /// A block device of so many bytes.
    Device(u64),
    /// A directory.
    Directory,
    /// Something that I/O is not done on; in words, such as `a pipe`.
    Other(String),
}

/// Seed of the jobs that make the same choices in every run, as fio's default is; any
/// constant would do.
const REPEATED_SEED: Seed = Seed(0x6669_6f00_7265_7065);

/// Makes every choice that the job file and fio's manual leave open.
///
/// # Errors
/// All that cannot be done as asked, in the order of the jobs.
pub fn program(resolved: &Resolved, ground: &ProgramGround<'_>) -> Result<Program, Vec<FioError>> {
    let mut places = Places::new(ground);
    let mut errors: Vec<FioError> = Vec::new();
    let mut parts: Vec<ProgramPart> = Vec::new();
    let mut without_effect = Vec::new();
    for (index, (job, wave)) in resolved.jobs.iter().zip(waves(resolved)).enumerate() {
        let mut desk = Desk {
            resolved: job,
            errors: Vec::new(),
            without_effect: Vec::new(),
        };
        refusals::find(&mut desk);
        let part = part(index, wave, ground, &mut places, &mut desk);
        for error in desk.errors {
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
        for option in written_without_effect(job).chain(desk.without_effect) {
            if !without_effect.contains(&option) {
                without_effect.push(option);
            }
        }
        parts.extend(part);
    }
    errors.extend(accompanied(resolved));
    if !errors.is_empty() {
        return Err(errors);
    }
    name_phases(&mut parts);
    share_endings(&mut parts);
    order(&mut parts, resolved);
    let global_options = global_options(resolved);
    for (part, job) in parts.iter_mut().zip(&resolved.jobs) {
        part.options = own_options(job, &global_options);
    }
    Ok(Program {
        places: places.listed(),
        parts,
        global_options,
        defaults: defaults(resolved),
        without_effect,
        doubts: Vec::new(),
        may_fill: false,
    })
}

/// One job on the desk: what it is, and what there is to say about it.
struct Desk<'a> {
    resolved: &'a ResolvedJob,
    errors: Vec<FioError>,
    without_effect: Vec<OptionWithoutEffect>,
}

impl<'a> Desk<'a> {
    fn job(&self) -> &'a FioJob {
        &self.resolved.job
    }

    fn place(&self, option: &str) -> Place {
        self.resolved.place_of(option).clone()
    }

    /// Whether the option was written.
    fn is_set(&self, option: &str) -> bool {
        self.resolved.set.iter().any(|set| set.option == option)
    }

    /// The option cannot be honoured, for this reason.
    fn refuse(&mut self, option: &str, reason: impl Into<String>) {
        let place = self.place(option);
        self.errors.push(FioError::Refused {
            place,
            name: option.to_owned(),
            reason: reason.into(),
        });
    }

    /// What the option asks for contradicts something else.
    fn conflict(&mut self, option: &str, what: impl Into<String>, advice: impl Into<String>) {
        let place = self.place(option);
        self.errors.push(FioError::Conflict {
            place,
            what: what.into(),
            advice: advice.into(),
        });
    }

    /// The option was read and changes nothing here, for this reason; says nothing
    /// where it was not written.
    fn no_effect(&mut self, option: &str, reason: &str) {
        if self.is_set(option) {
            self.without_effect.push(OptionWithoutEffect {
                option: option.to_owned(),
                place: self.place(option).to_string(),
                reason: reason.to_owned(),
            });
        }
    }
}

/// One job as a part; `None` where an error stands in the way.
fn part(
    index: usize,
    wave: u32,
    ground: &ProgramGround<'_>,
    places: &mut Places<'_>,
    desk: &mut Desk<'_>,
) -> Option<ProgramPart> {
    let fio = desk.job();
    let seed = match (fio.chance.seed, fio.chance.repeat) {
        (Some(seed), _) => Seed(seed),
        (None, true) => REPEATED_SEED.stream(index as u64),
        (None, false) => ground.seed.stream(index as u64),
    };
    let played = match fio.replay.as_ref().filter(|replay| replay.from.is_some()) {
        Some(replay) => Some(trace::played(desk, replay, seed, ground, places)?),
        None => None,
    };
    if let Some(played) = played {
        return Some(ProgramPart {
            lay_down: played.reads,
            trace: Some(played.trace),
            ..of_job(wave, fio, played.job, played.targets)
        });
    }
    let block = shape::block(desk);
    let where_to = places.of(desk, seed)?;
    let job = Job {
        name: fio.name.clone(),
        block_size_bytes: block.unit_bytes,
        sizes: block.sizes,
        regions: where_to.regions,
        seed,
        ..work::job(desk, &where_to.targets, ground.nodes)
    };
    let verify = fio.verify.as_ref();
    // What was read back in the course of the job needs no second look.
    let checks_later = work::is_checked(desk) && job.action.writes() && !work::reads_back(desk);
    Some(ProgramPart {
        verify_after: checks_later && verify.is_some_and(|verify| verify.read_back),
        lay_down: fio.pattern.action.reads() || fio.layout.write_before,
        ..of_job(wave, fio, job, where_to.targets)
    })
}

/// The part of a job, as far as it does not depend on what the job does.
fn of_job(wave: u32, fio: &FioJob, job: Job, targets: Vec<ProgramTarget>) -> ProgramPart {
    ProgramPart {
        phase: fio.name.clone(),
        verify_after: false,
        job,
        lay_down: false,
        targets,
        wave,
        group: fio.phase.group,
        reported_together: fio.report.by_group,
        after: Vec::new(),
        delay_ns: fio
            .phase
            .delay
            .map_or((0, 0), |(least, most)| (least.0, most.0)),
        ends: match fio.phase.end_ends {
            EndEnds::Itself => ProgramEnds::Itself,
            EndEnds::Group => ProgramEnds::Group,
            EndEnds::Running => ProgramEnds::Wave,
            EndEnds::All => ProgramEnds::All,
        },
        failure_ends_all: fio.phase.error_ends_all,
        cache: match (fio.cache.read_before, fio.cache.drop_before) {
            (true, _) => CacheBefore::Load,
            (false, true) => CacheBefore::Drop,
            (false, false) => CacheBefore::Keep,
        },
        trace: None,
        options: BTreeMap::new(),
    }
}

/// `exitall` in one job is in force for all, as in fio: whichever job ends first ends
/// those of its group, unless its own `exit_what` says more.
fn share_endings(parts: &mut [ProgramPart]) {
    if parts.iter().any(|part| part.ends != ProgramEnds::Itself) {
        for part in parts {
            if part.ends == ProgramEnds::Itself {
                part.ends = ProgramEnds::Group;
            }
        }
    }
}

/// Gives parts of one name a number behind it.
fn name_phases(parts: &mut [ProgramPart]) {
    for index in 0..parts.len() {
        let (before, rest) = parts.split_at_mut(index);
        let part = &mut rest[0];
        let same = before
            .iter()
            .filter(|other| other.job.name == part.job.name);
        let number = same.count() + 1;
        if number > 1 {
            part.phase = format!("{} #{number}", part.job.name);
        }
    }
}

/// Which parts wait for which: all clones of the last job above of that name.
fn order(parts: &mut [ProgramPart], resolved: &Resolved) {
    for (index, job) in resolved.jobs.iter().enumerate() {
        let Some(name) = &job.job.phase.after else {
            continue;
        };
        let found = parts[..index]
            .iter()
            .rposition(|part| part.job.name == *name);
        // One of an earlier wave has ended anyway.
        let found = found.filter(|&found| parts[found].wave == parts[index].wave);
        parts[index].after.extend(found);
    }
}

fn written_without_effect(job: &ResolvedJob) -> impl Iterator<Item = OptionWithoutEffect> {
    job.without_effect.iter().map(|option| OptionWithoutEffect {
        option: option.option.to_owned(),
        place: option.place.to_string(),
        reason: option.reason.to_owned(),
    })
}

/// Traces that would not run alone.
fn accompanied(resolved: &Resolved) -> Option<FioError> {
    let waves = waves(resolved);
    let mut jobs = resolved.jobs.iter().zip(&waves);
    let (job, _) = jobs.find(|(job, wave)| {
        let of_wave = waves.iter().filter(|other| other == wave);
        plays(job) && of_wave.count() > 1
    })?;
    Some(FioError::Conflict {
        place: job.place_of("read_iolog").clone(),
        what: "a trace is played alone, and another job runs at the same time".to_owned(),
        advice: "put `stonewall` between them".to_owned(),
    })
}

/// Whether a job plays a trace.
fn plays(job: &ResolvedJob) -> bool {
    let replay = job.job.replay.as_ref();
    replay.is_some_and(|replay| replay.from.is_some())
}

/// The options that were written for all jobs, as the first job takes them on.
fn global_options(resolved: &Resolved) -> BTreeMap<String, String> {
    let first = resolved.jobs.first();
    let set = first.into_iter().flat_map(|job| &job.set);
    set.filter(|set| set.is_shared)
        .map(|set| (set.option.to_owned(), set.value.clone()))
        .collect()
}

/// The options of one job that are not those of all.
fn own_options(
    job: &ResolvedJob,
    global_options: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    job.set
        .iter()
        .filter(|set| !set.is_shared || global_options.get(set.option) != Some(&set.value))
        .map(|set| (set.option.to_owned(), set.value.clone()))
        .collect()
}

/// fio's defaults in force, each once.
fn defaults(resolved: &Resolved) -> Vec<ProgramDefault> {
    let mut defaults: Vec<ProgramDefault> = Vec::new();
    let jobs = resolved.jobs.iter().filter(|job| !plays(job));
    for default in jobs.flat_map(|job| &job.defaults) {
        let known = defaults.iter().any(|known| known.option == default.option);
        if !known && default.is_followed() {
            defaults.push(ProgramDefault {
                option: default.option.to_owned(),
                value: default.value.to_owned(),
                meaning: default.meaning.to_owned(),
            });
        }
    }
    defaults
}
