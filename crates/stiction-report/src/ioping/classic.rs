//! The text of ioping 1.3.

use std::fmt::Write as _;

use stiction_core::{Action, Phase, Session, TargetStack};

use super::{Statistics, requests};

/// Units from the largest to the smallest: what one is, and its sign.
type Units = &'static [(u64, &'static str)];

const TIMES: Units = &[
    (60_000_000_000, "min"),
    (1_000_000_000, "s"),
    (1_000_000, "ms"),
    (1000, "us"),
    (1, "ns"),
];
const SIZES: Units = &[
    (1 << 40, "TiB"),
    (1 << 30, "GiB"),
    (1 << 20, "MiB"),
    (1 << 10, "KiB"),
    (1, "B"),
];
const COUNTS: Units = &[(1_000_000_000, "G"), (1_000_000, "M"), (1000, "k"), (1, "")];

/// A number as ioping writes it: in the largest unit that it has one of, whole if it is,
/// else with one digit behind the point from ten on, and two below.
fn scaled(value: u64, units: Units) -> String {
    let fitting = units.iter().find(|(one, _)| value >= *one);
    let (one, sign) = fitting.copied().unwrap_or((1, units[units.len() - 1].1));
    let digits = match value {
        value if value % one == 0 => 0,
        value if value >= 10 * one => 1,
        _ => 2,
    };
    let number = format!("{:.digits$}", value as f64 / one as f64);
    match sign {
        "" => number,
        sign => format!("{number} {sign}"),
    }
}

/// The requests of the first run, a line each where each had an interval of its own, and
/// ioping's statistics of them.
#[must_use]
pub fn ioping_text(session: &Session) -> String {
    let phases = session.trials.iter().flat_map(|trial| &trial.phases);
    let Some(phase) = phases.into_iter().find(|phase| phase.name == "requests") else {
        return String::new();
    };
    let stack = session.header.environment.targets.first();
    let mut text = String::new();
    each(phase, stack, &mut text);
    statistics(phase, stack, &mut text);
    text
}

/// `/mnt (ext4 /dev/vda 252.0 GiB)`.
fn place(stack: Option<&TargetStack>) -> String {
    let Some(stack) = stack else {
        return String::new();
    };
    match &stack.filesystem {
        Some(filesystem) => format!(
            "{} ({} {} {})",
            stack.path,
            filesystem.kind,
            filesystem.source,
            scaled(
                stack
                    .layers
                    .first()
                    .map_or(filesystem.size_bytes, |layer| layer.size_bytes),
                SIZES
            )
        ),
        None => stack.path.clone(),
    }
}

fn request_bytes(phase: &Phase) -> u64 {
    phase.job.as_ref().map_or(0, |job| job.block_size_bytes)
}

fn writes(phase: &Phase) -> bool {
    phase
        .job
        .as_ref()
        .is_some_and(|job| job.action == Action::Write)
}

fn each(phase: &Phase, stack: Option<&TargetStack>, text: &mut String) {
    let (Some(job), Some(recording)) = (&phase.job, requests(phase)) else {
        return;
    };
    let counts = recording.intervals.iter().map(|one| one.latencies.count());
    if job.pace.is_none() || counts.max() > Some(1) {
        return;
    }
    let arrows = if writes(phase) { ">>>" } else { "<<<" };
    let made = recording
        .intervals
        .iter()
        .filter(|one| one.latencies.count() == 1);
    for (number, one) in (1..).zip(made) {
        let warm_up = if one.start_ns < job.ramp_ns {
            " (warmup)"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "{} {arrows} {}: request={number} time={}{warm_up}",
            scaled(job.block_size_bytes, SIZES),
            place(stack),
            scaled(one.latencies.sum_ns(), TIMES)
        );
    }
}

/// So much in a time, a second.
fn per_s(amount: u64, time_ns: u64) -> u64 {
    let per_s = u128::from(amount) * 1_000_000_000 / u128::from(time_ns.max(1));
    u64::try_from(per_s).unwrap_or(u64::MAX)
}

fn statistics(phase: &Phase, stack: Option<&TargetStack>, text: &mut String) {
    let Some(seen) = Statistics::of(phase) else {
        return;
    };
    let all = requests(phase).map_or(0, stiction_core::Recording::operations);
    let bytes = request_bytes(phase);
    let moved = bytes.saturating_mul(seen.count);
    let generated = bytes.saturating_mul(all);
    let ns = |ns: f64| scaled(ns as u64, TIMES);
    let _ = writeln!(
        text,
        "\n--- {} ioping statistics ---\n{} requests completed in {}, {} {}, {} iops, {}/s\n\
         generated {all} requests in {}, {}, {} iops, {}/s\nmin/avg/max/mdev = {} / {} / {} / {}",
        place(stack),
        scaled(seen.count, COUNTS),
        scaled(seen.sum_ns, TIMES),
        scaled(moved, SIZES),
        if writes(phase) { "written" } else { "read" },
        scaled(per_s(seen.count, seen.sum_ns), COUNTS),
        scaled(per_s(moved, seen.sum_ns), SIZES),
        scaled(phase.elapsed_ns, TIMES),
        scaled(generated, SIZES),
        scaled(per_s(all, phase.elapsed_ns), COUNTS),
        scaled(per_s(generated, phase.elapsed_ns), SIZES),
        ns(seen.min_ns),
        ns(seen.mean_ns),
        ns(seen.max_ns),
        ns(seen.mdev_ns),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use stiction_core::{
        Arrivals, Direction, Filesystem, Histogram, Interval, Job, LoopKind, Pace, PhaseKind, Rate,
        Recording,
    };

    #[test]
    fn numbers_have_ioping_s_digits() {
        assert_eq!(scaled(200_512, TIMES), "200.5 us");
        assert_eq!(scaled(6_510_123, TIMES), "6.51 ms");
        assert_eq!(scaled(4096, SIZES), "4 KiB");
        assert_eq!(scaled(302, COUNTS), "302");
        assert_eq!(scaled(1_237_319, SIZES), "1.18 MiB");
        assert_eq!(scaled(0, TIMES), "0 ns");
    }

    /// What ioping 1.3 printed of three requests, 100 ms apart.
    #[test]
    fn the_text_is_that_of_ioping() {
        let intervals = [200_500, 6_510_000, 95_500].into_iter().zip(0_u64..);
        let intervals = intervals.map(|(ns, number)| {
            let mut latencies = Histogram::new();
            latencies.record(ns);
            Interval {
                start_ns: number * 100_000_000,
                length_ns: 100_000_000,
                bytes: 4096,
                latencies,
            }
        });
        let mut phase = Phase::new("requests", PhaseKind::Measure);
        phase.elapsed_ns = 200_200_000;
        phase.recordings = vec![Recording {
            direction: Direction::Read,
            intervals: intervals.collect(),
        }];
        phase.job = Some(Job {
            ramp_ns: 100_000_000,
            interval_ns: 100_000_000,
            pace: Some(Pace {
                rate: Rate::OperationsPerS(10),
                by_way: None,
                arrivals: Arrivals::Fixed,
                kind: LoopKind::Closed,
            }),
            ..Job::default()
        });
        let stack = TargetStack {
            path: "/tmp/md.z".to_owned(),
            filesystem: Some(Filesystem {
                kind: "ext4".to_owned(),
                source: "/dev/vda".to_owned(),
                size_bytes: 270_582_939_648 + 1,
                ..Filesystem::default()
            }),
            layers: Vec::new(),
            missing: Vec::new(),
        };
        let mut text = String::new();
        each(&phase, Some(&stack), &mut text);
        statistics(&phase, Some(&stack), &mut text);
        assert_eq!(
            text,
            "\
4 KiB <<< /tmp/md.z (ext4 /dev/vda 252.0 GiB): request=1 time=200.5 us (warmup)
4 KiB <<< /tmp/md.z (ext4 /dev/vda 252.0 GiB): request=2 time=6.51 ms
4 KiB <<< /tmp/md.z (ext4 /dev/vda 252.0 GiB): request=3 time=95.5 us

--- /tmp/md.z (ext4 /dev/vda 252.0 GiB) ioping statistics ---
2 requests completed in 6.61 ms, 8 KiB read, 302 iops, 1.18 MiB/s
generated 3 requests in 200.2 ms, 12 KiB, 14 iops, 59.9 KiB/s
min/avg/max/mdev = 95.5 us / 3.30 ms / 6.51 ms / 3.21 ms
"
        );
    }
}
