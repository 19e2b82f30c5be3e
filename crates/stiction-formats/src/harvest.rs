//! What the readers found, put together as one session.

use std::collections::{BTreeMap, BTreeSet};

use stiction_core::{Caveat, CaveatCode, Cell, Phase, PhaseKind, Trial};

use crate::command::Command;
use crate::label;
use crate::page::Page;
use crate::stated::{self, Fact};
use crate::{Imported, ImportedSession};

/// One phase that a text holds the figures of.
pub(crate) struct Row {
    /// Line that the figures begin on, from 1.
    pub(crate) line: usize,
    /// The kernel or configuration that it is labelled with.
    pub(crate) label: Option<String>,
    /// Every factor but the label.
    pub(crate) cell: Cell,
    /// The figures.
    pub(crate) phase: Phase,
}

/// Everything that has been found so far, and what the text says besides tables.
pub(crate) struct Harvest {
    /// Command lines of the text.
    pub(crate) commands: Vec<Command>,
    /// Facts that prose states.
    pub(crate) facts: Vec<Fact>,
    facts_used: BTreeSet<Fact>,
    rows: Vec<(&'static str, Row)>,
    labels_are_kernels: bool,
    stated: BTreeMap<String, String>,
    caveats: Vec<Caveat>,
    messages: Vec<String>,
    said: BTreeSet<String>,
}

impl Harvest {
    /// Nothing found yet on `page`.
    pub(crate) fn new(page: &Page) -> Self {
        Self {
            commands: Command::all(page),
            facts: stated::facts(page),
            facts_used: BTreeSet::new(),
            rows: Vec::new(),
            labels_are_kernels: false,
            stated: BTreeMap::new(),
            caveats: Vec::new(),
            messages: Vec::new(),
            said: BTreeSet::new(),
        }
    }

    /// Adds a phase that was read from a text of `layout`.
    pub(crate) fn add(&mut self, layout: &'static str, mut row: Row) {
        row.phase.notes.insert(0, format!("line {}", row.line));
        self.rows.push((layout, row));
    }

    /// A table's head calls its labels kernels.
    pub(crate) fn labels_are_kernels(&mut self) {
        self.labels_are_kernels = true;
    }

    /// The text itself says what a factor of some rows is.
    pub(crate) fn use_fact(&mut self, fact: Fact) {
        self.facts_used.insert(fact);
    }

    /// Keeps a fact under `key`; a second, different one under `key 2`, and so on.
    pub(crate) fn state(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        let mut name = key.to_owned();
        for nth in 2.. {
            match self.stated.get(&name) {
                Some(kept) if *kept != value => name = format!("{key} {nth}"),
                _ => break,
            }
        }
        self.stated.insert(name, value);
    }

    /// A doubt about everything that was read.
    pub(crate) fn doubt(&mut self, code: CaveatCode, detail: impl Into<String>) {
        let caveat = Caveat::new(code, detail);
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
        }
    }

    /// Tells the user what was taken from where.
    pub(crate) fn say(&mut self, message: impl Into<String>) {
        let message = message.into();
        if self.said.insert(message.clone()) {
            self.messages.push(message);
        }
    }

    /// The result: one session when anything was read.
    pub(crate) fn finish(mut self, mut page: Page) -> Imported {
        self.rows.sort_by_key(|(_, row)| row.line);
        if !self.rows.is_empty() {
            self.claim_facts(&mut page);
            self.claim_commands(&mut page);
            self.drop_single_directory();
            self.split_filesystems();
            self.say_which_labels_look_alike();
        }
        let refused = page.lines_refused();
        if refused > 0 {
            let lines = if refused == 1 { "line" } else { "lines" };
            self.doubt(
                CaveatCode::PartlyRead,
                format!("{refused} {lines} with figures could not be read"),
            );
        }
        let lines_read = page.lines_read();
        let layout = layouts(&self.rows);
        let rows = self.rows.into_iter().map(|(_, row)| row).collect();
        let trials = trials(rows, self.labels_are_kernels);
        let repeated = trials.iter().filter(|trial| trial.repetition > 0).count();
        if repeated > 0 {
            self.messages.push(format!(
                "rows with the same factors are taken for repetitions: {repeated} of {} trials",
                trials.len()
            ));
        }
        let sessions = if trials.is_empty() {
            Vec::new()
        } else {
            vec![ImportedSession {
                layout,
                trials,
                stated: self.stated,
                caveats: self.caveats,
            }]
        };
        Imported {
            sessions,
            unread: page.into_unread(),
            lines_read,
            messages: self.messages,
        }
    }

    /// Lines whose facts were used are read; what else they say is kept.
    fn claim_facts(&mut self, page: &mut Page) {
        let facts: Vec<Fact> = std::mem::take(&mut self.facts_used).into_iter().collect();
        for of_line in facts.chunk_by(|one, other| one.index == other.index) {
            let index = of_line[0].index;
            let said: Vec<String> = of_line
                .iter()
                .map(|fact| format!("{}={}", fact.about.factor(), fact.value))
                .collect();
            self.say(format!(
                "line {} says {} of the figures below it",
                page.number(index),
                said.join(", ")
            ));
            page.claim(index);
            if let Some(rest) = stated::remainder(page.text(index)) {
                self.state("machine", rest);
            }
        }
    }

    fn claim_commands(&mut self, page: &mut Page) {
        for command in std::mem::take(&mut self.commands) {
            page.claim(command.index);
            if command.run.is_none() {
                self.state("command", command.text);
            }
        }
    }

    /// A directory tells rows apart only when there are several.
    fn drop_single_directory(&mut self) {
        let directories: BTreeSet<_> = self
            .rows
            .iter()
            .filter_map(|(_, row)| row.cell.get("directory"))
            .collect();
        if directories.len() == 1 {
            for (_, row) in &mut self.rows {
                if let Some(directory) = row.cell.get("directory") {
                    self.stated
                        .insert("directory".to_owned(), directory.to_string());
                    row.cell = row.cell.clone().without("directory");
                }
            }
        }
    }

    /// Takes `(EXT2)` off the labels and makes it the filesystem.
    fn split_filesystems(&mut self) {
        for index in 0..self.rows.len() {
            let (_, row) = &self.rows[index];
            if row.cell.get("filesystem").is_some() {
                continue;
            }
            let Some(name) = row.label.clone() else {
                continue;
            };
            if let (before, Some(filesystem)) = label::split_filesystem(&name) {
                self.say(format!("`{name}`: the filesystem is {filesystem}"));
                let (_, row) = &mut self.rows[index];
                row.cell = row.cell.clone().with("filesystem", filesystem);
                row.label = Some(before.to_owned());
            }
        }
    }

    /// Names that differ in punctuation alone may be one thing misspelt; they are
    /// kept apart.
    fn say_which_labels_look_alike(&mut self) {
        let mut by_letters: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        let labels = self.rows.iter().filter_map(|(_, row)| row.label.as_deref());
        for label in labels {
            let letters = label
                .to_ascii_lowercase()
                .replace(|c: char| !c.is_alphanumeric() && c != '+', "");
            by_letters.entry(letters).or_default().insert(label);
        }
        let alike: Vec<String> = by_letters
            .into_values()
            .filter(|names| names.len() > 1)
            .map(|names| {
                let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
                format!(
                    "{} differ in punctuation alone; they are kept apart",
                    names.join(" and ")
                )
            })
            .collect();
        for message in alike {
            self.say(message);
        }
    }
}

/// A phase for figures to be put into.
pub(crate) fn phase(name: &str) -> Phase {
    Phase::new(name, PhaseKind::Measure)
}

/// The layouts of all rows, each once, in their order.
fn layouts(rows: &[(&'static str, Row)]) -> String {
    let mut layouts: Vec<&str> = Vec::new();
    for (layout, _) in rows {
        if !layouts.contains(layout) {
            layouts.push(layout);
        }
    }
    layouts.join(", ")
}

/// Phases of one cell make one trial; a phase that a cell has already begins the
/// next repetition.
fn trials(rows: Vec<Row>, labels_are_kernels: bool) -> Vec<Trial> {
    let are_kernels = labels_are_kernels
        || rows
            .iter()
            .filter_map(|row| row.label.as_deref())
            .all(label::looks_like_kernel);
    let factor = if are_kernels {
        "kernel"
    } else {
        "configuration"
    };
    let mut trials: Vec<Trial> = Vec::new();
    let mut of_cell: BTreeMap<Cell, Repetitions> = BTreeMap::new();
    for row in rows {
        let cell = match row.label {
            Some(label) => row.cell.with(factor, label),
            None => row.cell,
        };
        let repetitions = of_cell.entry(cell.clone()).or_default();
        let nth = repetitions
            .of_phase
            .entry(row.phase.name.clone())
            .or_insert(0);
        if *nth == repetitions.trials.len() {
            repetitions.trials.push(trials.len());
            trials.push(Trial::new(cell, u32::try_from(*nth).unwrap_or(u32::MAX)));
        }
        trials[repetitions.trials[*nth]].phases.push(row.phase);
        *nth += 1;
    }
    trials
}

/// The trials of one cell, and how many phases of each name they have already.
#[derive(Default)]
struct Repetitions {
    trials: Vec<usize>,
    of_phase: BTreeMap<String, usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, name: &str) -> Row {
        Row {
            line: 1,
            label: Some(label.to_owned()),
            cell: Cell::new().with("threads", 1u32),
            phase: phase(name),
        }
    }

    #[test]
    fn phases_of_one_cell_meet_and_repeated_ones_are_repetitions() {
        let rows = [
            "a write", "b write", "a write", "a read", "b read", "a read",
        ];
        let rows = rows
            .map(|text| text.split_once(' ').unwrap())
            .map(|(label, name)| row(label, name));
        let trials = trials(rows.into(), false);
        let shape: Vec<_> = trials
            .iter()
            .map(|trial| {
                let label = trial.cell.get("configuration").unwrap().to_string();
                (label, trial.repetition, trial.phases.len())
            })
            .collect();
        assert_eq!(
            shape,
            [
                ("a".to_owned(), 0, 2),
                ("b".to_owned(), 0, 2),
                ("a".to_owned(), 1, 2)
            ]
        );
    }

    #[test]
    fn labels_are_kernels_when_all_look_so_or_a_head_says_so() {
        let of = |labels: &[&str], said| {
            let rows = labels.iter().map(|label| row(label, "write")).collect();
            let factors: BTreeSet<String> = trials(rows, said)
                .iter()
                .flat_map(|trial| trial.cell.iter().map(|(name, _)| name.to_owned()))
                .filter(|name| name != "threads")
                .collect();
            factors.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(of(&["2.5.59", "2.5.59-mm2"], false), ["kernel"]);
        assert_eq!(of(&["2.5.59", "foo"], false), ["configuration"]);
        assert_eq!(of(&["foo"], true), ["kernel"]);
    }
}
