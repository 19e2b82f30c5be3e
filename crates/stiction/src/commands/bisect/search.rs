//! A search that is kept: its journal, its repository, and how far it is.

use std::path::{Path, PathBuf};

use stiction_analysis::bisect::{Course, Found};
use stiction_core::{BisectEvent, BisectQuestion, Digest, Link};
use stiction_journal::{BisectJournal, JournalError};
use stiction_report::Subjects;
use stiction_runner::bisect::Repository;

use super::in_a_line;
use super::question::question;
use crate::arguments::{BisectQuestionArguments, BisectTree};
use crate::commands::Desk;
use crate::failure::Failure;

/// Commits of a report whose messages are looked up.
const SUBJECTS: usize = 10;

/// A search under way.
pub(super) struct Search<'a> {
    pub(super) course: Course,
    pub(super) journal: BisectJournal,
    pub(super) repository: Repository,
    pub(super) desk: &'a Desk<'a>,
}

impl<'a> Search<'a> {
    /// The search that was typed: a new one, or the one that is kept when the question
    /// is the same or none was typed.
    ///
    /// # Errors
    /// When another search of the tree is kept, or the question makes no sense.
    pub(super) fn begin(
        typed: &BisectQuestionArguments,
        desk: &'a Desk<'a>,
    ) -> Result<Self, Failure> {
        let repository = repository(&typed.tree)?;
        let (mut journal, events) = BisectJournal::open(&path(desk, &repository))?;
        let Some(mut course) = Course::of(&events) else {
            let begun = question(typed, &repository, work(desk));
            let question = match begun {
                Ok(question) => question,
                Err(failure) => {
                    // Nothing was begun, so nothing stays.
                    journal.remove()?;
                    return Err(failure);
                }
            };
            journal.append(&BisectEvent::Begun(Box::new(question.clone())))?;
            return Ok(Self {
                course: Course::new(question),
                journal,
                repository,
                desk,
            });
        };
        if !typed.ends.is_empty() || typed.run.is_some() {
            let asked = question(
                &with_kept(typed, course.question()),
                &repository,
                work(desk),
            )?;
            same(&asked, course.question())?;
        }
        if let Some(end_blocks) = typed.blocks.filter(|&n| n > course.question().end_blocks) {
            let event = BisectEvent::Extended { end_blocks };
            journal.append(&event)?;
            course.take(&event);
        }
        Ok(Self {
            course,
            journal,
            repository,
            desk,
        })
    }

    /// The search that is kept for a tree.
    ///
    /// # Errors
    /// When there is none.
    pub(super) fn resume(typed: &BisectTree, desk: &'a Desk<'a>) -> Result<Self, Failure> {
        let repository = repository(typed)?;
        let path = path(desk, &repository);
        if !path.exists() {
            return Err(none(&repository));
        }
        let (journal, events) = BisectJournal::open(&path)?;
        let course = Course::of(&events).ok_or_else(|| none(&repository))?;
        Ok(Self {
            course,
            journal,
            repository,
            desk,
        })
    }

    /// Writes an event down, and takes notice of it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub(super) fn take(&mut self, event: &BisectEvent) -> Result<(), JournalError> {
        self.journal.append(event)?;
        self.course.take(event);
        if let Some(line) = in_a_line(event) {
            self.desk.console.say(&line);
        }
        Ok(())
    }

    /// The place of the metric with that name.
    ///
    /// # Errors
    /// When the search has no such metric.
    pub(super) fn metric(&self, name: &str) -> Result<usize, Failure> {
        let metrics = &self.course.question().metrics;
        let names: Vec<&str> = metrics.iter().map(|metric| metric.name.as_str()).collect();
        names
            .iter()
            .position(|known| *known == name)
            .ok_or_else(|| {
                Failure::new(format!("the search has no metric {name}"))
                    .advise(format!("It has {}.", names.join(", ")))
            })
    }

    /// The first metric in which the ends show the change.
    ///
    /// # Errors
    /// When none does.
    pub(super) fn first_metric(&self) -> Result<usize, Failure> {
        let mut metrics = 0..self.course.question().metrics.len();
        metrics
            .find(|&metric| self.course.shows_step(metric))
            .ok_or_else(|| {
                Failure::new("the ends do not show the change that is sought")
                    .advise("`stiction bisect check` compares them.")
            })
    }

    /// A commit that was found by other means.
    ///
    /// # Errors
    /// When there is no such commit.
    pub(super) fn as_found(&self, revision: &str) -> Result<Found, Failure> {
        let commit = self.repository.commit(revision)?;
        Ok(Found {
            commits: vec![self.repository.link(&commit)?],
            chance: 1.0,
        })
    }
}

/// How far the search of a tree is, without going on with it.
///
/// # Errors
/// When there is none.
pub(super) fn look(typed: &BisectTree, desk: &Desk<'_>) -> Result<(Course, Repository), Failure> {
    let repository = repository(typed)?;
    let events = BisectJournal::read(&path(desk, &repository))?;
    let course = Course::of(&events).ok_or_else(|| none(&repository))?;
    Ok((course, repository))
}

fn none(repository: &Repository) -> Failure {
    Failure::new(format!(
        "there is no search in {}",
        repository.path().display()
    ))
    .advise("`stiction bisect check GOOD BAD --run CMD` begins one.")
}

fn repository(typed: &BisectTree) -> Result<Repository, Failure> {
    let tree = typed.tree.as_deref().unwrap_or(Path::new("."));
    Ok(Repository::open(tree)?)
}

/// The journal of the search of a repository: one at a time.
fn path(desk: &Desk<'_>, repository: &Repository) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let digest = Digest::of(repository.path().as_os_str().as_bytes());
    let name = format!("{}.jsonl", digest.short());
    desk.state.root().join("bisect").join(name)
}

/// Where trees are built unless another place is named.
fn work(desk: &Desk<'_>) -> PathBuf {
    let root = desk.state.root();
    let work = root.join("bisect");
    std::path::absolute(&work).unwrap_or(work)
}

/// What was typed, and for what was not, what the kept search has.
fn with_kept(typed: &BisectQuestionArguments, kept: &BisectQuestion) -> BisectQuestionArguments {
    let mut whole = typed.clone();
    if whole.ends.is_empty() {
        whole.ends = vec![kept.good.clone(), kept.bad.clone()];
    }
    whole.run = whole.run.or_else(|| Some(kept.run.clone()));
    whole.work = whole.work.or_else(|| Some(kept.work.clone()));
    whole
}

/// Refuses another question than the one that is kept.
fn same(asked: &BisectQuestion, kept: &BisectQuestion) -> Result<(), Failure> {
    let differs = [
        ("GOOD", asked.good != kept.good),
        ("BAD", asked.bad != kept.bad),
        (
            "--build",
            asked.build.is_some() && asked.build != kept.build,
        ),
        ("--run", asked.run != kept.run),
        (
            "--metric",
            !asked.patterns.is_empty() && asked.patterns != kept.patterns,
        ),
        ("--find", asked.seek != kept.seek),
        ("--work", asked.work != kept.work),
    ];
    let names: Vec<&str> = differs
        .iter()
        .filter_map(|(name, differs)| differs.then_some(*name))
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "another search of this repository is kept: {} differs",
        names.join(", ")
    ))
    .advise("`stiction bisect auto` goes on with that one, `stiction bisect reset` forgets it."))
}

/// The messages of the commits that a report names.
pub(super) fn subjects(course: &Course, repository: &Repository) -> Subjects {
    let mut commits: Vec<Link> = Vec::new();
    for metric in 0..course.question().metrics.len() {
        let likeliest = course.likeliest(metric).into_iter().take(SUBJECTS);
        commits.extend(likeliest.map(|(link, _)| link.clone()));
        if let stiction_analysis::bisect::Hunt::Found(found) = course.hunt(metric) {
            commits.extend(found.commits);
        }
    }
    subjects_of(commits.iter(), repository)
}

/// The messages of these commits; one that git cannot show is named by its id.
pub(super) fn subjects_of<'a>(
    links: impl Iterator<Item = &'a Link>,
    repository: &Repository,
) -> Subjects {
    links
        .filter_map(|link| {
            let subject = repository.subject(&link.commit).ok()?;
            Some((link.commit.clone(), subject))
        })
        .collect()
}
