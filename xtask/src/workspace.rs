//! Where we are: the workspace's root, its tracked files and its packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand};

/// The folder that holds the workspace's manifest.
pub(crate) fn root() -> PathBuf {
    // This crate lies directly below it, at the time of compiling and of running.
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace holds this crate")
        .to_path_buf()
}

/// The folder that cargo builds in, of which this program is a product.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The cargo that started us, or the one on `PATH`, to be run in the root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// What the manifests of our own packages say; their dependencies are not resolved.
pub(crate) fn metadata() -> Result<Metadata, String> {
    MetadataCommand::new()
        .current_dir(root())
        .no_deps()
        .exec()
        .map_err(|error| format!("cargo metadata: {error}"))
}

/// Paths, relative to the root, of the files that git tracks or would track.
pub(crate) fn files() -> Result<Vec<String>, String> {
    let output = Command::new("git")
        .current_dir(root())
        .args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "git ls-files: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let list = String::from_utf8(output.stdout)
        .map_err(|error| format!("a file's name is not UTF-8: {error}"))?;
    let mut files: Vec<String> = list
        .split_terminator('\0')
        .filter(|path| root().join(path).is_file())
        .map(str::to_owned)
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}
