//! How the plain data of a job is declared.

/// Declares a struct or enum of plain data with all the traits that these share.
macro_rules! data {
    ($($(#[$meta:meta])* pub $kind:ident $name:ident $body:tt)*) => {$(
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        $(#[$meta])*
        pub $kind $name $body
    )*};
}

/// Declares enums whose text is their name in snake case.
macro_rules! words {
    ($($(#[$meta:meta])* pub enum $name:ident $body:tt)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name $body
    )*};
}

pub(super) use {data, words};

/// Leaves out what is at its usual setting.
pub(super) fn usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
