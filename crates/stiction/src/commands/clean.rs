//! `stiction clean`: undoing what a killed run could not.

use std::path::{Path, PathBuf};

use serde_json::json;
use stiction_host::{
    Change, Liveness, Owner, Undone, UserCommands, leftovers, pending, restore_with,
};

use super::Desk;
use crate::arguments::CleanArguments;
use crate::console::Console;
use crate::exit::Exit;
use crate::failure::Failure;

/// What came of the search.
#[derive(Default)]
struct Cleaning {
    /// What was removed or undone; with `--dry-run` what would be.
    removed: Vec<PathBuf>,
    /// The folders of settings that were put back; with `--dry-run` that would be.
    put_back: Vec<PathBuf>,
    /// What another boot of the machine has undone.
    void: Vec<PathBuf>,
    /// Commands of the user's that were carried out.
    carried_out: Vec<String>,
    /// Commands of the user's that are still to be carried out.
    left: Vec<String>,
    /// What is still in use by a run, and by which process.
    in_use: Vec<String>,
    /// What could not be looked at or removed, and why.
    problems: Vec<String>,
}

/// Undoes what dead runs have noted, and removes their directories from those named.
pub(super) fn run(typed: &CleanArguments, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let mut cleaning = Cleaning::default();
    if typed.dry_run {
        cleaning.foresee(&desk.state.undo())?;
    } else {
        cleaning.undo(&desk.state.undo(), typed.run_concludes, desk.console)?;
    }
    for directory in &typed.directories {
        cleaning.search(directory, typed.dry_run)?;
    }
    desk.console
        .data(&cleaning.report(typed.dry_run, desk.console.json))?;
    Ok(if cleaning.problems.is_empty() {
        Exit::Done
    } else {
        Exit::Error
    })
}

impl Cleaning {
    /// Lists what the undo journals of dead runs hold.
    fn foresee(&mut self, undo: &Path) -> Result<(), Failure> {
        let journals = pending(undo)?;
        for journal in journals.pending {
            match journal.liveness {
                Liveness::Dead => {
                    for change in &journal.changes {
                        match change {
                            Change::Command { .. } => self.left.push(command(change)),
                            _ => self.undone(change),
                        }
                    }
                }
                Liveness::Alive => self.in_use(&journal.owner.session, journal.owner.pid),
                Liveness::OtherMachine => self.problems.push(elsewhere(&journal.path)),
            }
        }
        self.problems
            .extend(journals.unreadable.iter().map(ToString::to_string));
        Ok(())
    }

    /// Undoes what the undo journals of dead runs hold.
    fn undo(&mut self, undo: &Path, run_concludes: bool, console: &Console) -> Result<(), Failure> {
        for journal in pending(undo)?.pending {
            match journal.liveness {
                Liveness::Dead => {}
                Liveness::Alive => self.in_use(&journal.owner.session, journal.owner.pid),
                Liveness::OtherMachine => self.problems.push(elsewhere(&journal.path)),
            }
        }
        let mut choose = |_: &Owner, change: &Change| match run_concludes {
            false => UserCommands::Leave,
            true => {
                // Before it is: what it does is not known.
                console.say(&format!("carrying out {}", command(change)));
                UserCommands::CarryOut
            }
        };
        let restoration = restore_with(undo, &mut choose)?;
        for restored in restoration.changes {
            match restored.result {
                Ok(Undone::Removed) => self.undone(&restored.change),
                Ok(Undone::WasGone) if !restored.owner.is_of_this_boot() => {
                    self.void.push(restored.change.path().to_owned());
                }
                Ok(Undone::WasGone) => {}
                Ok(Undone::Left) => self.left.push(command(&restored.change)),
                Err(error) => self.problems.push(error.to_string()),
            }
        }
        self.problems
            .extend(restoration.problems.iter().map(ToString::to_string));
        Ok(())
    }

    /// Removes directories that carry our marker and have no living owner.
    fn search(&mut self, directory: &Path, dry_run: bool) -> Result<(), Failure> {
        let found = leftovers(directory)?;
        for leftover in found.found {
            let path = leftover.path.clone();
            match leftover.liveness {
                Liveness::Alive => self.in_use(&leftover.owner.session, leftover.owner.pid),
                // The undo journals may have named it already.
                Liveness::Dead if dry_run && self.removed.contains(&path) => {}
                Liveness::Dead if dry_run => self.removed.push(path),
                Liveness::OtherMachine if dry_run => self.problems.push(elsewhere(&path)),
                Liveness::Dead | Liveness::OtherMachine => match leftover.remove() {
                    Ok(()) => self.removed.push(path),
                    Err(error) => self.problems.push(error.to_string()),
                },
            }
        }
        self.problems
            .extend(found.unreadable.iter().map(ToString::to_string));
        Ok(())
    }

    fn undone(&mut self, change: &Change) {
        let list = match change {
            Change::Command { .. } => return self.carried_out.push(command(change)),
            Change::KernelFiles { .. } => &mut self.put_back,
            _ => &mut self.removed,
        };
        list.push(change.path().to_owned());
    }

    fn in_use(&mut self, session: &stiction_core::SessionId, pid: u32) {
        let text = format!("session {session} is being run by process {pid}");
        if !self.in_use.contains(&text) {
            self.in_use.push(text);
        }
    }

    fn report(&self, dry_run: bool, as_json: bool) -> String {
        if as_json {
            let texts = |paths: &[PathBuf]| -> Vec<String> {
                let paths = paths.iter();
                paths
                    .map(|path| path.to_string_lossy().into_owned())
                    .collect()
            };
            return json!({
                "schema": "stiction-clean",
                "schema_version": 1,
                "dry_run": dry_run,
                "removed": texts(&self.removed),
                "put_back": texts(&self.put_back),
                "gone_since_boot": texts(&self.void),
                "carried_out": self.carried_out,
                "commands_left": self.left,
                "in_use": self.in_use,
                "problems": self.problems,
            })
            .to_string();
        }
        let verb = if dry_run { "would remove" } else { "removed" };
        let mut lines: Vec<String> = self
            .removed
            .iter()
            .map(|path| format!("{verb} {}", path.display()))
            .collect();
        let settings = if dry_run {
            "would put back"
        } else {
            "put back"
        };
        lines.extend(
            self.put_back
                .iter()
                .map(|folder| format!("{settings} the settings in {}", folder.display())),
        );
        lines.extend(self.void.iter().map(|path| {
            format!(
                "gone since the machine was started anew: {}",
                path.display()
            )
        }));
        lines.extend(
            self.carried_out
                .iter()
                .map(|one| format!("carried out {one}")),
        );
        lines.extend(self.left.iter().map(|one| {
            format!("not carried out: {one}; look at it, then --run-concludes does it")
        }));
        lines.extend(self.in_use.iter().map(|text| format!("left alone: {text}")));
        lines.extend(
            self.problems
                .iter()
                .map(|text| format!("not removed: {text}")),
        );
        let count = self.removed.len();
        let verb = match (count, self.put_back.len()) {
            (_, 0) => verb.to_owned(),
            (_, folders) => format!("{verb}, settings in {folders} {settings}"),
        };
        let done = count + self.put_back.len() + self.carried_out.len();
        lines.push(match (done, self.problems.len()) {
            (0, 0) if !self.left.is_empty() => {
                format!("{} of your commands not carried out", self.left.len())
            }
            (0, 0) => "Nothing was left behind".to_owned(),
            (_, 0) => format!("{count} {verb}"),
            (_, failed) => format!("{count} {verb}, {failed} could not be"),
        });
        lines.join("\n")
    }
}

/// A command of the user's, and where it is carried out.
pub(super) fn command(change: &Change) -> String {
    match change {
        Change::Command { words, directory } => {
            let line = match &words[..] {
                [sh, c, line] if sh == "sh" && c == "-c" => line.clone(),
                words => words.join(" "),
            };
            format!("`{line}` in {}", directory.display())
        }
        other => other.path().display().to_string(),
    }
}

fn elsewhere(path: &Path) -> String {
    format!(
        "{} was made on another machine: clean there",
        path.display()
    )
}
