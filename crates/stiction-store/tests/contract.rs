//! What every store must do, written once against the trait; the plainest store that
//! does it, as a model; and SQLite held against both.

use std::collections::BTreeMap;

use proptest::prelude::*;
use stiction_core::{Better, Measurement, Phase, PhaseKind, Session, SessionId, Summary, Trial};
use stiction_store::{Filter, Resolution, SqliteStore, Store, StoreError};
use testkit::sessions::sample;

/// A store as plain as can be.
#[derive(Default)]
struct Model(BTreeMap<SessionId, (Session, u64)>);

impl Store for Model {
    fn put(&mut self, sessions: &[(Session, u64)]) -> Result<(), StoreError> {
        for (session, bytes) in sessions {
            self.0
                .insert(session.header.id.clone(), (session.clone(), *bytes));
        }
        Ok(())
    }

    fn get(&self, id: &SessionId) -> Result<Session, StoreError> {
        let kept = self.0.get(id);
        kept.map(|(session, _)| session.clone())
            .ok_or_else(|| StoreError::NotFound(id.clone()))
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Summary>, StoreError> {
        let is = |wanted: &Option<String>, has: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == has
        };
        let mut list: Vec<Summary> = self.0.values().map(|(s, _)| s.into()).collect();
        list.retain(|summary: &Summary| {
            let kernel = summary.kernel_release.as_deref();
            is(&filter.label, summary.label.as_deref())
                && is(&filter.workload, Some(&summary.workload))
                && filter
                    .kernel
                    .as_ref()
                    .is_none_or(|wanted| kernel.is_some_and(|has| has.starts_with(wanted)))
                && filter
                    .filesystem
                    .as_ref()
                    .is_none_or(|wanted| summary.filesystems.contains(wanted))
                && filter.since.is_none_or(|since| summary.started >= since)
                && filter.until.is_none_or(|until| summary.started < until)
        });
        list.sort_by(|a, b| (b.started, &b.id).cmp(&(a.started, &a.id)));
        list.truncate(filter.limit.map_or(usize::MAX, |limit| limit as usize));
        Ok(list)
    }

    fn figures(&self, filter: &Filter) -> Result<Vec<Session>, StoreError> {
        let list = self.list(filter)?;
        list.iter()
            .map(|summary| Ok(bare(&self.get(&summary.id)?)))
            .collect()
    }

    fn resolve(&self, typed: &str) -> Result<Resolution, StoreError> {
        let ids = |by: &dyn Fn(&Session) -> bool| -> Vec<SessionId> {
            let found = self.0.values().filter(|(session, _)| by(session));
            found
                .map(|(session, _)| session.header.id.clone())
                .collect()
        };
        let mut found = ids(&|session| session.header.id.answers_to(typed));
        if found.is_empty() {
            found = ids(&|session| session.header.label.as_deref() == Some(typed));
        }
        Ok(Resolution::of(found))
    }

    fn journal_sizes(&self) -> Result<BTreeMap<SessionId, u64>, StoreError> {
        Ok(self
            .0
            .iter()
            .map(|(id, (_, bytes))| (id.clone(), *bytes))
            .collect())
    }

    fn remove(&mut self, id: &SessionId) -> Result<bool, StoreError> {
        Ok(self.0.remove(id).is_some())
    }
}

/// What `figures` leaves of a session. Numbers beyond SQLite's integers are cut.
fn bare(session: &Session) -> Session {
    let mut header = session.header.clone();
    if let Some(plan) = &mut header.plan {
        plan.trials.clear();
    }
    let cut = |number: u64| number.min(i64::MAX as u64);
    let phase = |phase: &Phase| {
        let figures = phase.measurements.iter();
        let judged = figures.filter(|figure| figure.metric.better != Better::Neither);
        Phase {
            outcome: phase.outcome.clone(),
            start_ns: cut(phase.start_ns),
            elapsed_ns: cut(phase.elapsed_ns),
            measurements: judged
                .map(|figure| Measurement {
                    digits_cut: false,
                    n: cut(figure.n),
                    ..figure.clone()
                })
                .collect(),
            ..Phase::new(&phase.name, phase.kind)
        }
    };
    let trial = |trial: &Trial| {
        let measured = trial.phases.iter().filter(|p| p.kind == PhaseKind::Measure);
        Trial {
            targets: trial.targets.clone(),
            outcome: trial.outcome.clone(),
            start_ns: cut(trial.start_ns),
            phases: measured.map(phase).collect(),
            ..Trial::new(trial.cell.clone(), trial.repetition)
        }
    };
    Session {
        header,
        trials: session.trials.iter().map(trial).collect(),
        end: session.end.clone(),
        resumptions: Vec::new(),
    }
}

fn reads_figures_without_records(store: &mut dyn Store) {
    let sessions = samples(0..40);
    store.put(&sessions).unwrap();
    let figures = store.figures(&Filter::default()).unwrap();
    let expected: Vec<Session> = sessions.iter().rev().map(|(s, _)| bare(s)).collect();
    assert_eq!(figures.len(), expected.len());
    for (figures, expected) in figures.iter().zip(&expected) {
        assert_eq!(figures, expected);
    }
    assert!(figures.iter().any(|session| {
        let mut phases = session.trials.iter().flat_map(|trial| &trial.phases);
        phases.any(|phase| !phase.measurements.is_empty())
    }));
    let latest = Filter {
        workload: Some("tiobench".to_owned()),
        limit: Some(2),
        ..Filter::default()
    };
    let chosen = store.figures(&latest).unwrap();
    let listed = store.list(&latest).unwrap();
    assert_eq!(chosen.len(), 2);
    assert!(chosen.iter().zip(&listed).all(|(a, b)| a.header.id == b.id));
}

fn samples(numbers: std::ops::Range<u64>) -> Vec<(Session, u64)> {
    numbers.map(|number| (sample(number), number)).collect()
}

fn ids(summaries: &[Summary]) -> Vec<SessionId> {
    summaries.iter().map(|summary| summary.id.clone()).collect()
}

fn keeps_sessions_exactly(store: &mut dyn Store) {
    let sessions = samples(0..40);
    store.put(&sessions).unwrap();
    for (session, _) in &sessions {
        assert_eq!(store.get(&session.header.id).unwrap(), *session);
    }
    let missing = sample(40).header.id;
    let error = store.get(&missing).unwrap_err();
    assert!(matches!(&error, StoreError::NotFound(id) if *id == missing));
    assert!(error.to_string().contains("stiction list"));
}

fn replaces_what_is_put_again(store: &mut dyn Store) {
    let mut session = sample(3);
    store.put(&[(session.clone(), 1)]).unwrap();
    session.header.label = Some("second".to_owned());
    session.trials.clear();
    store.put(&[(session.clone(), 2)]).unwrap();
    let id = &session.header.id;
    assert_eq!(store.get(id).unwrap(), session);
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
    assert_eq!(store.journal_sizes().unwrap(), [(id.clone(), 2)].into());
}

fn forgets_what_is_removed(store: &mut dyn Store) {
    let sessions = samples(0..3);
    store.put(&sessions).unwrap();
    let id = &sessions[1].0.header.id;
    assert!(store.remove(id).unwrap());
    assert!(!store.remove(id).unwrap());
    assert!(matches!(store.get(id), Err(StoreError::NotFound(_))));
    let left = ids(&store.list(&Filter::default()).unwrap());
    assert_eq!(left, [2, 0].map(|number| sample(number).header.id));
    assert_eq!(store.journal_sizes().unwrap().len(), 2);
}

fn lists_the_latest_first_and_as_summaries(store: &mut dyn Store) {
    store.put(&samples(10..20)).unwrap();
    let list = store.list(&Filter::default()).unwrap();
    let expected: Vec<Summary> = (10..20).rev().map(|n| (&sample(n)).into()).collect();
    assert_eq!(list, expected);
    let latest = Filter {
        limit: Some(3),
        ..Filter::default()
    };
    assert_eq!(store.list(&latest).unwrap(), expected[..3]);
}

fn lists_what_the_filter_lets_through(store: &mut dyn Store) {
    let sessions = samples(0..60);
    store.put(&sessions).unwrap();
    let started = |number| sample(number).header.started;
    let filters = [
        Filter {
            label: sessions.iter().find_map(|(s, _)| s.header.label.clone()),
            ..Filter::default()
        },
        Filter {
            workload: Some("tiobench".to_owned()),
            ..Filter::default()
        },
        Filter {
            kernel: Some("2.".to_owned()),
            filesystem: Some("xfs".to_owned()),
            ..Filter::default()
        },
        Filter {
            since: Some(started(20)),
            until: Some(started(40)),
            ..Filter::default()
        },
    ];
    let mut model = Model::default();
    model.put(&sessions).unwrap();
    for filter in filters {
        let list = store.list(&filter).unwrap();
        assert_eq!(list, model.list(&filter).unwrap(), "{filter:?}");
        assert!(
            !list.is_empty() && list.len() < 60,
            "{filter:?} tells nothing"
        );
    }
    let nothing = Filter {
        kernel: Some("2.5.50 or 1=1".to_owned()),
        ..Filter::default()
    };
    assert_eq!(store.list(&nothing).unwrap(), []);
}

fn knows_sessions_by_what_people_type(store: &mut dyn Store) {
    let mut sessions = samples(0..5);
    for (session, _) in &mut sessions {
        session.header.label = Some("base line".to_owned());
    }
    sessions[4].0.header.label = Some("patched".to_owned());
    store.put(&sessions).unwrap();
    let id = |number: usize| sessions[number].0.header.id.clone();
    let resolved = |typed: &str| store.resolve(typed).unwrap();
    assert_eq!(resolved(id(2).as_str()), Resolution::One(id(2)));
    assert_eq!(resolved(id(2).tail()), Resolution::One(id(2)));
    assert_eq!(resolved(&id(2).as_str()[..17]), Resolution::One(id(2)));
    let day = &id(2).to_string()[..8];
    let all = (0..5).rev().map(id).collect();
    assert_eq!(resolved(day), Resolution::Several(all));
    assert_eq!(resolved("patched"), Resolution::One(id(4)));
    let labelled = (0..4).rev().map(id).collect();
    assert_eq!(resolved("base line"), Resolution::Several(labelled));
    for typed in ["", "%", "_", "*", "base", "' OR ''='", &id(2).tail()[1..]] {
        assert_eq!(resolved(typed), Resolution::None, "{typed:?}");
    }
}

macro_rules! contract {
    ($($clause:ident)*) => {
        mod model {
            $(#[test] fn $clause() { super::$clause(&mut super::Model::default()); })*
        }
        mod sqlite {
            $(#[test] fn $clause() {
                let directory = tempfile::tempdir().unwrap();
                let path = directory.path().join("store.sqlite3");
                super::$clause(&mut super::SqliteStore::open(&path).unwrap());
            })*
        }
    };
}

contract! {
    keeps_sessions_exactly
    reads_figures_without_records
    replaces_what_is_put_again
    forgets_what_is_removed
    lists_the_latest_first_and_as_summaries
    lists_what_the_filter_lets_through
    knows_sessions_by_what_people_type
}

#[derive(Clone, Debug)]
enum Step {
    Put(Vec<u64>),
    Remove(u64),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => prop::collection::vec(0u64..12, 0..4).prop_map(Step::Put),
        2 => (0u64..12).prop_map(Step::Remove),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn sqlite_does_what_the_model_does(steps in prop::collection::vec(step(), 1..20)) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.sqlite3");
        let mut store = SqliteStore::open(&path).unwrap();
        let mut model = Model::default();
        for step in steps {
            match step {
                Step::Put(numbers) => {
                    let sessions: Vec<_> = numbers.iter().map(|&n| (sample(n), n)).collect();
                    store.put(&sessions).unwrap();
                    model.put(&sessions).unwrap();
                }
                Step::Remove(number) => {
                    let id = sample(number).header.id;
                    prop_assert_eq!(store.remove(&id).unwrap(), model.remove(&id).unwrap());
                }
                Step::Reopen => {
                    drop(store);
                    store = SqliteStore::open(&path).unwrap();
                }
            }
            let all = Filter::default();
            prop_assert_eq!(store.list(&all).unwrap(), model.list(&all).unwrap());
            prop_assert_eq!(store.journal_sizes().unwrap(), model.journal_sizes().unwrap());
        }
        for id in model.0.keys() {
            prop_assert_eq!(store.get(id).unwrap(), model.get(id).unwrap());
        }
    }
}
