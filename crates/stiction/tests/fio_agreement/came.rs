//! What a job file comes to in fio and in stiction.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use stiction_core::{
    Direction, Phase, PhaseKind, Program, ProgramPlace, ProgramTarget, Session,
    read_exported_session,
};
use testkit::{Asked, FaultFs, Faults};

/// What one job moved in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Moved {
    pub(crate) bytes: u64,
    pub(crate) operations: u64,
}

impl Moved {
    fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.operations += other.operations;
    }
}

/// What one job did; reads that check what it wrote count.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Did {
    pub(crate) read: Moved,
    pub(crate) write: Moved,
    pub(crate) trim: Moved,
    /// Longest of its clones, ms, warm-up not counted.
    pub(crate) ran_ms: u64,
}

/// What a job file came to in one of the two.
#[derive(Debug, Default)]
pub(crate) struct Came {
    /// By the job's name; clones together.
    pub(crate) jobs: BTreeMap<String, Did>,
    /// Names of the jobs by the time at which they began; those that began together
    /// stand in the order of the file.
    pub(crate) order: Vec<String>,
    /// Sizes of the files that were made, ascending.
    pub(crate) file_bytes: Vec<u64>,
    /// What arrived at the file system after files had been laid down, where somebody
    /// looked.
    pub(crate) asked: Option<Vec<Asked>>,
}

/// Where the files lie.
pub(crate) enum Ground {
    Plain(tempfile::TempDir),
    /// A file system that notes what it is asked, past the page cache.
    Watched(FaultFs),
}

impl Ground {
    pub(crate) fn new(is_watched: bool) -> Self {
        if is_watched {
            Self::Watched(FaultFs::mount(Faults::default()).expect("FUSE is there"))
        } else {
            Self::Plain(testkit::scratch_folder())
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Plain(folder) => folder.path(),
            Self::Watched(file_system) => file_system.path(),
        }
    }
}

/// Runs fio; where somebody looks a second time too, as it finds its files then.
pub(crate) fn through_fio(file: &Path, ground: &Ground) -> Came {
    if let Ground::Watched(file_system) = ground {
        if lays_down(file) {
            fio(file, ground.path());
        }
        file_system.watch();
    }
    let mut came = through_fio_in(file, ground.path());
    if let Ground::Watched(file_system) = ground {
        let mut asked = file_system.asked();
        asked.retain(|one| is_target(&one.file));
        came.asked = Some(asked);
    }
    came
}

/// Logs and the states of checks are none of the files that fio's jobs work on.
fn is_target(name: &str) -> bool {
    !name.ends_with(".log") && !name.ends_with(".state")
}

/// Whether the jobs of a file may read what has to be there before.
fn lays_down(file: &Path) -> bool {
    let text = fs::read_to_string(file).unwrap();
    ["read", "rw=rw", "randrw"]
        .iter()
        .any(|rw| text.contains(rw))
}

/// Runs fio with its files in `folder`.
pub(crate) fn through_fio_in(file: &Path, folder: &Path) -> Came {
    let mut came = of_fio(&fio(file, folder));
    let made = fs::read_dir(folder).unwrap();
    let made = made.map(|entry| entry.unwrap());
    came.file_bytes = made
        .filter(|entry| is_target(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.metadata().unwrap().len())
        .collect();
    came.file_bytes.sort_unstable();
    came
}

fn fio(file: &Path, folder: &Path) -> Value {
    let output = Command::new("fio")
        .arg("--output-format=json")
        .arg(file)
        .current_dir(folder)
        .output()
        .expect("fio starts");
    assert!(output.status.success(), "{}: {output:?}", file.display());
    let text = String::from_utf8_lossy(&output.stdout);
    let start = text.find('{');
    let start = start.unwrap_or_else(|| panic!("{}: {output:?}", file.display()));
    serde_json::from_str(&text[start..]).unwrap()
}

fn of_fio(json: &Value) -> Came {
    let mut came = Came::default();
    let mut starts: Vec<(u64, String)> = Vec::new();
    for job in json["jobs"].as_array().unwrap() {
        let name = job["jobname"].as_str().unwrap().to_owned();
        let did = came.jobs.entry(name.clone()).or_default();
        for (moved, way) in [
            (&mut did.read, "read"),
            (&mut did.write, "write"),
            (&mut did.trim, "trim"),
        ] {
            moved.bytes += job[way]["io_bytes"].as_u64().unwrap();
            moved.operations += job[way]["total_ios"].as_u64().unwrap();
        }
        did.ran_ms = did.ran_ms.max(job["job_runtime"].as_u64().unwrap());
        // The group stands for the start: waves have groups of their own.
        let group = job["groupid"].as_u64().unwrap();
        if starts.iter().all(|(_, known)| *known != name) {
            starts.push((group, name));
        }
    }
    starts.sort_by_key(|(group, _)| *group);
    came.order = starts.into_iter().map(|(_, name)| name).collect();
    came
}

fn stiction(store: &Path, arguments: &[&OsStr]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .env("STICTION_STORE", store)
        // Logs go where it runs.
        .current_dir(store)
        .args(arguments)
        .output()
        .expect("stiction starts");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Runs stiction with its files in `folder`.
pub(crate) fn through_stiction_in(file: &Path, folder: &Path) -> Came {
    of_session(&session(file, folder, &[]))
}

/// Runs stiction with more arguments of its own.
pub(crate) fn through_stiction_with(file: &Path, folder: &Path, more: &[&str]) -> Came {
    of_session(&session(file, folder, more))
}

/// The session of such a run.
fn session(file: &Path, folder: &Path, more: &[&str]) -> Session {
    let store = tempfile::tempdir().unwrap();
    let mut words: Vec<&OsStr> = vec![
        "fio".as_ref(),
        file.as_os_str(),
        "--dir".as_ref(),
        folder.as_os_str(),
    ];
    words.extend(more.iter().map(OsStr::new));
    stiction(store.path(), &words);
    let exported = stiction(store.path(), &["export".as_ref(), "latest".as_ref()]);
    read_exported_session(&exported).unwrap()
}

/// Runs stiction.
pub(crate) fn through_stiction(file: &Path, ground: &Ground) -> Came {
    if let Ground::Watched(file_system) = ground {
        file_system.watch();
    }
    let session = session(file, ground.path(), &[]);
    let left = fs::read_dir(ground.path()).unwrap().count();
    assert_eq!(left, 0, "{} leaves nothing", file.display());
    let mut came = of_session(&session);
    if let Ground::Watched(file_system) = ground {
        let mut asked = file_system.asked();
        // Marks of our own beside the files are none of theirs.
        asked.retain(|one| {
            targets(&session)
                .iter()
                .any(|target| target.name == one.file)
        });
        came.asked = Some(without_laying_down(&session, asked));
    }
    came
}

/// The files of the session's jobs.
fn targets(session: &Session) -> Vec<ProgramTarget> {
    let parts = program(session).parts.into_iter();
    parts.flat_map(|part| part.targets).collect()
}

fn program(session: &Session) -> Program {
    let plan = session.header.plan.as_ref().unwrap();
    serde_json::from_value(plan.parameters.clone()).unwrap()
}

/// Without the writes of the phases that laid files down, which come before all others.
fn without_laying_down(session: &Session, asked: Vec<Asked>) -> Vec<Asked> {
    let phases = || session.trials.iter().flat_map(|trial| &trial.phases);
    let is_first = phases().is_sorted_by_key(|phase| phase.kind != PhaseKind::LayDown);
    assert!(is_first, "files are laid down between the jobs");
    let laid = phases().filter(|phase| phase.kind == PhaseKind::LayDown);
    let mut left: u64 = laid.map(|phase| moved(phase, Direction::Write).bytes).sum();
    let mut asked = asked.into_iter();
    while left > 0 {
        let request = asked.next().expect("all that was laid down was asked for");
        assert!(request.is_write, "nothing is read before");
        left = left
            .checked_sub(request.length_bytes)
            .expect("whole requests");
    }
    asked.collect()
}

fn of_session(session: &Session) -> Came {
    let program = program(session);
    let mut came = Came::default();
    let phases = session.trials.iter().flat_map(|trial| &trial.phases);
    let mut starts: Vec<(u64, String)> = Vec::new();
    for phase in phases {
        let Some(job) = &phase.job else { continue };
        if phase.kind == PhaseKind::Verify {
            let name = job.name.strip_suffix(" verify").unwrap();
            let did = came.jobs.get_mut(name).expect("it was written before");
            did.read.add(moved(phase, Direction::Read));
        }
        if phase.kind != PhaseKind::Measure {
            continue;
        }
        let counted = phase.after_ramp(job.ramp_ns);
        // fio names jobs that are reported together after the first of them.
        let name = reported_as(&program, &phase.name);
        let did = came.jobs.entry(name.clone()).or_default();
        did.read.add(moved(&counted, Direction::Read));
        did.write.add(moved(&counted, Direction::Write));
        did.trim.add(moved(&counted, Direction::Trim));
        did.ran_ms = did.ran_ms.max(counted.elapsed_ns / 1_000_000);
        if starts.iter().all(|(_, known)| *known != name) {
            starts.push((phase.start_ns, name));
        }
    }
    starts.sort_by_key(|(start_ns, _)| *start_ns);
    came.order = starts.into_iter().map(|(_, name)| name).collect();
    let mut files: BTreeMap<(u32, String), u64> = BTreeMap::new();
    let of_engines = program.parts.into_iter().filter(|part| {
        // Nothing is made where nothing is moved.
        part.job.backend != stiction_core::BackendKind::Null
    });
    for target in of_engines.flat_map(|part| part.targets) {
        let place = &program.places[target.place as usize];
        if matches!(place, ProgramPlace::Directory { .. }) {
            let bytes = files.entry((target.place, target.name)).or_default();
            *bytes = (*bytes).max(target.length_bytes);
        }
    }
    came.file_bytes = files.into_values().collect();
    came.file_bytes.sort_unstable();
    came
}

/// The name of the job by which the one of a phase is reported.
fn reported_as(program: &Program, phase: &str) -> String {
    let mut parts = program.parts.iter();
    let own = parts.clone().find(|part| part.phase == phase).unwrap();
    let first = parts.find(|part| part.group == own.group && part.reported_together);
    let first = first.filter(|_| own.reported_together);
    first.unwrap_or(own).job.name.clone()
}

fn moved(phase: &Phase, direction: Direction) -> Moved {
    let mut recordings = phase.recordings.iter();
    let found = recordings.find(|recording| recording.direction == direction);
    found.map_or_else(Moved::default, |recording| Moved {
        bytes: recording.bytes(),
        operations: recording.operations(),
    })
}
