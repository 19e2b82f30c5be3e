//! The default report: by how much each load slows the job down, and what of the load is
//! left meanwhile.

use std::fmt;

use stiction_analysis::slowdown::{Run, Slowdown, slowdown};
use stiction_core::{Phase, Session, Trial, Unit, format_bytes, metrics};

use super::plot::{Mark, plot};
use super::{is_of, job, loads};
use crate::ext3_tools::{begin, end, median};
use crate::figure::{measured, significant};
use crate::judged::Judged;
use crate::page::{Column, Role, Span, Style, Table};

/// What one load came to, medians over its runs.
#[derive(Clone, Debug, Default, PartialEq)]
struct Row {
    load: String,
    runs: usize,
    /// The shortest and the longest run, s.
    range_s: (f64, f64),
    time_s: f64,
    cpu_s: f64,
    /// Time over that without a load; `None` of that itself.
    slowdown: Option<Slowdown>,
    /// Time in which the job neither ran nor could have, s: see [`waited_s`].
    waited_s: Option<f64>,
    /// Rate of the load beside the job over that alone.
    retention: Option<f64>,
    load_rate: Option<(Unit, f64)>,
    /// What whole files alone tell of it.
    load_files: Option<Files>,
    load_cpu_percent: Option<f64>,
    drain_s: Option<f64>,
    io_pressure_s: Option<f64>,
}

/// The whole files that a load had done from its start to its end, over all runs, and
/// what they say of its rate: it is no less than they are, and less than with the ones in
/// progress.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Files {
    runs: usize,
    whole: f64,
    file_bytes: f64,
    elapsed_s: f64,
}

impl Files {
    fn of(phases: &[&Phase]) -> Option<Self> {
        let sum = |metric| -> Option<f64> { phases.iter().map(|phase| phase.value(metric)).sum() };
        let files = Self {
            runs: phases.len(),
            whole: sum(&metrics::LOAD_FILES)?,
            file_bytes: phases.first()?.value(&metrics::LOAD_FILE_SIZE)?,
            elapsed_s: sum(&metrics::LOAD_ELAPSED)?,
        };
        (files.elapsed_s > 0.0).then_some(files)
    }

    /// Bytes per second, at least and at most.
    fn bounds(&self) -> (f64, f64) {
        let rate = |files: f64| files * self.file_bytes / self.elapsed_s;
        (rate(self.whole), rate(self.whole + self.runs as f64))
    }
}

/// Elapsed time less what the job's CPU time takes when all its slots, or all CPUs, are
/// busy: what more work of the CPU does not explain.
fn waited_s(time_s: f64, cpu_s: f64, slots: u32, cpus: u32) -> f64 {
    (time_s - cpu_s / f64::from(slots.min(cpus).max(1))).max(0.0)
}

/// The table of all loads, the doubts, and the answer.
#[must_use]
pub fn contest(judged: &Judged<'_>, style: Style) -> String {
    let session = judged.session();
    let mut page = begin(session, "stiction contest", style);
    let rows = rows(session);
    let sums = checksums(session);
    if let Some(line) = job_line(session, &sums) {
        page.line(line);
    }
    if !rows.is_empty() {
        page.blank();
        page.table(0, &job_table(&rows));
    }
    if rows.iter().any(|row| row.slowdown.is_some()) {
        page.blank();
        page.table(0, &load_table(&rows));
    }
    for row in &rows {
        if let Some(files) = row.load_files {
            page.paragraph("  ", Span::new(Role::Faint, files_line(&row.load, files)));
        }
    }
    if rows.iter().any(|row| row.load_rate.is_some()) {
        let drawn = plot(&marks(&rows));
        if !drawn.is_empty() {
            page.blank();
        }
        for line in drawn {
            page.line(line);
        }
        page.blank();
        page.paragraph(
            "",
            Span::new(
                Role::Faint,
                "slowdown: time over that without a load, with its bounds at 95 % from four runs \
                 on. kept: the load's rate beside the job over its rate alone. Of two systems \
                 the better one has less slowdown at the same share kept, and not just less \
                 slowdown.",
            ),
        );
    }
    if let Some(bytes) = cut_memory_bytes(session) {
        page.paragraph(
            "- ",
            Span::new(
                Role::Doubt,
                format!(
                    "There was space for files of {} alone, less than the memory: what is \
                     read may come from memory. Choose another directory, or --may-fill.",
                    format_bytes(bytes)
                ),
            ),
        );
    }
    if sums.len() > 1 {
        page.paragraph(
            "- ",
            Span::new(
                Role::Bad,
                "The job did not make the same of the same work: its checksums differ.",
            ),
        );
    }
    end(page, judged, &[], answer(&rows))
}

fn rows(session: &Session) -> Vec<Row> {
    let alone = runs(session, "no_load");
    loads(&session.trials)
        .iter()
        .filter_map(|load| row(session, load, &alone))
        .collect()
}

/// The runs of a load. They are of rounds where each load had its turn before any again.
fn runs(session: &Session, load: &str) -> Vec<Run> {
    let plan = session.header.plan.as_ref();
    let took_turns = plan.and_then(|plan| plan.parameters.get("classic")?.as_bool()) == Some(false);
    of_jobs(session, load, |trial| {
        let round = u64::from(trial.block.unwrap_or(0)) << 32 | u64::from(trial.repetition);
        Some(Run {
            round: (took_turns || trial.block.is_some()).then_some(round),
            elapsed_s: job(trial)?.value(&metrics::ELAPSED)?,
        })
    })
}

/// The job of each run of a load.
fn of_phases<'a>(trials: &'a [Trial], load: &str) -> Vec<&'a Phase> {
    let trials = trials.iter().filter(|trial| is_of(trial, load));
    trials.filter_map(job).collect()
}

/// A figure of each run of a load that has it.
fn of_jobs<T>(session: &Session, load: &str, figure: impl Fn(&Trial) -> Option<T>) -> Vec<T> {
    let trials = session.trials.iter().filter(|trial| is_of(trial, load));
    trials
        .filter(|trial| job(trial).is_some())
        .filter_map(figure)
        .collect()
}

fn row(session: &Session, load: &str, alone: &[Run]) -> Option<Row> {
    let runs = runs(session, load);
    let times: Vec<f64> = runs.iter().map(|run| run.elapsed_s).collect();
    let time_s = median(times.clone())?;
    let value = |metric| median(of_jobs(session, load, |trial| job(trial)?.value(metric)));
    let cpu_s = median(of_jobs(session, load, |trial| {
        let phase = job(trial)?;
        Some(phase.value(&metrics::CPU_USER)? + phase.value(&metrics::CPU_SYSTEM)?)
    }));
    let rate = |trial: &Trial, phase: &str| {
        let phase = trial.phase(phase)?;
        let bytes = phase.value(&metrics::LOAD_RATE);
        bytes.or_else(|| phase.value(&metrics::LOAD_STEP_RATE))
    };
    let retention = of_jobs(session, load, |trial| {
        let alone = rate(trial, "load_alone").filter(|&alone| alone > 0.0)?;
        Some(rate(trial, "job")? / alone)
    });
    let load_rate = value(&metrics::LOAD_RATE)
        .map(|rate| (Unit::BytesPerSecond, rate))
        .or_else(|| value(&metrics::LOAD_STEP_RATE).map(|rate| (Unit::OperationsPerSecond, rate)));
    let drain = of_jobs(session, load, |trial| {
        Some(trial.phase("drain")?.elapsed_ns as f64 / 1e9)
    });
    Some(Row {
        load: load.to_owned(),
        runs: times.len(),
        range_s: (
            times.iter().copied().fold(f64::INFINITY, f64::min),
            times.iter().copied().fold(0.0, f64::max),
        ),
        time_s,
        cpu_s: cpu_s.unwrap_or(0.0),
        slowdown: (load != "no_load")
            .then(|| slowdown(alone, &runs))
            .flatten(),
        waited_s: slots_and_cpus(session)
            .zip(cpu_s)
            .map(|((slots, cpus), cpu_s)| waited_s(time_s, cpu_s, slots, cpus)),
        retention: median(retention),
        load_rate,
        load_files: Files::of(&of_phases(&session.trials, load)),
        load_cpu_percent: value(&metrics::LOAD_CPU_PERCENT),
        drain_s: median(drain),
        io_pressure_s: value(&metrics::PRESSURE_IO_SOME),
    })
}

fn slots_and_cpus(session: &Session) -> Option<(u32, u32)> {
    let plan = session.header.plan.as_ref()?;
    let slots = plan.parameters.get("slots")?.as_u64()?;
    let cpus = session.header.environment.cpu.as_ref()?.allowed;
    Some((u32::try_from(slots).ok()?, cpus))
}

/// What the loads took for the memory, where that is less than the memory for want of
/// space.
fn cut_memory_bytes(session: &Session) -> Option<u64> {
    let parameters = &session.header.plan.as_ref()?.parameters;
    let is_cut = parameters.get("memory_cut")?.as_bool()?;
    is_cut
        .then(|| parameters.get("memory_bytes")?.as_u64())
        .flatten()
}

/// The sums that the jobs told, each once.
fn checksums(session: &Session) -> Vec<&str> {
    let mut found: Vec<&str> = session
        .trials
        .iter()
        .filter_map(job)
        .flat_map(|phase| &phase.notes)
        .filter_map(|note| note.strip_prefix("checksum "))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn job_line(session: &Session, sums: &[&str]) -> Option<String> {
    let parameters = &session.header.plan.as_ref()?.parameters;
    let name = parameters.get("timed")?.get("job")?.as_str()?;
    let slots = parameters.get("slots")?.as_u64()?;
    let units = parameters["timed"]
        .get("units_count")
        .and_then(serde_json::Value::as_u64);
    let units = units.map_or_else(String::new, |units| format!("{units} units, "));
    let sum = match sums {
        [sum] => format!(", checksum {sum}"),
        _ => String::new(),
    };
    Some(format!("job: {name}, {units}{slots} at once{sum}"))
}

fn text(value: Option<impl fmt::Display>) -> Span {
    value
        .map_or_else(String::new, |value| value.to_string())
        .into()
}

fn seconds(value: f64) -> String {
    measured(Unit::Seconds, value)
}

fn job_table(rows: &[Row]) -> Table {
    let mut table = Table::new(vec![
        Column::left("load", 12),
        Column::right("runs", 4),
        Column::right("time", 8),
        Column::right("from", 8),
        Column::right("to", 8),
        Column::right("CPU", 8),
        Column::right("waited", 8),
        Column::right("I/O stall", 9),
    ]);
    for row in rows {
        let several = row.runs > 1;
        table.row(vec![
            row.load.as_str().into(),
            row.runs.to_string().into(),
            Span::new(Role::Strong, seconds(row.time_s)),
            text(several.then(|| seconds(row.range_s.0))),
            text(several.then(|| seconds(row.range_s.1))),
            seconds(row.cpu_s).into(),
            text(row.waited_s.map(seconds)),
            text(row.io_pressure_s.map(seconds)),
        ]);
    }
    table
}

fn load_table(rows: &[Row]) -> Table {
    let mut table = Table::new(vec![
        Column::left("load", 12),
        Column::right("slowdown", 8),
        Column::right("at 95 %", 12),
        Column::right("kept", 7),
        Column::right("load's rate", 11),
        Column::right("load's CPU", 10),
        Column::right("drained in", 10),
    ]);
    for row in rows
        .iter()
        .filter(|row| row.slowdown.is_some() || row.load_rate.is_some())
    {
        let share = |share: f64| format!("{} %", significant(100.0 * share, 2));
        table.row(vec![
            row.load.as_str().into(),
            text(
                row.slowdown
                    .map(|slowdown| format!("{:.2}", slowdown.ratio)),
            ),
            text(row.slowdown.map(|slowdown| bounds(slowdown, row.runs))),
            text(row.retention.map(share)),
            text(row.load_rate.map(|(unit, rate)| measured(unit, rate))),
            text(
                row.load_cpu_percent
                    .map(|share| measured(Unit::Percent, share)),
            ),
            text(row.drain_s.map(seconds)),
        ]);
    }
    table
}

/// `1.98-2.12`, or how many runs do not give bounds.
fn bounds(slowdown: Slowdown, runs: usize) -> String {
    match slowdown.interval {
        Some((lowest, highest)) => format!("{lowest:.2}-{highest:.2}"),
        None if runs == 1 => "1 run".to_owned(),
        None => format!("{runs} runs"),
    }
}

fn marks(rows: &[Row]) -> Vec<Mark> {
    let mark = |row: &Row| {
        Some(Mark {
            load: row.load.clone(),
            slowdown: row.slowdown?.ratio,
            kept: row.retention?,
        })
    };
    rows.iter().filter_map(mark).collect()
}

/// The rate of a load as whole files tell it, which is all that contest told.
fn files_line(load: &str, files: Files) -> String {
    let (least, most) = files.bounds();
    format!(
        "{load} from its start to its end: {:.0} whole files of {} in {}, which is {} to {}",
        files.whole,
        measured(Unit::Bytes, files.file_bytes),
        seconds(files.elapsed_s),
        measured(Unit::BytesPerSecond, least),
        measured(Unit::BytesPerSecond, most),
    )
}

/// The load that slows the job down most.
fn answer(rows: &[Row]) -> Option<String> {
    let loaded = rows
        .iter()
        .filter(|row| row.load_rate.is_some())
        .filter_map(|row| Some((row.slowdown?, row)));
    let worst = loaded.max_by(|(a, _), (b, _)| a.ratio.total_cmp(&b.ratio));
    if let Some((slowdown, row)) = worst {
        let between = slowdown.interval.map_or_else(String::new, |_| {
            format!(" ({})", bounds(slowdown, row.runs))
        });
        let kept = row.retention.map_or_else(String::new, |kept| {
            format!(
                ", and the load keeps {} % of its rate",
                significant(100.0 * kept, 2)
            )
        });
        return Some(format!(
            "most by {}: the job takes {:.2}{between} times as long as without a load{kept}",
            row.load, slowdown.ratio
        ));
    }
    let first = rows.first()?;
    Some(format!(
        "{}: the job takes {}",
        first.load,
        seconds(first.time_s)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seed 000: under io_halfmem ext3 took 461.74 s with 263.2 s of CPU, ext2 306.82 s
    /// with 266.9 s; the one waited 198.5 s and the other 39.9 s.
    #[test]
    fn waiting_is_what_the_cpu_does_not_explain() {
        assert!((waited_s(461.74, 263.2, 4, 1) - 198.54).abs() < 1e-9);
        assert!((waited_s(306.82, 266.9, 4, 1) - 39.92).abs() < 1e-9);
        assert_eq!(waited_s(10.0, 20.0, 1, 8), 0.0);
        assert_eq!(waited_s(10.0, 16.0, 8, 2), 2.0);
    }

    /// contest 0.34's line "Was writing number 33 of a 257Mb sized io_load file after 307
    /// seconds", with its Mb of 1,024,000 bytes: 26.8 to 27.6 of them per second.
    #[test]
    fn whole_files_bound_the_rate_of_a_load() {
        let files = Files {
            runs: 1,
            whole: 32.0,
            file_bytes: 257.0 * 1_024_000.0,
            elapsed_s: 307.0,
        };
        let (least, most) = files.bounds();
        let tenths = |rate: f64| (rate / 1_024_000.0 * 10.0).round();
        assert_eq!((tenths(least), tenths(most)), (268.0, 276.0));
        assert_eq!(files_line("x", files).matches("32 whole files").count(), 1);
    }
}
