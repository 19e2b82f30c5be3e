//! Machines as text: the files of `/proc`, `/sys`, `/dev` and `/etc` that a test
//! needs, in one readable file.
//!
//! ```text
//! # A comment.
//! /proc/sys/kernel/osrelease: 6.1.0
//! /proc/self/mountinfo:
//! |22 1 259:2 / / rw,relatime - ext4 /dev/nvme0n1p2 rw
//! /sys/class/block/nvme0n1 -> ../../devices/pci0000:00/nvme/nvme0/nvme0n1
//! /sys/class/block/sda/holders/
//! /sys/class/block/sda/device/vpd_pg80: \x00\x80\x00\x04S123
//! ```
//!
//! A file has its text on the same line, or on lines after it that begin with `|`;
//! `\xNN` is a byte. A name that ends with a slash is an empty folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

/// Lays the files of `text` into a new folder that stands for `/`.
///
/// # Panics
/// When the text has another form, or a file cannot be made.
#[must_use]
pub fn lay_out(text: &str) -> TempDir {
    let top = tempfile::tempdir().expect("a temporary folder");
    let mut lines = text.lines().enumerate().peekable();
    while let Some((number, line)) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut content = Vec::new();
        while let Some((_, more)) = lines.next_if(|(_, line)| line.starts_with('|')) {
            content.extend(unescape(&more[1..]));
            content.push(b'\n');
        }
        let made = entry(top.path(), line, content);
        made.unwrap_or_else(|problem| panic!("line {}: {line}: {problem}", number + 1));
    }
    top
}

fn entry(top: &Path, line: &str, mut content: Vec<u8>) -> Result<(), String> {
    let place = |path: &str| {
        let path = top.join(path.strip_prefix('/').ok_or("a path begins with a slash")?);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|error| error.to_string())?;
        }
        Ok::<_, String>(path)
    };
    if let Some((path, target)) = line.split_once(" -> ") {
        let path = place(path)?;
        // The folder that it points to may come later.
        return symlink(target, path).map_err(|error| error.to_string());
    }
    // Device numbers have colons too, but no space after them.
    let (path, text) = match line.split_once(": ") {
        Some((path, text)) => (path, text),
        None => match line.strip_suffix(':') {
            Some(path) => (path, ""),
            None => {
                let folder = line.strip_suffix('/');
                let folder = place(folder.ok_or("neither file, link nor folder")?)?;
                return fs::create_dir_all(folder).map_err(|error| error.to_string());
            }
        },
    };
    if !text.is_empty() {
        content.extend(unescape(text));
        content.push(b'\n');
    }
    fs::write(place(path)?, content).map_err(|error| error.to_string())
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        let digits = rest.get(at + 2..at + 4);
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.extend(&rest.as_bytes()[..at]);
        bytes.push(byte.unwrap_or_else(|| panic!("{text}: \\x wants two hexadecimal digits")));
        rest = &rest[at + 4..];
    }
    bytes.extend(rest.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::lay_out;
    use std::fs;

    #[test]
    fn files_links_and_folders_are_laid_out() {
        let top = lay_out(
            "# a machine\n\
             /sys/dev/block/8:0 -> ../../class/block/sda\n\
             /sys/class/block/sda/dev: 8:0\n\
             /sys/class/block/sda/holders/\n\
             /proc/lines:\n|one\n|  two\n\
             /proc/bytes: \\x00\\x80A\n\
             /proc/empty:\n\
             /proc/self/cgroup: 0::/\n",
        );
        let read = |path: &str| fs::read(top.path().join(path)).unwrap();
        assert_eq!(read("sys/dev/block/8:0/dev"), b"8:0\n");
        assert!(top.path().join("sys/class/block/sda/holders").is_dir());
        assert_eq!(read("proc/lines"), b"one\n  two\n");
        assert_eq!(read("proc/bytes"), b"\x00\x80A\n");
        assert_eq!(read("proc/empty"), b"");
        assert_eq!(read("proc/self/cgroup"), b"0::/\n");
    }

    #[test]
    #[should_panic(expected = "line 2")]
    fn a_line_of_another_form_is_named() {
        let _ = lay_out("/a: b\nnonsense\n");
    }
}
