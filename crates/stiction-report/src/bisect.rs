//! How far a search for a commit is: the ends, what it will cost, who did it.

use std::collections::BTreeMap;

use stiction_analysis::Verdict;
use stiction_analysis::bisect::{
    Bracket, Confirmation, Course, Ends, ExpectedCost, Found, Hunt, Method,
};
use stiction_core::{Seek, Untestable, Version};

use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::text::counted;

/// Commits that the list of the likeliest holds, and the least chance of one in it.
const LIKELIEST: (usize, f64) = (5, 0.01);

/// Versions that could not be measured which are named.
const UNTESTABLE_MOST: usize = 8;

/// First lines of commits' messages, by full id.
pub type Subjects = BTreeMap<String, String>;

/// How far the search is. The last line is the answer.
#[must_use]
pub fn bisect(course: &Course, subjects: &Subjects, style: Style) -> String {
    let mut page = Page::new(style);
    ends(&mut page, course);
    for metric in 0..course.question().metrics.len() {
        if course.shows_step(metric) {
            hunt(&mut page, course, metric, subjects);
        }
    }
    untestable(&mut page, course);
    page.blank();
    for line in answers(course, subjects) {
        page.paragraph("", line);
    }
    page.finish()
}

/// What the last comparisons say of a commit. The last line is the answer.
#[must_use]
pub fn bisect_bracket(
    course: &Course,
    metric: usize,
    found: &Found,
    subjects: &Subjects,
    style: Style,
) -> String {
    let mut page = Page::new(style);
    page.line(Span::new(
        Role::Strong,
        format!(
            "{} in {}",
            named(&found.culprit().commit, subjects),
            course.question().metrics[metric].name
        ),
    ));
    bracket(&mut page, &course.bracket(metric, found));
    untestable(&mut page, course);
    page.blank();
    let words = found_in_words(course, metric, found, subjects);
    page.paragraph("", Span::new(Role::Strong, words));
    page.finish()
}

fn short(commit: &str) -> String {
    Version::Commit(commit.to_owned()).to_string()
}

fn named(commit: &str, subjects: &Subjects) -> String {
    match subjects.get(commit) {
        Some(subject) => format!("{} {subject}", short(commit)),
        None => short(commit),
    }
}

fn ends(page: &mut Page, course: &Course) {
    let question = course.question();
    page.line(Span::new(
        Role::Strong,
        format!(
            "{} to {}, {}",
            short(&question.good),
            short(&question.bad),
            counted(question.chain.len(), "commit")
        ),
    ));
    let mut table = Table::new(vec![
        Column::left("metric", 24),
        Column::left("GOOD to BAD", 15),
        Column::right("change", 9),
        Column::right("95 %", 18),
        Column::right("blocks", 6),
    ]);
    for (metric, ends) in question.metrics.iter().zip(course.ends()) {
        table.row(row(&metric.name, ends, question.seek));
    }
    page.table(2, &table);
    if course.is_extended() {
        page.line("  blocks were added after a look at the first ones");
    }
}

fn row(name: &str, ends: &Ends, seek: Seek) -> Vec<Span> {
    let role = match (ends.show(seek), seek) {
        (true, Seek::Worse) => Role::Bad,
        (true, Seek::Better) => Role::Good,
        (false, _) => Role::Doubt,
    };
    let estimate = ends.estimate.as_ref();
    vec![
        name.into(),
        Span::new(role, ends.verdict.word()),
        estimate
            .map(|estimate| format!("{:+.1} %", estimate.change_percent))
            .unwrap_or_default()
            .into(),
        estimate
            .map(|estimate| {
                let (low, high) = (estimate.lowest_percent, estimate.highest_percent);
                format!("{low:+.1} to {high:+.1} %")
            })
            .unwrap_or_default()
            .into(),
        ends.blocks.to_string().into(),
    ]
}

fn hunt(page: &mut Page, course: &Course, metric: usize, subjects: &Subjects) {
    let name = &course.question().metrics[metric].name;
    page.blank();
    if let Some(step) = course.step(metric) {
        page.line(format!(
            "{name}: a step of {:.1} % is {:.1} deviations of a block",
            100.0 * step.size.exp_m1(),
            step.in_deviations()
        ));
    }
    match course.hunt(metric) {
        Hunt::NoStep => {}
        Hunt::Measure(_) | Hunt::Open { .. } => {
            costs(page, course, metric);
            likeliest(page, course, metric, subjects);
        }
        Hunt::Found(found) => {
            likeliest(page, course, metric, subjects);
            bracket(page, &course.bracket(metric, &found));
        }
    }
    let between = course.between_levels(metric);
    if !between.is_empty() {
        let commits: Vec<String> = between.iter().map(|commit| short(commit)).collect();
        page.paragraph(
            "  two steps? ",
            Span::new(
                Role::Doubt,
                format!("between both levels: {}", commits.join(", ")),
            ),
        );
    }
}

/// What is likely to be needed from the ends on, by method.
fn costs(page: &mut Page, course: &Course, metric: usize) {
    let methods = [
        (Method::Posterior, "stiction bisect auto"),
        (Method::Halving, "git bisect run stiction bisect probe"),
    ];
    for (method, command) in methods {
        if let Some(cost) = course.expected(metric, method) {
            page.paragraph(&format!("  {command:<38}"), cost_in_words(course, cost));
        }
    }
}

fn cost_in_words(course: &Course, cost: ExpectedCost) -> String {
    let mut words = format!("{:.0} blocks", cost.blocks);
    if course.question().build.is_some() {
        words += &format!(", {:.0} builds", cost.builds);
    }
    if let Some(seconds) = course.seconds_of(cost) {
        words += &format!(", about {}", time_in_words(seconds));
    }
    if cost.unsure_share >= 0.05 {
        words += &format!("; gives up in {:.0} %", 100.0 * cost.unsure_share);
    }
    words
}

fn time_in_words(seconds: f64) -> String {
    match seconds {
        ..90.0 => format!("{seconds:.0} s"),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

fn likeliest(page: &mut Page, course: &Course, metric: usize, subjects: &Subjects) {
    let (most, least) = LIKELIEST;
    let chain = course.question().chain.len();
    let even = 1.0 / chain as f64;
    for (link, chance) in course.likeliest(metric).into_iter().take(most) {
        // Before the first measurement each is as likely as the next.
        if chance >= least && (chance > 1.5 * even || chain == 1) {
            page.line(format!(
                "  p {}  {}",
                chance_in_words(chance),
                named(&link.commit, subjects)
            ));
        }
    }
}

/// `.82`; never 1, which nothing measured is.
fn chance_in_words(chance: f64) -> String {
    if chance > 0.999 {
        return ">.999".to_owned();
    }
    format!("{chance:.3}").trim_start_matches('0').to_owned()
}

fn bracket(page: &mut Page, bracket: &Bracket) {
    for (what, ends) in [
        ("against its parent", &bracket.parent),
        ("BAD without it, against BAD", &bracket.reverted),
    ] {
        if let Some(ends) = ends {
            page.line(format!("  {what}: {}", ends_in_words(ends)));
        }
    }
}

fn ends_in_words(ends: &Ends) -> String {
    let size = match &ends.estimate {
        Some(estimate) => format!(
            " {:+.1} % [{:+.1} to {:+.1}]",
            estimate.change_percent, estimate.lowest_percent, estimate.highest_percent
        ),
        None => String::new(),
    };
    format!(
        "{}{size}, {}",
        ends.verdict.word(),
        counted(ends.blocks, "block")
    )
}

fn untestable(page: &mut Page, course: &Course) {
    let all: Vec<_> = course.untestable().collect();
    if all.is_empty() {
        return;
    }
    page.blank();
    for (version, step, message) in all.iter().take(UNTESTABLE_MOST) {
        let line = message.lines().last().unwrap_or_default();
        page.paragraph("  ", format!("{version} {}: {line}", step_in_words(*step)));
    }
    if let more @ 1.. = all.len().saturating_sub(UNTESTABLE_MOST) {
        page.line(format!("  and {more} more that cannot be measured"));
    }
}

fn step_in_words(step: Untestable) -> &'static str {
    match step {
        Untestable::Build => "does not build",
        Untestable::Benchmark => "fails in the benchmark",
        Untestable::Revert => "has conflicts",
    }
}

/// The answer for each metric that shows the change, or why there is no search.
fn answers(course: &Course, subjects: &Subjects) -> Vec<Span> {
    let metrics = &course.question().metrics;
    let several = metrics.len() > 1;
    let mut lines = Vec::new();
    for (metric, sought) in metrics.iter().enumerate() {
        let prefix = if several {
            format!("{}: ", sought.name)
        } else {
            String::new()
        };
        let line = match course.hunt(metric) {
            Hunt::NoStep => continue,
            Hunt::Measure(_) | Hunt::Open { .. } => {
                Span::new(Role::Strong, format!("{prefix}the search can go on"))
            }
            Hunt::Found(found) => {
                let words = found_in_words(course, metric, &found, subjects);
                Span::new(Role::Strong, format!("{prefix}{words}"))
            }
        };
        lines.push(line);
    }
    if lines.is_empty() {
        lines.push(Span::new(Role::Strong, no_step(course)));
    }
    lines
}

fn found_in_words(course: &Course, metric: usize, found: &Found, subjects: &Subjects) -> String {
    let kind = match course.question().seek {
        Seek::Worse => "first bad commit",
        Seek::Better => "first better commit",
    };
    let commit = named(&found.culprit().commit, subjects);
    match course.bracket(metric, found).confirmation {
        Confirmation::Confirmed => format!("{kind}, confirmed: {commit}"),
        Confirmation::BestGuess(doubts) => format!(
            "best guess, p={}: {commit} ({})",
            chance_in_words(found.chance),
            doubts.join("; ")
        ),
    }
}

/// Why there is nothing to search for, and what would help.
fn no_step(course: &Course) -> String {
    let question = course.question();
    let sought = match question.seek {
        Seek::Worse => "WORSE",
        Seek::Better => "BETTER",
    };
    for end in [&question.good, &question.bad] {
        let version = Version::Commit(end.clone());
        if let Some((step, _)) = course.why_untestable(&version) {
            return format!("no search: {version} {}", step_in_words(step));
        }
    }
    if !course.ends_are_measured() {
        return "the comparison of the ends can go on".to_owned();
    }
    let needed = course.ends().iter().filter_map(|ends| match &ends.verdict {
        Verdict::CannotTell { runs_needed, .. } => *runs_needed,
        _ => None,
    });
    let advice = match needed.max() {
        Some(blocks) => format!("; about {blocks} blocks would tell (--blocks {blocks})"),
        None => String::new(),
    };
    format!("no search: BAD is not {sought} than GOOD{advice}")
}
