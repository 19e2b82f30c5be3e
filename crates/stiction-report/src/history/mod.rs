//! Series over time: all of them in a list, or one in full.

mod confirm;
mod detail;
mod markdown;
mod plot;
mod words;

use stiction_analysis::history::{Course, State};

pub use confirm::{Confirmation, history_confirmation};
pub use detail::{Detail, history_of_one};
pub use markdown::history_markdown;

use crate::page::{Page, Role, Span, Style};
use crate::text::counted;
use plot::sparkline;
use words::{about, last_value, mark, role, state_words, summary, what};

/// What a list of series shows.
#[derive(Clone, Copy, Debug)]
pub struct HistoryList<'a> {
    /// The series, in any order.
    pub courses: &'a [Course],
    /// Sessions that they were made from.
    pub sessions: usize,
    /// Why the order of the points is in doubt, a sentence each.
    pub doubts: &'a [String],
    /// Whether to show every series. Else steady ones are shown where they are of the main
    /// figure of their phase.
    pub all: bool,
}

/// A series that is shown, and how many others of its phase went the same way.
pub(crate) struct Shown<'a> {
    pub(crate) course: &'a Course,
    pub(crate) with_it: usize,
}

impl<'a> HistoryList<'a> {
    /// The series that are shown, what calls for action first. Of the figures of one phase
    /// that changed together, the main one stands for all.
    pub(crate) fn shown(&self) -> Vec<Shown<'a>> {
        let mut shown: Vec<Shown<'a>> = Vec::new();
        for course in main_first(self.courses) {
            let quiet = matches!(course.state, State::Steady | State::TooFew);
            // One point is no course yet.
            let is_course = course.series.points.len() > 1;
            if self.all || (quiet && course.series.is_main && is_course) {
                shown.push(Shown { course, with_it: 0 });
            } else if !quiet {
                match shown
                    .iter_mut()
                    .find(|first| goes_with(course, first.course))
                {
                    Some(first) => first.with_it += 1,
                    None => shown.push(Shown { course, with_it: 0 }),
                }
            }
        }
        shown.sort_by_cached_key(|shown| {
            let key = &shown.course.series.key;
            (shown.course.state, about(key), what(key))
        });
        shown
    }
}

fn main_first(courses: &[Course]) -> impl Iterator<Item = &Course> {
    let main = courses.iter().filter(|course| course.series.is_main);
    main.chain(courses.iter().filter(|course| !course.series.is_main))
}

/// Points that two changes may lie apart and be taken for one.
const NEAR: usize = 2;

/// Whether a series of the same phase came to the same, at the same place.
fn goes_with(course: &Course, first: &Course) -> bool {
    let (key, of_first) = (&course.series.key, &first.series.key);
    let place = |course: &Course| course.changes.last().map(|change| change.at);
    let same_place = match (place(course), place(first)) {
        (Some(a), Some(b)) => a.abs_diff(b) <= NEAR,
        (None, None) => true,
        _ => false,
    };
    course.state == first.state
        && key.phase == of_first.phase
        && key.context == of_first.context
        && same_place
}

/// Columns that a sparkline takes in the list.
const SPARKLINE: usize = 36;

/// The list: each series with its newest value, its course and its state.
#[must_use]
pub fn history(list: &HistoryList<'_>, style: Style) -> String {
    let mut page = Page::new(style);
    if list.courses.is_empty() {
        page.line(format!("No series in {} sessions", list.sessions));
        return page.finish();
    }
    for doubt in list.doubts {
        page.paragraph("! ", Span::new(Role::Doubt, doubt.as_str()));
    }
    let shown = list.shown();
    let mut place = None;
    for Shown { course, with_it } in &shown {
        // What they have in common is said once, over the first of them.
        let here = about(&course.series.key);
        if place.as_ref() != Some(&here) {
            page.paragraph("on ", Span::new(Role::Faint, here.as_str()));
            place = Some(here);
        }
        entry(&mut page, course);
        if *with_it > 0 {
            let others = counted(*with_it, "other figure");
            let line = format!("           and with it {others} of the phase");
            page.line(Span::new(Role::Faint, line));
        }
    }
    let with_it: usize = shown.iter().map(|shown| shown.with_it).sum();
    let hidden = list.courses.len() - shown.len() - with_it;
    if hidden > 0 {
        let few = not_shown(list.courses, &shown, State::TooFew);
        let told = match (hidden - few, few) {
            (steady, 0) => format!("{steady} more are steady"),
            (0, few) => format!("{few} more with too few points"),
            (steady, few) => format!("{steady} more are steady, {few} with too few points"),
        };
        page.line(Span::new(
            Role::Faint,
            format!("{told} (--all lists every series)"),
        ));
    }
    page.paragraph("", Span::new(Role::Strong, summary(list.courses)));
    page.finish()
}

/// How many series in that state are not in the list.
fn not_shown(courses: &[Course], shown: &[Shown<'_>], state: State) -> usize {
    let all = courses.iter().filter(|course| course.state == state);
    let listed = shown.iter().filter(|shown| shown.course.state == state);
    all.count() - listed.count()
}

fn entry(page: &mut Page, course: &Course) {
    let key = &course.series.key;
    let role = role(course);
    page.edges(
        Span::new(
            role,
            format!("{} {}  {}", mark(course), key.id(), what(key)),
        ),
        Span::from(last_value(course)),
    );
    page.spans([
        format!("           {:<SPARKLINE$}  ", sparkline(course, SPARKLINE)).into(),
        Span::new(role, state_words(course)),
    ]);
}
