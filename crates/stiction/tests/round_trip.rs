//! What the reports print in tiobench's layouts, the importer reads back: the same
//! figures to the last digit printed, or a figure that it says is unknown.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use stiction_core::{
    CaveatCode, Cell, Environment, Kernel, Measurement, Metric, Phase, PhaseKind, Provenance,
    RECORD_FORMAT_VERSION, Session, SessionHeader, SessionId, Trial, Unit, metrics,
};
use stiction_formats::read;
use stiction_report::tiobench::{
    ClassicOptions, Heads, Latencies, TiotestOptions, classic_0_3_3, classic_0_4, classic_old,
    posted, tiotest_terse, tiotest_verbose,
};

const MIB: f64 = 1_048_576.0;
const NAMES: [&str; 4] = ["write", "random_write", "read", "random_read"];

/// One phase of tiobench: what moved, how long it took, and how busy a thread was.
#[derive(Clone, Copy, Debug)]
struct Run {
    amount_mib: f64,
    time_s: f64,
    /// CPU time, s.
    user_s: f64,
    system_s: f64,
    /// Share of the time that a thread spent in operations, 0 to 1.
    busy: f64,
    /// Longest operation over the mean.
    longest: f64,
    over_2s_percent: f64,
}

impl Run {
    fn phase(self, name: &str, threads: u64, block: u64) -> Phase {
        let operations = self.amount_mib * MIB / block as f64;
        // Little's law, as the importer holds it against a report.
        let mean_ns = self.busy * self.time_s * 1e9 * threads as f64 / operations;
        let mut phase = Phase::new(name, PhaseKind::Measure);
        phase.measurements = [
            (metrics::RATE, self.amount_mib * MIB / self.time_s),
            (metrics::BYTES, self.amount_mib * MIB),
            (metrics::OPERATIONS, operations),
            (metrics::ELAPSED, self.time_s),
            (metrics::CPU_USER, self.user_s),
            (metrics::CPU_SYSTEM, self.system_s),
            (metrics::LATENCY_MEAN, mean_ns),
            (metrics::LATENCY_MAX, mean_ns * self.longest),
            (metrics::LATENCY_OVER_2S, self.over_2s_percent),
            (metrics::LATENCY_OVER_10S, self.over_2s_percent / 2.0),
        ]
        .into_iter()
        .map(|(metric, value)| Measurement::new(metric, value, 1))
        .collect();
        phase
    }
}

prop_compose! {
    fn run(threads: u64)(
        amount_mib in 1u32..100_000,
        rate in 0.01f64..4_000.0,
        cpu in 0.000_001f64..1.0,
        user in 0.0f64..1.0,
        busy in 0.0f64..0.999,
        longest in 1.0f64..10_000.0,
        over_2s_percent in prop_oneof![Just(0.0), 0.0f64..100.0],
    ) -> Run {
        let time_s = f64::from(amount_mib) / rate;
        let cpu_s = cpu * time_s * threads as f64;
        Run {
            amount_mib: f64::from(amount_mib),
            time_s,
            user_s: cpu_s * user,
            system_s: cpu_s * (1.0 - user),
            busy,
            longest,
            over_2s_percent,
        }
    }
}

fn trial(size_mib: u64, block: u64, threads: u64) -> impl Strategy<Value = Trial> {
    prop::array::uniform4(run(threads)).prop_map(move |runs| {
        let cell = Cell::new()
            .with("file_size_bytes", size_mib << 20)
            .with("block_size_bytes", block)
            .with("threads", threads);
        let mut trial = Trial::new(cell, 0);
        trial.phases = NAMES
            .iter()
            .zip(runs)
            .map(|(name, run)| run.phase(name, threads, block))
            .collect();
        trial
    })
}

/// Sessions of the driver's default thread counts, in one size and block size.
fn sessions() -> impl Strategy<Value = Session> {
    let blocks = prop::sample::select(vec![512u64, 4096, 16384, 65536]);
    (1u64..5000, blocks).prop_flat_map(|(size_mib, block)| {
        let trial = |threads| trial(size_mib, block, threads);
        (trial(1), trial(2), trial(4), trial(8))
            .prop_map(|(one, two, four, eight)| session(vec![one, two, four, eight]))
    })
}

fn session(trials: Vec<Trial>) -> Session {
    let started = "2002-11-30T10:59:12Z".parse().expect("a time");
    Session {
        header: SessionHeader {
            format_version: RECORD_FORMAT_VERSION,
            id: SessionId::new(started, 7),
            started,
            label: None,
            command: vec!["tiobench".to_owned()],
            provenance: Provenance::Measured,
            plan: None,
            environment: Environment {
                kernel: Some(Kernel {
                    release: "2.5.62".to_owned(),
                    ..Kernel::default()
                }),
                ..Environment::default()
            },
            invocation: None,
            caveats: Vec::new(),
        },
        trials,
        end: None,
        resumptions: Vec::new(),
    }
}

/// What a classic report can say of a phase.
fn known(phase: &Phase, metric: &Metric) -> Option<f64> {
    let cpu_percent = || {
        let cpu = phase.value(&metrics::CPU_USER)? + phase.value(&metrics::CPU_SYSTEM)?;
        Some(100.0 * cpu / phase.value(&metrics::ELAPSED)?)
    };
    match phase.value(metric) {
        Some(value) => Some(value),
        None if *metric == metrics::CPU_PERCENT => cpu_percent(),
        None if *metric == metrics::CPU_EFFICIENCY => {
            Some(phase.value(&metrics::RATE)? / cpu_percent()? * 100.0)
        }
        None if *metric == metrics::CPU_USER_PERCENT => {
            Some(100.0 * phase.value(&metrics::CPU_USER)? / phase.value(&metrics::ELAPSED)?)
        }
        None if *metric == metrics::CPU_SYSTEM_PERCENT => {
            Some(100.0 * phase.value(&metrics::CPU_SYSTEM)? / phase.value(&metrics::ELAPSED)?)
        }
        None => None,
    }
}

/// The trials that are read from a text, in which nothing else is left but lines that
/// begin with `prose`.
fn trials(text: &str, prose: Option<&str>) -> Result<Vec<Trial>, TestCaseError> {
    let imported = read(text);
    let is_prose = |line: &str| prose.is_some_and(|start| line.starts_with(start));
    let unread: Vec<&str> = imported
        .unread
        .iter()
        .map(|line| line.text.as_str())
        .filter(|line| !is_prose(line))
        .collect();
    prop_assert!(unread.is_empty(), "{:?}\n{}", unread, text);
    let sessions: [_; 1] = imported.sessions.try_into().expect("one session");
    let [session] = sessions;
    Ok(session.trials)
}

/// Holds every figure read from `text` against the session that it was printed of.
fn check(session: &Session, text: &str, metrics_printed: &[Metric]) -> Result<(), TestCaseError> {
    hold(session, &trials(text, None)?, text, metrics_printed)
}

/// Holds the figures of trials that were found in `text` against those of the session.
fn hold(
    session: &Session,
    found: &[Trial],
    text: &str,
    metrics_printed: &[Metric],
) -> Result<(), TestCaseError> {
    prop_assert_eq!(found.len(), session.trials.len(), "{}", text);
    let by_threads: BTreeMap<i64, &Trial> = found
        .iter()
        .filter_map(|trial| Some((trial.cell.integer("threads")?, trial)))
        .collect();
    for trial in &session.trials {
        let threads = trial.cell.integer("threads").expect("a level");
        let found = by_threads[&threads];
        for phase in &trial.phases {
            let read_back = found.phase(&phase.name);
            let read_back = read_back.expect("every phase is printed");
            for metric in metrics_printed {
                check_figure(phase, read_back, metric, text)?;
            }
        }
    }
    Ok(())
}

fn check_figure(
    phase: &Phase,
    read_back: &Phase,
    metric: &Metric,
    text: &str,
) -> Result<(), TestCaseError> {
    let wanted = known(phase, metric).expect("the session knows what its report prints");
    let Some(measurement) = read_back.measurement(metric) else {
        let says_so = read_back
            .caveats
            .iter()
            .any(|caveat| caveat.code == CaveatCode::DigitsLost);
        prop_assert!(says_so, "{} is lost in silence:\n{text}", metric.name);
        return Ok(());
    };
    let (mut low, mut high) = measurement.printed_range();
    if measurement.value == 0.0 {
        // A printed zero does not tell what it was printed in.
        let unit = printed_unit(metric);
        (low, high) = (low * unit, high * unit);
    }
    let slack = 1e-9 * wanted.abs().max(1e-9);
    prop_assert!(
        (low - slack..=high + slack).contains(&wanted),
        "{} of {} is {wanted}, read as {measurement:?}:\n{text}",
        metric.name,
        phase.name
    );
    Ok(())
}

/// What one in a table is in the metric's unit.
fn printed_unit(metric: &Metric) -> f64 {
    match metric.unit {
        Unit::BytesPerSecond | Unit::BytesPerSecondPerCpu | Unit::Bytes => MIB,
        Unit::Nanoseconds => 1e6,
        _ => 1.0,
    }
}

const DRIVER: &[Metric] = &[
    metrics::RATE,
    metrics::CPU_PERCENT,
    metrics::LATENCY_MEAN,
    metrics::LATENCY_MAX,
    metrics::LATENCY_OVER_2S,
    metrics::LATENCY_OVER_10S,
    metrics::CPU_EFFICIENCY,
];
/// 0.4 adds a thousandth of a percent to the CPU share before it divides by it, so
/// that its efficiency is another figure.
const DRIVER_0_4: &[Metric] = DRIVER.split_at(DRIVER.len() - 1).0;

/// The session with every trial run three times.
fn thrice(session: &Session) -> Session {
    let mut repeated = session.clone();
    repeated.trials = session
        .trials
        .iter()
        .flat_map(|trial| {
            (0..3).map(|repetition| Trial {
                repetition,
                ..trial.clone()
            })
        })
        .collect();
    repeated
}

/// The session in each of two directories.
fn in_each(session: &Session, directories: [&str; 2]) -> Session {
    let mut both = session.clone();
    both.trials = directories
        .into_iter()
        .flat_map(|directory| {
            session.trials.iter().map(move |trial| Trial {
                cell: trial.cell.clone().with("directory", directory),
                ..trial.clone()
            })
        })
        .collect();
    both
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn the_drivers_reports(session in sessions()) {
        let options = ClassicOptions::default();
        let headless = ClassicOptions { heads: Heads::Missing, ..ClassicOptions::default() };
        check(&session, &classic_0_3_3(&session, &options), DRIVER)?;
        check(&session, &classic_0_3_3(&session, &headless), DRIVER)?;
        check(&session, &classic_0_4(&session, &options), DRIVER_0_4)?;
        check(&session, &posted(&[&session], &options), DRIVER)?;
        let rates = [metrics::RATE, metrics::CPU_PERCENT];
        check(&session, &classic_old(&session, &options), &rates)?;
    }

    /// Sums over three runs are divided by three; means are left alone.
    #[test]
    fn reports_of_repeated_runs(session in sessions()) {
        let repeated = thrice(&session);
        let averaged = ClassicOptions::default();
        let summed = ClassicOptions { latencies: Latencies::SummedAsWas, ..ClassicOptions::default() };
        check(&session, &classic_0_3_3(&repeated, &averaged), DRIVER)?;
        check(&session, &classic_0_3_3(&repeated, &summed), DRIVER)?;
        check(&session, &classic_0_4(&repeated, &summed), DRIVER_0_4)?;
    }

    /// Directories are not taken for repetitions of each other, and what is said before
    /// and after the tables does not disturb them.
    #[test]
    fn reports_of_several_directories(session in sessions()) {
        let summed = ClassicOptions { latencies: Latencies::SummedAsWas, ..ClassicOptions::default() };
        for directories in [["/mnt/a", "/mnt/b"], ["/mnt/a blank", "/mnt/a/long/name/of/it"]] {
            let text = classic_0_3_3(&thrice(&in_each(&session, directories)), &summed);
            let found = trials(&text, Some("Directory "))?;
            prop_assert!(found.iter().all(|trial| trial.repetition == 0), "{}", text);
            let kernel = |trial: &Trial| trial.cell.get("kernel").map(ToString::to_string);
            let kernels: BTreeSet<Option<String>> = found.iter().map(kernel).collect();
            prop_assert_eq!(kernels.len(), 2, "{}", text);
            for one in kernels {
                let of_one: Vec<Trial> =
                    found.iter().filter(|trial| kernel(trial) == one).cloned().collect();
                hold(&session, &of_one, &text, DRIVER)?;
            }
        }
    }

    /// Without its command nothing says how many threads ran: one that ran alone is read
    /// all the same.
    #[test]
    fn terse_lines_without_their_command(session in sessions()) {
        let one = alone(&session.trials[0]);
        let text = tiotest_terse(&one);
        let found = trials(&text, None)?;
        prop_assert_eq!(found.len(), 1, "{}", text);
        for phase in &one.trials[0].phases {
            let read_back = found[0].phase(&phase.name).expect("every phase is printed");
            for metric in [metrics::BYTES, metrics::LATENCY_MEAN, metrics::LATENCY_MAX] {
                check_figure(phase, read_back, &metric, &text)?;
            }
            // The rate is worked out from an amount and a time of five decimals each.
            let value = |of: &Phase, metric| of.value(metric).expect("it is known");
            let time_s = value(phase, &metrics::ELAPSED);
            let amount_mib = value(phase, &metrics::BYTES) / MIB;
            let off = value(read_back, &metrics::RATE) / value(phase, &metrics::RATE) - 1.0;
            let allowed = 0.6e-5 / time_s + 0.6e-5 / amount_mib;
            prop_assert!(off.abs() <= allowed, "{}: {}\n{}", phase.name, off, text);
        }
    }

    #[test]
    fn the_programs_tables_and_lines(session in sessions()) {
        let latencies = [metrics::LATENCY_MEAN, metrics::LATENCY_MAX, metrics::LATENCY_OVER_2S];
        let shares = [metrics::CPU_USER_PERCENT, metrics::CPU_SYSTEM_PERCENT];
        let table = [metrics::RATE, metrics::ELAPSED, metrics::BYTES];
        let text = tiotest_verbose(&session, TiotestOptions::default());
        check(&session, &text, &[&table[..], &shares, &latencies].concat())?;
        for trial in &session.trials {
            let one = alone(trial);
            let threads = trial.cell.integer("threads").expect("a level");
            let text = format!("tiotest -t {threads} -T\n{}", tiotest_terse(&one));
            let times = [metrics::CPU_USER, metrics::CPU_SYSTEM];
            check(&one, &text, &[&table[1..], &times, &latencies].concat())?;
        }
    }
}

/// A session of one trial.
fn alone(trial: &Trial) -> Session {
    session(vec![trial.clone()])
}
