//! The filesystems that can be made for a trial, and what making each takes.

use std::fmt;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::str::FromStr;

use stiction_core::{Seed, SkipCode, SkipReason};

use super::FilesystemRecipe;
use crate::{HostError, Roots};

/// Most that is told of what a failing program said, bytes.
const SAID_BYTES: usize = 400;

/// A filesystem that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FilesystemKind {
    /// ext2.
    Ext2,
    /// ext3.
    Ext3,
    /// ext4.
    Ext4,
    /// XFS.
    Xfs,
    /// btrfs.
    Btrfs,
    /// Files in memory.
    Tmpfs,
    /// Made as ext2 and given a journal: ext3 with the layout of ext2.
    Ext2ToExt3,
    /// Made as ext3, its journal taken away.
    Ext3ToExt2,
}

/// Where the journal of a filesystem is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JournalPlace {
    /// Where the tool puts it, as large as it makes it.
    #[default]
    Internal,
    /// In the filesystem, so large.
    Sized {
        /// How large, bytes.
        bytes: u64,
    },
    /// On a device of its own.
    External,
}

impl FilesystemKind {
    const ALL: [(Self, &'static str); 8] = [
        (Self::Ext2, "ext2"),
        (Self::Ext3, "ext3"),
        (Self::Ext4, "ext4"),
        (Self::Xfs, "xfs"),
        (Self::Btrfs, "btrfs"),
        (Self::Tmpfs, "tmpfs"),
        (Self::Ext2ToExt3, "ext2-to-ext3"),
        (Self::Ext3ToExt2, "ext3-to-ext2"),
    ];

    /// As what it is mounted.
    #[must_use]
    pub fn mounted_as(self) -> &'static str {
        match self {
            Self::Ext2 | Self::Ext3ToExt2 => "ext2",
            Self::Ext3 | Self::Ext2ToExt3 => "ext3",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Tmpfs => "tmpfs",
        }
    }

    /// Why it cannot be had with this kernel, where `/proc/filesystems` tells. What is a
    /// module that is not loaded yet is not there either.
    pub(super) fn missing_in(self, roots: &Roots) -> Option<SkipReason> {
        let known = roots.text_if_any("/proc/filesystems")?;
        let name = self.mounted_as();
        let is_known = known
            .lines()
            .any(|line| line.split('\t').next_back() == Some(name));
        let is_module = roots.text_if_any("/proc/modules").is_some();
        (!is_known && !is_module).then(|| {
            let text = format!("this kernel does not know {name} (/proc/filesystems)");
            SkipReason::new(SkipCode::NotSupported, text)
        })
    }

    /// Makes it on `device`, with its journal on `journal_device` where that is given.
    pub(super) fn make(
        self,
        device: &Path,
        recipe: &FilesystemRecipe,
        journal_device: Option<&Path>,
        seed: Seed,
    ) -> Result<(), HostError> {
        let mut tools = self
            .tools(device, recipe, journal_device, seed)?
            .into_iter();
        tools.try_for_each(Tool::run)
    }

    /// The programs that make it, in order, with the user's options behind our own. These
    /// name no other device: [`Alterations::read`](super::Alterations::read) has seen to
    /// that.
    pub(super) fn tools(
        self,
        device: &Path,
        recipe: &FilesystemRecipe,
        journal_device: Option<&Path>,
        seed: Seed,
    ) -> Result<Vec<Tool>, HostError> {
        let mut tools = Vec::new();
        let mut command = match self {
            Self::Tmpfs => return Ok(tools),
            Self::Ext2 | Self::Ext2ToExt3 => mke2fs("ext2", seed),
            Self::Ext3 | Self::Ext3ToExt2 => mke2fs("ext3", seed),
            Self::Ext4 => mke2fs("ext4", seed),
            Self::Xfs => Tool::new("mkfs.xfs", &["-q", "-f", "-K"]),
            Self::Btrfs => Tool::new("mkfs.btrfs", &["-q", "-f", "-K"]),
        };
        if let (Some(node), false) = (journal_device, self == Self::Xfs) {
            let journal = Tool::new("mke2fs", &["-q", "-F", "-b", "4096", "-O", "journal_dev"]);
            tools.push(journal.words([node.display().to_string()]));
            command = command.words(["-b".to_owned(), "4096".to_owned()]);
        }
        command = command
            .words(self.journal_words(recipe.journal, journal_device)?)
            // The device stands before the user's words: an option at their end that
            // wants an argument would take it, and leave another name for the device.
            .words([device.display().to_string()])
            .words(recipe.mkfs_options.iter().cloned());
        tools.push(command);
        let change = match self {
            Self::Ext2ToExt3 => Some(Tool::new("tune2fs", &["-j"])),
            Self::Ext3ToExt2 => Some(Tool::new("tune2fs", &["-O", "^has_journal"])),
            _ => None,
        };
        tools.extend(change.map(|change| change.words([device.display().to_string()])));
        Ok(tools)
    }

    /// What tells the tool where the journal is to be.
    fn journal_words(
        self,
        journal: JournalPlace,
        device: Option<&Path>,
    ) -> Result<Vec<String>, HostError> {
        let has_one = matches!(self, Self::Ext3 | Self::Ext4 | Self::Xfs);
        if !has_one && journal != JournalPlace::Internal {
            return Err(HostError::Unavailable {
                what: "a journal as asked for",
                reason: format!("{self} has none that can be placed or sized"),
            });
        }
        let (option, key) = match self {
            Self::Xfs => ("-l", "logdev"),
            _ => ("-J", "device"),
        };
        let place = match (journal, device) {
            (JournalPlace::Internal, _) | (JournalPlace::External, None) => return Ok(Vec::new()),
            (JournalPlace::External, Some(node)) => format!("{key}={}", node.display()),
            (JournalPlace::Sized { bytes }, _) if self == Self::Xfs => format!("size={bytes}"),
            // mke2fs(8) takes it in megabytes.
            (JournalPlace::Sized { bytes }, _) => format!("size={}", bytes >> 20),
        };
        Ok(vec![option.to_owned(), place])
    }

    /// Least size of a device for it, bytes: mkfs.xfs(8) since 5.19 and mkfs.btrfs(8)
    /// refuse smaller ones.
    #[must_use]
    pub fn least_bytes(self) -> u64 {
        match self {
            Self::Xfs => 300 << 20,
            Self::Btrfs => 110 << 20,
            _ => 16 << 20,
        }
    }
}

/// What ext4 initialises later on would show in the device's counters. Nothing is
/// discarded: the file under the device would lose its space. The seed of the hash of
/// names, which is drawn otherwise, says in which group a folder comes to lie and in which
/// order names are listed.
fn mke2fs(kind: &str, seed: Seed) -> Tool {
    let later = "lazy_itable_init=0,lazy_journal_init=0,nodiscard";
    let options = format!("{later},hash_seed={}", uuid(seed));
    Tool::new("mke2fs", &["-q", "-F", "-t", kind, "-E", &options])
}

/// 128 bits from a seed, as a UUID is written.
pub(super) fn uuid(seed: Seed) -> String {
    let digits = format!("{:016x}{:016x}", seed.stream(0).0, seed.stream(1).0);
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts.map(|part| digits[part].to_owned()).join("-")
}

impl fmt::Display for FilesystemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (_, name) = Self::ALL
            .iter()
            .find(|(kind, _)| kind == self)
            .expect("all are there");
        f.pad(name)
    }
}

impl FromStr for FilesystemKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|(_, name)| *name == text);
        found.map(|(kind, _)| *kind).ok_or_else(|| {
            let names = Self::ALL.map(|(_, name)| name).join(", ");
            format!("`{text}` is no filesystem that can be made: there are {names}")
        })
    }
}

/// A program of the system's, run to its end.
pub(super) struct Tool {
    program: &'static str,
    words: Vec<String>,
}

impl Tool {
    fn new(program: &'static str, words: &[&str]) -> Self {
        Self {
            program,
            words: words.iter().map(|&word| word.to_owned()).collect(),
        }
    }

    /// Its name.
    pub(super) fn program(&self) -> &'static str {
        self.program
    }

    fn words(mut self, words: impl IntoIterator<Item = String>) -> Self {
        self.words.extend(words);
        self
    }

    fn run(self) -> Result<(), HostError> {
        // Where the user's PATH lacks the folders of the system's programs.
        let places = ["", "/usr/sbin/", "/sbin/"];
        for place in places {
            let output = Command::new(format!("{place}{}", self.program))
                .args(&self.words)
                // A name without a slash is one in here: nothing that could be
                // overwritten, and nothing can be made.
                .current_dir("/sys/fs")
                .stdin(Stdio::null())
                .output();
            let output = match output {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => {
                    return Err(HostError::refused("start", Path::new(self.program), error));
                }
                Ok(output) => output,
            };
            if output.status.success() {
                return Ok(());
            }
            let said = [output.stdout, output.stderr].concat();
            let end = &said[said.len().saturating_sub(SAID_BYTES)..];
            let said = String::from_utf8_lossy(end).trim().replace('\n', "; ");
            return Err(HostError::Program {
                program: self.to_string(),
                said: if said.is_empty() {
                    output.status.to_string()
                } else {
                    said
                },
            });
        }
        Err(HostError::Unavailable {
            what: self.program,
            reason: "the program is not installed".to_owned(),
        })
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.program, self.words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_uuid_of_32_digits() {
        let text = uuid(Seed(1));
        let lengths: Vec<usize> = text.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(text, uuid(Seed(1)));
        assert_ne!(text, uuid(Seed(2)));
    }

    #[test]
    fn names_read_back() {
        for (kind, name) in FilesystemKind::ALL {
            assert_eq!(kind.to_string(), name);
            assert_eq!(name.parse(), Ok(kind));
        }
        let error = "reiserfs".parse::<FilesystemKind>().unwrap_err();
        assert!(error.contains("ext2, ext3"), "{error}");
    }

    #[test]
    fn a_kernel_without_it_and_without_modules_lacks_it() {
        let machine = tempfile::tempdir().unwrap();
        let proc = machine.path().join("proc");
        std::fs::create_dir(&proc).unwrap();
        std::fs::write(proc.join("filesystems"), "nodev\ttmpfs\n\text4\n").unwrap();
        let roots = Roots::at(machine.path());
        assert_eq!(FilesystemKind::Ext4.missing_in(&roots), None);
        assert_eq!(FilesystemKind::Tmpfs.missing_in(&roots), None);
        let reason = FilesystemKind::Xfs.missing_in(&roots).unwrap();
        assert_eq!(reason.code, SkipCode::NotSupported);
        // The kernel may load it when it is asked for.
        std::fs::write(proc.join("modules"), "xfs_helper 1 0 - Live 0x0\n").unwrap();
        assert_eq!(FilesystemKind::Xfs.missing_in(&roots), None);
    }

    #[test]
    fn journals_are_placed_as_the_tools_want_it() {
        let node = Path::new("/dev/loop9");
        let words = |kind: FilesystemKind, journal| kind.journal_words(journal, Some(node)).ok();
        let sized = JournalPlace::Sized { bytes: 8 << 20 };
        let expected = |one: &str, two: &str| Some(vec![one.to_owned(), two.to_owned()]);
        assert_eq!(words(FilesystemKind::Ext3, sized), expected("-J", "size=8"));
        assert_eq!(
            words(FilesystemKind::Xfs, sized),
            expected("-l", "size=8388608")
        );
        let external = JournalPlace::External;
        assert_eq!(
            words(FilesystemKind::Ext4, external),
            expected("-J", "device=/dev/loop9")
        );
        assert_eq!(
            words(FilesystemKind::Xfs, external),
            expected("-l", "logdev=/dev/loop9")
        );
        assert_eq!(words(FilesystemKind::Btrfs, external), None);
        assert_eq!(
            words(FilesystemKind::Btrfs, JournalPlace::Internal),
            Some(Vec::new())
        );
    }

    #[test]
    fn a_name_without_a_slash_is_none_of_the_users_files() {
        Tool::new("sh", &["-c", "test \"$(pwd)\" = /sys/fs"])
            .run()
            .unwrap();
    }

    #[test]
    fn a_program_that_fails_is_told_with_what_it_said() {
        let error = Tool::new("sh", &["-c", "echo no >&2; exit 3"])
            .run()
            .unwrap_err();
        assert_eq!(error.to_string(), "sh -c echo no >&2; exit 3 failed: no");
        let error = Tool::new("no-such-program-here", &[]).run().unwrap_err();
        assert!(matches!(error, HostError::Unavailable { .. }), "{error}");
    }
}
