//! Where the machine's own files are read from: `/`, or a recorded tree in tests.

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Longest text that is read from one file of `/proc`, `/sys` or `/etc`. The
/// longest real ones, `/proc/self/mountinfo` of a large container host, stay far
/// below.
const MOST_BYTES: u64 = 16 << 20;

/// The folder that stands for `/` when `proc`, `sys`, `dev`, `etc` and `boot` are read.
///
/// Only reading goes through it. Whatever changes the machine uses real paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    base: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self::live()
    }
}

impl Roots {
    /// This machine.
    #[must_use]
    pub fn live() -> Self {
        Self::at(Path::new("/"))
    }

    /// A recorded machine whose files lie under `base`.
    #[must_use]
    pub fn at(base: &Path) -> Self {
        Self {
            base: base.to_owned(),
        }
    }

    /// Whether this is the running machine: then paths can be asked of the kernel too.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.base == Path::new("/")
    }

    /// Where the absolute path `path` lies.
    #[must_use]
    pub fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        self.base.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// The whole of a file.
    ///
    /// # Errors
    /// What the kernel says; and when the file is beyond 16 MiB.
    pub fn bytes(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(self.path(path))?;
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                "longer than 16 MiB",
            ));
        }
        Ok(bytes)
    }

    /// The whole of a text file, without white space at its ends; bytes that are
    /// not UTF-8 are replaced.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub fn text(&self, path: impl AsRef<Path>) -> io::Result<String> {
        let bytes = self.bytes(path)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// As [`text`](Self::text), for a file whose absence says nothing; empty files
    /// count as absent.
    pub(crate) fn text_if_any(&self, path: impl AsRef<Path>) -> Option<String> {
        self.text(path).ok().filter(|text| !text.is_empty())
    }

    /// A file that holds one number, if there is one.
    pub(crate) fn number_if_any(&self, path: impl AsRef<Path>) -> Option<u64> {
        self.text_if_any(path)?.parse().ok()
    }

    /// Names in a folder, sorted; none when it cannot be read.
    pub(crate) fn names(&self, path: impl AsRef<Path>) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.path(path))
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .collect();
        names.sort();
        names
    }

    /// Last component of what a symbolic link points to.
    pub(crate) fn link_name(&self, path: impl AsRef<Path>) -> Option<String> {
        let target = std::fs::read_link(self.path(path)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    }

    /// Whether the path exists, symbolic links followed.
    pub(crate) fn has(&self, path: impl AsRef<Path>) -> bool {
        self.path(path).exists()
    }
}
