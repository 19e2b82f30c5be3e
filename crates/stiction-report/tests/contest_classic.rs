//! The layouts of contest, to the column, and back through the importer.

mod build;

use proptest::prelude::*;
use stiction_core::{Cell, Measurement, Metric, Phase, PhaseKind, Session, Trial, metrics};
use stiction_report::contest::{contest_0_5, contest_0_34, contest_0_34_summary, contest_0_61};

/// A run of a job beside a load.
#[derive(Clone, Copy, Debug)]
struct Run {
    load: &'static str,
    time_s: f64,
    cpu_s: f64,
    load_s: f64,
    load_cpu_s: f64,
    units: f64,
    files: f64,
}

impl Run {
    fn trial(self, repetition: u32) -> Trial {
        let mut phase = Phase::new("job", PhaseKind::Measure);
        let mut add = |metric: Metric, value: f64| {
            phase.measurements.push(Measurement::new(metric, value, 1));
        };
        add(metrics::ELAPSED, self.time_s);
        add(metrics::CPU_USER, 0.75 * self.cpu_s);
        add(metrics::CPU_SYSTEM, 0.25 * self.cpu_s);
        add(metrics::MAJOR_FAULTS, 742_000.0);
        add(metrics::MINOR_FAULTS, 1_169_497.0);
        if self.load != "no_load" {
            add(metrics::LOAD_ELAPSED, self.load_s);
            add(
                metrics::LOAD_CPU_PERCENT,
                100.0 * self.load_cpu_s / self.load_s,
            );
            add(metrics::LOAD_UNITS, self.units);
        }
        if self.load.starts_with("io_") {
            add(metrics::LOAD_FILES, self.files);
            add(metrics::LOAD_FILE_SIZE, 257_400.0 * 1024.0);
        }
        let mut trial = Trial::new(Cell::new().with("load", self.load), repetition);
        trial.phases = vec![phase];
        trial
    }
}

const ALONE: Run = Run {
    load: "no_load",
    time_s: 80.0,
    cpu_s: 75.0,
    load_s: 80.0,
    load_cpu_s: 0.0,
    units: 0.0,
    files: 0.0,
};

const HALF: Run = Run {
    load: "io_halfmem",
    time_s: 306.82,
    cpu_s: 267.5,
    load_s: 306.9,
    load_cpu_s: 31.0,
    units: 31.9,
    files: 32.0,
};

fn session(kernel: &str, runs: &[Run]) -> Session {
    let mut session = build::session();
    session.trials = runs.iter().map(|run| run.trial(0)).collect();
    session.header.label = Some(kernel.to_owned());
    session
}

/// The published lines of 2002 have these figures in these columns.
#[test]
fn the_log_of_0_34_is_as_it_was() {
    let alone = Run {
        time_s: 259.47,
        cpu_s: 258.0,
        ..ALONE
    };
    assert_eq!(
        contest_0_34(&session("k", &[alone, HALF])),
        "noload Time: 259.47  CPU: 99%  Major Faults: 742000  Minor Faults: 1169497\n\
         io_halfmem Time: 306.82  CPU: 87%  Major Faults: 742000  Minor Faults: 1169497\n\
         Was writing number 33 of a 257Mb sized io_load file after 307 seconds\n"
    );
    assert_eq!(
        contest_0_34_summary(&session("2.4.20(EXT2)", &[HALF])),
        "io_halfmem:\n\
         Kernel                          Time    CPU\n\
         2.4.20(EXT2)                    306.82  87%\n"
    );
}

/// 75 of 108 s are 69.4 %, 31 are 28.7 %, and 108 is 1.35 times 80.
#[test]
fn the_tables_of_0_61_are_as_they_were() {
    let loaded = Run {
        load: "process_load",
        time_s: 108.2,
        cpu_s: 74.8,
        load_s: 108.4,
        load_cpu_s: 31.2,
        units: 9.04,
        ..ALONE
    };
    // The column of the names is that of the longest one.
    assert_eq!(
        contest_0_61(&session("2.6.0-test4-mm1", &[loaded, ALONE])),
        "no_load:\n\
         Kernel          [runs]  Time    CPU%    Loads   LCPU%   Ratio\n\
         2.6.0-test4-mm1      1  80      93.8    0.0     0.0     1.00\n\
         process_load:\n\
         Kernel          [runs]  Time    CPU%    Loads   LCPU%   Ratio\n\
         2.6.0-test4-mm1      1  108     69.4    9.0     28.7    1.35\n"
    );
}

#[test]
fn the_tables_of_0_5x_are_as_they_were() {
    let alone = Run {
        time_s: 67.17,
        cpu_s: 65.2,
        ..ALONE
    };
    let loaded = Run {
        load: "io_load",
        time_s: 4000.0,
        cpu_s: 80.0,
        load_s: 4001.0,
        load_cpu_s: 400.1,
        units: 12.4,
        files: 12.0,
    };
    assert_eq!(
        contest_0_5(&session("2.4.19", &[alone, alone, loaded])),
        "noload:\n\
         Kernel [runs]           Time    CPU%    Loads   LCPU%   Ratio\n\
         2.4.19 [2]              67.2    97      0       0       1.00\n\
         \n\
         io_load:\n\
         Kernel [runs]           Time    CPU%    Loads   LCPU%   Ratio\n\
         2.4.19 [1]              4000.0  2       12      10      59.55\n"
    );
}

fn figures(text: &str) -> Vec<(String, Vec<Option<f64>>)> {
    let imported = stiction_formats::read(text);
    assert_eq!(imported.unread, [], "{text}");
    let trials = imported.sessions.iter().flat_map(|session| &session.trials);
    trials
        .map(|trial| {
            let phase = &trial.phases[0];
            let value = |metric: &Metric| phase.value(metric);
            let values = [
                metrics::ELAPSED,
                metrics::CPU_PERCENT,
                metrics::LOAD_UNITS,
                metrics::SLOWDOWN,
                metrics::LOAD_FILES,
            ];
            let load = trial.cell.get("load").unwrap().to_string();
            (load, values.iter().map(value).collect())
        })
        .collect()
}

proptest! {
    /// Half of the last digit is what a layout may lose, a whole one where it cuts.
    #[test]
    fn what_is_printed_reads_back(
        alone_s in 60.0f64..600.0, slowdown in 1.0f64..50.0, cpu in 0.1f64..1.9,
        units in 0.0f64..500.0, files in 0u32..500,
    ) {
        let alone = Run { time_s: alone_s, cpu_s: 0.9 * alone_s, ..ALONE };
        let time_s = alone_s * slowdown;
        let loaded = Run {
            load: "io_fullmem", time_s, cpu_s: cpu * time_s, load_s: time_s + 1.0,
            load_cpu_s: 0.1 * time_s, units, files: files.into(),
        };
        let session = session("2.5.43-mm2", &[alone, loaded]);
        for (text, time_step, cpu_step, units_step, ratio_step) in [
            (contest_0_61(&session), 0.5, 1.5, 0.05, 0.05 * slowdown + 0.01),
            (contest_0_5(&session), 0.05, 0.5, 0.5, 0.005),
            (contest_0_34(&session), 0.005, 1.0, 0.0, 0.0),
            (contest_0_34_summary(&session), 0.005, 1.0, 0.0, 0.0),
        ] {
            let read = figures(&text);
            prop_assert_eq!(read.len(), 2, "{}", text);
            let (load, values) = &read[1];
            prop_assert_eq!(load, "io_fullmem");
            let near = |value: Option<f64>, real: f64, step: f64| {
                value.is_none_or(|value| (value - real).abs() <= step + 1e-6)
            };
            prop_assert!(values[0].is_some() && near(values[0], time_s, time_step), "{text}");
            prop_assert!(values[1].is_some() && near(values[1], 100.0 * cpu, cpu_step), "{text}");
            prop_assert!(near(values[2], units, units_step), "{text}");
            prop_assert!(near(values[3], slowdown, ratio_step), "{text}");
            prop_assert!(near(values[4], files.into(), 0.0), "{text}");
        }
    }
}
