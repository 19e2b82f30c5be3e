//! `stiction history`.

mod annotate;
mod confirm;

use std::path::Path;

use stiction_analysis::Effects;
use stiction_analysis::history::{
    Around, Course, CourseOptions, PointUnit, Series, SeriesOptions, around, clock_doubts, course,
    series,
};
use stiction_core::{Annotation, Session};
use stiction_report::{Detail, HistoryList, json};
use stiction_store::{Archive, Document, Filter};

use super::{Desk, store};
use crate::arguments::{HistoryArguments, HistoryChoice, HistoryCommand, HistoryLayout, PointWord};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input;

/// Lists series, shows one, or does something about one.
pub(super) fn run(typed: &HistoryArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    match &typed.command {
        Some(HistoryCommand::Annotate(typed)) => annotate::run(typed, desk),
        Some(HistoryCommand::Confirm(typed)) => confirm::run(typed, desk),
        None => match &typed.series {
            Some(name) => one(name, typed, desk),
            None => list(typed, desk),
        },
    }
}

/// The sessions that were chosen, what people know, and the series.
struct Past {
    sessions: Vec<Session>,
    annotations: Vec<Annotation>,
    series: Vec<Series>,
    doubts: Vec<String>,
    effects: Effects,
}

impl Past {
    fn read(choice: &HistoryChoice, archive: &Archive, desk: &Desk<'_>) -> Result<Self, Failure> {
        let sessions = archive.figures(&Filter {
            workload: choice.workload.clone(),
            filesystem: choice.filesystem.clone(),
            since: choice.since,
            ..Filter::default()
        })?;
        let options = SeriesOptions {
            unit: match choice.each {
                PointWord::Boot => PointUnit::Boot,
                PointWord::Session => PointUnit::Session,
            },
            order: choice.order.as_deref().map(labels).transpose()?,
            effects: choice.mei.unwrap_or_default(),
        };
        Ok(Self {
            annotations: Document::annotations(desk.state.root()).read()?,
            series: series(&sessions, &options),
            doubts: clock_doubts(&sessions),
            effects: options.effects,
            sessions,
        })
    }

    fn judge(&self, series: &Series) -> Course {
        let options = CourseOptions {
            effects: self.effects,
            ..CourseOptions::default()
        };
        course(series.clone(), &self.annotations, &options)
    }

    /// What lies around each change.
    fn around(&self, course: &Course) -> Vec<Option<Around>> {
        let changes = course.changes.iter();
        changes
            .map(|change| around(&course.series, change.at, &self.sessions))
            .collect()
    }

    /// The series that a typed id means.
    fn find(&self, typed: &str) -> Result<&Series, Failure> {
        let all = self.series.iter().map(|series| (series.key.id(), series));
        let meant: Vec<_> = all
            .filter(|(id, _)| !typed.is_empty() && id.starts_with(typed))
            .collect();
        match &meant[..] {
            [(_, series)] => Ok(series),
            [] => Err(
                Failure::new(format!("no series has an id that begins with `{typed}`"))
                    .advise("`stiction history --all` lists them."),
            ),
            several => {
                let ids: Vec<&str> = several.iter().map(|(id, _)| id.as_str()).collect();
                Err(
                    Failure::new(format!("`{typed}` means {} series", several.len()))
                        .advise(format!("Say which, by more of its id: {}", ids.join(" "))),
                )
            }
        }
    }
}

/// The labels in a file, one a line, or on standard input.
fn labels(path: &Path) -> Result<Vec<String>, Failure> {
    let text = input::text_of(path)?;
    let lines = text.lines().map(str::trim);
    let labels: Vec<String> = lines.filter(|l| !l.is_empty()).map(str::to_owned).collect();
    if labels.is_empty() {
        let message = format!("{} has no labels to order by", path.display());
        return Err(Failure::new(message));
    }
    Ok(labels)
}

fn list(typed: &HistoryArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open_for_reading(desk)?;
    let past = Past::read(&typed.choice, &archive, desk)?;
    let asked = |series: &&Series| {
        let metric = &series.key.metric.name;
        typed.metric.as_ref().is_none_or(|wanted| metric == wanted)
    };
    let courses: Vec<Course> = past
        .series
        .iter()
        .filter(asked)
        .map(|series| past.judge(series))
        .collect();
    let list = HistoryList {
        courses: &courses,
        sessions: past.sessions.len(),
        doubts: &past.doubts,
        all: typed.all || typed.metric.is_some(),
    };
    let text = if desk.console.json {
        let around: Vec<_> = courses.iter().map(|course| past.around(course)).collect();
        let pairs = courses.iter().zip(around.iter().map(Vec::as_slice));
        json::history(
            &pairs.collect::<Vec<_>>(),
            past.sessions.len(),
            &past.doubts,
        )
    } else {
        match typed.layout {
            HistoryLayout::Text => stiction_report::history(&list, desk.console.style()),
            HistoryLayout::Markdown => stiction_report::history_markdown(&list),
        }
    };
    desk.console.data(&text)?;
    Ok(Exit::Done)
}

fn one(name: &str, typed: &HistoryArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let archive = store::open_for_reading(desk)?;
    let past = Past::read(&typed.choice, &archive, desk)?;
    let course = past.judge(past.find(name)?);
    let around = past.around(&course);
    let text = if desk.console.json {
        json::history(&[(&course, &around)], past.sessions.len(), &past.doubts)
    } else {
        let detail = Detail {
            course: &course,
            around: &around,
            doubts: &past.doubts,
        };
        stiction_report::history_of_one(&detail, desk.console.style())
    };
    desk.console.data(&text)?;
    Ok(Exit::Done)
}
