//! A search for a commit as JSON.

use serde::Serialize;
use stiction_analysis::Verdict;
use stiction_analysis::bisect::{
    Confirmation, Course, Ends, ExpectedCost, Found, Hunt, Method, Step,
};
use stiction_core::{Seek, Untestable};

use super::document;
use crate::bisect::Subjects;

/// Commits that the list of the likeliest holds.
const LIKELIEST: usize = 10;

#[derive(Serialize)]
struct BisectView<'a> {
    good: &'a str,
    bad: &'a str,
    seek: Seek,
    commits_count: usize,
    blocks_count: usize,
    builds_count: usize,
    metrics: Vec<MetricView<'a>>,
    untestable: Vec<UntestableView<'a>>,
}

#[derive(Serialize)]
struct MetricView<'a> {
    metric: &'a str,
    ends: EndsView,
    #[serde(skip_serializing_if = "Option::is_none")]
    step_percent: Option<f64>,
    /// The step over the deviation of a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    step_ratio: Option<f64>,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<ExpectedView>,
    likeliest: Vec<CommitView<'a>>,
    between_levels: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<FoundView<'a>>,
}

#[derive(Serialize)]
struct EndsView {
    verdict: &'static str,
    blocks_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_percent: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_percent_lowest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change_percent_highest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_needed_count: Option<u32>,
}

impl EndsView {
    fn of(ends: &Ends) -> Self {
        let estimate = ends.estimate.as_ref();
        Self {
            verdict: ends.verdict.word(),
            blocks_count: ends.blocks,
            change_percent: estimate.map(|estimate| estimate.change_percent),
            change_percent_lowest: estimate.map(|estimate| estimate.lowest_percent),
            change_percent_highest: estimate.map(|estimate| estimate.highest_percent),
            runs_needed_count: match &ends.verdict {
                Verdict::CannotTell { runs_needed, .. } => *runs_needed,
                _ => None,
            },
        }
    }
}

#[derive(Serialize)]
struct ExpectedView {
    auto: CostView,
    probe: CostView,
}

#[derive(Serialize)]
struct CostView {
    blocks_count: f64,
    builds_count: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_s: Option<f64>,
    unsure_percent: f64,
}

#[derive(Serialize)]
struct CommitView<'a> {
    commit: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    chance_percent: f64,
}

#[derive(Serialize)]
struct FoundView<'a> {
    commit: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    chance_percent: f64,
    /// Commits before it that no measurement tells from it.
    or_one_of: Vec<String>,
    confirmed: bool,
    doubts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against_parent: Option<EndsView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reverted: Option<EndsView>,
}

#[derive(Serialize)]
struct UntestableView<'a> {
    version: String,
    step: Untestable,
    message: &'a str,
}

/// How far the search is.
#[must_use]
pub fn bisect(course: &Course, subjects: &Subjects) -> String {
    let question = course.question();
    let metrics = (0..question.metrics.len()).map(|metric| view(course, metric, subjects));
    document(
        "stiction-bisect",
        BisectView {
            good: &question.good,
            bad: &question.bad,
            seek: question.seek,
            commits_count: question.chain.len(),
            blocks_count: course.blocks(),
            builds_count: course.builds(),
            metrics: metrics.collect(),
            untestable: course
                .untestable()
                .map(|(version, step, message)| UntestableView {
                    version: version.to_string(),
                    step,
                    message,
                })
                .collect(),
        },
    )
}

#[derive(Serialize)]
struct BracketView<'a> {
    metric: &'a str,
    found: FoundView<'a>,
}

/// What the last comparisons say of a commit.
#[must_use]
pub fn bisect_bracket(
    course: &Course,
    metric: usize,
    found: &Found,
    subjects: &Subjects,
) -> String {
    document(
        "stiction-bisect-bracket",
        BracketView {
            metric: &course.question().metrics[metric].name,
            found: found_view(course, metric, found, subjects),
        },
    )
}

fn view<'a>(course: &'a Course, metric: usize, subjects: &'a Subjects) -> MetricView<'a> {
    let hunt = course.hunt(metric);
    let shown = course.shows_step(metric);
    let step = course.step(metric).filter(|_| shown);
    let (state, found) = match &hunt {
        Hunt::NoStep if !course.ends_are_measured() => ("comparing_ends", None),
        Hunt::NoStep => ("no_step", None),
        Hunt::Measure(_) | Hunt::Open { .. } => ("searching", None),
        Hunt::Found(found) => ("found", Some(found_view(course, metric, found, subjects))),
    };
    let expected = || {
        Some(ExpectedView {
            auto: cost(course, course.expected(metric, Method::Posterior)?),
            probe: cost(course, course.expected(metric, Method::Halving)?),
        })
    };
    let likeliest = course.likeliest(metric);
    MetricView {
        metric: &course.question().metrics[metric].name,
        ends: EndsView::of(&course.ends()[metric]),
        step_percent: step.map(|step| 100.0 * step.size.exp_m1()),
        step_ratio: step
            .map(Step::in_deviations)
            .filter(|ratio| ratio.is_finite()),
        state,
        expected: if state == "searching" {
            expected()
        } else {
            None
        },
        likeliest: likeliest
            .into_iter()
            .filter(|_| shown)
            .take(LIKELIEST)
            .map(|(link, chance)| CommitView {
                commit: &link.commit,
                subject: subjects.get(&link.commit).map(String::as_str),
                chance_percent: 100.0 * chance,
            })
            .collect(),
        between_levels: match shown {
            true => course.between_levels(metric),
            false => Vec::new(),
        },
        found,
    }
}

fn cost(course: &Course, cost: ExpectedCost) -> CostView {
    CostView {
        blocks_count: cost.blocks,
        builds_count: cost.builds,
        time_s: course.seconds_of(cost),
        unsure_percent: 100.0 * cost.unsure_share,
    }
}

fn found_view<'a>(
    course: &Course,
    metric: usize,
    found: &Found,
    subjects: &'a Subjects,
) -> FoundView<'a> {
    let bracket = course.bracket(metric, found);
    let others = &found.commits[..found.commits.len() - 1];
    FoundView {
        commit: found.culprit().commit.clone(),
        subject: subjects.get(&found.culprit().commit).map(String::as_str),
        chance_percent: 100.0 * found.chance,
        or_one_of: others.iter().map(|link| link.commit.clone()).collect(),
        confirmed: bracket.confirmation == Confirmation::Confirmed,
        doubts: match bracket.confirmation {
            Confirmation::Confirmed => Vec::new(),
            Confirmation::BestGuess(doubts) => doubts,
        },
        against_parent: bracket.parent.as_ref().map(EndsView::of),
        reverted: bracket.reverted.as_ref().map(EndsView::of),
    }
}
