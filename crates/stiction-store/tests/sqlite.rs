//! The database itself: what can be asked of it in SQL, and what it refuses.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::Connection;
use stiction_core::{
    Caveat, CaveatCode, Cell, Measurement, Phase, PhaseKind, Session, Trial, metrics,
};
use stiction_store::{Filter, SqliteStore, Store, StoreError};
use testkit::sessions::sample;

struct Place {
    _directory: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("state/store.sqlite3");
    Place {
        _directory: directory,
        path,
    }
}

fn error_of(path: &Path) -> StoreError {
    match SqliteStore::open(path) {
        Err(error) => error,
        Ok(_) => panic!("{} was opened", path.display()),
    }
}

#[test]
fn figures_can_be_asked_for_in_sql() {
    let place = place();
    let mut session = sample(5);
    session.header.label = Some("base".to_owned());
    let mut trial = Trial::new(Cell::new().with("threads", 8u32), 2);
    for (name, kind, rate) in [
        ("lay_down", PhaseKind::LayDown, 1.0),
        ("read", PhaseKind::Measure, 0.1 + 0.2),
    ] {
        let mut phase = Phase::new(name, kind);
        phase
            .measurements
            .push(Measurement::new(metrics::RATE, rate, 17));
        trial.phases.push(phase);
    }
    session.trials = vec![trial];
    let mut store = SqliteStore::open(&place.path).unwrap();
    store.put(&[(session.clone(), 1), (sample(6), 1)]).unwrap();

    let connection = Connection::open(&place.path).unwrap();
    let row: (String, String, u32, f64, String, u32) = connection
        .query_row(
            "SELECT id, phase, repetition, value, better, n FROM figures
             WHERE label = 'base' AND metric = 'rate_bytes_per_s'
               AND json_extract(cell, '$.threads') = 8",
            [],
            |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                    row.get(5)?,
                ))
            },
        )
        .unwrap();
    let id = session.header.id.to_string();
    let more = "more".to_owned();
    assert_eq!(row, (id, "read".to_owned(), 2, 0.1 + 0.2, more, 17));
}

/// The examples of `docs/sessions.md` are run as they stand there.
#[test]
fn the_documented_questions_have_answers() {
    let place = place();
    let mut session = sample(5);
    session.trials = (1..=2u32)
        .map(|repetition| {
            let mut phase = Phase::new("read", PhaseKind::Measure);
            let rate = f64::from(repetition) * 1_048_576.0;
            phase
                .measurements
                .push(Measurement::new(metrics::RATE, rate, 1));
            phase.caveats = vec![Caveat::new(CaveatCode::Limiter, "flat")];
            let mut trial = Trial::new(Cell::new().with("threads", 8u32), repetition);
            trial.phases = vec![phase];
            trial
        })
        .collect();
    let mut store = SqliteStore::open(&place.path).unwrap();
    store.put(&[(session.clone(), 1)]).unwrap();

    let document = include_str!("../../../docs/sessions.md");
    let questions: Vec<&str> = document
        .split("```sql\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    let connection = Connection::open(&place.path).unwrap();
    let [by_kernel, limited] = questions[..] else {
        panic!("{} questions", questions.len());
    };
    let row: (String, String, u32, f64) = connection
        .query_row(by_kernel, [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .unwrap();
    let kernel = session.header.environment.kernel.unwrap().release;
    assert_eq!(row, (kernel, "read".to_owned(), 2, 1.5));
    let row: (String, String) = connection
        .query_row(limited, [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert_eq!(row, (session.header.id.to_string(), "flat".to_owned()));
}

/// What the tables hold of `session`, by counting.
fn counts(connection: &Connection) -> [i64; 5] {
    ["sessions", "trials", "phases", "measurements", "caveats"].map(|table| {
        let sql = format!("SELECT count(*) FROM {table}");
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    })
}

#[test]
fn every_part_of_a_session_has_its_row_and_goes_with_it() {
    let place = place();
    let session = (0..)
        .map(sample)
        .find(|session| session.trials.iter().any(|trial| trial.phases.len() > 1))
        .unwrap();
    let mut store = SqliteStore::open(&place.path).unwrap();
    store.put(&[(session.clone(), 1)]).unwrap();
    let phases: Vec<&Phase> = session.trials.iter().flat_map(|t| &t.phases).collect();
    let caveats = session.header.caveats.len()
        + session
            .trials
            .iter()
            .map(|t| t.caveats.len())
            .sum::<usize>()
        + phases.iter().map(|p| p.caveats.len()).sum::<usize>();
    let measurements = phases.iter().map(|p| p.measurements.len()).sum::<usize>();
    let connection = Connection::open(&place.path).unwrap();
    let expected = [1, session.trials.len(), phases.len(), measurements, caveats];
    assert_eq!(counts(&connection), expected.map(|count| count as i64));
    store.remove(&session.header.id).unwrap();
    assert_eq!(counts(&connection), [0; 5]);
}

/// Between the look at the file and the lock, another process may have made the store
/// and keep it open.
#[test]
fn nobody_waits_for_a_store_that_another_process_has_open() {
    let place = place();
    fs::create_dir(place.path.parent().unwrap()).unwrap();
    let lock = fs::File::create(place.path.with_file_name("store.sqlite3.lock")).unwrap();
    lock.lock_shared().unwrap();
    let mut store = SqliteStore::open(&place.path).unwrap();
    store.put(&[(sample(1), 1)]).unwrap();
}

#[test]
fn the_store_is_for_its_owner_alone() {
    let place = place();
    let _store = SqliteStore::open(&place.path).unwrap();
    let directory = place.path.parent().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(directory), 0o700);
    let mut files = 0;
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        files += 1;
    }
    assert!(files >= 2, "the database and its lock");
}

#[test]
fn other_files_are_refused_and_left_alone() {
    let place = place();
    fs::create_dir(place.path.parent().unwrap()).unwrap();
    fs::write(&place.path, "Dear diary, ".repeat(100)).unwrap();
    let error = error_of(&place.path);
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("stiction store rebuild"));
    assert!(
        fs::read_to_string(&place.path)
            .unwrap()
            .starts_with("Dear diary")
    );

    fs::remove_file(&place.path).unwrap();
    let other = Connection::open(&place.path).unwrap();
    other
        .execute_batch("CREATE TABLE songs (title TEXT)")
        .unwrap();
    drop(other);
    let error = error_of(&place.path);
    assert!(matches!(error, StoreError::NotOurs { .. }), "{error}");
    let other = Connection::open(&place.path).unwrap();
    assert_eq!(
        other.query_row("SELECT count(*) FROM songs", [], |row| row.get(0)),
        Ok(0)
    );
}

#[test]
fn a_newer_schema_is_refused() {
    let place = place();
    drop(SqliteStore::open(&place.path).unwrap());
    let connection = Connection::open(&place.path).unwrap();
    connection.pragma_update(None, "user_version", 3).unwrap();
    drop(connection);
    let error = error_of(&place.path);
    assert!(
        matches!(
            error,
            StoreError::Newer {
                found: 3,
                known: 2,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("is of version 3"), "{error}");
}

/// Nobody makes a directory in /sys, not even root.
#[test]
fn a_place_that_cannot_be_written_to_is_named() {
    let error = error_of(Path::new("/sys/kernel/stiction/store.sqlite3"));
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    let text = error.to_string();
    assert!(text.starts_with("/sys/kernel/stiction: "), "{text}");
    assert!(text.contains("--store"), "{text}");
}

#[test]
fn damage_inside_is_told_with_its_remedy() {
    let place = place();
    let mut store = SqliteStore::open(&place.path).unwrap();
    store.put(&[(sample(1), 1)]).unwrap();
    let connection = Connection::open(&place.path).unwrap();
    connection
        .execute_batch("UPDATE records SET json = substr(json, 1, 50)")
        .unwrap();
    let error = store.get(&sample(1).header.id).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    connection
        .execute_batch("UPDATE sessions SET id = 'tomorrow'")
        .unwrap();
    let error = store.list(&Filter::default()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    drop((store, connection));

    // Overwrite all pages but the first.
    let mut bytes = fs::read(&place.path).unwrap();
    bytes[4096..].fill(0xa5);
    fs::write(&place.path, bytes).unwrap();
    let error = SqliteStore::open(&place.path)
        .and_then(|store| store.list(&Filter::default()))
        .unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(
        error.to_string().contains("stiction store rebuild"),
        "{error}"
    );
}

#[test]
fn a_replaced_store_is_all_new_or_all_old() {
    let place = place();
    let mut store = SqliteStore::open(&place.path).unwrap();
    store.put(&[(sample(1), 1)]).unwrap();
    let busy = SqliteStore::replace(&place.path, |_| Ok(()));
    assert!(matches!(busy, Err(StoreError::Busy { .. })));
    drop(store);

    let failed = SqliteStore::replace(&place.path, |new| {
        new.put(&[(sample(2), 1)])?;
        Err::<(), _>(StoreError::NotFound(sample(3).header.id))
    });
    assert!(matches!(failed, Err(StoreError::NotFound(_))));
    let list = |path: &Path| SqliteStore::open(path).unwrap().journal_sizes().unwrap();
    assert_eq!(list(&place.path), [(sample(1).header.id, 1)].into());

    SqliteStore::replace(&place.path, |new| new.put(&[(sample(2), 1)])).unwrap();
    assert_eq!(list(&place.path), [(sample(2).header.id, 1)].into());
    let files = fs::read_dir(place.path.parent().unwrap()).unwrap();
    let names: Vec<_> = files.map(|entry| entry.unwrap().file_name()).collect();
    assert!(
        names
            .iter()
            .all(|name| !name.to_string_lossy().contains("new")),
        "{names:?}"
    );
}

/// Whoever comes first makes the tables; nobody finds half of them, or fails.
#[test]
fn many_open_a_new_store_at_the_same_time() {
    for _ in 0..8 {
        let place = place();
        let barrier = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (path, barrier) = (&place.path, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let mut store = SqliteStore::open(path).unwrap();
                    store.put(&[(sample(number), number)]).unwrap();
                });
            }
        });
        let sizes = SqliteStore::open(&place.path).unwrap().journal_sizes();
        assert_eq!(sizes.unwrap().len(), 8);
    }
}

/// Names the store that a child process of the test below writes to.
const CHILD: &str = "STICTION_TEST_STORE_OF_CHILD";

/// Two processes write to one store at the same time, each session in a transaction of
/// its own, while a third reads it; nobody fails and nothing is lost.
#[test]
fn two_processes_write_at_the_same_time() {
    const SESSIONS: u64 = 40;
    let write = |path: &Path, first: u64| {
        let mut store = SqliteStore::open(path).unwrap();
        for number in first..first + SESSIONS {
            store.put(&[(sample(number), number)]).unwrap();
        }
    };
    if let Some(path) = std::env::var_os(CHILD) {
        write(Path::new(&path), 0);
        return;
    }
    let place = place();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "two_processes_write_at_the_same_time"])
        .env(CHILD, &place.path)
        .spawn()
        .unwrap();
    write(&place.path, SESSIONS);
    let reader = SqliteStore::open(&place.path).unwrap();
    while child.try_wait().unwrap().is_none() {
        for (id, number) in reader.journal_sizes().unwrap() {
            assert_eq!(id, sample(number).header.id);
        }
    }
    assert!(child.wait().unwrap().success());
    for number in 0..2 * SESSIONS {
        let session: Session = sample(number);
        assert_eq!(reader.get(&session.header.id).unwrap(), session);
    }
}

/// The first version had no headers and no targets of trials.
#[test]
fn a_store_of_the_first_version_is_brought_up_to_date() {
    let place = place();
    let sessions: Vec<_> = (0..20).map(|number| (sample(number), number)).collect();
    let mut store = SqliteStore::open(&place.path).unwrap();
    store.put(&sessions).unwrap();
    let mut expected = store.figures(&Filter::default()).unwrap();
    for trial in expected.iter_mut().flat_map(|session| &mut session.trials) {
        trial.targets = None;
    }
    drop(store);
    let old = Connection::open(&place.path).unwrap();
    old.execute_batch(
        "DROP TABLE headers; ALTER TABLE trials DROP COLUMN targets; PRAGMA user_version = 1",
    )
    .unwrap();
    drop(old);
    let store = SqliteStore::open(&place.path).unwrap();
    let figures = store.figures(&Filter::default()).unwrap();
    assert_eq!(figures.len(), 20);
    for (figures, expected) in figures.iter().zip(&expected) {
        assert_eq!(figures, expected);
    }
}
