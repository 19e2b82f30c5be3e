//! The same job files through fio and through stiction: what was moved, by which
//! operations, at which places and in which sizes, in files of which size, in which
//! order, and for how long.
//!
//! A job file may say how closely the two are to agree, in comments of its own:
//!
//! | line | what is compared |
//! |---|---|
//! | none | bytes, operations and every single request, in any order |
//! | `; agree: in order` | the same, and the requests come in the same order |
//! | `; agree: within 5 %` | bytes and operations up to that; sizes as by the same chance, and as much of the same region is touched |
//! | `; agree: bytes within 5 %` | the same but for operations and sizes |
//! | `; agree: by time` | the shares of the directions, and how long they last |
//! | `; agree: in number` | the number of the files, and bytes within 25 %: chance draws their sizes |
//! | `; unwatched: WHY` | files lie on a plain file system, so that requests are not seen |

mod came;
mod rates;
mod refused;
mod traffic;

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use came::{Came, Did, Ground, Moved, through_fio, through_stiction};
use traffic::Alike;

/// How closely fio and stiction are to agree.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Agree {
    InOrder,
    Exactly,
    Within(f64),
    BytesWithin(f64),
    InNumber,
    ByTime,
}

/// Standard deviations of chance that are none to worry about: once in a million.
const DEVIATIONS: f64 = 5.0;
/// Of the last operations before the end by time.
const SHARE_TOLERANCE: f64 = 0.01;
/// Of how long jobs last that end by time: start and end of processes.
const TIME_TOLERANCE_MS: u64 = 300;
/// Of the bytes of files whose sizes chance draws.
const DRAWN_TOLERANCE: f64 = 0.25;
/// What the last blocks of a file may be short of its size.
const WRITTEN_TOLERANCE: f64 = 0.05;
/// How much of a region chance may leave out more than the other's.
const TOUCHED_TOLERANCE: f64 = 0.1;

impl Agree {
    fn of(text: &str) -> Self {
        let said = text.lines().find_map(|line| line.strip_prefix("; agree: "));
        match said {
            None => Self::Exactly,
            Some("in order") => Self::InOrder,
            Some("in number") => Self::InNumber,
            Some("by time") => Self::ByTime,
            Some(within) => match within.strip_prefix("bytes ") {
                Some(within) => Self::BytesWithin(share_of(within)),
                None => Self::Within(share_of(within)),
            },
        }
    }

    /// How closely single requests are to agree, if they are looked at.
    fn of_requests(self) -> Option<Alike> {
        match self {
            Self::InOrder => Some(Alike::InOrder),
            Self::Exactly => Some(Alike::Requests),
            Self::Within(share) => Some(Alike::Chance(share.max(TOUCHED_TOLERANCE))),
            Self::BytesWithin(share) => Some(Alike::Region(share.max(TOUCHED_TOLERANCE))),
            Self::InNumber | Self::ByTime => None,
        }
    }
}

fn share_of(within: &str) -> f64 {
    let percent = within
        .strip_prefix("within ")
        .and_then(|rest| rest.strip_suffix(" %"))
        .and_then(|number| number.parse::<f64>().ok());
    percent.expect("`within N %`") / 100.0
}

/// The job files: those that are read by tests of the format too, and those that are only
/// run here.
pub(crate) fn job_files() -> Vec<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["../stiction-formats/tests/data/fio", "tests/data/fio"];
    let mut files: Vec<PathBuf> = Vec::new();
    for folder in folders {
        let entries = fs::read_dir(package.join(folder)).expect("the folder of job files");
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.sort();
    files
}

/// Where the two differ by more than they may.
fn differences(fio: &Came, ours: &Came, agree: Agree) -> Vec<String> {
    let mut found = Vec::new();
    if fio.order != ours.order {
        found.push(format!("order: {:?}, ours {:?}", fio.order, ours.order));
    }
    let same_files = match agree {
        Agree::InNumber => fio.file_bytes.len() == ours.file_bytes.len(),
        // Where nothing reserves it, a file ends where it was last written.
        _ if fio.asked.is_some() => {
            let pairs = fio.file_bytes.iter().zip(&ours.file_bytes);
            fio.file_bytes.len() == ours.file_bytes.len()
                && pairs
                    .into_iter()
                    .all(|(fio, ours)| fio <= ours && is_near(*fio, *ours, WRITTEN_TOLERANCE))
        }
        _ => fio.file_bytes == ours.file_bytes,
    };
    if !same_files {
        let (theirs, ours) = (&fio.file_bytes, &ours.file_bytes);
        found.push(format!("files: {theirs:?}, ours {ours:?}"));
    }
    for (name, fio) in &fio.jobs {
        let ours = &ours.jobs[name];
        let alike = match agree {
            Agree::Exactly | Agree::InOrder => {
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
            Agree::BytesWithin(tolerance) => bytes_are_near(fio, ours, tolerance),
            Agree::InNumber => bytes_are_near(fio, ours, DRAWN_TOLERANCE),
            Agree::ByTime => {
                shares_are_near(fio, ours) && fio.ran_ms.abs_diff(ours.ran_ms) <= TIME_TOLERANCE_MS
            }
        };
        if !alike {
            found.push(format!("{name}: {fio:?}, ours {ours:?}"));
        }
    }
    if let (Some(alike), Some(asked), Some(by_us)) = (agree.of_requests(), &fio.asked, &ours.asked)
    {
        found.extend(traffic::differences(asked, by_us, alike));
    }
    found
}

fn bytes_are_near(fio: &Did, ours: &Did, tolerance: f64) -> bool {
    let each = [
        (fio.read, ours.read),
        (fio.write, ours.write),
        (fio.trim, ours.trim),
    ];
    each.iter()
        .all(|(fio, ours)| is_near(fio.bytes, ours.bytes, tolerance))
}

fn is_near(one: u64, other: u64, tolerance: f64) -> bool {
    one.abs_diff(other) as f64 <= tolerance * one.max(other) as f64
}

/// Whether the shares of the reads are as of one chance: each of `n` operations is a
/// read or not, so that the share is `p` with a variance of p (1 - p) / n, which is at
/// most 1 / 4 n.
fn shares_are_near(fio: &Did, ours: &Did) -> bool {
    let all = |did: &Did| did.read.operations + did.write.operations + did.trim.operations;
    let share = |did: &Did| did.read.operations as f64 / all(did).max(1) as f64;
    if [fio, ours]
        .iter()
        .any(|did| [0, all(did)].contains(&did.read.operations))
    {
        return share(fio) == share(ours);
    }
    let variance = 0.25 / all(fio) as f64 + 0.25 / all(ours) as f64;
    (share(fio) - share(ours)).abs() <= DEVIATIONS * variance.sqrt() + SHARE_TOLERANCE
}

/// What one job file differs in.
fn compared(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let agree = Agree::of(&text);
    let plain = text.lines().any(|line| line.starts_with("; unwatched: "));
    let is_watched = agree.of_requests().is_some() && !plain;
    let (one, other) = (Ground::new(is_watched), Ground::new(is_watched));
    let (fio, ours) = std::thread::scope(|scope| {
        let fio = scope.spawn(|| through_fio(file, &one));
        let ours = through_stiction(file, &other);
        (fio.join().expect("fio ran"), ours)
    });
    differences(&fio, &ours, agree)
}

/// One of so many shares of the job files, so that tests run beside each other.
fn compare_share(share: usize, shares: usize) {
    let files = job_files();
    assert!(files.len() >= 50, "{}", files.len());
    let mut wrong = Vec::new();
    let of_share = files.iter().skip(share).step_by(shares);
    for file in of_share.filter(|file| !refused::is_refused(file)) {
        let name = file.file_name().unwrap().to_string_lossy();
        let differences = catch_unwind(|| compared(file))
            .unwrap_or_else(|_| vec!["a run failed, see above".to_owned()]);
        wrong.extend(differences.iter().map(|what| format!("{name}: {what}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn root_the_same_job_file_does_the_same_work_1() {
    testkit::require_root!();
    testkit::require_program!("fio");
    compare_share(0, 4);
}

#[test]
fn root_the_same_job_file_does_the_same_work_2() {
    testkit::require_root!();
    testkit::require_program!("fio");
    compare_share(1, 4);
}

#[test]
fn root_the_same_job_file_does_the_same_work_3() {
    testkit::require_root!();
    testkit::require_program!("fio");
    compare_share(2, 4);
}

#[test]
fn root_the_same_job_file_does_the_same_work_4() {
    testkit::require_root!();
    testkit::require_program!("fio");
    compare_share(3, 4);
}

/// The comparison itself finds what differs.
#[test]
fn a_difference_is_found() {
    let did = |bytes, operations| Did {
        read: Moved { bytes, operations },
        ..Did::default()
    };
    let came = |did: Did| Came {
        jobs: std::collections::BTreeMap::from([("a".to_owned(), did)]),
        order: vec!["a".to_owned()],
        file_bytes: vec![4096],
        asked: None,
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
