//! The same job files through fio and through stiction: what was moved, by which
//! operations, in files of which size, in which order.
//!
//! A job file may say how closely the two are to agree, in a comment of its own:
//!
//! | line | what is compared |
//! |---|---|
//! | none | bytes and operations of each job and direction, exactly |
//! | `; agree: within 5 %` | the same, but chance or the last block may differ |
//! | `; agree: by time` | the shares of the directions; both last until the limit |

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use stiction_core::{
    Direction, Phase, PhaseKind, Program, ProgramPlace, Session, read_exported_session,
};

/// How closely fio and stiction are to agree.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Agree {
    Exactly,
    Within(f64),
    ByTime,
}

/// Of shares of directions that chance decides, by so much of the whole.
const SHARE_TOLERANCE: f64 = 0.03;

impl Agree {
    fn of(text: &str) -> Self {
        let said = text.lines().find_map(|line| line.strip_prefix("; agree: "));
        match said {
            None => Self::Exactly,
            Some("by time") => Self::ByTime,
            Some(within) => {
                let percent = within
                    .strip_prefix("within ")
                    .and_then(|rest| rest.strip_suffix(" %"))
                    .and_then(|number| number.parse::<f64>().ok());
                Self::Within(percent.expect("`within N %`") / 100.0)
            }
        }
    }
}

/// What one job moved in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moved {
    bytes: u64,
    operations: u64,
}

/// What one job did.
#[derive(Clone, Debug, Default, PartialEq)]
struct Did {
    read: Moved,
    write: Moved,
    trim: Moved,
    /// Longest of its clones, ms, warm-up not counted.
    ran_ms: u64,
}

/// What a job file came to in one of the two.
#[derive(Debug, Default)]
struct Came {
    /// By the job's name; clones together.
    jobs: BTreeMap<String, Did>,
    /// Names of the jobs by the time at which they began; those that began together
    /// stand in the order of the file.
    order: Vec<String>,
    /// Sizes of the files that were made, ascending.
    file_bytes: Vec<u64>,
}

fn job_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/fio");
    let entries = fs::read_dir(folder).expect("the folder of job files");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn through_fio(file: &Path) -> Came {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("fio")
        .arg("--output-format=json")
        .arg(file)
        .current_dir(folder.path())
        .output()
        .expect("fio starts");
    assert!(output.status.success(), "{}: {output:?}", file.display());
    let text = String::from_utf8_lossy(&output.stdout);
    let json: Value = serde_json::from_str(&text[text.find('{').unwrap()..]).unwrap();
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
    let made = fs::read_dir(folder.path()).unwrap();
    came.file_bytes = made
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .collect();
    came.file_bytes.sort_unstable();
    came
}

fn stiction(store: &Path, arguments: &[&std::ffi::OsStr]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .env("STICTION_STORE", store)
        .args(arguments)
        .output()
        .expect("stiction starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn through_stiction(file: &Path) -> Came {
    let (store, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (run, dir) = (["fio".as_ref(), file.as_os_str()], "--dir".as_ref());
    stiction(
        store.path(),
        &[run[0], run[1], dir, folder.path().as_os_str()],
    );
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "{} leaves nothing", file.display());
    let exported = stiction(store.path(), &["export".as_ref(), "latest".as_ref()]);
    of_session(&read_exported_session(&exported).unwrap())
}

fn of_session(session: &Session) -> Came {
    let plan = session.header.plan.as_ref().unwrap();
    let program: Program = serde_json::from_value(plan.parameters.clone()).unwrap();
    let mut came = Came::default();
    let phases = session.trials.iter().flat_map(|trial| &trial.phases);
    let measured = phases.filter(|phase| phase.kind == PhaseKind::Measure);
    let mut starts: Vec<(u64, String)> = Vec::new();
    for phase in measured {
        let job = phase.job.as_ref().unwrap();
        let counted = phase.after_ramp(job.ramp_ns);
        let did = came.jobs.entry(job.name.clone()).or_default();
        did.read = moved(&counted, Direction::Read);
        did.write = moved(&counted, Direction::Write);
        did.trim = moved(&counted, Direction::Trim);
        did.ran_ms = counted.elapsed_ns / 1_000_000;
        starts.push((phase.start_ns, job.name.clone()));
    }
    starts.sort_by_key(|(start_ns, _)| *start_ns);
    came.order = starts.into_iter().map(|(_, name)| name).collect();
    let mut files: BTreeMap<(u32, String), u64> = BTreeMap::new();
    for target in program.parts.into_iter().flat_map(|part| part.targets) {
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

fn moved(phase: &Phase, direction: Direction) -> Moved {
    let mut recordings = phase.recordings.iter();
    let found = recordings.find(|recording| recording.direction == direction);
    found.map_or_else(Moved::default, |recording| Moved {
        bytes: recording.bytes(),
        operations: recording.operations(),
    })
}

/// Where the two differ by more than they may.
fn differences(fio: &Came, ours: &Came, agree: Agree) -> Vec<String> {
    let mut found = Vec::new();
    if fio.order != ours.order {
        found.push(format!("order: {:?}, ours {:?}", fio.order, ours.order));
    }
    if fio.file_bytes != ours.file_bytes {
        let (theirs, ours) = (&fio.file_bytes, &ours.file_bytes);
        found.push(format!("files: {theirs:?}, ours {ours:?}"));
    }
    for (name, fio) in &fio.jobs {
        let ours = &ours.jobs[name];
        let alike = match agree {
            Agree::Exactly => {
                fio.read == ours.read && fio.write == ours.write && fio.trim == ours.trim
            }
            Agree::Within(tolerance) => [
                (fio.read, ours.read),
                (fio.write, ours.write),
                (fio.trim, ours.trim),
            ]
            .iter()
            .all(|(fio, ours)| {
                is_near(fio.bytes, ours.bytes, tolerance)
                    && is_near(fio.operations, ours.operations, tolerance)
            }),
            Agree::ByTime => (share(fio) - share(ours)).abs() <= SHARE_TOLERANCE,
        };
        if !alike {
            found.push(format!("{name}: {fio:?}, ours {ours:?}"));
        }
    }
    found
}

fn is_near(one: u64, other: u64, tolerance: f64) -> bool {
    one.abs_diff(other) as f64 <= tolerance * one.max(other) as f64
}

/// Share of the reads among all operations.
fn share(did: &Did) -> f64 {
    let all = did.read.operations + did.write.operations + did.trim.operations;
    did.read.operations as f64 / all.max(1) as f64
}

#[test]
fn root_the_same_job_file_does_the_same_work() {
    testkit::require_program!("fio");
    let files = job_files();
    assert!(files.len() >= 5);
    let mut wrong = Vec::new();
    for file in files {
        let agree = Agree::of(&fs::read_to_string(&file).unwrap());
        let (fio, ours) = (through_fio(&file), through_stiction(&file));
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let differences = differences(&fio, &ours, agree);
        wrong.extend(differences.iter().map(|what| format!("{name}: {what}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The comparison itself finds what differs.
#[test]
fn a_difference_is_found() {
    let did = |bytes, operations| Did {
        read: Moved { bytes, operations },
        ..Did::default()
    };
    let came = |did: Did| Came {
        jobs: BTreeMap::from([("a".to_owned(), did)]),
        order: vec!["a".to_owned()],
        file_bytes: vec![4096],
    };
    let differ =
        |one: Did, other: Did, agree| !differences(&came(one), &came(other), agree).is_empty();
    assert!(!differ(did(8192, 2), did(8192, 2), Agree::Exactly));
    assert!(differ(did(8192, 2), did(8192, 1), Agree::Exactly));
    assert!(!differ(did(1000, 100), did(960, 96), Agree::Within(0.05)));
    assert!(differ(did(1000, 100), did(940, 100), Agree::Within(0.05)));
    let mut mixed = did(1000, 100);
    mixed.write.operations = 100;
    assert!(differ(did(1000, 100), mixed, Agree::ByTime));
    let mut other_files = came(did(1, 1));
    other_files.file_bytes = vec![1];
    assert_eq!(
        differences(&came(did(1, 1)), &other_files, Agree::Exactly).len(),
        1
    );
}
