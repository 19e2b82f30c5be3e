//! What every benchmark asks of the places it works in.

use stiction_core::{Environment, SkipCode, SkipReason, TargetStack};

/// Why the targets cannot be written to, as far as the mounts tell.
///
/// Only mounts that say so are refused here; rights, quotas and the rest show when the
/// first directory is made.
pub(crate) fn writable(environment: &Environment) -> Vec<SkipReason> {
    writable_targets(environment.targets.iter())
}

/// As [`writable`], of these targets only.
pub(crate) fn writable_targets<'a>(
    targets: impl Iterator<Item = &'a TargetStack>,
) -> Vec<SkipReason> {
    let filesystems = targets.filter_map(|target| {
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
