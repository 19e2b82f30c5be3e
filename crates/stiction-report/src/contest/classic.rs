//! The layouts of contest 0.34, 0.5x and 0.61, and the arithmetic of each.
//!
//! None of their sources is at hand. What is done here explains the tables that were
//! posted: the ratios of 0.61 and of 0.5x row for row, its CPU shares to whole seconds.

use std::fmt::Write as _;

use stiction_core::{Phase, Session, Trial, metrics};

use super::{is_of, job, loads};

/// Bytes in contest's Mb: it divided the kilobytes of `/proc/meminfo` by 1000.
const MB: f64 = 1_024_000.0;
/// Columns from one field of a table to the next.
const FIELD: usize = 8;
/// Columns of name and runs in 0.5x.
const NAME_0_5: usize = 24;
/// Columns of the name in the tables up to 0.34.
const NAME_0_34: usize = 32;

/// What a job and its load used, means over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Means {
    runs: u64,
    time_s: f64,
    cpu_s: f64,
    loads: f64,
    load_s: f64,
    load_cpu_s: f64,
}

impl Means {
    /// Of the same load and kernel.
    fn of<'a>(phases: impl Iterator<Item = &'a Phase>) -> Self {
        let mut sum = Self::default();
        for phase in phases {
            let value = |metric| phase.value(metric);
            let elapsed = phase.measurement(&metrics::ELAPSED);
            // A row that was read in is a mean already.
            let runs = elapsed.map_or(1, |measurement| measurement.n.max(1));
            let time_s = value(&metrics::ELAPSED).unwrap_or(0.0);
            let load_s = value(&metrics::LOAD_ELAPSED).unwrap_or(time_s);
            let of_share = |share: Option<f64>, time_s: f64| share.unwrap_or(0.0) / 100.0 * time_s;
            let cpu_s = match (value(&metrics::CPU_USER), value(&metrics::CPU_SYSTEM)) {
                (Some(user_s), Some(system_s)) => user_s + system_s,
                _ => of_share(value(&metrics::CPU_PERCENT), time_s),
            };
            let weight = runs as f64;
            sum.runs += runs;
            sum.time_s += weight * time_s;
            sum.cpu_s += weight * cpu_s;
            sum.loads += weight * value(&metrics::LOAD_UNITS).unwrap_or(0.0);
            sum.load_s += weight * load_s;
            sum.load_cpu_s += weight * of_share(value(&metrics::LOAD_CPU_PERCENT), load_s);
        }
        let runs = sum.runs.max(1) as f64;
        Self {
            runs: sum.runs,
            time_s: sum.time_s / runs,
            cpu_s: sum.cpu_s / runs,
            loads: sum.loads / runs,
            load_s: sum.load_s / runs,
            load_cpu_s: sum.load_cpu_s / runs,
        }
    }

    /// Everything in whole seconds, as 0.60 and 0.61 counted.
    fn in_whole_seconds(self) -> Self {
        Self {
            time_s: self.time_s.round(),
            cpu_s: self.cpu_s.round(),
            load_s: self.load_s.round(),
            load_cpu_s: self.load_cpu_s.round(),
            ..self
        }
    }

    fn cpu_percent(self) -> f64 {
        100.0 * over(self.cpu_s, self.time_s)
    }

    fn load_cpu_percent(self) -> f64 {
        100.0 * over(self.load_cpu_s, self.load_s)
    }
}

/// A quotient; 0 of nothing, as for a job that took no whole second.
fn over(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Half up at the last decimal: 4.875 is 4.88.
fn decimals(value: f64, decimals: i32) -> String {
    let scale = 10f64.powi(decimals);
    // The least that a binary fraction falls short of a decimal half.
    let rounded = (value * scale + 0.5 + 1e-9).floor() / scale;
    format!("{rounded:.*}", decimals.unsigned_abs() as usize)
}

/// What a row is called by: the kernel.
fn kernel(session: &Session, trial: &Trial) -> String {
    let header = &session.header;
    let named = trial.cell.get("kernel").map(ToString::to_string);
    let release = header.environment.kernel.as_ref();
    let release = release.map(|kernel| kernel.release.clone());
    let name = named.or_else(|| header.label.clone()).or(release);
    // Rows are read by blanks.
    name.unwrap_or_else(|| "unknown".to_owned())
        .replace(char::is_whitespace, "_")
}

/// The kernels of a session, in the order in which they come.
fn kernels(session: &Session) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for trial in session.trials.iter().filter(|trial| job(trial).is_some()) {
        let name = kernel(session, trial);
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// The means of one load under one kernel; `None` where there is no such run.
fn means(session: &Session, load: &str, name: &str) -> Option<Means> {
    let of_cell = |trial: &&Trial| is_of(trial, load) && kernel(session, trial) == name;
    let means = Means::of(session.trials.iter().filter(of_cell).filter_map(job));
    (means.runs > 0).then_some(means)
}

/// `text` and blanks up to the next column that a tabulator reaches.
fn field(text: &str) -> String {
    let width = text.len() / FIELD * FIELD + FIELD;
    format!("{text:<width$}")
}

/// Fields in columns of eight, the last one as long as it is.
fn fields(texts: &[String; 5]) -> String {
    let line: String = texts.iter().map(|text| field(text)).collect();
    line.trim_end().to_owned()
}

fn heads() -> String {
    fields(&["Time", "CPU%", "Loads", "LCPU%", "Ratio"].map(str::to_owned))
}

/// The tables of 0.60 and 0.61: whole seconds, shares and loads to a decimal, ratios to
/// the `no_load` of the same kernel.
#[must_use]
pub fn contest_0_61(session: &Session) -> String {
    let kernels = kernels(session);
    let name_width = kernels.iter().map(String::len).max().unwrap_or(0).max(6) + 1;
    // `[runs]`, and the next column that a tabulator reaches.
    let runs_width = (name_width + 6) / FIELD * FIELD + FIELD - name_width - 6;
    let gap = " ".repeat(runs_width);
    let mut text = String::new();
    for load in loads(&session.trials) {
        let mut rows = String::new();
        for name in &kernels {
            let Some(means) = means(session, &load, name).map(Means::in_whole_seconds) else {
                continue;
            };
            let reference = self::means(session, "no_load", name).map(Means::in_whole_seconds);
            let ratio = reference.map_or(0.0, |reference| over(means.time_s, reference.time_s));
            let figures = fields(&[
                format!("{:.0}", means.time_s),
                decimals(means.cpu_percent(), 1),
                decimals(means.loads, 1),
                decimals(means.load_cpu_percent(), 1),
                decimals(ratio, 2),
            ]);
            let _ = writeln!(rows, "{name:<name_width$}{:>6}{gap}{figures}", means.runs);
        }
        if !rows.is_empty() {
            let _ = writeln!(text, "{load}:");
            let _ = writeln!(text, "{:<name_width$}[runs]{gap}{}", "Kernel", heads());
            text.push_str(&rows);
        }
    }
    text
}

/// The tables of 0.5x: tenths of seconds, whole shares and loads, ratios to one
/// reference for all, the `noload` of the first kernel.
#[must_use]
pub fn contest_0_5(session: &Session) -> String {
    let kernels = kernels(session);
    let references = kernels
        .iter()
        .find_map(|name| means(session, "no_load", name));
    let reference_s = references.map_or(0.0, |means| means.time_s);
    let mut tables = Vec::new();
    for load in loads(&session.trials) {
        let mut table = format!(
            "{}:\n{:<NAME_0_5$}{}\n",
            name_0_5(&load),
            "Kernel [runs]",
            heads()
        );
        let mut any = false;
        for name in &kernels {
            let Some(means) = means(session, &load, name) else {
                continue;
            };
            any = true;
            let named = format!("{name} [{}]", means.runs);
            let named = format!("{named:<0$}", NAME_0_5.max(named.len() + 1));
            let figures = fields(&[
                decimals(means.time_s, 1),
                decimals(means.cpu_percent(), 0),
                decimals(means.loads, 0),
                decimals(means.load_cpu_percent(), 0),
                decimals(over(means.time_s, reference_s), 2),
            ]);
            let _ = writeln!(table, "{named}{figures}");
        }
        if any {
            tables.push(table);
        }
    }
    tables.join("\n")
}

/// 0.34's name for the load without one; the others kept theirs.
fn name_0_5(load: &str) -> &str {
    match load {
        "no_load" => "noload",
        other => other,
    }
}

fn name_0_34(load: &str) -> &str {
    match load {
        "io_load" => "io_fullmem",
        other => name_0_5(other),
    }
}

/// The log of 0.34: a line for each run, and what the load had written.
#[must_use]
pub fn contest_0_34(session: &Session) -> String {
    let mut text = String::new();
    for load in loads(&session.trials) {
        let of_load = session.trials.iter().filter(|trial| is_of(trial, &load));
        for phase in of_load.filter_map(job) {
            let value = |metric| phase.value(metric).unwrap_or(0.0);
            let means = Means::of(std::iter::once(phase));
            let _ = writeln!(
                text,
                "{} Time: {:.2}  CPU: {:.0}%  Major Faults: {:.0}  Minor Faults: {:.0}",
                name_0_34(&load),
                means.time_s,
                means.cpu_percent().floor(),
                value(&metrics::MAJOR_FAULTS),
                value(&metrics::MINOR_FAULTS)
            );
            if load.starts_with("io_") && phase.value(&metrics::LOAD_FILES).is_some() {
                let _ = writeln!(
                    text,
                    "Was writing number {:.0} of a {:.0}Mb sized io_load file after {:.0} seconds",
                    // The one in progress when the load was stopped.
                    value(&metrics::LOAD_FILES) + 1.0,
                    (value(&metrics::LOAD_FILE_SIZE) / MB).floor(),
                    value(&metrics::LOAD_ELAPSED).ceil()
                );
            }
        }
    }
    text
}

/// The tables in which results of 0.34 were posted: means of the runs, shares cut to
/// whole numbers.
#[must_use]
pub fn contest_0_34_summary(session: &Session) -> String {
    let kernels = kernels(session);
    let width = kernels.iter().map(|name| name.len() + 1).max().unwrap_or(0);
    let width = width.max(NAME_0_34);
    let mut tables = Vec::new();
    for load in loads(&session.trials) {
        let mut table = format!(
            "{}:\n{:<width$}{:<FIELD$}CPU\n",
            name_0_34(&load),
            "Kernel",
            "Time"
        );
        for name in &kernels {
            if let Some(means) = means(session, &load, name) {
                let time = decimals(means.time_s, 2);
                let share = means.cpu_percent().floor();
                let _ = writeln!(table, "{name:<width$}{}{share:.0}%", field(&time));
            }
        }
        tables.push(table);
    }
    tables.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(time_s: f64, cpu_s: f64, load_cpu_s: f64) -> Means {
        Means {
            runs: 1,
            time_s,
            cpu_s,
            loads: 0.0,
            load_s: time_s,
            load_cpu_s,
        }
    }

    /// Rows of published tables, by hand: 75 / 108, 31 / 108, 108 / 80 and so on.
    #[test]
    fn shares_and_ratios_are_those_that_were_published() {
        let row = whole(108.0, 75.0, 31.0);
        assert_eq!(decimals(row.cpu_percent(), 1), "69.4");
        assert_eq!(decimals(row.load_cpu_percent(), 1), "28.7");
        assert_eq!(decimals(over(108.0, 80.0), 2), "1.35");
        assert_eq!(decimals(whole(390.0, 76.0, 0.0).cpu_percent(), 1), "19.5");
        assert_eq!(decimals(over(390.0, 80.0), 2), "4.88", "4.875 goes up");
        assert_eq!(decimals(over(4000.0, 67.17), 2), "59.55");
        assert_eq!(decimals(0.0, 1), "0.0");
    }
}
