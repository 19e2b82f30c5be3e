//! Fields that are not written when they say nothing: read back, they are what they
//! would be anyway.

/// Whether a value is its type's default.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a number is where it is not written.
pub(crate) fn one<T: From<u8>>() -> T {
    1.into()
}

/// Whether a number is 1.
pub(crate) fn is_one<T: From<u8> + PartialEq>(number: &T) -> bool {
    *number == one()
}
