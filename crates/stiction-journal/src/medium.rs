//! What a journal is written to: a file, or in tests one that fails on request.

use std::fs::File;
use std::io::{self, Write as _};

/// The three things that a journal asks of its file.
pub(crate) trait Medium: Send {
    /// Appends as much of `bytes` as it can, with one system call.
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize>;
    /// Cuts the file to `length_bytes`.
    fn cut(&mut self, length_bytes: u64) -> io::Result<()>;
    /// Returns when all that was appended is on the device.
    fn sync(&mut self) -> io::Result<()>;
}

/// The file was opened for appending, so a cut needs no seek.
impl Medium for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write(bytes)
    }

    fn cut(&mut self, length_bytes: u64) -> io::Result<()> {
        self.set_len(length_bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}
