//! Reports of fio: what is read from them is what they say.

use std::process::Command;

use serde_json::Value;
use stiction_core::{Metric, Phase, PhaseOutcome, metrics};
use stiction_formats::{Imported, read};

/// A report with one job that read and wrote, as fio 3.33 has it, cut to what is read.
const MIXED: &str = r#"{
  "fio version" : "fio-3.33",
  "time" : "Mon Nov 30 14:46:04 2026",
  "global options" : { "bs" : "4k", "time_based" : "" },
  "jobs" : [
    {
      "jobname" : "mix",
      "error" : 0,
      "job options" : { "rw" : "randrw" },
      "read" : {
        "io_bytes" : 8192, "io_kbytes" : 8, "bw_bytes" : 4096, "bw" : 4, "iops" : 1.000000,
        "runtime" : 2000, "total_ios" : 2,
        "slat_ns" : { "min" : 0, "max" : 0, "mean" : 0.0, "stddev" : 0.0, "N" : 0 },
        "clat_ns" : { "min" : 100, "max" : 300, "mean" : 200.0, "stddev" : 141.4, "N" : 2,
          "percentile" : { "50.000000" : 100, "99.000000" : 300 },
          "bins" : { "100" : 1, "300" : 1 } },
        "lat_ns" : { "min" : 110, "max" : 310, "mean" : 210.0, "stddev" : 141.4, "N" : 2 }
      },
      "write" : {
        "io_bytes" : 4096, "io_kbytes" : 4, "bw_bytes" : 2048, "bw" : 2, "iops" : 0.500000,
        "runtime" : 2000, "total_ios" : 1,
        "clat_ns" : { "min" : 600, "max" : 600, "mean" : 600.0, "stddev" : 0.0, "N" : 1,
          "percentile" : { "50.000000" : 604, "99.000000" : 604 },
          "bins" : { "604" : 1 } },
        "lat_ns" : { "min" : 660, "max" : 660, "mean" : 660.0, "stddev" : 0.0, "N" : 1 }
      },
      "trim" : { "io_bytes" : 0, "io_kbytes" : 0, "total_ios" : 0, "runtime" : 0 },
      "sync" : { "total_ios" : 4, "lat_ns" : { "min" : 10, "max" : 90, "mean" : 40.0,
        "stddev" : 1.0, "N" : 4, "percentile" : { "50.000000" : 30, "99.000000" : 90 } } },
      "job_runtime" : 4000, "usr_cpu" : 10.000000, "sys_cpu" : 30.000000,
      "ctx" : 9, "majf" : 1, "minf" : 7
    }
  ],
  "disk_util" : []
}
"#;

fn phases(imported: &Imported) -> &[Phase] {
    assert_eq!(imported.sessions.len(), 1, "{imported:?}");
    &imported.sessions[0].trials[0].phases
}

#[track_caller]
fn assert_is(phase: &Phase, metric: &Metric, value: f64) {
    let found = phase.value(metric);
    let near = found.is_some_and(|found| (found - value).abs() <= 1e-9 * value.abs());
    assert!(near, "{}: {found:?} is not {value}", metric.name);
}

/// By hand from the numbers above.
#[test]
fn directions_of_a_job_are_added_up() {
    let imported = read(MIXED);
    assert_eq!((imported.unread.len(), imported.messages.len()), (0, 0));
    let session = &imported.sessions[0];
    assert_eq!(session.layout, "fio-json+");
    assert_eq!(session.stated["fio"], "fio-3.33");
    assert_eq!(session.stated["options"], "--bs=4k --time_based");
    let [mix] = phases(&imported) else {
        panic!("{imported:?}");
    };
    assert_eq!((mix.name.as_str(), mix.elapsed_ns), ("mix", 2_000_000_000));
    assert_eq!(mix.notes, ["line 7", "--rw=randrw"]);
    for (metric, value) in [
        (metrics::RATE, 6144.0),
        (metrics::OPERATION_RATE, 1.5),
        (metrics::ELAPSED, 2.0),
        (metrics::BYTES, 12288.0),
        (metrics::OPERATIONS, 3.0),
        // 210, 210 and 660 in three.
        (metrics::LATENCY_MEAN, 360.0),
        (metrics::LATENCY_P50, 300.0),
        (metrics::LATENCY_MAX, 660.0),
        (metrics::SYNC_LATENCY_MEAN, 40.0),
        (metrics::SYNC_LATENCY_P50, 30.0),
        (metrics::SYNC_LATENCY_MAX, 90.0),
        // Two workers of two seconds each.
        (metrics::CPU_USER, 0.4),
        (metrics::CPU_SYSTEM, 1.2),
        (metrics::CPU_PERCENT, 80.0),
        (metrics::MAJOR_FAULTS, 1.0),
        (metrics::MINOR_FAULTS, 7.0),
    ] {
        assert_is(mix, &metric, value);
    }
    let rate = mix.measurement(&metrics::RATE).unwrap();
    assert_eq!(rate.printed.as_deref(), Some("4096+2048"));
    assert_eq!(mix.recordings.len(), 2);
    assert_eq!(mix.recordings[0].bytes(), 8192);
    assert_eq!(mix.recordings[0].total().min_ns(), Some(100));
}

#[test]
fn percentiles_of_two_directions_need_bins() {
    let without = MIXED.replace("\"bins\"", "\"no bins\"");
    let imported = read(&without);
    assert_eq!(imported.sessions[0].layout, "fio-json");
    let mix = &phases(&imported)[0];
    assert_eq!(mix.value(&metrics::LATENCY_P50), None);
    assert_is(mix, &metrics::LATENCY_MEAN, 360.0);
    assert!(mix.notes[2].contains("json+"), "{:?}", mix.notes);
}

#[test]
fn what_fio_says_beside_its_report_is_listed_and_not_in_the_way() {
    let text = format!("fio: note: both iodepth >= 1\n\n{MIXED}Run done\n");
    let imported = read(&text);
    assert_eq!(phases(&imported).len(), 1);
    assert_eq!(phases(&imported)[0].notes[0], "line 9");
    let unread: Vec<_> = imported
        .unread
        .iter()
        .map(|it| (it.line, &*it.text))
        .collect();
    let last = text.lines().count();
    assert_eq!(
        unread,
        [(1, "fio: note: both iodepth >= 1"), (last, "Run done")]
    );
}

/// `--status-interval`.
#[test]
fn of_reports_from_the_start_on_the_last_counts() {
    let last = MIXED.replace("\"bw_bytes\" : 4096", "\"bw_bytes\" : 10000");
    let imported = read(&format!("{MIXED}{last}"));
    assert_is(&phases(&imported)[0], &metrics::RATE, 12048.0);
    assert!(imported.messages[0].starts_with("2 reports"));
}

#[test]
fn a_damaged_report_is_said_with_its_line() {
    let cut = &MIXED[..MIXED.len() - 40];
    let imported = read(&format!("x\n{cut}"));
    assert_eq!(imported.sessions, []);
    let damaged = imported.unread.iter().find(|unread| unread.line == 2);
    assert!(damaged.unwrap().reason.starts_with("no JSON: EOF"));
}

#[test]
fn an_error_of_a_job_is_kept() {
    let imported = read(&MIXED.replace("\"error\" : 0", "\"error\" : 28"));
    let mix = &phases(&imported)[0];
    assert_eq!(mix.outcome, PhaseOutcome::EndedEarly);
    assert!(mix.caveats[0].detail.contains("error 28"));
    let nothing = MIXED
        .replace("\"error\" : 0", "\"error\" : 28")
        .replace("\"total_ios\"", "\"none\"");
    let imported = read(&nothing);
    assert!(matches!(
        phases(&imported)[0].outcome,
        PhaseOutcome::Failed { .. }
    ));
}

/// fio 2.x counted KiB and microseconds, and had other names for both.
#[test]
fn reports_before_3_0_have_other_units() {
    let text = r#"{
"fio version" : "fio-2.21",
"jobs" : [ { "jobname" : "old", "error" : 0,
  "read" : { "io_bytes" : 1024, "bw" : 512, "iops" : 128.0, "runtime" : 2000, "total_ios" : 256,
    "slat" : { "min" : 0, "max" : 0, "mean" : 0.0 },
    "clat" : { "min" : 1, "max" : 90, "mean" : 7.5, "percentile" : { "99.000000" : 61 } },
    "lat" : { "min" : 1, "max" : 91, "mean" : 8.0 } } } ]
}"#;
    let imported = read(text);
    let old = &phases(&imported)[0];
    for (metric, value) in [
        (metrics::RATE, 524_288.0),
        (metrics::BYTES, 1_048_576.0),
        (metrics::LATENCY_MEAN, 8_000.0),
        (metrics::LATENCY_P99, 61_000.0),
        (metrics::LATENCY_MAX, 91_000.0),
    ] {
        assert_is(old, &metric, value);
    }
}

#[test]
fn each_host_of_a_client_is_a_cell_and_their_sum_is_none() {
    let client = |host: &str, name: &str| {
        format!(
            r#"{{ "jobname" : "{name}", "hostname" : "{host}", "error" : 0,
            "read" : {{ "bw_bytes" : 5, "iops" : 1.0, "runtime" : 1, "total_ios" : 1 }} }}"#
        )
    };
    let text = format!(
        "{{\n\"fio version\" : \"fio-3.33\",\n\"client_stats\" : [ {}, {}, {}, {} ]\n}}",
        client("a", "x"),
        client("b", "x"),
        client("b", "x"),
        client("", "All clients"),
    );
    let trials = &read(&text).sessions[0].trials;
    let cells: Vec<_> = trials.iter().map(|trial| trial.cell.to_string()).collect();
    assert_eq!(cells, ["host=a", "host=b"]);
    let names: Vec<_> = trials[1].phases.iter().map(|phase| &*phase.name).collect();
    assert_eq!(names, ["x", "x 2"]);
}

/// fio's own report, read by another reader of JSON.
#[test]
fn a_report_of_fio_is_read_as_it_is() {
    testkit::require_program!("fio");
    let output = Command::new("fio")
        .args(["--output-format=json+", "--ioengine=null", "--size=1m"])
        .args(["--name=reads", "--rw=randread", "--bs=4k", "--iodepth=8"])
        .args(["--name=writes", "--stonewall", "--rw=write", "--bs=64k"])
        .current_dir(std::env::temp_dir())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let imported = read(&text);
    let phases = phases(&imported);
    assert_eq!(phases.len(), 2, "{text}");
    let start = text.find('{').unwrap();
    let report: Value = serde_json::from_str(&text[start..]).unwrap();
    for (place, (name, way)) in [("reads", "read"), ("writes", "write")].iter().enumerate() {
        let way = &report["jobs"][place][way];
        let phase = &phases[place];
        assert_eq!(phase.name, *name);
        assert_is(phase, &metrics::BYTES, 1_048_576.0);
        assert_is(phase, &metrics::RATE, way["bw_bytes"].as_f64().unwrap());
        assert_is(
            phase,
            &metrics::OPERATION_RATE,
            way["iops"].as_f64().unwrap(),
        );
        let mean = way["lat_ns"]["mean"].as_f64().unwrap();
        assert_is(phase, &metrics::LATENCY_MEAN, mean);
        let p50 = way["clat_ns"]["percentile"]["50.000000"].as_f64().unwrap();
        assert_is(phase, &metrics::LATENCY_P50, p50);
        let operations = way["total_ios"].as_u64().unwrap();
        assert_eq!(phase.recordings[0].operations(), operations);
    }
}
