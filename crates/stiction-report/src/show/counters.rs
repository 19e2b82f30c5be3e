//! The counters that explain a phase, in words: of each the figures that matter, and of
//! rare things only those that happened.

use stiction_core::{
    Between, BtrfsCounters, Delay, JournalTraffic, PressureSeen, ProcessIo, TaskDelays,
    Temperature, Witnesses, XfsCounters, format_bytes, format_count, format_duration_ns,
};

/// What was counted, by name.
pub(super) fn counters(witnesses: &Witnesses) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    facts.extend(
        witnesses
            .delays
            .map(|delays| ("waits", delays_text(delays))),
    );
    if let Some(pressure) = &witnesses.pressure {
        facts.push(("pressure", pressure_text(pressure)));
    }
    facts.extend(witnesses.process_io.map(|io| ("calls", calls_text(io))));
    let filesystems = &witnesses.filesystems;
    let busy = filesystems.journals.iter();
    for journal in busy.filter(|journal| journal.transactions > 0) {
        facts.push(("journal", journal_text(journal)));
    }
    for xfs in &filesystems.xfs {
        facts.push(("XFS", xfs_text(xfs)));
    }
    for btrfs in &filesystems.btrfs {
        facts.push(("btrfs", btrfs_text(btrfs)));
    }
    if let Some(text) = heat_text(witnesses) {
        facts.push(("heat", text));
    }
    if !witnesses.unexplained.is_empty() {
        facts.push(("not told", witnesses.unexplained.join("; ")));
    }
    facts
}

fn delays_text(delays: TaskDelays) -> String {
    let mut parts = vec![format!("for a CPU {}", delay_text(delays.cpu))];
    let devices = delays.block_io.map(delay_text);
    parts.extend(devices.map(|text| format!("for devices {text}")));
    for (what, delay) in [
        ("swap", delays.swap_in),
        ("free memory", delays.reclaim),
        ("pages dropped just before", delays.thrashing),
        ("memory to be compacted", delays.compaction),
        ("copies of shared pages", delays.copy_on_write),
    ] {
        let delay = delay.filter(|delay| delay.count > 0);
        parts.extend(delay.map(|delay| format!("for {what} {}", delay_text(delay))));
    }
    parts.join(", ")
}

fn delay_text(delay: Delay) -> String {
    let ns = format_duration_ns(delay.ns as f64);
    format!("{ns} in {} waits", format_count(delay.count as f64))
}

fn pressure_text(pressure: &PressureSeen) -> String {
    let waited = pressure.waited;
    let parts: Vec<String> = [
        ("CPU", waited.cpu_some_ns),
        ("I/O", waited.io_some_ns),
        ("memory", waited.memory_some_ns),
    ]
    .into_iter()
    .filter_map(|(what, ns)| Some(format!("{what} {}", format_duration_ns(ns? as f64))))
    .collect();
    let whose = if pressure.is_of_machine() {
        "the machine's tasks"
    } else {
        "our group's tasks"
    };
    format!("{} for which {whose} waited", parts.join(", "))
}

fn calls_text(io: ProcessIo) -> String {
    let mut text = format!(
        "{} read in {} calls, {} of it from below the cache; {} written in {} calls",
        format_bytes(io.read_call_bytes),
        format_count(io.read_calls as f64),
        format_bytes(io.read_bytes),
        format_bytes(io.write_call_bytes),
        format_count(io.write_calls as f64),
    );
    if io.cancelled_bytes > 0 {
        let bytes = format_bytes(io.cancelled_bytes);
        text.push_str(&format!(", {bytes} given up before they were written back"));
    }
    text
}

fn journal_text(journal: &JournalTraffic) -> String {
    let noun = if journal.transactions == 1 {
        "transaction"
    } else {
        "transactions"
    };
    let count = format_count(journal.transactions as f64);
    let mut text = format!("{}: {count} {noun}", journal.journal);
    if let Some(requested) = journal.requested {
        text.push_str(&format!(" ({} asked for)", format_count(requested as f64)));
    }
    text.push_str(&format!(
        ", {} blocks logged",
        between_text(journal.logged_blocks, format_count)
    ));
    for (time, what) in [
        (journal.waiting_ns, "waiting for one to begin"),
        (journal.flushing_ns, "waiting for data"),
    ] {
        if time.least > 0 {
            let time = between_text(time, format_duration_ns);
            text.push_str(&format!(", {time} {what}"));
        }
    }
    if let Some(ns) = journal.commit_ns_recent_mean {
        let ns = format_duration_ns(ns as f64);
        text.push_str(&format!(", a commit lately took {ns}"));
    }
    text
}

/// One number where both are the same to the reader.
fn between_text(between: Between, format: fn(f64) -> String) -> String {
    let (least, most) = (format(between.least as f64), format(between.most as f64));
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

fn xfs_text(xfs: &XfsCounters) -> String {
    let count = |count: u64| format_count(count as f64);
    let mut text = format!(
        "{}: {} extents allocated, {} to the log in {} writes, {} forced",
        xfs.device,
        count(xfs.extents_allocated),
        format_bytes(xfs.log_bytes),
        count(xfs.log_writes),
        count(xfs.log_forces),
    );
    for (times, what) in [
        (xfs.log_buffer_waits, "waits for a log buffer"),
        (xfs.log_space_waits, "waits for space in the log"),
    ] {
        if times > 0 {
            text.push_str(&format!(", {} {what}", count(times)));
        }
    }
    text
}

fn btrfs_text(btrfs: &BtrfsCounters) -> String {
    let commits = format_count(btrfs.commits as f64);
    let took = format_duration_ns(btrfs.commit_ns as f64);
    format!("{}: {commits} commits, {took} in all", btrfs.device)
}

fn heat_text(witnesses: &Witnesses) -> Option<String> {
    let heat = witnesses.heat.as_ref()?;
    let mut parts: Vec<String> = heat.temperatures.iter().map(temperature_text).collect();
    let throttles = heat.core_throttles.max(heat.package_throttles);
    if let Some(times) = throttles.filter(|&times| times > 0) {
        let times = format_count(times as f64);
        parts.push(format!("a CPU was slowed down {times} times"));
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn temperature_text(seen: &Temperature) -> String {
    let celsius = |milli: i64| format!("{:.0}", milli as f64 / 1000.0);
    let (before, after) = (
        celsius(seen.before_millicelsius),
        celsius(seen.after_millicelsius),
    );
    if before == after {
        format!("{} {after} C", seen.sensor)
    } else {
        format!("{} {before} to {after} C", seen.sensor)
    }
}

#[cfg(test)]
mod tests {
    use stiction_core::{FilesystemCounters, Heat, Pressure};

    use super::*;

    fn text(witnesses: &Witnesses) -> String {
        let lines = counters(witnesses);
        let lines: Vec<String> = lines.iter().map(|(k, v)| format!("{k}: {v}")).collect();
        lines.join("\n")
    }

    #[test]
    fn what_was_counted_is_told() {
        let exactly = |number| Between {
            least: number,
            most: number,
        };
        let witnesses = Witnesses {
            delays: Some(TaskDelays {
                version: 16,
                cpu: Delay {
                    count: 900,
                    ns: 1_500_000_000,
                },
                block_io: Some(Delay {
                    count: 40,
                    ns: 20_000_000,
                }),
                swap_in: Some(Delay::default()),
                reclaim: Some(Delay {
                    count: 2,
                    ns: 5_000_000,
                }),
                ..TaskDelays::default()
            }),
            pressure: Some(PressureSeen {
                source: "/proc/pressure".to_owned(),
                waited: Pressure {
                    cpu_some_ns: Some(1_000_000_000),
                    io_some_ns: Some(30_000_000),
                    ..Pressure::default()
                },
            }),
            process_io: Some(ProcessIo {
                read_call_bytes: 256 << 20,
                read_calls: 256,
                read_bytes: 1 << 20,
                ..ProcessIo::default()
            }),
            filesystems: FilesystemCounters {
                journals: vec![JournalTraffic {
                    device: "vda".to_owned(),
                    journal: "vda-8".to_owned(),
                    transactions: 20,
                    requested: Some(19),
                    logged_blocks: Between {
                        least: 160,
                        most: 179,
                    },
                    flushing_ns: exactly(8_000_000),
                    commit_ns_recent_mean: Some(2_500_000),
                    ..JournalTraffic::default()
                }],
                xfs: vec![XfsCounters {
                    device: "sdb".to_owned(),
                    extents_allocated: 25,
                    log_writes: 20,
                    log_bytes: 80 << 10,
                    log_forces: 21,
                    log_space_waits: 3,
                    ..XfsCounters::default()
                }],
                btrfs: vec![BtrfsCounters {
                    device: "sdc".to_owned(),
                    commits: 2,
                    commit_ns: 30_000_000,
                    commit_ns_max_since_mount: 20_000_000,
                }],
                ..FilesystemCounters::default()
            },
            heat: Some(Heat {
                temperatures: vec![Temperature {
                    sensor: "nvme0n1 Composite".to_owned(),
                    before_millicelsius: 40_850,
                    after_millicelsius: 71_850,
                    ..Temperature::default()
                }],
                core_throttles: Some(6),
                ..Heat::default()
            }),
            unexplained: vec!["waits for devices: kernel.task_delayacct is 0".to_owned()],
            ..Witnesses::default()
        };
        let expected = "\
waits: for a CPU 1.50 s in 900 waits, for devices 20.0 ms in 40 waits, \
for free memory 5.00 ms in 2 waits
pressure: CPU 1.00 s, I/O 30.0 ms for which the machine's tasks waited
calls: 256 MiB read in 256 calls, 1 MiB of it from below the cache; 0 B written in 0 calls
journal: vda-8: 20 transactions (19 asked for), 160 to 179 blocks logged, \
8.00 ms waiting for data, a commit lately took 2.50 ms
XFS: sdb: 25 extents allocated, 80 KiB to the log in 20 writes, 21 forced, \
3 waits for space in the log
btrfs: sdc: 2 commits, 30.0 ms in all
heat: nvme0n1 Composite 41 to 72 C, a CPU was slowed down 6 times
not told: waits for devices: kernel.task_delayacct is 0";
        assert_eq!(text(&witnesses), expected);
    }

    #[test]
    fn nothing_is_told_of_what_was_not_counted() {
        assert_eq!(text(&Witnesses::default()), "");
        let idle = Witnesses {
            filesystems: FilesystemCounters {
                journals: vec![JournalTraffic {
                    journal: "vda-8".to_owned(),
                    ..JournalTraffic::default()
                }],
                ..FilesystemCounters::default()
            },
            ..Witnesses::default()
        };
        assert_eq!(text(&idle), "");
    }
}
