//! What was recorded while a phase ran, in words.

use stiction_analysis::tail::{TailBeside, TailPlace, tail_beside};
use stiction_core::{
    BlockTrace, Direction, KindTrace, Phase, Profile, RequestKind, SizeCount, TraceSource,
    WitnessCost, WritebackStall, format_bytes, format_count, format_duration_ns,
};

/// Functions, sizes and tasks at most that are named.
const NAMED: usize = 4;
/// Functions with less than this share of the samples are not named.
const SHARE_LEAST: f64 = 0.02;

/// What was recorded, by name; nothing at the levels that record nothing.
pub(super) fn events(phase: &Phase) -> Vec<(&'static str, String)> {
    let witnesses = &phase.witnesses;
    let mut facts = Vec::new();
    for trace in &witnesses.block_traces {
        facts.extend(
            trace
                .kinds
                .iter()
                .map(|kind| ("requests", asked(trace, kind))),
        );
        facts.extend(held(trace).map(|text| ("in hand", text)));
        facts.extend(others(trace).map(|text| ("others", text)));
        facts.extend(imperfect(trace).map(|text| ("not whole", text)));
    }
    for direction in [Direction::Read, Direction::Write] {
        facts.extend(tail_beside(phase, direction).map(|beside| ("tail", tail(&beside))));
    }
    if let Some(stalls) = &witnesses.writeback_stalls {
        facts.extend(stalled(stalls).map(|text| ("held back", text)));
    }
    facts.extend(
        witnesses
            .profile
            .as_ref()
            .map(|one| ("profile", profile(one))),
    );
    facts
}

/// What watching took, of all witnesses together and of those that took most.
pub(super) fn cost(costs: &[WitnessCost]) -> Option<String> {
    let mut most: Vec<&WitnessCost> = costs.iter().collect();
    most.sort_by_key(|cost| std::cmp::Reverse(cost.beside_ns + cost.during_cpu_ns));
    let beside_ns: u64 = costs.iter().map(|cost| cost.beside_ns).sum();
    let during_ns: u64 = costs.iter().map(|cost| cost.during_cpu_ns).sum();
    let each: Vec<String> = most
        .iter()
        .take(NAMED)
        .map(|cost| format!("{} {}", cost.witness, duration(cost.beside_ns)))
        .collect();
    let mut text = format!(
        "{} before and after ({})",
        duration(beside_ns),
        each.join(", ")
    );
    if during_ns > 0 {
        let records: u64 = costs.iter().map(|cost| cost.records).sum();
        text.push_str(&format!(
            "; {} of CPU time meanwhile, for {} records",
            duration(during_ns),
            format_count(records as f64)
        ));
    }
    (!costs.is_empty()).then_some(text)
}

fn duration(ns: u64) -> String {
    format_duration_ns(ns as f64)
}

/// `vda: 1234 reads, p50 45 us, p99 376 us; 4 KiB each; 99 % one behind the other`.
fn asked(trace: &BlockTrace, kind: &KindTrace) -> String {
    let unit = match trace.source {
        TraceSource::Requests | TraceSource::Sampled => plural(kind),
        TraceSource::Bios => format!("{} (bios)", plural(kind)),
    };
    let count = format_count(kind.all.requests as f64);
    let mut parts = vec![format!(
        "{}: {count} {unit}{}",
        trace.device,
        taken(trace, kind)
    )];
    parts.extend(sizes(&kind.sizes));
    let has_places = matches!(kind.kind, RequestKind::Read | RequestKind::Write);
    if let Some(fraction) = kind.sequential_fraction().filter(|_| has_places) {
        let mut text = format!("{:.0} % where the one before ended", 100.0 * fraction);
        if let Some(bytes) = kind.mean_jump_bytes() {
            let mean = format_bytes(bytes as u64);
            text.push_str(&format!(", {mean} away on average else"));
        }
        parts.push(text);
    }
    if kind.errors > 0 {
        parts.push(format!("{} failed", format_count(kind.errors as f64)));
    }
    parts.join("; ")
}

fn plural(kind: &KindTrace) -> String {
    let one = kind.all.requests == 1;
    let word = match kind.kind {
        RequestKind::Read => "read",
        RequestKind::Write => "write",
        RequestKind::Discard => "discard",
        RequestKind::Flush if one => return "flush".to_owned(),
        RequestKind::Flush => return "flushes".to_owned(),
        RequestKind::Other => "other request",
    };
    if one {
        word.to_owned()
    } else {
        format!("{word}s")
    }
}

fn taken(trace: &BlockTrace, kind: &KindTrace) -> String {
    if let Some(latencies) = &kind.latencies {
        let quantiles = [("p50", 0.5), ("p99", 0.99)]
            .into_iter()
            .filter_map(|(name, at)| {
                let ns = match at {
                    0.5 => latencies.quantile_ns(at),
                    _ => latencies.quantile_ns_if_enough(at),
                };
                Some(format!(", {name} {}", duration(ns?)))
            });
        let max = latencies
            .max_ns()
            .map(|ns| format!(", max {}", duration(ns)));
        return quantiles.chain(max).collect();
    }
    let mean = kind.mean_ns().map(format_duration_ns);
    let mean = mean.map(|mean| format!(", {mean} each on average"));
    match trace.source {
        TraceSource::Sampled => mean.unwrap_or_default() + " (by counters)",
        TraceSource::Requests | TraceSource::Bios => mean.unwrap_or_default(),
    }
}

/// The commonest sizes.
fn sizes(sizes: &[SizeCount]) -> Option<String> {
    let all: u64 = sizes.iter().map(|size| size.requests).sum();
    let mut most: Vec<&SizeCount> = sizes.iter().filter(|size| size.bytes > 0).collect();
    most.sort_by_key(|size| std::cmp::Reverse(size.requests));
    if let [only] = &most[..] {
        return Some(format!("{} each", format_bytes(only.bytes)));
    }
    let named: Vec<String> = most
        .iter()
        .take(NAMED)
        .map(|size| {
            let share = 100.0 * size.requests as f64 / all as f64;
            format!("{} {share:.0} %", format_bytes(size.bytes))
        })
        .collect();
    (!named.is_empty()).then(|| named.join(", "))
}

fn held(trace: &BlockTrace) -> Option<String> {
    let mean = trace.depth.mean().filter(|_| !trace.lacks_completions())?;
    Some(format!(
        "{}: {mean:.2} on average, at most {}",
        trace.device, trace.depth.max
    ))
}

fn others(trace: &BlockTrace) -> Option<String> {
    let sum = |of: fn(&KindTrace) -> u64| trace.kinds.iter().map(of).sum::<u64>();
    let all = sum(|kind| kind.all.requests);
    let (others, bytes) = (
        sum(|kind| kind.others.requests),
        sum(|kind| kind.others.bytes),
    );
    let kernel = sum(|kind| kind.kernel.requests);
    if others + kernel == 0 {
        return None;
    }
    let mut parts = Vec::new();
    if others > 0 {
        let programs = trace.other_programs.iter().take(NAMED);
        let named: Vec<String> = programs
            .map(|(name, count)| format!("{name} {}", format_count(*count as f64)))
            .collect();
        parts.push(format!(
            "{} ({}) of other programs ({})",
            format_count(others as f64),
            format_bytes(bytes),
            named.join(", ")
        ));
    }
    if kernel > 0 {
        let count = format_count(kernel as f64);
        parts.push(format!("{count} issued by the kernel's own threads"));
    }
    let count = format_count(all as f64);
    Some(format!(
        "{}: of {count} requests {}",
        trace.device,
        parts.join(", ")
    ))
}

fn imperfect(trace: &BlockTrace) -> Option<String> {
    let unfinished = if trace.lacks_completions() {
        "have no completion (of those that reach an idle CPU some kernels record none): times \
         are of the others, and how many were in hand is not known"
    } else {
        "went on at the end"
    };
    let parts: Vec<String> = [
        (trace.lost_records, "records were lost"),
        (trace.requeues, "requests were handed back by the driver"),
        (trace.unmatched, "had begun before"),
        (trace.unfinished, unfinished),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{} {what}", format_count(count as f64)))
    .collect();
    (!parts.is_empty()).then(|| format!("{}: {}", trace.device, parts.join(", ")))
}

fn tail(beside: &TailBeside) -> String {
    let (own, device) = (beside.operations_ns.1, beside.requests_ns.1);
    let what = match beside.direction {
        Direction::Read => "reads",
        _ => "writes",
    };
    let says = match beside.place {
        TailPlace::Device => "the tail was the device's",
        TailPlace::Elsewhere => "the tail was outside the device",
        TailPlace::Both => "the tail was the device's in part",
    };
    format!(
        "{what}: p99 {} for the application, {} on {}: {says}",
        duration(own),
        duration(device),
        beside.device
    )
}

fn stalled(stalls: &[WritebackStall]) -> Option<String> {
    let each: Vec<String> = stalls
        .iter()
        .take(NAMED)
        .map(|stall| {
            let whose = if stall.is_ours { "" } else { " (not ours)" };
            format!(
                "{}{whose} {} times, {} in all, at most {}",
                stall.task,
                format_count(stall.count as f64),
                duration(stall.total_ns),
                duration(stall.max_ns)
            )
        })
        .collect();
    (!each.is_empty()).then(|| format!("by too much that was dirty: {}", each.join("; ")))
}

fn profile(profile: &Profile) -> String {
    let own = profile.own_samples.max(1) as f64;
    let named: Vec<String> = profile
        .by_own_function()
        .into_iter()
        .map(|(name, samples)| (name, samples as f64 / own))
        .filter(|(_, share)| *share >= SHARE_LEAST)
        .take(NAMED)
        .map(|(name, share)| format!("{:.0} % {name}", 100.0 * share))
        .collect();
    let mut text = format!(
        "{} of {} samples ({} Hz a CPU) ours",
        format_count(profile.own_samples as f64),
        format_count(profile.samples as f64),
        profile.hz
    );
    if !named.is_empty() {
        text.push_str(&format!(", of which {}", named.join(", ")));
    }
    if let Some(lost) = profile.lost_records {
        text.push_str(&format!("; {} lost", format_count(lost as f64)));
    }
    if let Some(reason) = &profile.without_symbols {
        text.push_str(&format!("; no names of functions: {reason}"));
    }
    text
}
