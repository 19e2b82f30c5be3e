//! From two sides to rows that wait for their verdicts.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use stiction_core::{
    Better, Caveat, Environment, Measurement, Metric, Phase, Session, Subject, format_count,
    metrics,
};

use super::comparison::{BlockValues, Comparison, Doubt, Row};
use super::decide::LEVEL;
use super::design::Design;
use super::environment::{EnvironmentDifference, sides_difference};
use super::judge::{self, Figures, Ground, Noise};
use super::options::CompareOptions;
use super::pairing::{self, Pair, Run, SideFactor};
use super::replication::{Replication, RunOrder, Unit};
use super::settle::Draft;
use super::side::Side;
use super::{remarks, tails, work};
use crate::canary;
use crate::change::{Change, Scale, SideValue};
use crate::decompose::{Decomposition, decompose};
use crate::doubt::{self, Finding};
use crate::estimate::dip::References;
use crate::estimate::looks::level_after;
use crate::noise::{self, Repeat};

/// Two sides, their rows not yet judged.
pub(super) struct Drafted {
    /// The comparison without its rows.
    pub(super) comparison: Comparison,
    /// Its rows.
    pub(super) rows: Vec<Draft>,
}

/// Puts `b` beside `a`.
pub(super) fn draft(a: &Side<'_>, b: &Side<'_>, options: &CompareOptions) -> Drafted {
    let factors = pairing::side_factors(a, b);
    let (pairs, unmatched) = pairing::pairs(a, b, &factors);
    let about = about(a, b, options);
    let environment = sides_difference(a, b, about.as_deref(), &options.allow);
    let parameters = work::parameter_differences(a, b, &options.allow);
    let unit = unit(a, b, &environment, &factors);
    let noise = noise_of(a, b);
    let widest = noise::widest(&noise);
    let incomparable = incomparable(a, b, &environment, options);
    let other_work = work::other_work(&parameters);
    let mut notes = notes(a, b, &factors, &environment, options);
    let looks = planned_looks(a, b);
    notes.extend(told_looks(&looks));
    let mut rows = Vec::new();
    let (mut decompositions, mut doubts) = (Vec::new(), Vec::new());
    let (mut shifts, mut stalls) = (Vec::new(), Vec::new());
    let mut designs = Vec::new();
    let references = References::new(options.seed);
    for pair in &pairs {
        let findings = (findings(&pair.a), findings(&pair.b));
        doubts.extend(doubts_of(pair, true, &findings.0));
        doubts.extend(doubts_of(pair, false, &findings.1));
        let jobs = pair_jobs(pair);
        let mut incomparable = incomparable.clone();
        if !has_jobs(pair) && a.is_measured() && b.is_measured() {
            incomparable.extend(other_work.iter().cloned());
        }
        // An option of the workload changes its jobs, or it would be none.
        let about_jobs = |about: &str| about == "configuration" || about.starts_with("workload.");
        let jobs_may_differ =
            about.as_deref().is_some_and(about_jobs) || options.allow.iter().any(|k| k == "job");
        if jobs_may_differ {
            notes.extend(jobs.all().map(|text| format!("{}: {text}", pair.phase)));
        }
        let ground = Ground {
            pair,
            design: Design::of(pair, unit),
            incomparable: &incomparable,
            jobs,
            jobs_may_differ,
            subjects: (subject(&findings.0), subject(&findings.1)),
            noise: &|metric| told_noise(&widest, &pair.phase, metric),
            effects: &options.effects,
            classes: &options.classes,
            tells_a_score: tells_a_score(a, pair),
            looks: &looks,
            accept_batched: options.accept_batched,
            references: &references,
        };
        rows.extend(pair_rows(&ground));
        decompositions.extend(decompose_pair(pair));
        shifts.extend(tails::shifts(pair, &ground.design, options.seed));
        stalls.extend(tails::stalls(pair, &ground.design));
        designs.push(ground.design);
    }
    notes.extend(extended(&pairs, &designs));
    once(&mut notes);
    let ids = |side: &Side<'_>| {
        let sessions = side.sessions().iter();
        sessions.map(|session| session.header.id.clone()).collect()
    };
    let comparison = Comparison {
        a: a.name.clone(),
        b: b.name.clone(),
        sessions: (ids(a), ids(b)),
        factors,
        replication: replication(&designs, unit),
        environment,
        parameters,
        rows: Vec::new(),
        doubts,
        unmatched,
        decompositions,
        shifts,
        stalls,
        noise,
        notes,
    };
    Drafted { comparison, rows }
}

/// What the comparison is about: what the user named, or what the sides were chosen by
/// where the session itself says what that is.
fn about(a: &Side<'_>, b: &Side<'_>, options: &CompareOptions) -> Option<String> {
    let chosen = a.factor().filter(|&factor| Some(factor) == b.factor());
    options.factor.clone().or_else(|| chosen.map(str::to_owned))
}

/// What a repetition has to be at least, by what differs.
pub(super) fn unit(
    a: &Side<'_>,
    b: &Side<'_>,
    environment: &EnvironmentDifference,
    factors: &[SideFactor],
) -> Unit {
    if !a.is_measured() || !b.is_measured() {
        // Nothing is known of the boots and machines of a table.
        return Unit::Run;
    }
    let differs = |keys: &[&str]| {
        let mut found = environment.differs.iter();
        found.any(|difference| keys.iter().any(|key| is_below(&difference.key, key)))
    };
    if differs(&["cpu.model", "host_name"]) {
        return Unit::Machine;
    }
    let at_boot = [
        "kernel",
        "memory.total",
        "memory.page_size",
        "cpu.mitigations",
        "cpu.microcode",
    ];
    let is_kernel = factors.iter().any(|side| side.factor == "kernel");
    if is_kernel || differs(&at_boot) {
        return Unit::Boot;
    }
    Unit::Run
}

fn is_below(key: &str, beginning: &str) -> bool {
    let rest = key.strip_prefix(beginning);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// What keeps anything of the two sides from being compared.
fn incomparable(
    a: &Side<'_>,
    b: &Side<'_>,
    environment: &EnvironmentDifference,
    options: &CompareOptions,
) -> Vec<String> {
    let mut reasons = work::benchmark_differences(a, b, &options.allow);
    if a.factor() == Some("workload") && b.factor() == a.factor() {
        reasons.push(format!(
            "A is of the workload {} and B of {}",
            a.name, b.name
        ));
    }
    let configurations = a.factor() == Some("configuration") && b.factor() == a.factor();
    let named = options.factor.as_deref();
    if let Some(factor) = named.or_else(|| configurations.then_some("configuration")) {
        let others: Vec<&str> = environment.unnamed().map(|d| d.key.as_str()).collect();
        if !others.is_empty() {
            let others = others.join(", ");
            reasons.push(format!("besides {factor} the machines differ in {others}"));
        }
    }
    reasons
}

fn notes(
    a: &Side<'_>,
    b: &Side<'_>,
    factors: &[SideFactor],
    environment: &EnvironmentDifference,
    options: &CompareOptions,
) -> Vec<String> {
    let mut notes = Vec::new();
    if let [first, others @ ..] = factors
        && !others.is_empty()
    {
        let others: Vec<&str> = others.iter().map(|side| side.factor.as_str()).collect();
        let (first, others) = (&first.factor, others.join(" and "));
        notes.push(format!(
            "{others} differs too: a difference cannot be put down to {first} alone"
        ));
    }
    let allowed = environment.differs.iter().filter(|d| d.allowed && !d.named);
    let allowed: Vec<&str> = allowed.map(|d| d.key.as_str()).collect();
    if !allowed.is_empty() {
        let alone = options.factor.as_deref().unwrap_or("one thing");
        let allowed = allowed.join(" and ");
        notes.push(format!(
            "{allowed} may differ, as was allowed: a difference cannot be put down to {alone} alone"
        ));
    }
    let one_session = a.sessions().len() == 1
        && b.sessions().len() == 1
        && a.sessions()[0].header.id == b.sessions()[0].header.id;
    if one_session && a.is_same_trials(b) {
        notes.push(
            "A and B are the same runs: what they show of noise is all there is to see".to_owned(),
        );
    }
    if !one_session && a.is_measured() != b.is_measured() {
        let measured = if a.is_measured() { "A" } else { "B" };
        notes.push(format!(
            "only {measured} was measured here; the other side is as printed"
        ));
    }
    notes
}

/// The looks that the plan of both sides' session has; none of several sessions, the blocks
/// of which were planned apart.
fn planned_looks(a: &Side<'_>, b: &Side<'_>) -> Vec<u32> {
    let all = || a.sessions().iter().chain(b.sessions());
    let Some(first) = all().next().map(|session| &session.header) else {
        return Vec::new();
    };
    let plan = first.plan.as_ref();
    let plan = plan.filter(|_| all().all(|session| session.header.id == first.id));
    let looks = plan.and_then(|plan| plan.parameters.get("stop")?.get("looks_after_blocks"));
    let blocks = looks
        .and_then(|looks| looks.as_array())
        .into_iter()
        .flatten();
    blocks
        .filter_map(|blocks| u32::try_from(blocks.as_u64()?).ok())
        .collect()
}

fn told_looks(looks: &[u32]) -> Option<String> {
    let (last, others) = looks.split_last()?;
    let others: Vec<String> = others.iter().map(u32::to_string).collect();
    Some(format!(
        "looks were planned after {} and {last} blocks: each may spend its part of the 5 %, so a \
         verdict needs a smaller p than that",
        others.join(", ")
    ))
}

/// That blocks of several sessions are judged as if they had been planned together.
fn extended(pairs: &[Pair<'_>], designs: &[Design]) -> Option<String> {
    let sessions = |pair: &Pair<'_>| {
        let mut ids: Vec<_> = pair.a.iter().map(|run| &run.session.header.id).collect();
        ids.sort();
        ids.dedup();
        ids.len()
    };
    let recorded = |pair: &Pair<'_>| pair.a.iter().all(|run| run.trial.block.is_some());
    let both = pairs.iter().zip(designs);
    let most = both
        .filter(|(pair, design)| recorded(pair) && design.order == RunOrder::Interleaved)
        .map(|(pair, _)| sessions(pair))
        .max()?;
    let times = match most {
        0 | 1 => return None,
        2 => "once".to_owned(),
        count => format!("{} times", count - 1),
    };
    Some(format!(
        "blocks of {most} sessions are judged together: extended {times} after a look"
    ))
}

fn once(notes: &mut Vec<String>) {
    let mut seen: Vec<String> = Vec::new();
    notes.retain(|note| {
        let new = !seen.contains(note);
        seen.push(note.clone());
        new
    });
}

/// What was repeated how often, and how the repetitions lie.
fn replication(designs: &[Design], unit: Unit) -> Replication {
    let most = |count: fn(&Design) -> usize| designs.iter().map(count).max().unwrap_or(0) as u32;
    let worst = designs.iter().max_by_key(|design| design.order);
    Replication {
        unit: worst.map_or(unit, |design| design.unit),
        a: most(|design| design.units.0.len()),
        b: most(|design| design.units.1.len()),
        order: worst.map_or(RunOrder::NotInterleaved, |design| design.order),
    }
}

fn noise_of(a: &Side<'_>, b: &Side<'_>) -> Vec<Repeat> {
    let mut seen = Vec::new();
    let mut found = Vec::new();
    for session in a.sessions().iter().chain(b.sessions()) {
        if !seen.contains(&&session.header.id) {
            seen.push(&session.header.id);
            found.extend(noise::repeats(session));
        }
    }
    found
}

/// What the examination of each run came to.
///
/// What is doubted of a whole trial is doubted of each of its phases.
fn findings(runs: &[Run<'_>]) -> Vec<Finding> {
    let mut suspects: Vec<(&Session, BTreeMap<usize, Caveat>)> = Vec::new();
    for run in runs {
        if suspects
            .iter()
            .all(|(known, _)| !std::ptr::eq(*known, run.session))
        {
            suspects.push((run.session, canary::suspects(run.session)));
        }
    }
    let suspect = |run: &Run<'_>| {
        let mut all = suspects.iter();
        let (_, own) = all.find(|(known, _)| std::ptr::eq(*known, run.session))?;
        own.get(&run.place)
    };
    runs.iter()
        .map(|run| {
            let header = &run.session.header.environment;
            let environment: Cow<'_, Environment> = match &run.trial.targets {
                None => Cow::Borrowed(header),
                Some(targets) => Cow::Owned(Environment {
                    targets: targets.clone(),
                    ..header.clone()
                }),
            };
            let mut finding = doubt::examine_in_cell(run.phase, &run.trial.cell, &environment);
            for caveat in run.trial.caveats.iter().chain(suspect(run)) {
                if finding
                    .caveats
                    .iter()
                    .all(|known| known.code != caveat.code)
                {
                    finding.caveats.push(caveat.clone());
                }
            }
            finding
        })
        .collect()
}

/// What the runs' numbers are about; unknown when they disagree.
fn subject(findings: &[Finding]) -> Subject {
    let mut subjects = findings.iter().map(|finding| finding.subject);
    let first = subjects.next().unwrap_or(Subject::Unknown);
    if subjects.all(|subject| subject == first) {
        first
    } else {
        Subject::Unknown
    }
}

/// The doubts of all runs of one side, one of each code.
fn doubts_of(pair: &Pair<'_>, in_a: bool, findings: &[Finding]) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = Vec::new();
    for caveat in findings.iter().flat_map(|finding| &finding.caveats) {
        match doubts
            .iter_mut()
            .find(|doubt| doubt.caveat.code == caveat.code)
        {
            Some(doubt) => doubt.runs += 1,
            None => doubts.push(Doubt {
                in_a,
                cell: pair.cell.clone(),
                phase: pair.phase.clone(),
                caveat: caveat.clone(),
                runs: 1,
            }),
        }
    }
    doubts
}

fn told_noise(widest: &[&Repeat], phase: &str, metric: &Metric) -> Option<Noise> {
    let widest = widest.iter().find(|repeat| repeat.is_of(phase, metric))?;
    let size = widest.spread;
    let amount = match widest.scale {
        Scale::Percent => format!("{size:.1} %"),
        Scale::Points => format!("{size:.1} points"),
    };
    let runs = format_count(widest.values.len() as f64);
    Some(Noise {
        size,
        told: format!(
            "{} runs of one configuration lie {amount} apart",
            runs.trim()
        ),
    })
}

/// What the jobs of both sides do differently, by the first run of each.
fn pair_jobs(pair: &Pair<'_>) -> work::JobDifferences {
    let job = |runs: &[Run<'_>]| runs.first().and_then(|run| run.phase.job.clone());
    match (job(&pair.a), job(&pair.b)) {
        (Some(a), Some(b)) => work::job_differences(&a, &b),
        _ => work::JobDifferences::default(),
    }
}

/// Whether the runs are of a command that tells figures of its own.
fn tells_a_score(side: &Side<'_>, pair: &Pair<'_>) -> bool {
    let is_command = |workload: &str| workload.split('+').any(|one| one == "command");
    let plans = side.sessions().iter().map(|session| &session.header.plan);
    let mut workloads = plans.flatten().map(|plan| plan.workload.as_str());
    let runs = pair.a.iter().chain(&pair.b);
    let mut told = runs.flat_map(|run| &run.phase.measurements);
    workloads.any(is_command) && told.any(|m| metrics::by_name(&m.metric.name).is_none())
}

fn has_jobs(pair: &Pair<'_>) -> bool {
    let mut runs = pair.a.iter().chain(&pair.b);
    runs.any(|run| run.phase.job.is_some())
}

/// One draft for each metric of a pair.
fn pair_rows(ground: &Ground<'_>) -> Vec<Draft> {
    let pair = ground.pair;
    let (of_a, of_b) = (phases_with_numbers(&pair.a), phases_with_numbers(&pair.b));
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let all = of_a.iter().chain(&of_b);
    let metrics = all.flat_map(|phase| phase.measurements.iter().map(|m| &m.metric));
    let first_of_name = metrics.filter(|metric| names.insert(&metric.name));
    first_of_name
        .collect::<Vec<_>>()
        .into_iter()
        .map(|metric| metric_row(ground, metric, &of_a, &of_b))
        .collect()
}

fn phases_with_numbers<'p>(runs: &[Run<'p>]) -> Vec<&'p Phase> {
    let phases = runs.iter().map(|run| run.phase);
    phases.filter(|phase| phase.has_numbers()).collect()
}

fn metric_row(ground: &Ground<'_>, metric: &Metric, of_a: &[&Phase], of_b: &[&Phase]) -> Draft {
    let pair = ground.pair;
    let measured = |phases: &[&Phase], subject| {
        let measured = phases.iter().filter_map(|phase| phase.measurement(metric));
        let alike: Vec<&Measurement> = measured
            .filter(|measurement| measurement.metric.unit == metric.unit)
            .collect();
        SideValue::of(&alike, subject)
    };
    let a = measured(of_a, ground.subjects.0);
    let b = measured(of_b, ground.subjects.1);
    let change = match (&a, &b) {
        (Some(a), Some(b)) => Change::between(metric, a, b),
        _ => None,
    };
    let blocks = block_values(ground, metric);
    let effect = judge::effect(ground, metric, a.as_ref());
    let runs: Vec<&Run<'_>> = pair.a.iter().chain(&pair.b).collect();
    let too_few = remarks::too_few(metric, &runs);
    let figures = Figures {
        metric,
        a: a.as_ref(),
        b: b.as_ref(),
        change: change.as_ref(),
        blocks: &blocks,
        mismatch: mismatch(metric, of_a, of_b),
        too_few: too_few.is_some(),
        effect,
    };
    let judgement = judge::judge(ground, &figures);
    let mut remarks = Vec::new();
    if let Some(effect) = effect {
        remarks = remarks::of_runs(ground, metric, a.as_ref(), b.as_ref(), effect);
        remarks.extend(too_few);
    }
    let row = Row {
        cell: pair.cell.clone(),
        phase: pair.phase.clone(),
        metric: metric.clone(),
        change,
        blocks,
        estimate: None,
        effect_percent: effect.map(|effect| effect * 100.0),
        floor: None,
        floor_percent: None,
        verdict: None,
        remarks,
        a,
        b,
    };
    let level = level_after(row.blocks.len() as u32, ground.looks, LEVEL);
    Draft {
        row,
        judgement,
        level,
    }
}

/// Why figures of one name are not of one kind, if so.
fn mismatch(metric: &Metric, of_a: &[&Phase], of_b: &[&Phase]) -> Option<String> {
    let other = |phases: &[&Phase]| {
        let measured = phases.iter().filter_map(|phase| phase.measurement(metric));
        let mut kinds = measured.map(|m| (m.metric.unit, m.metric.better));
        kinds.find(|kind| *kind != (metric.unit, metric.better))
    };
    let (name, (unit, better)) = match (other(of_a), other(of_b)) {
        (Some(kind), _) => ("A", kind),
        (None, Some(kind)) => ("B", kind),
        (None, None) => return None,
    };
    let metric_name = &metric.name;
    Some(if unit == metric.unit {
        let way = if better == Better::More {
            "more"
        } else {
            "less"
        };
        format!("of {metric_name} {way} is better in {name} alone")
    } else {
        let (one, another) = (metric.unit.suffix(), unit.suffix());
        format!("{metric_name} is in {one}, and in {another} in {name}")
    })
}

/// Both sides' values of a metric in each block that has both.
fn block_values(ground: &Ground<'_>, metric: &Metric) -> Vec<BlockValues> {
    let pair = ground.pair;
    let blocks = ground.design.blocks.iter();
    blocks
        .filter_map(|block| {
            let a = judge::mean_of(&pair.a, &block.a, metric)?;
            let b = judge::mean_of(&pair.b, &block.b, metric)?;
            Some(BlockValues { a, b })
        })
        .collect()
}

fn decompose_pair(pair: &Pair<'_>) -> Option<Decomposition> {
    decompose(
        &pair.cell,
        &pair.phase,
        &all_phases(&pair.a),
        &all_phases(&pair.b),
    )
}

fn all_phases<'a>(runs: &[Run<'a>]) -> Vec<&'a Phase> {
    runs.iter().map(|run| run.phase).collect()
}
