//! Filesystems on loop devices, which are gone afterwards.

use std::cell::RefCell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::told;

/// Where everything lies.
const ROOT: &str = "/var/tmp/stiction-bench-classic";

/// A filesystem by the ext4 driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// As it is called in tables.
    pub(super) name: &'static str,
    made_as: &'static str,
    options: &'static str,
}

/// Those of the story of 2002, and what came of them.
pub(super) const KINDS: [Kind; 4] = [
    Kind {
        name: "ext2",
        made_as: "ext2",
        options: "defaults",
    },
    Kind {
        name: "ext3 ordered",
        made_as: "ext3",
        options: "data=ordered",
    },
    Kind {
        name: "ext3 journal",
        made_as: "ext3",
        options: "data=journal",
    },
    Kind {
        name: "ext4",
        made_as: "ext4",
        options: "defaults",
    },
];

/// A directory of our own. What is mounted in it, and what stands on its files, goes with
/// it.
pub(super) struct Ground {
    mounted: RefCell<Vec<PathBuf>>,
}

impl Ground {
    /// Makes it; what a run that was killed has left is removed first.
    pub(super) fn make() -> Result<Self, String> {
        clear()?;
        fs::create_dir(ROOT).map_err(|error| format!("cannot make {ROOT}: {error}"))?;
        Ok(Self {
            mounted: RefCell::default(),
        })
    }

    /// A path in it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        Path::new(ROOT).join(name)
    }

    /// A filesystem of that kind in a sparse file, past the page cache of the one below.
    pub(super) fn filesystem(&self, kind: Kind, size_bytes: u64) -> Result<PathBuf, String> {
        let number = self.mounted.borrow().len();
        let image = self.path(&format!("{number}.image"));
        let place = self.path(&format!("{number}"));
        let refused = |error: std::io::Error| format!("cannot make {}: {error}", image.display());
        let file = File::create(&image).map_err(refused)?;
        file.set_len(size_bytes).map_err(refused)?;
        fs::create_dir(&place).map_err(refused)?;
        let (image_name, place_name) = (text(&image), text(&place));
        let settled = "lazy_itable_init=0,lazy_journal_init=0";
        let made_as = kind.made_as;
        told::run(
            "mke2fs",
            &["-q", "-F", "-t", made_as, "-E", settled, &image_name],
        )?;
        let mut attach = std::process::Command::new("losetup");
        let device =
            told::output(attach.args(["--direct-io=on", "--find", "--show", &image_name]))?;
        self.mounted.borrow_mut().push(place.clone());
        let options = kind.options;
        told::run(
            "mount",
            &["-t", made_as, "-o", options, device.trim(), &place_name],
        )?;
        Ok(place)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Err(message) = clear() {
            eprintln!("{message}");
        }
    }
}

/// Unmounts, detaches and removes what is there.
fn clear() -> Result<(), String> {
    if !Path::new(ROOT).exists() {
        return Ok(());
    }
    let refused = |error: std::io::Error| format!("cannot clear {ROOT}: {error}");
    let mounts = fs::read_to_string("/proc/self/mounts").map_err(refused)?;
    let ours = |line: &&str| line.contains(&format!(" {ROOT}/"));
    for line in mounts.lines().filter(ours) {
        let place = line.split(' ').nth(1).unwrap_or_default();
        told::run("umount", &[place])?;
    }
    for entry in fs::read_dir(ROOT).map_err(refused)? {
        let path = entry.map_err(refused)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "image")
        {
            let mut asked = std::process::Command::new("losetup");
            let devices = told::output(
                asked
                    .args(["--noheadings", "--output", "NAME", "-j"])
                    .arg(&path),
            )?;
            for device in devices.lines() {
                told::run("losetup", &["--detach", device.trim()])?;
            }
        }
    }
    fs::remove_dir_all(ROOT).map_err(refused)
}

/// The words of our own paths.
pub(super) fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
