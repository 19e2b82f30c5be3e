//! Text that a person names: a file, or standard input.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::failure::Failure;

/// Bytes that are read at most, so that a device or an endless pipe in a file's place
/// does not fill the memory.
const BYTES_MAX: u64 = 16 << 20;

/// What stands in the file; `-` is standard input.
///
/// # Errors
/// When it cannot be read, is larger than any text meant for us, or is no text.
pub(crate) fn text_of(path: &Path) -> Result<String, Failure> {
    read(path).map_err(|error| unread(path, &error))
}

fn read(path: &Path) -> io::Result<String> {
    match path.as_os_str() == "-" {
        true => text(io::stdin()),
        false => File::open(path).and_then(text),
    }
}

fn unread(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("cannot read {}: {error}", path.display()))
}

/// The texts that a command names, each kept as it was read: of a session that goes on
/// after it was cut off, as they were read when it began.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts(RefCell<BTreeMap<String, String>>);

impl Texts {
    /// Those that were read before.
    pub(crate) fn of(earlier: BTreeMap<String, String>) -> Self {
        Self(RefCell::new(earlier))
    }

    /// What stands in the file, or stood there; `-` is standard input.
    ///
    /// # Errors
    /// As [`text_of`].
    pub(crate) fn text_of(&self, path: &Path) -> Result<String, Failure> {
        self.read(path).map_err(|error| unread(path, &error))
    }

    /// The same with the system's own error.
    ///
    /// # Errors
    /// As [`text_of`].
    pub(crate) fn read(&self, path: &Path) -> io::Result<String> {
        let name = path.to_string_lossy().into_owned();
        if let Some(text) = self.0.borrow().get(&name) {
            return Ok(text.clone());
        }
        let text = read(path)?;
        self.0.borrow_mut().insert(name, text.clone());
        Ok(text)
    }

    /// Whether the file is there, or was.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.0.borrow().contains_key(&*path.to_string_lossy()) || path.exists()
    }

    /// All that were read.
    pub(crate) fn all(&self) -> BTreeMap<String, String> {
        self.0.borrow().clone()
    }
}

/// All that a source gives, within the limit.
///
/// # Errors
/// As [`text_of`].
pub(crate) fn text(source: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        let what = format!("it has more than {} MiB", BYTES_MAX >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_it_was_read_first() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        std::fs::write(&path, "then").unwrap();
        let texts = Texts::default();
        assert_eq!(texts.text_of(&path).unwrap(), "then");
        std::fs::remove_file(&path).unwrap();
        let later = Texts::of(texts.all());
        assert_eq!(later.text_of(&path).unwrap(), "then");
        assert!(later.has(&path));
        assert!(later.text_of(&directory.path().join("b")).is_err());
    }

    #[test]
    fn what_has_no_end_is_not_read_to_its_end() {
        let failure = text_of(Path::new("/dev/zero")).unwrap_err();
        assert!(format!("{failure:?}").contains("more than 16 MiB"));
        assert!(text(&b"\xff"[..]).is_err());
        assert_eq!(text(&b"a\n"[..]).unwrap(), "a\n");
    }
}
