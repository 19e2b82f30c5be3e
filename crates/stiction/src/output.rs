//! Files that a command was told to write: whole, or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use crate::failure::Failure;

/// Writes a file, in place of one that may be there. A reader sees the old one or the
/// new one, and never a part; what is no regular file, such as a pipe, is written to.
///
/// # Errors
/// When it cannot be written; what was there is then still there.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    // A link stays a link: what it leads to is replaced.
    let place = match fs::canonicalize(path) {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(failed(path, &error)),
    };
    if fs::metadata(&place).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        let opened = OpenOptions::new().write(true).open(&place);
        let written = opened.and_then(|mut file| file.write_all(text.as_bytes()));
        return written.map_err(|error| failed(path, &error));
    }
    replace(&place, text)
}

/// Writes a file of a name that the user did not choose letter by letter, such as
/// `PREFIX_bw.1.log`. A link in its place is replaced, and what it leads to left alone:
/// who can guess the name may have put it there.
///
/// # Errors
/// As [`write()`].
pub(crate) fn replace(place: &Path, text: &str) -> Result<(), Failure> {
    let Some(name) = place.file_name() else {
        return Err(failed(place, &io::Error::from(io::ErrorKind::IsADirectory)));
    };
    let unfinished_name = format!(".{}.{}", name.to_string_lossy(), std::process::id());
    let unfinished = place.with_file_name(unfinished_name);
    let made = create(&unfinished, text);
    if made
        .as_ref()
        .is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    {
        // It is not ours to remove.
        return made.map_err(|error| failed(&unfinished, &error));
    }
    made.and_then(|()| fs::rename(&unfinished, place))
        .map_err(|error| {
            // What is left of it is of no use; that it could not be written is what counts.
            let _ = fs::remove_file(&unfinished);
            failed(place, &error)
        })
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot write {}: {error}", path.display()))
}

fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_and_nothing_else_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("results.json");
        write(&path, "old").unwrap();
        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_a_link_leads_to_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_link_at_a_derived_name_leads_to_nothing_that_is_written() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (
            directory.path().join("file"),
            directory.path().join("x_bw.1.log"),
        );
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, "new").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        assert_eq!(fs::read_to_string(&link).unwrap(), "new");
    }

    #[test]
    fn a_failure_names_the_file_and_leaves_what_was_there() {
        let directory = tempfile::tempdir().unwrap();
        let failure = write(directory.path(), "text").unwrap_err().to_string();
        assert!(
            failure.contains(&directory.path().display().to_string()),
            "{failure}"
        );
        let gone = directory.path().join("gone/results.json");
        assert!(
            write(&gone, "text")
                .unwrap_err()
                .to_string()
                .contains("gone/results.json")
        );
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
