//! The rows of Bonnie's reports: one for each run of the whole program.

use stiction_core::{Cell, Phase, Session, Trial, metrics};

use super::spelled::Shown;
use crate::text::ascii;

/// Results of less than this are not shown by the programs, ns.
const SHOWN_NS_MIN: u64 = 500_000_000;
/// The chunk that is not mentioned.
const CHUNK_BYTES: u64 = 8192;

/// Phases of one file, in the order of the report.
pub(super) const IO_PHASES: [&str; 6] =
    ["putc", "put_block", "rewrite", "getc", "get_block", "seeks"];
/// Phases of many files, in the order of the report.
pub(super) const FILE_PHASES: [&str; 6] = [
    "create_sequential",
    "stat_sequential",
    "delete_sequential",
    "create_random",
    "stat_random",
    "delete_random",
];

/// Rate, CPU share and greatest latency of one phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Figures {
    /// Bytes per second, or seeks or files per second.
    pub(super) rate: Shown,
    /// 100 is one busy CPU.
    pub(super) cpu_percent: Shown,
    pub(super) latency_ns_max: Option<f64>,
    /// Rate and CPU share however short the phase was, as Bonnie prints them.
    pub(super) unhidden: [Option<f64>; 2],
}

impl Figures {
    const MISSING: Self = Self {
        rate: Shown::Missing,
        cpu_percent: Shown::Missing,
        latency_ns_max: None,
        unhidden: [None; 2],
    };
}

/// The files of the second part: `16`, `16:link`, `8:20000:100/4`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Files {
    /// Thousands (of 1024).
    pub(super) count: String,
    /// Greatest size, `link` or `symlink`.
    pub(super) max: String,
    pub(super) min: String,
    pub(super) directories: String,
}

impl Files {
    fn parse(text: &str) -> Self {
        let text = field(text);
        let (sizes, directories) = text.split_once('/').unwrap_or((&text, ""));
        let mut parts = sizes.split(':').map(str::to_owned);
        Self {
            count: parts.next().unwrap_or_default(),
            max: parts.next().unwrap_or_default(),
            min: parts.next().unwrap_or_default(),
            directories: directories.to_owned(),
        }
    }

    /// `16`, or with sizes, and with `separator` before the directories.
    pub(super) fn joined(&self, separator: char) -> String {
        let mut text = self.count.clone();
        for part in [&self.max, &self.min] {
            if !part.is_empty() {
                text.push(':');
                text.push_str(part);
            }
        }
        if !self.directories.is_empty() {
            text.push(separator);
            text.push_str(&self.directories);
        }
        text
    }
}

/// One run.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) machine: String,
    pub(super) concurrency: u64,
    pub(super) seed: Option<u64>,
    pub(super) size_bytes: Option<u64>,
    /// Bytes of an operation, when they are not the usual 8192.
    pub(super) chunk_bytes: Option<u64>,
    pub(super) seeks: Option<u64>,
    pub(super) seekers: Option<u64>,
    pub(super) io: [Figures; 6],
    pub(super) files: Files,
    pub(super) of_files: [Figures; 6],
}

impl Row {
    pub(super) fn has_io(&self) -> bool {
        self.io.iter().any(|one| *one != Figures::MISSING)
    }

    pub(super) fn has_files(&self) -> bool {
        self.of_files.iter().any(|one| *one != Figures::MISSING)
    }
}

/// The rows of a session, in order. Where a table was read, its two parts may be trials
/// of their own: files after the figures that they belong to.
pub(super) fn rows(session: &Session) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for trial in &session.trials {
        let row = row(session, trial);
        match rows.last_mut() {
            Some(above)
                if row.has_files()
                    && !row.has_io()
                    && !above.has_files()
                    && above.machine == row.machine =>
            {
                above.files = row.files;
                above.of_files = row.of_files;
            }
            _ if row.has_io() || row.has_files() => rows.push(row),
            _ => {}
        }
    }
    rows
}

fn row(session: &Session, trial: &Trial) -> Row {
    let plan = session.header.plan.as_ref();
    let parameter = |name: &str| plan.and_then(|plan| plan.parameters.get(name));
    let cell = &trial.cell;
    let number = |factor: &str| {
        let level = cell.integer(factor)?;
        u64::try_from(level).ok()
    };
    let figures =
        |names: [&str; 6]| names.map(|name| trial.phase(name).map_or(Figures::MISSING, figures));
    let seeks = trial.phase("seeks");
    Row {
        machine: parameter("machine")
            .and_then(|name| Some(name.as_str()?.to_owned()))
            .or_else(|| label(cell))
            .map_or_else(String::new, |name| field(&name)),
        concurrency: number("threads").unwrap_or(1),
        seed: plan.map(|plan| plan.seed.0),
        size_bytes: number("file_size_bytes"),
        chunk_bytes: number("block_size_bytes").filter(|&bytes| bytes != CHUNK_BYTES),
        seeks: seeks
            .and_then(|phase| phase.value(&metrics::OPERATIONS))
            .map(|count| count as u64),
        seekers: parameter("seekers")
            .and_then(serde_json::Value::as_u64)
            .or_else(|| number("seekers")),
        io: figures(IO_PHASES),
        files: cell
            .get("files")
            .map_or_else(Files::default, |level| Files::parse(&level.to_string())),
        of_files: figures(FILE_PHASES),
    }
}

/// Text that is one field of a line: printable, and without commas.
fn field(text: &str) -> String {
    ascii(text).replace(',', " ")
}

/// The name that a table had for a row.
fn label(cell: &Cell) -> Option<String> {
    let level = cell.get("configuration").or_else(|| cell.get("kernel"))?;
    Some(level.to_string())
}

fn figures(phase: &Phase) -> Figures {
    if !phase.has_numbers() {
        return Figures::MISSING;
    }
    let rate = phase
        .measurement(&metrics::OPERATION_RATE)
        .filter(|_| phase.measurement(&metrics::RATE).is_none() || is_counted(&phase.name))
        .or_else(|| phase.measurement(&metrics::RATE));
    let was_plus = |printed: &Option<String>| {
        printed
            .as_ref()
            .is_some_and(|printed| printed.starts_with('+'))
    };
    let was_measured = phase.elapsed_ns > 0;
    let too_fast = if was_measured {
        phase.elapsed_ns < SHOWN_NS_MIN
    } else {
        rate.is_some_and(|rate| was_plus(&rate.printed))
    };
    let cpu_percent = phase.value(&metrics::CPU_PERCENT);
    let rate = rate.map(|rate| rate.value);
    let shown = |value: Option<f64>| match value {
        _ if too_fast => Shown::TooFast,
        Some(value) => Shown::Value(value),
        None => Shown::Missing,
    };
    Figures {
        rate: shown(rate),
        cpu_percent: shown(cpu_percent),
        latency_ns_max: phase.value(&metrics::LATENCY_MAX),
        unhidden: if too_fast && !was_measured {
            [None; 2]
        } else {
            [rate, cpu_percent]
        },
    }
}

/// Whether a phase's rate is of operations, and not of bytes.
fn is_counted(name: &str) -> bool {
    name == "seeks" || FILE_PHASES.contains(&name)
}
