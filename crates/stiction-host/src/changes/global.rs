//! Settings of the whole machine: everybody on it has them while a trial runs.

use std::path::{Path, PathBuf};

use stiction_core::{Applied, Setting};

use super::kernel_files::{KernelFiles, settable};
use crate::undo::UndoJournal;
use crate::{HostError, Roots};

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

    /// Sets how the frequency of all CPUs is chosen: `performance`, `powersave`,
    /// `schedutil` (`Documentation/admin-guide/pm/cpufreq.rst`).
    ///
    /// # Errors
    /// When the kernel chooses no frequencies here, or does not know the level.
    pub fn governor(
        setting: Setting,
        _grant: GlobalGrant,
        undo: &UndoJournal,
    ) -> Result<(Self, Applied), HostError> {
        Self::governor_in(Path::new("/sys/devices/system/cpu/cpufreq"), setting, undo)
    }

    fn governor_in(
        folder: &Path,
        setting: Setting,
        undo: &UndoJournal,
    ) -> Result<(Self, Applied), HostError> {
        let policies = Roots::live().names(folder).into_iter();
        let names = policies.map(|policy| format!("{policy}/scaling_governor"));
        let names: Vec<String> = names.filter(|name| folder.join(name).is_file()).collect();
        if names.is_empty() {
            return Err(HostError::Unavailable {
                what: "a governor",
                reason: format!(
                    "{} has no policies: this kernel chooses no frequencies (in a virtual \
                     machine its host does)",
                    folder.display()
                ),
            });
        }
        let kept = KernelFiles::keep(folder, &names, None, undo)?;
        let mut found: Vec<String> = Vec::new();
        for name in &names {
            let applied = kept.set(setting.clone(), name)?;
            found.extend(applied.found);
        }
        let is_whole = found.len() == names.len();
        found.dedup();
        let applied = Applied {
            asked: setting,
            found: is_whole.then(|| found.join(" and ")),
            also_changed: Vec::new(),
        };
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

    /// Levels of one length, since files that are none of the kernel's are not cut off.
    #[test]
    fn a_governor_is_set_for_every_policy_and_put_back() {
        let top = tempfile::tempdir().unwrap();
        let session = stiction_core::SessionId::new("2002-11-30T10:59:12Z".parse().unwrap(), 7);
        let undo = UndoJournal::open(&top.path().join("state"), &session).unwrap();
        let folder = top.path().join("cpufreq");
        let file = |policy: &str| folder.join(policy).join("scaling_governor");
        for (policy, level) in [("policy0", "powersave"), ("policy4", "schedutil")] {
            std::fs::create_dir_all(folder.join(policy)).unwrap();
            std::fs::write(file(policy), level).unwrap();
        }
        let held = |policy: &str| std::fs::read_to_string(file(policy)).unwrap();
        let setting = Setting::new("governor", "userspace");
        let (kept, applied) = GlobalSetting::governor_in(&folder, setting.clone(), &undo).unwrap();
        assert!(applied.is_in_force(), "{applied:?}");
        assert_eq!(
            (held("policy0"), held("policy4")),
            ("userspace".into(), "userspace".into())
        );
        kept.put_back().unwrap();
        assert_eq!(
            (held("policy0"), held("policy4")),
            ("powersave".into(), "schedutil".into())
        );
        assert!(undo.open_changes().is_empty());

        let empty = top.path().join("none");
        std::fs::create_dir(&empty).unwrap();
        let error = GlobalSetting::governor_in(&empty, setting, &undo).unwrap_err();
        let reason = error.skip_reason().unwrap();
        assert_eq!(reason.code, stiction_core::SkipCode::NotSupported);
    }

    #[test]
    fn the_grant_is_the_user_s() {
        assert!(GlobalGrant::from_option(true).is_some());
        assert!(GlobalGrant::from_option(false).is_none());
    }
}
