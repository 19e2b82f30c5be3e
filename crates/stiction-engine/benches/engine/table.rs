//! What came out, as text that is Markdown and as JSON.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::options::Options;
use crate::rows::{Contender, Goal, Row};
use crate::sample::Sample;
use crate::spread::quartiles;
use crate::start::{self, Start};

/// What was not run, and why.
pub(crate) struct Skipped {
    row: &'static str,
    /// Empty for all.
    contender: &'static str,
    reason: String,
}

impl Skipped {
    pub(crate) fn new(row: &'static str, contender: &'static str, reason: &str) -> Self {
        Self {
            row,
            contender,
            reason: reason.to_owned(),
        }
    }
}

/// All figures.
pub(crate) struct Table {
    about: String,
    pub(crate) runs: Vec<(&'static Row, Contender)>,
    /// By round, then in the order of `runs`.
    pub(crate) rounds: Vec<Vec<Sample>>,
    /// By round: ours, and the whole of fio's, ms.
    pub(crate) starts: Vec<(Start, Option<f64>)>,
    pub(crate) skipped: Vec<Skipped>,
}

/// A goal held against what was measured.
struct Judged {
    row: &'static str,
    goal: String,
    measured: String,
    is_met: bool,
}

/// The quartiles of a figure.
type Spread = [f64; 3];

impl Table {
    pub(crate) fn new(options: &Options, folder: &Path) -> Self {
        Self {
            about: about(options, folder),
            runs: Vec::new(),
            rounds: Vec::new(),
            starts: Vec::new(),
            skipped: Vec::new(),
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n", self.about);
        if !self.runs.is_empty() {
            text += "\n| row | who | CPU ns/op | quartiles | over the bare loop | wall ns/op |\n";
            text += "|---|---|--:|---|---|--:|\n";
        }
        for (index, (row, contender)) in self.runs.iter().enumerate() {
            let [low, middle, high] = self.spread(index, Sample::cpu_ns_per_operation);
            let [_, wall, _] = self.spread(index, Sample::wall_ns_per_operation);
            let over = self
                .over_bare(index)
                .map_or(String::new(), |[low, middle, high]| {
                    format!("{middle:+.1} ({low:+.1} to {high:+.1})")
                });
            let (name, who) = (row.name, contender.name());
            let _ = writeln!(
                text,
                "| {name} | {who} | {middle:.1} | {low:.1} to {high:.1} | {over} | {wall:.1} |"
            );
        }
        text += &self.starts_text();
        text += "\n| row | goal | measured | |\n|---|---|---|---|\n";
        for Judged {
            row,
            goal,
            measured,
            is_met,
        } in self.judged()
        {
            let verdict = if is_met { "met" } else { "missed" };
            let _ = writeln!(text, "| {row} | {goal} | {measured} | {verdict} |");
        }
        if !self.skipped.is_empty() {
            text += "\nNot run:\n\n";
        }
        for Skipped {
            row,
            contender,
            reason,
        } in &self.skipped
        {
            let _ = match *contender {
                "" => writeln!(text, "- {row}: {reason}"),
                who => writeln!(text, "- {row}, {who}: {reason}"),
            };
        }
        text
    }

    pub(crate) fn json(&self) -> String {
        let spread = |[low, middle, high]: Spread| json!({"lower_quartile": low, "median": middle, "upper_quartile": high});
        let figure = |(index, (row, contender)): (usize, &(&Row, Contender))| {
            json!({
                "row": row.name,
                "title": row.title,
                "who": contender.name(),
                "cpu_ns_per_operation": spread(self.spread(index, Sample::cpu_ns_per_operation)),
                "wall_ns_per_operation": spread(self.spread(index, Sample::wall_ns_per_operation)),
                "over_bare_ns_per_operation": self.over_bare(index).map(spread),
            })
        };
        let starts = self.start_spreads().map(|(ready, whole, mib, fio)| {
            json!({
                "ready_ms": spread(ready),
                "whole_ms": spread(whole),
                "mib_per_worker": spread(mib),
                "fio_whole_ms": fio.map(spread),
            })
        });
        let goals: Vec<Value> = (self.judged().into_iter())
            .map(|judged| {
                json!({
                    "row": judged.row,
                    "goal": judged.goal,
                    "measured": judged.measured,
                    "met": judged.is_met,
                })
            })
            .collect();
        let skipped: Vec<Value> = (self.skipped.iter())
            .map(|one| json!({"row": one.row, "who": one.contender, "reason": one.reason}))
            .collect();
        json!({
            "schema": "stiction-engine-bench",
            "schema_version": 1,
            "about": self.about,
            "rounds": self.rounds.len().max(self.starts.len()),
            "figures": self.runs.iter().enumerate().map(figure).collect::<Vec<_>>(),
            "start": starts,
            "goals": goals,
            "not_run": skipped,
        })
        .to_string()
    }

    fn spread(&self, run: usize, figure: impl Fn(&Sample) -> f64) -> Spread {
        quartiles(
            self.rounds
                .iter()
                .map(|round| figure(&round[run]))
                .collect(),
        )
    }

    /// Quartiles of what `of` makes of two runs of the same round.
    fn paired(&self, run: usize, other: usize, of: impl Fn(&Sample, &Sample) -> f64) -> Spread {
        let rounds = self.rounds.iter();
        quartiles(rounds.map(|round| of(&round[run], &round[other])).collect())
    }

    fn find(&self, row: &Row, contender: Contender) -> Option<usize> {
        let mut runs = self.runs.iter();
        runs.position(|(own, who)| own.name == row.name && *who == contender)
    }

    fn over_bare(&self, run: usize) -> Option<Spread> {
        let (row, _) = self.runs[run];
        let bare = self
            .find(row, Contender::Bare)
            .filter(|&bare| bare != run)?;
        Some(self.paired(run, bare, |own, bare| {
            own.cpu_ns_per_operation() - bare.cpu_ns_per_operation()
        }))
    }

    fn judged(&self) -> Vec<Judged> {
        let ours =
            (self.runs.iter().enumerate()).filter(|(_, (_, who))| *who == Contender::Stiction);
        let rows = ours.flat_map(|(run, (row, _))| {
            let goals = row.goals.iter();
            goals.filter_map(move |&goal| self.judge(row, run, goal))
        });
        rows.chain(self.judged_starts()).collect()
    }

    /// `None` where somebody who belongs to it was not run.
    fn judge(&self, row: &'static Row, run: usize, goal: Goal) -> Option<Judged> {
        let cpu = Sample::cpu_ns_per_operation;
        let judged = |goal: String, measured: String, is_met| {
            Some(Judged {
                row: row.name,
                goal,
                measured,
                is_met,
            })
        };
        match goal {
            Goal::AtMostNs(most) => {
                let [low, middle, high] = self.spread(run, cpu);
                judged(
                    format!("at most {most} ns"),
                    format!("{middle:.1} ns ({low:.1} to {high:.1})"),
                    middle <= most,
                )
            }
            Goal::WithinPercentOfBare(most) => {
                let bare = self.find(row, Contender::Bare)?;
                let percent = |own: &Sample, bare: &Sample| (cpu(own) / cpu(bare) - 1.0) * 100.0;
                let [low, middle, high] = self.paired(run, bare, percent);
                judged(
                    format!("within {most} % of the bare loop"),
                    format!("{middle:+.1} % ({low:+.1} to {high:+.1})"),
                    middle <= most,
                )
            }
            Goal::OtherAtLeast(contender, least) => {
                let other = self.find(row, contender)?;
                let [low, middle, high] =
                    self.paired(other, run, |other, own| cpu(other) / cpu(own));
                judged(
                    format!("{} at least {least} times stiction", contender.name()),
                    format!("{middle:.2} ({low:.2} to {high:.2})"),
                    middle >= least,
                )
            }
            Goal::AsManyAsFio => {
                let [low, middle, high] = self.beside_best_fio(row, run)?;
                judged(
                    "as many operations a second as fio's best".to_owned(),
                    format!("{middle:.2} times ({low:.2} to {high:.2})"),
                    // Equals differ by chance.
                    high >= 1.0,
                )
            }
        }
    }

    /// Operations a second of `run`, in those of the best of fio's in the round.
    fn beside_best_fio(&self, row: &Row, run: usize) -> Option<Spread> {
        let fios = [Contender::Fio, Contender::FioTuned];
        let fios: Vec<usize> = fios.iter().filter_map(|&fio| self.find(row, fio)).collect();
        let wall = Sample::wall_ns_per_operation;
        let ratio = |round: &Vec<Sample>| {
            let best = fios.iter().map(|&fio| wall(&round[fio])).reduce(f64::min)?;
            Some(best / wall(&round[run]))
        };
        let ratios: Option<Vec<f64>> = self.rounds.iter().map(ratio).collect();
        ratios.map(quartiles)
    }

    /// Of the starts: ready, whole, memory and the whole of fio's.
    fn start_spreads(&self) -> Option<(Spread, Spread, Spread, Option<Spread>)> {
        if self.starts.is_empty() {
            return None;
        }
        let spread = |of: fn(&Start) -> f64| {
            quartiles(self.starts.iter().map(|(ours, _)| of(ours)).collect())
        };
        let fio: Option<Vec<f64>> = self.starts.iter().map(|(_, fio)| *fio).collect();
        Some((
            spread(|start| start.ready_ms),
            spread(|start| start.whole_ms),
            spread(|start| start.mib_per_worker),
            fio.map(quartiles),
        ))
    }

    fn starts_text(&self) -> String {
        let Some((ready, whole, mib, fio)) = self.start_spreads() else {
            return String::new();
        };
        let mut text = format!(
            "\n{}:\n\n| who | what | median | quartiles |\n|---|---|--:|---|\n",
            start::TITLE
        );
        let mut line = |who: &str, what: &str, [low, middle, high]: Spread| {
            let _ = writeln!(
                text,
                "| {who} | {what} | {middle:.2} | {low:.2} to {high:.2} |"
            );
        };
        line("stiction", "ready, ms", ready);
        line("stiction", "whole run, ms", whole);
        line("stiction", "memory, MiB a worker", mib);
        if let Some(fio) = fio {
            line("fio", "whole run, ms", fio);
        }
        text
    }

    fn judged_starts(&self) -> Vec<Judged> {
        let Some((ready, _, mib, _)) = self.start_spreads() else {
            return Vec::new();
        };
        let judged = |goal: String, unit: &str, [low, middle, high]: Spread, most| Judged {
            row: start::NAME,
            goal,
            measured: format!("{middle:.2} {unit} ({low:.2} to {high:.2})"),
            is_met: middle <= most,
        };
        vec![
            judged(
                format!("ready in {} ms", start::READY_MS_MAX),
                "ms",
                ready,
                start::READY_MS_MAX,
            ),
            judged(
                format!("at most {} MiB a worker", start::MIB_PER_WORKER_MAX),
                "MiB",
                mib,
                start::MIB_PER_WORKER_MAX,
            ),
        ]
    }
}

/// What was measured where.
fn about(options: &Options, folder: &Path) -> String {
    let system = rustix::system::uname();
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let model = model
        .and_then(|line| line.split(": ").nth(1))
        .unwrap_or("an unknown processor");
    let cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let magic = rustix::fs::statfs(folder).map_or(0, |found| found.f_type);
    // linux/magic.h
    let filesystem = match magic {
        0xef53 => "ext2, ext3 or ext4".to_owned(),
        0x5846_5342 => "xfs".to_owned(),
        0x9123_683e => "btrfs".to_owned(),
        0x0102_1994 => "tmpfs".to_owned(),
        other => format!("a file system with the magic number {other:#x}"),
    };
    format!(
        "{} rounds of {} s for each figure, in random order, on CPU {} of {cpus}; {model}; {} {}; files on {filesystem}.",
        options.rounds,
        options.seconds,
        options.cpu,
        system.sysname().to_string_lossy(),
        system.release().to_string_lossy(),
    )
}
