//! Text that a person names: a file, or standard input.

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
    let text = if path.as_os_str() == "-" {
        text(io::stdin())
    } else {
        File::open(path).and_then(text)
    };
    text.map_err(|error| Failure::new(format!("cannot read {}: {error}", path.display())))
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
    fn what_has_no_end_is_not_read_to_its_end() {
        let failure = text_of(Path::new("/dev/zero")).unwrap_err();
        assert!(format!("{failure:?}").contains("more than 16 MiB"));
        assert!(text(&b"\xff"[..]).is_err());
        assert_eq!(text(&b"a\n"[..]).unwrap(), "a\n");
    }
}
