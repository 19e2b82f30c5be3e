//! Whole searches in histories that are made here, from events to events.

use std::collections::{BTreeMap, BTreeSet};

use stiction_analysis::bisect::probe::Answer;
use stiction_analysis::bisect::{Aim, Confirmation, Course, END_BLOCKS, Found, Hunt, Next};
use stiction_core::{
    BISECT_FORMAT_VERSION, Better, BisectEvent, BisectQuestion, BlockValues, Link, Seed, Seek,
    SoughtMetric, Untestable, Version,
};

/// A history: what each version really costs, and the noise of a run.
struct World {
    /// Logarithm of the time that each commit takes; others take as long as GOOD.
    levels: BTreeMap<String, f64>,
    /// What BAD takes with the reverted commit taken back.
    without: Option<f64>,
    noise: f64,
    unbuildable: BTreeSet<String>,
    lines: BTreeMap<String, Vec<Vec<Link>>>,
    seed: Seed,
    drawn: u64,
}

impl World {
    fn new(noise: f64, seed: u64) -> Self {
        Self {
            levels: BTreeMap::new(),
            without: Some(0.0),
            noise,
            unbuildable: BTreeSet::new(),
            lines: BTreeMap::new(),
            seed: Seed(seed),
            drawn: 0,
        }
    }

    fn slow(mut self, commits: impl IntoIterator<Item = String>, level: f64) -> Self {
        self.levels
            .extend(commits.into_iter().map(|commit| (commit, level)));
        self
    }

    fn uniform(&mut self) -> f64 {
        self.drawn += 1;
        ((self.seed.stream(self.drawn).0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn run(&mut self, version: &Version) -> f64 {
        let level = match version {
            Version::Commit(id) => self.levels.get(id).copied().unwrap_or(0.0),
            Version::Without { .. } => self.without.unwrap_or(0.0),
        };
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.uniform()).cos();
        10.0 * (level + self.noise * normal).exp()
    }

    fn obstacle(&self, version: &Version) -> Option<Untestable> {
        match version {
            Version::Commit(id) => self.unbuildable.contains(id).then_some(Untestable::Build),
            Version::Without { .. } => self.without.is_none().then_some(Untestable::Revert),
        }
    }

    /// What happens when `next` is done; `None` when nothing is to be done.
    fn happen(&mut self, next: Next) -> Option<BisectEvent> {
        match next {
            Next::Done => None,
            Next::Open { merge, .. } => {
                let lines = self.lines.get(&merge).cloned().unwrap_or_default();
                Some(BisectEvent::Opened { merge, lines })
            }
            Next::Block {
                reference,
                candidate,
                ..
            } => {
                for version in [&reference, &candidate] {
                    if let Some(step) = self.obstacle(version) {
                        return Some(BisectEvent::Untestable {
                            version: version.clone(),
                            step,
                            message: "exit code 2".to_owned(),
                        });
                    }
                }
                let values = vec![BlockValues {
                    reference: self.run(&reference),
                    candidate: self.run(&candidate),
                }];
                Some(BisectEvent::Block {
                    reference,
                    candidate,
                    values,
                    session: "20021130-105912-k3f9".to_owned(),
                    seconds: 20.0,
                })
            }
        }
    }

    /// Goes on from `events` to the end, which it gives with all events.
    fn search(&mut self, mut events: Vec<BisectEvent>) -> (Course, Vec<BisectEvent>) {
        let mut course = Course::of(&events).expect("a question");
        while let Some(event) = self.happen(course.next(true)) {
            course.take(&event);
            events.push(event);
            assert!(events.len() < 3000, "the search does not end");
        }
        (course, events)
    }
}

fn id(number: usize) -> String {
    format!("{number:040x}")
}

fn link(number: usize, parents: &[usize]) -> Link {
    Link {
        commit: id(number),
        parents: parents.iter().map(|&parent| id(parent)).collect(),
    }
}

/// GOOD is 0; commits 1 to `last`, which is BAD, each on the one before.
fn question(last: usize, seek: Seek) -> BisectQuestion {
    BisectQuestion {
        format_version: BISECT_FORMAT_VERSION,
        tree: "/tree".into(),
        work: "/work".into(),
        good: id(0),
        bad: id(last),
        chain: (1..=last)
            .map(|number| link(number, &[number - 1]))
            .collect(),
        build: Some("make".to_owned()),
        keeps_build_files: false,
        run: "./bench".to_owned(),
        patterns: Vec::new(),
        metrics: vec![SoughtMetric {
            name: "elapsed_s".to_owned(),
            better: Better::Less,
            smallest_effect: 0.03,
        }],
        seek,
        end_blocks: END_BLOCKS,
        limit_s: None,
    }
}

fn begun(question: BisectQuestion) -> Vec<BisectEvent> {
    vec![BisectEvent::Begun(Box::new(question))]
}

fn found(course: &Course) -> Found {
    match course.hunt(0) {
        Hunt::Found(found) => found,
        other => panic!("{other:?}"),
    }
}

/// Commit 70 of 100 takes a tenth longer, with noise of 4 % a run: 1.7 deviations.
fn slow_from_70() -> World {
    World::new(0.04, 11).slow((70..=100).map(id), 0.095)
}

#[test]
fn a_planted_commit_is_found_and_confirmed() {
    let (course, events) = slow_from_70().search(begun(question(100, Seek::Worse)));
    let found = found(&course);
    assert_eq!(found.culprit().commit, id(70));
    assert_eq!(found.commits.len(), 1);
    assert!(found.chance >= 0.96);
    let bracket = course.bracket(0, &found);
    assert_eq!(bracket.confirmation, Confirmation::Confirmed, "{bracket:?}");
    assert!(bracket.reverted.is_some());
    assert_eq!(course.likeliest(0)[0].0.commit, id(70));
    assert!(events.len() < 120, "{} events", events.len());
}

/// Killed after any event, a search that goes on from the events so far names the same
/// commit.
#[test]
fn a_search_goes_on_from_any_event() {
    let (_, events) = slow_from_70().search(begun(question(100, Seek::Worse)));
    for cut in (1..events.len()).step_by(3) {
        let mut world = slow_from_70();
        // Other noise than the first time: the runs after the cut are new ones.
        world.seed = Seed(12 + cut as u64 % 3);
        let (course, all) = world.search(events[..cut].to_vec());
        assert_eq!(all[..cut], events[..cut]);
        assert_eq!(found(&course).culprit().commit, id(70), "cut after {cut}");
    }
}

#[test]
fn improvements_are_found_as_well() {
    let mut world = World::new(0.02, 5).slow((1..=8).map(id), 0.0);
    world = world.slow((20..=64).map(id), -0.1);
    let (course, _) = world.search(begun(question(64, Seek::Better)));
    assert_eq!(found(&course).culprit().commit, id(20));
    let confirmation = course.bracket(0, &found(&course)).confirmation;
    assert_eq!(confirmation, Confirmation::Confirmed);
    // Nobody looks for what got better as a loss.
    let mut world = World::new(0.02, 5).slow((20..=64).map(id), -0.1);
    let (course, _) = world.search(begun(question(64, Seek::Worse)));
    assert_eq!(course.hunt(0), Hunt::NoStep);
}

#[test]
fn ends_that_do_not_differ_are_refused_with_what_it_takes() {
    let mut world = World::new(0.04, 3).slow((70..=100).map(id), 0.045);
    let (course, events) = world.search(begun(question(100, Seek::Worse)));
    assert_eq!(events.len(), 17, "nothing but the ends was measured");
    assert_eq!(course.hunt(0), Hunt::NoStep);
    match &course.ends()[0].verdict {
        stiction_analysis::Verdict::CannotTell { runs_needed, .. } => {
            assert!(runs_needed.is_some_and(|needed| needed > END_BLOCKS));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn commits_that_do_not_build_are_gone_around() {
    let mut world = World::new(0.02, 8).slow((33..=64).map(id), 0.1);
    world.unbuildable = (40..=55).chain([16, 48]).map(id).collect();
    let (course, _) = world.search(begun(question(64, Seek::Worse)));
    assert_eq!(found(&course).culprit().commit, id(33));

    // With the culprit and its neighbours among them the answer is all of them.
    let mut world = World::new(0.02, 8).slow((33..=64).map(id), 0.1);
    world.unbuildable = (31..=34).map(id).collect();
    let (course, _) = world.search(begun(question(64, Seek::Worse)));
    let found = found(&course);
    let numbers: Vec<String> = found
        .commits
        .iter()
        .map(|link| link.commit.clone())
        .collect();
    assert_eq!(numbers, (31..=35).map(id).collect::<Vec<_>>());
    match course.bracket(0, &found).confirmation {
        Confirmation::BestGuess(doubts) => assert!(doubts[0].contains("one of 4"), "{doubts:?}"),
        Confirmation::Confirmed => panic!("it may be any of five"),
    }
}

#[test]
fn an_end_that_does_not_build_ends_the_search() {
    let mut world = slow_from_70();
    world.unbuildable.insert(id(100));
    let (course, events) = world.search(begun(question(100, Seek::Worse)));
    assert_eq!(events.len(), 2);
    assert_eq!(course.hunt(0), Hunt::NoStep);
    assert!(course.why_untestable(&Version::Commit(id(100))).is_some());
}

/// 0 - 1 - 2 - ... - 10 = M(9, 203) - 11 - 12; the line 201 - 202 - 203 left at 1.
fn with_a_merge() -> BisectQuestion {
    let mut asked = question(12, Seek::Worse);
    asked.chain[9] = link(10, &[9, 203]);
    asked
}

fn lines() -> BTreeMap<String, Vec<Vec<Link>>> {
    let line = vec![
        link(201, &[1]),
        link(202, &[201]),
        link(203, &[202]),
        link(10, &[9, 203]),
    ];
    BTreeMap::from([(id(10), vec![line])])
}

#[test]
fn a_merge_is_descended_into() {
    let slow = [202, 203, 10, 11, 12].map(id);
    let mut world = World::new(0.02, 9).slow(slow, 0.1);
    world.lines = lines();
    let (course, events) = world.search(begun(with_a_merge()));
    assert_eq!(found(&course).culprit().commit, id(202));
    assert_eq!(found(&course).parent(), Some(id(201).as_str()));
    let opened = events
        .iter()
        .filter(|event| matches!(event, BisectEvent::Opened { .. }));
    assert_eq!(opened.count(), 1);
}

#[test]
fn a_merge_of_two_lines_that_are_well_alone_is_the_culprit_itself() {
    let mut world = World::new(0.02, 9).slow([10, 11, 12].map(id), 0.1);
    world.lines = lines();
    let (course, _) = world.search(begun(with_a_merge()));
    assert_eq!(found(&course).culprit().commit, id(10));
    assert_eq!(
        course.bracket(0, &found(&course)).confirmation,
        Confirmation::Confirmed
    );
}

/// A loss in two halves: the middle is said, and the first half is not called the whole.
#[test]
fn two_steps_are_noticed() {
    let mut world = World::new(0.01, 4)
        .slow((10..=20).map(id), 0.1)
        .slow((21..=32).map(id), 0.2);
    let (course, _) = world.search(begun(question(32, Seek::Worse)));
    assert!(!course.between_levels(0).is_empty());
}

#[test]
fn a_revert_that_changes_nothing_leaves_a_guess() {
    let mut world = slow_from_70();
    world.without = Some(0.095);
    let (course, _) = world.search(begun(question(100, Seek::Worse)));
    let found = found(&course);
    match course.bracket(0, &found).confirmation {
        Confirmation::BestGuess(doubts) => assert!(doubts[0].contains("without it"), "{doubts:?}"),
        Confirmation::Confirmed => panic!("the change is there without it"),
    }
    // One that cannot be taken back says nothing either way.
    let mut world = slow_from_70();
    world.without = None;
    let (course, _) = world.search(begun(question(100, Seek::Worse)));
    let confirmation = course.bracket(0, &found).confirmation;
    assert_eq!(confirmation, Confirmation::Confirmed);
}

#[test]
fn commits_are_answered_for_one_by_one() {
    let mut world = slow_from_70();
    let mut course = Course::new(question(100, Seek::Worse));
    while !course.ends_are_measured() {
        let event = world.happen(course.next(true)).unwrap();
        course.take(&event);
    }
    for (number, want) in [(0, Answer::Unchanged), (100, Answer::Changed)] {
        assert_eq!(course.answer(&id(number), 0), want);
    }
    for (number, want) in [(69, Answer::Unchanged), (70, Answer::Changed)] {
        while course.answer(&id(number), 0) == Answer::Open {
            let block = Next::Block {
                reference: Version::Commit(id(0)),
                candidate: Version::Commit(id(number)),
                aim: Aim::Search(0),
            };
            let event = world.happen(block).unwrap();
            course.take(&event);
        }
        assert_eq!(course.answer(&id(number), 0), want, "{number}");
    }
}

#[test]
fn events_read_back_as_they_were_written() {
    let (_, events) = slow_from_70().search(begun(question(100, Seek::Worse)));
    for event in events {
        let line = serde_json::to_string(&event).unwrap();
        assert_eq!(serde_json::from_str::<BisectEvent>(&line).unwrap(), event);
    }
}
