//! `/proc/self/mountinfo` (proc_pid_mountinfo(5)).

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use crate::Roots;

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Number of the mount, the same that statx(2) gives.
    pub(crate) id: u64,
    /// Major and minor number that files on it report; major 0 means that it
    /// stands for no block device.
    pub(crate) device: (u32, u32),
    /// Which folder of the filesystem is mounted.
    pub(crate) root: PathBuf,
    pub(crate) mount_point: PathBuf,
    pub(crate) options: Vec<String>,
    /// Type with subtype: `ext4`, `fuse.sshfs`.
    pub(crate) kind: String,
    pub(crate) source: String,
    pub(crate) filesystem_options: Vec<String>,
}

/// Every mount that this process sees, in the order in which they were mounted
/// over each other.
pub(crate) fn read(roots: &Roots) -> io::Result<Vec<Mount>> {
    Ok(parse(&roots.bytes("/proc/self/mountinfo")?))
}

/// Lines of another form are left out.
pub(crate) fn parse(text: &[u8]) -> Vec<Mount> {
    text.split(|byte| *byte == b'\n').filter_map(line).collect()
}

/// `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue`;
/// there may be any number of fields like `master:1`.
fn line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ');
    let mut field = || fields.next().map(unescape);
    let id = text(&field()?).parse().ok()?;
    let _parent = field()?;
    let device = device_number(&text(&field()?))?;
    let root = PathBuf::from(OsString::from_vec(field()?));
    let mount_point = PathBuf::from(OsString::from_vec(field()?));
    let options = list(&field()?);
    while field()? != b"-" {}
    Some(Mount {
        id,
        device,
        root,
        mount_point,
        options,
        kind: text(&field()?),
        source: text(&field()?),
        filesystem_options: list(&field().unwrap_or_default()),
    })
}

/// The mount that `path`, absolute and free of symbolic links, lies on; `id` is
/// its number where statx(2) told.
pub(crate) fn containing<'a>(
    mounts: &'a [Mount],
    path: &Path,
    id: Option<u64>,
) -> Option<&'a Mount> {
    let by_id = id.and_then(|id| mounts.iter().find(|mount| mount.id == id));
    // Of two mounts at one place the later hides the earlier, and `max_by_key`
    // takes the last of equals.
    by_id.or_else(|| {
        mounts
            .iter()
            .filter(|mount| path.starts_with(&mount.mount_point))
            .max_by_key(|mount| mount.mount_point.components().count())
    })
}

/// `254:0`
pub(crate) fn device_number(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Space, tab, newline and backslash stand as `\040`, `\011`, `\012` and `\134`.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|digits| {
            first == b'\\' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit))
        });
        if let Some(digits) = octal {
            let value = digits
                .iter()
                .fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            bytes.push(value as u8);
            rest = &after[3..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    bytes
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn list(bytes: &[u8]) -> Vec<String> {
    text(bytes)
        .split(',')
        .filter(|option| !option.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of proc_pid_mountinfo(5).
    #[test]
    fn the_manual_s_example_reads() {
        let mounts = parse(
            b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue\n",
        );
        let expected = Mount {
            id: 36,
            device: (98, 0),
            root: "/mnt1".into(),
            mount_point: "/mnt2".into(),
            options: vec!["rw".to_owned(), "noatime".to_owned()],
            kind: "ext3".to_owned(),
            source: "/dev/root".to_owned(),
            filesystem_options: vec!["rw".to_owned(), "errors=continue".to_owned()],
        };
        assert_eq!(mounts, [expected]);
    }

    #[test]
    fn any_number_of_optional_fields_and_escapes_in_names() {
        let mounts = parse(
            b"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
              2 1 0:40 / /a\\040b\\134c\xff rw shared:3 master:2 propagate_from:1 - tmpfs none \n",
        );
        assert_eq!(mounts.len(), 2);
        assert_eq!(
            mounts[1].mount_point.as_os_str().as_encoded_bytes(),
            b"/a b\\c\xff"
        );
        assert!(mounts[1].filesystem_options.is_empty());
    }

    #[test]
    fn cut_and_foreign_lines_are_left_out() {
        let text: &[u8] = b"36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw";
        for length in 0..text.len() - " /dev/root rw".len() {
            assert!(parse(&text[..length]).is_empty(), "{length}");
        }
        assert!(parse(b"x y z\n\n- - -\n").is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_give_an_answer(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400),
        ) {
            let most = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            proptest::prop_assert!(parse(&bytes).len() <= most);
        }
    }

    #[test]
    fn the_deepest_and_latest_mount_holds_a_path() {
        let mounts = parse(
            b"1 0 8:1 / / rw - ext4 a rw\n\
              2 1 8:2 / /data rw - ext4 b rw\n\
              3 2 8:3 / /data/x rw - ext4 c rw\n\
              4 2 8:4 / /data/x rw - ext4 d rw\n\
              5 2 8:5 / /dataset rw - ext4 e rw\n",
        );
        let id = |path: &str| containing(&mounts, Path::new(path), None).map(|mount| mount.id);
        assert_eq!(id("/"), Some(1));
        assert_eq!(id("/data"), Some(2));
        assert_eq!(id("/data/y"), Some(2));
        assert_eq!(id("/data/x/y"), Some(4));
        assert_eq!(id("/database"), Some(1));
        let told = containing(&mounts, Path::new("/data/x/y"), Some(3));
        assert_eq!(told.map(|mount| mount.id), Some(3));
    }
}
