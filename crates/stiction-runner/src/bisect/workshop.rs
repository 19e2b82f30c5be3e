//! Two clones of our own, in which versions are built.
//!
//! They share the objects of the user's repository and write nothing into it: neither
//! its checkout nor its list of work trees knows of them, and after a `kill -9` there is
//! nothing to put right there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stiction_core::{BisectQuestion, Untestable, Version};
use stiction_engine::StopFlag;
use stiction_host::{OwnDirectory, UndoJournal, space};

use super::BisectError;
use super::build::{Built, build};
use super::git::{git, refused};

/// Less than this, and a build that fails is taken to fail for want of space.
const ROOM_BYTES: u64 = 4 << 20;

/// Names of equal length: that of a working directory can change what a program takes.
const NAMES: [&str; 2] = ["tree-a", "tree-b"];

/// Whether a version stands ready.
#[derive(Debug)]
pub(super) enum Ready {
    /// It was there already.
    Already(PathBuf),
    /// It was built, in so many seconds.
    Built(PathBuf, f64),
    /// It cannot be had.
    Untestable(Untestable, String),
    /// The user wants no more.
    Stopped,
}

/// Where versions are built.
#[derive(Debug)]
pub(super) struct Workshop {
    own: OwnDirectory,
    repository: PathBuf,
    build: Option<String>,
    keeps_build_files: bool,
    limit: Option<Duration>,
    /// What stands in each clone.
    standing: [Option<Version>; 2],
}

impl Workshop {
    pub(super) fn open(question: &BisectQuestion, undo: &UndoJournal) -> Result<Self, BisectError> {
        Ok(Self {
            own: OwnDirectory::create(&question.work, undo)?,
            repository: question.tree.clone(),
            build: question.build.clone(),
            keeps_build_files: question.keeps_build_files,
            limit: question.limit_s.map(Duration::from_secs),
            standing: [None, None],
        })
    }

    pub(super) fn close(self) -> Result<(), BisectError> {
        Ok(self.own.close()?)
    }

    /// Has `version` stand ready in a clone, and leaves `other` where it is.
    pub(super) fn ready(
        &mut self,
        version: &Version,
        other: &Version,
        stop: &StopFlag,
    ) -> Result<Ready, BisectError> {
        let standing = |version: &Version| {
            let stands = |slot: &Option<Version>| slot.as_ref() == Some(version);
            self.standing.iter().position(stands)
        };
        if let Some(slot) = standing(version) {
            return Ok(Ready::Already(self.clone_path(slot)));
        }
        let slot = match standing(other) {
            Some(taken) => 1 - taken,
            None => 0,
        };
        self.standing[slot] = None;
        let path = self.clone_path(slot);
        if !path.exists() {
            self.clone_into(&path)?;
        }
        let commit = match version {
            Version::Commit(commit) | Version::Without { commit, .. } => commit,
        };
        self.git(
            &path,
            &["checkout", "--quiet", "--force", "--detach", commit],
        )?;
        if !self.keeps_build_files {
            self.git(&path, &["clean", "--quiet", "-ffdx"])?;
        }
        if let Version::Without { reverted, .. } = version
            && let Err(said) = self.revert(&path, reverted)?
        {
            return Ok(Ready::Untestable(Untestable::Revert, said));
        }
        let seconds = match self.build_in(&path, stop)? {
            Built::Whole(seconds) => seconds,
            Built::Failed(said) => return self.failed(&path, said),
            Built::Stopped => return Ok(Ready::Stopped),
        };
        self.standing[slot] = Some(version.clone());
        Ok(Ready::Built(path, seconds))
    }

    fn clone_path(&self, slot: usize) -> PathBuf {
        self.own.path().join(NAMES[slot])
    }

    fn clone_into(&self, path: &Path) -> Result<(), BisectError> {
        let mut command = git(self.own.path());
        command
            .args(["clone", "--quiet", "--shared", "--no-checkout"])
            // A build that pushes is not to reach the user's branches.
            .args(["--config", "remote.origin.pushurl=/dev/null"])
            .arg(&self.repository)
            .arg(path);
        self.finish(command, "clone")
    }

    fn git(&self, path: &Path, arguments: &[&str]) -> Result<(), BisectError> {
        let mut command = git(path);
        command
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(arguments);
        self.finish(command, arguments[0])
    }

    fn finish(&self, mut command: std::process::Command, doing: &str) -> Result<(), BisectError> {
        let output = command.output().map_err(|error| BisectError::Git {
            tree: self.repository.clone(),
            doing: doing.to_owned(),
            said: error.to_string(),
        })?;
        if output.status.success() {
            return Ok(());
        }
        Err(refused(&self.repository, doing, &output))
    }

    /// Takes `commit` back in the clone at `path`: `Err` with git's words where that
    /// conflicts.
    fn revert(&self, path: &Path, commit: &str) -> Result<Result<(), String>, BisectError> {
        let parents = git(path)
            .args(["show", "--no-patch", "--format=%P", commit])
            .output();
        let is_merge = parents.is_ok_and(|output| {
            String::from_utf8_lossy(&output.stdout)
                .split_whitespace()
                .count()
                > 1
        });
        let mainline: &[&str] = if is_merge { &["--mainline", "1"] } else { &[] };
        let mut arguments = vec!["revert", "--no-commit"];
        arguments.extend(mainline);
        arguments.push(commit);
        match self.git(path, &arguments) {
            Ok(()) => Ok(Ok(())),
            Err(BisectError::Git { said, .. }) => {
                self.git(path, &["reset", "--quiet", "--hard"])?;
                Ok(Err(said))
            }
            Err(error) => Err(error),
        }
    }

    fn build_in(&self, path: &Path, stop: &StopFlag) -> Result<Built, BisectError> {
        match &self.build {
            Some(line) => Ok(build(line, path, self.limit, stop)?),
            None => Ok(Built::Whole(0.0)),
        }
    }

    fn failed(&self, path: &Path, said: String) -> Result<Ready, BisectError> {
        let left = space(path)?;
        if left.size_bytes > 0 && left.available_bytes < ROOM_BYTES {
            let path = path.to_owned();
            return Err(BisectError::Full { path });
        }
        Ok(Ready::Untestable(Untestable::Build, said))
    }
}
