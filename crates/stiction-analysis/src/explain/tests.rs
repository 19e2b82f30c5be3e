//! Explanations of sessions of which the truth is known.

use stiction_core::{
    Cell, Cpu, CpuTime, DeviceTraffic, Environment, JournalTraffic, Layout, Measurement, Phase,
    PhaseKind, Plan, Provenance, QueueTraffic, RECORD_FORMAT_VERSION, Seed, Session, SessionHeader,
    SessionId, Trial, WorkerSummary, metrics,
};

use super::*;
use crate::compare::{CompareOptions, Side};

const MIB: u64 = 1 << 20;
const SECOND_NS: u64 = 1_000_000_000;

/// A session of that many blocks of the configurations `names`.
fn session(names: &[&str], blocks: u32, phase: impl Fn(&str, u32) -> Phase) -> Session {
    let started: jiff::Timestamp = "2026-11-30T10:00:00Z".parse().unwrap();
    let configurations: Vec<_> = names
        .iter()
        .map(|name| {
            // Two names of one configuration end in a number.
            let own = name.trim_end_matches(char::is_numeric);
            serde_json::json!({
                "name": name,
                "command": "stiction write-and-fsync --size=48",
                "settings": {"mount_options": format!("data={own}")},
            })
        })
        .collect();
    let mut session = Session {
        header: SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, 7),
            started,
            label: None,
            command: vec!["stiction".to_owned(), "ab".to_owned()],
            provenance: Provenance::Measured,
            plan: Some(Plan {
                workload: "write-and-fsync".to_owned(),
                parameters: serde_json::json!({
                    "configurations": configurations,
                    "factors": ["mount_options"],
                }),
                seed: Seed(1),
                trials: Vec::new(),
                preparation: stiction_core::Preparation::default(),
            }),
            invocation: None,
            environment: Environment {
                cpu: Some(Cpu {
                    online: 2,
                    ..Cpu::default()
                }),
                ..Environment::default()
            },
            caveats: Vec::new(),
        },
        trials: Vec::new(),
        resumptions: Vec::new(),
        end: None,
    };
    for block in 0..blocks {
        // Either side is first in every other block.
        let mut order = names.to_vec();
        if block % 2 == 1 {
            order.reverse();
        }
        for name in order {
            let own = name.trim_end_matches(char::is_numeric);
            let cell = Cell::new()
                .with("configuration", name)
                .with("mount_options", format!("data={own}"));
            session.trials.push(Trial {
                block: Some(block),
                phases: vec![phase(name, block)],
                settings: vec![stiction_core::Applied {
                    asked: stiction_core::Setting::new("mount_options", format!("data={own}")),
                    found: None,
                    also_changed: Vec::new(),
                }],
                ..Trial::new(cell, block)
            });
        }
    }
    session
}

/// A write of 64 MiB at so many MiB/s, of which the device wrote `times` as much.
fn written(rate_mib_per_s: f64, times: f64, logged_blocks: u64) -> Phase {
    let elapsed_ns = (64.0 / rate_mib_per_s * 1e9) as u64;
    let mut phase = Phase::new("write", PhaseKind::Measure);
    phase.elapsed_ns = elapsed_ns;
    let rate = rate_mib_per_s * MIB as f64;
    phase
        .measurements
        .push(Measurement::new(metrics::RATE, rate, 64));
    phase.workers.push(WorkerSummary {
        operations: 64,
        bytes: 64 * MIB,
        last_ns: elapsed_ns,
        cpu_ns: 100_000_000,
        cpu_system_ns: 80_000_000,
        run_delay_ns: Some(10_000_000),
        ..WorkerSummary::default()
    });
    phase.witnesses.devices.push(DeviceTraffic {
        device: "loop0".to_owned(),
        writes: 64,
        written_bytes: (times * (64 * MIB) as f64) as u64,
        flushes: Some(1),
        busy_ns: Some(elapsed_ns * 9 / 10),
        queue: Some(QueueTraffic {
            write_ns: 64 * 1_000_000,
            queued_ns: 64 * 1_000_000,
            ..QueueTraffic::default()
        }),
        ..DeviceTraffic::default()
    });
    let between = |count| stiction_core::Between {
        least: count,
        most: count,
    };
    phase.witnesses.filesystems.journals.push(JournalTraffic {
        device: "loop0".to_owned(),
        transactions: 2,
        logged_blocks: between(logged_blocks),
        ..JournalTraffic::default()
    });
    phase
}

fn sides<'a>(session: &'a Session) -> Vec<Side<'a>> {
    Side::of_each_level(session, "configuration").unwrap()
}

/// Rates of a side wobble by a percent or so from block to block.
fn wobble(block: u32) -> f64 {
    1.0 + 0.004 * f64::from((block * 7) % 5)
}

fn journal_story(names: &[&str]) -> Session {
    session(names, 10, |name, block| {
        if name.starts_with("journal") {
            written(30.0 * wobble(block), 2.02, 17_000)
        } else {
            written(60.0 * wobble(block + 1), 1.01, 12)
        }
    })
}

#[test]
fn data_in_the_journal_are_named_as_doubled_writes_of_jbd2() {
    let session = journal_story(&["ordered", "journal"]);
    let sides = sides(&session);
    let found = explain(&sides[0], &sides[1], None, &CompareOptions::default());

    let attribution = found.attribution.as_ref().unwrap();
    assert_eq!(attribution.one_thing(), Some("mount_options"));
    let [phase] = &found.phases[..] else {
        panic!("{:?}", found.phases)
    };
    let together = phase.together.as_ref().unwrap();
    let moved: Vec<&str> = together.moved.iter().map(|one| one.name).collect();
    assert!(moved.contains(&"bytes written by the device"), "{moved:?}");
    assert!(
        moved.contains(&"jbd2 blocks written to the journal"),
        "{moved:?}"
    );
    // The same of all runs of both sides.
    assert!(!moved.contains(&"jbd2 transactions"), "{moved:?}");
    assert_eq!(phase.readings[0].theme, Theme::JournaledData);
    let text = &phase.readings[0].text;
    assert!(
        text.contains("doubled writes") && text.contains("jbd2"),
        "{text}"
    );
    assert!(text.contains("1.01 in A and 2.02 in B"), "{text}");
    assert_eq!(
        found.next[0].what,
        "stiction ab --blocks 10 --set mount_options=data=journal --b-set journal=external \
         write-and-fsync --size=48"
    );
}

/// The configuration of A once more, under another name: there the effect is gone.
#[test]
fn a_change_that_is_taken_back_takes_the_effect_with_it() {
    let session = journal_story(&["ordered", "journal", "ordered2"]);
    let sides = sides(&session);
    assert!(sides[2].is_once_more(&sides[0]) && !sides[1].is_once_more(&sides[0]));
    let options = CompareOptions::default();
    let found = explain(&sides[0], &sides[1], Some(&sides[2]), &options);
    let back = found.attribution.unwrap().taken_back.unwrap();
    let [phase] = &back.phases[..] else {
        panic!("{back:?}")
    };
    assert_eq!((phase.fate, phase.is_sure), (Fate::Went, true));
    assert!(
        phase.b_percent < -45.0 && phase.back_percent.abs() < 2.0,
        "{phase:?}"
    );
    // Taken back in a side that is as B is: it stayed.
    let found = explain(&sides[0], &sides[1], Some(&sides[1]), &options);
    let back = found.attribution.unwrap().taken_back.unwrap();
    assert_eq!(back.phases[0].fate, Fate::Stayed);
}

/// 64 MiB in 2 s: 31.25 ms each. CPU 100 ms of it 80 in the kernel, 10 ms without a CPU,
/// 1890 asleep; the device worked for 1800 of 2000, so for 1690 to 1800 of the sleep.
#[test]
fn the_time_is_split_as_arithmetic_has_it() {
    let phase = written(32.0, 1.0, 0);
    let split = time::time_split(&[&phase], crate::decompose::Per::Mebibyte).unwrap();
    let is = |found: f64, wanted_ms: f64| {
        assert!(
            (found * 1e3 * 64.0 - wanted_ms).abs() < 1e-6,
            "{found} {wanted_ms}"
        );
    };
    is(split.total_s, 2000.0);
    is(split.user_s.unwrap(), 20.0);
    is(split.system_s.unwrap(), 80.0);
    is(split.cpu_wait_s.unwrap(), 10.0);
    let (device, unknown) = (split.device_wait_s.unwrap(), split.unknown_s.unwrap());
    is(device.lowest, 1690.0);
    is(device.highest, 1800.0);
    is(unknown.lowest, 90.0);
    is(unknown.highest, 200.0);
    assert_eq!(split.largest(), Some(Part::DeviceWait));
    assert_eq!(split.writeback_wait_s, None);
    assert!(split.unseen.iter().any(|text| text.contains("writeback")));
}

/// The same where nobody counted the waiting for a CPU: all of the 1900 ms without one may
/// have been that, and none of it is laid to the device for sure.
#[test]
fn what_may_be_waiting_for_a_cpu_is_not_laid_to_the_device() {
    let mut phase = written(32.0, 1.0, 0);
    for worker in &mut phase.workers {
        worker.run_delay_ns = None;
    }
    phase.witnesses.delays = None;
    let split = time::time_split(&[&phase], crate::decompose::Per::Run).unwrap();
    assert_eq!(split.cpu_wait_s, None);
    let (device, unknown) = (split.device_wait_s.unwrap(), split.unknown_s.unwrap());
    let is = |found: f64, wanted_s: f64| assert!((found - wanted_s).abs() < 1e-9, "{found}");
    is(device.lowest, 0.0);
    is(device.highest, 1.8);
    is(unknown.lowest, 0.1);
    is(unknown.highest, 1.9);
    assert_eq!(split.largest(), None);
}

/// Two files of 32 MiB, read in order: apart, or block by block.
fn read(rate_mib_per_s: f64, extents: u64, owner_changes: u64) -> Phase {
    let mut phase = written(rate_mib_per_s, 0.0, 0);
    phase.name = "read".to_owned();
    phase.witnesses.filesystems.journals.clear();
    let device = &mut phase.witnesses.devices[0];
    device.read_bytes = 64 * MIB;
    device.reads = extents.max(64);
    phase.witnesses.layout = Some(Layout {
        files: 2,
        file_bytes: 64 * MIB,
        placed_bytes: 64 * MIB,
        extents,
        owner_changes,
        owner_changes_min: 1,
        owner_changes_max: 16_383,
        ..Layout::default()
    });
    phase
}

/// One run of each side: nothing can be tested, and the layout is told all the same.
#[test]
fn intermingled_files_are_named_from_one_run_a_side() {
    let of = |name: &'static str, phase: Phase| {
        let mut one = session(&[name], 1, |_, _| phase.clone());
        one.header.label = Some(name.to_owned());
        one.header.id = SessionId::new(one.header.started, name.len() as u64);
        one.trials[0].cell = Cell::new();
        one.trials[0].block = None;
        one
    };
    let apart = of("apart", read(21.8, 2, 1));
    let woven = of("intermingled", read(0.49, 16_384, 16_383));
    let (a, b) = (Side::whole(&apart), Side::whole(&woven));
    let found = explain(&a, &b, None, &CompareOptions::default());
    let phase = &found.phases[0];
    let together = phase.together.as_ref().unwrap();
    assert_eq!((together.method, together.moved.len()), (None, 0));
    assert!(
        together
            .differing
            .iter()
            .any(|one| one.group == Group::Layout)
    );
    let change = phase.lie_change().unwrap();
    assert_eq!(
        (change.a.interleave_ratio, change.b.interleave_ratio),
        (Some(0.0), Some(1.0))
    );
    assert_eq!(change.b.run_bytes_mean, 4096.0);
    assert_eq!(phase.readings[0].theme, Theme::Layout);
    let text = &phase.readings[0].text;
    assert!(
        text.contains("intermingled 0.00 in A and 1.00 in B"),
        "{text}"
    );
    let next = &found.next[0];
    assert!(next.what.contains("stiction layout"), "{next:?}");
}

/// A job file that writes and then reads: what the read is consistent with comes first, since
/// it differs most. What was said of the files is no difference, and what is to be typed is
/// what `fio` takes.
#[test]
fn the_phase_that_differs_most_says_what_to_run_next() {
    let of = |name: &'static str, phases: [Phase; 2], order: &str| {
        let mut one = session(&[name], 1, |_, _| phases[0].clone());
        one.header.label = Some(name.to_owned());
        one.header.id = SessionId::new(one.header.started, name.len() as u64);
        one.header.command = vec!["stiction".to_owned(), "fio".to_owned(), "a.fio".to_owned()];
        let plan = one.header.plan.as_mut().unwrap();
        plan.workload = "fio".to_owned();
        plan.parameters = serde_json::json!({
            "order": order,
            "doubts": [format!("{name}.fio:13:1: it fits into memory")],
        });
        let target = stiction_core::TargetStack {
            path: "/mnt/disk".to_owned(),
            filesystem: None,
            layers: Vec::new(),
            missing: Vec::new(),
        };
        one.header.environment.targets.push(target);
        one.trials[0].cell = Cell::new();
        one.trials[0].block = None;
        one.trials[0].settings.clear();
        one.trials[0].phases = phases.to_vec();
        one
    };
    let mut kept_dirty = written(90.0, 1.0, 0);
    kept_dirty.witnesses.filesystems.journals.clear();
    let mut cleaned = written(100.0, 1.0, 0);
    cleaned.witnesses.filesystems.journals.clear();
    kept_dirty.witnesses.devices[0].writes *= 40;
    let apart = of("apart", [cleaned, read(21.8, 2, 1)], "sequential");
    let woven = [kept_dirty, read(0.49, 16_384, 16_383)];
    let woven = of("intermingled", woven, "roundrobin");
    let (a, b) = (Side::whole(&apart), Side::whole(&woven));
    let found = explain(&a, &b, None, &CompareOptions::default());
    assert_eq!(found.attribution.unwrap().things, ["order"]);
    assert!(
        found.next[0].what.contains("stiction layout"),
        "{:?}",
        found.next
    );
    let typed: Vec<&str> = found
        .next
        .iter()
        .filter(|one| one.is_command)
        .map(|one| one.what.as_str())
        .collect();
    assert!(
        !typed.is_empty()
            && typed
                .iter()
                .all(|one| one.contains("fio a.fio --dir /mnt/disk")),
        "{typed:?}"
    );
}

#[test]
fn one_side_says_where_its_time_went() {
    let mut one = journal_story(&["ordered"]);
    one.trials.truncate(1);
    let found = explain_one(&Side::whole(&one));
    assert_eq!((found.b, found.phases.len()), (None, 1));
    assert_eq!(found.phases[0].runs, (1, 0));
    assert!(found.phases[0].times.0.is_some() && found.phases[0].together.is_none());
    assert!(
        found.next[0].what.ends_with("--witness full"),
        "{:?}",
        found.next
    );
}

#[test]
fn a_rule_that_would_slow_the_faster_side_is_silent() {
    // More is written in B, and B is the faster one.
    let session = session(&["ordered", "journal"], 10, |name, block| {
        let is_b = name == "journal";
        let rate = if is_b { 60.0 } else { 30.0 };
        written(rate * wobble(block), if is_b { 2.0 } else { 1.0 }, 12)
    });
    let sides = sides(&session);
    let found = explain(&sides[0], &sides[1], None, &CompareOptions::default());
    let themes: Vec<Theme> = found.phases[0]
        .readings
        .iter()
        .map(|one| one.theme)
        .collect();
    assert!(!themes.contains(&Theme::WrittenMore), "{themes:?}");
}

/// The queue held 64 ms of requests in 2 s, and the sums of their times are the same.
#[test]
fn identities_hold_where_the_figures_agree() {
    let mut phase = written(32.0, 1.0, 0);
    let found = check::checks(&[&phase], Some(2));
    let queue = |found: &[Check]| {
        let mut all = found.iter();
        *all.find(|one| one.identity == Identity::QueueAndTime)
            .unwrap()
    };
    assert!(queue(&found).holds());
    assert!((queue(&found).left - 0.032).abs() < 1e-12);
    phase.witnesses.devices[0].queue.as_mut().unwrap().queued_ns *= 2;
    let found = check::checks(&[&phase], Some(2));
    assert!(!queue(&found).holds());
    assert!((queue(&found).left - 0.064).abs() < 1e-12);
    assert!((queue(&found).right - 0.032).abs() < 1e-12);
    // 2 CPUs for 2 s are 4 s.
    phase.witnesses.system_cpu = Some(stiction_core::SystemCpu {
        idle_ns: 3 * SECOND_NS,
        user_ns: SECOND_NS,
        ..stiction_core::SystemCpu::default()
    });
    phase.witnesses.process_cpu = Some(CpuTime::default());
    let found = check::checks(&[&phase], Some(2));
    let all = found.iter();
    let cpus = all
        .filter(|one| one.identity == Identity::ProcessorsAndTime)
        .collect::<Vec<_>>();
    assert_eq!((cpus[0].left, cpus[0].right), (4.0, 4.0));
}

fn proposed(configuration: impl Fn(&mut serde_json::Value), setting: (&str, &str)) -> String {
    let mut session = journal_story(&["ordered", "journal"]);
    for trial in &mut session.trials {
        let asked = stiction_core::Setting::new(setting.0, setting.1);
        trial.settings.push(stiction_core::Applied {
            asked,
            found: None,
            also_changed: Vec::new(),
        });
    }
    let plan = session.header.plan.as_mut().unwrap();
    let all = plan.parameters["configurations"].as_array_mut().unwrap();
    all.iter_mut().for_each(configuration);
    let sides = sides(&session);
    let found = explain(&sides[0], &sides[1], None, &CompareOptions::default());
    found.next[0].what.clone()
}

/// A setting of the whole machine is refused without the word that grants it.
#[test]
fn a_proposed_run_grants_what_it_takes() {
    let line = proposed(|_| {}, ("governor", "performance"));
    let granted = "--set governor=performance --b-set journal=external --global-settings ";
    assert!(line.contains(granted), "{line}");
    let line = proposed(|_| {}, ("scheduler", "none"));
    assert!(!line.contains("--global-settings"), "{line}");
}

#[test]
fn a_proposed_run_stands_on_what_the_session_stood_on() {
    let on_file = |one: &mut serde_json::Value| one["scratch_bytes"] = (2048 * MIB).into();
    let line = proposed(on_file, ("scheduler", "none"));
    assert!(line.contains(" --scratch-size 2048MiB "), "{line}");
    let on_device = |one: &mut serde_json::Value| {
        one["scratch_bytes"] = (2048 * MIB).into();
        one["scratch_device"] = "/dev/sdx".into();
    };
    let line = proposed(on_device, ("scheduler", "none"));
    assert!(line.contains(" --scratch /dev/sdx=SERIAL "), "{line}");
    assert!(!line.contains("--scratch-size"), "{line}");
}
