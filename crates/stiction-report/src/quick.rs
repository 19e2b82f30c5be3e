//! The answer to `stiction quick`: one screen that can be pasted into a mail.

use stiction_core::{
    Environment, Job, Metric, Session, Subject, SyncKind, TrialOutcome, format_bytes, metrics,
};

use crate::doubts::doubts;
use crate::figure::figure;
use crate::judged::{Judged, JudgedPhase};
use crate::outcome::{saved, session_gap, title};
use crate::page::{Column, Page, Role, Span, Style, Table};
use crate::stack::{stack_line, without_home};
use crate::text::{WIDTH, wrap};

/// Lines of the screen.
const SCREEN: usize = 24;
/// Lines after the doubts: where it is saved, and the answer.
const AFTER_DOUBTS: usize = 2;

/// One screen: what the directory stands on, what each phase came to, what speaks
/// against it, and the answer in its last line.
#[must_use]
pub fn quick(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let phases: Vec<JudgedPhase<'_>> = judged
        .trials()
        .flat_map(|(_, phases)| phases)
        .filter(JudgedPhase::is_measured)
        .collect();
    let mut page = Page::new(style);
    head(&mut page, "quick", session);
    if !phases.is_empty() {
        page.blank();
        page.table(0, &table(&phases));
        if let Some(note) = blocks_note(&phases) {
            page.line(Span::new(Role::Faint, note));
        }
        page.blank();
    }
    commit_price(&mut page, &phases);
    write_doubts(&mut page, judged, &phases);
    page.line(saved(&session.header.id, "show"));
    page.paragraph("", Span::new(Role::Strong, answer(judged)));
    page.finish()
}

/// What was run where, what it stands on, and the machine.
pub(crate) fn head(page: &mut Page, command: &str, session: &Session) {
    let environment = &session.header.environment;
    let path = environment
        .targets
        .first()
        .map(|stack| without_home(&stack.path));
    page.edges(
        Span::new(
            Role::Strong,
            format!("stiction {command} {}", path.unwrap_or_default()).trim_end(),
        ),
        Span::new(Role::Faint, session.header.id.as_str()),
    );
    for stack in &environment.targets {
        page.paragraph("", stack_line(stack));
    }
    let machine = machine_line(environment);
    if !machine.is_empty() {
        page.line(machine);
    }
}

/// Kernel, CPUs, memory and what the machine is, as far as they are known.
pub(crate) fn machine_line(environment: &Environment) -> String {
    let mut parts = Vec::new();
    if let Some(kernel) = &environment.kernel {
        parts.push(format!("kernel {}", kernel.release));
    }
    if let Some(cpu) = &environment.cpu {
        let plural = if cpu.online == 1 { "" } else { "s" };
        parts.push(format!("{} CPU{plural}", cpu.online));
    }
    if let Some(memory) = &environment.memory {
        parts.push(format!("{} memory", format_bytes(memory.total_bytes)));
    }
    let virtualisation = &environment.virtualisation;
    let guest = virtualisation.hypervisor.as_ref();
    parts.extend(guest.map(|name| format!("{name} guest (host cache unseen)")));
    parts.extend(virtualisation.container.clone());
    parts.join(", ")
}

fn table(phases: &[JudgedPhase<'_>]) -> Table {
    let mut table = Table::new(vec![
        Column::left("", 20),
        Column::left("what", 7),
        Column::right("rate", 10),
        Column::right("ops", 8),
        Column::right("p50", 7),
        Column::right("p99", 7),
        Column::right("p99.9", 7),
        Column::right("max", 7),
    ]);
    for judged in phases {
        table.row(row(judged));
    }
    table
}

fn row(judged: &JudgedPhase<'_>) -> Vec<Span> {
    let phase = judged.phase;
    let name = row_name(judged);
    if !phase.has_numbers() {
        let word = match &phase.outcome {
            stiction_core::PhaseOutcome::Skipped(_) => "skipped",
            _ => "failed",
        };
        return vec![name.into(), Span::new(Role::Bad, word)];
    }
    let subject = judged.finding.subject;
    let cell = |metric: &Metric| match phase.measurement(metric) {
        // Bytes per second say nothing about commits.
        Some(rate) if rate.metric == metrics::RATE && phase.name == "commit" => "".into(),
        Some(measurement) => Span::from(figure(measurement)),
        None => "-".into(),
    };
    vec![
        name.into(),
        Span::new(Role::of(subject), subject.to_string()),
        cell(&metrics::RATE),
        cell(&metrics::OPERATION_RATE),
        cell(&metrics::LATENCY_P50),
        cell(&metrics::LATENCY_P99),
        cell(&metrics::LATENCY_P999),
        cell(&metrics::LATENCY_MAX),
    ]
}

/// `random read 32 deep`: the phase's name, with the number of operations in flight
/// where the name speaks of depth.
pub(crate) fn row_name(judged: &JudgedPhase<'_>) -> String {
    let phase = judged.phase;
    let base = phase
        .name
        .strip_suffix("_deep")
        .or_else(|| phase.name.strip_suffix("_depth_1"));
    match (base, &phase.job) {
        (Some(base), Some(job)) => format!("{} {} deep", title(base), in_flight(job)),
        _ => title(&phase.name),
    }
}

fn in_flight(job: &Job) -> u64 {
    u64::from(job.depth) * job.workers() as u64
}

/// Block sizes and what a commit is, said once for the whole table.
fn blocks_note(phases: &[JudgedPhase<'_>]) -> Option<String> {
    let job = |part: &str| {
        let of_part = |judged: &&JudgedPhase<'_>| judged.phase.name.contains(part);
        phases.iter().find(of_part)?.phase.job.as_ref()
    };
    let moved: Vec<(&str, &Job)> = ["sequential", "random"]
        .into_iter()
        .filter_map(|part| Some((part, job(part)?)))
        .collect();
    let mut parts: Vec<String> = moved
        .iter()
        .map(|(part, job)| format!("{} {part}", format_bytes(job.block_size_bytes)))
        .collect();
    if let Some((_, first)) = moved.first() {
        let how = match moved.iter().all(|(_, job)| job.direct == first.direct) {
            true if first.direct => "direct",
            true => "buffered",
            false => "partly direct",
        };
        parts.push(how.to_owned());
    }
    let mut text = parts.join(", ");
    if let Some(job) = job("commit") {
        let gap = if text.is_empty() { "" } else { "; " };
        let sync = job.sync_every.map(|sync| sync.kind);
        text.push_str(&format!(
            "{gap}a commit is a {} write{}",
            format_bytes(job.block_size_bytes),
            sync_words(sync)
        ));
    }
    (!text.is_empty()).then_some(text)
}

fn sync_words(sync: Option<SyncKind>) -> &'static str {
    match sync {
        Some(SyncKind::Fsync) => " + fsync",
        Some(SyncKind::Fdatasync) => " + fdatasync",
        None => "",
    }
}

fn find<'a>(phases: &'a [JudgedPhase<'a>], name: &str) -> Option<&'a JudgedPhase<'a>> {
    phases
        .iter()
        .find(|judged| judged.phase.name == name && judged.phase.has_numbers())
}

/// What databases wait for, in a sentence of its own.
fn commit_price(page: &mut Page, phases: &[JudgedPhase<'_>]) {
    let Some(commit) = find(phases, "commit") else {
        return;
    };
    let said = |metric: &Metric| commit.phase.measurement(metric).map(figure);
    let Some(median) = said(&metrics::LATENCY_P50) else {
        return;
    };
    // The rate follows from the mean, so the median must not be read as "the" time.
    let mut text = format!("Commits: half within {median}");
    if let Some(p99) = said(&metrics::LATENCY_P99) {
        text.push_str(&format!(", 1 in 100 over {p99}"));
    }
    if let Some(rate) = said(&metrics::OPERATION_RATE) {
        text.push_str(&format!("; one writer makes {rate}"));
    }
    text.push('.');
    page.line(text);
}

/// The doubts that fit on the screen, and how many more there are.
fn write_doubts(page: &mut Page, judged: &Judged<'_>, phases: &[JudgedPhase<'_>]) {
    let mut doubts = doubts(judged.session(), phases);
    if let Some(gap) = session_gap(judged.session()) {
        doubts.insert(0, gap);
    }
    if doubts.is_empty() {
        if !phases.is_empty() {
            page.line("No doubts: in every phase the device moved what was asked.");
        }
        return;
    }
    let mut room = SCREEN.saturating_sub(page.lines() + AFTER_DOUBTS).max(2);
    let mut left = doubts.len();
    for doubt in &doubts {
        let needed = wrap(doubt, WIDTH - 2).len();
        let reserve = usize::from(left > 1);
        if needed + reserve > room {
            break;
        }
        page.paragraph("- ", Span::new(Role::Doubt, doubt.as_str()));
        room -= needed;
        left -= 1;
    }
    if left > 0 {
        let id = judged.session().header.id.tail();
        page.line(Span::new(
            Role::Doubt,
            format!("- and {left} more: `stiction show {id}` has them"),
        ));
    }
}

/// The three figures that most people came for, each with its word; of a tiobench
/// session the best of its sequential phases, of a bonnie session its block phases.
pub(crate) fn headline(judged: &Judged<'_>) -> Option<String> {
    let phases: Vec<JudgedPhase<'_>> = judged
        .trials()
        .flat_map(|(_, phases)| phases)
        .filter(|judged| judged.is_measured() && judged.phase.has_numbers())
        .collect();
    let part = |names: &[&str], word: &str, metric: &Metric, end: &str| {
        let best = phases
            .iter()
            .filter(|judged| names.contains(&judged.phase.name.as_str()))
            .filter_map(|judged| Some((judged, judged.phase.measurement(metric)?)))
            .max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
        let (judged, best) = best?;
        let subject: Subject = judged.finding.subject;
        Some(format!("{word}: {subject} {}{end}", figure(best)))
    };
    let parts: Vec<String> = [
        part(
            &["sequential_read", "read", "get_block"],
            "read",
            &metrics::RATE,
            "",
        ),
        part(
            &["sequential_write", "write", "put_block"],
            "write",
            &metrics::RATE,
            "",
        ),
        part(&["commit"], "commit", &metrics::LATENCY_P50, " p50"),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The headline, or why there is none.
fn answer(judged: &Judged<'_>) -> String {
    headline(judged).unwrap_or_else(|| nothing_measured(judged))
}

/// Why there are no figures.
pub(crate) fn nothing_measured(judged: &Judged<'_>) -> String {
    let trials = &judged.session().trials;
    let why = trials.iter().find_map(|trial| match &trial.outcome {
        TrialOutcome::Skipped(reason) => Some(format!(": {}", reason.detail)),
        TrialOutcome::Failed { message } => Some(format!(": {message}")),
        TrialOutcome::Interrupted => Some(": interrupted".to_owned()),
        TrialOutcome::Completed => None,
    });
    format!("Nothing was measured{}", why.unwrap_or_default())
}
