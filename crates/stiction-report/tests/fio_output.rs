//! Sessions in fio's formats: figures by hand, from recordings of a few operations.

mod build;

use std::collections::BTreeMap;

use build::{session, trial};
use serde_json::{Value, json};
use stiction_core::{
    Action, CacheBefore, Caveat, CaveatCode, Cell, CpuTime, Depths, DeviceTraffic, Direction,
    Histogram, Interval, Job, Measurement, Phase, PhaseKind, PhaseOutcome, Plan, Program,
    ProgramPart, QueueTraffic, Recording, Region, Seed, Session, WorkerSummary, metrics,
};
use stiction_report::Judged;
use stiction_report::fio_output::{
    self, Bins, FioOutputError, LogKind, TerseVersion, requested_logs,
};

const MS: u64 = 1_000_000;

/// Operations of 4096 bytes, all as long as said: so many in each 100 ms.
fn recording(direction: Direction, counts: &[u64], latency_ns: u64) -> Recording {
    let intervals = (0..).zip(counts).map(|(place, &count)| {
        let mut latencies = Histogram::new();
        (0..count).for_each(|_| latencies.record(latency_ns));
        Interval {
            start_ns: place * 100 * MS,
            length_ns: 100 * MS,
            bytes: 4096 * count,
            latencies,
        }
    });
    Recording {
        direction,
        intervals: intervals.collect(),
    }
}

fn job(name: &str) -> Job {
    Job {
        name: name.to_owned(),
        regions: vec![Region {
            target: 0,
            offset_bytes: 0,
            length_bytes: 1 << 20,
        }],
        ..Job::default()
    }
}

/// A phase of a second that one worker was active in throughout.
fn phase(name: &str, recordings: Vec<Recording>) -> Phase {
    Phase {
        job: Some(job(name)),
        elapsed_ns: 1000 * MS,
        recordings,
        workers: vec![WorkerSummary {
            last_ns: 1000 * MS,
            cpu_ns: 300 * MS,
            switches_voluntary: 8,
            switches_involuntary: 2,
            faults_minor: 5,
            ..WorkerSummary::default()
        }],
        measurements: vec![
            Measurement::new(metrics::CPU_USER, 0.1, 1),
            Measurement::new(metrics::CPU_SYSTEM, 0.2, 1),
        ],
        ..Phase::new(name, PhaseKind::Measure)
    }
}

fn with_phases(phases: Vec<Phase>) -> Session {
    let mut session = session();
    session.trials = vec![trial(Cell::new(), 0, phases)];
    session
}

fn part(name: &str, group: u32, options: &[(&str, &str)]) -> ProgramPart {
    ProgramPart {
        phase: name.to_owned(),
        job: job(name),
        targets: Vec::new(),
        wave: group,
        group,
        reported_together: true,
        after: Vec::new(),
        delay_ns: (0, 0),
        ends: Default::default(),
        failure_ends_all: false,
        cache: CacheBefore::Keep,
        lay_down: false,
        verify_after: false,
        trace: None,
        options: options
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

fn as_program(session: &mut Session, parts: Vec<ProgramPart>, global: &[(&str, &str)]) {
    let program = Program {
        parts,
        global_options: global
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        ..Program::default()
    };
    session.header.plan = Some(Plan {
        workload: "fio".to_owned(),
        parameters: serde_json::to_value(program).unwrap(),
        seed: Seed(1),
        preparation: stiction_core::Preparation::default(),
        trials: Vec::new(),
    });
}

fn output(session: &Session, bins: Bins) -> Value {
    let text = fio_output::json(&Judged::examine(session), bins).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Twelve reads a window of half a second, then two windows' worth of a stall.
fn reads() -> Session {
    let reads = recording(Direction::Read, &[4, 4, 4, 0, 0, 0, 0, 0, 0, 0], 3_000);
    with_phases(vec![phase("reads", vec![reads])])
}

#[test]
fn the_head_is_fios() {
    let report = output(&reads(), Bins::Without);
    assert_eq!(report["fio version"], "fio-3.33-stiction-0.1.0");
    // 2002-11-30T11:00:12Z, a Saturday, when the session ended.
    assert_eq!(report["timestamp"], 1_038_654_012u64);
    assert_eq!(report["timestamp_ms"], 1_038_654_012_000u64);
    assert_eq!(report["time"], "Sat Nov 30 11:00:12 2002");
    assert_eq!(report["jobs"][0]["elapsed"], 1);
}

#[test]
fn totals_rates_and_samples_are_of_the_same_operations() {
    let report = output(&reads(), Bins::With);
    let job = &report["jobs"][0];
    assert_eq!(
        (&job["jobname"], &job["error"]),
        (&json!("reads"), &json!(0))
    );
    let read = &job["read"];
    for (key, value) in [
        ("io_bytes", json!(49_152)),
        ("io_kbytes", json!(48)),
        ("bw_bytes", json!(49_152)),
        ("bw", json!(48)),
        ("iops", json!(12.0)),
        ("runtime", json!(1000)),
        ("total_ios", json!(12)),
        // Half seconds of 96 KiB/s and of nothing: the stall is in the least.
        ("bw_min", json!(0)),
        ("bw_max", json!(96)),
        ("bw_mean", json!(48.0)),
        ("bw_agg", json!(100.0)),
        ("bw_samples", json!(2)),
        ("iops_min", json!(0)),
        ("iops_max", json!(24)),
        ("iops_mean", json!(12.0)),
        ("iops_samples", json!(2)),
    ] {
        assert_eq!(read[key], value, "{key}");
    }
    // Of 24 and 0: 12 off the mean each, divided by one less than two.
    assert!((read["iops_stddev"].as_f64().unwrap() - 288f64.sqrt()).abs() < 1e-9);
    assert_eq!(read["clat_ns"], read["lat_ns"]);
    assert_eq!(read["lat_ns"]["percentile"]["99.000000"], 3_000);
    assert_eq!(read["lat_ns"]["percentile"].as_object().unwrap().len(), 17);
    // fio's bucket from 2976 to 3007 ns.
    assert_eq!(read["lat_ns"]["bins"], json!({"2992": 12}));
    assert_eq!(read["slat_ns"]["N"], 0);
    assert_eq!(read["slat_ns"].get("percentile"), None);
    assert_eq!(job["write"]["runtime"], 0);
    assert_eq!(job["latency_us"]["4"], 100.0);
    assert_eq!(job["latency_us"]["2"], 0.0);
}

#[test]
fn what_workers_used_is_of_their_own_time() {
    let report = output(&reads(), Bins::Without);
    let job = &report["jobs"][0];
    assert_eq!(job["job_runtime"], 1000);
    assert!((job["usr_cpu"].as_f64().unwrap() - 10.0).abs() < 1e-9);
    assert!((job["sys_cpu"].as_f64().unwrap() - 20.0).abs() < 1e-9);
    assert_eq!((&job["ctx"], &job["minf"]), (&json!(10), &json!(5)));
    // One operation at a time has a depth of one, and fio's class of up to four.
    assert_eq!(job["iodepth_level"]["1"], 100.0);
    assert_eq!(job["iodepth_submit"]["4"], 100.0);
    assert_eq!(job["job options"]["rw"], "read");
    assert_eq!(job["job options"]["iodepth"], "1");
}

#[test]
fn depths_are_those_that_were_counted() {
    let mut session = reads();
    session.trials[0].phases[0].depths = Some(Depths {
        in_flight: [1, 2, 9, 0, 0, 0, 0],
        handed_over: [0, 3, 0, 1, 0, 0, 0],
        taken_back: [0, 4, 0, 0, 0, 0, 0],
    });
    let job = &output(&session, Bins::Without)["jobs"][0];
    assert_eq!(job["iodepth_level"]["4"], 75.0);
    assert_eq!(job["iodepth_submit"]["16"], 25.0);
    assert_eq!(job["iodepth_complete"]["4"], 100.0);
}

#[test]
fn submitting_calls_are_of_the_only_direction_or_of_none() {
    let submit = recording(Direction::Submit, &[12], 700);
    let mut session = reads();
    session.trials[0].phases[0].recordings.push(submit);
    let read = &output(&session, Bins::Without)["jobs"][0]["read"];
    assert_eq!(read["slat_ns"]["N"], 12);
    assert_eq!(read["slat_ns"]["mean"], 700.0);
    let writes = recording(Direction::Write, &[1], 5_000);
    session.trials[0].phases[0].recordings.push(writes);
    let job = &output(&session, Bins::Without)["jobs"][0];
    assert_eq!(job["read"]["slat_ns"]["N"], 0);
    assert_eq!(job["write"]["slat_ns"]["N"], 0);
    assert_eq!(job["write"]["total_ios"], 1);
}

#[test]
fn warm_up_is_left_out() {
    let mut session = reads();
    let phase = &mut session.trials[0].phases[0];
    phase.job.as_mut().unwrap().ramp_ns = 200 * MS;
    let job = &output(&session, Bins::Without)["jobs"][0];
    assert_eq!(job["read"]["total_ios"], 4);
    assert_eq!(job["read"]["runtime"], 800);
    assert_eq!(job["read"]["iops"], 5.0);
    assert_eq!(job["job_runtime"], 800);
    // CPU time is known for the whole only, and set against the whole.
    assert!((job["usr_cpu"].as_f64().unwrap() - 10.0).abs() < 1e-9);
}

/// Two jobs of a group, and a third after a barrier.
fn grouped() -> Session {
    let one = phase("one", vec![recording(Direction::Read, &[10; 10], 2_000)]);
    let other = phase(
        "other",
        vec![
            recording(Direction::Read, &[10; 10], 4_000),
            recording(Direction::Sync, &[1; 10], 90_000),
        ],
    );
    let mut last = phase("last", vec![recording(Direction::Write, &[5; 10], 1_000)]);
    last.start_ns = 2000 * MS;
    last.job.as_mut().unwrap().action = Action::Write;
    last.outcome = PhaseOutcome::Failed {
        message: "write of f at offset 0: No space left on device (os error 28)".to_owned(),
    };
    let mut session = with_phases(vec![one, other, last]);
    as_program(
        &mut session,
        vec![
            part("one", 0, &[("rw", "read")]),
            part(
                "other",
                0,
                &[("percentile_list", "50"), ("write_bw_log", "")],
            ),
            part(
                "last",
                1,
                &[
                    ("description", "after; the rest"),
                    ("write_lat_log", "p"),
                    ("log_avg_msec", "500"),
                ],
            ),
        ],
        &[("bs", "4k"), ("percentile_list", "90:50")],
    );
    session
}

#[test]
fn groups_are_one_entry_by_the_name_of_the_first() {
    let report = output(&grouped(), Bins::Without);
    assert_eq!(
        report["global options"],
        json!({"bs": "4k", "percentile_list": "90:50"})
    );
    let jobs = report["jobs"].as_array().unwrap();
    let names: Vec<_> = jobs.iter().map(|job| &job["jobname"]).collect();
    assert_eq!(names, ["one", "last"]);
    let one = &jobs[0];
    assert_eq!(one["read"]["total_ios"], 200);
    assert_eq!(one["read"]["runtime"], 1000);
    assert_eq!(one["read"]["iops_mean"], 200.0);
    // Half at 2 us and half at 4 us; the ways that are asked for, in rising order.
    let percentiles = json!({"50.000000": 2_000, "90.000000": 4_000});
    assert_eq!(one["read"]["lat_ns"]["percentile"], percentiles);
    assert_eq!(one["read"]["lat_ns"]["mean"], 3_000.0);
    assert_eq!(one["sync"]["total_ios"], 10);
    assert_eq!(one["sync"]["lat_ns"]["max"], 90_000);
    assert_eq!(one["job_runtime"], 2000);
    assert_eq!(one["job options"], json!({"rw": "read"}));
    let last = &jobs[1];
    assert_eq!((&last["groupid"], &last["error"]), (&json!(1), &json!(28)));
    assert_eq!(last["desc"], "after; the rest");
    assert_eq!(last["elapsed"], 3);
}

#[test]
fn directions_are_one_where_that_is_asked_for() {
    let mut session = grouped();
    let both = &mut session.trials[0].phases[0].recordings;
    both.push(recording(Direction::Write, &[3; 10], 8_000));
    let mut parts = vec![part("one", 0, &[("unified_rw_reporting", "mixed")])];
    parts[0].reported_together = false;
    as_program(&mut session, parts, &[]);
    let job = &output(&session, Bins::Without)["jobs"][0];
    assert_eq!(job["mixed"]["total_ios"], 130);
    assert_eq!(job.get("read"), None);
}

#[test]
fn disks_are_counted_once_for_jobs_that_ran_together() {
    let mut session = grouped();
    for phase in &mut session.trials[0].phases {
        phase.witnesses.devices = vec![DeviceTraffic {
            device: "vda".to_owned(),
            reads: 7,
            read_bytes: 4096,
            writes: 2,
            written_bytes: 1024,
            busy_ns: Some(250 * MS),
            queue: Some(QueueTraffic {
                read_merges: 1,
                write_merges: 2,
                read_ns: 30 * MS,
                write_ns: 40 * MS,
                queued_ns: 70 * MS,
            }),
            ..DeviceTraffic::default()
        }];
        phase.witnesses.process_cpu = Some(CpuTime::default());
    }
    let report = output(&session, Bins::Without);
    assert_eq!(
        report["disk_util"],
        json!([{"name": "vda", "read_ios": 14, "write_ios": 4, "read_sectors": 16,
                "write_sectors": 4, "read_merges": 2, "write_merges": 4, "read_ticks": 60,
                "write_ticks": 80, "in_queue": 140, "util": 25.0}])
    );
}

#[test]
fn doubts_are_fields_and_not_between_the_results() {
    let mut session = reads();
    let caveat = Caveat::new(CaveatCode::TooShort, "it took 1 s");
    session.trials[0].phases[0].caveats.push(caveat);
    let report = output(&session, Bins::Without);
    let warnings = report["warnings"].as_array().unwrap();
    assert!(
        warnings.contains(&json!("reads: too-short: it took 1 s")),
        "{warnings:?}"
    );
}

#[test]
fn repeated_trials_say_which_they_are() {
    let mut session = reads();
    let mut again = session.trials[0].clone();
    again.repetition = 1;
    again.cell = Cell::new().with("threads", 4u32);
    session.trials.push(again);
    let jobs = &output(&session, Bins::Without)["jobs"];
    assert_eq!(jobs[0]["desc"], "repetition=0");
    assert_eq!(jobs[1]["desc"], "threads=4 repetition=1");
    assert_eq!(jobs[1]["groupid"], 1);
}

#[test]
fn without_recordings_there_is_nothing_to_tell() {
    let session = with_phases(vec![Phase::new("read", PhaseKind::Measure)]);
    let judged = Judged::examine(&session);
    let nothing = Err(FioOutputError::NothingRecorded);
    assert_eq!(fio_output::json(&judged, Bins::With), nothing);
    assert_eq!(fio_output::terse(&session, TerseVersion::V3), nothing);
    assert_eq!(
        fio_output::logs(&session, "x", &LogKind::ALL, None),
        Err(FioOutputError::NothingRecorded)
    );
}

#[test]
fn terse_fields_stand_where_fio_has_them() {
    let text = fio_output::terse(&grouped(), TerseVersion::V3).unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
    // What fio has without disks, and a description.
    assert_eq!((lines[0].len(), lines[1].len()), (121, 122));
    let one = &lines[0];
    assert_eq!(one[..5], ["3", "fio-3.33-stiction-0.1.0", "one", "0", "0"]);
    assert_eq!(one[5..9], ["800", "800", "200", "1000"]);
    // clat in us, two percentiles of twenty, lat, bandwidth.
    assert_eq!(one[13..15], ["2", "4"]);
    assert_eq!(one[15], "3.000000");
    assert_eq!(one[17..20], ["50.000000%=2", "90.000000%=4", "0%=0"]);
    assert_eq!(one[36], "0%=0");
    assert_eq!(one[37..40], ["2", "4", "3.000000"]);
    assert_eq!(one[41..44], ["800", "800", "100.000000%"]);
    assert_eq!(one[87..92], ["10.000000%", "20.000000%", "20", "0", "10"]);
    assert_eq!(one[92..94], ["100.0%", "0.0%"]);
    // Up to 4 us, where 2 us are not below 2.
    assert_eq!(one[99..102], ["0.00%", "50.00%", "50.00%"]);
    let last = &lines[1];
    assert_eq!(last[4], "28");
    assert_eq!(last[121], "after  the rest", "no field more than there are");
    let text = fio_output::terse(&grouped(), TerseVersion::V5).unwrap();
    let first = text.lines().next().unwrap();
    assert_eq!(first.split(';').count(), 180);
    assert!(first.starts_with("5;"));
}

#[test]
fn logs_have_a_line_for_each_window_the_stall_included() {
    let logs = fio_output::logs(&reads(), "a/p", &LogKind::ALL, Some(500 * MS)).unwrap();
    let text = |name: &str| {
        let file = logs.iter().find(|file| file.name == name);
        file.unwrap_or_else(|| panic!("{name} in {logs:?}"))
            .text
            .as_str()
    };
    assert_eq!(text("a/p_bw.1.log"), "500, 96, 0, 0, 0\n1000, 0, 0, 0, 0\n");
    assert_eq!(
        text("a/p_iops.1.log"),
        "500, 24, 0, 0, 0\n1000, 0, 0, 0, 0\n"
    );
    // There is no mean of nothing.
    assert_eq!(text("a/p_lat.1.log"), "500, 3000, 0, 0, 0\n");
    assert_eq!(text("a/p_clat.1.log"), text("a/p_lat.1.log"));
    let counts: Vec<&str> = text("a/p_clat_hist.1.log").trim_end().split(", ").collect();
    assert_eq!(counts.len(), 3 + 1856);
    assert_eq!(counts[..3], ["500", "0", "4096"]);
    // 2048 ns begin bucket 6 * 64, each of that doubling is 32 ns wide, and 2976 is 29 on.
    let bucket = counts[3..].iter().position(|&count| count == "12");
    assert_eq!(bucket, Some(6 * 64 + 29));
    assert_eq!(logs.len(), 5, "no submitting call was timed");
    let finer = fio_output::logs(&reads(), "p", &[LogKind::Iops], None).unwrap();
    assert_eq!(finer[0].text.lines().count(), 10, "as it was recorded");
}

#[test]
fn logs_that_a_job_file_asks_for_are_named_and_cut_as_it_says() {
    let logs = requested_logs(&grouped()).unwrap();
    let names: Vec<&str> = logs.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["other_bw.2.log", "p_lat.3.log", "p_clat.3.log"]);
    assert_eq!(logs[0].text.lines().count(), 10);
    assert_eq!(logs[1].text, "500, 1000, 1, 0, 0\n1000, 1000, 1, 0, 0\n");
}
