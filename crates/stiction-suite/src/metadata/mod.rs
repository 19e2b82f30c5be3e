//! Operations on files as such: made, looked at, listed, linked, removed; every call
//! timed by itself, and all that is done to one file as a whole.

mod folder;

pub(crate) use folder::{Folder, LinkKind, Made, directions};
