//! One session in full: every figure, what stood around it, and what speaks
//! against it.

mod counters;
mod events;
mod plan;
mod witnesses;

use std::collections::BTreeSet;

use stiction_analysis::doubt::examine_session;
use stiction_core::{
    CaveatCode, Phase, PhaseKind, PhaseOutcome, Provenance, Session, Subject, Trial, TrialOutcome,
    WorkerSummary, format_bytes, format_duration_ns,
};

use crate::cell::cell_text;
use crate::coverage::write_coverage;
use crate::curve::{finding, write_curve};
use crate::environment::{fact, write_environment};
use crate::figure::{figure, label, rounded_count};
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::{phase_gap, resumed, session_gap, session_word, title};
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::steady;
use events::{cost, events};
use witnesses::witnesses;

/// Every figure of the session with its environment, its witnesses and its
/// caveats; codes that occur are explained.
#[must_use]
pub fn show(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = Page::new(style);
    write_header(&mut page, session);
    if session.trials.iter().any(|trial| trial.block.is_some()) {
        write_coverage(&mut page, session);
    }
    page.blank();
    page.line(Span::new(Role::Strong, "Environment"));
    write_environment(&mut page, &session.header.environment);
    write_curve(&mut page, judged);
    // An interrupted session may have thousands of trials that had no turn.
    let mut skipped: Vec<&TrialOutcome> = Vec::new();
    let mut more = 0;
    for (number, (trial, phases)) in (1..).zip(judged.trials()) {
        if skipped.contains(&&trial.outcome) && phases.is_empty() {
            more += 1;
            continue;
        }
        if matches!(trial.outcome, TrialOutcome::Skipped(_)) {
            skipped.push(&trial.outcome);
        }
        write_trial(&mut page, number, trial, &phases);
    }
    if more > 0 {
        let trials = if more == 1 { "trial" } else { "trials" };
        page.blank();
        page.line(format!(
            "And {more} more {trials} skipped for reasons given above"
        ));
    }
    write_codes(&mut page, judged);
    page.blank();
    page.line(Span::new(Role::Strong, summary(judged)));
    if let Some(finding) = finding(session) {
        page.paragraph("", Span::new(Role::Strong, finding));
    }
    page.finish()
}

fn write_header(page: &mut Page, session: &Session) {
    let header = &session.header;
    page.edges(
        Span::new(Role::Strong, format!("Session {}", header.id)),
        format!("{} UTC", header.started.strftime("%Y-%m-%d %H:%M:%S")),
    );
    if let Some(label) = &header.label {
        fact(page, "label", label);
    }
    fact(page, "outcome", session_word(session));
    if let Some(gap) = session_gap(session) {
        fact(page, "", &gap);
    }
    for one in resumed(session) {
        fact(page, "went on", &one);
    }
    if !header.command.is_empty() {
        fact(page, "command", &header.command.join(" "));
    }
    let tool = &header.environment.tool;
    let tool = format!("{} {}", tool.name, tool.version);
    match &header.provenance {
        Provenance::Measured => fact(page, "measured by", tool.trim()),
        Provenance::Imported { file, layout } => {
            fact(page, "imported from", &format!("{file}, as {layout}"));
            if !tool.trim().is_empty() {
                fact(page, "measured by", tool.trim());
            }
        }
    }
    if let Some(plan) = &header.plan {
        fact(
            page,
            "plan",
            &format!(
                "{}, {} trial{}, seed {}, digest {}",
                plan.workload,
                plan.trials.len(),
                if plan.trials.len() == 1 { "" } else { "s" },
                plan.seed,
                plan.digest().short()
            ),
        );
        plan::write_parameters(page, &plan.parameters);
    }
    for caveat in &examine_session(session) {
        doubt(page, caveat.code, &caveat.detail);
    }
}

fn doubt(page: &mut Page, code: CaveatCode, detail: &str) {
    page.paragraph("  ! ", Span::new(Role::Doubt, format!("{code}: {detail}")));
}

fn write_trial(page: &mut Page, number: usize, trial: &Trial, phases: &[JudgedPhase<'_>]) {
    page.blank();
    let cell = if trial.cell.is_empty() {
        String::new()
    } else {
        format!(": {}", cell_text(&trial.cell))
    };
    let heading = format!("Trial {number}, run {}{cell}", trial.repetition + 1);
    page.paragraph("", Span::new(Role::Strong, heading));
    match &trial.outcome {
        TrialOutcome::Completed => {}
        TrialOutcome::Interrupted => page.line(Span::new(Role::Bad, "  interrupted")),
        TrialOutcome::Skipped(reason) => {
            let text = format!("skipped ({}): {}", reason.code, reason.detail);
            page.paragraph("  ", Span::new(Role::Bad, text));
        }
        TrialOutcome::Failed { message } => {
            page.paragraph("  ", Span::new(Role::Bad, format!("failed: {message}")));
        }
    }
    for caveat in &trial.caveats {
        doubt(page, caveat.code, &caveat.detail);
    }
    for judged in phases {
        page.blank();
        write_phase(page, judged);
    }
}

fn write_phase(page: &mut Page, judged: &JudgedPhase<'_>) {
    let phase = judged.phase;
    let course = steady::course(judged.whole);
    let finding = judged.finding;
    let took = match phase.elapsed_ns {
        0 => String::new(),
        ns => format!(", {}", format_duration_ns(ns as f64)),
    };
    page.line(Span::new(
        Role::Strong,
        format!("  {} ({}{took})", title(&phase.name), kind_word(phase.kind)),
    ));
    if let Some(gap) = phase_gap(phase) {
        page.paragraph("    ", Span::new(Role::Bad, gap));
    }
    if phase.outcome == PhaseOutcome::EndedEarly {
        page.line("    ended before its planned end");
    }
    if phase.has_numbers() {
        let word = format!("    {:<8}", finding.subject.to_string());
        for (index, reason) in finding.reasons.iter().enumerate() {
            let first = if index == 0 {
                word.as_str()
            } else {
                "            "
            };
            page.paragraph(first, Span::new(Role::of(finding.subject), reason.as_str()));
        }
        page.table(4, &figures(phase));
        write_corrections(page, phase);
    }
    write_workers(page, &phase.workers);
    if let Some(course) = course {
        page.paragraph("    steady     ", steady::words(&course));
    }
    if let Some(ramp_ns) = phase
        .job
        .as_ref()
        .map(|job| job.ramp_ns)
        .filter(|ns| *ns > 0)
    {
        let text = format!(
            "{} are in no figure of operations",
            format_duration_ns(ramp_ns as f64)
        );
        page.paragraph("    warm-up    ", text);
    }
    for (name, text) in events(phase).into_iter().chain(witnesses(&phase.witnesses)) {
        page.paragraph(&format!("    {name:<11}"), text);
    }
    if let Some(text) = cost(&phase.witnesses.costs) {
        page.paragraph("    watching   ", text);
    }
    for note in &phase.notes {
        page.paragraph("    note       ", note.as_str());
    }
    for caveat in &finding.caveats {
        let text = format!("{}: {}", caveat.code, caveat.detail);
        page.paragraph("    ! ", Span::new(Role::Doubt, text));
    }
}

fn kind_word(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Prepare => "prepare",
        PhaseKind::LayDown => "lay down",
        PhaseKind::Ramp => "ramp",
        PhaseKind::Measure => "measure",
        PhaseKind::Settle => "settle",
        PhaseKind::Verify => "verify",
        PhaseKind::CleanUp => "clean up",
    }
}

/// Every figure with the number of observations behind it, and the text that an
/// imported one was printed as.
fn figures(phase: &Phase) -> Table {
    let mut table = Table::new(vec![
        Column::left("figure", 34),
        Column::right("value", 20),
        Column::right("n", 8),
        Column::left("printed as", 10),
    ]);
    for measurement in &phase.measurements {
        table.row(vec![
            label(&measurement.metric).into(),
            figure(measurement).into(),
            rounded_count(measurement.n as f64).into(),
            measurement.printed.clone().unwrap_or_default().into(),
        ]);
    }
    table
}

/// Why values differ from what was printed.
fn write_corrections(page: &mut Page, phase: &Phase) {
    let mut said: Vec<(&str, Vec<String>)> = Vec::new();
    for measurement in &phase.measurements {
        let Some(reason) = &measurement.corrected else {
            continue;
        };
        let label = label(&measurement.metric);
        match said.iter_mut().find(|(known, _)| known == reason) {
            Some((_, labels)) => labels.push(label),
            None => said.push((reason, vec![label])),
        }
    }
    for (reason, labels) in said {
        page.paragraph(
            "    corrected  ",
            format!("{}: {reason}", labels.join(", ")),
        );
    }
}

/// The workers from the slowest to the fastest, in one line.
fn write_workers(page: &mut Page, workers: &[WorkerSummary]) {
    let rate = |worker: &WorkerSummary| {
        let active_ns = worker.last_ns.saturating_sub(worker.first_ns);
        (active_ns > 0).then(|| worker.bytes as f64 * 1e9 / active_ns as f64)
    };
    let mut rates: Vec<f64> = workers.iter().filter_map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let per_second = |rate: &f64| format!("{}/s", format_bytes(*rate as u64));
    let text = match (&rates[..], workers.len()) {
        ([], _) | (_, 0) => return,
        ([only], 1) => format!("1, {}", per_second(only)),
        ([slow, fast], 2) => format!("2, {} and {}", per_second(slow), per_second(fast)),
        ([slowest, .., fastest], count) => format!(
            "{count}, slowest {}, median {}, fastest {}",
            per_second(slowest),
            per_second(&rates[rates.len() / 2]),
            per_second(fastest)
        ),
        ([only], count) => format!("{count}, of which one moved data: {}", per_second(only)),
    };
    page.paragraph("    workers    ", text);
}

/// What the codes mean that occur in the session.
fn write_codes(page: &mut Page, judged: &Judged<'_>) {
    let session = judged.session();
    let of_phases = judged
        .trials()
        .flat_map(|(_, phases)| phases)
        .flat_map(|judged| &judged.finding.caveats);
    let of_session = examine_session(session);
    let of_trials = session.trials.iter().flat_map(|trial| &trial.caveats);
    let codes: BTreeSet<CaveatCode> = of_session
        .iter()
        .chain(of_trials)
        .chain(of_phases)
        .map(|caveat| caveat.code)
        .collect();
    if codes.is_empty() {
        return;
    }
    page.blank();
    page.line(Span::new(Role::Strong, "What the codes mean"));
    for code in codes {
        page.paragraph(&format!("  {code:<23}"), code.meaning());
    }
}

/// What the figures are about, counted.
fn summary(judged: &Judged<'_>) -> String {
    let mut counts: Vec<(Subject, usize)> = Vec::new();
    let mut figures = 0;
    for judged in judged.trials().flat_map(|(_, phases)| phases) {
        if !judged.phase.has_numbers() {
            continue;
        }
        figures += judged.phase.measurements.len();
        let subject = judged.finding.subject;
        match counts.iter_mut().find(|(known, _)| *known == subject) {
            Some((_, count)) => *count += 1,
            None => counts.push((subject, 1)),
        }
    }
    let phases: usize = counts.iter().map(|(_, count)| count).sum();
    if phases == 0 {
        return "No figures".to_owned();
    }
    let counts: Vec<String> = counts
        .iter()
        .map(|(subject, count)| format!("{count} {subject}"))
        .collect();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    format!(
        "{figures} figure{} of {phases} phase{}: {}",
        plural(figures),
        plural(phases),
        counts.join(", ")
    )
}
