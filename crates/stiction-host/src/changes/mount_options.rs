//! Mount options: what the kernel takes as flags and as text, and which are in force.

use std::collections::BTreeSet;
use std::path::Path;

use rustix::mount::MountFlags;
use stiction_core::{Applied, Moved, Setting};

use crate::Roots;
use crate::stack::mountinfo;

/// Options that are flags of mount(2), whatever the filesystem.
const FLAGS: [(&str, MountFlags); 12] = [
    ("noatime", MountFlags::NOATIME),
    ("relatime", MountFlags::RELATIME),
    ("strictatime", MountFlags::STRICTATIME),
    ("nodiratime", MountFlags::NODIRATIME),
    ("lazytime", MountFlags::LAZYTIME),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
    ("nodev", MountFlags::NODEV),
    ("noexec", MountFlags::NOEXEC),
    ("nosuid", MountFlags::NOSUID),
    ("rw", MountFlags::empty()),
    ("defaults", MountFlags::empty()),
];

/// Options that the kernel shows in other words.
const SAME: [(&str, &str); 2] = [("barrier=0", "nobarrier"), ("barrier=1", "barrier")];

/// Flags, and the text for the filesystem, of `noatime,data=journal`.
pub(super) fn split(options: &str) -> (MountFlags, String) {
    let mut flags = MountFlags::empty();
    let mut text = Vec::new();
    for option in words(options) {
        match FLAGS.iter().find(|(name, _)| *name == option) {
            Some((_, flag)) => flags |= *flag,
            None => text.push(option),
        }
    }
    (flags, text.join(","))
}

fn words(options: &str) -> impl Iterator<Item = &str> {
    let words = options.split(',').map(str::trim);
    words.filter(|option| !option.is_empty())
}

/// Every option that the kernel shows for what is mounted on `mount_point` from the
/// device `name`: ext4 lists all in effect, others those that are no defaults.
pub(super) fn in_force(roots: &Roots, mount_point: &Path, name: &str) -> BTreeSet<String> {
    let mounts = mountinfo::read(roots).unwrap_or_default();
    let mount = mounts
        .iter()
        .rev()
        .find(|mount| mount.mount_point == mount_point);
    let mut shown: BTreeSet<String> = mount
        .into_iter()
        .flat_map(|mount| {
            mount
                .options
                .iter()
                .chain(&mount.filesystem_options)
                .cloned()
        })
        .collect();
    let all = roots.text_if_any(format!("/proc/fs/ext4/{name}/options"));
    shown.extend(all.unwrap_or_default().lines().map(str::to_owned));
    shown
}

/// What came of mount options: `plain` is what the kernel showed without them.
pub(super) fn applied(
    asked: Setting,
    plain: &BTreeSet<String>,
    shown: &BTreeSet<String>,
) -> Applied {
    let missing: Vec<&str> = words(&asked.level)
        .filter(|option| !is_in_force(option, shown))
        .collect();
    let found = if missing.is_empty() {
        asked.level.clone()
    } else {
        format!("without {}", missing.join(","))
    };
    let is_asked = |option: &String| words(&asked.level).any(|word| is_shown_as(word, option));
    let moved = |option: &String, before: &str, after: &str| Moved {
        name: option.clone(),
        before: before.to_owned(),
        after: after.to_owned(),
    };
    let came = shown.difference(plain).filter(|option| !is_asked(option));
    let went = plain
        .difference(shown)
        .filter(|option| !is_replaced(option, &asked.level));
    Applied {
        also_changed: went
            .map(|option| moved(option, "on", "off"))
            .chain(came.map(|option| moved(option, "off", "on")))
            .collect(),
        found: Some(found),
        asked,
    }
}

/// Whether the kernel shows it, or it takes away what the kernel does not show.
fn is_in_force(option: &str, shown: &BTreeSet<String>) -> bool {
    let is_absent = |name: &str| !shown.iter().any(|one| is_shown_as(name, one));
    ["rw", "defaults"].contains(&option)
        || shown.iter().any(|one| is_shown_as(option, one))
        || option.strip_prefix("no").is_some_and(|name| !name.is_empty() && is_absent(name))
        // The kernel shows what is unlike it.
        || (option == "strictatime" && ["relatime", "noatime"].iter().all(|o| is_absent(o)))
}

/// Whether `shown` is how the kernel writes `option`: in other words, or with what was
/// left out (`compress=zstd:3`).
fn is_shown_as(option: &str, shown: &str) -> bool {
    let same = SAME
        .iter()
        .any(|pair| *pair == (option, shown) || *pair == (shown, option));
    let longer = shown
        .strip_prefix(option)
        .is_some_and(|rest| rest.starts_with(':'));
    option == shown || same || longer
}

/// Whether an option that went away is what one that was asked for stands against: the
/// same with another value, or its opposite.
fn is_replaced(gone: &str, asked: &str) -> bool {
    let key = |option: &str| {
        let name = option.split('=').next().unwrap_or(option);
        let name = name.strip_prefix("no").unwrap_or(name);
        if name.ends_with("atime") {
            "atime".to_owned()
        } else {
            name.to_owned()
        }
    };
    words(asked).any(|option| key(option) == key(gone))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(options: &[&str]) -> BTreeSet<String> {
        options.iter().map(|&option| option.to_owned()).collect()
    }

    #[test]
    fn flags_and_text_are_told_apart() {
        let (flags, text) = split("noatime, data=journal,,commit=1");
        assert_eq!(flags, MountFlags::NOATIME);
        assert_eq!(text, "data=journal,commit=1");
        assert_eq!(split(""), (MountFlags::empty(), String::new()));
    }

    /// The options as Linux 6.18 shows them for ext4.
    #[test]
    fn journalled_data_is_in_force_and_has_taken_delayed_allocation_away() {
        let plain = set(&[
            "rw",
            "relatime",
            "barrier",
            "delalloc",
            "data=ordered",
            "commit=5",
        ]);
        let shown = set(&[
            "rw",
            "relatime",
            "nobarrier",
            "nodelalloc",
            "data=journal",
            "commit=5",
        ]);
        let asked = Setting::new("mount_options", "data=journal,barrier=0,commit=5");
        let applied = applied(asked, &plain, &shown);
        assert!(applied.is_in_force(), "{applied:?}");
        let moved: Vec<String> = applied.also_changed.iter().map(Moved::to_string).collect();
        assert_eq!(moved, ["delalloc on -> off", "nodelalloc off -> on"]);
    }

    #[test]
    fn what_the_kernel_does_not_show_is_not_in_force() {
        let plain = set(&["rw", "relatime"]);
        let asked = |level: &str| Setting::new("mount_options", level);
        let one = applied(asked("discard,noatime"), &plain, &set(&["rw", "noatime"]));
        assert_eq!(one.found.as_deref(), Some("without discard"));
        assert!(one.also_changed.is_empty(), "{one:?}");
        let one = applied(
            asked("nodiscard,compress=zstd"),
            &plain,
            &set(&["compress=zstd:3"]),
        );
        assert!(one.is_in_force(), "{one:?}");
    }
}
