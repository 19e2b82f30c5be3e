//! Settings of the whole machine: everybody on it has them while a trial runs.

use std::path::{Path, PathBuf};

use stiction_core::{Applied, Setting};

use super::kernel_files::{KernelFiles, settable};
use crate::HostError;
use crate::undo::UndoJournal;

/// The user's word that settings of the whole machine may be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalGrant(());

impl GlobalGrant {
    /// From the option `--global-settings`, where it was given.
    #[must_use]
    pub fn from_option(is_given: bool) -> Option<Self> {
        is_given.then_some(Self(()))
    }
}

/// Pairs of which setting one zeroes the other (`Documentation/admin-guide/sysctl/vm.rst`).
const COUNTERPARTS: [[&str; 2]; 2] = [
    ["dirty_ratio", "dirty_bytes"],
    ["dirty_background_ratio", "dirty_background_bytes"],
];

/// A setting of the whole machine, put back on drop.
#[derive(Debug)]
pub struct GlobalSetting {
    kept: KernelFiles,
}

impl GlobalSetting {
    /// Sets the sysctl `name`, one of `vm.` or `fs.`.
    ///
    /// # Errors
    /// When there is none that can be read and set, or the kernel refuses the level.
    pub fn sysctl(
        name: &str,
        setting: Setting,
        _grant: GlobalGrant,
        undo: &UndoJournal,
    ) -> Result<(Self, Applied), HostError> {
        let (folder, file) = place(name).map_err(|reason| HostError::Unavailable {
            what: "this sysctl",
            reason,
        })?;
        let pair = COUNTERPARTS.iter().find(|pair| pair.contains(&file));
        let names = match pair {
            Some(pair) => pair.map(str::to_owned).to_vec(),
            None => vec![file.to_owned()],
        };
        let kept = KernelFiles::keep(&folder, &names, None, undo)?;
        let applied = kept.set(setting, file)?;
        Ok((Self { kept }, applied))
    }

    /// Sets when memory comes in huge pages: `always`, `madvise` or `never`.
    ///
    /// # Errors
    /// When the kernel has none, or does not know the level.
    pub fn transparent_hugepage(
        setting: Setting,
        _grant: GlobalGrant,
        undo: &UndoJournal,
    ) -> Result<(Self, Applied), HostError> {
        let folder = Path::new("/sys/kernel/mm/transparent_hugepage");
        let names = ["enabled".to_owned(), "defrag".to_owned()];
        let kept = KernelFiles::keep(folder, &names, None, undo)?;
        let applied = kept.set(setting, "enabled")?;
        Ok((Self { kept }, applied))
    }

    /// Puts it back.
    ///
    /// # Errors
    /// [`HostError::NotPutBack`] when it differs still; it stays in the undo journal.
    pub fn put_back(self) -> Result<(), HostError> {
        self.kept.put_back()
    }
}

/// The folder and the file of the sysctl `vm.dirty_ratio`.
fn place(name: &str) -> Result<(PathBuf, &str), String> {
    let is_plain = |part: &str| {
        let mut bytes = part.bytes();
        !part.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
    };
    let parts: Vec<&str> = name.split('.').collect();
    let (&file, folders) = parts.split_last().expect("at least one part");
    if !matches!(folders.first(), Some(&("vm" | "fs"))) || !parts.iter().all(|part| is_plain(part))
    {
        return Err(format!("`{name}` is none of vm. or fs."));
    }
    let folder = folders
        .iter()
        .fold(PathBuf::from("/proc/sys"), |path, part| path.join(part));
    if !settable(&folder).iter().any(|known| known == file) {
        return Err(format!("{name} is not there, or cannot be read and set"));
    }
    Ok((folder, file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_of_memory_and_files_have_a_place() {
        let (folder, file) = place("vm.dirty_ratio").unwrap();
        assert_eq!(
            (folder.as_path(), file),
            (Path::new("/proc/sys/vm"), "dirty_ratio")
        );
        // The second can be written alone: there is nothing to put back.
        for wrong in [
            "",
            "vm",
            "vm.drop_caches",
            "kernel.panic",
            "vm./../x",
            "vm.no_such",
        ] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_grant_is_the_user_s() {
        assert!(GlobalGrant::from_option(true).is_some());
        assert!(GlobalGrant::from_option(false).is_none());
    }
}
