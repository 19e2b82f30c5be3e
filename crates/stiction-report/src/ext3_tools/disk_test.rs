//! The lines of the disk test of 2002: one for all devices and one for each, and the
//! block lines of the mail before it.

use std::fmt::Write as _;

use stiction_core::{Phase, PhaseKind, Session, metrics};

use super::files::target_path;

const MIB: f64 = 1_048_576.0;

/// What the test printed for every phase: a line for all devices, then one for each.
///
/// ```text
/// Completed writing 98304 mbytes across 8 devices using 98304 blocks of 1048576 in 579.935968 seconds (169.51 Mbytes/sec), 44717usec mean
///  #0 (FILE) 12GB in 571.327206s using 12k writes of 1M (21.51MB/sec), 40876usec
/// ```
///
/// Mbytes are MiB. Each device's time for a block is its own time over its blocks: the
/// original's figures contradicted its rates by up to half.
#[must_use]
pub fn disk_test(session: &Session) -> String {
    let mut text = String::new();
    for phase in measured(session) {
        write_disk_test(&mut text, session, phase);
    }
    text
}

fn measured(session: &Session) -> impl Iterator<Item = &Phase> {
    session
        .trials
        .iter()
        .flat_map(|trial| &trial.phases)
        .filter(|phase| phase.kind == PhaseKind::Measure && phase.has_numbers())
}

fn write_disk_test(text: &mut String, session: &Session, phase: &Phase) {
    let Some(job) = &phase.job else {
        return;
    };
    let writes = job.action.writes();
    let (doing, done) = if writes {
        ("writing", "writes")
    } else {
        ("reading", "reads")
    };
    let value = |metric| phase.value(metric).unwrap_or(0.0);
    let (bytes, elapsed_s) = (value(&metrics::BYTES), value(&metrics::ELAPSED));
    let _ = writeln!(
        text,
        "Completed {doing} {:.0} mbytes across {} devices using {:.0} blocks of {} in \
         {elapsed_s:.6} seconds ({:.2} Mbytes/sec), {:.0}usec mean",
        bytes / MIB,
        phase.workers.len(),
        value(&metrics::OPERATIONS),
        job.block_size_bytes,
        bytes / MIB / elapsed_s,
        value(&metrics::LATENCY_MEAN) / 1e3,
    );
    for (number, worker) in phase.workers.iter().enumerate() {
        let seconds = worker.last_ns as f64 / 1e9;
        let rate = worker.bytes as f64 / MIB / seconds;
        let each_us = seconds * 1e6 / worker.operations.max(1) as f64;
        let _ = writeln!(
            text,
            " #{number} ({}) {}B in {seconds:.6}s using {} {done} of {} ({rate:.2}MB/sec), {each_us:.0}usec",
            target_path(session, number),
            short(worker.bytes),
            short(worker.operations),
            short(job.block_size_bytes),
        );
    }
}

/// `12G`, `12k`, `1M`, `300`: the largest unit of 1024s that divides it; of two cases,
/// as the test printed them.
fn short(number: u64) -> String {
    let units = [(1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")];
    let whole = units
        .iter()
        .find(|(unit, _)| number > 0 && number.is_multiple_of(*unit));
    match whole {
        Some((unit, name)) => format!("{}{name}", number / unit),
        None => number.to_string(),
    }
}

/// A line for each rung, as in the mail of July 2002 on raw devices:
///
/// ```text
/// normal 167772160 blocks of 512 bytes in 778 seconds (105.27 mbyte/sec), CPUs 0% idle
/// ```
///
/// The idle share is of all CPUs, from the kernel's own count; it was read by eye then,
/// and is `?` where it is not known.
#[must_use]
pub fn block_lines(session: &Session) -> String {
    let mut text = String::new();
    for phase in measured(session) {
        let Some(job) = &phase.job else {
            continue;
        };
        let value = |metric| phase.value(metric).unwrap_or(0.0);
        let idle = phase.witnesses.system_cpu.and_then(|cpu| {
            let idle = cpu.idle_ns + cpu.io_wait_ns;
            let all = cpu.busy_ns() + idle;
            (all > 0).then(|| format!("{:.0}", 100.0 * idle as f64 / all as f64))
        });
        let _ = writeln!(
            text,
            "{} {:.0} blocks of {} bytes in {:.0} seconds ({:.2} mbyte/sec), CPUs {}% idle",
            old_name(&phase.name),
            value(&metrics::OPERATIONS),
            job.block_size_bytes,
            value(&metrics::ELAPSED),
            value(&metrics::RATE) / MIB,
            idle.as_deref().unwrap_or("?"),
        );
    }
    text
}

/// What the mail called a rung; those that came later have their own names.
fn old_name(rung: &str) -> &str {
    match rung {
        "uncached" => "normal",
        "direct" => "O_DIRECT",
        "device" => "/dev/raw",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_that_divide() {
        for (number, text) in [
            (12 << 30, "12G"),
            (12_288, "12k"),
            (1 << 20, "1M"),
            (4096, "4k"),
            (200 << 20, "200M"),
            (1000, "1000"),
            (0, "0"),
        ] {
            assert_eq!(short(number), text);
        }
    }
}
