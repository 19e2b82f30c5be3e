//! Paths in JSON: text where they are UTF-8, their bytes where they are not.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize as _, Serializer};

#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Text(String),
    Bytes(Vec<u8>),
}

pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    match path.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => path.as_os_str().as_bytes().serialize(serializer),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    Ok(match Form::deserialize(deserializer)? {
        Form::Text(text) => text.into(),
        Form::Bytes(bytes) => OsString::from_vec(bytes).into(),
    })
}
