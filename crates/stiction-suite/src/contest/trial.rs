//! One trial: the job beside one load.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use stiction_core::{
    Caveat, CaveatCode, Direction, Measurement, Phase, PhaseKind, Plan, PlannedTrial, SkipCode,
    SkipReason, TrialOutcome, metrics,
};
use stiction_engine::{Routine, Target, Timetable};
use stiction_host::{Witness, admit_bytes, pressure};

use super::build;
use super::job::RunningJob;
use super::laying::{lay_file, lay_tree, make_directory};
use super::loads::{EndedLoad, Load, Reading, RunningLoad, Setting, files, list};
use super::options::{ContestParameters, TimedJob};
use super::part::failed;
use super::window;
use crate::ground::on_ground;
use crate::laid::record_layout;
use crate::measure::ended_otherwise;
use crate::metadata::{Folder, directions};
use crate::order::trial_seed;
use crate::perform::{Performance, perform};
use crate::program::of_process;
use crate::room::reserve;
use crate::timed::{Cut, timed};
use crate::tree_move::{self, EntryOrder, Generated};
use crate::{Context, Ground, SuiteError, TrialReport};

/// Length of a recording interval.
const INTERVAL_NS: u64 = 100_000_000;
/// How often a wait looks up for a stop or a failure.
const LOOK: Duration = Duration::from_millis(50);
/// Space of an entry beside its content, at the most common block size.
const ENTRY_BYTES: u64 = 4096;
/// Space that a client takes: some files of 32 KiB at once.
const CLIENT_BYTES: u64 = 1 << 20;

/// Runs `trial` of `plan`.
pub(super) fn run(
    plan: &Plan,
    trial: &PlannedTrial,
    helper: &Path,
    context: &mut Context<'_>,
) -> Result<TrialReport, SuiteError> {
    let parameters: ContestParameters = serde_json::from_value(plan.parameters.clone())?;
    let name = trial.cell.get("load").map(ToString::to_string);
    let Some(load) = name.as_deref().and_then(Load::by_name) else {
        let message = format!("no load is called {}", name.unwrap_or_default());
        return Ok(TrialReport::new(TrialOutcome::Failed { message }));
    };
    if let Err(reason) = admit(&parameters, load, context) {
        return Ok(TrialReport::new(TrialOutcome::Skipped(reason)));
    }
    let seed = trial_seed(plan, trial);
    // The second file lies in the second place.
    let places: &[usize] = if load == Load::IoOther { &[0, 1] } else { &[0] };
    let tree_of_theirs = context.places.last().map(|place| place.path().to_owned());
    on_ground(context, places, 2, |ground, context| {
        let paths = ground.paths();
        let [tree, beside] = &paths[..] else {
            let message = "no directory to work in".to_owned();
            return Ok(TrialOutcome::Failed { message });
        };
        let cell = CellRun {
            parameters: &parameters,
            helper,
            ground,
            tree,
            theirs: tree_of_theirs.as_deref(),
            setting: Setting {
                load,
                directory: beside.clone(),
                bytes: match load {
                    Load::IoHalf => parameters.memory_bytes / 2,
                    Load::Memory => parameters.touched_bytes,
                    _ => parameters.memory_bytes,
                },
                pages_of_file: parameters.pages_of_file,
                data: parameters.load_data,
                rate_bytes_per_s: parameters
                    .load_rate_bytes_per_s
                    .filter(|_| load.moves_bytes()),
                dirty_limit_bytes: parameters.dirty_limit_bytes,
                processes: parameters.processes,
                clients: parameters.clients,
                helper: helper.to_owned(),
                seed,
            },
        };
        cell.all(context)
    })
}

/// Whether there is space for it, before anything is made.
fn admit(
    parameters: &ContestParameters,
    load: Load,
    context: &Context<'_>,
) -> Result<(), SkipReason> {
    let own = match &parameters.timed {
        TimedJob::Buildsim(size) | TimedJob::SmallReads(size) => size.bytes(),
        TimedJob::FsyncAppend {
            appends,
            append_bytes,
        } => u64::from(*appends) * u64::from(*append_bytes),
        TimedJob::Compile { .. } => compiled_bytes(context)?,
        TimedJob::Command { .. } => 0,
    };
    let tree = u64::from(parameters.list_files) * 2 * ENTRY_BYTES;
    let beside = match load {
        Load::Memory if parameters.pages_of_file => parameters.touched_bytes,
        Load::None | Load::Cacherun | Load::Process | Load::Memory => 0,
        Load::Io | Load::IoHalf | Load::IoOther | Load::Read => parameters.memory_bytes,
        Load::List => tree,
        Load::CreateArchive => 2 * tree,
        Load::ExtractArchive => 3 * tree,
        Load::Clients => u64::from(parameters.clients) * CLIENT_BYTES,
    };
    let share = reserve(parameters.may_fill);
    let place = context.places[0].path();
    if load == Load::IoOther {
        admit_bytes(place, own, share)?;
        return admit_bytes(context.places[1].path(), beside, share);
    }
    admit_bytes(place, own.saturating_add(beside), share)
}

/// A tree of the user's and what is made of it, at most: objects have not more bytes than
/// sources, unless they are made for debugging.
fn compiled_bytes(context: &Context<'_>) -> Result<u64, SkipReason> {
    let Some(place) = context.places.last() else {
        return Ok(0);
    };
    let amount = tree_move::amount(place.path())
        .map_err(|error| SkipReason::new(SkipCode::NotPermitted, error.to_string()))?;
    Ok(amount
        .bytes
        .saturating_add(amount.entries * ENTRY_BYTES)
        .saturating_mul(2))
}

/// A trial under way.
struct CellRun<'a> {
    parameters: &'a ContestParameters,
    helper: &'a Path,
    ground: &'a Ground,
    /// The tree that the job works on.
    tree: &'a PathBuf,
    /// The last place: the tree that is compiled, where one is.
    theirs: Option<&'a Path>,
    setting: Setting,
}

impl CellRun<'_> {
    fn all(&self, context: &mut Context<'_>) -> Result<TrialOutcome, SuiteError> {
        let phase = self.lay_down(context)?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(outcome);
        }
        if let Some(outcome) = self.configure(context)? {
            return Ok(outcome);
        }
        let mut caveats = Vec::new();
        if self.setting.load == Load::Cacherun {
            let phase = self.job("warm_up", PhaseKind::Prepare, None, Vec::new(), context)?;
            if let Some(outcome) = ended_otherwise(&phase) {
                return Ok(outcome);
            }
            if let Some(outcome) = self.clean(context)? {
                return Ok(outcome);
            }
        } else {
            caveats.extend(self.drop_caches(context));
        }
        let load = match self.start_load(context)? {
            Ok(load) => load,
            Err(outcome) => return Ok(outcome),
        };
        let phase = self.job("job", PhaseKind::Measure, load, caveats, context)?;
        Ok(ended_otherwise(&phase).unwrap_or(TrialOutcome::Completed))
    }

    /// The tree of the job, and what the load finds.
    fn lay_down(&self, context: &mut Context<'_>) -> Result<Phase, SuiteError> {
        let (tree, setting, theirs) = (self.tree, &self.setting, self.theirs);
        let timed = &self.parameters.timed;
        let list_files = self.parameters.list_files;
        let routine: Routine<'_> = Box::new(move |stopwatch| {
            match (timed, theirs) {
                (TimedJob::Buildsim(size) | TimedJob::SmallReads(size), _) => {
                    lay_tree(tree, *size, stopwatch)?;
                }
                (TimedJob::Compile { .. }, Some(theirs)) => {
                    tree_move::copy(theirs, tree, EntryOrder::Directory, stopwatch)?;
                }
                _ => make_directory(tree, stopwatch)?,
            }
            make_directory(&setting.directory, stopwatch)?;
            match setting.load {
                Load::Read => {
                    lay_file(
                        &files::to_read(&setting.directory),
                        setting.bytes,
                        setting.seed,
                        stopwatch,
                    )?;
                }
                load if load.needs_tree() => {
                    let generated = Generated {
                        files: list_files,
                        directories: list_files / 16,
                        bytes: u64::from(list_files) * ENTRY_BYTES / 2,
                    };
                    let root = list::tree(&setting.directory);
                    tree_move::generate(&root, generated, setting.seed, stopwatch)?;
                }
                _ => {}
            }
            Folder::open(tree, 0)?.sync_filesystem(stopwatch)
        });
        let performance = Performance {
            name: "lay_down",
            kind: PhaseKind::LayDown,
            job: None,
            asked_operations: None,
            timetable: Timetable {
                counted: &[Direction::Whole],
                also: directions(),
                interval_ns: INTERVAL_NS,
                duration_ns: None,
            },
            routines: vec![routine],
            stacks: self.ground.stacks(),
            files: Vec::new(),
            writes_below: self.written(),
            direct_granted: None,
            caveats: Vec::new(),
            notes: Vec::new(),
        };
        Ok(perform(context, performance)?)
    }

    /// Takes all that was laid down out of the page cache; a doubt where it stays.
    fn drop_caches(&self, context: &Context<'_>) -> Option<Caveat> {
        let mut targets = Vec::new();
        for root in self.written() {
            match tree_move::amount(&root) {
                Ok(amount) => targets.extend(amount.files),
                Err(error) => {
                    return Some(Caveat::new(CaveatCode::CacheNotDropped, error.to_string()));
                }
            }
        }
        let targets = targets.into_iter().map(Target::File).collect();
        Ground::of(targets, Vec::new()).drop_caches(context.stop)
    }

    /// Starts the load, waits until it is steady and measures it alone; or says how the
    /// trial ends.
    fn start_load(
        &self,
        context: &mut Context<'_>,
    ) -> Result<Result<Option<RunningLoad>, TrialOutcome>, SuiteError> {
        if !self.setting.load.runs() {
            return Ok(Ok(None));
        }
        let load = match RunningLoad::start(self.setting.clone()) {
            Ok(load) => load,
            Err(message) => return Ok(Err(TrialOutcome::Failed { message })),
        };
        if self.parameters.classic {
            return Ok(Ok(Some(load)));
        }
        let phase = timed(context, "steady", PhaseKind::Ramp, |context, _| {
            while !load.is_steady() {
                go_on(&load, LOOK, context)?;
            }
            Ok(())
        })?;
        if let Some(outcome) = ended_otherwise(&phase) {
            return Ok(Err(outcome));
        }
        if self.parameters.alone_ns > 0 {
            let end = Instant::now() + Duration::from_nanos(self.parameters.alone_ns);
            let phase = timed(context, "load_alone", PhaseKind::Ramp, |context, phase| {
                let before = load.read();
                while let Some(left) = end.checked_duration_since(Instant::now()) {
                    go_on(&load, left.min(LOOK), context)?;
                }
                phase.measurements = window::of_load(self.setting.load, before, load.read());
                Ok(())
            })?;
            if let Some(outcome) = ended_otherwise(&phase) {
                return Ok(Err(outcome));
            }
        }
        Ok(Ok(Some(load)))
    }

    /// Runs the job beside the load, and ends the load.
    fn job(
        &self,
        name: &'static str,
        kind: PhaseKind,
        load: Option<RunningLoad>,
        caveats: Vec<Caveat>,
        context: &mut Context<'_>,
    ) -> Result<Phase, SuiteError> {
        let mut drained = None;
        let phase = timed(context, name, kind, |context, phase| {
            phase.caveats = caveats;
            let pressure_before = pressure();
            let witness = Witness::begin(context.environment.witness, self.ground.stacks(), &[]);
            let before = load.as_ref().map(RunningLoad::read);
            let mut job = RunningJob::start(self.helper, &self.words()).map_err(Cut::Failed)?;
            while !job.has_ended_within(LOOK).map_err(Cut::Failed)? {
                if context.stop.is_raised() {
                    return Err(Cut::Stopped);
                }
                if let Some(load) = &load {
                    go_on(load, Duration::ZERO, context)?;
                }
            }
            let after = load.as_ref().map(RunningLoad::read);
            let ended = job.finish().map_err(Cut::Failed)?;
            phase.witnesses = witness.finish();
            let pressure = pressure().since(pressure_before);
            phase.measurements = of_process(ended.elapsed, ended.usage);
            let told = window::told(&ended.output);
            phase.measurements.extend(told.figures);
            phase.notes.extend(told.notes);
            let cpu = phase.witnesses.system_cpu;
            let machine = window::of_machine(ended.elapsed, cpu, pressure);
            phase.measurements.extend(machine);
            if let (Some(load), Some(before), Some(after)) = (load, before, after) {
                let readings = (before, after);
                let end = load.finish().map_err(Cut::Failed)?;
                let figures = self.load_figures(readings, &end, ended.elapsed);
                phase.measurements.extend(figures);
                drained = Some(end.drain);
            }
            record_layout(&self.written(), phase);
            phase.elapsed_ns = ended.elapsed.as_nanos() as u64;
            Ok(())
        })?;
        if let Some(drain) = drained {
            let mut phase = Phase::new("drain", PhaseKind::Settle);
            let ns = drain.as_nanos() as u64;
            phase.start_ns = context.now_ns().saturating_sub(ns);
            phase.elapsed_ns = ns;
            context.events.phase_finished(&phase)?;
        }
        Ok(phase)
    }

    fn load_figures(
        &self,
        readings: (Reading, Reading),
        end: &EndedLoad,
        elapsed: Duration,
    ) -> Vec<Measurement> {
        let load_s = end.elapsed.as_secs_f64();
        let corrected = self
            .parameters
            .classic
            .then(|| (elapsed.as_secs_f64() / load_s).min(1.0));
        let mut found = window::of_load(self.setting.load, readings.0, readings.1);
        if self.parameters.classic {
            // contest took the load's CPU time over all of its life.
            let share = 100.0 * end.cpu_ns as f64 / 1e9 / load_s;
            for figure in &mut found {
                if figure.metric == metrics::LOAD_CPU_PERCENT {
                    *figure = Measurement::new(metrics::LOAD_CPU_PERCENT, share, 1);
                }
            }
        }
        found.extend(window::of_units(&self.setting, readings, end, corrected));
        found
    }

    /// What the helper is told to do.
    fn words(&self) -> Vec<OsString> {
        let tree = self.tree.as_os_str();
        let slots = self.parameters.slots;
        match &self.parameters.timed {
            TimedJob::Buildsim(size) => words(&[
                "build".as_ref(),
                tree,
                json(size).as_ref(),
                slots.to_string().as_ref(),
            ]),
            TimedJob::SmallReads(size) => words(&["read".as_ref(), tree, json(size).as_ref()]),
            TimedJob::FsyncAppend {
                appends,
                append_bytes,
            } => words(&[
                "append".as_ref(),
                tree,
                appends.to_string().as_ref(),
                append_bytes.to_string().as_ref(),
            ]),
            TimedJob::Compile { goal, .. } => {
                let jobs = format!("-j{slots}");
                let goal = goal.iter().map(String::as_str);
                self.make([jobs.as_str()].into_iter().chain(goal))
            }
            TimedJob::Command { command } => words(&[
                "run".as_ref(),
                "sh".as_ref(),
                "-c".as_ref(),
                command.as_ref(),
            ]),
        }
    }

    /// What the helper is told to make in the tree.
    fn make<'w>(&self, goals: impl IntoIterator<Item = &'w str>) -> Vec<OsString> {
        let run: [&OsStr; 4] = [
            "run".as_ref(),
            "make".as_ref(),
            "-C".as_ref(),
            self.tree.as_ref(),
        ];
        let mut all = words(&run);
        all.extend(goals.into_iter().map(Into::into));
        all
    }

    /// Configures the tree that is compiled; how the trial ends where that fails.
    fn configure(&self, context: &mut Context<'_>) -> Result<Option<TrialOutcome>, SuiteError> {
        let TimedJob::Compile {
            config: Some(config),
            ..
        } = &self.parameters.timed
        else {
            return Ok(None);
        };
        let goal = if Path::new(config).is_file() {
            if let Err(error) = fs::copy(config, self.tree.join(".config")) {
                let message = failed("copy", Path::new(config), &error);
                return Ok(Some(TrialOutcome::Failed { message }));
            }
            "olddefconfig"
        } else {
            config
        };
        self.beforehand("configure", &self.make([goal]), context)
    }

    /// Takes away what the job made, so that it makes it again.
    fn clean(&self, context: &mut Context<'_>) -> Result<Option<TrialOutcome>, SuiteError> {
        let emptied = match &self.parameters.timed {
            TimedJob::Buildsim(_) => {
                let objects = self.tree.join("obj");
                fs::remove_dir_all(&objects)
                    .and_then(|()| fs::create_dir(&objects))
                    .map_err(|error| failed("empty", &objects, &error))
            }
            TimedJob::FsyncAppend { .. } => {
                let log = self.tree.join("log");
                fs::remove_file(&log).map_err(|error| failed("remove", &log, &error))
            }
            TimedJob::Compile { .. } => {
                return self.beforehand("clean", &self.make(["clean"]), context);
            }
            TimedJob::SmallReads(_) | TimedJob::Command { .. } => Ok(()),
        };
        Ok(emptied
            .err()
            .map(|message| TrialOutcome::Failed { message }))
    }

    /// Runs something that is not timed; how the trial ends where it fails.
    fn beforehand(
        &self,
        name: &'static str,
        words: &[OsString],
        context: &mut Context<'_>,
    ) -> Result<Option<TrialOutcome>, SuiteError> {
        let phase = timed(context, name, PhaseKind::Prepare, |context, _| {
            let mut job = RunningJob::start(self.helper, words).map_err(Cut::Failed)?;
            while !job.has_ended_within(LOOK).map_err(Cut::Failed)? {
                if context.stop.is_raised() {
                    return Err(Cut::Stopped);
                }
            }
            job.finish().map(drop).map_err(Cut::Failed)
        })?;
        Ok(ended_otherwise(&phase))
    }

    /// Where the job and the load have their files.
    fn written(&self) -> Vec<PathBuf> {
        vec![self.tree.clone(), self.setting.directory.clone()]
    }
}

fn words(words: &[&OsStr]) -> Vec<OsString> {
    words.iter().map(Into::into).collect()
}

/// A size as the helper reads it.
fn json(size: &build::BuildSize) -> String {
    serde_json::to_string(size).expect("a size is plain data")
}

/// Waits while the load goes on.
fn go_on(load: &RunningLoad, patience: Duration, context: &Context<'_>) -> Result<(), Cut> {
    if context.stop.is_raised() {
        return Err(Cut::Stopped);
    }
    load.go_on_for(patience).map_err(Cut::Failed)
}
