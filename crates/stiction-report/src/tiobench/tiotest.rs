//! What the program under the driver prints for one run: its two tables, or the
//! terse lines that the driver reads.

use std::fmt::Write as _;

use stiction_core::{Phase, Session, Trial, metrics};

use super::row::{MIB, elapsed_s, largest, mean_over_operations};

const NS_PER_MS: f64 = 1e6;

/// Choices in tiotest's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TiotestOptions {
    /// Whether the latency table is printed; tiotest's `-L` leaves it out.
    pub latency: bool,
}

impl Default for TiotestOptions {
    fn default() -> Self {
        Self { latency: true }
    }
}

/// One phase in the program's own words.
struct Item {
    /// Title in the table.
    title: &'static str,
    /// Columns of its amount.
    amount_width: usize,
    /// Name in the terse form.
    terse: &'static str,
    /// Our name.
    phase: &'static str,
}

const ITEMS: [Item; 4] = [
    Item {
        title: "Write",
        amount_width: 11,
        terse: "write",
        phase: "write",
    },
    Item {
        title: "Random Write",
        amount_width: 4,
        terse: "rwrite",
        phase: "random_write",
    },
    Item {
        title: "Read",
        amount_width: 12,
        terse: "read",
        phase: "read",
    },
    Item {
        title: "Random Read",
        amount_width: 5,
        terse: "rread",
        phase: "random_read",
    },
];

/// The figures of one phase of one run; what is not known is 0, as for a phase
/// that was left out.
#[derive(Clone, Copy, Default)]
struct Figures {
    amount_mib: f64,
    time_s: f64,
    user_s: f64,
    system_s: f64,
}

#[derive(Clone, Copy, Default)]
struct Latency {
    mean_ms: f64,
    max_ms: f64,
    over_2s_percent: f64,
    over_10s_percent: f64,
}

fn figures(phase: &Phase) -> Figures {
    let value = |metric| phase.value(metric).unwrap_or(0.0);
    Figures {
        amount_mib: value(&metrics::BYTES) / MIB,
        time_s: elapsed_s(phase).unwrap_or(0.0),
        user_s: value(&metrics::CPU_USER),
        system_s: value(&metrics::CPU_SYSTEM),
    }
}

fn latency(phases: &[&Phase]) -> Latency {
    let mean = |metric| mean_over_operations(phases, metric).unwrap_or(0.0);
    Latency {
        mean_ms: mean(&metrics::LATENCY_MEAN) / NS_PER_MS,
        max_ms: largest(phases, &metrics::LATENCY_MAX).unwrap_or(0.0) / NS_PER_MS,
        over_2s_percent: mean(&metrics::LATENCY_OVER_2S),
        over_10s_percent: mean(&metrics::LATENCY_OVER_10S),
    }
}

fn ran<'a>(trial: &'a Trial, item: &Item) -> Option<&'a Phase> {
    trial.phase(item.phase).filter(|phase| phase.has_numbers())
}

/// The tables that tiotest 0.3.2 and later print, for each run of the session.
#[must_use]
pub fn tiotest_verbose(session: &Session, options: TiotestOptions) -> String {
    session
        .trials
        .iter()
        .map(|trial| verbose(trial, options))
        .collect()
}

fn verbose(trial: &Trial, options: TiotestOptions) -> String {
    let threads = trial.cell.integer("threads").unwrap_or(1);
    let mut text = format!("Tiotest results for {threads} concurrent io threads:\n");
    text.push_str(
        "\
,----------------------------------------------------------------------.
| Item                  | Time     | Rate         | Usr CPU  | Sys CPU |
+-----------------------+----------+--------------+----------+---------+
",
    );
    for (item, phase) in present(trial) {
        let Figures {
            amount_mib,
            time_s,
            user_s,
            system_s,
        } = figures(phase);
        let _ = writeln!(
            text,
            "| {} {amount_mib:width$.0} MBs | {time_s:6.1} s | {:7.3} MB/s | {:5.1} %  | {:5.1} % |",
            item.title,
            amount_mib / time_s,
            100.0 * user_s / time_s,
            100.0 * system_s / time_s,
            width = item.amount_width,
        );
    }
    text.push_str("`----------------------------------------------------------------------'\n");
    if options.latency {
        text.push_str(&latency_table(trial));
    }
    text
}

fn latency_table(trial: &Trial) -> String {
    let mut text = "\
Tiotest latency results:
,-------------------------------------------------------------------------.
| Item         | Average latency | Maximum latency | % >2 sec | % >10 sec |
+--------------+-----------------+-----------------+----------+-----------+
"
    .to_owned();
    for (item, phase) in present(trial) {
        text.push_str(&latency_line(item.title, latency(&[phase])));
    }
    text.push_str("|--------------+-----------------+-----------------+----------+-----------|\n");
    let all: Vec<&Phase> = present(trial).map(|(_, phase)| phase).collect();
    text.push_str(&latency_line("Total", latency(&all)));
    text.push_str(
        "`--------------+-----------------+-----------------+----------+-----------'\n\n",
    );
    text
}

fn latency_line(title: &str, latency: Latency) -> String {
    let Latency {
        mean_ms,
        max_ms,
        over_2s_percent,
        over_10s_percent,
    } = latency;
    format!(
        "| {title:<12} | {mean_ms:12.3} ms | {max_ms:12.3} ms | {over_2s_percent:8.5} | {over_10s_percent:9.5} |\n"
    )
}

/// The phases that moved at least a block.
fn present(trial: &Trial) -> impl Iterator<Item = (&'static Item, &Phase)> {
    ITEMS
        .iter()
        .filter_map(|item| Some((item, ran(trial, item)?)))
        .filter(|(_, phase)| {
            phase
                .value(&metrics::BYTES)
                .is_some_and(|bytes| bytes > 0.0)
        })
}

/// The terse lines of tiotest 0.3.2 and later, for each run of the session. A
/// phase that was left out has zeros.
#[must_use]
pub fn tiotest_terse(session: &Session) -> String {
    session.trials.iter().map(terse).collect()
}

fn terse(trial: &Trial) -> String {
    let mut text = String::new();
    for item in &ITEMS {
        let phase = ran(trial, item);
        let Figures {
            amount_mib,
            time_s,
            user_s,
            system_s,
        } = phase.map(figures).unwrap_or_default();
        let latency = terse_latency(phase.map(|phase| latency(&[phase])).unwrap_or_default());
        let _ = writeln!(
            text,
            "{}:{amount_mib:.5},{time_s:.5},{user_s:.5},{system_s:.5},{latency}",
            item.terse
        );
    }
    let all: Vec<&Phase> = present(trial).map(|(_, phase)| phase).collect();
    let _ = writeln!(text, "total:{}", terse_latency(latency(&all)));
    text
}

fn terse_latency(latency: Latency) -> String {
    let Latency {
        mean_ms,
        max_ms,
        over_2s_percent,
        over_10s_percent,
    } = latency;
    format!("{mean_ms:.5},{max_ms:.5},{over_2s_percent:.5},{over_10s_percent:.5}")
}
