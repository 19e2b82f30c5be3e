//! How blocks for files are had before they are written.

use serde::{Deserialize, Serialize};

/// How the blocks of a file that is going to be written are reserved before.
///
/// Where they are, the first write of a block allocates nothing; reading a block that
/// is reserved and not written yields zeros, and no device is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reserve {
    /// Not at all.
    #[default]
    None,
    /// By `fallocate` over the regions of the workers, which makes the file as long.
    Native,
    /// The same, and the file stays as long as it is: writes extend it.
    KeepSize,
    /// By `posix_fallocate`: as `Native`, and where the filesystem cannot reserve, the
    /// C library writes to each block.
    Posix,
    /// Not at all, but the file is made as long: holes that writes fill.
    Truncate,
}
