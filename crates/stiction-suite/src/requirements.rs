//! What every benchmark asks of the places it works in.

use stiction_core::{Environment, SkipCode, SkipReason};

/// Why the targets cannot be written to, as far as the mounts tell.
///
/// Only mounts that say so are refused here; rights, quotas and the rest show when the
/// first directory is made.
pub(crate) fn writable(environment: &Environment) -> Vec<SkipReason> {
    let filesystems = environment.targets.iter().filter_map(|target| {
        target
            .filesystem
            .as_ref()
            .map(|filesystem| (&target.path, filesystem))
    });
    filesystems
        .filter(|(_, filesystem)| filesystem.mount_options.iter().any(|option| option == "ro"))
        .map(|(path, filesystem)| {
            SkipReason::new(
                SkipCode::NotWritable,
                format!(
                    "{path} is on {}, which is mounted read-only; choose another directory",
                    filesystem.mount_point
                ),
            )
        })
        .collect()
}
