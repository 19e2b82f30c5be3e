//! The ground that tests stand on, and whether they left it as it was.
//!
//! Tests get a temporary directory of the run's own. Whatever is still in it when
//! they have ended, mounted below it or attached to a loop device from it, was left
//! behind, and that is a failure: the product promises to put everything back.

use std::path::{Path, PathBuf};

use crate::workspace;

/// The variable by which the testkit is told where to record skips.
const RECORD_VARIABLE: &str = "STICTION_SKIPPED";

/// The directory of one run, as one of its stages sees it.
pub(super) struct Ground {
    root: PathBuf,
    /// The stage's own temporary directory, so that it answers for itself alone.
    temporary: PathBuf,
}

impl Ground {
    /// Makes the directory anew. Refuses where an earlier run left something mounted.
    pub(super) fn prepare() -> Result<Self, String> {
        let root = workspace::target().join("ci");
        let failed = |error| format!("{}: {error}", root.display());
        std::fs::create_dir_all(&root).map_err(failed)?;
        // The kernel names mounts and backing files by their real paths.
        let root = root.canonicalize().map_err(failed)?;
        let busy = held_below(&root)?;
        if !busy.is_empty() {
            return Err(format!("an earlier run left behind: {}", busy.join(", ")));
        }
        std::fs::remove_dir_all(&root).map_err(failed)?;
        std::fs::create_dir(&root).map_err(failed)?;
        let temporary = root.clone();
        Ok(Self { root, temporary })
    }

    /// The same ground with an empty temporary directory for the named stage.
    pub(super) fn for_stage(&self, name: &str) -> Result<Self, String> {
        let temporary = self.root.join(name);
        match std::fs::create_dir(&temporary) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                Err(format!("{}: {error}", temporary.display()))
            }
            _ => Ok(Self {
                root: self.root.clone(),
                temporary,
            }),
        }
    }

    fn record(&self) -> PathBuf {
        self.root.join("skipped")
    }

    /// What the processes of a stage are told of it. A test that wants a store of
    /// its own says so; the user's is out of reach either way.
    pub(super) fn environment(&self) -> [(&'static str, PathBuf); 5] {
        [
            ("TMPDIR", self.temporary.clone()),
            ("STICTION_STORE", self.root.join("store")),
            // The machine that tests run on is never quiet.
            ("STICTION_SPOILERS", "ignore".into()),
            (RECORD_VARIABLE, self.record()),
            ("RUSTDOCFLAGS", "-D warnings".into()),
        ]
    }

    /// The tests that said why they did not run.
    pub(super) fn skipped(&self) -> Result<Vec<String>, String> {
        match std::fs::read_to_string(self.record()) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(format!("{}: {error}", self.record().display())),
        }
    }

    /// An error that names what the tests left behind, if they did.
    pub(super) fn is_clean(&self) -> Result<(), String> {
        let mut left = held_below(&self.temporary)?;
        left.extend(entries(&self.temporary)?);
        if left.is_empty() {
            Ok(())
        } else {
            Err(format!("tests left behind: {}", left.join(", ")))
        }
    }
}

/// Mounts and loop devices on anything below a directory.
fn held_below(directory: &Path) -> Result<Vec<String>, String> {
    let mounts = read(Path::new("/proc/self/mountinfo"))?;
    let mut held = mounts_below(&mounts, directory);
    for device in entries(Path::new("/sys/block"))? {
        // Absent where the loop device is not attached, or the device is no loop.
        let file = Path::new("/sys/block")
            .join(&device)
            .join("loop/backing_file");
        if let Ok(backing) = std::fs::read_to_string(file)
            && Path::new(backing.trim_end()).starts_with(directory)
        {
            held.push(format!("/dev/{device} on {}", backing.trim_end()));
        }
    }
    Ok(held)
}

/// The mount points (field 5 of proc_pid_mountinfo(5)) that lie below a directory.
fn mounts_below(mountinfo: &str, directory: &Path) -> Vec<String> {
    mountinfo
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .filter(|point| Path::new(point).starts_with(directory))
        .map(str::to_owned)
        .collect()
}

fn read(file: &Path) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn entries(directory: &Path) -> Result<Vec<String>, String> {
    let failed = |error| format!("{}: {error}", directory.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ground(root: &Path) -> Ground {
        Ground {
            root: root.to_owned(),
            temporary: root.to_owned(),
        }
    }

    #[test]
    fn a_stage_answers_for_what_its_own_tests_leave() {
        let root = tempfile::tempdir().unwrap();
        let ground = ground(root.path());
        let unit = ground.for_stage("unit").unwrap();
        assert_eq!(unit.is_clean(), Ok(()));
        std::fs::write(root.path().join("unit/forgotten"), "").unwrap();
        assert_eq!(
            unit.is_clean(),
            Err("tests left behind: forgotten".to_owned())
        );
        assert_eq!(ground.for_stage("root").unwrap().is_clean(), Ok(()));
    }

    #[test]
    fn a_mount_below_the_directory_is_found() {
        // The example line of proc_pid_mountinfo(5), and one of ours.
        let mountinfo = "\
36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
37 35 7:0 / /t/ci/tmp/x rw - ext4 /dev/loop0 rw
38 35 7:1 / /t/cities rw - ext4 /dev/loop1 rw
";
        assert_eq!(mounts_below(mountinfo, Path::new("/t/ci")), ["/t/ci/tmp/x"]);
    }

    #[test]
    fn no_record_means_that_nothing_was_skipped() {
        let root = tempfile::tempdir().unwrap();
        let ground = ground(root.path());
        assert_eq!(ground.skipped(), Ok(Vec::new()));
        std::fs::write(ground.record(), "a: needs root\n").unwrap();
        assert_eq!(ground.skipped(), Ok(vec!["a: needs root".to_owned()]));
    }
}
