//! The jobs of a session as fio counts them: one entry for each job, or for each group
//! that is reported together.

use stiction_core::{
    Depths, Direction, Histogram, Phase, PhaseKind, PhaseOutcome, Program, ProgramPart, Recording,
    Session, Trial, metrics,
};

use super::FioOutputError;
use super::options::Options;
use super::way::{SampleWindows, WAYS, Way};

/// `EIO`: what a failed phase is reported with when its message has no errno.
const EIO: i32 = 5;

/// One entry of fio's report.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    /// Jobs of one group ran at the same time, and share its aggregate.
    pub(super) group: u32,
    /// 0, or the errno of what failed.
    pub(super) errno: i32,
    /// Start of the first phase, ns after the session began.
    pub(super) start_ns: u64,
    pub(super) options: Options,
    /// What it is about, where its name does not say all.
    pub(super) description: Option<String>,
    pub(super) sampled: SampleWindows,
    /// Reads, writes and trims, in the order of [`WAYS`].
    pub(super) ways: [Way; 3],
    pub(super) syncs: Histogram,
    /// Time of all workers together, warm-up left out, ns.
    pub(super) workers_ns: u64,
    /// Time of all workers together that `cpu_user_s` and `cpu_system_s` are of, ns.
    pub(super) cpu_ns: u64,
    pub(super) cpu_user_s: f64,
    pub(super) cpu_system_s: f64,
    /// Times that workers gave up the CPU, or had it taken away.
    pub(super) switches: u64,
    pub(super) faults_major: u64,
    pub(super) faults_minor: u64,
    /// How deep the queues were.
    pub(super) depths: Depths,
    /// Operations that each worker was to keep in flight.
    pub(super) depth: u32,
    /// Bytes of each operation, where all have the same.
    pub(super) block_size_bytes: u64,
}

/// A phase with what is known of it from elsewhere.
struct Source<'a> {
    phase: &'a Phase,
    name: &'a str,
    group: u32,
    /// Whether it is added to the entry of its group.
    together: bool,
    options: Options,
    description: Option<String>,
}

/// How phases become entries.
#[derive(Clone, Copy)]
pub(super) struct Entering<'a> {
    /// Whether jobs that are to be reported together become one entry.
    pub(super) together: bool,
    /// The windows of a job with these options.
    pub(super) sampled: &'a dyn Fn(&Options) -> SampleWindows,
}

/// The entries of a session, in the order in which its jobs were written down or ran.
///
/// # Errors
/// When no phase has recordings.
pub(super) fn entries(session: &Session) -> Result<Vec<Entry>, FioOutputError> {
    let entering = Entering {
        together: true,
        sampled: &Options::sample_windows,
    };
    entries_by(session, entering)
}

/// As [`entries`], in the way that is said.
///
/// # Errors
/// As [`entries`].
pub(super) fn entries_by(
    session: &Session,
    entering: Entering<'_>,
) -> Result<Vec<Entry>, FioOutputError> {
    let program = program(session);
    let mut entries: Vec<Entry> = Vec::new();
    for trial in &session.trials {
        let first_group = entries.last().map_or(0, |entry| entry.group + 1);
        let first_entry = entries.len();
        for source in sources(session, trial, program.as_ref(), first_group) {
            let earlier = entries[first_entry..]
                .iter_mut()
                .find(|entry| entering.together && source.together && entry.group == source.group);
            match earlier {
                Some(entry) => entry.add(&source),
                None => entries.push(Entry::of(source, entering)),
            }
        }
    }
    if entries.is_empty() {
        return Err(FioOutputError::NothingRecorded);
    }
    Ok(entries)
}

/// The program that the session ran, when it ran a job file.
fn program(session: &Session) -> Option<Program> {
    let plan = session.header.plan.as_ref()?;
    let program: Program = serde_json::from_value(plan.parameters.clone()).ok()?;
    (!program.parts.is_empty()).then_some(program)
}

fn sources<'a>(
    session: &'a Session,
    trial: &'a Trial,
    program: Option<&'a Program>,
    first_group: u32,
) -> Vec<Source<'a>> {
    let cell = (session.trials.len() > 1).then(|| cell(trial));
    let measured = trial.phases.iter().filter(|phase| is_measured(phase));
    let mut sources = Vec::new();
    for (place, phase) in (0..).zip(measured) {
        let part = program.and_then(|program| {
            let mut parts = program.parts.iter();
            let part = parts.find(|part| part.phase == phase.name)?;
            Some((program, part))
        });
        sources.push(match part {
            Some((program, part)) => {
                Source::of_part(phase, program, part, first_group, cell.as_deref())
            }
            None => Source::of_phase(phase, first_group + place, cell.as_deref()),
        });
    }
    sources
}

/// Where a trial stands, in a few words.
fn cell(trial: &Trial) -> String {
    let repetition = format!("repetition={}", trial.repetition);
    if trial.cell.is_empty() {
        return repetition;
    }
    format!("{} {repetition}", trial.cell)
}

/// Whether it is one of those that fio would have reported.
pub(super) fn is_measured(phase: &Phase) -> bool {
    let mut recordings = WAYS
        .iter()
        .filter_map(|(direction, _)| phase.recording(*direction));
    phase.kind == PhaseKind::Measure && recordings.any(|recording| recording.operations() > 0)
}

impl<'a> Source<'a> {
    fn of_part(
        phase: &'a Phase,
        program: &Program,
        part: &'a ProgramPart,
        first_group: u32,
        cell: Option<&str>,
    ) -> Self {
        let options = Options {
            own: part.options.clone(),
            global: program.global_options.clone(),
        };
        let said = options.description().into_iter().chain(cell);
        let description: Vec<&str> = said.collect();
        Self {
            phase,
            name: if part.job.name.is_empty() {
                &phase.name
            } else {
                &part.job.name
            },
            group: first_group + part.group,
            together: part.reported_together,
            description: (!description.is_empty()).then(|| description.join(", ")),
            options,
        }
    }

    fn of_phase(phase: &'a Phase, group: u32, cell: Option<&str>) -> Self {
        Self {
            phase,
            name: &phase.name,
            group,
            together: false,
            options: phase.job.as_ref().map(Options::of).unwrap_or_default(),
            description: cell.map(str::to_owned),
        }
    }
}

impl Entry {
    fn of(source: Source<'_>, entering: Entering<'_>) -> Self {
        let mut entry = Self {
            name: source.name.to_owned(),
            group: source.group,
            errno: 0,
            start_ns: source.phase.start_ns,
            sampled: (entering.sampled)(&source.options),
            options: Options::default(),
            description: None,
            ways: Default::default(),
            syncs: Histogram::new(),
            workers_ns: 0,
            cpu_ns: 0,
            cpu_user_s: 0.0,
            cpu_system_s: 0.0,
            switches: 0,
            faults_major: 0,
            faults_minor: 0,
            depths: Depths::default(),
            depth: source.phase.job.as_ref().map_or(1, |job| job.depth),
            block_size_bytes: source
                .phase
                .job
                .as_ref()
                .map_or(0, |job| job.block_size_bytes),
        };
        entry.add(&source);
        Self {
            options: source.options,
            description: source.description,
            ..entry
        }
    }

    /// Adds a phase to the others of its group.
    fn add(&mut self, source: &Source<'_>) {
        let whole = source.phase;
        let ramp_ns = whole.job.as_ref().map_or(0, |job| job.ramp_ns);
        let counted = whole.after_ramp(ramp_ns);
        for (way, (direction, _)) in self.ways.iter_mut().zip(WAYS) {
            way.add(&Way::of(&counted, direction, self.start_ns, self.sampled));
        }
        if let Some(syncs) = counted.recording(Direction::Sync) {
            self.syncs.merge(&syncs.total());
        }
        if self.errno == 0 {
            self.errno = errno(&whole.outcome);
        }
        let left_out_ns = whole.elapsed_ns - counted.elapsed_ns;
        let active = whole
            .workers
            .iter()
            .map(|worker| worker.last_ns.saturating_sub(worker.first_ns));
        let mut active: Vec<u64> = active.collect();
        if active.is_empty() {
            active.push(whole.elapsed_ns);
        }
        for active_ns in active {
            self.cpu_ns += active_ns;
            self.workers_ns += active_ns.saturating_sub(left_out_ns);
        }
        for worker in &whole.workers {
            self.switches += worker.switches_voluntary + worker.switches_involuntary;
            self.faults_major += worker.faults_major;
            self.faults_minor += worker.faults_minor;
        }
        self.depths
            .merge(&whole.depths.unwrap_or_else(|| one_at_a_time(whole)));
        self.cpu_user_s += whole.value(&metrics::CPU_USER).unwrap_or(0.0);
        self.cpu_system_s += whole.value(&metrics::CPU_SYSTEM).unwrap_or(0.0);
    }

    /// Operations of all directions.
    pub(super) fn operations(&self) -> u64 {
        self.ways.iter().map(Way::operations).sum()
    }

    /// Reads, writes and trims as one.
    pub(super) fn mixed(&self) -> Way {
        let mut all = Way::default();
        self.ways.iter().for_each(|way| all.add(way));
        all
    }

    /// User and system time, percent of a CPU for the average worker.
    pub(super) fn cpu_percent(&self) -> (f64, f64) {
        if self.cpu_ns == 0 {
            return (0.0, 0.0);
        }
        let percent = |cpu_s: f64| cpu_s * 1e11 / self.cpu_ns as f64;
        (percent(self.cpu_user_s), percent(self.cpu_system_s))
    }
}

/// The depths of a phase that counted none, since there was nothing to count.
fn one_at_a_time(phase: &Phase) -> Depths {
    let recordings = WAYS
        .iter()
        .filter_map(|(direction, _)| phase.recording(*direction));
    let operations = recordings.map(Recording::operations).sum();
    let mut depths = Depths::default();
    depths.in_flight[0] = operations;
    depths.handed_over[1] = operations;
    depths.taken_back[1] = operations;
    depths
}

/// What fio calls the error of a job.
fn errno(outcome: &PhaseOutcome) -> i32 {
    let PhaseOutcome::Failed { message } = outcome else {
        return 0;
    };
    let number = message
        .rsplit_once("(os error ")
        .and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
    number.unwrap_or(EIO)
}

/// What each group moved in a direction, bytes per second: fio's aggregate, the bytes of
/// all over the time of the longest.
pub(super) fn aggregate_bytes_per_s(entries: &[Entry], group: u32, way: usize) -> f64 {
    let members = || entries.iter().filter(|entry| entry.group == group);
    let bytes: u64 = members().map(|entry| entry.ways[way].bytes).sum();
    let elapsed_ns = members().map(|entry| entry.ways[way].elapsed_ns).max();
    match elapsed_ns {
        Some(elapsed_ns) if elapsed_ns > 0 => bytes as f64 * 1e9 / elapsed_ns as f64,
        _ => 0.0,
    }
}
