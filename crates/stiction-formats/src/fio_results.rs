//! Reports that fio wrote with `--output-format=json` or `json+`.
//!
//! fio writes its notes and warnings to the same stream, before the report and after it;
//! with `--status-interval` it writes one report after the other, each from the start
//! of the run on.

mod job;
mod latency;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use stiction_core::{Cell, Phase, Trial};

use crate::{Imported, ImportedSession, Unread};

/// An object of JSON.
pub(crate) type Object = Map<String, Value>;

/// What every report of fio has.
const MARK: &str = "\"fio version\"";

/// Reads a text that holds reports of fio; `None` when it holds none.
pub(crate) fn read(text: &str) -> Option<Imported> {
    if !text.contains(MARK) {
        return None;
    }
    let mut imported = Imported::default();
    let mut reports: Vec<Report> = Vec::new();
    let mut is_damaged = false;
    let mut lines = Lines::new(text);
    while let Some((number, line)) = lines.next() {
        if !line.starts_with('{') {
            unread(&mut imported, number, line, "it is beside the report");
            continue;
        }
        let rest = lines.rest_from(line);
        let mut documents = serde_json::Deserializer::from_str(rest).into_iter::<Object>();
        match documents.next() {
            Some(Ok(report)) => {
                let end = documents.byte_offset();
                imported.lines_read += rest[..end].lines().count();
                let job_lines = lines_with(&rest[..end], "\"jobname\"", number);
                lines.skip(end - line.len());
                if report.contains_key("fio version") {
                    reports.push(Report { report, job_lines });
                }
            }
            Some(Err(error)) => {
                is_damaged = true;
                unread(&mut imported, number, line, &format!("no JSON: {error}"));
            }
            None => {}
        }
    }
    if reports.is_empty() && !is_damaged {
        return None;
    }
    if reports.len() > 1 {
        imported.messages.push(format!(
            "{} reports stand one after the other, each from the start of the run on: the last was read",
            reports.len()
        ));
    }
    if let Some(report) = reports.pop() {
        add(&report, &mut imported);
    }
    Some(imported)
}

/// A report, and the lines that its jobs begin on.
struct Report {
    report: Object,
    job_lines: Vec<usize>,
}

/// The numbers of the lines that hold `word`, the first being line `first`.
fn lines_with(text: &str, word: &str, first: usize) -> Vec<usize> {
    let lines = (first..).zip(text.lines());
    let found = lines.flat_map(|(number, line)| line.matches(word).map(move |_| number));
    found.collect()
}

fn unread(imported: &mut Imported, line: usize, text: &str, reason: &str) {
    let text = text.trim();
    if !text.is_empty() {
        imported.unread.push(Unread {
            line,
            text: text.to_owned(),
            reason: reason.to_owned(),
        });
    }
}

/// Adds the jobs of a report as one session, with a trial for each host.
fn add(Report { report, job_lines }: &Report, imported: &mut Imported) {
    let mut trials: Vec<Trial> = Vec::new();
    let mut has_bins = false;
    for (entry, &line) in entries(report).zip(job_lines) {
        // What the clients add up to is no job.
        if entry.get("jobname").and_then(Value::as_str) == Some("All clients") {
            continue;
        }
        let Some(job) = job::read(entry, line) else {
            let message = format!("the job of line {line} has no figures");
            imported.messages.push(message);
            continue;
        };
        has_bins |= !job.recordings.is_empty();
        let cell = match entry.get("hostname").and_then(Value::as_str) {
            Some(host) => Cell::new().with("host", host),
            None => Cell::new(),
        };
        match trials.iter_mut().find(|trial| trial.cell == cell) {
            Some(trial) => {
                let name = distinct(&trial.phases, job.name.clone());
                trial.phases.push(Phase { name, ..job });
            }
            None => trials.push(Trial {
                phases: vec![job],
                ..Trial::new(cell, 0)
            }),
        }
    }
    let warnings = report.get("warnings").and_then(Value::as_array);
    let warnings = warnings.into_iter().flatten().filter_map(Value::as_str);
    imported.messages.extend(warnings.map(str::to_owned));
    if trials.is_empty() {
        imported.messages.push("the report has no jobs".to_owned());
        return;
    }
    imported.sessions.push(ImportedSession {
        layout: if has_bins { "fio-json+" } else { "fio-json" }.to_owned(),
        trials,
        stated: stated(report),
        caveats: Vec::new(),
    });
}

/// The jobs of a report, or of the clients of one.
fn entries(report: &Object) -> impl Iterator<Item = &Object> {
    let lists = ["jobs", "client_stats"].map(|key| report.get(key).and_then(Value::as_array));
    let entries = lists.into_iter().flatten().flatten();
    entries
        .filter_map(Value::as_object)
        .filter(|entry| entry.contains_key("jobname"))
}

/// The name, numbered from the second of its kind on: clones that fio reports one by
/// one share theirs.
fn distinct(phases: &[Phase], name: String) -> String {
    let taken = |name: &str| phases.iter().any(|phase| phase.name == name);
    if !taken(&name) {
        return name;
    }
    let numbered = (2u32..).map(|number| format!("{name} {number}"));
    numbered.into_iter().find(|it| !taken(it)).unwrap_or(name)
}

/// What the report says of itself.
fn stated(report: &Object) -> BTreeMap<String, String> {
    let mut stated = BTreeMap::new();
    for (key, fact) in [("fio version", "fio"), ("time", "time")] {
        if let Some(text) = report.get(key).and_then(Value::as_str) {
            stated.insert(fact.to_owned(), text.to_owned());
        }
    }
    if let Some(options) = report.get("global options").and_then(Value::as_object) {
        stated.insert("options".to_owned(), options_text(options));
    }
    stated
}

/// Options as they stand on a command line of fio.
fn options_text(options: &Object) -> String {
    let words: Vec<String> = options
        .iter()
        .map(|(name, value)| match value.as_str() {
            Some("") | None => format!("--{name}"),
            Some(value) => format!("--{name}={value}"),
        })
        .collect();
    words.join(" ")
}

/// The lines of a text with their numbers, and what is left from one of them on.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    number: usize,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            number: 0,
        }
    }

    fn next(&mut self) -> Option<(usize, &'a str)> {
        let rest = &self.text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.find('\n').map_or(rest.len(), |end| end + 1);
        self.at += length;
        self.number += 1;
        Some((self.number, &rest[..length]))
    }

    /// What is left from the line that was given last.
    fn rest_from(&self, line: &str) -> &'a str {
        &self.text[self.at - line.len()..]
    }

    /// Passes over the next bytes.
    fn skip(&mut self, bytes: usize) {
        let passed = &self.text[self.at..self.at + bytes];
        self.number += passed.matches('\n').count();
        self.at += bytes;
    }
}
