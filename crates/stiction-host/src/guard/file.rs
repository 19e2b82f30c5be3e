//! Whether a file of the user's is used in a way in which no other file is.

use std::fs::metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Refusal;
use crate::Roots;
use crate::changes::backing_of;

/// Refuses a file that lies under a loop device: whoever writes to it writes beneath
/// whatever is mounted there.
///
/// # Errors
/// [`Refusal::InUse`] with the device and what to do.
pub fn refuse_file_in_use(path: &Path, roots: &Roots) -> Result<(), Refusal> {
    let Ok(file) = metadata(path) else {
        // What is not there is under nothing.
        return Ok(());
    };
    let is_under = |name: &String| {
        let backing = backing_of(roots, name).map(PathBuf::from);
        backing.is_some_and(|backing| match metadata(&backing) {
            Ok(backing) => (backing.dev(), backing.ino()) == (file.dev(), file.ino()),
            Err(_) => backing == path,
        })
    };
    let devices = roots.names("/sys/class/block");
    match devices.iter().find(|name| is_under(name)) {
        None => Ok(()),
        Some(name) => Err(Refusal::InUse {
            path: path.to_owned(),
            reason: format!(
                "/dev/{name} is a loop device over it; detach that by `losetup --detach \
                 /dev/{name}`, or name another file"
            ),
        }),
    }
}
