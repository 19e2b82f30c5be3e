//! What a job does, in a line.

use stiction_core::{
    Access, Action, Job, Phase, ProgramTrace, Rate, SizeMix, Sizes, format_bytes,
    format_duration_ns,
};

use crate::text::counted;

/// What a part did that played a trace.
pub(super) fn trace(trace: &ProgramTrace, job: &Job, phase: &Phase) -> String {
    let buffered = if job.direct { "direct" } else { "buffered" };
    let mut parts = vec![
        format!("a trace of {}", counted(trace.steps as usize, "step")),
        format!("{} at a time", trace.in_flight),
        buffered.to_owned(),
    ];
    if phase.elapsed_ns > 0 {
        let took = format_duration_ns(phase.elapsed_ns as f64);
        parts.push(format!("took {took}"));
    }
    parts.join(", ")
}

/// `random reads of 4 KiB, 4 clones, 32 in flight each, io_uring, direct, 10.0 s`
pub(super) fn job(job: &Job, phase: &Phase) -> String {
    let mut parts = vec![format!(
        "{} {} of {}",
        order(job.access),
        action(job.action),
        sizes(job)
    )];
    let clones = phase.workers.len().max(1);
    if clones > 1 {
        parts.push(counted(clones, "clone"));
    }
    if job.depth > 1 {
        let each = if clones > 1 { " each" } else { "" };
        parts.push(format!("{} in flight{each}", job.depth));
    }
    parts.push(job.backend.as_str().to_owned());
    parts.push(if job.direct { "direct" } else { "buffered" }.to_owned());
    parts.extend(job.pace.map(|pace| match pace.rate {
        Rate::OperationsPerS(rate) => format!("{rate}/s asked of each"),
        Rate::BytesPerS(rate) => format!("{}/s asked of each", format_bytes(rate)),
    }));
    if job.ramp_ns > 0 {
        let ramp = format_duration_ns(job.ramp_ns as f64);
        parts.push(format!("the first {ramp} not counted"));
    }
    if phase.elapsed_ns > 0 {
        parts.push(format!(
            "took {}",
            format_duration_ns(phase.elapsed_ns as f64)
        ));
    }
    parts.join(", ")
}

fn order(access: Access) -> &'static str {
    match access {
        Access::Sequential => "sequential",
        Access::RandomPermutation | Access::RandomIndependent => "random",
    }
}

fn action(action: Action) -> String {
    match action {
        Action::Read => "reads".to_owned(),
        Action::Write => "writes".to_owned(),
        Action::Trim => "trims".to_owned(),
        Action::TrimWrite => "trims and writes".to_owned(),
        Action::Mixed { reads_percent } => format!("reads ({reads_percent} %) and writes"),
    }
}

fn sizes(job: &Job) -> String {
    let Some(Sizes { read, write, trim }) = &job.sizes else {
        return format_bytes(job.block_size_bytes);
    };
    match job.action {
        Action::Read => mix(read),
        Action::Write => mix(write),
        Action::Trim | Action::TrimWrite => mix(trim),
        Action::Mixed { .. } if read == write => mix(read),
        Action::Mixed { .. } => format!("{} and {}", mix(read), mix(write)),
    }
}

fn mix(mix: &SizeMix) -> String {
    let (least, most) = (mix.min_bytes(), mix.max_bytes());
    if least == most {
        format_bytes(least)
    } else {
        format!("{} to {}", format_bytes(least), format_bytes(most))
    }
}
