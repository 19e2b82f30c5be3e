//! What a job file of fio will do, said before it does it.

use std::collections::BTreeMap;

use stiction_core::{format_bytes, format_duration_ns};
use stiction_formats::fio::lint::{End, Finding, Forecast, Lint, Reaches, Severity};
use stiction_formats::fio::{Bytes, DefaultInForce, FioError, Nanoseconds, Resolved};

use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::text::counted;

/// A line for each job, what to think about with its place, and fio's defaults in
/// force; the sum of it in the last line.
#[must_use]
pub fn fio_lint(resolved: &Resolved, lint: &Lint, style: Style) -> String {
    let mut page = Page::new(style);
    page.table(0, &jobs(&lint.jobs));
    for job in &lint.jobs {
        write_beside(&mut page, job);
    }
    if !lint.findings.is_empty() {
        page.blank();
    }
    for (finding, jobs) in lint.findings_with_jobs() {
        write_finding(&mut page, finding, &jobs);
    }
    write_defaults(&mut page, resolved);
    page.blank();
    page.paragraph("", Span::new(Role::Strong, answer(lint)));
    page.finish()
}

/// What is wrong in a job file, each with its place, and how many there are.
#[must_use]
pub fn fio_errors(errors: &[FioError], style: Style) -> String {
    let mut page = Page::new(style);
    for error in errors {
        page.paragraph("error ", Span::new(Role::Bad, error.to_string()));
    }
    let answer = format!("It does not run: {}", counted(errors.len(), "error"));
    page.line(Span::new(Role::Strong, answer));
    page.finish()
}

fn jobs(jobs: &[Forecast]) -> Table {
    let mut table = Table::new(vec![
        Column::left("job", 16),
        Column::right("wave", 4),
        Column::right("clones", 6),
        Column::right("region", 10),
        Column::right("moves", 10),
        Column::right("depth", 9),
        Column::right("longest", 9),
        Column::left("ends by", 14),
        Column::left("on", 10),
    ]);
    // Where all start at once, there are no waves to tell apart.
    let waves = jobs.iter().any(|job| job.wave > 0);
    let wave = |wave: u32| {
        if waves {
            (wave + 1).to_string()
        } else {
            String::new()
        }
    };
    for job in jobs {
        table.row(vec![
            job.name.as_str().into(),
            wave(job.wave).into(),
            job.clones.to_string().into(),
            bytes(job.region_each).into(),
            bytes(job.moved).into(),
            depth(job),
            time(job.time_most).into(),
            end(job.end).into(),
            reaches(job.reaches),
        ]);
    }
    table
}

fn bytes(bytes: Option<Bytes>) -> String {
    bytes.map_or("?".to_owned(), |bytes| format_bytes(bytes.0))
}

fn time(time: Option<Nanoseconds>) -> String {
    time.map_or("no limit".to_owned(), |time| {
        format_duration_ns(time.0 as f64)
    })
}

/// Operations in flight, as asked for and as they come.
fn depth(job: &Forecast) -> Span {
    if job.depth_asked == job.depth_effective {
        job.depth_asked.to_string().into()
    } else {
        let text = format!("{} not {}", job.depth_effective, job.depth_asked);
        Span::new(Role::Doubt, text)
    }
}

fn end(end: End) -> &'static str {
    match end {
        End::Amount => "amount",
        End::Time => "time",
        End::AmountOrTime => "amount or time",
        End::Full => "no space",
    }
}

fn reaches(reaches: Reaches) -> Span {
    match reaches {
        Reaches::Device => "device".into(),
        Reaches::ColdCache => Span::new(Role::Doubt, "cache"),
        Reaches::WarmCache => Span::new(Role::Doubt, "warm cache"),
        Reaches::Nothing => "nothing".into(),
    }
}

/// What is moved beside what is measured.
fn write_beside(page: &mut Page, job: &Forecast) {
    let beside = [
        ("lays out", job.laid_out.filter(|bytes| bytes.0 > 0)),
        ("reads back to check", job.read_back),
    ];
    for (what, bytes) in beside {
        if let Some(bytes) = bytes {
            let text = format!("{}: {what} {}", job.name, format_bytes(bytes.0));
            page.paragraph("  ", text);
        }
    }
}

fn write_finding(page: &mut Page, finding: &Finding, jobs: &[&str]) {
    let (word, role) = match finding.severity {
        Severity::Failure => ("fail  ", Role::Bad),
        Severity::Doubt => ("doubt ", Role::Doubt),
        Severity::Note => ("note  ", Role::Text),
    };
    let text = format!("{}: [{}] {}", finding.place, jobs.join(", "), finding.what);
    page.paragraph(word, Span::new(role, text));
    if !finding.advice.is_empty() {
        page.paragraph("      ", Span::new(Role::Faint, finding.advice.as_str()));
    }
}

/// fio's defaults that shape the result, each with the jobs that it is in force for.
fn write_defaults(page: &mut Page, resolved: &Resolved) {
    let mut jobs_by_default: BTreeMap<&str, (DefaultInForce, Vec<&str>)> = BTreeMap::new();
    for job in &resolved.jobs {
        for default in job.defaults.iter().filter(|one| one.is_followed()) {
            jobs_by_default
                .entry(default.option)
                .or_insert((*default, Vec::new()))
                .1
                .push(&job.job.name);
        }
    }
    if jobs_by_default.is_empty() {
        return;
    }
    page.blank();
    page.line("fio's defaults in force:");
    for (default, jobs) in jobs_by_default.values() {
        let of = if jobs.len() == resolved.jobs.len() {
            String::new()
        } else {
            format!(" ({})", jobs.join(", "))
        };
        let text = format!(
            "{}={}: {}{of}",
            default.option, default.value, default.meaning
        );
        page.paragraph("  ", text);
    }
}

fn answer(lint: &Lint) -> String {
    let total = &lint.total;
    let moved = match total.moved {
        Some(bytes) => format!("{} moved", format_bytes(bytes.0)),
        None => "moving what time or targets allow".to_owned(),
    };
    let time = match total.time_most {
        Some(time) => format!("{} at most", format_duration_ns(time.0 as f64)),
        None => "no time limit".to_owned(),
    };
    let findings = lint.findings_with_jobs();
    let of = |severity| {
        let found = findings.iter();
        found
            .filter(|(finding, _)| finding.severity == severity)
            .count()
    };
    format!(
        "{}, {moved}, {time}: {}, {}, {}",
        counted(lint.jobs.len(), "job"),
        counted(of(Severity::Failure), "failure"),
        counted(of(Severity::Doubt), "doubt"),
        counted(of(Severity::Note), "note"),
    )
}
