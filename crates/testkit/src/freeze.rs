//! Filesystems that stand still for a while.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::run;

/// A frozen filesystem, thawed on drop.
struct Frozen(PathBuf);

impl Drop for Frozen {
    fn drop(&mut self) {
        run(Command::new("fsfreeze").arg("--unfreeze").arg(&self.0));
    }
}

/// Freezes the filesystem that is mounted at `mount_point` (`FIFREEZE`) for `length` at
/// least: whoever writes to it waits.
///
/// # Panics
/// Without root or `fsfreeze`, of util-linux; or when it is frozen already.
pub fn freeze_for(mount_point: &Path, length: Duration) {
    run(Command::new("fsfreeze").arg("--freeze").arg(mount_point));
    let frozen = Frozen(mount_point.to_owned());
    std::thread::sleep(length);
    drop(frozen);
}
