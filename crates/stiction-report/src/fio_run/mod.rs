//! What the jobs of a job file of fio came to: a block for each job and each group.

mod rows;
mod words;

use stiction_core::{
    CaveatCode, Metric, PhaseKind, Program, ProgramPart, Session, Subject, metrics,
};

use crate::doubts::doubts;
use crate::figure::figure;
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::{phase_gap, saved, session_gap};
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::quick::machine_line;
use crate::stack::stack_line;
use crate::text::{WIDTH, counted};
use rows::Counted;

/// The jobs in their order, with what each moved, how fast and with which latencies,
/// what was the bound, and what speaks against it; then what was read in the job file
/// and not written there. The answer is in the last line.
#[must_use]
pub fn fio_run(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let program = program_of(session).unwrap_or_default();
    let phases: Vec<JudgedPhase<'_>> = judged.trials().flat_map(|(_, phases)| phases).collect();
    let measured: Vec<JudgedPhase<'_>> = phases
        .iter()
        .copied()
        .filter(JudgedPhase::is_measured)
        .collect();
    let mut page = Page::new(style);
    head(&mut page, session);
    let mut last_wave = 0;
    for judged in &measured {
        let part = part_of(&program, judged);
        let wave = part.map_or(0, |part| part.wave);
        if wave > last_wave {
            page.line(Span::new(Role::Faint, format!("--- wave {}", wave + 1)));
            last_wave = wave;
        }
        block(&mut page, judged, part);
        checked(&mut page, &phases, judged);
        if let Some(part) = part {
            group(&mut page, &program, part, &measured);
        }
    }
    write_doubts(&mut page, judged, &program, &measured);
    write_choices(&mut page, &program);
    page.blank();
    page.line(saved(&session.header.id, "show --full"));
    page.paragraph("", Span::new(Role::Strong, answer(judged, &measured)));
    page.finish()
}

/// The program that the session ran, if it is one of jobs.
fn program_of(session: &Session) -> Option<Program> {
    let plan = session.header.plan.as_ref()?;
    serde_json::from_value(plan.parameters.clone()).ok()
}

/// Whether a session ran a job file of fio, and [`fio_run`] tells of it.
#[must_use]
pub fn is_fio_run(session: &Session) -> bool {
    let plan = session.header.plan.as_ref();
    plan.is_some_and(|plan| plan.workload == "fio") && program_of(session).is_some()
}

fn part_of<'a>(program: &'a Program, judged: &JudgedPhase<'_>) -> Option<&'a ProgramPart> {
    let mut parts = program.parts.iter();
    parts.find(|part| part.phase == judged.phase.name)
}

fn head(page: &mut Page, session: &Session) {
    let environment = &session.header.environment;
    let command = session.header.command.join(" ");
    page.edges(
        Span::new(Role::Strong, command),
        Span::new(Role::Faint, session.header.id.as_str()),
    );
    for stack in &environment.targets {
        page.paragraph("", stack_line(stack));
    }
    let machine = machine_line(environment);
    if !machine.is_empty() {
        page.line(machine);
    }
    page.blank();
}

fn table() -> Table {
    Table::new(vec![
        Column::left("", 8),
        Column::left("what", 7),
        Column::right("moved", 9),
        Column::right("rate", 10),
        Column::right("ops", 8),
        Column::right("p50", 7),
        Column::right("p99", 7),
        Column::right("p99.9", 7),
        Column::right("max", 7),
    ])
}

/// One job: what it is, and a row for each way that bytes went.
fn block(page: &mut Page, judged: &JudgedPhase<'_>, part: Option<&ProgramPart>) {
    let phase = judged.phase;
    let trace = part.and_then(|part| part.trace.as_ref());
    let what = phase.job.as_ref().map(|job| match trace {
        Some(trace) => words::trace(trace, job, phase),
        None => words::job(job, phase),
    });
    let text = match what {
        Some(what) => format!("{}: {what}", phase.name),
        None => phase.name.clone(),
    };
    page.paragraph("", Span::new(Role::Strong, text));
    if let Some(text) = part.and_then(|part| part.options.get("description")) {
        page.paragraph("  ", Span::new(Role::Faint, text.as_str()));
    }
    if !phase.has_numbers() {
        let gap = phase_gap(phase).unwrap_or_else(|| "no figures".to_owned());
        page.paragraph("  ", Span::new(Role::Bad, gap));
        return;
    }
    let subject = judged.finding.subject;
    let mut table = table();
    for row in rows::of(&Counted::of(phase)) {
        table.row(row.cells(Some(subject)));
    }
    page.table(2, &table);
}

/// What reading back came to, where the job was checked.
fn checked(page: &mut Page, phases: &[JudgedPhase<'_>], judged: &JudgedPhase<'_>) {
    let name = format!("{} verify", judged.phase.name);
    let found = phases
        .iter()
        .find(|other| other.phase.kind == PhaseKind::Verify && other.phase.name == name);
    let Some(found) = found else { return };
    let (role, text) = match phase_gap(found.phase) {
        Some(gap) => (Role::Bad, gap),
        None => {
            let counted = Counted::of(found.phase);
            let moved = stiction_core::format_bytes(counted.bytes());
            let notes = found.phase.notes.iter();
            let unlike: Vec<&str> = notes
                .filter(|note| note.contains("blocks"))
                .map(String::as_str)
                .collect();
            let text = match unlike.as_slice() {
                [] => format!("read back {moved}: all as it was written"),
                notes => format!("read back {moved}: nothing wrong; {}", notes.join("; ")),
            };
            (Role::Good, text)
        }
    };
    page.paragraph("  ", Span::new(role, text));
}

/// The total of a group, after its last job, where it was asked for or there are
/// several jobs in it.
fn group(page: &mut Page, program: &Program, part: &ProgramPart, measured: &[JudgedPhase<'_>]) {
    let members: Vec<&ProgramPart> = program
        .parts
        .iter()
        .filter(|other| other.group == part.group)
        .collect();
    let is_last = members.last().is_some_and(|last| last.phase == part.phase);
    if !is_last || members.len() < 2 {
        return;
    }
    let of_group = measured.iter().filter(|judged| {
        judged.phase.has_numbers() && members.iter().any(|one| one.phase == judged.phase.name)
    });
    let counted: Vec<Counted<'_>> = of_group.map(|judged| Counted::of(judged.phase)).collect();
    let Some(total) = Counted::together(&counted) else {
        return;
    };
    let names: Vec<&str> = members.iter().map(|one| one.phase.as_str()).collect();
    let text = format!("group {}: {}", part.group, names.join(", "));
    page.paragraph("", Span::new(Role::Strong, text));
    let mut table = table();
    for row in rows::of(&total) {
        table.row(row.cells(None));
    }
    page.table(2, &table);
}

fn write_doubts(
    page: &mut Page,
    judged: &Judged<'_>,
    program: &Program,
    measured: &[JudgedPhase<'_>],
) {
    let found = doubts(judged.session(), measured);
    let gap = session_gap(judged.session());
    if found.is_empty() && gap.is_none() && program.doubts.is_empty() {
        return;
    }
    page.blank();
    let all = gap.iter().chain(&found).chain(&program.doubts);
    for doubt in all {
        page.paragraph("- ", Span::new(Role::Doubt, doubt.as_str()));
    }
}

/// What the job file left to fio's defaults, and what in it changes nothing.
fn write_choices(page: &mut Page, program: &Program) {
    if !program.defaults.is_empty() {
        page.blank();
        page.line("fio's defaults in force:");
    }
    for default in &program.defaults {
        let text = format!("{}={}: {}", default.option, default.value, default.meaning);
        page.paragraph("  ", text);
    }
    if !program.without_effect.is_empty() {
        page.blank();
        page.line("Read and without effect:");
    }
    for option in &program.without_effect {
        let text = format!("{} ({}): {}", option.option, option.place, option.reason);
        page.paragraph("  ", text);
    }
}

/// The rates and the word of each job; where these do not fit into a line, bytes alone,
/// and where these fill more than two, the words counted.
fn answer(judged: &Judged<'_>, measured: &[JudgedPhase<'_>]) -> String {
    let with_numbers: Vec<&JudgedPhase<'_>> = measured
        .iter()
        .filter(|judged| judged.phase.has_numbers())
        .collect();
    if with_numbers.is_empty() {
        return crate::quick::nothing_measured(judged);
    }
    let told = |metrics: &[Metric]| {
        let each = with_numbers.iter().map(|one| headline(one, metrics));
        each.collect::<Vec<String>>().join("; ")
    };
    let each = told(&[metrics::RATE, metrics::OPERATION_RATE]);
    if each.chars().count() <= WIDTH || with_numbers.len() == 1 {
        return each;
    }
    let rates = told(&[metrics::RATE]);
    if rates.chars().count() <= 2 * WIDTH {
        return rates;
    }
    let mut subjects: Vec<(Subject, usize)> = Vec::new();
    for one in &with_numbers {
        match subjects
            .iter_mut()
            .find(|(known, _)| *known == one.finding.subject)
        {
            Some((_, count)) => *count += 1,
            None => subjects.push((one.finding.subject, 1)),
        }
    }
    let subjects: Vec<String> = subjects
        .iter()
        .map(|(subject, count)| format!("{count} {subject}"))
        .collect();
    let wrong = measured.len() - with_numbers.len();
    let failed = match wrong {
        0 => String::new(),
        count => format!(", {count} without figures"),
    };
    format!(
        "{}: {}{failed}",
        counted(with_numbers.len(), "job"),
        subjects.join(", ")
    )
}

/// `reads: disk 312 MiB/s, 80.0 k/s`
fn headline(judged: &JudgedPhase<'_>, metrics: &[Metric]) -> String {
    let phase = judged.phase;
    let figures: Vec<String> = metrics
        .iter()
        .filter_map(|metric| phase.measurement(metric).map(figure))
        .collect();
    let wrong = judged.finding.caveats.iter();
    let wrong = wrong.filter(|caveat| caveat.code == CaveatCode::DataMismatch);
    let mismatch = if wrong.count() > 0 {
        ", wrong data"
    } else {
        ""
    };
    format!(
        "{}: {} {}{mismatch}",
        phase.name,
        judged.finding.subject,
        figures.join(", ")
    )
}
