//! Everything that a configuration changes on the machine for a trial, from the names
//! and levels of its factors.

use std::path::Path;

use stiction_core::{Applied, Conditions, Seed, Setting, format_bytes, parse_size_bytes};

use super::ager::{self, FileAge};
use super::filesystem_kind::{FilesystemKind, JournalPlace};
use super::journal_check::{FoundJournal, journal_of};
use super::scratch::{FilesystemRecipe, ScratchFilesystem, ScratchSpace};
use super::{Affinity, BlockQueue, DirtyLimit, GlobalGrant, GlobalSetting, GroupLimits, Limits};
use crate::undo::UndoJournal;
use crate::{GrantedDevice, HostError, Reserve, admit_bytes};

/// Size of scratch space where none was given, bytes.
pub const SCRATCH_BYTES: u64 = 1 << 30;

/// The factor for a file of the scheduler's own begins so: `iosched.fifo_batch`.
pub(super) const OF_SCHEDULER: &str = "iosched.";
/// Other factors of the machine.
const FACTORS: [&str; 11] = [
    "filesystem",
    "mkfs_options",
    "mount_options",
    "journal",
    "file_age",
    "dirty_limit",
    "memory",
    "cpus",
    "cpuset",
    Setting::HUGE_PAGES,
    Setting::GOVERNOR,
];

/// Names of all factors of the machine, for who mistyped one.
#[must_use]
pub fn machine_factors() -> Vec<String> {
    let names = FACTORS
        .iter()
        .chain(&Setting::QUEUE)
        .map(|&name| name.to_owned());
    let families = [
        format!("{OF_SCHEDULER}NAME"),
        format!("{}vm.NAME", Setting::SYSCTL),
    ];
    names.chain(families).collect()
}

/// What is to be changed, read and found to be possible as far as words tell.
#[derive(Clone, Debug)]
pub struct Alterations {
    settings: Vec<Setting>,
    size_bytes: u64,
    scratch: Option<(FilesystemKind, FilesystemRecipe)>,
    /// Files of the queue, the scheduler first.
    queue: Vec<(String, Setting)>,
    file_age: Option<(FileAge, Setting)>,
    dirty_limit: Option<Setting>,
    memory: Option<Setting>,
    cpus: Option<Setting>,
    cpuset: Option<Setting>,
    /// Of the whole machine.
    global: Vec<(Global, Setting)>,
    grant: Option<GlobalGrant>,
    /// What scratch space is on, where it is not a file of our own.
    granted: Option<GrantedDevice>,
}

impl Alterations {
    /// Reads `settings`. Whatever is about a device or a filesystem stands on scratch
    /// space of `size_bytes`, with ext4 where no filesystem is named.
    ///
    /// # Errors
    /// What is wrong with which of them.
    pub fn read(
        settings: &[Setting],
        size_bytes: u64,
        grant: Option<GlobalGrant>,
    ) -> Result<Self, String> {
        let mut read = Self {
            settings: settings.to_vec(),
            size_bytes,
            scratch: None,
            queue: Vec::new(),
            file_age: None,
            dirty_limit: None,
            memory: None,
            cpus: None,
            cpuset: None,
            global: Vec::new(),
            grant,
            granted: None,
        };
        for setting in settings {
            read.take(setting)
                .map_err(|problem| format!("{}: {problem}", setting.factor))?;
        }
        read.queue.sort_by_key(|(file, _)| file != "scheduler");
        if !(read.queue.is_empty() && read.dirty_limit.is_none()) {
            read.filesystem();
        }
        if grant.is_none() && !read.global.is_empty() {
            let (_, setting) = &read.global[0];
            return Err(format!(
                "{} is a setting of the whole machine: give --global-settings if others on \
                 it may have it too while the trials run",
                setting.factor
            ));
        }
        read.check()?;
        Ok(read)
    }

    fn take(&mut self, setting: &Setting) -> Result<(), String> {
        let level = setting.level.as_str();
        let own = || setting.clone();
        match setting.factor.as_str() {
            "filesystem" => self.filesystem().0 = level.parse()?,
            "mkfs_options" => {
                self.filesystem().1.mkfs_options = mkfs_words(level)?;
            }
            "mount_options" => self.filesystem().1.mount_options = level.to_owned(),
            "journal" => self.filesystem().1.journal = journal(level)?,
            "file_age" => {
                self.filesystem();
                self.file_age = Some((level.parse()?, own()));
            }
            "dirty_limit" => self.dirty_limit = Some(sized(setting)?),
            "memory" => self.memory = Some(sized(setting)?),
            "cpus" => self.cpus = Some(own()),
            "cpuset" => self.cpuset = Some(own()),
            Setting::HUGE_PAGES => self.global.push((Global::HugePages, own())),
            Setting::GOVERNOR => self.global.push((Global::Governor, own())),
            // The kernel takes an empty text for no request, and changes nothing.
            name if Setting::QUEUE.contains(&name) && level.trim().is_empty() => {
                return Err("a level is missing behind `=`".to_owned());
            }
            name if Setting::QUEUE.contains(&name) => self.queue.push((name.to_owned(), own())),
            name => {
                if let Some(file) = name.strip_prefix(OF_SCHEDULER) {
                    self.queue.push((format!("iosched/{file}"), own()));
                } else if let Some(sysctl) = name.strip_prefix(Setting::SYSCTL) {
                    self.global.push((Global::Sysctl(sysctl.to_owned()), own()));
                } else {
                    let mut known = machine_factors();
                    known.extend(Conditions::FACTORS.map(str::to_owned));
                    let known = known.join(", ");
                    return Err(format!("there is no such factor; there are {known}"));
                }
            }
        }
        Ok(())
    }

    fn filesystem(&mut self) -> &mut (FilesystemKind, FilesystemRecipe) {
        let usual = || (FilesystemKind::Ext4, FilesystemRecipe::default());
        self.scratch.get_or_insert_with(usual)
    }

    fn check(&self) -> Result<(), String> {
        let Some((kind, _)) = &self.scratch else {
            return Ok(());
        };
        let least = kind.least_bytes();
        if self.size_bytes < least {
            return Err(format!(
                "filesystem: {kind} needs scratch space of {} MiB at least",
                least >> 20
            ));
        }
        Ok(())
    }

    /// The same on scratch space, where it would not need one.
    #[must_use]
    pub fn on_scratch_space(mut self) -> Self {
        self.filesystem();
        self
    }

    /// The filesystem that is made on scratch space, where there is one.
    pub(super) fn scratch(&self) -> Option<&(FilesystemKind, FilesystemRecipe)> {
        self.scratch.as_ref()
    }

    /// The same with its scratch space on a device that was granted, as large as that is.
    ///
    /// # Errors
    /// When the device is too small, or what was asked for would not be on it.
    pub fn on_granted(mut self, device: &GrantedDevice) -> Result<Self, String> {
        self.size_bytes = device.length_bytes();
        self.granted = Some(device.clone());
        if self.filesystem().0 == FilesystemKind::Tmpfs {
            return Err("filesystem: tmpfs is in memory, and not on a device".to_owned());
        }
        if self.filesystem().1.journal == JournalPlace::External {
            return Err("journal: an external one needs another device".to_owned());
        }
        self.check()?;
        Ok(self)
    }

    /// The granted device that its scratch space is on.
    #[must_use]
    pub fn granted(&self) -> Option<&GrantedDevice> {
        self.granted.as_ref()
    }

    /// What was asked for, in that order.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// What scratch space it takes in the user's directory, bytes; `None` when it needs
    /// none.
    #[must_use]
    pub fn scratch_bytes(&self) -> Option<u64> {
        self.scratch.is_some().then_some(self.size_bytes)
    }

    /// Makes all of it, with scratch space in `directory`. Chance, where a filesystem is
    /// aged, follows from `seed`. On an error what had been made is undone.
    ///
    /// # Errors
    /// What could not be had, see [`HostError::skip_reason`].
    pub fn make(
        &self,
        directory: &Path,
        seed: Seed,
        undo: &UndoJournal,
    ) -> Result<Altered, HostError> {
        let mut altered = Altered::default();
        if let Some((kind, recipe)) = &self.scratch {
            self.make_scratch(*kind, recipe, (directory, seed), undo, &mut altered)?;
            self.make_old(seed, &mut altered)?;
        }
        for (global, setting) in &self.global {
            let grant = self.grant.ok_or(HostError::Unavailable {
                what: "a setting of the whole machine",
                reason: "it was not granted".to_owned(),
            })?;
            let setting = setting.clone();
            let (kept, applied) = match global {
                Global::Sysctl(name) => GlobalSetting::sysctl(name, setting, grant, undo)?,
                Global::HugePages => GlobalSetting::transparent_hugepage(setting, grant, undo)?,
                Global::Governor => GlobalSetting::governor(setting, grant, undo)?,
            };
            altered.global.push(kept);
            altered.applied.push(applied);
        }
        let limits = Limits {
            memory: self.memory.as_ref(),
            cpuset: self.cpuset.as_ref(),
        };
        if limits.memory.is_some() || limits.cpuset.is_some() {
            let (limits, applied) = GroupLimits::enter(limits, undo)?;
            altered.limits = Some(limits);
            altered.applied.extend(applied);
        }
        if let Some(setting) = &self.cpus {
            let (cpus, applied) = Affinity::set(setting.clone())?;
            altered.cpus = Some(cpus);
            altered.applied.push(applied);
        }
        Ok(altered)
    }

    fn make_scratch(
        &self,
        kind: FilesystemKind,
        recipe: &FilesystemRecipe,
        (directory, seed): (&Path, Seed),
        undo: &UndoJournal,
        altered: &mut Altered,
    ) -> Result<(), HostError> {
        let size = self.size_bytes;
        let space = match &self.granted {
            Some(device) => {
                ScratchSpace::on_granted(device, directory, kind, recipe.journal, undo)?
            }
            None => {
                // Of a filesystem in memory there is no file, but it takes no less room.
                let room = admit_bytes(directory, size, Reserve::default());
                room.map_err(|reason| HostError::Unavailable {
                    what: "scratch space",
                    reason: reason.detail,
                })?;
                ScratchSpace::make(directory, kind, recipe.journal, size, undo)?
            }
        };
        let space = altered.space.insert(space);
        let device = space.device();
        let of_device = |what| HostError::Unavailable {
            what,
            reason: format!("{kind} stands on no device"),
        };
        if !self.queue.is_empty() {
            let device = device.ok_or_else(|| of_device("a setting of a queue"))?;
            let queue = altered.queue.insert(device.queue(undo)?);
            for (file, setting) in &self.queue {
                altered.applied.push(queue.set(file, setting.clone())?);
            }
        }
        if let Some(setting) = &self.dirty_limit {
            let device = device.ok_or_else(|| of_device("a limit of a device's dirty data"))?;
            let limit = altered.dirty_limit.insert(device.dirty_limit(undo)?);
            altered.applied.push(limit.set(setting.clone())?);
        }
        let (filesystem, of_mount) =
            ScratchFilesystem::make(space, kind, recipe, (size, seed), undo)?;
        if let Some(asked) = self.settings.iter().find(|one| one.factor == "filesystem") {
            let found = filesystem.found_kind().map(|found| {
                if found == kind.mounted_as() {
                    asked.level.clone()
                } else {
                    found
                }
            });
            altered.applied.push(Applied {
                asked: asked.clone(),
                found,
                also_changed: Vec::new(),
            });
        }
        altered.applied.extend(of_mount);
        if let Some(asked) = self.settings.iter().find(|one| one.factor == "journal") {
            altered.applied.push(Applied {
                asked: asked.clone(),
                found: device
                    .and_then(|device| found_journal(asked, recipe.journal, device.path())),
                also_changed: Vec::new(),
            });
        }
        altered.filesystem = Some(filesystem);
        Ok(())
    }
}

impl Alterations {
    /// Ages the scratch filesystem, where it is to be.
    fn make_old(&self, seed: Seed, altered: &mut Altered) -> Result<(), HostError> {
        let (Some((age, asked)), Some(filesystem)) = (&self.file_age, &altered.filesystem) else {
            return Ok(());
        };
        if altered
            .space
            .as_ref()
            .is_some_and(|space| space.device().is_none())
        {
            return Err(HostError::Unavailable {
                what: "a filesystem of an age",
                reason: "one in memory has no places that could be far apart".to_owned(),
            });
        }
        let applied = ager::age(filesystem.path(), *age, seed, asked.clone())?;
        altered.applied.push(applied);
        Ok(())
    }
}

/// What was made for a trial: undone on drop, in the opposite order.
#[derive(Debug, Default)]
pub struct Altered {
    // In the order in which they must go.
    cpus: Option<Affinity>,
    limits: Option<GroupLimits>,
    global: Vec<GlobalSetting>,
    filesystem: Option<ScratchFilesystem>,
    dirty_limit: Option<DirtyLimit>,
    queue: Option<BlockQueue>,
    space: Option<ScratchSpace>,
    applied: Vec<Applied>,
}

impl Altered {
    /// The directory to work in instead of the user's: the top folder of the scratch
    /// filesystem, where there is one.
    #[must_use]
    pub fn directory(&self) -> Option<&Path> {
        self.filesystem.as_ref().map(ScratchFilesystem::path)
    }

    /// Gives the free blocks of the scratch filesystem back to its device; how many bytes
    /// these were. `None` where there is no such filesystem: others are left alone.
    ///
    /// # Errors
    /// As [`ScratchFilesystem::trim`].
    pub fn trim(&self) -> Option<Result<u64, HostError>> {
        self.filesystem.as_ref().map(ScratchFilesystem::trim)
    }

    /// What was asked for, what was found, and what moved with it.
    #[must_use]
    pub fn applied(&self) -> &[Applied] {
        &self.applied
    }

    /// Undoes all of it, whatever cannot be undone.
    ///
    /// # Errors
    /// The first that could not be undone; it stays in the undo journal.
    pub fn undo(self) -> Result<(), HostError> {
        drop(self.cpus);
        let mut results = vec![self.limits.map_or(Ok(()), GroupLimits::leave)];
        results.extend(self.global.into_iter().rev().map(GlobalSetting::put_back));
        results.push(self.filesystem.map_or(Ok(()), ScratchFilesystem::unmount));
        results.push(self.dirty_limit.map_or(Ok(()), DirtyLimit::put_back));
        results.push(self.queue.map_or(Ok(()), BlockQueue::put_back));
        results.push(self.space.map_or(Ok(()), ScratchSpace::close));
        results.into_iter().collect()
    }
}

/// A setting of the whole machine.
#[derive(Clone, Debug)]
enum Global {
    /// By its name behind `sysctl.`.
    Sysctl(String),
    /// When memory comes in huge pages.
    HugePages,
    /// How the CPUs' frequencies are chosen.
    Governor,
}

/// Where the journal is on `device`, in the words of `asked` where it is as asked for;
/// `None` where nothing tells.
fn found_journal(asked: &Setting, wanted: JournalPlace, device: &Path) -> Option<String> {
    let found = journal_of(device).ok()??;
    let is_as_asked = match (wanted, found) {
        (JournalPlace::Internal, FoundJournal::Internal { .. })
        | (JournalPlace::External, FoundJournal::External) => true,
        (JournalPlace::Sized { bytes }, FoundJournal::Internal { bytes: found }) => {
            found == Some(bytes)
        }
        _ => false,
    };
    Some(match found {
        _ if is_as_asked => asked.level.clone(),
        FoundJournal::Internal { bytes: Some(bytes) } => format_bytes(bytes),
        FoundJournal::Internal { bytes: None } => "internal".to_owned(),
        FoundJournal::External => "external".to_owned(),
        FoundJournal::None => "none".to_owned(),
    })
}

/// The setting, if its level is a size.
fn sized(setting: &Setting) -> Result<Setting, String> {
    parse_size_bytes(&setting.level).map_err(|error| error.to_string())?;
    Ok(setting.clone())
}

/// The words for the program that makes a filesystem. It runs with all rights and knows
/// nothing of grants, so a word that could name a device or file of others is refused.
fn mkfs_words(level: &str) -> Result<Vec<String>, String> {
    let names_another = |word: &&str| word.contains('/') || word.contains("device=");
    match level.split_ascii_whitespace().find(names_another) {
        None => Ok(level.split_ascii_whitespace().map(str::to_owned).collect()),
        Some(word) => Err(format!(
            "`{word}` may name a device or file; options about the filesystem alone are \
             passed on, and where the journal is says the factor `journal`"
        )),
    }
}

fn journal(level: &str) -> Result<JournalPlace, String> {
    Ok(match level {
        "internal" => JournalPlace::Internal,
        "external" => JournalPlace::External,
        size => JournalPlace::Sized {
            bytes: parse_size_bytes(size).map_err(|_| {
                format!("`{size}` is neither `internal`, `external` nor a size such as 64MiB")
            })?,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<Alterations, String> {
        let settings: Vec<Setting> = settings
            .iter()
            .map(|(factor, level)| Setting::new(*factor, *level))
            .collect();
        Alterations::read(&settings, SCRATCH_BYTES, None)
    }

    #[test]
    fn what_is_about_a_device_stands_on_scratch_space() {
        assert_eq!(read(&[("cpus", "0")]).unwrap().scratch_bytes(), None);
        for one in [
            ("scheduler", "none"),
            ("dirty_limit", "8MiB"),
            ("journal", "external"),
        ] {
            let read = read(&[one]).unwrap();
            assert_eq!(read.scratch_bytes(), Some(SCRATCH_BYTES), "{one:?}");
        }
    }

    #[test]
    fn the_scheduler_is_set_before_what_it_moves() {
        let read = read(&[
            ("nr_requests", "64"),
            ("iosched.fifo_batch", "8"),
            ("scheduler", "x"),
        ]);
        let read = read.unwrap();
        let files: Vec<&str> = read.queue.iter().map(|(file, _)| file.as_str()).collect();
        assert_eq!(files, ["scheduler", "nr_requests", "iosched/fifo_batch"]);
    }

    #[test]
    fn what_is_wrong_is_said_with_the_factor() {
        for (factor, level, expected) in [
            (
                "filesystem",
                "reiserfs",
                "filesystem: `reiserfs` is no filesystem",
            ),
            (
                "colour",
                "red",
                "colour: there is no such factor; there are filesystem",
            ),
            ("memory", "lots", "memory: "),
            ("journal", "inside", "journal: `inside` is neither"),
            ("scheduler", " ", "scheduler: a level is missing"),
            (
                "mkfs_options",
                "-F /dev/vda -L",
                "mkfs_options: `/dev/vda` may name a device",
            ),
            ("mkfs_options", "-J device=LABEL=j", "`device=LABEL=j` may"),
            ("mkfs_options", "-l logdev=/dev/vdb", "may name a device"),
            ("sysctl.vm.dirty_ratio", "5", "give --global-settings"),
            ("transparent_hugepage", "never", "give --global-settings"),
        ] {
            let problem = read(&[(factor, level)]).unwrap_err();
            assert!(problem.contains(expected), "{problem}");
        }
        let settings = [Setting::new("filesystem", "xfs")];
        let problem = Alterations::read(&settings, 64 << 20, None).unwrap_err();
        assert!(problem.contains("300 MiB"), "{problem}");
        let grant = GlobalGrant::from_option(true);
        let settings = [Setting::new("sysctl.vm.dirty_ratio", "5")];
        assert!(Alterations::read(&settings, SCRATCH_BYTES, grant).is_ok());
    }
}
