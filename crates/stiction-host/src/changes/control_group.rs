//! A control group of our own, for the length of a measurement.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::HostError;
use crate::undo::{Change, Entry, UndoJournal};

/// A control group that is removed on drop, its processes moved back to its parent.
#[derive(Debug)]
pub struct ControlGroup {
    path: PathBuf,
    entry: Option<Entry>,
}

impl ControlGroup {
    /// Makes the group `name` in the folder `parent` of a mounted hierarchy.
    ///
    /// # Errors
    /// When `parent` is not ours to write, or has a group of that name.
    pub fn create(parent: &Path, name: &str, undo: &UndoJournal) -> Result<Self, HostError> {
        let path = parent.join(name);
        let entry = undo.begin(Change::ControlGroup { path: path.clone() })?;
        if let Err(error) = std::fs::create_dir(&path) {
            entry.undone()?;
            return Err(HostError::refused("make the control group", &path, error));
        }
        Ok(Self {
            path,
            entry: Some(entry),
        })
    }

    /// Its folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a setting: `blkio.throttle.read_bps_device`, `7:3 1048576`.
    ///
    /// # Errors
    /// When there is no such setting, or the kernel refuses the value.
    pub fn set(&self, setting: &str, value: &str) -> Result<(), HostError> {
        write(&self.path.join(setting), value)
    }

    /// Moves this process and all its threads into the group. What it starts from
    /// then on starts there too.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn enter(&self) -> Result<(), HostError> {
        write(
            &self.path.join("cgroup.procs"),
            &std::process::id().to_string(),
        )
    }

    /// Moves its processes to its parent and removes it.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn remove(mut self) -> Result<(), HostError> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), HostError> {
        let Some(entry) = self.entry.take() else {
            return Ok(());
        };
        let members = self.path.join("cgroup.procs");
        let text = std::fs::read_to_string(&members)
            .map_err(|error| HostError::refused("read", &members, error))?;
        if let Some(parent) = self.path.parent() {
            for process in text.lines() {
                // One that has ended meanwhile needs no moving; rmdir below tells
                // if any is left.
                let _ = write(&parent.join("cgroup.procs"), process);
            }
        }
        std::fs::remove_dir(&self.path)
            .map_err(|error| HostError::refused("remove the control group", &self.path, error))?;
        entry.undone()
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // A failure here is not lost: the entry stays open in the undo journal.
        let _ = self.undo();
    }
}

fn write(path: &Path, value: &str) -> Result<(), HostError> {
    OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(value.as_bytes()))
        .map_err(|error| HostError::refused("write", path, error))
}
