//! The framed tables of tiotest.
//!
//! ```text
//! Tiotest results for 8 concurrent io threads:
//! | Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
//! | Write        1600 MBs |    3.2 s | 502.596 MB/s |  37.4 %  | 1290.1 % |
//! Tiotest latency results:
//! | Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
//! | Write        |        0.015 ms |        8.793 ms |  0.00000 |   0.00000 |
//! ```

use stiction_core::{Caveat, CaveatCode, Measurement, Metric, Phase, metrics};

use super::{cell_of, cpu, phase_name};
use crate::command::{Command, Program};
use crate::harvest::{self, Harvest, Row};
use crate::label::Titles;
use crate::number::{MIB, NS_PER_MS, decimal, half_ulp, integer};
use crate::page::Page;

const LAYOUT: &str = "tiotest-verbose";

/// The tables of one run; 0.3.2 prints the latencies first.
#[derive(Default)]
struct Run {
    first_line: usize,
    threads: Option<u64>,
    has_latencies: bool,
    /// Phases, and the line that each begins on.
    phases: Vec<(usize, Phase)>,
}

impl Run {
    /// The phase of that name, made with its first figures.
    fn phase(&mut self, name: &str, line: usize) -> &mut Phase {
        let found = self.phases.iter().position(|(_, phase)| phase.name == name);
        let index = found.unwrap_or_else(|| {
            self.phases.push((line, harvest::phase(name)));
            self.phases.len() - 1
        });
        &mut self.phases[index].1
    }
}

/// Reads every framed run.
pub(super) fn read(page: &mut Page, harvest: &mut Harvest) {
    let titles = Titles::of(page);
    let mut run: Option<Run> = None;
    for index in 0..page.len() {
        if let Some(threads) = results_title(&page.words(index)) {
            if run.as_ref().is_some_and(|run| run.threads.is_some()) {
                finish(page, harvest, &titles, run.take());
            }
            let run = run.get_or_insert_with(|| Run {
                first_line: index,
                ..Run::default()
            });
            run.threads = Some(threads);
            page.claim(index);
        } else if page.text(index).trim() == "Tiotest latency results:" {
            if run.as_ref().is_some_and(|run| run.has_latencies) {
                finish(page, harvest, &titles, run.take());
            }
            let run = run.get_or_insert_with(|| Run {
                first_line: index,
                ..Run::default()
            });
            run.has_latencies = true;
            page.claim(index);
        } else if let Some(run) = &mut run {
            row(page, run, index);
        }
    }
    finish(page, harvest, &titles, run);
}

/// The threads of `Tiotest results for 8 concurrent io threads:`.
fn results_title(words: &[&str]) -> Option<u64> {
    match words {
        ["Tiotest", "results", "for", threads, "concurrent", "io", _] => integer(threads),
        _ => None,
    }
}

/// Reads the row on line `index`, or on it and the next where mail broke it.
fn row(page: &mut Page, run: &mut Run, index: usize) {
    if !page.is_open(index) || !page.text(index).trim_start().starts_with('|') {
        return;
    }
    let line = page.number(index);
    let alone = fields(page.text(index));
    if alone.first().is_some_and(|first| first == "Item") {
        page.claim(index);
        return;
    }
    if alone.is_empty() {
        return;
    }
    if add(run, &alone, line) {
        page.claim(index);
        return;
    }
    let joined = format!("{} {}", page.text(index), page.text(index + 1));
    if page.is_open(index + 1) && add(run, &fields(&joined), line) {
        page.claim(index);
        page.claim(index + 1);
    } else if phase_of(&alone).is_some() {
        page.refuse(index, "a row of tiotest without all of its figures");
    }
}

/// The cells of a row, without the frame.
fn fields(text: &str) -> Vec<String> {
    text.split('|')
        .map(|field| field.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|field| field.contains(char::is_alphanumeric))
        .collect()
}

/// The phase that a row's first cell names, and its amount where it has one.
fn phase_of(fields: &[String]) -> Option<(&'static str, Option<&str>)> {
    let first = fields.first()?;
    match first.strip_suffix(" MBs").and_then(|s| s.rsplit_once(' ')) {
        Some((name, amount)) => Some((phase_name(name)?, Some(amount))),
        None => Some((phase_name(first)?, None)),
    }
}

/// Adds the figures of a row; false when it is not one.
fn add(run: &mut Run, fields: &[String], line: usize) -> bool {
    let Some((name, amount)) = phase_of(fields) else {
        return false;
    };
    let figures = match (amount, fields) {
        (Some(amount), [_, time, rate, user, system]) => {
            results(amount, [time, rate, user, system])
        }
        (None, [_, mean, max, over_2s, over_10s]) => latencies([mean, max, over_2s, over_10s]),
        _ => None,
    };
    match figures {
        Some((measurements, caveat)) => {
            let phase = run.phase(name, line);
            if let Some(elapsed) = measurements.iter().find(|m| m.metric == metrics::ELAPSED) {
                phase.elapsed_ns = (elapsed.value * 1e9).round() as u64;
            }
            phase.measurements.extend(measurements);
            phase.caveats.extend(caveat);
            true
        }
        None => false,
    }
}

type Figures = (Vec<Measurement>, Option<Caveat>);

/// `1600`, `3.2 s`, `502.596 MB/s`, `37.4 %`, `1290.1 %`.
fn results(amount: &str, [time, rate, user, system]: [&String; 4]) -> Option<Figures> {
    let seconds = time.strip_suffix(" s")?;
    let mib_per_s = rate.strip_suffix(" MB/s")?;
    let user = user.strip_suffix(" %")?;
    let system = system.strip_suffix(" %")?;
    let share = Measurement::imported(
        metrics::CPU_PERCENT,
        decimal(user)? + decimal(system)?,
        1,
        format!("{user}+{system}"),
    );
    let measurements = vec![
        imported(metrics::RATE, mib_per_s, MIB)?,
        imported(metrics::ELAPSED, seconds, 1.0)?,
        share,
        imported(metrics::CPU_USER_PERCENT, user, 1.0)?,
        imported(metrics::CPU_SYSTEM_PERCENT, system, 1.0)?,
        imported(metrics::BYTES, amount, MIB)?,
    ];
    Some((measurements, contradiction(amount, seconds, mib_per_s)))
}

/// `0.015 ms`, `8.793 ms`, `0.00000`, `0.00000`.
fn latencies([mean, max, over_2s, over_10s]: [&String; 4]) -> Option<Figures> {
    let milliseconds = |text: &str, metric| {
        let number = text.strip_suffix(" ms")?;
        imported(metric, number, NS_PER_MS)
    };
    let measurements = vec![
        milliseconds(mean, metrics::LATENCY_MEAN)?,
        milliseconds(max, metrics::LATENCY_MAX)?,
        imported(metrics::LATENCY_OVER_2S, over_2s, 1.0)?,
        imported(metrics::LATENCY_OVER_10S, over_10s, 1.0)?,
    ];
    Some((measurements, None))
}

fn imported(metric: Metric, text: &str, unit: f64) -> Option<Measurement> {
    let value = decimal(text)? * unit;
    Some(Measurement::imported(metric, value, 1, text))
}

/// Whether amount over time cannot be the rate, all as precise as they are printed.
fn contradiction(amount: &str, seconds: &str, mib_per_s: &str) -> Option<Caveat> {
    let range = |text: &str| {
        let (value, half) = (decimal(text)?, half_ulp(text));
        Some(((value - half).max(0.0), value + half))
    };
    let ((mib_low, mib_high), (s_low, s_high)) = (range(amount)?, range(seconds)?);
    let (rate_low, rate_high) = range(mib_per_s)?;
    let is_possible = rate_high >= mib_low / s_high && rate_low * s_low <= mib_high;
    (!is_possible).then(|| {
        Caveat::new(
            CaveatCode::Inconsistent,
            format!("{amount} MB in {seconds} s are not {mib_per_s} MB/s"),
        )
    })
}

/// Puts a run into the harvest, with its CPU figures divided where they cannot be.
fn finish(page: &mut Page, harvest: &mut Harvest, titles: &Titles, run: Option<Run>) {
    let Some(mut run) = run.filter(|run| !run.phases.is_empty()) else {
        return;
    };
    let command = Command::above(&harvest.commands, Program::Tiotest, run.first_line);
    let mut cell = cell_of(command);
    if let Some(threads) = run.threads {
        cell = cell.with("threads", threads);
        let share = |phase: &Phase| phase.value(&metrics::CPU_PERCENT).unwrap_or(0.0);
        let proof = run
            .phases
            .iter()
            .map(|(_, phase)| phase)
            .find(|phase| cpu::is_impossible(share(phase), threads))
            .map(|phase| format!("{:.1} % in {}", share(phase), phase.name));
        if let Some(proof) = proof {
            for (_, phase) in &mut run.phases {
                cpu::divide_by_threads(phase, threads, &proof);
            }
        }
    }
    if cell.get("file_size_bytes").is_none() {
        let written = run.phases.iter().find(|(_, phase)| phase.name == "write");
        if let Some(bytes) = written.and_then(|(_, phase)| phase.value(&metrics::BYTES)) {
            cell = cell.with("file_size_bytes", bytes as u64);
        }
    }
    let label = titles.claim_above(page, run.first_line);
    for (line, phase) in run.phases {
        harvest.add(
            LAYOUT,
            Row {
                line,
                label: label.clone(),
                cell: cell.clone(),
                phase,
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    /// The table that the reference program prints for two threads.
    const TABLE: &str = "\
Tiotest results for 2 concurrent io threads:
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
| Write          32 MBs |    0.2 s | 206.951 MB/s |   0.0 %  |  99.1 % |
| Random Write    8 MBs |    0.0 s | 268.961 MB/s |   0.0 %  |  51.3 % |
| Read           32 MBs |    0.0 s | 2926.651 MB/s |   7.7 %  | 177.8 % |
| Random Read     8 MBs |    0.0 s | 1899.465 MB/s |   6.6 %  | 112.2 % |
`----------------------------------------------------------------------'
Tiotest latency results:
,-------------------------------------------------------------------------.
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
+--------------+-----------------+-----------------+----------+-----------+
| Write        |        0.030 ms |       16.042 ms |  0.00000 |   0.00000 |
| Random Write |        0.006 ms |        5.897 ms |  0.00000 |   0.00000 |
| Read         |        0.002 ms |        4.061 ms |  0.00000 |   0.00000 |
| Random Read  |        0.002 ms |        2.021 ms |  0.00000 |   0.00000 |
|--------------+-----------------+-----------------+----------+-----------|
| Total        |        0.014 ms |       16.042 ms |  0.00000 |   0.00000 |
`--------------+-----------------+-----------------+----------+-----------'
";

    #[test]
    fn both_tables_make_one_trial() {
        let imported = read(TABLE);
        assert_eq!(imported.unread, []);
        let [trial] = &imported.sessions[0].trials[..] else {
            panic!("one trial");
        };
        assert_eq!(trial.cell.to_string(), "file_size_bytes=33554432 threads=2");
        let of = |name: &str, metric: &Metric| trial.phase(name).unwrap().value(metric).unwrap();
        assert_eq!(of("write", &metrics::RATE), 206.951 * MIB);
        assert_eq!(of("read", &metrics::CPU_PERCENT), 7.7 + 177.8);
        assert_eq!(of("random_write", &metrics::LATENCY_MAX), 5.897 * NS_PER_MS);
        assert_eq!(of("total", &metrics::LATENCY_MEAN), 0.014 * NS_PER_MS);
        assert!(trial.phases.iter().all(|phase| phase.caveats.is_empty()));
    }

    /// 0.3.2 prints the latencies first.
    #[test]
    fn either_table_may_come_first() {
        let at = TABLE.find("Tiotest latency").unwrap();
        let swapped = format!("{}{}", &TABLE[at..], &TABLE[..at]);
        let twice = read(&swapped.repeat(2)).sessions.remove(0).trials;
        let one = read(TABLE).sessions.remove(0).trials.remove(0);
        assert_eq!(twice.len(), 2);
        assert_eq!(twice[1].repetition, 1);
        for phase in &one.phases {
            let swapped = twice[0].phase(&phase.name).unwrap();
            assert_eq!(swapped.measurements.len(), phase.measurements.len());
        }
    }

    #[test]
    fn rows_that_contradict_themselves_are_doubted() {
        let wrong = TABLE.replace("206.951", "996.951");
        let trial = read(&wrong).sessions.remove(0).trials.remove(0);
        assert_eq!(
            trial.phase("write").unwrap().caveats[0].code,
            CaveatCode::Inconsistent
        );
    }
}
