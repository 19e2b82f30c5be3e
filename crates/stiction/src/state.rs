//! Where sessions are kept, by the XDG base directory rules.

use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

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
    pub(crate) fn find(named: Option<&Path>) -> Self {
        if let Some(root) = named {
            return Self {
                root: root.to_owned(),
                remark: None,
            };
        }
        let problem = match etcetera::choose_base_strategy() {
            Ok(base) => {
                let root = base.data_dir().join("stiction");
                match std::fs::create_dir_all(&root) {
                    Ok(()) => return Self { root, remark: None },
                    Err(error) => format!("cannot make {}: {error}", root.display()),
                }
            }
            Err(error) => error.to_string(),
        };
        let user = rustix::process::geteuid().as_raw();
        let root = PathBuf::from(format!("/var/tmp/stiction-{user}"));
        let remark = format!(
            "{problem}; sessions go to {} (--store DIR overrides)",
            root.display()
        );
        Self {
            root,
            remark: Some(remark),
        }
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
