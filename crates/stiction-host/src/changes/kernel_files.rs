//! Settings that are files of `/sys` or `/proc`: what they are, setting one, and putting
//! all of them back as they were.
//!
//! The kernel moves some of them when others are set: a change of the I/O scheduler
//! changes `nr_requests`, `vm.dirty_bytes` zeroes `vm.dirty_ratio`. So a whole set is
//! kept, and whatever differs at the end is put back, not what was asked for alone.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use stiction_core::{Applied, Moved, Setting};

use crate::undo::{Change, Entry, UndoJournal, Undone};
use crate::{HostError, Roots};

/// How often what differs is written: a setting may be refused until another that it
/// depends on is back.
const PASSES: usize = 3;

/// A file of a set, and what it held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFile {
    /// Its name in the set's folder: `scheduler`, `iosched/quantum`.
    pub name: String,
    /// What it held, as it would be written back.
    pub value: String,
}

/// Files of one folder whose values are put back on drop, in the order in which they are
/// named.
#[derive(Debug)]
pub(super) struct KernelFiles {
    folder: PathBuf,
    before: Vec<KeptFile>,
    entry: Option<Entry>,
    /// The folder, locked: of two that keep the same settings, the one that ends first
    /// would put back what the other has set.
    _lock: File,
}

impl KernelFiles {
    /// Keeps what the files `names` in `folder` hold now; those that are not there, or
    /// that root alone may read, are left out. `disk` is the number by which the kernel
    /// tells this disk from every other of the same name.
    pub(super) fn keep(
        folder: &Path,
        names: &[String],
        disk: Option<u64>,
        undo: &UndoJournal,
    ) -> Result<Self, HostError> {
        let lock = lock(folder)?;
        let before = snapshot(folder, names);
        let entry = undo.begin(Change::KernelFiles {
            folder: folder.to_owned(),
            disk,
            before: before.clone(),
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            before,
            entry: Some(entry),
            _lock: lock,
        })
    }

    /// Writes `value` to the file `name`, and looks at what it and the others hold then.
    pub(super) fn set(&self, setting: Setting, name: &str) -> Result<Applied, HostError> {
        let names: Vec<String> = self.before.iter().map(|file| file.name.clone()).collect();
        if !names.iter().any(|known| known == name) {
            return Err(HostError::Unavailable {
                what: "this setting",
                reason: format!("{} has no {name} that can be set", self.folder.display()),
            });
        }
        let earlier = snapshot(&self.folder, &names);
        write(&self.folder.join(name), &setting.level)?;
        let now = snapshot(&self.folder, &names);
        let also_changed = earlier
            .iter()
            .filter(|file| file.name != name)
            .filter_map(|file| {
                let after = now.iter().find(|other| other.name == file.name)?;
                (after.value != file.value).then(|| Moved {
                    name: file.name.clone(),
                    before: file.value.clone(),
                    after: after.value.clone(),
                })
            })
            .collect();
        let found = now.into_iter().find(|file| file.name == name);
        Ok(Applied {
            found: found.map(|file| file.value),
            asked: setting,
            also_changed,
        })
    }

    /// Puts all of them back.
    pub(super) fn put_back(mut self) -> Result<(), HostError> {
        self.undo()
    }

    fn undo(&mut self) -> Result<(), HostError> {
        let Some(entry) = self.entry.take() else {
            return Ok(());
        };
        put_back(&self.folder, &self.before)?;
        entry.undone()
    }
}

impl Drop for KernelFiles {
    fn drop(&mut self) {
        // A failure here is not lost: the entry stays open in the undo journal.
        let _ = self.undo();
    }
}

fn lock(folder: &Path) -> Result<File, HostError> {
    let refused = |error: io::Error| HostError::refused("keep the settings in", folder, error);
    let open = File::open(folder).map_err(refused)?;
    match flock(&open, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(open),
        Err(Errno::WOULDBLOCK) => Err(HostError::Unavailable {
            what: "these settings",
            reason: format!("another run has changed those in {}", folder.display()),
        }),
        Err(errno) => Err(refused(errno.into())),
    }
}

/// Puts back what a process that is gone had set. A disk that has been taken away, or
/// has another in its place, is left alone.
pub(crate) fn put_back_leftover(
    folder: &Path,
    disk: Option<u64>,
    before: &[KeptFile],
) -> Result<Undone, HostError> {
    if !folder.is_dir() || (disk.is_some() && disk != sequence_of(folder)) {
        return Ok(Undone::WasGone);
    }
    put_back(folder, before)
}

/// The number of the disk whose folder `queue` this is.
fn sequence_of(queue: &Path) -> Option<u64> {
    Roots::live().number_if_any(queue.parent()?.join("diskseq"))
}

/// Names of the files in `folder` that have a value to read and to write.
pub(super) fn settable(folder: &Path) -> Vec<String> {
    let roots = Roots::live();
    let is_settable = |name: &String| {
        let told = folder.join(name).metadata();
        told.is_ok_and(|told| told.is_file() && told.permissions().mode() & 0o600 == 0o600)
    };
    roots
        .names(folder)
        .into_iter()
        .filter(is_settable)
        .collect()
}

/// What the files hold; those that cannot be read are left out.
fn snapshot(folder: &Path, names: &[String]) -> Vec<KeptFile> {
    let roots = Roots::live();
    names
        .iter()
        .filter_map(|name| {
            let text = roots.text(folder.join(name)).ok()?;
            Some(KeptFile {
                name: name.clone(),
                value: chosen(&text).to_owned(),
            })
        })
        .collect()
}

/// Of `none [mq-deadline] bfq` the choice in force; of other texts all.
pub(super) fn chosen(text: &str) -> &str {
    let choice = text
        .split_ascii_whitespace()
        .find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    choice.unwrap_or(text)
}

fn put_back(folder: &Path, before: &[KeptFile]) -> Result<Undone, HostError> {
    let names: Vec<String> = before.iter().map(|file| file.name.clone()).collect();
    let mut undone = Undone::WasGone;
    let mut refusal = None;
    for _ in 0..PASSES {
        for file in before {
            // Looked at one by one: each that is put back may move those after it.
            let now = snapshot(folder, std::slice::from_ref(&file.name));
            if now.first().is_none_or(|now| now.value != file.value) {
                undone = Undone::Removed;
                let path = folder.join(&file.name);
                refusal = write(&path, &file.value).err().or(refusal);
            }
        }
        if snapshot(folder, &names) == before {
            return Ok(undone);
        }
    }
    let now = snapshot(folder, &names);
    let differing: Vec<String> = before
        .iter()
        .filter(|file| !now.contains(file))
        .map(|file| {
            let is = now.iter().find(|now| now.name == file.name);
            let is = is.map_or("not there", |now| now.value.as_str());
            format!("{} was {} and is {is}", file.name, file.value)
        })
        .collect();
    let why = refusal.map_or_else(String::new, |error| format!(" ({error})"));
    Err(HostError::NotPutBack {
        path: folder.to_owned(),
        reason: differing.join(", ") + &why,
    })
}

/// One write of the whole value, as these files want it.
pub(super) fn write(path: &Path, value: &str) -> Result<(), HostError> {
    let written = OpenOptions::new()
        .write(true)
        .open(path)
        .and_then(|mut file| file.write_all(value.as_bytes()));
    written.map_err(|error: io::Error| HostError::refused("write", path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_in_brackets() {
        assert_eq!(chosen("none [mq-deadline] kyber bfq"), "mq-deadline");
        assert_eq!(chosen("always [madvise] never"), "madvise");
        assert_eq!(chosen("write back"), "write back");
        assert_eq!(chosen("[none]"), "none");
        assert_eq!(chosen("128"), "128");
    }

    #[test]
    fn a_folder_that_is_gone_has_nothing_to_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let before = [KeptFile {
            name: "a".to_owned(),
            value: "1".to_owned(),
        }];
        let gone = folder.path().join("queue");
        let undone = put_back_leftover(&gone, None, &before).unwrap();
        assert_eq!(undone, Undone::WasGone);
    }

    #[test]
    fn what_differs_is_put_back_and_what_cannot_be_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, value: &str| KeptFile {
            name: name.to_owned(),
            value: value.to_owned(),
        };
        std::fs::write(folder.path().join("a"), "2").unwrap();
        std::fs::write(folder.path().join("b"), "1").unwrap();
        let before = [file("a", "1"), file("b", "1")];
        assert_eq!(put_back(folder.path(), &before).unwrap(), Undone::Removed);
        assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"1");
        assert_eq!(put_back(folder.path(), &before).unwrap(), Undone::WasGone);

        std::fs::remove_file(folder.path().join("b")).unwrap();
        let error = put_back(folder.path(), &before).unwrap_err();
        assert!(
            error.to_string().contains("b was 1 and is not there"),
            "{error}"
        );
    }
}
