//! Where sessions are kept, by the XDG base directory rules.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::failure::Failure;

/// The directory that holds journals, database and undo notes.
#[derive(Clone, Debug)]
pub(crate) struct StateDirectory {
    root: PathBuf,
    /// Why it is not the usual place, for a line on stderr.
    pub(crate) remark: Option<String>,
}

impl StateDirectory {
    /// The directory the user named, or `stiction` in the user's data directory.
    ///
    /// A user without a home that can be written to (a container, `nobody`) gets
    /// a directory of the user's own under `/var/tmp`, and is told.
    ///
    /// # Errors
    /// When that, too, cannot be had.
    pub(crate) fn find(named: Option<&Path>) -> Result<Self, Failure> {
        if let Some(root) = named {
            return Ok(Self {
                root: root.to_owned(),
                remark: None,
            });
        }
        let problem = match etcetera::choose_base_strategy() {
            Ok(base) => {
                let root = base.data_dir().join("stiction");
                match std::fs::create_dir_all(&root) {
                    Ok(()) => return Ok(Self { root, remark: None }),
                    Err(error) => format!("cannot make {}: {error}", root.display()),
                }
            }
            Err(error) => error.to_string(),
        };
        let user = rustix::process::geteuid().as_raw();
        let root = PathBuf::from(format!("/var/tmp/stiction-{user}"));
        make_own(&root, user).map_err(|error| {
            Failure::new(format!(
                "{problem}; and {} neither: {error}",
                root.display()
            ))
            .advise("Name a directory to keep sessions in: --store DIR")
        })?;
        let remark = format!(
            "{problem}; sessions go to {} (--store DIR overrides)",
            root.display()
        );
        Ok(Self {
            root,
            remark: Some(remark),
        })
    }

    /// The same one, by a path that does not depend on the current directory.
    ///
    /// # Errors
    /// When the current directory is not known.
    pub(crate) fn absolute(&self) -> Result<Self, Failure> {
        Ok(Self {
            root: std::path::absolute(&self.root)?,
            remark: None,
        })
    }

    /// The directory itself.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Notes on what a run has changed and must undo.
    pub(crate) fn undo(&self) -> PathBuf {
        self.root.join("undo")
    }
}

/// Makes a directory for `user` alone, or takes the one that is there if it is such:
/// where everybody may write, the name may have been taken by somebody else.
fn make_own(path: &Path, user: u32) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = path.symlink_metadata()?;
    let writable_by_others = metadata.mode() & 0o022 != 0;
    if metadata.is_dir() && metadata.uid() == user && !writable_by_others {
        Ok(())
    } else {
        Err(io::Error::other("it is there and not yours alone"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn a_directory_that_others_may_write_to_is_not_taken() {
        let user = rustix::process::geteuid().as_raw();
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("state");
        make_own(&path, user).unwrap();
        make_own(&path, user).unwrap();
        assert!(make_own(&path, user + 1).is_err());
        set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
        assert!(make_own(&path, user).is_err());
        let link = top.path().join("link");
        symlink("/tmp", &link).unwrap();
        assert!(make_own(&link, user).is_err());
    }
}
