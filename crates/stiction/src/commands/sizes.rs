//! Sizes and times as options have them; old programs take bare numbers of a unit of
//! their own.

use stiction_core::{parse_duration_ns, parse_size_bytes};

use crate::failure::Failure;

/// A bare number of `unit_bytes`; with a unit of its own, whatever that says.
pub(super) fn size_bytes(text: &str, unit_bytes: u64) -> Result<u64, Failure> {
    match text.trim().parse::<u64>() {
        Ok(number) => number
            .checked_mul(unit_bytes)
            .ok_or_else(|| Failure::new(format!("`{text}` is too large"))),
        Err(_) => Ok(parse_size_bytes(text)?),
    }
}

/// The same of a size that need not be given.
pub(super) fn optional_bytes(
    text: Option<&String>,
    unit_bytes: u64,
) -> Result<Option<u64>, Failure> {
    text.map(|text| size_bytes(text, unit_bytes)).transpose()
}

/// A time that need not be given, ns.
pub(super) fn optional_duration_ns(text: Option<&String>) -> Result<Option<u64>, Failure> {
    Ok(text.map(|text| parse_duration_ns(text)).transpose()?)
}
