//! What a person told the store, beside the sessions: a small JSON file for each kind.
//!
//! The database is made from the journals and may be thrown away; these files are not in
//! it and stay.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::marker::PhantomData;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use stiction_core::Annotation;

use crate::StoreError;

/// A file in a directory of state that holds one value, which is read and replaced whole.
pub struct Document<T> {
    directory: PathBuf,
    name: &'static str,
    value: PhantomData<T>,
}

impl Document<Vec<Annotation>> {
    /// What people know about changes in series: `annotations.json`.
    #[must_use]
    pub fn annotations(directory: &Path) -> Self {
        Self::new(directory, "annotations.json")
    }
}

impl<T: Serialize + DeserializeOwned + Default> Document<T> {
    /// The document `name` in `directory`, which need not be there.
    #[must_use]
    pub fn new(directory: &Path, name: &'static str) -> Self {
        Self {
            directory: directory.to_owned(),
            name,
            value: PhantomData,
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.join(self.name)
    }

    /// Its value; the default where there is no such file.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`] when it does not hold what it was written with.
    pub fn read(&self) -> Result<T, StoreError> {
        let path = self.path();
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
            Err(error) => return Err(StoreError::io("read", &path, error)),
        };
        serde_json::from_slice(&text).map_err(|error| StoreError::Unreadable {
            path,
            problem: error.to_string(),
        })
    }

    /// Lets `edit` change its value, and writes it: whoever reads sees the old or the new
    /// one, also after a crash, and two that change it at once do so one after the other.
    ///
    /// # Errors
    /// When it cannot be read or written; it is then what it was.
    pub fn change<R>(&self, edit: impl FnOnce(&mut T) -> R) -> Result<R, StoreError> {
        let at = |doing, path: &Path| {
            let path = path.to_owned();
            move |error| StoreError::io(doing, &path, error)
        };
        let mut builder = DirBuilder::new();
        let made = builder.recursive(true).mode(0o700).create(&self.directory);
        made.map_err(at("make the directory of the store", &self.directory))?;
        let directory = File::open(&self.directory)
            .map_err(at("open the directory of the store", &self.directory))?;
        // The directory's own lock: the file is another one after each change. Without
        // locks, as on some network filesystems, one of two changes at once is lost.
        let _ = directory.lock();
        let mut value = self.read()?;
        let result = edit(&mut value);
        let mut text = serde_json::to_vec_pretty(&value).expect("it is plain data");
        text.push(b'\n');
        let (path, new) = (
            self.path(),
            self.directory.join(format!(".{}.new", self.name)),
        );
        write_new(&new, &text)
            .and_then(|()| fs::rename(&new, &path))
            .and_then(|()| directory.sync_all())
            .inspect_err(|_| {
                // What was written of it is of use to nobody; gone already where the
                // sync alone failed.
                let _ = fs::remove_file(&new);
            })
            .map_err(at("write", &path))?;
        Ok(result)
    }
}

fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path)?;
    file.write_all(text)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(directory: &Path) -> Document<Vec<u32>> {
        Document::new(directory, "numbers.json")
    }

    #[test]
    fn what_is_not_there_is_the_default_and_what_is_changed_stays() {
        let top = tempfile::tempdir().unwrap();
        let place = top.path().join("store");
        assert!(document(&place).read().unwrap().is_empty());
        assert!(!place.exists());
        assert_eq!(
            document(&place)
                .change(|all: &mut Vec<u32>| {
                    all.push(7);
                    all.len()
                })
                .unwrap(),
            1
        );
        assert_eq!(document(&place).read().unwrap(), [7]);
        assert_eq!(
            fs::read_dir(&place).unwrap().count(),
            1,
            "nothing else is left"
        );
    }

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let top = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for number in 0..8 {
                let place = top.path();
                scope.spawn(move || document(place).change(|all| all.push(number)).unwrap());
            }
        });
        let mut all = document(top.path()).read().unwrap();
        all.sort_unstable();
        assert_eq!(all, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn what_cannot_be_read_is_named_and_left_alone() {
        let top = tempfile::tempdir().unwrap();
        let path = document(top.path()).path();
        fs::write(&path, "[1, \"two\"]").unwrap();
        let error = document(top.path()).change(Vec::clear).unwrap_err();
        assert!(matches!(error, StoreError::Unreadable { .. }), "{error}");
        assert!(error.to_string().contains("numbers.json"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "[1, \"two\"]");
    }

    /// A crash leaves at most an unfinished file of another name.
    #[test]
    fn an_unfinished_change_is_not_seen_and_is_no_hindrance() {
        let top = tempfile::tempdir().unwrap();
        document(top.path()).change(|all| all.push(1)).unwrap();
        fs::write(top.path().join(".numbers.json.new"), "[1, 2").unwrap();
        assert_eq!(document(top.path()).read().unwrap(), [1]);
        document(top.path()).change(|all| all.push(3)).unwrap();
        assert_eq!(document(top.path()).read().unwrap(), [1, 3]);
    }

    #[test]
    fn a_change_that_cannot_be_written_leaves_nothing_behind() {
        let top = tempfile::tempdir().unwrap();
        document(top.path()).change(|all| all.push(1)).unwrap();
        let new = top.path().join(".numbers.json.new");
        std::os::unix::fs::symlink("/dev/full", &new).unwrap();
        let error = document(top.path()).change(|all| all.push(2)).unwrap_err();
        assert!(error.to_string().contains("numbers.json"), "{error}");
        assert!(new.symlink_metadata().is_err());
        assert_eq!(document(top.path()).read().unwrap(), [1]);
    }
}
