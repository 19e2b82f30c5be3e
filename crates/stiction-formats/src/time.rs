//! Lines of the shells' `time` and of GNU time, one phase `command` each.

mod context;
mod shapes;
mod verbose;

use stiction_core::{Caveat, CaveatCode, Cell, Measurement, Phase, metrics};

use crate::harvest::{self, Harvest, Row};
use crate::label::Titles;
use crate::page::Page;
use context::Context;

/// A figure and its text.
#[derive(Clone, Debug, PartialEq)]
struct Figure {
    value: f64,
    text: String,
}

impl Figure {
    fn new(value: f64, text: &str) -> Self {
        Self {
            value,
            text: text.to_owned(),
        }
    }
}

/// What one `time` printed.
#[derive(Clone, Debug, PartialEq)]
struct Timed {
    layout: &'static str,
    /// What stood before it on its line.
    label: Option<String>,
    /// The command, when it is printed with the times.
    command: Option<String>,
    elapsed_s: Figure,
    user_s: Figure,
    system_s: Figure,
    percent: Option<Figure>,
    /// What GNU time counts besides.
    counts: Vec<Measurement>,
}

/// Reads every time line and time block.
pub(crate) fn read(page: &mut Page, harvest: &mut Harvest) {
    let titles = Titles::of(page);
    let mut before: Option<(usize, Timed, Context)> = None;
    let mut index = 0;
    while index < page.len() {
        let Some((timed, lines)) = timed_at(page, index) else {
            index += 1;
            continue;
        };
        let context = match &before {
            Some((end, _, context)) if *end == index => context.clone(),
            _ => Context::above(page, harvest, index),
        };
        (index..index + lines).for_each(|line| page.claim(line));
        let line = page.number(index);
        match &before {
            Some((_, earlier, _)) if is_same_run(earlier, &timed) => harvest.say(format!(
                "line {line}: the figures of the lines before it again, in another form; kept once"
            )),
            _ => {
                let row = row(page, &titles, &timed, &context, index);
                harvest.add(timed.layout, row);
            }
        }
        index += lines;
        before = Some((index, timed, context));
    }
}

/// The times that begin on line `index`, and how many lines they take.
fn timed_at(page: &Page, index: usize) -> Option<(Timed, usize)> {
    if !page.is_open(index) {
        return None;
    }
    let found = shapes::one_line(page.text(index)).map(|timed| (timed, 1));
    found
        .map(|found| with_second_line(page, index, found))
        .or_else(|| shapes::three_lines(page, index))
        .or_else(|| verbose::block(page, index))
        .or_else(|| {
            let joined = format!("{} {}", page.text(index), page.text(index + 1));
            let is_pair = page.is_open(index + 1)
                && shapes::one_line(page.text(index + 1)).is_none()
                && !page.is_blank(index);
            is_pair
                .then(|| shapes::one_line(&joined))
                .flatten()
                .map(|timed| (timed, 2))
        })
}

/// GNU time prints page faults on a line of their own.
fn with_second_line(
    page: &Page,
    index: usize,
    (mut timed, lines): (Timed, usize),
) -> (Timed, usize) {
    let counts = shapes::gnu_counts(&page.words(index + 1));
    if timed.layout != "time-gnu" || counts.is_empty() || !page.is_open(index + 1) {
        return (timed, lines);
    }
    timed.counts.extend(counts);
    (timed, lines + 1)
}

/// Whether two forms of one output follow each other, as when GNU time ran under a
/// shell that times too.
fn is_same_run(one: &Timed, other: &Timed) -> bool {
    one.layout != other.layout
        && other.label.is_none()
        && one.elapsed_s == other.elapsed_s
        && one.user_s == other.user_s
        && one.system_s == other.system_s
}

fn row(page: &mut Page, titles: &Titles, timed: &Timed, context: &Context, index: usize) -> Row {
    let label = timed
        .label
        .clone()
        .or_else(|| context.label.clone())
        .or_else(|| titles.claim_above(page, index));
    let mut cell = Cell::new();
    if let Some(command) = timed.command.as_ref().or(context.command.as_ref()) {
        cell = cell.with("command", command.as_str());
    }
    let mut phase = phase(timed);
    phase.notes.extend(context.note.clone());
    Row {
        line: page.number(index),
        label,
        cell,
        phase,
    }
}

fn phase(timed: &Timed) -> Phase {
    let mut phase = harvest::phase("command");
    phase.elapsed_ns = (timed.elapsed_s.value * 1e9).round() as u64;
    let imported =
        |metric, figure: &Figure| Measurement::imported(metric, figure.value, 1, &*figure.text);
    phase.measurements = vec![
        imported(metrics::ELAPSED, &timed.elapsed_s),
        imported(metrics::CPU_USER, &timed.user_s),
        imported(metrics::CPU_SYSTEM, &timed.system_s),
    ];
    if let Some(percent) = &timed.percent {
        let printed = imported(metrics::CPU_PERCENT, percent).with_digits_cut();
        phase.measurements.push(printed);
    }
    phase.measurements.extend(timed.counts.iter().cloned());
    phase.caveats.extend(percent_contradicts(timed));
    phase
}

/// Whether the printed CPU share cannot come from the printed times. All programs
/// print 100 x (user + system) / elapsed, cut to a whole number or rounded to tenths.
fn percent_contradicts(timed: &Timed) -> Option<Caveat> {
    let percent = timed.percent.as_ref()?;
    let (elapsed, cpu) = (
        timed.elapsed_s.value,
        timed.user_s.value + timed.system_s.value,
    );
    let share = 100.0 * cpu / elapsed;
    // Times are printed to a hundredth; a time that is kept finer may lie that far off.
    let slack = 1.0 + 100.0 * 0.01 / elapsed * (1.0 + cpu / elapsed);
    let differs = elapsed > 0.1 && (share - percent.value).abs() > slack;
    differs.then(|| {
        Caveat::new(
            CaveatCode::Inconsistent,
            format!(
                "the line says {} of CPU, but {} and {} in {} are {share:.1}%",
                percent.text, timed.user_s.text, timed.system_s.text, timed.elapsed_s.text
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn one_run_in_two_forms_is_kept_once() {
        let text = "\
Command being timed: \"./tr --threads 32\"
User time (seconds): 2554.50
System time (seconds): 630.74
Percent of CPU this job got: 276%
Elapsed (wall clock) time (h:mm:ss or m:ss): 19:12.89

2554.50s user 630.74s system 276% cpu 19:12.89 total
";
        let imported = read(text);
        assert_eq!(imported.sessions[0].trials.len(), 1);
        assert_eq!(imported.unread, []);
        assert_eq!(imported.messages.len(), 1, "{:?}", imported.messages);
        assert_eq!(
            imported.sessions[0].trials[0].cell.to_string(),
            "command=./tr --threads 32"
        );
    }

    #[test]
    fn a_share_that_the_times_do_not_give_is_doubted() {
        let caveats = |text: &str| {
            let imported = read(text);
            imported.sessions[0].trials[0].phases[0].caveats.clone()
        };
        assert_eq!(
            caveats("0.06s user 106.75s system 53% cpu 3:20.94 total"),
            []
        );
        let wrong = caveats("0.06s user 106.75s system 63% cpu 3:20.94 total");
        assert_eq!(wrong[0].code, CaveatCode::Inconsistent);
    }
}
