//! A zram device of its own: a block device as fast as memory.

use std::fs::{read_to_string, write};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

const CONTROL: &str = "/sys/class/zram-control";

/// A zram device that goes when this is dropped. It is empty, so that reading it
/// costs what the block layer and clearing a page cost.
#[derive(Debug)]
pub struct Zram {
    number: u32,
    path: PathBuf,
}

impl Zram {
    /// An empty device of `size_bytes`.
    ///
    /// # Errors
    /// Without root or zram, with the file that could not be used and why.
    pub fn new(size_bytes: u64) -> Result<Self, String> {
        let adding = format!("{CONTROL}/hot_add");
        let number = read_to_string(&adding).map_err(|error| format!("{adding}: {error}"))?;
        let number = number.trim();
        let number: u32 =
            (number.parse()).map_err(|error| format!("{adding}: {number}: {error}"))?;
        let zram = Self {
            number,
            path: format!("/dev/zram{number}").into(),
        };
        let size = format!("/sys/block/zram{number}/disksize");
        write(&size, size_bytes.to_string()).map_err(|error| format!("{size}: {error}"))?;
        Ok(zram)
    }

    /// The device node.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // The kernel may be about to close what was open on it, as it closes rings.
        let mut attempts = 0..500;
        let removed = loop {
            match write(format!("{CONTROL}/hot_remove"), self.number.to_string()) {
                Err(error)
                    if error.kind() == ErrorKind::ResourceBusy && attempts.next().is_some() =>
                {
                    sleep(Duration::from_millis(10));
                }
                removed => break removed,
            }
        };
        // A test that fails already says why.
        if !std::thread::panicking() {
            removed.expect("an unused device");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileTypeExt as _;

    use super::*;

    #[test]
    fn root_a_device_of_its_own_comes_and_goes() {
        crate::require_root!();
        if !Path::new(CONTROL).exists() {
            crate::skip!("this kernel offers no zram");
        }
        let zram = Zram::new(1 << 20).unwrap();
        let path = zram.path().to_owned();
        assert!(
            std::fs::metadata(&path)
                .unwrap()
                .file_type()
                .is_block_device()
        );
        assert_eq!(std::fs::read(&path).unwrap(), vec![0; 1 << 20]);
        drop(zram);
        assert!(!path.exists());
    }
}
